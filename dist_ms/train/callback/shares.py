"""Which rank saves what, where: all ranks may be given the same folder.

What all ranks have is written once, by the lowest rank that was given the folder. A rank's own
parameters (layerwise_parallel or sliced) go to a file of the same name in `rank_<rank>` inside the
folder. A rank that has a folder for itself writes everything into one file there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dist_ms.parallel.plan import make_plan

Chooses = Callable[[str], bool]


class Share(NamedTuple):
    """A file that a rank writes.

    Attributes:
        folder: the folder it goes to.
        chooses: says of a parameter's name whether it is in the file; None: all are.
    """

    folder: str
    chooses: Chooses | None


def own_names(network: Any) -> frozenset[str]:
    """Return the names of the parameters that differ between ranks.

    Args:
        network: a Cell.
    """
    plan = make_plan(network.get_parameters(), [])
    return frozenset(row.name for row in plan.rows if row.saved_by == "every rank")


def shares(
    folders: Mapping[int, str],
    rank: int,
    network: Any,
    split: bool = False,
    whole: frozenset[str] = frozenset(),
) -> list[Share]:
    """Return the files that a rank writes.

    Args:
        folders: the folder of every rank that saves, by rank.
        rank: this one.
        network: what is saved, a Cell.
        split: every rank saves a share of what all have.
        whole: names of slices that were gathered, so that all ranks have the same.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.train.callback.shares import shares
        >>> class Net(ms.nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.a = ms.Parameter(ms.Tensor([1.0]), name="a")
        ...         self.b = ms.Parameter(ms.Tensor([1.0]), name="b", layerwise_parallel=True)
        >>> [(s.folder, s.chooses("a"), s.chooses("b")) for s in shares({0: "d", 1: "d"}, 0, Net())]
        [('d', True, False), ('d/rank_0', False, True)]
    """
    folder = folders[rank]
    together = sorted(r for r, other in folders.items() if other == folder)
    mine = own_names(network) - whole
    if split:
        part = mine | _part(sorted(folders), rank, network, mine)
        alone = len(together) == 1
        return [Share(folder if alone else _inside(folder, rank), part.__contains__)]
    if len(together) == 1:
        return [Share(folder, None)]
    files = []
    if rank == together[0]:
        files.append(Share(folder, lambda name: name not in mine))
    if mine:
        files.append(Share(_inside(folder, rank), mine.__contains__))
    return files


def _inside(folder: str, rank: int) -> str:
    return os.path.join(folder, f"rank_{rank}")


def _part(ranks: list[int], rank: int, network: Any, without: frozenset[str]) -> frozenset[str]:
    """Deal what all ranks have: each parameter goes to the rank with the fewest bytes so far."""
    load = dict.fromkeys(ranks, 0)
    part = set()
    for parameter in network.get_parameters():
        if parameter.name in without:
            continue
        to = min(load, key=lambda r: (load[r], r))
        load[to] += parameter.nbytes
        if to == rank:
            part.add(parameter.name)
    return frozenset(part)

"""The last look at the weights that ranks train together: a job whose ranks have parted does not end well.

The detector finds a difference within so many steps. What parted in the last of them, or in a job that is shorter, is
found here: each rank says the hashes of its weights as it leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from dist_ms._ext.hashing import hash_memory
from dist_ms.common.progress import progress
from dist_ms.communication import Comm
from dist_ms.communication.end.last_words import speak
from dist_ms.parallel.errors import CHANGED, REMEDY, DesyncError, name_ranks

Key = tuple[str, tuple[int, ...], int]


class Watched:
    """Weights that the ranks of a group update together.

    Args:
        parameters: the weights.
        comm: the ranks; all of them make it at the same point.
    """

    def __init__(self, parameters: Sequence[Any], comm: Comm) -> None:
        self._parameters = parameters
        group = comm.name, tuple(comm.ranks)
        _made[group] += 1
        _alive[(*group, _made[group])] = self
        # The weights of a function that trains are gone before the process ends; those trained last stay for this.
        _newest[group] = self
        speak("weights", _say, _hear)

    def hashes(self) -> dict[str, int]:
        """Return a number per weight that tells values apart; of none that was given other values since the last
        update, as where one rank loads the best ones to evaluate them.
        """
        same = [p for p in self._parameters if p.overwritten != progress.updates]
        return {p.name: _hash(p.array()) for p in same}


_made: Counter[tuple[str, tuple[int, ...]]] = Counter()
_alive: WeakValueDictionary[Key, Watched] = WeakValueDictionary()
_newest: dict[tuple[str, tuple[int, ...]], Watched] = {}


def forget() -> None:
    """Say nothing of the weights that were watched until now; all ranks call it."""
    _alive.clear()
    _newest.clear()


def _hash(array: np.ndarray) -> int:
    """Return a hash of the values, whatever their layout in memory and the bits of a NaN."""
    values = np.ascontiguousarray(array)
    if values.dtype.kind in "fc" and np.isnan(values).any():
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return hash_memory(values.reshape(-1).view(np.uint8))


def _say() -> dict[Key, dict[str, int]]:
    return {key: watched.hashes() for key, watched in sorted(_alive.items())}


def _hear(everyone: dict[int, dict[Key, dict[str, int]]]) -> None:
    """Raise if a weight is not the same on all ranks that have something to say of it.

    Raises:
        DesyncError: then.
    """
    for key in _all(everyone.values()):
        said = {rank: words[key] for rank, words in everyone.items() if key in words}
        for name in _all(said.values()):
            same: dict[int, list[int]] = {}
            for rank, hashes in said.items():
                if name in hashes:
                    same.setdefault(hashes[name], []).append(rank)
            if len(same) > 1:
                rows = "".join(f"  {name_ranks(ranks)}\n" for ranks in same.values())
                raise DesyncError(
                    f"Parameter '{name}' must be the same on all ranks, but when they ended, after {progress.updates} "
                    f"updates, it was not. Ranks with the same values:\n{rows}{CHANGED} {REMEDY}"
                )


def _all(found: Iterable[dict[Any, Any]]) -> list[Any]:
    """The keys of all, each once, in order."""
    return list(dict.fromkeys(key for one in found for key in one))

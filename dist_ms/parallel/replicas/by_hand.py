"""Weights that a program updates itself, without an optimizer and without a reducer: are they equal on all ranks?

Nobody is asked before such an update, so ranks may be in different places and no collective can compare. Each rank
notes hashes of the weights as gradients are computed the first, second, fourth, eighth ... time, and says them as it
leaves, with that of the last values. Ranks may part in between, as where each makes some steps of its own before they
average, and one may load other values at the end, to evaluate them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from dist_ms._ext.hashing import hash_memory
from dist_ms.common.parameter.differentiated import differentiated
from dist_ms.communication import World, on_init
from dist_ms.communication.end.last_words import speak
from dist_ms.parallel.errors import CHANGED, REMEDY, DesyncError, name_ranks
from dist_ms.parallel.mode import REDUCED, trains_together
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.replicas.desync import steps_between
from dist_ms.parallel.servers.roles import is_worker

_STARTED = (
    "The ranks started with different values: call set_seed with the same seed on all of them before the model is "
    "built."
)


class Said(NamedTuple):
    """What a rank says of a weight.

    Attributes:
        sweeps: how often gradients were computed.
        hashes: of its values at the first, second, fourth ... time.
        last: of those it has now; None if it is gone.
    """

    sweeps: int
    hashes: list[int]
    last: int | None


class Noted:
    """The weights of one gradient function.

    Args:
        weights: in the order of the gradients.
        number: of the function, among those whose first weight has this name: the same one on all ranks.

    Attributes:
        sweeps: how often their gradients have been computed.
    """

    def __init__(self, weights: Sequence[Any], number: int) -> None:
        self.number, self.sweeps = number, 0
        self.first = ref(weights[0])
        # Not by their names: a cell that takes in the network changes those.
        self._hashes: dict[int, list[int]] = {}
        self._known: dict[int, tuple[str, ref[Any]]] = {}
        for w in _replicated(weights):
            self._hashes[id(w)], self._known[id(w)] = [], (w.name, ref(w))

    def note(self, weights: Sequence[Any]) -> None:
        """Remember the values, now and then; of none that an optimizer or a reducer looks after.

        Args:
            weights: the same.
        """
        global _newest
        self.sweeps += 1
        if not self._hashes or self.sweeps & (self.sweeps - 1):
            return
        _newest = weights
        for w in weights:
            key = id(w)
            if w.looked_after or w.reduction is not None:
                self._hashes.pop(key, None)
            elif key in self._hashes:
                known = self._known[key][1]()
                if known is w:  # no other that lies where it was
                    self._hashes[key].append(_hash(known.array()))

    def words(self) -> dict[str, Said]:
        """Return what is to be said: of the weights that have changed between two sweeps."""
        found = {}
        for key, hashes in self._hashes.items():
            if len(set(hashes)) > 1:
                name, weight = self._known[key]
                w = weight()
                found[name] = Said(self.sweeps, hashes, None if w is None else _hash(w.array()))
        return found


_noted: dict[tuple[int, int], Noted] = {}
_made: Counter[str] = Counter()
# The weights of a function that trains are gone before the process ends; those noted last stay for a last look.
_newest: Sequence[Any] = ()


def note(weights: Sequence[Any]) -> None:
    """Take notice of weights whose gradients are about to be computed.

    Args:
        weights: Parameters, in the order of the gradients.
    """
    if not weights or not trains_together():
        return
    key = id(weights[0]), len(weights)
    found = _noted.get(key)
    if found is None or found.first() is not weights[0]:
        _made[weights[0].name] += 1
        found = _noted[key] = Noted(weights, _made[weights[0].name])
    found.note(weights)


def forget() -> None:
    """Say nothing of the weights until now."""
    global _newest
    _newest = ()
    _noted.clear()
    _made.clear()


def _replicated(weights: Sequence[Any]) -> list[Any]:
    """The weights that are to be the same on all ranks."""
    try:
        plan = make_plan(weights, weights, servers=is_worker())
    except ValueError:  # two of one name, which no plan tells apart
        return []
    rows = [plan.rows[row] for row in plan.weights]
    return [w for w, row in zip(weights, rows, strict=True) if row.start == "broadcast" and row.gradient in REDUCED]


def _hash(array: np.ndarray) -> int:
    return hash_memory(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _say() -> dict[tuple[int, str], Said]:
    return {(found.number, name): said for found in _noted.values() for name, said in found.words().items()}


def _hear(everyone: dict[int, dict[tuple[int, str], Said]]) -> None:
    """Raise if a weight was not the same on all ranks at last, where all have computed gradients equally often.

    Raises:
        DesyncError: then.
    """
    for key in dict.fromkeys(key for words in everyone.values() for key in words):
        said = {rank: words[key] for rank, words in everyone.items() if key in words}
        if len({(one.sweeps, len(one.hashes)) for one in said.values()}) > 1 or None in (s.last for s in said.values()):
            continue
        seen = {rank: [*one.hashes, one.last] for rank, one in said.items()}
        parted = [len(set(values)) > 1 for values in zip(*seen.values(), strict=True)]
        if not all(parted[-2:]):
            continue
        # From here on they were never seen to be the same again.
        power = len(parted) - parted[::-1].index(False) if False in parted else 0
        same: dict[Any, list[int]] = {}
        for rank, values in seen.items():
            same.setdefault(values[power], []).append(rank)
        rows = "".join(f"  {name_ranks(ranks)}\n" for ranks in same.values())
        raise DesyncError(
            f"Parameter '{key[1]}' must be the same on all ranks, but when its gradient was computed for the "
            f"{_ordinal(2**power)} time, it was not. Ranks with the same values:\n{rows}"
            f"{CHANGED if power else _STARTED} Reduce gradients before an update by hand: "
            f"grads = nn.DistributedGradReducer(weights)(grads), with the reducer made once. {REMEDY}"
        )


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second"}.get(number, f"{number}th")


def _joined(world: World) -> None:
    if world.comm.size > 1 and steps_between():
        differentiated.listener = note
        speak("weights updated by hand", _say, _hear)


on_init(_joined)

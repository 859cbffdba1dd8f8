"""The replicas of the weights that an optimizer updates: they stay equal on all ranks, or the job says so.

It does not matter here who computed and who reduced the gradients: a train step, a reducer made by hand, or
collectives of the user's own. What counts is that the ranks are about to make the same change to the same weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms._ext.hashing import hash_memory
from dist_ms.common.progress import progress
from dist_ms.common.settings.parallel_context import get_auto_parallel_context
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Comm, World, agreeing, current
from dist_ms.parallel.agreement import agree_on_plan
from dist_ms.parallel.errors import NOT_REDUCED, UnreducedGradientError, name_ranks
from dist_ms.parallel.mode import is_data_parallel, reduced, tell_alone, world_comm
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.replicas.desync import DesyncDetector, memory, steps_between
from dist_ms.parallel.servers.roles import is_worker

_WHOLE = ("all_reduce", "all_gather")


class ReplicaCheck:
    """What an optimizer asks before each update; it follows the context and the world as they are then.

    Examples:
        >>> from dist_ms.parallel.replicas.check import ReplicaCheck
        >>> ReplicaCheck().before_update("SGD", [], ())
    """

    __slots__ = ("_mode", "_replicas", "_world")

    def __init__(self) -> None:
        self._world: World | None = None
        self._mode: str | None = None
        self._replicas: Replicas | None = None

    def __reduce__(self) -> tuple:
        """A copy, also one on its way to a server, has seen nothing yet."""
        return ReplicaCheck, ()

    def before_update(self, owner: str, weights: Sequence[Any], gradients: Any) -> None:
        """See that all ranks that train together are about to make the same update.

        Args:
            owner: the optimizer's class.
            weights: what it updates.
            gradients: one per weight.

        Raises:
            DesyncError: as `Replicas.before_update`.
            RuntimeError: as `Replicas.of`.
        """
        world, mode = current(), get_auto_parallel_context("parallel_mode")
        progress.updating(0.0 if world is None else world.comm.waited)
        if mode is not self._mode or world is not self._world:
            self._replicas = Replicas.of(owner, list(weights))
            self._world, self._mode = world, mode
        if self._replicas is not None:
            self._replicas.before_update(gradients)


class Replicas:
    """The ranks' copies of the weights of one optimizer.

    Args:
        owner: the optimizer's class.
        weights: what it updates, in the order of the gradients.
        comm: the ranks that train them together.
        kinds: what becomes of their gradients, as the plan's rows have it.
        detectors: those that watch them.
        equal: whether a reducer has made them equal at the start.
    """

    def __init__(
        self,
        owner: str,
        weights: Sequence[Any],
        comm: Comm,
        kinds: Sequence[str],
        detectors: Iterable[DesyncDetector],
        equal: bool,
    ) -> None:
        self._owner, self._comm, self._equal = owner, comm, equal
        self._counts = {detector: detector.count for detector in detectors}
        self._names = [w.name for w in weights]
        self._whole = [i for i, kind in enumerate(kinds) if kind in _WHOLE]
        self._first = True

    @classmethod
    def of(cls, owner: str, weights: Sequence[Any]) -> Replicas | None:
        """Return the replicas of an optimizer's weights; None where ranks do not update them together.

        Args:
            owner: the optimizer's class.
            weights: what it updates.

        Raises:
            RuntimeError: if the parallel mode is semi_auto_parallel or auto_parallel on several ranks, or init() has
                not been called in one of several ranks.
            PlanMismatchError: on every rank, if the ranks' optimizers do not have the same weights.

        Examples:
            >>> from dist_ms.parallel.replicas.check import Replicas
            >>> Replicas.of("SGD", []) is None
            True
        """
        for w in weights:
            w.looked_after = True
        if not is_data_parallel(weights):
            tell_alone()
            return None
        found = [w.reduction for w in weights]
        comms = {id(one.comm): one.comm for one in found if one is not None}
        comm = next(iter(comms.values())) if len(comms) == 1 else world_comm()
        if comm.size == 1 or not (comms or reduced(weights)):
            return None
        if None not in found and len(comms) == 1:
            reductions = [one for one in found if one is not None]
            kinds = [one.kind for one in reductions]
            watching = dict.fromkeys(one.detector for one in reductions if one.detector is not None)
            return cls(owner, weights, comm, kinds, watching, True) if set(kinds) & set(_WHOLE) else None
        with agreeing(comm):
            plan = make_plan(weights, weights, servers=is_worker())
            steps = steps_between()
        agree_on_plan(plan, comm)
        kinds = [plan.rows[row].gradient for row in plan.weights]
        detectors = [DesyncDetector(plan, weights, comm, steps)] if steps else []
        return cls(owner, weights, comm, kinds, detectors, False)

    def before_update(self, gradients: Any) -> None:
        """See that all ranks are about to make the same update; every rank calls it before each of its updates.

        Before the first one gradients are compared, and the weights where no reducer has made them equal; later
        the weights, piece by piece.

        Args:
            gradients: one per weight.

        Raises:
            DesyncError: on every rank, if weights differ.
            UnreducedGradientError: on every rank, if gradients differ that are to be reduced.
        """
        if not self._first:
            for detector, count in self._counts.items():
                if detector.count == count:  # no reducer has gone on with it since the last update
                    detector.step()
                self._counts[detector] = detector.count
            return
        self._first = False
        if not self._equal:
            for detector in self._counts:
                detector.compare_all()
        if isinstance(gradients, (tuple, list)) and len(gradients) == len(self._names):
            self._compare(gradients)

    def _compare(self, gradients: Sequence[Any]) -> None:
        """Raise on every rank if a gradient that is to be reduced differs."""
        comm = self._comm
        mine = np.array([_hash(gradients[i]) for i in self._whole], np.uint64)
        everyone = comm.all_gather(mine)
        for place in np.flatnonzero((everyone != everyone[0]).any(0)):
            self._report(self._whole[place], gradients, everyone[:, place])

    def _report(self, index: int, gradients: Sequence[Any], hashes: np.ndarray) -> None:
        """Raise if the values differ, and not only their layout in memory or the bits of a NaN."""
        comm, gradient = self._comm, gradients[index]
        values = _dense(gradient) if hasattr(gradient, "array") or isinstance(gradient, RowTensor) else None
        first = comm.gather_objects(None if values is None else (values.shape, values.dtype.str))
        if values is not None and all(form == first[0] for form in first):
            example = comm.broadcast(np.ascontiguousarray(values).copy())
            equal = np.array_equal(example, values, equal_nan=values.dtype.kind in "fc")
            if not comm.all_reduce(np.array([0 if equal else 1]), "max")[0]:
                return
        other = int((hashes != hashes[0]).argmax())
        name, owner = self._names[index], self._owner
        raise UnreducedGradientError(
            f"[rank {comm.rank} of {comm.size}] For '{owner}', the gradient of parameter '{name}' must be the same on "
            f"all ranks in data-parallel training, but {name_ranks([comm.ranks[0]])} and "
            f"{name_ranks([comm.ranks[other]])} have different ones: {NOT_REDUCED}"
        )


def _hash(gradient: Any) -> int:
    """Return a number that tells gradients apart."""
    if isinstance(gradient, RowTensor):
        rows = np.ascontiguousarray(gradient.indices.array()).reshape(-1).view(np.uint8)
        return hash_memory(memory(gradient.values.array()), hash_memory(rows))
    return hash_memory(memory(gradient.array())) if hasattr(gradient, "array") else 0


def _dense(gradient: Any) -> np.ndarray:
    """Return a gradient as an array."""
    return (gradient.to_dense() if isinstance(gradient, RowTensor) else gradient).array()

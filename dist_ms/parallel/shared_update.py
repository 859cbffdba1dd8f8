"""One update for all ranks of a machine, which have one copy of weights and states: each rank updates a part.

Otherwise every rank reads and writes all weights and states, at the speed of the memory that they share. Nobody can
tell: a rank sees whole weights and states, and what it writes there itself is its own, as if it had a copy
(`communication/shared/common_memory.py`); of that its part counts in the next update.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dist_ms._ext import memory as allocator
from dist_ms.common.parameter import Parameter
from dist_ms.common.settings import parallel_context
from dist_ms.common.settings.environment import value_of
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Comm
from dist_ms.communication.shared.common_memory import CommonMemory, make
from dist_ms.parallel.plan import Sharding, SyncPlan
from dist_ms.parallel.reduction.reducer import Reducer
from dist_ms.parallel.replicas.desync import steps_between
from dist_ms.parallel.replicas.same_update import meet, said_of_gradient, said_of_rates, said_of_values

LEAST = 4 << 20  # bytes of weights from which on two more meetings a step cost less than whole updates
_F32 = np.dtype(np.float32)
_LINE = 64 // _F32.itemsize  # elements; each weight begins with a line of memory
_PAGE = 4096 // _F32.itemsize  # elements; two ranks update no page both


class Place(NamedTuple):
    """Where a weight or one of its states lies.

    Attributes:
        parameter: the weight or state.
        first: its first element in the common memory.
    """

    parameter: Parameter
    first: int


class SharedUpdate:
    """An optimizer's update that the ranks of one machine make together.

    Args:
        optimizer: has a compiled rule that treats every element by itself.

    Attributes:
        memory: what weights and states are views of; None before the first update.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._plan: SyncPlan
        self._comm: Comm
        self._places: dict[int, tuple[Place, ...]] | None = None  # by weight, the weight's first; None: not known yet
        self._memory: CommonMemory | None = None
        self._share = self._size = 0  # elements that a rank updates, and those of all weights
        self._step = 0
        self._address = 0  # of the memory that this rank sees
        self._laid = False  # in this update
        self._written: list[tuple[int, int]] = []  # by this rank's own code, in bytes
        self._away: set[int] = set()  # the first elements of weights and states that were given other arrays
        self.memory: np.ndarray | None = None

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of the optimizer updates alone

    @classmethod
    def fitting(cls, optimizer: Any) -> SharedUpdate | None:
        """Return the shared update of an optimizer whose rule allows one; None for others.

        Args:
            optimizer: the optimizer.

        Raises:
            ValueError: if DIST_MS_SHARED_UPDATE is neither 0 nor 1.
        """
        wanted, context = value_of("DIST_MS_SHARED_UPDATE"), parallel_context
        if wanted not in ("0", "1"):
            raise ValueError(f"The environment variable DIST_MS_SHARED_UPDATE must be 0 or 1, but got {wanted!r}.")
        compiled = getattr(optimizer, "compiled", None)
        equal = not context.is_set("parameter_broadcast") or context.get_auto_parallel_context("parameter_broadcast")
        equal = equal and value_of("DIST_MS_ALL_REDUCE") == "shared"
        fits = equal and getattr(optimizer, "element_wise", False) and compiled is not None and compiled()
        return cls(optimizer) if wanted == "1" and fits else None

    def sharding(self, comm: Comm) -> Sharding:
        """Return what of the gradients is divided among the ranks: nothing.

        Args:
            comm: the ranks.
        """
        return Sharding()

    def divide(self, plan: SyncPlan, reducer: Reducer) -> None:
        """Have the ranks of each machine share the update from now on.

        Args:
            plan: says which weights are the same on all ranks.
            reducer: adds the gradients.
        """
        if reducer.comm.size > 1:
            self._plan, self._comm = plan, reducer.comm
            self._optimizer.shared_update = self

    def undo(self) -> None:
        """Give this rank weights and states of its own again."""
        self._optimizer.shared_update = None
        for index in list(self._places or {}):
            self._leave(index)
        self._places = self._memory = self.memory = None

    # ---- an update
    def begin(
        self, gradients: Mapping[int, Any], indices: Collection[int], rates: Sequence[float], decays: Sequence[float]
    ) -> None:
        """Wait until all ranks are about to make the same update; every rank calls it, ready for its weights to change.

        Args:
            gradients: by the place of the weight in the optimizer.
            indices: of those that are updated together.
            rates, decays: learning rates and weight decays, alike.

        Raises:
            RuntimeError: on every rank, if ranks do something else, or update with other rates or decays.
            UnreducedGradientError: on every rank, if they have other gradients.
            DesyncError: on every rank, if only some have given weights or states other values since the last update.
        """
        if self._places is None:
            self._places = self._lay_out(gradients, indices)
        for index in [i for i in self._places if i not in gradients or not _is_dense(gradients[i])]:
            self._leave(index)
        if self._memory is None or not self._places:
            return
        self._written = self._memory.own_pages()
        self._away = {place.first for place in self._all_places() if not self._is_here(place)}
        texts = said_of_rates(rates, decays)
        if steps_between():
            turn, at = divmod(self._step, len(self._places))
            index = list(self._places)[at]
            texts += said_of_gradient(self._places[index][0].parameter.name, gradients[index], turn)
            texts += [] if self._laid else said_of_values(self._set_by_hand())
        self._step += 1
        meet(self._comm, texts)
        shared, own = self._memory.shared, self._memory.own
        for first, last in [self._bytes(block) for block in range(shared.nbytes // (self._size * _F32.itemsize))]:
            for start, stop in self._written:
                low, high = max(start, first), min(stop, last)
                shared[low:high] = own[low:high]

    def _leave(self, index: int) -> None:
        """Have every rank update a weight whole from now on; all ranks do so in the same update."""
        assert self._places is not None
        for place in self._places.pop(index):
            place.parameter._data = place.parameter._data.copy()

    def _set_by_hand(self) -> Iterator[tuple[str, int, np.ndarray, np.ndarray]]:
        """What this rank's own code may have written to since the last update, beside what was there."""
        assert self._memory is not None
        for place in self._all_places():
            start, stop = place.first * _F32.itemsize, (place.first + place.parameter.size) * _F32.itemsize
            if place.first in self._away:
                pieces = [(start, np.ascontiguousarray(place.parameter._data).reshape(-1).view(np.uint8))]
            else:
                cuts = [(max(start, first), min(stop, last)) for first, last in self._written]
                pieces = [(low, self._memory.own[low:high]) for low, high in cuts if low < high]
            for at, piece in pieces:
                yield place.parameter.name, at, piece, self._memory.shared[at : at + piece.nbytes]

    def _all_places(self) -> Iterator[Place]:
        """Where every weight and state lies."""
        for places in (self._places or {}).values():
            yield from places

    def _is_here(self, place: Place) -> bool:
        """Whether a weight or state is the view of the common memory that this has made it."""
        assert self.memory is not None
        data = place.parameter._data
        at = self._address + place.first * _F32.itemsize
        return data.__array_interface__["data"][0] == at and data.flags.c_contiguous

    def __contains__(self, index: int) -> bool:
        return self._places is not None and index in self._places

    def part(self, index: int, gradient: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """Return this rank's part of a weight, of its gradient and of its states; None where it has none.

        Args:
            index: of the weight in the optimizer.
            gradient: the whole one, C-contiguous.
        """
        assert self._memory is not None and self._places is not None
        shared, own = self._memory.shared.view(_F32), self._memory.own.view(_F32)
        places = self._places[index]
        start, stop = self._cut(places[0])
        parts = []
        for place in places:
            parameter, first = place
            parts.append(shared[first + start : first + stop])
            if first in self._away:  # it was given another array
                parts[-1][...] = parameter._data.reshape(-1)[start:stop]
                parameter._data = own[first : first + parameter.size].reshape(parameter.shape)
        if start == stop:
            return None
        return parts[0], gradient.reshape(-1)[start:stop], *parts[1:]

    def end(self) -> None:
        """Wait until all ranks have updated their parts."""
        if self._memory is not None and self._places:
            self._comm.meet("update")
            self._memory.forget(self._written)
        if self._laid:
            self._laid = False
            allocator.trim()  # of the arrays that weights and states had

    # ---- the memory: all weights, then the first state of each, and so on
    def _lay_out(self, gradients: Mapping[int, Any], indices: Collection[int]) -> dict[int, tuple[Place, ...]]:
        """Find out which weights are updated together, and where they are to lie; every rank finds the same."""
        optimizer = self._optimizer
        chosen = [i for i in indices if _is_dense(gradients[i]) and self._fits(i)]
        firsts = np.cumsum([0, *(-(-optimizer.parameters[i].size // _LINE) * _LINE for i in chosen)]).tolist()
        if not chosen or firsts[-1] * _F32.itemsize < LEAST:
            return {}
        self._comm = self._comm.of_this_machine()
        if self._comm.size == 1:
            return {}
        blocks = 1 + max(len(optimizer.rule_states(i)) for i in chosen)
        self._share = -(-firsts[-1] // (_PAGE * self._comm.size)) * _PAGE
        self._size = self._share * self._comm.size
        self._memory = make(self._comm, blocks * self._size * _F32.itemsize)
        if self._memory is None:
            return {}
        self.memory, self._address, self._laid = self._memory.own, self._memory.own.ctypes.data, True
        return {
            i: tuple(
                Place(p, first + block * self._size)
                for block, p in enumerate((optimizer.parameters[i], *optimizer.rule_states(i)))
            )
            for i, first in zip(chosen, firsts, strict=False)
        }

    def _cut(self, weight: Place) -> tuple[int, int]:
        """From which to which element this rank updates a weight."""
        start = self._comm.rank * self._share - weight.first
        size = weight.parameter.size
        return min(max(start, 0), size), min(max(start + self._share, 0), size)

    def _bytes(self, block: int) -> tuple[int, int]:
        """From which to which byte this rank writes to the weights (block 0) or to their states."""
        start = block * self._size + self._comm.rank * self._share
        return start * _F32.itemsize, (start + self._share) * _F32.itemsize

    def _fits(self, index: int) -> bool:
        """Whether a weight and its states are float32 and the same on all ranks, and so is what updates them."""
        optimizer = self._optimizer
        weight = optimizer.parameters[index]
        row = next((row for row in self._plan.rows if row.name == weight.name), None)
        if row is None or row.start != "broadcast" or row.gradient not in ("all_reduce", "all_gather"):
            return False
        if optimizer.grad_centralization_flags[index]:
            return False
        return all(p.dtype.np == _F32 and p.shape == weight.shape for p in (weight, *optimizer.rule_states(index)))


def _is_dense(gradient: Any) -> bool:
    """Whether a gradient is a dense one of the weights' type."""
    return type(gradient) is not RowTensor and gradient.dtype.np == _F32

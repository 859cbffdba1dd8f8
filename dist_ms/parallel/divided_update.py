"""The parallel optimizer: every rank keeps the states of its slice of the weights and updates that alone.

Gradients arrive reduce-scattered. While the optimizer runs, it sees the slices in place of the
weights: views of their memory. Afterwards the slices are gathered into every rank's weights.
Source: Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from dist_ms._ext.tape import make_lent
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.settings import parallel_context
from dist_ms.common.tensor import from_array
from dist_ms.communication import Comm
from dist_ms.parallel.plan import Bucket, Sharding, Slot, SyncPlan
from dist_ms.parallel.reduction.reducer import Reducer
from dist_ms.parallel.reduction.slices import Gather


class DividedUpdate:
    """An optimizer whose update is divided among ranks.

    Args:
        optimizer: the optimizer; from the first step on its states are this rank's slices.
    """

    def __init__(self, optimizer: Any) -> None:
        if not getattr(optimizer, "element_wise", False):
            raise ValueError(
                "For 'set_auto_parallel_context', 'enable_parallel_optimizer' needs an optimizer whose rule treats "
                f"every element by itself, such as Adam or Momentum, but got {type(optimizer).__name__}, whose rule "
                "may need whole gradients. A class of yours whose rule does not says so: 'element_wise = True' in its "
                "body."
            )
        self._optimizer = optimizer
        self._weights = list(optimizer.parameters)
        self._places: list[tuple[Bucket, Slot] | None] = [None] * len(self._weights)
        self._threshold = parallel_context.parallel_optimizer_threshold()
        self._states = self._find_states()
        self._buckets: list[Bucket] = []
        self._gathers: list[Gather] = []
        self._hooks: list[Any] = []
        self._comm: Comm
        self._reducer: Reducer

    @classmethod
    def asked_for(cls, optimizer: Any) -> DividedUpdate | None:
        """Return the divided update if the parallel context asks for one.

        Args:
            optimizer: the optimizer.

        Raises:
            ValueError: if the optimizer is not element-wise, or the context asks for what is not possible.
        """
        if not parallel_context.get_auto_parallel_context("enable_parallel_optimizer"):
            return None
        return cls(optimizer)

    def sharding(self, comm: Comm) -> Sharding:
        """Return what is divided among the ranks.

        Args:
            comm: the ranks.
        """
        flags = self._optimizer.grad_centralization_flags
        whole = {p.name for p, flag in zip(self._weights, flags, strict=True) if flag or p.ndim == 0}
        return Sharding(comm.size, self._threshold, frozenset(whole))

    def divide(self, plan: SyncPlan, reducer: Reducer) -> None:
        """Cut the states and have the optimizer work on slices from now on.

        Args:
            plan: says which weights are divided, and where.
            reducer: sums up the slices of the gradients.
        """
        if reducer.comm.size == 1:
            return
        self._comm, self._reducer = reducer.comm, reducer
        places = {slot.weight: (b, slot) for b in plan.buckets if b.shards > 1 for slot in b.slots}
        self._places = [places.get(i) for i in range(len(self._weights))]
        self._buckets = [b for b in plan.buckets if b.shards > 1]
        for states in self._states:
            for i, state in enumerate(states):
                if self._places[i] is not None:
                    start, stop = self._slice(i)
                    state.part_of = (self._weights[i].shape, start, stop)
                    state.set_data(from_array(state.array().reshape(-1)[start:stop].copy()), slice_shape=True)
        self._parts = tuple(self._part(i) for i in range(len(self._weights)))
        show = self._optimizer.register_forward_pre_hook(self._show_slices)
        self._hooks = [show, self._optimizer.register_forward_hook(self._gather)]

    def undo(self) -> None:
        """Have the optimizer work on whole weights again, with whole states, whose values are lost."""
        if "turns" in self._optimizer.__dict__:  # it was broken off
            self._show_whole(self._optimizer)
        for hook in self._hooks:
            hook.remove()
        for states in self._states:
            for i, state in enumerate(states):
                if self._places[i] is not None:
                    del state.part_of
                    whole = np.zeros(self._weights[i].shape, state.dtype.np)
                    state.set_data(from_array(whole), slice_shape=True)
                    state.sliced = False
        self._hooks, self._buckets, self._gathers = [], [], []
        self._places = [None] * len(self._weights)

    def _show_whole(self, optimizer: Any) -> None:
        """Let the optimizer see the whole weights again."""
        for name in ("parameters", "_parameters"):
            optimizer.__dict__[name] = self._whole
        del optimizer.__dict__["turns"]

    def divided_names(self) -> frozenset[str]:
        """Return the names of the states of which this rank has a slice."""
        divided = [i for i, place in enumerate(self._places) if place is not None]
        return frozenset(states[i].name for states in self._states for i in divided)

    def gathered_states(self) -> dict[str, np.ndarray]:
        """Return the whole states by name, on every rank; all ranks call this."""
        found = {}
        for states in self._states:
            whole: dict[int, np.ndarray] = {}
            for i, state in enumerate(states):
                if self._places[i] is not None:
                    whole[i] = np.empty(self._weights[i].shape, state.dtype.np)
                else:
                    found[state.name] = state.array().copy()
            for bucket in self._buckets:
                self._exchange(bucket, {i: states[i].array() for i in whole}, whole)
            found |= {states[i].name: array for i, array in whole.items()}
        return found

    def _find_states(self) -> list[ParameterTuple]:
        """Return the optimizer's states that have an element per element of the weights."""
        found = []
        weights = {id(w) for w in self._weights}
        for value in vars(self._optimizer).values():
            if not isinstance(value, ParameterTuple) or any(id(p) in weights for p in value):
                continue
            same = [state.shape for state in value] == [w.shape for w in self._weights]
            if same and any(w.ndim for w in self._weights):
                found.append(value)
        return found

    def _slice(self, index: int) -> tuple[int, int]:
        place = self._places[index]
        assert place is not None
        bucket, slot = place
        return bucket.slice_of(slot, self._comm.rank)

    def _part(self, index: int) -> Parameter:
        """Return the slice of a weight as a parameter, its name unchanged; a whole weight itself."""
        weight = self._weights[index]
        if self._places[index] is None:
            return weight
        part = Parameter(from_array(np.empty(0, weight.dtype.np)), name=weight.name)
        part.requires_grad = weight.requires_grad
        return part

    def _show_slices(self, optimizer: Any, inputs: Any) -> None:
        """Let the optimizer see this rank's slices."""
        for i, part in enumerate(self._parts):
            if self._places[i] is None:
                continue
            weight = self._weights[i]
            if not weight.array().flags.c_contiguous:
                weight._data = np.ascontiguousarray(weight._data)
            weight.before_write()
            weight.written()
            start, stop = self._slice(i)
            part._data = weight._data.reshape(-1)[start:stop]
        self._whole = optimizer.parameters
        for name in ("parameters", "_parameters"):
            optimizer.__dict__[name] = self._parts
        optimizer.__dict__["turns"] = self._turns

    def _gather(self, optimizer: Any, inputs: Any, output: Any) -> None:
        """Give every rank the weights that the others have updated."""
        self._show_whole(optimizer)
        weights = [weight.array() for weight in self._weights]
        if any(gather.shared for gather in self._gathers):
            self._comm.meet("all_gather")
        for gather in self._gathers:
            gather.finish(weights)
        if any(gather.shared for gather in self._gathers):
            self._comm.meet("all_gather")  # from here on a rank may write to its buckets again

    def _turns(self, places: Collection[int]) -> Iterator[Collection[int]]:
        """All at once where ranks share memory; else bucket after bucket: each travels while the next is updated."""
        self._gathers = [Gather(b, self._reducer.lent(b), self._comm) for b in self._buckets]
        if any(gather.shared for gather in self._gathers):
            yield places
            make_lent()
            for gather in self._gathers:
                gather.start([part.array() for part in self._parts])
            return
        for bucket, gather in zip(self._buckets, self._gathers, strict=True):
            yield [slot.weight for slot in bucket.slots if slot.weight in places]
            make_lent()
            gather.start([part.array() for part in self._parts])
        yield [i for i in places if self._places[i] is None]

    def _exchange(self, bucket: Bucket, parts: dict[int, np.ndarray], whole: dict[int, np.ndarray]) -> None:
        """Fill whole arrays with every rank's slices of one bucket's weights."""
        share, rank = bucket.size // bucket.shards, self._comm.rank
        mine = np.zeros(share, bucket.dtype)
        for slot in bucket.slots:
            start, stop = bucket.slice_of(slot, rank)
            if start < stop:
                at = slot.start + start - rank * share
                mine[at : at + stop - start] = parts[slot.weight]
        flat = self._comm.all_gather(mine).reshape(-1)
        for slot in bucket.slots:
            np.copyto(whole[slot.weight], flat[slot.start : slot.stop].reshape(slot.shape))

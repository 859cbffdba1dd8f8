"""Buckets of gradients: flat memory that gradients are written to, and its reductions under way.

The rule that prevents deadlock: buckets are posted strictly in plan order, also when a later one is complete first.
So every rank posts the same reductions in the same order, whatever order its gradients come in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms._ext.tape import lend
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.rank_part import RankPart
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Handle
from dist_ms.communication.comm import Done
from dist_ms.parallel.plan import Bucket, Slot
from dist_ms.parallel.reduction import bucket_memory
from dist_ms.parallel.reduction.gradient_hook import GradBucket, run_hook
from dist_ms.parallel.reduction.slices import sum_own_slices
from dist_ms.parallel.reduction.summation import Summation


class Buckets:
    """The gradients that are added over the ranks bucket by bucket.

    Args:
        buckets: of the plan.
        names: of the weights, by index.
        summation: how they are added.
        reuse: write every step's gradients to the same memory.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.reduction.buckets import Buckets
        >>> from dist_ms.parallel.plan import make_plan
        >>> from dist_ms.parallel.reduction.summation import Summation
        >>> plan = make_plan([ms.Parameter(np.ones(2, np.float32), name="w")])
        >>> buckets = Buckets(plan.buckets, ["w"], Summation(LocalComm(), divisor=2), reuse=True)
        >>> buckets.forget()
        >>> buckets.begin()
        >>> buckets.make_memory()
        >>> buckets.take(0, ms.Tensor([2.0, 4.0]), 1.0)
        >>> buckets.reduce(overlap=False)
        0.5
        >>> print(buckets.result(0))
        [1. 2.]
    """

    def __init__(self, buckets: Sequence[Bucket], names: Sequence[str], summation: Summation, *, reuse: bool) -> None:
        self._buckets, self._names, self._summation, self._reuse = tuple(buckets), names, summation, reuse
        self._places = {slot.weight: (b, slot) for b, bucket in enumerate(self._buckets) for slot in bucket.slots}
        self._buffers: list[np.ndarray] = []
        self._counting: int | None = None  # the bucket whose last element is the number of samples
        self._handles: list[Handle] = []

    def __contains__(self, index: int) -> bool:
        return index in self._places

    def __len__(self) -> int:
        return len(self._buckets)

    @property
    def under_way(self) -> int:
        """How many reductions have been posted and not been waited for."""
        return len(self._handles)

    def forget(self) -> None:
        """Start a step without any gradient."""
        self._fresh = not self._reuse
        self._types: dict[int, np.dtype] = {}
        self._written: set[int] = set()
        self._given: dict[int, np.ndarray] = {}

    def begin(self) -> None:
        """Start a sweep: every gradient is missing."""
        self._missing = [len(bucket.slots) for bucket in self._buckets]
        self._handles = []

    def complete(self) -> None:
        """Say that no gradient is missing any more."""
        self._missing = [0] * len(self._buckets)

    def make_memory(self) -> None:
        """Make the buckets' memory where there is none: all ranks at the same time, as it may be shared."""
        if not self._fresh and len(self._buffers) == len(self._buckets):
            return
        kinds = [bucket_memory.wire_type(bucket) for bucket in self._buckets]
        self._counting = self._place_of_count(kinds)
        sizes = [bucket.size + (i == self._counting) for i, bucket in enumerate(self._buckets)]
        # Memory that the caller may keep is not taken from what ranks share: they may give it back at any time.
        make = self._summation.comm.shared_buffer if self._reuse else np.empty
        self._buffers = [make(n, kind) for n, kind in zip(sizes, kinds, strict=True)]
        for buffer, bucket in zip(self._buffers, self._buckets, strict=True):
            buffer[bucket.slots[-1].stop :] = 0
        self._fresh = False

    def _place_of_count(self, kinds: list[np.dtype]) -> int | None:
        """Return the bucket in which the number of samples travels; None: it travels alone."""
        fit = [i for i, b in enumerate(self._buckets) if b.shards == 1 and kinds[i] in (np.float32, np.float64)]
        return fit[0] if fit and self._summation.samples.on and self._summation.hook is None else None

    def place(self, index: int) -> np.ndarray | None:
        """Return where a weight's gradient may be written before `take`; None: it has to be copied or added.

        Args:
            index: the weight.
        """
        if index in self._written:
            return None
        bucket, slot = self._places[index]
        if self._buffers[bucket].dtype != self._buckets[bucket].dtype:
            return None
        self._given[index] = view = self._view(bucket, slot)
        return view

    def _view(self, bucket: int, slot: Slot) -> np.ndarray:
        return self._buffers[bucket][slot.start : slot.stop].reshape(slot.shape)

    def take(self, index: int, grad: Tensor | RowTensor | None, factor: float) -> None:
        """Put a gradient in its place, or add it to what is there.

        Args:
            index: the weight.
            grad: its gradient; None stands for zeros.
            factor: what it counts.
        """
        bucket, slot = self._places[index]
        view, factor = self._view(bucket, slot), factor * self._summation.before
        add = index in self._written
        if bucket_memory.is_at(self._given.pop(index, None), grad):
            self._types[index] = view.dtype
            if factor != 1:
                view *= view.dtype.type(factor)
        elif grad is not None:
            self._types[index] = bucket_memory.write(view, grad, factor, add, self._names[index])
        elif not add:
            view[...] = 0
        self._written.add(index)
        self._missing[bucket] -= 1

    def post_complete(self) -> None:
        """Post buckets in plan order, as far as they are complete."""
        while (at := len(self._handles)) < len(self._buckets) and not self._missing[at]:
            self._handles.append(self._post(at))

    def _post(self, at: int) -> Handle:
        """Start the reduction of a bucket."""
        bucket, buffer, summation = self._buckets[at], self._buffers[at], self._summation
        if bucket.shards > 1:
            return Done()  # scattered at the end
        if summation.hook is None:
            if at == self._counting:
                buffer[-1] = summation.samples.mine
            return summation.comm.post_all_reduce(buffer, **self._options(at))
        names = tuple(self._names[slot.weight] for slot in bucket.slots)
        shapes = tuple(slot.shape for slot in bucket.slots)
        return run_hook(summation.hook, GradBucket(at, buffer[: bucket.size], names, shapes, summation.comm))

    def _options(self, at: int) -> dict[str, Any]:
        """Return the factor that a bucket's all-reduce takes in, and what names its gradients in errors."""
        names = {"names": lambda: [self._names[slot.weight] for slot in self._buckets[at].slots]}
        after = self._summation.after
        return names if after == 1 else {**names, "scale": after}

    def progress(self) -> None:
        """Drive the reductions under way."""
        for handle in self._handles:
            if not handle.test():
                return

    def reduce(self, *, overlap: bool) -> float:
        """Add all buckets over the ranks, and return the factor that gradients outside of them need.

        Args:
            overlap: some may be under way already.
        """
        summation, buffers = self._summation, self._buffers
        if overlap or summation.hook is not None:  # what a hook computes for a bucket hides behind the others' way
            self.post_complete()
            for handle in self._handles:
                handle.wait()
            self._handles = []
        else:
            if self._counting is not None:
                buffers[self._counting][-1] = summation.samples.mine
            for at, (bucket, buffer) in enumerate(zip(self._buckets, buffers, strict=True)):
                if bucket.shards == 1:
                    summation.comm.all_reduce(buffer, **self._options(at))
        total = None if self._counting is None else float(buffers[self._counting][-1])
        scale = summation.after * summation.samples.scale(total)
        divided = [buffer for buffer, bucket in zip(buffers, self._buckets, strict=True) if bucket.shards > 1]
        sum_own_slices(divided, summation.comm, scale)
        if scale != 1 and not summation.reduces_scaled:
            for buffer, bucket in zip(buffers, self._buckets, strict=True):
                if bucket.shards == 1:
                    buffer *= scale
        return scale

    def lent(self, bucket: Bucket) -> np.ndarray | None:
        """Return a bucket's memory, for who has used its gradients; None where they are the caller's to keep.

        Args:
            bucket: one of the plan's.
        """
        return self._buffers[self._buckets.index(bucket)] if self._reuse else None

    def result(self, index: int) -> Tensor:
        """Return the sum of a weight's gradients, or this rank's slice of it, flat, in the type they came in.

        Args:
            index: the weight.
        """
        at, slot = self._places[index]
        bucket = self._buckets[at]
        array, dtype = self._buffers[at][slot.start : slot.stop], self._types.get(index, bucket.dtype)
        if bucket.shards == 1:
            return lend(wrap(array.reshape(slot.shape).astype(dtype, copy=False)))
        comm = self._summation.comm
        start, stop = bucket.slice_of(slot, comm.rank)
        grad = lend(wrap(array[start:stop].astype(dtype, copy=False)))
        grad._part = RankPart("slice", comm)
        return grad

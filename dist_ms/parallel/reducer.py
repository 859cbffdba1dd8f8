"""The reducer: a gradient sink that adds the ranks' gradients, bucket by bucket.

The rule that prevents deadlock: buckets are posted strictly in plan order, also when a later one
is complete first. So every rank posts the same reductions in the same order, whatever order its
gradients come in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms._ext.tape import lend, make_lent
from dist_ms.common.rank_part import RankPart
from dist_ms.common.sparse_tensor import RowTensor
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Comm, Handle
from dist_ms.communication.comm import Done
from dist_ms.parallel import bucket_memory, row_gradients
from dist_ms.parallel.gradient_hook import GradBucket, GradHook, run_hook
from dist_ms.parallel.plan import Bucket, Slot, SyncPlan
from dist_ms.parallel.samples import SampleCount
from dist_ms.parallel.slices import sum_own_slices

Replan = Callable[[frozenset[str]], SyncPlan]


class Reducer:
    """Reduces gradients over all ranks while they are being computed.

    With R ranks the gradient g of a weight becomes  sum_r g_r,  times 1 / degree if `mean`; with
    `weighted` and n_r samples on rank r it becomes  sum_r n_r g_r / sum_r n_r,  which is the
    gradient of the mean over all samples.

    Gradients are written straight into flat buffers, one per bucket, and come back as views of
    them: until the next `begin()`, when `reuse` is on. A weight that no rank's loss depends on
    gets zeros (in a world of one None, as without a reducer). Weights whose row says "keep" get
    their own gradient back, untouched; those of "reduce_scatter" this rank's slice of it, flat.
    float16 and bfloat16 gradients are added in float32 and rounded once.

    Args:
        plan: the rows and buckets; the same on all ranks.
        comm: the ranks that train together.
        mean: multiply the sum by 1 / degree.
        degree: default: the number of ranks.
        overlap: post a bucket as soon as it is complete, while backward goes on; else all at the
            end. Default: between machines yes, within one no, where it does not pay.
        reuse: write every step's gradients to the same memory.
        weighted: the mean over samples; `samples` is set before every sweep.
        replan: makes the plan again when it is known which weights' gradients come as rows; that
            is agreed on in the first step. Without, rows are added to the dense bucket.

    Attributes:
        hook: adds the buckets instead of an all-reduce; see `GradBucket`.
        watch: called on every rank at the end of a step's reductions.

    Raises:
        ValueError: if `degree` is not a positive int.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.plan import make_plan
        >>> from dist_ms.parallel.reducer import Reducer
        >>> w = ms.Parameter(np.ones(2, np.float32), name="w")
        >>> reducer = Reducer(make_plan([w]), LocalComm(), mean=True, degree=2)
        >>> reducer.begin()
        >>> reducer.ready(0, ms.Tensor([2.0, 4.0]))
        >>> print(reducer.finish()[0])
        [1. 2.]
    """

    def __init__(
        self,
        plan: SyncPlan,
        comm: Comm,
        *,
        mean: bool = False,
        degree: int | None = None,
        overlap: bool | None = None,
        reuse: bool = True,
        weighted: bool = False,
        replan: Replan | None = None,
    ) -> None:
        degree = comm.size if degree is None else degree
        if isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0:
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be a positive int, but got {degree!r}.")
        self.comm = comm
        self.overlap = not comm.one_node if overlap is None else overlap
        self.hook: GradHook | None = None
        self.watch: Callable[[], None] | None = None
        self.samples = SampleCount(comm, weighted and mean)
        self._divisor = degree if mean and not weighted else 1
        self._reuse = reuse
        self._handles: list[Handle] = []
        self._open = self._local = self._holding = False
        self._replan = replan if comm.size > 1 else None
        self._back: list[tuple[int, Tensor | RowTensor | None, float]] = []
        self._follow(plan)

    def _follow(self, plan: SyncPlan) -> None:
        """Lay out the memory for a plan."""
        self.plan = plan
        # Alone there is nothing to add: every gradient is passed on as it is.
        alone = self.comm.size == 1 and self._divisor == 1 and not self.samples.on
        self._buckets = () if alone else plan.buckets
        self._buffers: list[np.ndarray] = []
        self._counting: int | None = None
        # Per weight where its gradient goes: (bucket, slot). A tied weight that comes again has
        # the same gradient, so its first place counts.
        places = {slot.weight: (b, slot) for b, x in enumerate(self._buckets) for slot in x.slots}
        first = {row: i for i, row in reversed(list(enumerate(plan.weights)))}
        self._first = [first[row] for row in plan.weights]
        self._places: list[tuple[int, Slot] | None] = [
            places.get(i) if i == self._first[i] else None for i in range(len(plan.weights))
        ]
        self._served = [i for i in set(self._first) if plan.rows[plan.weights[i]].gradient == "server"]
        self._by_rows = [
            i
            for i, row in enumerate(plan.weights)
            if plan.rows[row].gradient == "all_gather" and i == self._first[i] and not alone
        ]

    @property
    def wants_rows(self) -> bool:
        """Whether a table's gradient is better given by the rows that were looked up, where that is the same."""
        several = self.comm.size > 1 and self.hook is None  # a hook is to see all gradients
        return several and (self._replan is not None or bool(self._by_rows))

    @property
    def _before(self) -> float:
        """What gradients are multiplied with on their way to the bucket: a hook gets them divided.

        Only by a power of two, which changes no bit. Else the all-reduce divides the sums at no cost.
        """
        exact = self._divisor & (self._divisor - 1) == 0
        return 1 / self._divisor if exact and self.hook is not None else 1.0

    @property
    def _after(self) -> float:
        """What the sums are multiplied with."""
        return 1 / self._divisor / self._before

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within this, gradients stay on their rank and add up; the next sweep outside reduces the sum.

        Sweeps within return None for every gradient.

        Examples:
            >>> import dist_ms as ms
            >>> from dist_ms.communication import LocalComm
            >>> from dist_ms.parallel import Reducer, make_plan
            >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
            >>> reducer = Reducer(make_plan([w]), LocalComm())
            >>> with reducer.no_sync():
            ...     _ = reducer.reduce([ms.Tensor([2.0])])
            >>> print(reducer.reduce([ms.Tensor([3.0])])[0])
            [5.]
        """
        before, self._local = self._local, True
        try:
            yield
        finally:
            self._local = before

    def begin(self) -> None:
        """Start a sweep. One that an error broke off is forgotten.

        Raises:
            RuntimeError: if reductions of the last step are under way: other ranks wait for the
                rest of them.
        """
        if self._open and self._handles:
            raise RuntimeError(
                "For 'Reducer', begin() must come after finish(), but the last step is not "
                f"finished: {len(self._handles)} of {len(self._buckets)} buckets are on their "
                "way."
            )
        make_lent()
        if self._open or not self._holding:
            self._forget()
        self.samples.begin()
        self._missing = [len(b.slots) for b in self._buckets]
        self._seen = [False] * len(self.plan.weights)
        self._handles = []
        self._open = True
        if self._replan is None:
            self._make_memory()

    def _forget(self) -> None:
        """Start a step without any gradient."""
        self._holding = False
        self._fresh = not self._reuse
        self._types: dict[int, np.dtype] = {}
        self._written: set[int] = set()
        self._given: dict[int, np.ndarray] = {}
        self._kept: dict[int, Tensor | RowTensor | None] = {}
        self._rows: dict[int, row_gradients.Rows] = {}
        self._back = []
        self.samples.forget()

    def _make_memory(self) -> None:
        """Make the buckets' memory where there is none: all ranks at the same time, as it may be shared."""
        if not self._fresh and len(self._buffers) == len(self._buckets):
            return
        kinds = [bucket_memory.wire_type(b) for b in self._buckets]
        self._counting = self._place_of_count(kinds)
        sizes = [b.size + (i == self._counting) for i, b in enumerate(self._buckets)]
        # Memory that the caller may keep is not taken from what ranks share: they may give it back at any time.
        make = self.comm.shared_buffer if self._reuse else np.empty
        self._buffers = [make(n, kind) for n, kind in zip(sizes, kinds, strict=True)]
        for buffer, bucket in zip(self._buffers, self._buckets, strict=True):
            buffer[bucket.slots[-1].stop :] = 0
        self._fresh = False

    def _place_of_count(self, kinds: list[np.dtype]) -> int | None:
        """Return the bucket whose last element is the number of samples; None: it travels alone."""
        fit = [i for i, b in enumerate(self._buckets) if b.shards == 1 and kinds[i] in (np.float32, np.float64)]
        return fit[0] if fit and self.samples.on and self.hook is None else None

    def place(self, index: int) -> np.ndarray | None:
        """Return where a weight's gradient may be written before `ready`; None: it has to be copied or added.

        Args:
            index: the weight.
        """
        at = self._places[index]
        if at is None or self._replan is not None or index in self._written:
            return None
        bucket, slot = at
        if self._buffers[bucket].dtype != self._buckets[bucket].dtype:
            return None
        self._given[index] = view = self._view(bucket, slot)
        return view

    def _view(self, bucket: int, slot: Slot) -> np.ndarray:
        return self._buffers[bucket][slot.start : slot.stop].reshape(slot.shape)

    def ready(self, index: int, grad: Tensor | RowTensor | None) -> None:
        """Take a gradient; None stands for zeros.

        Args:
            index: the weight.
            grad: its gradient, of the weight's shape.

        Raises:
            RuntimeError: out of turn.
            ValueError: if the shape is not the weight's.
            TypeError: if the type cannot be added in the bucket's.
        """
        if not self._open:
            raise RuntimeError(f"For 'Reducer', ready({index}) must come after begin(), but no step is open.")
        if self._seen[index]:
            raise RuntimeError(
                f"For 'Reducer', the gradient of '{self._name(index)}' must come once per step, but it came again."
            )
        self._seen[index] = True
        if self._replan is not None and self._first[index] == index:
            self._back.append((index, grad, self.samples.factor))
        else:
            self._take(index, grad, self.samples.factor)
            if self.overlap and not self._local:
                self._post_complete()

    def _take(self, index: int, grad: Tensor | RowTensor | None, factor: float) -> None:
        """Put a gradient where it belongs."""
        place = self._places[index]
        if place is not None:
            bucket, slot = place
            view = self._view(bucket, slot)
            add = index in self._written
            if bucket_memory.is_at(self._given.pop(index, None), grad):
                self._types[index] = view.dtype
                if factor * self._before != 1:
                    view *= view.dtype.type(factor * self._before)
            elif grad is not None:
                factor *= self._before
                self._types[index] = bucket_memory.write(view, grad, factor, add, self._name(index))
            elif not add:
                view[...] = 0
            self._written.add(index)
            self._missing[bucket] -= 1
        elif index in self._by_rows:
            row = self.plan.rows[self.plan.weights[index]]
            rows = row_gradients.rows_of(grad, row.shape, np.dtype(row.dtype), factor * self._before)
            before = self._rows.get(index)
            self._rows[index] = rows if before is None else row_gradients.joined(before, rows)
        elif index in self._served and grad is not None and factor != 1:
            self._keep(index, _times(grad, factor))
        else:
            self._keep(index, grad)

    def _keep(self, index: int, grad: Tensor | RowTensor | None) -> None:
        """Add a gradient that stays on this rank to what came before."""
        if self._kept.get(index) is None:
            self._kept[index] = grad
        elif grad is not None:
            own = index in self._written  # a sum made here, so that its memory may be written
            self._kept[index] = _sum(self._kept[index], grad, own)
            self._written.add(index)

    def lent(self, bucket: Bucket) -> np.ndarray | None:
        """Return a bucket's memory, for who has used its gradients; None where they are the caller's to keep.

        Call `settle` before writing to it.

        Args:
            bucket: one of the plan's.
        """
        return self._buffers[self._buckets.index(bucket)] if self._reuse else None

    def progress(self) -> None:
        """Drive the reductions under way; called between the nodes of the backward sweep."""
        for handle in self._handles:
            if not handle.test():
                return

    def finish(self) -> list[Tensor | RowTensor | None]:
        """Wait for all reductions and return the gradients in weight order.

        Raises:
            RuntimeError: out of turn, or if a gradient has not come.
        """
        if not self._open:
            raise RuntimeError("For 'Reducer', finish() must come after begin().")
        absent = [self._name(i) for i, seen in enumerate(self._seen) if not seen]
        if absent:
            raise RuntimeError(f"For 'Reducer', finish() needs every gradient, but got none of {absent}.")
        if self._local:
            self._open, self._holding = False, True
            return [None] * len(self.plan.weights)
        if self._replan is not None:
            self._find_rows(self._replan)
        buffers = self._buffers
        if self._counting is not None:
            buffers[self._counting][-1] = self.samples.mine
        self._reduce_buckets(buffers)
        total = None if self._counting is None else float(buffers[self._counting][-1])
        scale = self._after * self.samples.scale(total)
        divided = [buffer for buffer, bucket in zip(buffers, self._buckets, strict=True) if bucket.shards > 1]
        sum_own_slices(divided, self.comm, scale)
        for buffer, bucket in zip(buffers, self._buckets, strict=True):
            if scale != 1 and bucket.shards == 1 and (self.samples.on or self.hook is not None):
                buffer *= scale
        gathered = row_gradients.reduce_rows([self._rows[i] for i in self._by_rows], self.comm, scale)
        self._kept.update(zip(self._by_rows, gathered, strict=True))
        self._scale_served(scale)
        self._open = self._holding = False
        if self.watch is not None:
            self.watch()
        return [self._result(self._first[i]) for i in range(len(self.plan.weights))]

    def _scale_served(self, scale: float) -> None:
        """Servers average over the workers: multiply by what makes of that the sum or mean asked for."""
        factor = self._before * scale * self.comm.size
        for i in self._served:
            grad = self._kept.get(i)
            if grad is not None and factor != 1:
                self._kept[i] = _times(grad, factor)

    def _reduce_buckets(self, buffers: list[np.ndarray]) -> None:
        """Add the buckets that are not divided over the ranks, in plan order."""
        if self.overlap or self.hook is not None:  # what a hook computes for a bucket hides behind the others' way
            self._post_complete()
            for handle in self._handles:
                handle.wait()
            self._handles = []
            return
        for i, (bucket, buffer) in enumerate(zip(self._buckets, buffers, strict=True)):
            if bucket.shards == 1:
                self.comm.all_reduce(buffer, **self._options(i))

    def _options(self, at: int) -> dict[str, Any]:
        """Return the factor that a bucket's all-reduce takes in, and what names its gradients in errors."""
        names = {"names": lambda: [self._name(slot.weight) for slot in self._buckets[at].slots]}
        return names if self._after == 1 else {**names, "scale": self._after}

    def _find_rows(self, replan: Replan) -> None:
        """Agree on which gradients come as rows, lay the buckets out without them, and take what was kept back."""
        back, self._replan = self._back, None
        self._back = []
        kinds = np.zeros(len(self.plan.weights), np.int8)  # 0: none came, 1: rows, 2: dense
        for index, grad, _ in back:
            if grad is not None:
                rows = isinstance(grad, RowTensor) and row_gradients.pays(grad, self.comm.size)
                kinds[index] = max(kinds[index], 1 if rows else 2)
        kinds = self.comm.all_reduce(kinds, "max")
        names = frozenset(self._name(i) for i in np.flatnonzero(kinds == 1))
        if names:
            self._follow(replan(names))
        self._make_memory()
        self._missing = [len(b.slots) for b in self._buckets]
        for index, grad, factor in back:
            self._take(index, grad, factor)
        self._missing = [0] * len(self._buckets)  # several sweeps may have been kept back

    def reduce(
        self, grads: Sequence[Tensor | RowTensor | None], samples: int | None = None
    ) -> list[Tensor | RowTensor | None]:
        """Reduce gradients that are all there: a whole step at once.

        Args:
            grads: one per weight, in order.
            samples: how many samples they are the mean of, where the mean is weighted.

        Raises:
            ValueError: if the number is not that of the weights.
        """
        if len(grads) != len(self.plan.weights):
            raise ValueError(
                f"For 'DistributedGradReducer', 'grads' must have {len(self.plan.weights)} "
                f"entries, one per parameter, but got {len(grads)}."
            )
        if samples is not None:
            self.samples.set(samples)
        self.begin()
        for index in reversed(range(len(grads))):
            self.ready(index, grads[index])
        return self.finish()

    def _name(self, index: int) -> str:
        return self.plan.rows[self.plan.weights[index]].name

    def _post_complete(self) -> None:
        """Post buckets in plan order, as far as they are complete."""
        if self._replan is not None:
            return
        while (at := len(self._handles)) < len(self._buckets) and not self._missing[at]:
            self._handles.append(self._post(at))

    def _post(self, at: int) -> Handle:
        """Start the reduction of a bucket."""
        bucket, buffer = self._buckets[at], self._buffers[at]
        if bucket.shards > 1:
            return Done()  # scattered at the end
        if self.hook is None:
            if at == self._counting:
                buffer[-1] = self.samples.mine
            return self.comm.post_all_reduce(buffer, **self._options(at))
        names = tuple(self._name(s.weight) for s in bucket.slots)
        shapes = tuple(s.shape for s in bucket.slots)
        return run_hook(self.hook, GradBucket(at, buffer[: bucket.size], names, shapes, self.comm))

    def _result(self, index: int) -> Tensor | RowTensor | None:
        """Return the gradient of a weight in the type it came in."""
        place = self._places[index]
        if place is None:
            grad = self._kept[index]
            kept = self.plan.rows[self.plan.weights[index]].gradient == "keep"
            if kept and self.comm.size > 1:
                if grad is None:  # other ranks' may have one, and all are to see that they are the ranks' own
                    row = self.plan.rows[self.plan.weights[index]]
                    grad = wrap(np.zeros(row.shape, row.dtype))
                (grad.values if isinstance(grad, RowTensor) else grad)._part = RankPart("own", self.comm)
            return grad
        bucket, slot = place
        kind = self._buckets[bucket]
        array = self._buffers[bucket][slot.start : slot.stop]
        if kind.shards > 1:
            start, stop = kind.slice_of(slot, self.comm.rank)
            dtype = self._types.get(index, kind.dtype)
            grad = lend(wrap(array[start:stop].astype(dtype, copy=False)))
            grad._part = RankPart("slice", self.comm)
            return grad
        dtype = self._types.get(index, kind.dtype)
        return lend(wrap(array.reshape(slot.shape).astype(dtype, copy=False)))


def _times(grad: Tensor | RowTensor, factor: float) -> Tensor | RowTensor:
    """Multiply a gradient that stays on its rank."""
    if isinstance(grad, RowTensor):
        return grad.with_values(wrap(grad.values.array() * grad.values.array().dtype.type(factor)))
    return wrap(grad.array() * grad.array().dtype.type(factor))


def _sum(a: Tensor | RowTensor, b: Tensor | RowTensor, own: bool) -> Tensor | RowTensor:
    """Add two gradients that stay on their rank, into the memory of the first if that is `own`."""
    if isinstance(a, RowTensor) and isinstance(b, RowTensor):
        shape, dtype = tuple(a.dense_shape), a.values.array().dtype
        rows = row_gradients.joined(*(row_gradients.rows_of(g, shape, dtype) for g in (a, b)))
        return rows.tensor(1.0)
    first, second = _dense(a), _dense(b)
    into = first if own and first.dtype == second.dtype and not isinstance(a, RowTensor) else None
    return wrap(np.add(first, second, out=into))


def _dense(grad: Tensor | RowTensor) -> np.ndarray:
    if not isinstance(grad, RowTensor):
        return grad.array()
    rows = row_gradients.rows_of(grad, tuple(grad.dense_shape), grad.values.array().dtype)
    return rows.dense().reshape(grad.dense_shape).astype(rows.dtype, copy=False)

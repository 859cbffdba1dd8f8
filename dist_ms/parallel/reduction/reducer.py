"""The reducer: a gradient sink that adds the ranks' gradients while they are being computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from dist_ms._ext.tape import make_lent
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Comm
from dist_ms.parallel.plan import Bucket, SyncPlan
from dist_ms.parallel.reduction.buckets import Buckets
from dist_ms.parallel.reduction.first_step import FirstStep, Replan
from dist_ms.parallel.reduction.gradient_hook import GradHook
from dist_ms.parallel.reduction.kept import Kept
from dist_ms.parallel.reduction.row_sums import RowSums
from dist_ms.parallel.reduction.samples import SampleCount
from dist_ms.parallel.reduction.summation import Summation


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
        overlap: the same, also between steps.
        watch: called on every rank at the end of a step's reductions.

    Raises:
        ValueError: if `degree` is not a positive int.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.plan import make_plan
        >>> from dist_ms.parallel.reduction.reducer import Reducer
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
        self.watch: Callable[[], None] | None = None
        self._summation = Summation(comm, degree if mean and not weighted else 1, weighted and mean)
        self._reuse = reuse
        self._open = self._local = self._holding = False
        self._first_step = FirstStep(replan, comm) if replan is not None and comm.size > 1 else None
        self._follow(plan)

    def _follow(self, plan: SyncPlan) -> None:
        """Find out where each weight's gradient goes."""
        self.plan = plan
        first = {row: i for i, row in reversed(list(enumerate(plan.weights)))}
        self._first = [first[row] for row in plan.weights]  # a tied weight that comes again has the same gradient
        self._names = [plan.rows[row].name for row in plan.weights]
        alone = self._summation.trivial
        tables = [] if alone else [i for i in first.values() if plan.rows[plan.weights[i]].gradient == "all_gather"]
        self._buckets = Buckets(() if alone else plan.buckets, self._names, self._summation, reuse=self._reuse)
        self._rows = RowSums(plan, sorted(tables), self._summation)
        self._kept = Kept(plan, self._summation)
        parts = (self._buckets, self._rows)
        self._homes = [next((part for part in parts if i in part), self._kept) for i in self._first]

    @property
    def hook(self) -> GradHook | None:
        """What adds the buckets instead of an all-reduce; see `GradBucket`."""
        return self._summation.hook

    @hook.setter
    def hook(self, hook: GradHook | None) -> None:
        self._summation.hook = hook

    @property
    def samples(self) -> SampleCount:
        """Counts the samples of each sweep, where the mean is over them."""
        return self._summation.samples

    @property
    def wants_rows(self) -> bool:
        """Whether a table's gradient is better given by the rows that were looked up, where that is the same."""
        several = self.comm.size > 1 and self.hook is None  # a hook is to see all gradients
        return several and (self._first_step is not None or len(self._rows) > 0)

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
        if self._open and self._buckets.under_way:
            raise RuntimeError(
                "For 'Reducer', begin() must come after finish(), but the last step is not "
                f"finished: {self._buckets.under_way} of {len(self._buckets)} buckets are on their "
                "way."
            )
        make_lent()
        if self._open or not self._holding:
            self._holding = False
            if self._first_step is not None:
                self._first_step.waiting.clear()
            self.samples.forget()
            self._forget()
        self.samples.begin()
        self._seen = [False] * len(self.plan.weights)
        self._buckets.begin()
        self._open = True
        if self._first_step is None:
            self._buckets.make_memory()

    def _forget(self) -> None:
        for part in (self._buckets, self._rows, self._kept):
            part.forget()

    def place(self, index: int) -> np.ndarray | None:
        """Return where a weight's gradient may be written before `ready`; None: it has to be copied or added.

        Args:
            index: the weight.
        """
        if self._homes[index] is not self._buckets or self._first_step is not None or self._first[index] != index:
            return None
        return self._buckets.place(index)

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
                f"For 'Reducer', the gradient of '{self._names[index]}' must come once per step, but it came again."
            )
        self._seen[index] = True
        if self._first[index] != index:
            return
        if self._first_step is not None:
            self._first_step.take(index, grad, self.samples.factor)
            return
        self._homes[index].take(index, grad, self.samples.factor)
        if self.overlap and not self._local:
            self._buckets.post_complete()

    def lent(self, bucket: Bucket) -> np.ndarray | None:
        """Return a bucket's memory, for who has used its gradients; None where they are the caller's to keep.

        Args:
            bucket: one of the plan's.
        """
        return self._buckets.lent(bucket)

    def progress(self) -> None:
        """Drive the reductions under way; called between the nodes of the backward sweep."""
        self._buckets.progress()

    def finish(self) -> list[Tensor | RowTensor | None]:
        """Wait for all reductions and return the gradients in weight order.

        Raises:
            RuntimeError: out of turn, or if a gradient has not come.
        """
        if not self._open:
            raise RuntimeError("For 'Reducer', finish() must come after begin().")
        absent = [name for name, seen in zip(self._names, self._seen, strict=True) if not seen]
        if absent:
            raise RuntimeError(f"For 'Reducer', finish() needs every gradient, but got none of {absent}.")
        if self._local:
            self._open, self._holding = False, True
            return [None] * len(self.plan.weights)
        if self._first_step is not None:
            self._find_rows(self._first_step)
        scale = self._buckets.reduce(overlap=self.overlap)
        self._rows.reduce(scale)
        self._kept.reduce(scale)
        self._open = self._holding = False
        if self.watch is not None:
            self.watch()
        return [home.result(first) for home, first in zip(self._homes, self._first, strict=True)]

    def _find_rows(self, step: FirstStep) -> None:
        """Lay the buckets out without the gradients that come by rows, and take what has waited."""
        self._first_step = None
        plan = step.new_plan(self._names)
        if plan is not None:
            self._follow(plan)
            self._forget()
        self._buckets.begin()
        self._buckets.make_memory()
        for index, grad, factor in step.waiting:
            self._homes[index].take(index, grad, factor)
        self._buckets.complete()  # several sweeps may have waited, of which each made the buckets complete

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

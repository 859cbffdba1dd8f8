"""The reducer: a gradient sink that adds the ranks' gradients, bucket by bucket.

The rule that prevents deadlock: buckets are posted strictly in plan order, also when a later one
is complete first. So every rank posts the same reductions in the same order, whatever order its
gradients come in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Comm, Handle
from dist_ms.parallel.broadcast import refuse_servers
from dist_ms.parallel.plan import Bucket, Slot, SyncPlan


class Reducer:
    """Reduces gradients over all ranks while they are being computed.

    With R ranks the gradient g of a weight becomes  sum_r g_r,  times 1 / degree if `mean`.

    Gradients are written straight into flat buffers, one per bucket, and come back as views of
    them: until the next `begin()`, when `reuse` is on. A weight that no rank's loss depends on
    gets zeros (in a world of one None, as without a reducer). Weights whose row says "keep" get
    their own gradient back, untouched. float16 and bfloat16 gradients are added in float32 and
    rounded once.

    Args:
        plan: the rows and buckets; the same on all ranks.
        comm: the ranks that train together.
        mean: multiply the sum by 1 / degree.
        degree: default: the number of ranks.
        overlap: post a bucket as soon as it is complete, while backward goes on; else all at the
            end. Default: between machines yes, within one no, where it does not pay.
        reuse: write every step's gradients to the same memory.

    Raises:
        ValueError: if `degree` is not a positive int.
        NotImplementedError: if the plan has a row that belongs to a server.

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
    ) -> None:
        refuse_servers(plan)
        degree = comm.size if degree is None else degree
        if isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0:
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be a positive int, but got {degree!r}.")
        self.plan, self.comm = plan, comm
        self.scale = 1 / degree if mean else 1.0
        self.overlap = not comm.one_node if overlap is None else overlap
        self._reuse = reuse
        self._buffers: list[np.ndarray] = []
        self._handles: list[Handle] = []
        self._open = False
        # Per weight where its gradient goes: (bucket, slot). A tied weight that comes again has
        # the same gradient, so its first place counts.
        # Alone there is nothing to add: every gradient is passed on as it is.
        self._buckets = plan.buckets if comm.size > 1 or self.scale != 1 else ()
        places = {slot.weight: (b, slot) for b, x in enumerate(self._buckets) for slot in x.slots}
        first = {row: i for i, row in reversed(list(enumerate(plan.weights)))}
        self._first = [first[row] for row in plan.weights]
        self._places: list[tuple[int, Slot] | None] = [
            places.get(i) if i == self._first[i] else None for i in range(len(plan.weights))
        ]

    def begin(self) -> None:
        """Start a step. A step that an error broke off is forgotten.

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
        if not self._buffers or not self._reuse:
            self._buffers = [np.empty(b.size, _wire_type(b)) for b in self._buckets]
        self._missing = [len(b.slots) for b in self._buckets]
        self._seen = [False] * len(self.plan.weights)
        self._types: dict[int, np.dtype] = {}
        self._kept: dict[int, Tensor | None] = {}
        self._handles = []
        self._open = True

    def ready(self, index: int, grad: Tensor | None) -> None:
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
        place = self._places[index]
        if place is None:
            self._kept[index] = grad
            return
        bucket, slot = place
        view = self._buffers[bucket][slot.start : slot.stop]
        if grad is None:
            view[:] = 0
        else:
            self._write(index, view.reshape(slot.shape), grad.array())
        self._missing[bucket] -= 1
        if self.overlap:
            self._post_complete()

    def progress(self) -> None:
        """Drive the reductions under way; called between the nodes of the backward sweep."""
        for handle in self._handles:
            if not handle.test():
                return

    def finish(self) -> list[Tensor | None]:
        """Wait for all reductions and return the gradients in weight order.

        Raises:
            RuntimeError: out of turn, or if a gradient has not come.
        """
        if not self._open:
            raise RuntimeError("For 'Reducer', finish() must come after begin().")
        absent = [self._name(i) for i, seen in enumerate(self._seen) if not seen]
        if absent:
            raise RuntimeError(f"For 'Reducer', finish() needs every gradient, but got none of {absent}.")
        if self.overlap:
            for handle in self._handles:
                handle.wait()
        else:
            for buffer in self._buffers:
                self.comm.all_reduce(buffer)
        if self.scale != 1:
            for buffer in self._buffers:
                buffer *= self.scale
        self._open = False
        return [self._result(self._first[i]) for i in range(len(self.plan.weights))]

    def reduce(self, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Reduce gradients that are all there: a whole step at once.

        Args:
            grads: one per weight, in order.

        Raises:
            ValueError: if the number is not that of the weights.
        """
        if len(grads) != len(self.plan.weights):
            raise ValueError(
                f"For 'DistributedGradReducer', 'grads' must have {len(self.plan.weights)} "
                f"entries, one per parameter, but got {len(grads)}."
            )
        self.begin()
        for index in reversed(range(len(grads))):
            self.ready(index, grads[index])
        return self.finish()

    def _name(self, index: int) -> str:
        return self.plan.rows[self.plan.weights[index]].name

    def _write(self, index: int, view: np.ndarray, grad: np.ndarray) -> None:
        """Copy a gradient into its bucket."""
        if grad.shape != view.shape:
            raise ValueError(
                f"For 'Reducer', the gradient of '{self._name(index)}' must have shape "
                f"{view.shape}, but got {grad.shape}."
            )
        if grad.dtype.kind == "c" and view.dtype.kind != "c":
            raise TypeError(
                f"For 'Reducer', the gradient of '{self._name(index)}' must be of type "
                f"{view.dtype}, but got {grad.dtype}."
            )
        np.copyto(view, grad, casting="unsafe")
        self._types[index] = grad.dtype

    def _post_complete(self) -> None:
        """Post buckets in plan order, as far as they are complete."""
        while len(self._handles) < len(self._buffers) and not self._missing[len(self._handles)]:
            self._handles.append(self.comm.post_all_reduce(self._buffers[len(self._handles)]))

    def _result(self, index: int) -> Tensor | None:
        """Return the gradient of a weight in the type it came in."""
        place = self._places[index]
        if place is None:
            return self._kept[index]
        bucket, slot = place
        array = self._buffers[bucket][slot.start : slot.stop].reshape(slot.shape)
        dtype = self._types.get(index, self._buckets[bucket].dtype)
        return wrap(array if array.dtype == dtype else array.astype(dtype))


def _wire_type(bucket: Bucket) -> np.dtype:
    """Return the type in which gradients are added."""
    narrow = bucket.dtype.name in ("float16", "bfloat16")
    return np.dtype(np.float32) if narrow else bucket.dtype

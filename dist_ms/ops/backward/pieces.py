"""Gradients of slicing, picking, padding and other pieces of tensors as operations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.backward.backward import Backward
from dist_ms.ops.backward.pooling import lengths

__all__ = [
    "ConcatOffset",
    "FlattenGrad",
    "GatherDGradV2",
    "MaskedSelectGrad",
    "MedianGrad",
    "MirrorPadGrad",
    "PadV3Grad",
    "ReflectionPad1DGrad",
    "ReflectionPad2DGrad",
    "ReflectionPad3DGrad",
    "RepeatInterleaveGrad",
    "ReplicationPad1DGrad",
    "ReplicationPad2DGrad",
    "ReplicationPad3DGrad",
    "SliceGrad",
    "StridedSliceGrad",
    "TraceGrad",
    "TraceV2Grad",
    "UniqueGrad",
]


class SliceGrad(Backward):
    """The gradient of Slice: zeros around what it took.

    Call:
        dy (Tensor): the gradient of its output.
        x (Tensor): its input; only its shape counts.
        begin, size (tuple): as in `Slice`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import SliceGrad
        >>> print(SliceGrad()(ms.Tensor([5.0]), ms.Tensor([1.0, 2.0, 3.0]), (1,), (1,)))
        [0. 5. 0.]
    """

    def compute(self, dy: Tensor, x: Tensor, begin: Any, size: Any) -> Tensor:
        return self.through(lambda v: ops.slice(v, begin, size), [ops.zeros(x.shape, dy.dtype)], dy)[0]


class StridedSliceGrad(Backward):
    """The gradient of StridedSlice, from the shape of its input."""

    options: ClassVar[dict[str, Any]] = {
        "begin_mask": 0,
        "end_mask": 0,
        "ellipsis_mask": 0,
        "new_axis_mask": 0,
        "shrink_axis_mask": 0,
    }

    def compute(self, dy: Tensor, shapex: Any, begin: Any, end: Any, strides: Any) -> Tensor:
        cut, zeros = ops.StridedSlice(**self.made()), ops.zeros(lengths(shapex), dy.dtype)
        return self.through(lambda v: cut(v, lengths(begin), lengths(end), lengths(strides)), [zeros], dy)[0]


class GatherDGradV2(Backward):
    """The gradient of GatherD, from its input's shape."""

    def compute(self, x: Tensor, dim: int, index: Tensor, dout: Tensor) -> Tensor:
        return self.through(lambda v: ops.gather_d(v, dim, index), [x], dout)[0]


class MaskedSelectGrad(Backward):
    """The gradient of MaskedSelect with respect to its input."""

    def compute(self, input: Tensor, mask: Tensor, grad: Tensor) -> Tensor:
        return self.through(lambda v: ops.masked_select(v, mask), [input], grad)[0]


class MedianGrad(Backward):
    """The gradient of Median, from its input, output and the places of the medians.

    A global median shares its gradient among all elements that equal it.
    """

    options: ClassVar[dict[str, Any]] = {"global_median": False, "axis": 0, "keep_dims": False}

    def compute(self, y_grad: Tensor, x: Tensor, y: Tensor, indices: Tensor) -> Tensor:
        if self.global_median:
            equal = ops.cast(ops.equal(x, y), x.dtype)
            return equal * (y_grad / equal.sum())
        grad, places = y_grad, indices
        if not self.keep_dims:
            grad, places = ops.expand_dims(grad, self.axis), ops.expand_dims(places, self.axis)
        return self.through(lambda v: ops.gather_elements(v, self.axis, places), [x], grad)[0]


class FlattenGrad(Backward):
    """The gradient of Flatten: in the shape of its input."""

    def compute(self, x: Tensor, shape: Any) -> Tensor:
        return ops.reshape(x, lengths(shape))


class MirrorPadGrad(Backward):
    """The gradient of MirrorPad."""

    options: ClassVar[dict[str, Any]] = {"mode": "REFLECT"}

    def compute(self, dy: Tensor, paddings: Tensor) -> Tensor:
        widths = paddings.asnumpy()
        inner = tuple(n - int(w.sum()) for n, w in zip(dy.shape, widths))
        pad = ops.MirrorPad(self.mode)
        return self.through(lambda v: pad(v, paddings), [ops.zeros(inner, dy.dtype)], dy)[0]


class PadV3Grad(Backward):
    """The gradient of PadV3 with a mode that repeats elements."""

    options: ClassVar[dict[str, Any]] = {"mode": "reflect", "paddings_contiguous": True}

    def compute(self, x: Tensor, paddings: Any) -> Tensor:
        widths = lengths(paddings)
        half = len(widths) // 2
        pairs = [widths[2 * i] + widths[2 * i + 1] for i in range(half)]
        if not self.paddings_contiguous:
            pairs = [widths[i] + widths[i + half] for i in range(half)]
        inner = tuple(n - w for n, w in zip(x.shape, (*(0 for _ in range(x.ndim - half)), *reversed(pairs))))
        pad = ops.PadV3(**self.made())
        return self.through(lambda v: pad(v, paddings), [ops.zeros(inner, x.dtype)], x)[0]


class _PadGrad(Backward):
    """The gradient of `pad` with a mode that repeats elements."""

    mode = ""

    def compute(self, grad_output: Tensor, input: Tensor, padding: Any) -> Tensor:
        widths = lengths(padding)
        return self.through(lambda v: ops.pad(v, widths, mode=self.mode), [input], grad_output)[0]


class ReflectionPad1DGrad(_PadGrad):
    """The gradient of ReflectionPad1D."""

    mode = "reflect"


class ReflectionPad2DGrad(ReflectionPad1DGrad):
    """The gradient of ReflectionPad2D."""


class ReflectionPad3DGrad(ReflectionPad1DGrad):
    """The gradient of ReflectionPad3D."""


class ReplicationPad1DGrad(_PadGrad):
    """The gradient of ReplicationPad1D."""

    mode = "replicate"


class ReplicationPad2DGrad(ReplicationPad1DGrad):
    """The gradient of ReplicationPad2D."""


class ReplicationPad3DGrad(ReplicationPad1DGrad):
    """The gradient of ReplicationPad3D."""


class RepeatInterleaveGrad(Backward):
    """The gradient of `repeat_interleave` along an axis: the sums of the copies."""

    def compute(self, input: Tensor, repeats: Any, dim: int) -> Tensor:
        counts = np.atleast_1d(repeats.asnumpy() if isinstance(repeats, Tensor) else np.asarray(repeats))
        length = input.shape[dim] // int(counts[0]) if counts.size == 1 else counts.size
        starts = np.repeat(np.arange(length), counts if counts.size > 1 else int(counts[0]))
        zeros = ops.zeros((*input.shape[: dim % input.ndim], length, *input.shape[dim % input.ndim + 1 :]), input.dtype)
        return self.through(lambda v: ops.gather(v, wrap(starts), dim % input.ndim), [zeros], input)[0]


class TraceGrad(Backward):
    """The gradient of Trace, from the shape of its input."""

    def compute(self, y_grad: Tensor, x_shape: Any) -> Tensor:
        return self.through(ops.trace, [ops.zeros(lengths(x_shape), y_grad.dtype)], y_grad)[0]


class TraceV2Grad(Backward):
    """The gradient of the sum of a diagonal, from the shape of the input."""

    def compute(self, dout: Tensor, shape: Any, offset: int = 0, axis1: int = 1, axis2: int = 0) -> Tensor:
        zeros = ops.zeros(lengths(shape), dout.dtype)
        return self.through(lambda v: ops.diagonal(v, offset, axis1, axis2).sum(-1), [zeros], dout)[0]


class UniqueGrad(Backward):
    """The gradient of Unique: that of its first output, at the places of its second."""

    def compute(self, dy: Any, y: Any) -> Tensor:
        return ops.gather(dy[0], y[1], 0)


class ConcatOffset(Backward):
    """Where each of several tensors begins in their concatenation: int64 (N, rank).

    Args:
        N: the number of tensors.
        axis: the axis along which they are joined.
    """

    options: ClassVar[dict[str, Any]] = {"N": 2, "axis": 0}

    def compute(self, input_x: Any) -> Tensor:
        rank = input_x[0].ndim
        starts = np.zeros((len(input_x), rank), np.int64)
        starts[1:, self.axis] = np.cumsum([x.shape[self.axis] for x in input_x])[:-1]
        return wrap(starts)

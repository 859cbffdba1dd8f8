"""unsorted_segment_sum and its kin, bincount, histc: elements gathered in groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import array, index_array, integer, integral, not_of, number, real, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.kernels import histogram
from dist_ms.ops.layout import contiguous
from dist_ms.ops.primitive import OfTensors, Primitive, Undifferentiable, numpy_dtype, quiet

__all__ = [
    "Bincount",
    "Histogram",
    "UnsortedSegmentMax",
    "UnsortedSegmentMin",
    "UnsortedSegmentProd",
    "UnsortedSegmentSum",
    "bincount",
    "histc",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sum",
]

_COUNTED = (np.dtype(np.float32), np.dtype(np.float64))
# Elements from which on a histogram is made in so many parts, for threads.
_MANY, _PARTS = 1 << 16, 8


class UnsortedSegmentSum(OfTensors):
    """The sums of the elements that carry the same number; negative numbers are left out.

    Call:
        input_x (Tensor): the elements.
        segment_ids (Tensor): integers; its shape is that of the first dimensions of `input_x`.
        num_segments (int): how many sums.

    Raises:
        TypeError: if `segment_ids` holds no integers, or `num_segments` is no int.
        ValueError: if the shapes do not fit, or `num_segments` is not positive.
        RuntimeError: if a number is too large.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UnsortedSegmentSum()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [4. 2.]
    """

    keeps = (1,)
    ufunc = np.add

    @quiet
    def forward(self, input_x: np.ndarray, segment_ids: np.ndarray, num_segments: Any) -> np.ndarray:
        index_array(segment_ids, "segment_ids", self.name)
        not_of(input_x, "?", "input_x", self.name)
        x, ids = array(input_x, "input_x", self.name), integral(segment_ids, "segment_ids", self.name)
        count = integer(num_segments, "num_segments", self.name)
        if count < 1 or x.shape[: ids.ndim] != ids.shape or not ids.ndim:
            raise ValueError(
                f"For '{self.name}', 'num_segments' must be positive and the shape of 'segment_ids' "
                f"that of "
                f"the first dimensions of 'input_x', but got {count}, {ids.shape} and {x.shape}."
            )
        if ids.size and ids.max() >= count:
            raise RuntimeError(
                f"For '{self.name}', 'segment_ids' must be below 'num_segments' {count}, but got {ids.max()}."
            )
        out = np.full((count, *x.shape[ids.ndim :]), self.start(x.dtype), x.dtype)
        inside = ids >= 0
        self.ufunc.at(out, ids[inside], x[inside])
        return out

    def start(self, d: np.dtype) -> Any:
        """The value of a group without elements."""
        return 0

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return picked(dout, inputs[1]), None, None


def picked(groups: Tensor, ids: Tensor) -> Tensor:
    """Each element's value of its group, 0 for elements without one."""
    numbers = ids.array()
    out = ops.gather(groups, wrap(np.maximum(numbers, 0)), 0)
    if (numbers < 0).any():
        inside = (numbers >= 0).reshape(numbers.shape + (1,) * (out.ndim - numbers.ndim))
        out = mul(out, cast_array(wrap(inside), numpy_dtype(out)))
    return out


class UnsortedSegmentMax(UnsortedSegmentSum):
    """The largest of the elements that carry the same number; equal ones share the gradient.

    Call:
        x (Tensor): real numbers.
        segment_ids (Tensor): integers; its shape is that of the first dimensions of `x`.
        num_segments (int): how many groups; those without elements get the smallest number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UnsortedSegmentMax()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [3. 2.]
    """

    takes = "x segment_ids num_segments"
    keeps = (0, 1)
    keeps_output = True
    ufunc = np.maximum

    def start(self, d: np.dtype) -> Any:
        return np.iinfo(d).min if d.kind in "iu" else -largest(d)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, ids, count = inputs
        chosen = cast_array(ops.equal(x, picked(output, ids)), numpy_dtype(dout))
        many = UnsortedSegmentSum()(chosen, ids, count)
        share = true_divide(dout, ops.maximum(many, 1))
        return mul(chosen, picked(share, ids)), None, None


class UnsortedSegmentMin(UnsortedSegmentMax):
    """The smallest of the elements that carry the same number; equal ones share the gradient.

    Call:
        x (Tensor): real numbers.
        segment_ids (Tensor): integers; its shape is that of the first dimensions of `x`.
        num_segments (int): how many groups; those without elements get the largest number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UnsortedSegmentMin()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [1. 2.]
    """

    ufunc = np.minimum

    def start(self, d: np.dtype) -> Any:
        return np.iinfo(d).max if d.kind in "iu" else largest(d)


class UnsortedSegmentProd(UnsortedSegmentSum):
    """The products of the elements that carry the same number, 1 for none.

    Call:
        x (Tensor): numbers.
        segment_ids (Tensor): integers; its shape is that of the first dimensions of `x`.
        num_segments (int): how many products.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UnsortedSegmentProd()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 1, 0]), 2))
        [3. 2.]
    """

    takes = "x segment_ids num_segments"
    keeps = (0, 1)
    ufunc = np.multiply

    def start(self, d: np.dtype) -> Any:
        return 1

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, ids, count = inputs
        zero = ops.equal(x, 0)
        safe = ops.where(zero, ops.ones_like(x), x)
        d = numpy_dtype(x)
        zeros = UnsortedSegmentSum()(cast_array(zero, d), ids, count)
        rest = picked(UnsortedSegmentProd()(safe, ids, count), ids)
        # Of a group with one zero only that element has a gradient, of one with more none has.
        alone = cast_array(ops.equal(ops.sub(picked(zeros, ids), cast_array(zero, d)), 0), d)
        return mul(picked(dout, ids), mul(true_divide(rest, safe), alone)), None, None


def largest(d: np.dtype) -> Any:
    """The largest number of a float dtype."""
    return np.finfo(d).max if d.kind == "f" else 3.3895313892515355e38


unsorted_segment_sum, unsorted_segment_prod = UnsortedSegmentSum(), UnsortedSegmentProd()
unsorted_segment_max, unsorted_segment_min = UnsortedSegmentMax(), UnsortedSegmentMin()


@plain("minlength")
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each number from 0 on comes.

    Args:
        input: a Tensor of non-negative numbers with one dimension, cut to integers.
        weights: how much each element counts, a Tensor of the same shape.
        minlength: shortest result.

    Returns:
        Tensor of float32.

    Raises:
        TypeError: if `input` holds complex numbers.
        ValueError: if an element is negative, or a shape does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bincount(ms.Tensor([0, 2, 2])))
        [1. 0. 2.]
    """
    numbers = real(tensor(input, "input", "bincount").array(), "input", "bincount").astype(np.int64)
    minlength = integer(minlength, "minlength", "bincount")
    weighing = None
    if weights is not None:
        if tensor(weights, "weights", "bincount").shape != input.shape:
            raise ValueError(f"For 'bincount', 'weights' must have the shape {input.shape}, but got {weights.shape}.")
        weighing = weights.array().astype(np.float64)
    try:
        return wrap(np.bincount(numbers, weighing, minlength).astype(np.float32))
    except ValueError:
        raise ValueError(
            "For 'bincount', 'input' must have 1 dimension and no negative number, and 'minlength' not be "
            f"negative, but got {input} and {minlength}."
        ) from None


class Bincount(Primitive):
    """How much each number below `size` weighs.

    Call:
        array (Tensor): non-negative int32 numbers.
        size (Tensor or int): length of the result.
        weights (Tensor): how much each element counts; empty for 1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Bincount()(ms.Tensor([0, 2, 2]), ms.Tensor(3), ms.Tensor([1.0, 2.0, 3.0])))
        [1. 0. 5.]
    """

    def __call__(self, array: Tensor, size: Any, weights: Tensor) -> Tensor:
        numbers, length = integral(array.array(), "array", self.name), integer(size, "size", self.name)
        weighing = weights.array() if weights.size else np.ones(numbers.shape, np.float32)
        kept = numbers < length
        return wrap(np.bincount(numbers[kept], weighing[kept], length)[:length].astype(weighing.dtype))


@plain("bins")
class Histogram(Undifferentiable):
    """The numbers of elements in bins of one width.

    Args:
        bins: how many bins.
        min: lower end of the first bin.
        max: upper end of the last; the elements' range if both are 0.

    Call:
        x (Tensor): real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Histogram(2, 0.0, 2.0)(ms.Tensor([0.5, 1.5, 1.6])))
        [1. 2.]
    """

    def __init__(self, bins: int = 100, min: float = 0.0, max: float = 0.0) -> None:
        self.bins, self.min, self.max = integer(bins, "bins", self.name), min, max
        if self.bins < 1 or min > max:
            raise ValueError(
                f"For '{self.name}', 'bins' must be positive and 'min' not above 'max', "
                f"but got {bins}, {min} and {max}."
            )

    def forward(self, x: np.ndarray) -> np.ndarray:
        flat = contiguous(real(x, "x", self.name)).reshape(-1)
        flat = flat if flat.dtype in _COUNTED else flat.astype(np.float64)
        low, high = self.min, self.max
        if low == high == 0 and flat.size:
            low, high = float(flat.min()), float(flat.max())
        if low == high:
            low, high = low - 1, high + 1
        if not math.isfinite(low + high):
            raise ValueError(f"For '{self.name}', the range of the bins must be finite, but got [{low}, {high}].")
        parts = _PARTS if flat.size >= _MANY and self.bins * _PARTS <= flat.size else 1
        counts = np.zeros((parts, self.bins), np.int64)
        histogram.count(flat, np.linspace(low, high, self.bins + 1), counts)
        return counts.sum(0).astype(x.dtype if x.dtype.kind == "f" else np.int32)


def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Count the elements in bins of one width.

    Args:
        input: a Tensor of real numbers.
        bins: how many bins.
        min: lower end of the first bin.
        max: upper end of the last; the elements' range if both are 0.

    Returns:
        Tensor (bins,) of the dtype of `input`.

    Raises:
        TypeError: if `bins` is no int.
        ValueError: if `bins` is not positive, or `min` above `max`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.histc(ms.Tensor([0.5, 1.5, 1.6]), 2, 0.0, 2.0))
        [1. 2.]
    """
    number(min, "min", "histc", True)
    number(max, "max", "histc", True)
    not_of(input, "?ldBHIL", "input", "histc")
    return cast_array(Histogram(bins, min, max)(tensor(input, "input", "histc")), input.array().dtype)

"""ReduceSum, ReduceMean, ReduceProd, ReduceAll, ReduceAny: one value from many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.autograd.tape import apply
from dist_ms.common.dtype import from_numpy, to_numpy
from dist_ms.common.error_classes import of_value, raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, boolean, integers, many_axes
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.kernels import axis_reduction as kernels
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply as element_wise
from dist_ms.ops.primitive import Primitive, numpy_dtype, quiet
from dist_ms.ops.shaping.expanding import BroadcastTo
from dist_ms.ops.shaping.reshaping import reshape

__all__ = [
    "ReduceAll",
    "ReduceAny",
    "ReduceMean",
    "ReduceProd",
    "ReduceSum",
    "all",
    "any",
    "count_nonzero",
    "mean",
    "prod",
    "reduce_mean",
    "reduce_sum",
    "sum",
]

_F32 = np.dtype(np.float32)
_HALF_SUMS = {"f": _F32, "V": _F32}


class Reduction(Primitive):
    """An operation that makes some dimensions one value.

    Args:
        keep_dims: keep the reduced dimensions with length 1.
    """

    keeps = ()

    def __init__(self, keep_dims: bool = False) -> None:
        self.keep_dims = keep_dims if keep_dims in (0, 1) else boolean(keep_dims, "keep_dims", self.name)

    def __call__(self, x: Tensor, axis: Any = ()) -> Tensor:
        if isinstance(axis, (Tensor, list)):
            axis = integers(axis, "axis", self.name)
        return super().__call__(x, axis)

    def axes(self, x: Any, axis: Any) -> tuple:
        """The axes to reduce."""
        return many_axes(axis, "axis", self.name, array(x, "x", self.name).ndim)

    def spread(self, dout: Tensor, x: Tensor, axis: Any) -> Tensor:
        """The gradient of the result at every element it was made from."""
        return BroadcastTo(x.shape)(self.kept(dout, x, axis))

    def kept(self, reduced: Tensor, x: Tensor, axis: Any) -> Tensor:
        """A result with the reduced dimensions as ones of length 1."""
        if self.keep_dims:
            return reduced
        axes = many_axes(axis, "axis", self.name, len(x.shape))
        return reshape(reduced, tuple([1 if i in axes else n for i, n in enumerate(x.shape)]))


def wide_sum(x: np.ndarray, axes: tuple, keep_dims: bool) -> np.ndarray:
    """The sum in the array's dtype, added up in float64 by the kernel or in float32 for 2-byte floats."""
    total = kernels.reduce_axes(x, axes, "sum", keep_dims)
    if total is not None:
        return total
    d = x.dtype
    if d.itemsize == 2 and d.kind in _HALF_SUMS:
        return np.add.reduce(x, axes, np.float32, None, keep_dims).astype(d)
    return np.add.reduce(x, axes, d, None, keep_dims)


class ReduceSum(Reduction):
    """The sum over dimensions; the dtype stays.

    Args:
        keep_dims: keep the reduced dimensions with length 1.
        skip_mode: with an empty `axis`, return the input instead of the sum of everything.

    Call:
        x (Tensor): numbers or bools.
        axis (int or tuple of ints): the dimensions to add up, () for all.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReduceSum(keep_dims=True)(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [[3.]
         [7.]]
    """

    def __init__(self, keep_dims: bool = False, skip_mode: bool = False) -> None:
        super().__init__(keep_dims)
        self.skip_mode = skip_mode

    @quiet
    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        if self.skip_mode and axis == ():
            return x
        return np.asarray(wide_sum(x, self.axes(x, axis), self.keep_dims))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        if self.skip_mode and inputs[1] == ():
            return dout, None
        return self.spread(dout, *inputs), None


@raises(**{"axis twice": RuntimeError})
@raises(x=(TypeError, RuntimeError))
class ReduceMean(Reduction):
    """The mean over dimensions; the dtype stays, integers are cut toward zero.

    Args:
        keep_dims: keep the reduced dimensions with length 1.

    Call:
        x (Tensor): numbers.
        axis (int or tuple of ints): the dimensions to average over, () for all.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if a dimension is out of range or comes twice.
        RuntimeError: if `x` holds bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReduceMean()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
        [2. 3.]
    """

    @quiet
    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(x, axis)
        kind = x.dtype.kind
        if kind == "b":
            wrong = of_value("x", self.name)
            raise wrong(f"For '{self.name}', the dtype of 'x' must be a number type, but got Bool; cast it first.")
        count = math.prod([x.shape[a] for a in axes])
        if kind in "iu":
            return np.trunc(x.sum(axes, keepdims=self.keep_dims) / count).astype(x.dtype)
        average = kernels.reduce_axes(x, axes, "mean", self.keep_dims) if kind in "fV" else None
        if average is not None:
            return average
        total = x.sum(axes, dtype=np.float32 if x.dtype.itemsize == 2 else x.dtype, keepdims=self.keep_dims)
        return np.asarray(np.true_divide(total, total.dtype.type(count))).astype(x.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, axis = inputs
        count = math.prod([x.shape[a] for a in many_axes(axis, "axis", self.name, len(x.shape))])
        share = cast_array(true_divide(dout, count), numpy_dtype(x))
        return self.spread(share, x, axis), None


@raises(**{"axis twice": RuntimeError})
class ReduceProd(Reduction):
    """The product over dimensions; the dtype stays.

    Args:
        keep_dims: keep the reduced dimensions with length 1.

    Call:
        x (Tensor): numbers.
        axis (int or tuple of ints): the dimensions to multiply, () for all.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReduceProd()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
        [3. 8.]
    """

    keeps = (0,)

    @quiet
    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(x, axis)
        product = kernels.reduce_axes(x, axes, "prod", self.keep_dims)
        if product is not None:
            return product
        return np.asarray(x.prod(axes, dtype=x.dtype, keepdims=self.keep_dims))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, axis = inputs
        axes = many_axes(axis, "axis", self.name, x.ndim)
        rest = [i for i in range(x.ndim) if i not in axes]
        moved = ops.transpose(x, (*rest, *axes))
        from dist_ms.ops.reducing.scanning import product_of_others

        others = product_of_others(reshape(moved, (*[x.shape[i] for i in rest], -1)))
        back = np.argsort((*rest, *axes))
        others = ops.transpose(reshape(others, moved.shape), tuple(back.tolist()))
        return mul(self.spread(dout, x, axis), others), None


class _Truth(Reduction):
    which: str  # "min": of all elements; "max": of any
    differentiable = False

    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes, truths = self.axes(x, axis), x if x.dtype.kind == "b" else np.asarray(np.not_equal(x, 0))
        found = kernels.reduce_axes(truths, axes, self.which, self.keep_dims)
        whole = truths.all if self.which == "min" else truths.any
        return np.asarray(whole(axes, keepdims=self.keep_dims)) if found is None else found


@raises(**{"axis twice": RuntimeError})
class ReduceAll(_Truth):
    """Whether all elements over dimensions are true (not 0).

    Args:
        keep_dims: keep the reduced dimensions with length 1.

    Call:
        x (Tensor): bools or numbers.
        axis (int or tuple of ints): the dimensions to look at, () for all.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReduceAll()(ms.Tensor([[True, False], [True, True]]), 1))
        [False  True]
    """

    which = "min"


@raises(**{"axis twice": RuntimeError})
class ReduceAny(_Truth):
    """Whether one element or more over dimensions are true (not 0).

    Args:
        keep_dims: keep the reduced dimensions with length 1.

    Call:
        x (Tensor): bools or numbers.
        axis (int or tuple of ints): the dimensions to look at, () for all.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReduceAny()(ms.Tensor([[True, False], [False, False]]), 1))
        [ True False]
    """

    which = "max"


# Elements from which on several passes of kernels take less time than NumPy's one.
_LEAST_COUNTED = 4096


@raises(**{"axis twice": RuntimeError})
class CountNonZero(Reduction):
    """The number of elements over dimensions that are not 0, as int32.

    Args:
        dims: the dimensions to look at, None or () for all.

    Call:
        x (Tensor): numbers or bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.count_nonzero(ms.Tensor([[0, 1], [2, 3]]), 1))
        [1 2]
    """

    differentiable = False

    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(x, axis)
        if x.size >= _LEAST_COUNTED:
            if x.dtype != bool:
                x = element_wise(np.not_equal, x, np.zeros((), x.dtype))
            if len(axes) < x.ndim:
                found = kernels.reduce_axes(element_wise(pointwise.to_int, x), axes, "sum", self.keep_dims)
                if found is not None:
                    return found
        if len(axes) == x.ndim:  # with axes NumPy adds up int64
            return np.full((1,) * x.ndim if self.keep_dims else (), np.count_nonzero(x), np.int32)
        return np.asarray(np.count_nonzero(x, axes, keepdims=self.keep_dims), np.int32)


_sum, _mean, _prod = (ReduceSum(), ReduceSum(True)), (ReduceMean(), ReduceMean(True)), (ReduceProd(), ReduceProd(True))
_all, _any = (ReduceAll(), ReduceAll(True)), (ReduceAny(), ReduceAny(True))
reduce_sum, reduce_mean = _sum[0], _mean[0]


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Add up a tensor over dimensions; integers and bools give int64.

    Args:
        input: a Tensor.
        dim: the dimension or dimensions, None for all.
        keepdim: keep the reduced dimensions with length 1.
        dtype: cast to this type before adding.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` is no Tensor, `dim` holds anything but ints, or `keepdim` is no bool.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.sum(x), ms.ops.sum(x, 0))
        10.0 [4. 6.]
    """
    if dim is None is dtype and keepdim is False and isinstance(input, Tensor) and input.array().dtype.kind in "fVc":
        return apply(_sum[False], input, ())
    return _sum[boolean(keepdim, "keepdim", "sum")](_widened("sum", input, dtype), () if dim is None else dim)


def mean(x: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Average a tensor over dimensions; the dtype stays, integers are cut toward zero.

    Args:
        x: a Tensor of numbers.
        axis: the dimension or dimensions, None for all.
        keep_dims: keep the reduced dimensions with length 1.

    Returns:
        Tensor.

    Raises:
        TypeError: if `x` is no Tensor or holds bools, `axis` holds anything but ints, or
            `keep_dims` is no bool.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mean(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [1.5 3.5]
    """
    return _mean[boolean(keep_dims, "keep_dims", "mean")](x, () if axis is None else axis)


def prod(input: Tensor, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """Multiply the elements over dimensions; integers and bools give int64.

    Args:
        input: a Tensor.
        axis: the dimension or dimensions, None for all.
        keep_dims: keep the reduced dimensions with length 1.
        dtype: cast to this type before multiplying.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` is no Tensor, `axis` holds anything but ints, or `keep_dims` is no bool.
        ValueError: if a dimension is out of range or comes twice, or `keep_dims` is True without `axis`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.prod(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [ 2. 12.]
    """
    keep_dims = boolean(keep_dims, "keep_dims", "prod")
    if axis is None:
        if keep_dims:
            raise ValueError("For 'prod', 'keep_dims' must be False without 'axis', but got True; name the dimensions.")
        axis = ()
    return _prod[keep_dims](_widened("prod", input, dtype), axis)


def all(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Tell whether all elements over dimensions are true (not 0).

    Args:
        input: a Tensor.
        axis: the dimension or dimensions, None for all.
        keep_dims: keep the reduced dimensions with length 1.

    Returns:
        Tensor of bools.

    Raises:
        TypeError: if `axis` holds anything but ints, or `keep_dims` is no bool.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.all(ms.Tensor([[True, False], [True, True]]), axis=1))
        [False  True]
    """
    return _all[boolean(keep_dims, "keep_dims", "all")](input, () if axis is None else axis)


def any(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    """Tell whether one element or more over dimensions are true (not 0).

    Args:
        input: a Tensor.
        axis: the dimension or dimensions, None for all.
        keep_dims: keep the reduced dimensions with length 1.

    Returns:
        Tensor of bools.

    Raises:
        TypeError: if `axis` holds anything but ints, or `keep_dims` is no bool.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.any(ms.Tensor([[True, False], [False, False]]), axis=1))
        [ True False]
    """
    return _any[boolean(keep_dims, "keep_dims", "any")](input, () if axis is None else axis)


def count_nonzero(x: Tensor, axis: Any = (), keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """Count the elements over dimensions that are not 0.

    Args:
        x: a Tensor.
        axis: the dimension or dimensions, () for all.
        keep_dims: keep the reduced dimensions with length 1.
        dtype: type of the result, int32 by default.

    Returns:
        Tensor of integers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.count_nonzero(ms.Tensor([[0, 1], [2, 3]])))
        3
    """
    count = CountNonZero(boolean(keep_dims, "keep_dims", "count_nonzero"))(x, axis)
    return count if dtype is None else ops.cast(count, dtype)


def _widened(name: str, input: Tensor, dtype: Any) -> Tensor:
    """The tensor in the type to add up or multiply in."""
    if not isinstance(input, Tensor):
        raise TypeError(f"For '{name}', 'input' must be a Tensor, but got {type(input).__name__}.")
    if dtype is not None:
        return ops.cast(input, from_numpy(to_numpy(dtype)))
    d = input.array().dtype
    return cast_array(input, np.dtype(np.int64)) if d.kind in "biu" and d != np.int64 else input

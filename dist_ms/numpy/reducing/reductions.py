"""Sums, means, extremes and their places, over axes; running sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import (
    INT32,
    INT64,
    axes_of,
    axis_of,
    cast,
    floats,
    is_float,
    kind_type,
    strict,
    tensor_of,
    type_of,
    typed,
)

__all__ = [
    *("amax", "amin", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "max", "mean", "min"),
    *("ptp", "sometrue", "std", "sum", "var"),
]


def _numbers(name: str, a: Tensor) -> Tensor:
    """Refuse bools."""
    if kind_type(a).kind == "b":
        raise TypeError(f"For '{name}', 'a' must hold numbers, but got {a.dtype}.")
    return a


def total(a: Tensor, axes: tuple, keepdims: bool) -> Tensor:
    """The sum over axes; none of them leaves the tensor as it is."""
    return ops.sum(a, axes, keepdims) if axes else a


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """Return the sum over axes; integers and bools are summed as int64.

    Args:
        a: a Tensor or numbers.
        axis: an axis or several, by default all.
        dtype: the data type of the result.
        keepdims: keep the axes with length 1.
        initial: a number to add.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.sum(mnp.ones((2, 3)), axis=1))
        [3. 3.]
    """
    a = tensor_of(a, "a", "sum")
    a = cast(a, type_of(dtype)) if dtype is not None else a if is_float(a) else cast(a, INT64)
    result = total(a, axes_of("sum", axis, a.ndim), keepdims)
    return result if initial is None else typed(ops.add(result, initial), a.dtype)


def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the mean over axes; that of integers is cut to their type unless `dtype` is given.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.mean(mnp.array([1.0, 2.0])))
        1.5
    """
    a = _numbers("mean", tensor_of(a, "a", "mean"))
    d = kind_type(a) if dtype is None else type_of(dtype)
    axes = axes_of("mean", axis, a.ndim)
    if kind_type(a).kind in "iu":
        count = int(np.prod([a.shape[i] for i in axes], dtype=np.int64))
        return cast(cast(ops.div(floats(total(cast(a, INT64), axes, keepdims)), count), kind_type(a)), d)
    a = cast(a, d)
    return ops.mean(a, axes, keepdims) if axes else a


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the mean squared distance from the mean, over axes.

    Args:
        x: a Tensor or numbers.
        axis: an axis or several, by default all.
        ddof: subtracted from the number of elements to divide by.
        keepdims: keep the axes with length 1.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.var(mnp.array([1, 3])))
        1.0
    """
    x = floats(_numbers("var", tensor_of(x, "x", "var")))
    axes = axes_of("var", axis, x.ndim)
    count = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    gap = ops.sub(x, ops.mean(x, axes, True)) if axes else ops.sub(x, x)
    return ops.div(total(ops.square(gap), axes, keepdims), count - ddof)


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the root of `var`."""
    return ops.sqrt(var(x, axis, ddof, keepdims))


def average(x: Tensor, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """Return the mean in which each element counts by its weight.

    Args:
        x: a Tensor.
        axis: an axis or several, by default all.
        weights: of the shape of `x`, or one for each place along the axis.
        returned: return the sum of the weights too.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.average(mnp.array([1.0, 5.0]), weights=mnp.array([3.0, 1.0])))
        2.0
    """
    x = _numbers("average", strict(x, "x", "average"))
    axes = axes_of("average", axis, x.ndim)
    if weights is None:
        result = mean(x, axis)
        count = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
        return (result, ops.full_like(result, count)) if returned else result
    weights = tensor_of(weights, "weights", "average")
    if weights.shape != x.shape:
        if weights.ndim != 1 or len(axes) != 1 or weights.size != x.shape[axes[0]]:
            raise ValueError(
                f"For 'average', 'weights' must have the shape of 'x', {x.shape}, or that of one axis, "
                f"but got {weights.shape}."
            )
        weights = ops.reshape(weights, (-1,) + (1,) * (x.ndim - 1 - axes[0]))
    whole = total(ops.mul(x, weights), axes, False)
    sums = total(ops.broadcast_to(weights, x.shape), axes, False)
    result = ops.div(whole, sums) if is_float(whole) else cast(ops.div(floats(whole), floats(sums)), kind_type(x))
    return (result, cast(sums, kind_type(result))) if returned else result


def _extreme(name: str, reduce: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Tensor:
    """The extreme over axes, of the elements that `where` names."""
    a = _numbers(name, strict(a, "a", name))
    axes = axes_of(name, axis, a.ndim)
    if where is not True:
        if initial is None:
            raise ValueError(f"For '{name}', 'initial' must be given together with 'where', but got None.")
        mask = cast(tensor_of(where, "where", name), np.dtype(bool))
        shape = np.broadcast_shapes(a.shape, mask.shape)
        d = kind_type(a)
        start = typed(tensor_of(initial, "initial", name), a.dtype)
        a = ops.where(ops.broadcast_to(mask, shape), ops.broadcast_to(a, shape), ops.broadcast_to(start, shape))
        a = cast(a, d)
    result = reduce(a, axes, keepdims) if axes else a
    if initial is None:
        return result
    start = typed(tensor_of(initial, "initial", name), a.dtype)
    return (ops.maximum if reduce is ops.amax else ops.minimum)(result, start)


def amax(a: Tensor, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """Return the largest element over axes.

    Args:
        a: a Tensor of numbers.
        axis: an axis or several, by default all.
        keepdims: keep the axes with length 1.
        initial: a number the result is not below.
        where: which elements count, with `initial` where none does.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.amax(mnp.array([1, 3, 2])))
        3
    """
    return _extreme("amax", ops.amax, a, axis, keepdims, initial, where)


def amin(a: Tensor, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """Return the least element over axes; see `amax`."""
    return _extreme("amin", ops.amin, a, axis, keepdims, initial, where)


max, min = amax, amin


def ptp(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the distance between the largest and the least element."""
    return ops.sub(amax(x, axis, keepdims), amin(x, axis, keepdims))


def _place(name: str, find: Any, a: Any, axis: int | None, d: np.dtype) -> Tensor:
    """The place of the first extreme element."""
    a = tensor_of(a, "a", name)
    if axis is None:
        a, axis = ops.reshape(a, (-1,)), 0
    if kind_type(a).kind == "b":
        a = cast(a, INT32)
    return cast(find(a, axis_of(name, axis, a.ndim)), d)


def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Return, as int64, where the first largest element is, along an axis or among all."""
    return _place("argmax", ops.argmax, a, axis, INT64)


def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Return, as int32, where the first least element is, along an axis or among all."""
    return _place("argmin", ops.argmin, a, axis, INT32)


def sometrue(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return whether any element is true, over axes."""
    a = cast(tensor_of(a, "a", "sometrue"), np.dtype(bool))
    axes = axes_of("sometrue", axis, a.ndim)
    return ops.any(a, axes, keepdims) if axes else a


def count_nonzero(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return, as int32, how many elements are not 0, over axes."""
    x = cast(ops.not_equal(_numbers("count_nonzero", strict(x, "x", "count_nonzero")), 0), INT32)
    return cast(total(x, axes_of("count_nonzero", axis, x.ndim), keepdims), INT32)


def _running(name: str, a: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """A tensor and the axis to run along; by default all elements in one dimension."""
    return (ops.reshape(a, (-1,)), 0) if axis is None else (a, axis_of(name, axis, a.ndim))


def _at_least_int32(a: Tensor, unsigned: bool) -> Tensor:
    """Short integers and bools as 32 bits."""
    kind = kind_type(a).kind
    if kind not in "biu" or kind_type(a).itemsize >= 4:
        return a
    return cast(a, np.dtype(np.uint32) if unsigned and kind == "u" else INT32)


def cumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Return the sums of the elements up to each, along an axis or of all.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.cumsum(mnp.array([1, 2, 3])))
        [1 3 6]
    """
    a, axis = _running("cumsum", strict(a, "a", "cumsum"), axis)
    return ops.cumsum(_at_least_int32(typed(a, dtype), False), axis)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Return the products of the elements up to each, along an axis or of all."""
    a, axis = _running("cumprod", tensor_of(a, "a", "cumprod"), axis)
    a = _at_least_int32(typed(a, dtype), True)
    return cast(ops.cumprod(a, axis), kind_type(a))

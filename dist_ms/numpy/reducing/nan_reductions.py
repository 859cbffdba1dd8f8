"""Reductions that leave out what is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import FLOAT32, axes_of, cast, is_float, kind_type, tensor_of, typed
from dist_ms.numpy.reducing.reductions import amax, amin, cumsum, total

__all__ = ["nancumsum", "nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar"]


def _replaced(a: Tensor, value: float) -> Tensor:
    """The tensor with another number for each NaN."""
    return ops.masked_fill(a, ops.not_equal(a, a), value) if is_float(a) else a


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the sum over axes of the elements that are not NaN, in their own type.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.nansum(mnp.array([1.0, mnp.nan])))
        1.0
    """
    a = typed(tensor_of(a, "a", "nansum"), dtype)
    result = total(_replaced(a, 0.0), axes_of("nansum", axis, a.ndim), keepdims)
    return cast(result, kind_type(a))


def _counted(a: Tensor, axes: tuple, keepdims: bool) -> Tensor:
    """How many elements are not NaN."""
    return total(cast(ops.equal(a, a), FLOAT32), axes, keepdims)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the mean over axes of the elements that are not NaN, as floats."""
    a = tensor_of(a, "a", "nanmean")
    a = typed(a, dtype) if dtype is not None else a if kind_type(a) == np.float64 else cast(a, FLOAT32)
    axes = axes_of("nanmean", axis, a.ndim)
    return ops.div(total(_replaced(a, 0.0), axes, keepdims), cast(_counted(a, axes, keepdims), kind_type(a)))


def nanvar(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the variance over axes of the elements that are not NaN, in float32.

    Args:
        a: a Tensor or numbers.
        axis: an axis or several, by default all.
        dtype: the data type of the result.
        ddof: subtracted from the number of elements to divide by.
        keepdims: keep the axes with length 1.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.nanvar(mnp.array([1.0, 3.0, mnp.nan])))
        1.0
    """
    a = cast(tensor_of(a, "a", "nanvar"), FLOAT32)
    axes = axes_of("nanvar", axis, a.ndim)
    gap = ops.sub(a, nanmean(a, axes, None, True)) if axes else ops.sub(a, a)
    count = ops.sub(_counted(a, axes, keepdims), ddof)
    return typed(ops.div(total(_replaced(ops.square(gap), 0.0), axes, keepdims), count), dtype)


def nanstd(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the root of `nanvar`."""
    return typed(ops.sqrt(nanvar(a, axis, None, ddof, keepdims)), dtype)


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the largest element over axes that is not NaN."""
    return typed(amax(_replaced(tensor_of(a, "a", "nanmax"), float("-inf")), axis, keepdims), dtype)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the least element over axes that is not NaN."""
    return typed(amin(_replaced(tensor_of(a, "a", "nanmin"), float("inf")), axis, keepdims), dtype)


def nancumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Return the running sums, in which NaN counts as 0; see `cumsum`."""
    return cumsum(_replaced(a, 0.0) if isinstance(a, Tensor) else a, axis, dtype)

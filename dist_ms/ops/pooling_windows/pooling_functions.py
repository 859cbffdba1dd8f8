"""max_pool, avg_pool and lp_pool as functions, for 1 to 3 spatial dimensions."""

from __future__ import annotations

import dataclasses
from typing import Any

from dist_ms import ops
from dist_ms._ext.remember import remembered
from dist_ms.common.checks import check_bool, check_non_negative_int, check_number
from dist_ms.common.dtype import float32
from dist_ms.common.error_classes import bools, reads, scalars, truths
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.pooling_windows.pooling import AvgPooling, MaxPooling, MaxPoolingWithIndices
from dist_ms.ops.pooling_windows.pooling_primitives import pool_of
from dist_ms.ops.shaping.reshaping import expand_dims, squeeze

__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool2d", "max_pool3d"]


def batched(op: Any, x: Tensor, rank: int) -> Any:
    """Apply an operation on (N, C, *spatial) to a tensor with or without the batch dimension."""
    if isinstance(x, Tensor) and x.ndim == rank + 2:
        return op(x)
    if tensor(x, "input", op.name).ndim != rank + 1:
        return op(x)
    out = op(expand_dims(x, 0))
    return tuple([squeeze(o, 0) for o in out]) if isinstance(out, tuple) else squeeze(out, 0)


@remembered
def _max_pooling(
    owner: str, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any, indices: Any
) -> MaxPooling | MaxPoolingWithIndices:
    """The operation with these options; with `indices` it returns those of the maxima as well."""
    pool = pool_of(owner, rank, kernel_size, stride, padding, dilation, ceil_mode)
    return MaxPoolingWithIndices(pool) if check_bool(indices, "return_indices", owner) else MaxPooling(pool)


@remembered
def _avg_pooling(
    owner: str, rank: int, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, count: Any, divisor: Any
) -> AvgPooling:
    """The operation with these options."""
    for name, value in (("kernel_size", kernel_size), ("stride", stride)):
        if rank == 1 and isinstance(value, (tuple, list)):
            raise TypeError(f"For '{owner}', '{name}' must be an int, but got {type(value).__name__} {value}.")
    if stride is None:
        raise TypeError(f"For '{owner}', 'stride' must be an int or a tuple of them, but got None.")
    pool = pool_of(owner, rank, kernel_size, stride, padding, 1, ceil_mode)
    check_bool(count, "count_include_pad", owner)
    pool = dataclasses.replace(pool, size_error=RuntimeError)
    return AvgPooling(pool, count, check_non_negative_int(divisor, "divisor_override", owner))


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """Return the maximum over sliding windows of the last two dimensions.

    Args:
        x: (N, C, H, W) or (C, H, W) floats.
        kernel_size: an int or a tuple (height, width).
        stride: an int or a tuple; None for `kernel_size`.
        padding: an int or a tuple, at most half the kernel; padding never is a maximum.
        dilation: step between the elements of a window.
        return_indices: return the flat indices (int64) in the (H, W) plane as well.
        ceil_mode: whether a partly filled last window counts.

    Returns:
        Tensor (N, C, H', W'), or a tuple with the indices.

    Raises:
        TypeError: if a number is no int, or `x` holds no floats.
        ValueError: if a number is out of range, or `x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.max_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[4.]]]]
    """
    op = _max_pooling("max_pool2d", 2, kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return batched(op, x, 2)


@scalars("return_indices")
@truths("return_indices")
def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the maximum over sliding windows of the last three dimensions; see `max_pool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.max_pool3d(ms.ops.ones((1, 1, 4, 4, 4)), 2).shape
        (1, 1, 2, 2, 2)
    """
    op = _max_pooling("max_pool3d", 3, kernel_size, stride, padding, dilation, ceil_mode, return_indices)
    return batched(op, x, 3)


def avg_pool1d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean over sliding windows of the last dimension.

    Args:
        input_x: (N, C, L) or (C, L) floats.
        kernel_size: an int or a tuple of one.
        stride: an int or a tuple of one.
        padding: an int or a tuple, at most half the kernel.
        ceil_mode: whether a partly filled last window counts.
        count_include_pad: whether padding counts in the mean.

    Returns:
        Tensor (N, C, L').

    Raises:
        TypeError: if a number is no int, or `input_x` holds no floats.
        ValueError: if a number is out of range.
        RuntimeError: if `input_x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.avg_pool1d(ms.Tensor([[[1.0, 2.0, 6.0]]]), 2))
        [[[1.5 4. ]]]
    """
    op = _avg_pooling("avg_pool1d", 1, kernel_size, stride, padding, ceil_mode, count_include_pad, 0)
    return batched(op, input_x, 1)


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """Return the mean over sliding windows of the last two dimensions.

    Args:
        input_x: (N, C, H, W) or (C, H, W) floats.
        kernel_size: an int or a tuple (height, width).
        stride: an int or a tuple (height, width).
        padding: an int or a tuple, at most half the kernel.
        ceil_mode: whether a partly filled last window counts.
        count_include_pad: whether padding counts in the mean.
        divisor_override: divide by this instead of the number of elements; 0 not to.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        TypeError: if a number is no int, or `input_x` holds no floats.
        ValueError: if a number is out of range.
        RuntimeError: if `input_x` is smaller than the kernel.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.avg_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2))
        [[[[2.5]]]]
    """
    op = _avg_pooling("avg_pool2d", 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return batched(op, input_x, 2)


def avg_pool3d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """Return the mean over sliding windows of the last three dimensions; see `avg_pool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.avg_pool3d(ms.ops.ones((1, 1, 2, 2, 2)), 2))
        [[[[[1.]]]]]
    """
    op = _avg_pooling("avg_pool3d", 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return batched(op, input_x, 3)


def _lp_pool(
    owner: str, rank: int, x: Tensor, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Tensor:
    check_number(norm_type, "norm_type", owner)
    if norm_type == 0:
        raise ValueError(f"For '{owner}', 'norm_type' must not be 0, but got 0.")
    op = _avg_pooling(owner, rank, kernel_size, kernel_size if stride is None else stride, 0, ceil_mode, True, 1)
    if tensor(x, "input", owner).ndim == 3 and rank == 2:
        raise ValueError(f"For '{owner}', 'input' must be (N, C, H, W), but got the shape {x.shape}.")
    x = ops.cast(x, float32) if x._element.kind in "biu" else x
    mean = batched(op, ops.pow(x, norm_type), rank)
    return ops.pow(mean, 1.0 / norm_type)


@bools("norm_type")
@reads("shape")
@reads(input="pow")
def lp_pool1d(
    x: Tensor, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False
) -> Tensor:
    """Return (sum of x^p)^(1/p) over sliding windows of the last dimension.

    Args:
        x: (N, C, L) or (C, L) floats.
        norm_type: p, not 0.
        kernel_size: length of a window.
        stride: step of the window; None for `kernel_size`.
        ceil_mode: whether a partly filled last window counts.

    Returns:
        Tensor (N, C, L').

    Raises:
        TypeError: if a number has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lp_pool1d(ms.Tensor([[[3.0, 4.0]]]), 2, 2))
        [[[5.]]]
    """
    return _lp_pool("lp_pool1d", 1, x, norm_type, kernel_size, stride, ceil_mode)


@reads("pow")
@bools("norm_type")
def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """Return (sum of x^p)^(1/p) over sliding windows of the last two dimensions; see `lp_pool1d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lp_pool2d(ms.Tensor([[[[3.0], [4.0]]]]), 2, (2, 1)))
        [[[[5.]]]]
    """
    return _lp_pool("lp_pool2d", 2, x, norm_type, kernel_size, stride, ceil_mode)

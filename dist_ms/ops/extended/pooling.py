"""Pooling in PyTorch's form: the stride is the kernel's size unless given."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool2d",
    "max_unpool2d",
]

adaptive_avg_pool1d = ops.adaptive_avg_pool1d
adaptive_avg_pool2d = ops.adaptive_avg_pool2d
adaptive_avg_pool3d = ops.adaptive_avg_pool3d
adaptive_max_pool2d = ops.adaptive_max_pool2d


def adaptive_max_pool1d(input: Tensor, output_size: int, return_indices: bool = False) -> Any:
    """The greatest elements of `output_size` windows over the last dimension, with their places if wanted.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.adaptive_max_pool1d(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2))
        [[[3. 2.]]]
    """
    out = ops.adaptive_max_pool2d(ops.unsqueeze(input, -2), (1, output_size), return_indices)
    return tuple(ops.squeeze(part, -2) for part in out) if return_indices else ops.squeeze(out, -2)


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The means of windows over the last dimension.

    Args:
        input: floats (N, C, L).
        kernel_size: length of the window.
        stride: its step; None for its length.
        padding: zeros on both sides, at most half the length.
        ceil_mode: keep a last window that is cut off.
        count_include_pad: whether the padding counts in the mean.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.avg_pool1d(ms.Tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2))
        [[[2. 1.]]]
    """
    return ops.avg_pool1d(
        input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The means of windows over the last two dimensions; see `avg_pool1d`.

    Args:
        input: floats (N, C, H, W).
        kernel_size, stride, padding, ceil_mode, count_include_pad: ints or tuples of two, and bools.
        divisor_override: what the sums are divided by, instead of the number of elements.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.avg_pool2d(ms.Tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2))
        [[[[1.5]]]]
    """
    return ops.avg_pool2d(
        input,
        kernel_size,
        kernel_size if stride is None else stride,
        padding,
        ceil_mode,
        count_include_pad,
        0 if divisor_override is None else divisor_override,
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The means of windows over the last three dimensions; see `avg_pool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.avg_pool3d(ms.ops.ones((1, 1, 2, 2, 2)), 2))
        [[[[[1.]]]]]
    """
    return ops.avg_pool3d(
        input,
        kernel_size,
        kernel_size if stride is None else stride,
        padding,
        ceil_mode,
        count_include_pad,
        0 if divisor_override is None else divisor_override,
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest elements of windows over the last two dimensions, with their places if wanted.

    Args:
        input: floats (N, C, H, W).
        kernel_size, stride, padding, dilation: ints or tuples of two; the stride is the kernel's size if None.
        ceil_mode: keep last windows that are cut off.
        return_indices: also return where in the flattened (H, W) plane each element was.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.max_pool2d(ms.Tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2))
        [[[[3.]]]]
    """
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the elements that `max_pool2d` took back at their places, among zeros.

    Examples:
        >>> import dist_ms as ms
        >>> functional = ms.mint.nn.functional
        >>> pooled = functional.max_pool2d(ms.Tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2, return_indices=True)
        >>> print(functional.max_unpool2d(*pooled, 2))
        [[[[0. 3.]
           [0. 0.]]]]
    """
    return ops.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)

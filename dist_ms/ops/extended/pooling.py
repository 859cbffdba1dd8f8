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
    """`ops.avg_pool1d`, with the kernel's size as the stride if it is None.

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
    """`ops.avg_pool2d`, with the kernel's size as the stride if it is None."""
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
    """`ops.avg_pool3d`, with the kernel's size as the stride if it is None."""
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
    """`ops.max_pool2d`, with its first argument named `input` and `return_indices` as the last one."""
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """`ops.max_unpool2d`, with its first argument named `input`."""
    return ops.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)

"""Convolutions in PyTorch's form: the padding is a number, a tuple, "valid" or "same"."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose2d", "fold", "unfold"]

conv_transpose2d = ops.conv_transpose2d
fold = ops.fold
unfold = ops.unfold


def _same(input: Tensor, weight: Tensor, stride: Any, dilation: Any) -> Any:
    """The padding (before, after the last dimension first) that keeps the lengths, with a stride of 1."""
    rank = input.ndim - 2
    if any(s != 1 for s in (stride if isinstance(stride, (tuple, list)) else (stride,))):
        raise ValueError(f"For 'conv{rank}d', 'padding' 'same' must go with a stride of 1, but got {stride}.")
    steps = dilation if isinstance(dilation, (tuple, list)) else (dilation,) * rank
    total = [d * (k - 1) for d, k in zip(steps, weight.shape[2:])]
    return [side for n in reversed(total) for side in (n // 2, n - n // 2)]


def _convolve(
    op: Any, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Tensor:
    if padding == "same":
        input, padding = ops.pad(input, _same(input, weight, stride, dilation)), "valid"
    if padding == "valid":
        return op(input, weight, bias, stride, "valid", 0, dilation, groups)
    return op(input, weight, bias, stride, "pad", padding, dilation, groups)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """`conv2d` over one spatial dimension: (N, C, L) and a weight (O, C / groups, kernel length).

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[1.0, 2.0, 3.0]]])
        >>> print(ms.mint.nn.functional.conv1d(x, ms.Tensor([[[1.0, 1.0]]]), padding=1))
        [[[1. 3. 5. 3.]]]
    """
    return _convolve(ops.conv1d, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve over two spatial dimensions, without flipping the kernel.

    Args:
        input: (N, C, H, W).
        weight: (O, C / groups, kernel height, kernel width).
        bias: (O,), or None.
        stride, dilation: ints or tuples of two.
        padding: zeros on both sides, an int or a tuple of two; "valid" for none, "same" for an
            output of the input's height and width (the stride must be 1).
        groups: number of groups the channels fall into.

    Returns:
        Tensor (N, O, H', W').

    Raises:
        ValueError: for "same" with another stride than 1, or a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.functional.conv2d(ms.ops.ones((1, 1, 4, 4)), ms.ops.ones((1, 1, 3, 3)), padding="same").shape
        (1, 1, 4, 4)
    """
    return _convolve(ops.conv2d, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """`conv2d` over three spatial dimensions: (N, C, D, H, W) and a weight (O, C / groups, depth, height, width)."""
    return _convolve(ops.conv3d, input, weight, bias, stride, padding, dilation, groups)

"""conv1d, conv2d, conv3d and their transposes as functions."""

from __future__ import annotations

from typing import Any

from dist_ms._ext.remember import remembered
from dist_ms.common.checks import check_positive_int
from dist_ms.common.error_classes import raises, reads, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.conv import Convolution, TransposedConvolution
from dist_ms.ops.convolutions.conv_primitives import output_padding_of, transposed_sizes
from dist_ms.ops.convolutions.geometry import mode_padding, padding_pairs, per_dimension
from dist_ms.ops.layers.bias_add import BiasAdd

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]

_add_bias = BiasAdd()


def _convolve(
    owner: str,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    tensor(input, "input", owner)
    tensor(weight, "weight", owner)
    op = _convolution(owner, rank, stride, pad_mode, padding, dilation, groups)
    return op(input, weight) if bias is None else op(input, weight, tensor(bias, "bias", owner))


@remembered
def _convolution(
    owner: str, rank: int, stride: Any, pad_mode: Any, padding: Any, dilation: Any, groups: Any
) -> Convolution:
    """The operation with these options."""
    return Convolution(
        per_dimension(stride, rank, "stride", owner, ValueError),
        mode_padding(pad_mode, padding, rank, "padding", owner, symmetric=True),
        per_dimension(dilation, rank, "dilation", owner, ValueError),
        check_positive_int(groups, "groups", owner),
        owner,
    )


@raises(pad_mode=(TypeError, ValueError))
@raises(stride=ValueError, dilation=ValueError)
@scalars("groups")
@reads(input="ndim", weight="ndim")
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve over one spatial dimension, without flipping the kernel.

    Args:
        input: (N, C, L).
        weight: (O, C / groups, kernel).
        bias: (O,), added to each output channel.
        stride: step of the window, an int or a tuple of one.
        pad_mode: "valid" without padding, "same" for an output of ceil(L / stride), "pad" for
            `padding` zeros on both sides.
        padding: an int or a tuple of one; 0 unless `pad_mode` is "pad".
        dilation: step between kernel elements.
        groups: number of groups the channels fall into.

    Returns:
        Tensor (N, O, L').

    Raises:
        TypeError: if a number is no int, or the dtypes differ.
        ValueError: if a number is out of range, or shapes do not agree.
        RuntimeError: if the channels do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[1.0, 2.0, 3.0, 4.0]]])
        >>> print(ms.ops.conv1d(x, ms.Tensor([[[1.0, 1.0]]])))
        [[[3. 5. 7.]]]
    """
    return _convolve("conv1d", 1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


@reads(weight="shape")
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve over two spatial dimensions, without flipping the kernel.

    Args:
        input: (N, C, H, W).
        weight: (O, C / groups, *kernel).
        bias: (O,), added to each output channel.
        stride: step of the window, an int or a tuple of 2.
        pad_mode: "valid" without padding, "same" for an output of ceil(size / stride), "pad"
            for `padding` zeros on both sides.
        padding: an int or a tuple (height, width); 0 unless `pad_mode` is "pad".
        dilation: step between kernel elements, an int or a tuple of 2.
        groups: number of groups the channels fall into.

    Returns:
        Tensor (N, O, H', W'), in channels-last memory.

    Raises:
        TypeError: if a number is no int, or the dtypes differ.
        ValueError: if a number is out of range, or shapes do not agree.
        RuntimeError: if the channels do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x, w = ms.ops.ones((1, 4, 8, 8)), ms.ops.ones((6, 4, 3, 3))
        >>> ms.ops.conv2d(x, w, pad_mode="same", stride=2).shape
        (1, 6, 4, 4)
    """
    return _convolve("conv2d", 2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve over three spatial dimensions; see `conv2d`, with three numbers instead of two.

    Examples:
        >>> import dist_ms as ms
        >>> x, w = ms.ops.ones((1, 4, 5, 5, 5)), ms.ops.ones((6, 4, 3, 3, 3))
        >>> ms.ops.conv3d(x, w).shape
        (1, 6, 3, 3, 3)
    """
    return _convolve("conv3d", 3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def _convolve_transposed(
    owner: str,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    tensor(input, "input", owner)
    tensor(weight, "weight", owner)
    if input.ndim != rank + 2 or weight.ndim != rank + 2:
        raise ValueError(
            f"For '{owner}', 'input' and 'weight' must have {rank + 2} dimensions, but got shapes "
            f"{input.shape} and {weight.shape}."
        )
    stride = per_dimension(stride, rank, "stride", owner, ValueError)
    dilation = per_dimension(dilation, rank, "dilation", owner, ValueError)
    pairs = padding_pairs(padding, rank, "padding", owner, symmetric=True)
    extra = output_padding_of(output_padding, stride, dilation, owner)
    sizes = transposed_sizes(input.shape[2:], weight.shape[2:], stride, pairs, dilation, extra)
    if min(sizes) <= 0:
        raise ValueError(
            f"For '{owner}', 'padding' must leave a positive output size, but got {padding} and sizes {sizes}."
        )
    op = TransposedConvolution(stride, pairs, dilation, check_positive_int(groups, "groups", owner), owner)
    out = op(input, weight, (input.shape[0], weight.shape[1] * groups, *sizes))
    return out if bias is None else _add_bias(out, tensor(bias, "bias", owner))


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Apply the transpose of `conv1d`; see `conv_transpose2d`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[1.0, 2.0]]])
        >>> print(ms.ops.conv_transpose1d(x, ms.Tensor([[[1.0, 10.0]]]), stride=2))
        [[[ 1. 10.  2. 20.]]]
    """
    return _convolve_transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Apply the transpose of `conv2d`: the map its input's gradient goes through.

    A length n becomes (n - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.

    Args:
        input: (N, C, H, W).
        weight: (C, O / groups, *kernel).
        bias: (O,), added to each output channel.
        stride: an int or a tuple of 2.
        padding: an int or a tuple of 2: what is cut off each side.
        output_padding: an int or a tuple of 2 added to the size, below stride or dilation.
        groups: number of groups the channels fall into.
        dilation: step between kernel elements, an int or a tuple of 2.

    Returns:
        Tensor (N, O, H', W').

    Raises:
        TypeError: if a number is no int, or the dtypes differ.
        ValueError: if a number is out of range, or shapes do not agree.
        RuntimeError: if the channels do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x, w = ms.ops.ones((1, 4, 4, 4)), ms.ops.ones((4, 6, 3, 3))
        >>> ms.ops.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1).shape
        (1, 6, 8, 8)
    """
    return _convolve_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Apply the transpose of `conv3d`; see `conv_transpose2d`.

    Examples:
        >>> import dist_ms as ms
        >>> x, w = ms.ops.ones((1, 4, 2, 2, 2)), ms.ops.ones((4, 6, 2, 2, 2))
        >>> ms.ops.conv_transpose3d(x, w, stride=2).shape
        (1, 6, 4, 4, 4)
    """
    return _convolve_transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )

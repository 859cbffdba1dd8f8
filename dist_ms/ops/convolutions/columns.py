"""Im2Col and Col2Im: sliding windows as columns with the channels apart, and back."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.unfold import fold, unfold
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import reshape

__all__ = ["Col2Im", "Im2Col", "col2im"]


def _pair(value: Any) -> tuple:
    """A number for both dimensions, or one each."""
    return tuple(value) * (2 if len(value) == 1 else 1) if isinstance(value, (tuple, list)) else (value, value)


class Im2Col(Primitive):
    """The sliding windows of images as columns.

    Args:
        ksizes: an int or a tuple (height, width).
        strides, dilations, pads: an int or a tuple.

    Call:
        x (Tensor): (N, C, H, W).

    Returns:
        Tensor (N, C, height * width, number of windows).

    Raises:
        TypeError: if a number is no int.
        ValueError: if a number is out of range, or `x` has not 4 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Im2Col((1, 2))(ms.Tensor([[[[1.0, 2.0, 3.0]]]])))
        [[[[1. 2.]
           [2. 3.]]]]
    """

    def __init__(self, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> None:
        self.ksizes, self.strides, self.dilations, self.pads = (_pair(v) for v in (ksizes, strides, dilations, pads))

    def __call__(self, x: Tensor) -> Tensor:
        out = unfold(tensor(x, "x", self.name), self.ksizes, self.dilations, self.pads, self.strides)
        return reshape(out, (*x.shape[:2], math.prod(self.ksizes), out.shape[-1]))


class Col2Im(Primitive):
    """`col2im` as a primitive: `Col2Im(kernel_size, dilation, padding, stride)(x, output_size)`."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def __call__(self, x: Tensor, output_size: Tensor) -> Tensor:
        return col2im(x, output_size, self.kernel_size, self.dilation, self.padding, self.stride)


def col2im(
    input_x: Tensor, output_size: Tensor, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any
) -> Tensor:
    """Return the images whose windows' elements are the sums of columns.

    Args:
        input_x: (N, C, height * width, number of windows).
        output_size: (H, W), a Tensor.
        kernel_size: an int or a tuple (height, width).
        dilation, padding_value, stride: an int or a tuple.

    Returns:
        Tensor (N, C, H, W).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[[1.0, 2.0], [2.0, 3.0]]]])
        >>> print(ms.ops.col2im(x, ms.Tensor([1, 3], ms.int32), [1, 2], [1, 1], [0, 0], [1, 1]))
        [[[[1. 4. 3.]]]]
    """
    shape, kernel = tensor(input_x, "input_x", "col2im").shape, _pair(kernel_size)
    if len(shape) != 4 or shape[2] != math.prod(kernel):
        raise ValueError(
            f"For 'col2im', 'input_x' must be (N, C, {math.prod(kernel)}, windows) for 'kernel_size' {kernel}, "
            f"but got shape {shape}."
        )
    columns = reshape(input_x, (shape[0], shape[1] * shape[2], shape[3]))
    return fold(columns, output_size, kernel, _pair(dilation), _pair(padding_value), _pair(stride))

"""Convolution, its transpose and its weight gradient: each is a gradient of the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import holds_floats, wanted
from dist_ms.autograd.places import taken
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.convolutions.conv_arrays import convolution_weights, convolve, convolve_transposed
from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.convolutions.windows import Pairs, output_sizes, same_padding
from dist_ms.ops.primitive import Primitive, quiet

__all__ = []


class Convolution(Primitive):
    """A convolution over 1 to 3 spatial dimensions, without flipping the kernel.

    out[n, o, p] = bias[o] + sum over c, k of weight[o, c, k] x[n, c, p stride - before + k dilation]

    Args:
        stride, dilation: an int per spatial dimension.
        padding: a pair (before, after) per spatial dimension; None for as many zeros as
            make the output ceil(size / stride) long.
        group: number of groups the channels fall into.
        owner: the name used in errors.
    """

    keeps = (0, 1)

    def __init__(
        self, stride: tuple, padding: Pairs | None, dilation: tuple, group: int, owner: str = "Convolution"
    ) -> None:
        self.name = owner
        self._stride, self._padding, self._dilation, self._group = stride, padding, dilation, group

    def resolved_padding(self, sizes: tuple, kernel: tuple) -> Pairs:
        """The (before, after) pairs for an input of these spatial sizes."""
        if self._padding is not None:
            return self._padding
        return same_padding(sizes, kernel, self._stride, self._dilation)

    def geometry(self, x: tuple, weight: tuple) -> Geometry:
        """Where the windows lie, for operands of these shapes."""
        padding = self.resolved_padding(x[2:], weight[2:])
        return Geometry(x, weight, self._stride, padding, self._dilation, self._group)

    def checked_sizes(self, x: Any, weight: Any, bias: Any) -> tuple:
        """Check the operands and return the spatial sizes of the output."""
        check_operands(self.name, x, weight, 2 + len(self._stride))
        if x.shape[1] != weight.shape[1] * self._group:
            raise RuntimeError(
                f"For '{self.name}', the channels of 'x' must be those of 'weight' {weight.shape[1]} times "
                f"'group' {self._group}, but got {x.shape[1]} (x {x.shape}, weight {weight.shape})."
            )
        check_group(self.name, weight.shape[0], self._group)
        if bias is not None:
            check_bias(self.name, bias, weight)
        padding = self.resolved_padding(x.shape[2:], weight.shape[2:])
        sizes = output_sizes(x.shape[2:], weight.shape[2:], self._stride, padding, self._dilation)
        if min(sizes) <= 0:
            raise ValueError(
                f"For '{self.name}', the padded 'x' must be at least as large as the dilated kernel, but got "
                f"x {x.shape}, padding {padding}, weight {weight.shape}, dilation {self._dilation}."
            )
        return sizes

    @quiet
    def forward(self, x: Any, weight: Any, bias: Any = None) -> np.ndarray:
        self.checked_sizes(x, weight, bias)
        return convolve(x, weight, bias, self.geometry(x.shape, weight.shape))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, weight = inputs[:2]
        bias = inputs[2] if len(inputs) > 2 else None
        padding = self.resolved_padding(x.shape[2:], weight.shape[2:])
        numbers = (self._stride, padding, self._dilation, self._group)
        dx = TransposedConvolution(*numbers)(dout, weight, x.shape) if wanted(x) else None
        dw = db = there = None
        if wanted(weight) and dout.array().dtype.itemsize >= 4:
            there = taken(weight, dout.array().dtype)
        if there is not None:
            at_bias = taken(bias, there.dtype) if wanted(bias) else None
            found = WeightGradient(*numbers).forward(
                x.array(), dout.array(), weight.shape, wanted(bias), there, at_bias
            )
            dw, db = map(wrap, found) if wanted(bias) else (wrap(found), None)
        elif wanted(bias):
            dw, db = WeightGradient(*numbers)(x, dout, weight.shape, True)
        elif wanted(weight):
            dw = WeightGradient(*numbers)(x, dout, weight.shape, False)
        return (dx, dw) if len(inputs) == 2 else (dx, dw, db)


class TransposedConvolution(Primitive):
    """The gradient of a convolution's input, which is a transposed convolution.

    Call:
        dy: (N, O, *output), the gradient of the convolution's output.
        weight: (O, C / group, *kernel).
        shape: the shape (N, C, *spatial) of the convolution's input.
    """

    keeps = (0, 1)

    def __init__(
        self, stride: tuple, padding: Pairs, dilation: tuple, group: int, owner: str = "TransposedConvolution"
    ) -> None:
        self.name = owner
        self._stride, self._padding, self._dilation, self._group = stride, padding, dilation, group

    @quiet
    def forward(self, dy: Any, weight: Any, shape: tuple) -> np.ndarray:
        check_operands(self.name, dy, weight, 2 + len(self._stride), "dy")
        check_group(self.name, weight.shape[0], self._group)
        if dy.shape[1] != weight.shape[0]:
            raise RuntimeError(
                f"For '{self.name}', 'dy' must have the {weight.shape[0]} channels of 'weight', "
                f"but got shape {dy.shape}."
            )
        sizes = output_sizes(shape[2:], weight.shape[2:], self._stride, self._padding, self._dilation)
        if (dy.shape[0], dy.shape[2:]) != (shape[0], sizes) or shape[1] != weight.shape[1] * self._group:
            raise ValueError(
                f"For '{self.name}', an input of shape {tuple(shape)} must convolve with 'weight' {weight.shape} "
                f"to the shape of 'dy', but got {dy.shape} and not {(shape[0], weight.shape[0], *sizes)}."
            )
        at = Geometry(tuple(shape), weight.shape, self._stride, self._padding, self._dilation, self._group)
        return convolve_transposed(dy, weight, at)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dy, weight, _ = inputs
        numbers = (self._stride, self._padding, self._dilation, self._group)
        ddy = Convolution(*numbers)(dout, weight) if wanted(dy) else None
        dw = WeightGradient(*numbers)(dout, dy, weight.shape, False) if wanted(weight) else None
        return ddy, dw, None


class WeightGradient(Primitive):
    """The gradient of a convolution's weight, and of its bias when asked.

    Call:
        x: (N, C, *spatial), the convolution's input.
        dy: (N, O, *output), the gradient of its output.
        shape: the shape of the weight.
        with_bias: whether to return the pair (dw, db).
    """

    keeps = (0, 1)

    def __init__(
        self, stride: tuple, padding: Pairs, dilation: tuple, group: int, owner: str = "WeightGradient"
    ) -> None:
        self.name = owner
        self._stride, self._padding, self._dilation, self._group = stride, padding, dilation, group

    @quiet
    def forward(self, x: Any, dy: Any, shape: tuple, with_bias: bool, out: Any = None, bias_out: Any = None) -> Any:
        check_operands(self.name, x, dy, 2 + len(self._stride), "x", "dy")
        at = Geometry(x.shape, tuple(shape), self._stride, self._padding, self._dilation, self._group)
        dw, db = convolution_weights(x, dy, at, with_bias, out, bias_out)
        return (dw, db) if with_bias else dw

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        x, dy, _, with_bias = inputs
        ddw, ddb = dout if with_bias else (dout, None)
        numbers = (self._stride, self._padding, self._dilation, self._group)
        dx = TransposedConvolution(*numbers)(dy, ddw, x.shape) if wanted(x) else None
        ddy = None
        if wanted(dy):
            ddy = Convolution(*numbers)(x, ddw, ddb) if with_bias else Convolution(*numbers)(x, ddw)
        return dx, ddy, None, None


def check_operands(name: str, x: Any, y: Any, rank: int, x_name: str = "x", y_name: str = "weight") -> None:
    """Require two float arrays of this rank and of one type."""
    if type(x) is type(y) is np.ndarray and x.dtype is y.dtype and x.ndim == y.ndim == rank and holds_floats(x):
        return
    arguments.floating(x, x_name, name, complex_too=False)
    arguments.floating(y, y_name, name, complex_too=False)
    if x.dtype != y.dtype:
        raise TypeError(
            f"For '{name}', '{x_name}' and '{y_name}' must have one dtype, but got "
            f"{from_numpy(x.dtype)} and {from_numpy(y.dtype)}; cast one of them."
        )
    for array, array_name in ((x, x_name), (y, y_name)):
        if array.ndim != rank:
            raise ValueError(f"For '{name}', '{array_name}' must have {rank} dimensions, but got shape {array.shape}.")


def check_group(name: str, channels: int, group: int) -> None:
    """Require that the output channels fall into the groups."""
    if channels % group:
        raise ValueError(
            f"For '{name}', 'group' must divide the {channels} output channels of 'weight', but got {group}."
        )


def check_bias(name: str, bias: Any, weight: np.ndarray) -> None:
    """Require a bias vector with an element per output channel."""
    arguments.array(bias, "bias", name)
    if bias.shape != (weight.shape[0],):
        raise ValueError(
            f"For '{name}', 'bias' must have shape ({weight.shape[0]},), one element per output "
            f"channel of 'weight' {weight.shape}, but got {bias.shape}."
        )
    if bias.dtype != weight.dtype:
        raise TypeError(
            f"For '{name}', 'bias' must have the dtype {from_numpy(weight.dtype)} of 'weight', "
            f"but got {from_numpy(bias.dtype)}; cast it first."
        )

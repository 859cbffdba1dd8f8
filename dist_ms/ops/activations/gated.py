"""Activations whose one half gates the other: GLU and swiglu. MindSpore has no CPU kernel of swiglu."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.activations.activation import sigmoid
from dist_ms.ops.arguments import floating, integer, one_axis, tensor
from dist_ms.ops.elementwise.arithmetic import conjugate, mul
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import gated
from dist_ms.ops.layout import AroundAxis
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["GLU", "glu", "swiglu"]


@scalars("axis")
@raises(x=(TypeError, RuntimeError))
class GLU(Primitive):
    """`glu` as a primitive: `GLU(axis)(x)`."""

    def __init__(self, axis: int = -1) -> None:
        self.axis = integer(axis, "axis", "GLU")

    @quiet
    def forward(self, x: np.ndarray) -> np.ndarray:
        axis = one_axis(self.axis, "axis", self.name, floating(x, "x", self.name).ndim)
        if x.ndim == 0 or x.shape[axis] % 2:
            raise ValueError(
                f"For '{self.name}', 'x' must have an even length along axis {self.axis}, but got shape {x.shape}."
            )
        if x.dtype.kind == "c":
            a, b = np.split(x, 2, axis)
            return a / (1 + np.exp(-b))
        around = AroundAxis(x, axis)
        outer, length, inner = around.lines.shape
        out = np.empty((outer, length // 2, inner), x.dtype)
        gated.forward(_rows(around.lines), _rows(out))
        return around.shaped(out)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return _GLUGradient(self.axis)(conjugate(inputs[0]), dout)


class _GLUGradient(Primitive):
    """dy s for the first half a, and dy a s (1 - s) for the second half b, s = sigmoid(b)."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    @quiet
    def forward(self, x: np.ndarray, dy: np.ndarray) -> np.ndarray:
        axis = self.axis % x.ndim
        if x.dtype.kind == "c":
            a, b = np.split(x, 2, axis)
            share = 1 / (1 + np.exp(-b))
            return np.concatenate([dy * share, dy * a * share * (1 - share)], axis)
        around = AroundAxis(x, axis)
        dx = np.empty_like(around.lines)
        gated.backward(_rows(around.beside(dy)), _rows(around.lines), _rows(dx))
        return around.shaped(dx)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        def formula(x: Tensor, dy: Tensor) -> Tensor:
            a, b = ops.chunk(x, 2, self.axis)
            share = sigmoid(b)
            return ops.concat((mul(dy, share), mul(mul(dy, a), mul(share, 1 - share))), self.axis)

        return tuple(formula_gradient(formula, inputs, dout))


def _rows(x: np.ndarray) -> np.ndarray:
    """(outer, length, inner) as a matrix."""
    return x.reshape(len(x), x.shape[1] * x.shape[2])


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """Return a sigmoid(b) for the two halves (a, b) of a tensor along an axis.

    Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2017.

    Args:
        x: floats, with an even length along `axis`.
        axis: the axis to halve.

    Returns:
        Tensor of half the length along `axis`.

    Raises:
        TypeError: if `axis` is no int, or `x` holds no floats.
        ValueError: if there is no such axis, or its length is odd.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.glu(ms.Tensor([2.0, 0.0])))
        [1.]
    """
    return GLU(axis)(x)


def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """Return silu(a) b for the two halves (a, b) of a tensor along a dimension.

    Args:
        input: a Tensor of floats.
        dim: the dimension, of even length.

    Raises:
        TypeError: if `input` holds no floats or `dim` is no int.
        ValueError: if there is no such dimension.
        RuntimeError: if its length is odd.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.swiglu(ms.Tensor([1.0, 2.0])).asnumpy().round(4))
        [1.4621]
    """
    data = floating(tensor(input, "input", "swiglu").array(), "input", "swiglu")
    axis = one_axis(dim, "dim", "swiglu", data.ndim)
    if data.shape[axis] % 2:
        raise RuntimeError(f"For 'swiglu', the length of 'dim' must be even, but got {data.shape[axis]}.")
    a, b = ops.split(input, data.shape[axis] // 2, axis) if data.shape[axis] else (input, input)
    return ops.mul(ops.silu(a), b)

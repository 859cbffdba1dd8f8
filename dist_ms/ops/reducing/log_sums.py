"""The logarithm of a sum of exponentials over dimensions, and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, floating, tensor
from dist_ms.ops.elementwise.arithmetic import mul, sub
from dist_ms.ops.elementwise.exponentials import exp
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import softmax_lines as kernels
from dist_ms.ops.layout import AroundAxis, converted, dense, working_type
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.reducing.reduction import Reduction

__all__ = ["logsumexp"]


def _around(x: np.ndarray, axes: tuple) -> AroundAxis | None:
    """`x` around the axes, made one; None if they are no neighbours, or nothing is left to look at."""
    first, last = min(axes, default=0), max(axes, default=-1)
    if not x.size or last - first + 1 != len(axes) or not axes:
        return None
    wide = dense(x, working_type(x.dtype))
    if len(axes) > 1:
        wide = wide.reshape(*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :])
    return AroundAxis(wide, first)


class LogSumExp(Reduction):
    """The log of the sum of exponentials over dimensions, without overflow."""

    keeps = (0,)
    keeps_output = True

    @quiet
    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(floating(x, "x", self.name, complex_too=False), axis)
        kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
        around = _around(x, axes)
        if around is None:
            out = _by_numpy(x, axes)
        else:
            out = np.empty((around.lines.shape[0], around.lines.shape[2]), around.lines.dtype)
            kernels.log_sum_forward(around.lines, out)
            out = converted(around.shaped(out), x.dtype).reshape(kept)
        return np.asarray(out if self.keep_dims else out.squeeze(axes))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, axis = inputs
        kept = self.kept(dout, x, axis), x, self.kept(output, x, axis)
        return LogSumExpGrad(self.axes(x.array(), axis))(*kept), None


class LogSumExpGrad(Primitive):
    """dy exp(x - y), y being the log of the sum of exponentials, over axes that dy and y keep with length 1."""

    def __init__(self, axes: tuple) -> None:
        self._axes = axes

    @quiet
    def forward(self, dy: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        # In C order all of them: the two without the axes say nothing of the order of the others.
        around = _around(np.ascontiguousarray(x), self._axes)
        if around is None:
            return np.asarray(dy * np.exp(x - y))
        given, kept = [_around(np.ascontiguousarray(a), self._axes).lines[:, 0] for a in (dy, y)]
        out = np.empty_like(around.lines)
        kernels.log_sum_backward(given, around.lines, kept, out)
        return converted(around.shaped(out).reshape(x.shape), dy.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple(formula_gradient(lambda dy, x, y: mul(dy, exp(sub(x, y))), inputs, dout))


def _by_numpy(x: np.ndarray, axes: tuple) -> np.ndarray:
    """The same with the axes kept, over any of them."""
    wide = x.astype(working_type(x.dtype), copy=False)
    top = wide.max(axes, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, wide.dtype.type(0))
    return (np.log(np.exp(wide - shift).sum(axes, keepdims=True)) + shift).astype(x.dtype, copy=False)


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Return log(sum(exp(input))) over dimensions, without overflow.

    Args:
        input: a Tensor of floats.
        dim: the dimension or dimensions, () for all.
        keepdim: keep the reduced dimensions with length 1.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` holds no floats, or `dim` anything but ints.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logsumexp(ms.Tensor([0.0, 0.0]), 0).asnumpy().round(4))
        0.6931
    """
    if dim is None:
        raise TypeError("For 'logsumexp', 'dim' must be an int or a tuple of ints, but got None; () names all.")
    return LogSumExp(boolean(keepdim, "keepdim", "logsumexp"))(tensor(input, "input", "logsumexp"), dim)

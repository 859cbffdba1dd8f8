"""Smooth activations: softplus, softsign, SiLU, Mish, log sigmoid, fast GELU, GLU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.error_classes import bools, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.activations.activation import run, run_gradient, sigmoid, tanh
from dist_ms.ops.activations.elementwise import Elementwise
from dist_ms.ops.elementwise.arithmetic import conjugate
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.shaping import splitting

__all__ = [
    "FastGeLU",
    "FastGelu",
    "GLU",
    "LogSigmoid",
    "Mish",
    "SiLU",
    "Softplus",
    "Softsign",
    "fast_gelu",
    "glu",
    "logsigmoid",
    "mish",
    "silu",
    "softplus",
    "softsign",
]


class Softplus(Elementwise):
    """`softplus` as a primitive: `Softplus()(input_x)`."""

    function = "softplus"
    _options = (1.0, math.inf)

    def derivative(self, x: Tensor) -> Tensor:
        return sigmoid(x)


class SteepSoftplus(Softplus):
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above `threshold`."""

    def __init__(self, beta: float, threshold: float) -> None:
        self.beta, self.threshold = beta, threshold
        self._options = (beta, threshold)

    def derivative(self, x: Tensor) -> Tensor:
        scaled = x * self.beta
        return ops.select(scaled > self.threshold, ops.ones_like(x), sigmoid(scaled))


class Softsign(Elementwise):
    """`softsign` as a primitive: `Softsign()(x)`."""

    function = "softsign"

    def derivative(self, x: Tensor) -> Tensor:
        one = 1 + ops.abs(x)
        return 1 / (one * one)


class SiLU(Primitive):
    """`silu` as a primitive: `SiLU()(input)`."""

    def forward(self, input: Any) -> np.ndarray:
        arguments.floating(input, "input", self.name, complex_too=False)
        return run("silu_forward", input)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return _silu_grad(dout, inputs[0])


class SiLUGrad(Primitive):
    """dy times the derivative of SiLU at x."""

    def forward(self, dy: np.ndarray, x: np.ndarray) -> np.ndarray:
        return run_gradient("silu_backward", dy, x)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple(formula_gradient(self._formula, inputs, dout))

    def _formula(self, dy: Tensor, x: Tensor) -> Tensor:
        s = sigmoid(x)
        return dy * s * (1 + x * (1 - s))


class Mish(Elementwise):
    """`mish` as a primitive: `Mish()(x)`."""

    function = "mish"

    def derivative(self, x: Tensor) -> Tensor:
        t = tanh(softplus(x))
        return t + x * sigmoid(x) * (1 - t * t)


class FastGeLU(Elementwise):
    """`fast_gelu` as a primitive: `FastGeLU()(x)`."""

    function = "fast_gelu"
    _options = (1.702,)

    def derivative(self, x: Tensor) -> Tensor:
        s = sigmoid(1.702 * x)
        return s * (1 + 1.702 * x * (1 - s))


FastGelu = FastGeLU


class LogSigmoid(Elementwise):
    """`logsigmoid` as a primitive: `LogSigmoid()(x)`."""

    function = "log_sigmoid"

    def derivative(self, x: Tensor) -> Tensor:
        return sigmoid(-x)


class _Gate(Primitive):
    """input sigmoid(other), of one shape and type."""

    @quiet
    def forward(self, input: np.ndarray, other: np.ndarray) -> np.ndarray:
        arguments.floating(input, "x", "GLU")
        if input.dtype.kind == "c":
            return input / (1 + np.exp(-other))
        return apply(pointwise.gate, input, other)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = conjugate(inputs[0]), conjugate(inputs[1])
        return (
            _gate(dout, y) if wanted(inputs[0]) else None,
            _gate_slope(dout, x, y) if wanted(inputs[1]) else None,
        )


class _GateSlope(Primitive):
    """dy input s (1 - s) of s = sigmoid(other)."""

    @quiet
    def forward(self, dy: np.ndarray, input: np.ndarray, other: np.ndarray) -> np.ndarray:
        if dy.dtype.kind == "c":
            share = 1 / (1 + np.exp(-other))
            return dy * input * share * (1 - share)
        return apply(pointwise.gate_slope, dy, input, other)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple(formula_gradient(lambda dy, x, y: dy * x * sigmoid(y) * (1 - sigmoid(y)), inputs, dout))


@scalars("axis")
@raises(x=(TypeError, RuntimeError))
class GLU(Primitive):
    """`glu` as a primitive: `GLU(axis)(x)`."""

    def __init__(self, axis: int = -1) -> None:
        self.axis = arguments.integer(axis, "axis", "GLU")

    def __call__(self, x: Tensor) -> Tensor:
        axis = arguments.one_axis(self.axis, "axis", self.name, arguments.tensor(x, "x", self.name).ndim)
        if x.ndim == 0 or x.shape[axis] % 2:
            raise ValueError(
                f"For '{self.name}', 'x' must have an even length along axis {self.axis}, but got shape {x.shape}."
            )
        first, second = splitting.Split(axis, 2)(x)
        return _gate(first, second)


_softplus, _softsign, _silu, _mish = SteepSoftplus(1, 20), Softsign(), SiLU(), Mish()
_gate, _gate_slope = _Gate(), _GateSlope()
_silu_grad, _fast_gelu, _logsigmoid = SiLUGrad(), FastGeLU(), LogSigmoid()


@bools("threshold", "beta")
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return log(1 + exp(beta x)) / beta, and x itself where beta x is above `threshold`.

    Args:
        input: floats.
        beta: steepness, not 0.
        threshold: where the function is taken for a straight line.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if a number is none, or `input` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.softplus(ms.Tensor([100.0])))
        [100.]
    """
    arguments.number(beta, "beta", "softplus")
    arguments.number(threshold, "threshold", "softplus")
    arguments.tensor(input, "input", "softplus")
    return (_softplus if beta == 1 and threshold == 20 else SteepSoftplus(beta, threshold))(input)


def softsign(x: Tensor) -> Tensor:
    """Return x / (1 + |x|), element by element.

    Args:
        x: floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.softsign(ms.Tensor([-1.0, 3.0])))
        [-0.5   0.75]
    """
    return _softsign(x)


def silu(input: Tensor) -> Tensor:
    """Return x sigmoid(x), element by element, also called swish.

    Args:
        input: floats.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.silu(ms.Tensor([0.0])))
        [0.]
    """
    return _silu(input)


def mish(x: Tensor) -> Tensor:
    """Return x tanh(softplus(x)), element by element.

    Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.

    Args:
        x: floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mish(ms.Tensor([0.0])))
        [0.]
    """
    return _mish(x)


def fast_gelu(x: Tensor) -> Tensor:
    """Return x sigmoid(1.702 x), element by element: an approximation of GELU.

    Args:
        x: floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fast_gelu(ms.Tensor([0.0])))
        [0.]
    """
    return _fast_gelu(x)


def logsigmoid(x: Tensor) -> Tensor:
    """Return log(1 / (1 + exp(-x))), element by element.

    Args:
        x: floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logsigmoid(ms.Tensor([-100.0])))
        [-100.]
    """
    return _logsigmoid(x)


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

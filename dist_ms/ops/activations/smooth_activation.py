"""Smooth activations: softplus, softsign, SiLU, Mish, log sigmoid, fast GELU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import bools, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.activations.activation import run, run_gradient, sigmoid, tanh
from dist_ms.ops.activations.elementwise import Elementwise
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.primitive import Primitive

__all__ = [
    "FastGeLU",
    "FastGelu",
    "LogSigmoid",
    "Mish",
    "SiLU",
    "Softplus",
    "Softsign",
    "fast_gelu",
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

    takes = "x"
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


_softplus, _softsign, _silu, _mish = SteepSoftplus(1, 20), Softsign(), SiLU(), Mish()
_silu_grad, _fast_gelu, _logsigmoid = SiLUGrad(), FastGeLU(), LogSigmoid()


@scalars("beta", "threshold")
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
    beta, threshold = arguments.scalar(beta), arguments.scalar(threshold)
    if arguments.number(beta, "beta", "softplus") == 0:
        raise ValueError("For 'softplus', 'beta' must not be 0, but got 0.")
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

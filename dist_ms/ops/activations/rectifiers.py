"""Kin of ReLU: ReLU6, leaky, parametric, random and exponential ones, threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import float32
from dist_ms.common.error_classes import bools, of_type, reads_of_none, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.activations.elementwise import Elementwise
from dist_ms.ops.arguments import not_of
from dist_ms.ops.broadcasting import promote, reduce_to
from dist_ms.ops.drawing_numbers.drawing import uniform
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.picking.selection import Select
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive

__all__ = [
    "CeLU",
    "Elu",
    "PReLU",
    "ReLU6",
    "SeLU",
    "celu",
    "elu",
    "leaky_relu",
    "prelu",
    "relu6",
    "rrelu",
    "selu",
    "threshold",
]

# Klambauer et al., "Self-Normalizing Neural Networks", 2017.
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


class ReLU6(Elementwise):
    """`relu6` as a primitive: `ReLU6()(x)`."""

    takes = "x"
    function = "clip"
    # From 0 to 6; the slope is 0 at 0 and 1 at 6.
    _options = (0.0, 6.0, 0.0, 1.0)


class LeakyReLU(Elementwise):
    """x where positive, else alpha x; at 0 the slope is the mean of both sides."""

    function = "leaky_relu"
    integers = True

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self._options = (alpha,)


class Threshold(Elementwise):
    """x above `thr`, else `value`."""

    function = "threshold"
    integers = True

    def __init__(self, thr: float, value: float) -> None:
        self.thr, self.other = thr, value
        self._options = (thr, value)


@scalars("alpha")
class CeLU(Elementwise):
    """`celu` as a primitive: `CeLU(alpha)(x)`."""

    takes = "x"
    function = "exponential_linear"

    def __init__(self, alpha: float = 1.0) -> None:
        if not isinstance(alpha, float):
            kind = of_type("alpha", "CeLU", alpha)
            raise kind(f"For 'CeLU', 'alpha' must be a float, but got {type(alpha).__name__} {alpha!r}.")
        if alpha == 0:
            raise ValueError("For 'CeLU', 'alpha' must not be 0, but got 0.0.")
        self.alpha = alpha
        self._options = (1.0, alpha, 1 / alpha)

    def derivative(self, x: Tensor) -> Tensor:
        return ops.exp(ops.minimum(x, 0.0) / self.alpha)


@scalars("alpha")
class Elu(Elementwise):
    """`elu` as a primitive: `Elu(alpha)(input_x)`."""

    takes = "input_x"
    function = "exponential_linear"

    def __init__(self, alpha: float = 1.0) -> None:
        if not isinstance(alpha, float):
            kind = of_type("alpha", "Elu", alpha)
            raise kind(f"For 'Elu', 'alpha' must be a float, but got {type(alpha).__name__} {alpha!r}.")
        self.alpha = alpha
        self._options = (1.0, alpha, 1.0)

    def derivative(self, x: Tensor) -> Tensor:
        return ops.select(x > 0, ops.ones_like(x), self.alpha * ops.exp(ops.minimum(x, 0.0)))


class SeLU(Elementwise):
    """`selu` as a primitive: `SeLU()(input_x)`."""

    function = "exponential_linear"
    integers = True
    _options = (_SELU_SCALE, _SELU_SCALE * _SELU_ALPHA, 1.0)

    def derivative(self, x: Tensor) -> Tensor:
        falling = _SELU_SCALE * _SELU_ALPHA * ops.exp(ops.minimum(x, 0.0))
        return ops.select(x > 0, ops.full_like(x, _SELU_SCALE), falling)


class PReLU(Primitive):
    """`prelu` as a primitive: `PReLU()(input, weight)`."""

    def __call__(self, input: Tensor, weight: Tensor) -> Tensor:
        for given, name in ((input, "input"), (weight, "weight")):
            arguments.floating(arguments.tensor(given, name, self.name).array(), name, self.name, complex_too=False)
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.shape not in ((1,), (channels,)):
            raise ValueError(
                f"For '{self.name}', 'weight' must have 1 or {channels} elements, one per channel of 'input' "
                f"{input.shape}, but got shape {weight.shape}."
            )
        if weight._element != input._element:
            weight = ops.cast(weight, input.dtype)
        column = ops.reshape(weight, (weight.shape[0], *(1,) * max(input.ndim - 2, 0)) if input.ndim else ())
        return _parametric_relu(input, column)


class ParametricReLU(Primitive):
    """x where positive, else weight x, with broadcasting."""

    def forward(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return apply(pointwise.parametric_relu, *promote(x, weight))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, weight = inputs
        return (
            reduce_to(_parametric_relu_grad(x, weight, dout), x) if wanted(x) else None,
            reduce_to(dout * _select(x > 0, 0.0, x), weight) if wanted(weight) else None,
        )


class ParametricReLUGrad(Primitive):
    """dout where x is positive, else weight dout."""

    def forward(self, x: np.ndarray, weight: np.ndarray, dout: np.ndarray) -> np.ndarray:
        return apply(pointwise.parametric_relu_gradient, *promote(x, weight), dout)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, weight, given = inputs
        passed = _select(x > 0, 0.0, given) * dout if wanted(weight) else None
        return None, None if passed is None else reduce_to(passed, weight), reduce_to(self(x, weight, dout), given)


_relu6, _selu, _prelu = ReLU6(), SeLU(), PReLU()
_parametric_relu, _parametric_relu_grad, _select = ParametricReLU(), ParametricReLUGrad(), Select()


def relu6(x: Tensor) -> Tensor:
    """Return min(max(x, 0), 6), element by element.

    Args:
        x: floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.relu6(ms.Tensor([-1.0, 2.0, 9.0])))
        [0. 2. 6.]
    """
    return _relu6(x)


@reads_of_none("input")
def leaky_relu(input: Tensor, alpha: float = 0.2) -> Tensor:
    """Return x where positive, else alpha x.

    Args:
        input: real numbers.
        alpha: slope of the negative side, an int or float.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `alpha` is no number, or `input` is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.leaky_relu(ms.Tensor([-1.0, 2.0]), 0.5))
        [-0.5  2. ]
    """
    arguments.tensor(input, "input", "leaky_relu")
    return LeakyReLU(arguments.number(alpha, "alpha", "leaky_relu"))(input)


def elu(input_x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return x where positive, else alpha (exp(x) - 1).

    Clevert, Unterthiner and Hochreiter, "Fast and Accurate Deep Network Learning by
    Exponential Linear Units", 2015.

    Args:
        input_x: floats.
        alpha: scale of the negative side, a float.

    Returns:
        Tensor of the shape and dtype of `input_x`.

    Raises:
        TypeError: if `alpha` is no float, or `input_x` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.elu(ms.Tensor([0.0, 2.0])))
        [0. 2.]
    """
    return Elu(alpha)(input_x)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return max(x, 0) + min(alpha (exp(x / alpha) - 1), 0).

    Barron, "Continuously Differentiable Exponential Linear Units", 2017.

    Args:
        x: floats.
        alpha: scale of the negative side, a float other than 0.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `alpha` is no float, or `x` holds no floats.
        ValueError: if `alpha` is 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.celu(ms.Tensor([0.0, 2.0])))
        [0. 2.]
    """
    return CeLU(alpha)(x)


def selu(input_x: Tensor) -> Tensor:
    """Return scale x where positive, else scale alpha (exp(x) - 1); scale = 1.0507, alpha = 1.6733.

    Klambauer et al., "Self-Normalizing Neural Networks", 2017.

    Args:
        input_x: real numbers.

    Returns:
        Tensor of the shape and dtype of `input_x`.

    Raises:
        TypeError: if `input_x` is complex or no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.selu(ms.Tensor([0.0, 1.0])))
        [0.       1.050701]
    """
    not_of(input_x, "?lBHIL", "input_x", "selu")
    return _selu(input_x)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x where positive, else weight x, with a weight per channel or one for all.

    He et al., "Delving Deep into Rectifiers", 2015.

    Args:
        input: (N, C, ...) floats; a vector or scalar has one channel.
        weight: (C,) or (1,).

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if the dtypes are no floats.
        ValueError: if `weight` has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.prelu(ms.Tensor([-1.0, 2.0]), ms.Tensor([0.25])))
        [-0.25  2.  ]
    """
    return _prelu(input, weight)


@bools("lower", "upper")
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Return x where positive or 0, else x times a random slope, new for each element.

    Args:
        input: floats.
        lower: least slope.
        upper: greatest slope, not below `lower`.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if a limit is no number, or `input` holds no floats.
        ValueError: if `upper` is below `lower`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.rrelu(ms.Tensor([-1.0, 2.0]), 0.5, 0.5))
        [-0.5  2. ]
    """
    data = arguments.floating(arguments.tensor(input, "input", "rrelu").array(), "input", "rrelu", complex_too=False)
    arguments.number(lower, "lower", "rrelu")
    if arguments.number(upper, "upper", "rrelu") < lower:
        raise ValueError(f"For 'rrelu', 'upper' must be at least 'lower' {lower}, but got {upper}.")
    slope = uniform(data.shape, Tensor(lower, float32), Tensor(upper, float32)).array()
    return input * wrap(np.where(data < 0, slope, 1.0).astype(data.dtype))


def threshold(input: Tensor, thr: float, value: float) -> Tensor:
    """Return x above `thr`, else `value`.

    Args:
        input: real numbers.
        thr: the threshold.
        value: what replaces the elements not above it.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `thr` or `value` is no number, or `input` is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.threshold(ms.Tensor([0.1, 0.5]), 0.3, 20))
        [20.   0.5]
    """
    arguments.number(thr, "thr", "threshold")
    return Threshold(thr, arguments.number(value, "value", "threshold"))(arguments.tensor(input, "input", "threshold"))

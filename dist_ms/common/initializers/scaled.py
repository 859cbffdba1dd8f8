"""Uniform values, and distributions scaled by a layer's fans: Xavier, He, variance scaling."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.common.checks import check_number, check_string, complaint
from dist_ms.common.initializers.base import (
    Initializer,
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    _calculate_gain,
    _register,
    fill,
    number,
)
from dist_ms.common.initializers.normal import normal_fill, truncated_fill
from dist_ms.common.random.seed import initial_seed

# The standard deviation of a standard normal that is cut at -2 and 2.
_DEVIATION_WITHIN_TWO = 0.87962566103423978


def uniform_fill(arr: np.ndarray, bound: float) -> None:
    """Fill `arr` evenly from [-bound, bound)."""
    from dist_ms._ext import initial_numbers

    seed = initial_seed()
    fill(arr, lambda out, first: initial_numbers.uniform(out, seed, -bound, bound, first))


@_register()
class Uniform(Initializer):
    """Values spread evenly over [-scale, scale).

    Args:
        scale: the bound.

    Raises:
        TypeError: if `scale` is no number.

    Examples:
        >>> from dist_ms.common.initializer import Uniform, initializer
        >>> x = initializer(Uniform(0.5), [100]).init_data()
        >>> bool(abs(x.asnumpy()).max() <= 0.5)
        True
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = number(scale, "scale", self)

    def _initialize(self, arr: np.ndarray) -> None:
        uniform_fill(arr, self.scale)


@_register("xavier_uniform")
class XavierUniform(Initializer):
    """Values spread evenly over [-b, b), b = gain * sqrt(6 / (fan_in + fan_out)).

    Args:
        gain: the factor.

    Raises:
        TypeError: if `gain` is no number.
        ValueError: when a tensor with fewer than 2 dimensions is made.

    Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
    networks, 2010.

    Examples:
        >>> from dist_ms.common.initializer import XavierUniform, initializer
        >>> initializer(XavierUniform(), [2, 3]).init_data().shape
        (2, 3)
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = number(gain, "gain", self)

    def _initialize(self, arr: np.ndarray) -> None:
        fans = _calculate_fan_in_and_fan_out(self._fan_shape(arr))
        uniform_fill(arr, self.gain * math.sqrt(6.0 / sum(fans)))


@_register("xavier_normal")
class XavierNormal(Initializer):
    """Values from N(0, sigma**2), sigma = gain * sqrt(2 / (fan_in + fan_out)).

    Args:
        gain: the factor.

    Raises:
        TypeError: if `gain` is no number.
        ValueError: when a tensor with fewer than 2 dimensions is made.

    Examples:
        >>> from dist_ms.common.initializer import XavierNormal, initializer
        >>> initializer(XavierNormal(), [2, 3]).init_data().shape
        (2, 3)
    """

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = number(gain, "gain", self)

    def _initialize(self, arr: np.ndarray) -> None:
        fans = _calculate_fan_in_and_fan_out(self._fan_shape(arr))
        normal_fill(arr, self.gain * math.sqrt(2.0 / sum(fans)))


class _He(Initializer):
    """What the two He initializers share: the standard deviation gain / sqrt(fan)."""

    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope = negative_slope
        self.mode = mode
        self.nonlinearity = nonlinearity

    def _deviation(self, arr: np.ndarray) -> float:
        fan = _calculate_correct_fan(self._fan_shape(arr), self.mode)
        return _calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


@_register("he_uniform")
class HeUniform(_He):
    """Values spread evenly over [-b, b), b = sqrt(3) * gain / sqrt(fan).

    Args:
        negative_slope: of the leaky ReLU behind the layer.
        mode: 'fan_in' keeps the variance of values, 'fan_out' that of gradients.
        nonlinearity: 'relu', 'leaky_relu', 'tanh' or 'sigmoid'; gives the gain.

    Raises:
        ValueError: when a tensor is made, for an unknown mode or nonlinearity, a slope
            that is no number, or fewer than 2 dimensions.

    He et al., Delving deep into rectifiers, 2015.

    Examples:
        >>> from dist_ms.common.initializer import HeUniform, initializer
        >>> initializer(HeUniform(), [2, 3]).init_data().shape
        (2, 3)
    """

    def _initialize(self, arr: np.ndarray) -> None:
        uniform_fill(arr, math.sqrt(3.0) * self._deviation(arr))


@_register("he_normal")
class HeNormal(_He):
    """Values from N(0, sigma**2), sigma = gain / sqrt(fan).

    Args:
        negative_slope, mode, nonlinearity: as in `HeUniform`.

    Raises:
        ValueError: as in `HeUniform`.

    Examples:
        >>> from dist_ms.common.initializer import HeNormal, initializer
        >>> initializer(HeNormal(mode="fan_out"), [2, 3]).init_data().shape
        (2, 3)
    """

    def _initialize(self, arr: np.ndarray) -> None:
        normal_fill(arr, self._deviation(arr))


@_register()
class VarianceScaling(Initializer):
    """Values with the variance scale / n, n being a fan.

    Args:
        scale: the factor.
        mode: n is 'fan_in', 'fan_out' or their mean, 'fan_avg'.
        distribution: 'uniform', 'truncated_normal' (within two standard deviations) or
            'untruncated_normal'.

    Raises:
        TypeError: if `scale` is no number.
        ValueError: if it is not above 0, or for another mode or distribution; when a
            tensor with fewer than 2 dimensions is made.

    Examples:
        >>> from dist_ms.common.initializer import VarianceScaling, initializer
        >>> initializer(VarianceScaling(2.0, "fan_out", "uniform"), [2, 3]).init_data().shape
        (2, 3)
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if check_number(scale, "scale", "VarianceScaling") <= 0:
            raise ValueError(complaint("scale", "VarianceScaling", "above 0", scale))
        check_string(mode, "mode", "VarianceScaling", ("fan_in", "fan_out", "fan_avg"))
        distributions = "uniform", "truncated_normal", "untruncated_normal"
        check_string(distribution, "distribution", "VarianceScaling", distributions)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def _initialize(self, arr: np.ndarray) -> None:
        fan_in, fan_out = _calculate_fan_in_and_fan_out(self._fan_shape(arr))
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            uniform_fill(arr, math.sqrt(3.0 * variance))
        elif self.distribution == "untruncated_normal":
            normal_fill(arr, math.sqrt(variance))
        else:
            sigma = math.sqrt(variance) / _DEVIATION_WITHIN_TWO
            truncated_fill(arr, sigma, 0.0, -2 * sigma, 2 * sigma)

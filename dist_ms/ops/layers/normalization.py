"""Root-mean-square, L2 and local response normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions, check_float, check_non_negative_int, check_string, complaint
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.convolutions.conv import Convolution
from dist_ms.ops.primitive import Primitive

__all__ = ["L2Normalize", "LRN", "RmsNorm", "lrn", "rms_norm"]


class RmsNorm(Primitive):
    """`rms_norm` as a primitive: `RmsNorm(epsilon)(x, gamma)`."""

    def __init__(self, epsilon: float = 1e-6) -> None:
        self.epsilon = arguments.number(epsilon, "epsilon", "RmsNorm")

    def __call__(self, x: Tensor, gamma: Tensor) -> tuple:
        arguments.floating(arguments.tensor(x, "x", self.name).array(), "x", self.name, complex_too=False)
        first = x.ndim - arguments.tensor(gamma, "gamma", self.name).ndim
        if first < 0 or x.shape[first:] != gamma.shape:
            raise ValueError(
                f"For '{self.name}', 'gamma' must have the last lengths of 'x' {x.shape}, but got shape {gamma.shape}."
            )
        square = ops.ReduceMean(keep_dims=True)(x * x, tuple(range(first, x.ndim)))
        rstd = ops.rsqrt(square + self.epsilon)
        return x * rstd * gamma, rstd


def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple:
    """Return x / sqrt(mean(x^2) + epsilon) gamma and the factor 1 / sqrt(mean(x^2) + epsilon).

    Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.

    Args:
        x: (..., *shape) floats.
        gamma: `shape`.
        epsilon: added to the mean square.

    Returns:
        A tuple of Tensors; the second has length 1 where averaged over.

    Raises:
        TypeError: if `x` holds no floats.
        ValueError: if `gamma` has another shape than the last dimensions of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.rms_norm(ms.Tensor([[2.0, -2.0]]), ms.Tensor([1.0, 3.0]), 0.0)[0])
        [[ 1. -3.]]
    """
    return RmsNorm(epsilon)(x, gamma)


class L2Normalize(Primitive):
    """x / sqrt(max(sum(x^2), epsilon)) over an axis.

    Args:
        axis: an int, or a tuple or list of one.
        epsilon: least value of the sum.

    Call:
        input_x (Tensor): floats.

    Raises:
        TypeError: if `axis` is no int or a tuple or list of one, or `input_x` holds no floats.
        ValueError: if there is no such axis.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.L2Normalize(axis=1)(ms.Tensor([[3.0, 4.0]])))
        [[0.6 0.8]]
    """

    def __init__(self, axis: Any = 0, epsilon: float = 1e-4) -> None:
        axes = arguments.integers(axis, "axis", "L2Normalize")
        if len(axes) != 1:
            raise TypeError(complaint("axis", "L2Normalize", "one axis", axis))
        self.axis = axes
        self.epsilon = arguments.number(epsilon, "epsilon", "L2Normalize")

    def __call__(self, input_x: Tensor) -> Tensor:
        arguments.floating(
            arguments.tensor(input_x, "input_x", self.name).array(), "input_x", self.name, complex_too=False
        )
        axis = arguments.one_axis(self.axis[0], "axis", self.name, input_x.ndim)
        square = ops.ReduceSum(keep_dims=True)(input_x * input_x, axis)
        return input_x * ops.rsqrt(ops.maximum(square, self.epsilon))


@raises(norm_region=(TypeError, ValueError))
class LRN(Primitive):
    """`lrn` as a primitive: `LRN(depth_radius, bias, alpha, beta, norm_region)(x)`."""

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        self.depth_radius = check_non_negative_int(depth_radius, "depth_radius", "LRN")
        self.bias = check_float(bias, "bias", "LRN")
        self.alpha = check_float(alpha, "alpha", "LRN")
        self.beta = check_float(beta, "beta", "LRN")
        self.norm_region = check_string(norm_region, "norm_region", "LRN", ["ACROSS_CHANNELS"])

    def __call__(self, x: Tensor) -> Tensor:
        data = arguments.floating(arguments.tensor(x, "x", self.name).array(), "x", self.name, complex_too=False)
        check_dimensions(data, "x", self.name, 4)
        channels = np.arange(data.shape[1])
        near = np.abs(channels[:, None] - channels) <= self.depth_radius
        weight = wrap(near.astype(data.dtype)[:, :, None, None])
        total = Convolution((1, 1), ((0, 0), (0, 0)), (1, 1), 1, self.name)(x * x, weight)
        return x * ops.pow(self.bias + self.alpha * total, -self.beta)


def lrn(
    x: Tensor,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:
    """Normalise by the squares of near channels.

    x / (bias + alpha sum of x^2 over the channels at most depth_radius away)^beta; Krizhevsky,
    Sutskever and Hinton, "ImageNet Classification with Deep Convolutional Neural Networks", 2012.

    Args:
        x: (N, C, H, W) floats.
        depth_radius: half width of the window of channels.
        bias: offset.
        alpha: scale of the squares.
        beta: exponent.
        norm_region: "ACROSS_CHANNELS".

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if a number has the wrong type, or `x` holds no floats.
        ValueError: if `x` has not 4 dimensions, or `depth_radius` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lrn(ms.ops.ones((1, 1, 1, 1)), 0))
        [[[[0.70710677]]]]
    """
    return LRN(depth_radius, bias, alpha, beta, norm_region)(x)

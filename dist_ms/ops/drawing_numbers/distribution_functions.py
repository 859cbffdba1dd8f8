"""gamma, poisson, laplace and their kin: draws from other distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.dtype import Number, float32
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import data_type, not_of, tensor
from dist_ms.ops.creating.creation import shape_of
from dist_ms.ops.drawing_numbers.drawing import generator_of, parameter_array, shape_of_draws
from dist_ms.ops.drawing_numbers.random_sources import source_of

__all__ = ["gamma", "laplace", "poisson", "random_poisson", "standard_laplace"]


def gamma(shape: Any, alpha: Any, beta: Any, seed: int | None = None) -> Tensor:
    """Draw numbers from gamma distributions.

    Args:
        shape: the shape of the draws, before those of `alpha` and `beta`.
        alpha: the shape parameter, a Tensor.
        beta: the rate (one over the scale), a Tensor.
        seed: start of this call alone.

    Returns:
        Tensor of shape shape + broadcast(alpha, beta).

    Raises:
        TypeError: if `alpha` or `beta` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.gamma((4,), ms.Tensor([1.0, 2.0]), ms.Tensor([1.0])).shape
        (4, 2)
    """
    a, b = tensor(alpha, "alpha", "gamma").array(), tensor(beta, "beta", "gamma").array()
    full = shape_of_draws(shape, "gamma", 1) + np.broadcast_shapes(a.shape, b.shape)
    return wrap((generator_of("gamma", seed).gamma(np.broadcast_to(a, full)) / b).astype(np.float32))


def poisson(shape: Any, mean: Tensor, seed: int | None = None) -> Tensor:
    """Draw counts from Poisson distributions.

    Args:
        shape: the shape of the draws; the result's is broadcast with that of `mean`.
        mean: the expected counts, a Tensor.
        seed: start of this call alone.

    Returns:
        Tensor of int32.

    Raises:
        TypeError: if `mean` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.poisson((4, 2), ms.Tensor([1.0, 2.0])).shape
        (4, 2)
    """
    m = tensor(mean, "mean", "poisson").array()
    full = np.broadcast_shapes(shape_of(shape, "shape", "poisson"), m.shape)
    return wrap(generator_of("poisson", seed).poisson(m, full).astype(np.int32))


@plain("seed")
def random_poisson(shape: Any, rate: Tensor, seed: int | None = None, dtype: Number = float32) -> Tensor:
    """Draw counts from Poisson distributions.

    Args:
        shape: the shape of the draws, before that of `rate`.
        rate: the expected counts, a Tensor.
        seed: start of this call alone.
        dtype: element type.

    Returns:
        Tensor of shape shape + rate.shape.

    Raises:
        TypeError: if `rate` is no Tensor.
        ValueError: if there is nothing to draw: a length is 0.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.random_poisson((4,), ms.Tensor([1.0, 2.0])).shape
        (4, 2)
    """
    not_of(rate, "?BHILFD", "rate", "random_poisson")
    not_of(shape, "BHIL", "shape", "random_poisson")
    r = tensor(rate, "rate", "random_poisson").array()
    size = shape_of_draws(shape, "random_poisson")
    if not r.size:
        raise ValueError(f"For 'random_poisson', 'rate' must not be empty, but got the shape {r.shape}.")
    d = data_type(dtype, "dtype", "random_poisson").np
    return wrap(source_of("random_poisson", seed).poisson(r, size).astype(d))


@plain("shape")
@plain("seed")
def laplace(shape: Any, mean: Any, lambda_param: Any, seed: int | None = None) -> Tensor:
    """Draw numbers from Laplace distributions.

    Args:
        shape: the shape; the result's is broadcast with those of the parameters.
        mean: a Tensor or a number.
        lambda_param: the scale, a Tensor or a number.
        seed: start of this call alone.

    Returns:
        Tensor of float32.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.laplace((2, 3), ms.Tensor(0.0), ms.Tensor(1.0)).shape
        (2, 3)
    """
    not_of(lambda_param, "?ibhlBHILFD", "lambda_param", "laplace")
    not_of(mean, "?ibhlBHILFD", "mean", "laplace")
    m, s = parameter_array(mean, "mean", "laplace"), parameter_array(lambda_param, "lambda_param", "laplace")
    drawn = source_of("laplace", seed).laplace(shape_of_draws(shape, "laplace", 1))
    return wrap(np.asarray(drawn * s + m, np.float32))


@plain("seed")
def standard_laplace(shape: Any, seed: int | None = None) -> Tensor:
    """Draw numbers from the Laplace distribution with mean 0 and scale 1.

    Args:
        shape: the shape.
        seed: start of this call alone.

    Returns:
        Tensor of float32.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.standard_laplace((2, 3)).shape
        (2, 3)
    """
    return wrap(source_of("standard_laplace", seed).laplace(shape_of_draws(shape, "standard_laplace")))

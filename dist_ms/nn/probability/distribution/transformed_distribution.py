"""Distributions of what a bijector makes of another one's values."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.bijector import Bijector
from dist_ms.nn.probability.distribution.distribution import Distribution

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of bijector(x), where x has a given one.

    Args:
        bijector: a Bijector, which grows with x.
        distribution: the Distribution of x; further arguments of calls are its parameters.
        seed: noted, as draws are made by the seed of `distribution`; None for 0.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `seed` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.probability import bijector, distribution
        >>> doubled = distribution.TransformedDistribution(bijector.ScalarAffine(2.0), distribution.Uniform(0.0, 1.0))
        >>> print(doubled.prob(ms.Tensor([1.5, 3.0])), doubled.mean())
        [0.5 0. ] 1.0
    """

    def __init__(
        self, bijector: Bijector, distribution: Distribution, seed: int | None = None,
        name: str = "transformed_distribution",
    ) -> None:  # fmt: skip
        check_type(bijector, "bijector", type(self).__name__, Bijector)
        check_type(distribution, "distribution", type(self).__name__, Distribution)
        param = {"bijector": bijector, "distribution": distribution, "seed": seed, "name": name}
        super().__init__(seed, distribution.dtype, name, param)
        self._bijector = bijector
        self._distribution = distribution
        self._is_scalar_batch = distribution.is_scalar_batch and bijector.is_scalar_batch
        self._batch_shape, other = distribution.batch_shape, bijector.batch_shape
        if self._batch_shape is None or other is None:
            self._broadcast_shape = None
        else:
            self._broadcast_shape = np.broadcast_shapes(self._batch_shape, other)

    @property
    def bijector(self) -> Bijector:
        """What is made of x."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution of x."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the bijector has one slope everywhere."""
        return self.bijector.is_constant_jacobian

    def _source(self, value: Any) -> Tensor:
        return self.bijector.inverse(self._check_value(value, "value").astype(self.dtype))

    def _cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.distribution.cdf(self._source(value), *args, **kwargs)

    def _log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.distribution.log_cdf(self._source(value), *args, **kwargs)

    def _survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.distribution.survival_function(self._source(value), *args, **kwargs)

    def _log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.distribution.log_survival(self._source(value), *args, **kwargs)

    def _log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        found = self.distribution.log_prob(self._source(value), *args, **kwargs)
        return found + self.bijector.inverse_log_jacobian(value.astype(self.dtype))

    def _prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        found = self.distribution.prob(self._source(value), *args, **kwargs)
        return found * ops.exp(self.bijector.inverse_log_jacobian(value.astype(self.dtype)))

    def _mean(self, *args: Any, **kwargs: Any) -> Tensor:
        if not self.is_linear_transformation:
            raise ValueError(f"For '{self.name}', 'mean' must be defined by a subclass, as the bijector is not linear.")
        return self.bijector.forward(self.distribution.mean(*args, **kwargs))

    def _sample(self, *args: Any, **kwargs: Any) -> Tensor:
        return self.bijector.forward(self.distribution.sample(*args, **kwargs))

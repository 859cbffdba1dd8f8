"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, draws, of_parameters, of_two, of_value

__all__ = ["Normal"]


class Normal(Family):
    r"""The normal distribution, with the density exp(-((x - mean) / sd)^2 / 2) / (sd sqrt(2 pi)).

    Args:
        mean: its mean, numbers or a Tensor; None: given with each call.
        sd: its standard deviation, above 0, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `sd` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> normal = ms.nn.probability.distribution.Normal(0.0, 1.0)
        >>> print(normal.log_prob(ms.Tensor([0.0, 1.0])))
        [-0.9189385 -1.4189385]
        >>> print(normal.kl_loss("Normal", ms.Tensor(1.0), ms.Tensor(1.0)))
        0.5
    """

    _shown: ClassVar[Mapping[str, str]] = {"sd": "standard deviation"}
    positive = ("sd",)

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Normal"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    @of_parameters
    def _mean(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    @of_parameters
    def _mode(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean

    @of_parameters
    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return sd

    @of_parameters
    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(sd) + 0.5 * math.log(2 * math.pi * math.e)

    @of_value
    def _log_prob(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return -0.5 * ops.square((value - mean) / sd) - ops.log(sd) - 0.5 * math.log(2 * math.pi)

    @of_value
    def _cdf(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return 0.5 * ops.erfc((mean - value) / (sd * math.sqrt(2)))

    @of_two
    def _kl_loss(self, mean_b: Tensor, sd_b: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        scale = ops.log(sd) - ops.log(sd_b)
        return 0.5 * ops.square((mean - mean_b) / sd_b) + 0.5 * ops.expm1(2 * scale) - scale

    @draws
    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        return ops.normal(shape, mean, sd, self.seed)

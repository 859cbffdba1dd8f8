"""The Laplace distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, of_value

__all__ = ["Laplace"]


class Laplace(Family):
    """The Laplace distribution, with the density exp(-|x - mean| / sd) / (2 sd).

    Args:
        mean: its middle, numbers or a Tensor; None: given with each call.
        sd: its width, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `sd` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> laplace = ms.nn.probability.distribution.Laplace(0.0, 0.5)
        >>> print(laplace.prob(ms.Tensor(0.0)))
        1.0
    """

    _shown: ClassVar[Mapping[str, str]] = {"sd": "standard deviation"}
    positive = ("sd",)

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Laplace"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    @of_value
    def _log_prob(self, value: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return -ops.abs(value - mean) / sd - ops.log(2.0 * sd)

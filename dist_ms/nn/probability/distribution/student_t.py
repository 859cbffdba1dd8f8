"""Student's distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import Family, of_value

__all__ = ["StudentT"]


class StudentT(Family):
    """Student's t distribution, moved and stretched.

    Args:
        df: its degrees of freedom, numbers or a Tensor; None: given with each call.
        mean: its middle, likewise.
        sd: its width, likewise.
        seed: from which it draws; None for 0.
        dtype: the type of its values, a float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if `df` is not above 0.
        ValueError: if `sd` is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> student = ms.nn.probability.distribution.StudentT(1.0, 0.0, 1.0)
        >>> print(student.log_prob(ms.Tensor(0.0)))
        -1.1447299
    """

    _shown: ClassVar[Mapping[str, str]] = {"sd": "standard deviation"}
    positive = ("df", "sd")

    def __init__(
        self,
        df: Any = None,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "StudentT",
    ) -> None:
        super().__init__(seed, dtype, name, {"df": df, "mean": mean, "sd": sd})

    @of_value
    def _log_prob(self, value: Tensor, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        half = 0.5 * (df + 1.0)
        scale = ops.lgamma(half) - ops.lgamma(0.5 * df) - 0.5 * ops.log(math.pi * df) - ops.log(sd)
        return scale - half * ops.log1p(ops.square((value - mean) / sd) / df)

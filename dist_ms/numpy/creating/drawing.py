"""Random tensors."""

from __future__ import annotations

from typing import Any

from dist_ms.common.dtype import float32, int32
from dist_ms.common.random.seed import get_seed
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import cast, integer_of, shape_of, type_of
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, SeededSource, source_of

__all__ = ["rand", "randint", "randn"]


def _sizes(name: str, shape: tuple) -> tuple[int, ...]:
    """A shape given as several ints or as one sequence; none means one element."""
    if not shape:
        return (1,)
    return shape_of(name, shape[0] if len(shape) == 1 else shape)


def _source(name: str) -> FreeSource | SeededSource:
    """The source of a call: after `set_seed` the global seed is also the call's own."""
    return source_of(name, get_seed())


def rand(*shape: Any, dtype: Any = float32) -> Tensor:
    """Return uniform random numbers in [0, 1).

    Args:
        shape: ints, or one tuple of them.
        dtype: a float type.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.rand(2, 3).shape)
        (2, 3)
    """
    return cast(wrap(_source("UniformReal").uniform(_sizes("rand", shape))), type_of(dtype))


def randn(*shape: Any, dtype: Any = float32) -> Tensor:
    """Return random numbers of the standard normal distribution; see `rand`."""
    return cast(wrap(_source("StandardNormal").normal(_sizes("randn", shape))), type_of(dtype))


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = int32) -> Tensor:
    """Return uniform random integers in [minval, maxval), in [0, minval) if `maxval` is None.

    Raises:
        ValueError: if the range is empty.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.randint(1, 2, (3,)))
        [1 1 1]
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    if integer_of(low, "minval", "randint") >= integer_of(high, "maxval", "randint"):
        raise ValueError(f"For 'randint', 'minval' must be below 'maxval', but got {low} and {high}.")
    size = (1,) if shape is None else shape_of("randint", shape)
    return cast(wrap(_source("UniformInt").integers(low, high, size).astype(int32.np)), type_of(dtype))

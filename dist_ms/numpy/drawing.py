"""Random tensors."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import float32, from_numpy, int32
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import cast, integer_of, shape_of, type_of

__all__ = ["rand", "randint", "randn"]


def _sizes(name: str, shape: tuple) -> tuple[int, ...]:
    """A shape given as several ints or as one sequence; none means one element."""
    if not shape:
        return (1,)
    return shape_of(name, shape[0] if len(shape) == 1 else shape)


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
    return ops.rand(*_sizes("rand", shape), dtype=from_numpy(type_of(dtype)))


def randn(*shape: Any, dtype: Any = float32) -> Tensor:
    """Return random numbers of the standard normal distribution; see `rand`."""
    return ops.randn(*_sizes("randn", shape), dtype=from_numpy(type_of(dtype)))


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
    if integer_of("randint", low, "minval") >= integer_of("randint", high, "maxval"):
        raise ValueError(f"For 'randint', 'minval' must be below 'maxval', but got {low} and {high}.")
    size = (1,) if shape is None else shape_of("randint", shape)
    return cast(ops.randint(low, high, size), type_of(dtype))

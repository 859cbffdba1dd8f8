"""RandomChoiceWithMask and NonDeterministicInts: places of True elements, and integers, at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int
from dist_ms.common.dtype import Number, int32, int64, uint32, uint64
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import tensor
from dist_ms.ops.creating.creation import shape_of
from dist_ms.ops.drawing_numbers.random_primitives import SeededPrimitive
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, SeededSource, source_of
from dist_ms.ops.primitive import Primitive

__all__ = ["NonDeterministicInts", "RandomChoiceWithMask", "choice_with_mask"]


def _chosen(name: str, x: Any, count: int, source: FreeSource | SeededSource) -> tuple:
    """The places of `count` True elements, and which of them exist."""
    mask = tensor(name, x, "input_x").array()
    if mask.dtype != np.bool_:
        raise TypeError(f"For '{name}', 'input_x' must be Bool, but got {tensor(name, x).dtype}.")
    if not 1 <= mask.ndim <= 5:
        raise ValueError(f"For '{name}', 'input_x' must have 1 to 5 dimensions, but got {mask.ndim}.")
    places = np.argwhere(mask)
    places = places[source.permutation(len(places))[:count]]
    out = np.zeros((count, mask.ndim), np.int32)
    out[: len(places)] = places
    return wrap(out), wrap(np.arange(count) < len(places))


class RandomChoiceWithMask(SeededPrimitive):
    """Places of True elements, none twice: `choice_with_mask` as a primitive.

    Args:
        count: how many, above 0.
        seed, seed2: start of its sequences; draws are free if both are 0.

    Examples:
        >>> import dist_ms as ms
        >>> places, exist = ms.ops.RandomChoiceWithMask(2)(ms.Tensor([False, True]))
        >>> print(places[:1], exist)
        [[1]] [ True False]
    """

    def __init__(self, count: int = 256, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(seed, seed2)
        self.count = check_positive_int(count, "count", self.name)

    def __call__(self, input_x: Tensor) -> tuple:
        return _chosen(self.name, input_x, self.count, self.source(tensor(self.name, input_x, "input_x").shape))


def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple:
    """Draw places of True elements, none twice.

    Args:
        input_x: a Tensor of bools with 1 to 5 dimensions.
        count: how many, above 0.
        seed: start of this call alone.

    Returns:
        tuple: the int32 coordinates (count, dimensions), zeros at the end if there are too few, and bools
        (count,): whether they exist.

    Raises:
        TypeError: if `input_x` holds no bools, or `count` is no int.
        ValueError: if `count` is not positive, or the number of dimensions is another.

    Examples:
        >>> import dist_ms as ms
        >>> places, exist = ms.ops.choice_with_mask(ms.Tensor([False, True]), 2)
        >>> print(places[:1], exist)
        [[1]] [ True False]
    """
    name = "choice_with_mask"
    return _chosen(name, input_x, check_positive_int(count, "count", name), source_of(name, seed))


class NonDeterministicInts(Primitive):
    """Integers that no MindSpore seed fixes, over the whole range of their dtype.

    Args:
        dtype: int32, int64, uint32 or uint64.

    Call:
        shape (Tensor): integers, the shape.

    Raises:
        TypeError: if `dtype` is another.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.NonDeterministicInts()(ms.Tensor([2, 3])).shape
        (2, 3)
    """

    def __init__(self, dtype: Number = int64) -> None:
        if dtype not in (int32, int64, uint32, uint64):
            raise TypeError(f"For '{self.name}', 'dtype' must be int32, int64, uint32 or uint64, but got {dtype!r}.")
        self.dtype = dtype

    def __call__(self, shape: Any) -> Tensor:
        bounds = np.iinfo(self.dtype.np)
        rng = np.random.default_rng()
        size = shape_of(self.name, shape, "shape")
        return wrap(rng.integers(bounds.min, bounds.max, size, self.dtype.np, endpoint=True))

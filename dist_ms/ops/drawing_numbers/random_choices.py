"""RandomChoiceWithMask and NonDeterministicInts: places of True elements, and integers, at random."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_dimensions, check_positive_int, complaint
from dist_ms.common.dtype import Number, int32, int64, uint32, uint64
from dist_ms.common.error_classes import bools
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, integer, tensor
from dist_ms.ops.creating.creation import shape_of
from dist_ms.ops.drawing_numbers.drawing import generator_of
from dist_ms.ops.drawing_numbers.random_engines import PhiloxSequence
from dist_ms.ops.drawing_numbers.random_primitives import SeededPrimitive
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, SeededSource, source_of
from dist_ms.ops.primitive import Primitive, Undifferentiable

__all__ = [
    "MultinomialWithReplacement",
    "NonDeterministicInts",
    "RandomChoiceWithMask",
    "choice_with_mask",
    "multinomial_with_replacement",
]


def _chosen(name: str, x: Any, count: int, source: FreeSource | SeededSource) -> tuple:
    """The places of `count` True elements, and which of them exist."""
    mask = tensor(x, "input_x", name).array()
    if mask.dtype != np.bool_:
        raise TypeError(f"For '{name}', 'input_x' must be Bool, but got {tensor(x, 'input_x', name).dtype}.")
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
        return _chosen(self.name, input_x, self.count, self.source(tensor(input_x, "input_x", self.name).shape))


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
        size = shape_of(shape, "shape", self.name)
        return wrap(rng.integers(bounds.min, bounds.max, size, self.dtype.np, endpoint=True))


@bools("seed", "offset")
class MultinomialWithReplacement(Undifferentiable):
    """`multinomial_with_replacement` as a primitive: `MultinomialWithReplacement(numsamples, replacement)(x, seed,
    offset)`.

    Call:
        seed (Tensor): one integer, and
    """

    def __init__(self, numsamples: int, replacement: bool = False) -> None:
        self.numsamples = check_positive_int(numsamples, "numsamples", self.name)
        self.replacement = check_bool(replacement, "replacement", self.name)
        self._marks: dict[tuple[int, int], Iterator[float]] = {}

    def _sequence(self, seed: int, offset: int) -> Iterator[float]:
        if not seed and not offset:
            rng = generator_of(self.name, None)
            return iter(rng.random, None)
        if (seed, offset) not in self._marks:
            words = PhiloxSequence(seed, offset).words()
            self._marks[seed, offset] = ((word & 0x7FFFFF) / 2**23 for word in words)
        return self._marks[seed, offset]

    def __call__(self, x: Tensor, seed: Tensor, offset: Tensor) -> Tensor:
        data = floating(tensor(x, "x", self.name).array(), "x", self.name, complex_too=False)
        check_dimensions(data, "x", self.name, 1, 2)
        starts = [
            integer(v.item() if isinstance(v, Tensor) else v, n, self.name)
            for v, n in ((seed, "seed"), (offset, "offset"))
        ]
        rows = np.atleast_2d(data).astype(np.float64)
        enough = 1 if self.replacement else self.numsamples
        if not (rows >= 0).all() or not np.isfinite(rows).all() or ((rows > 0).sum(axis=1) < enough).any():
            wanted = f"of weights that are not negative, {enough} of each row positive"
            raise ValueError(complaint("x", self.name, wanted, data.tolist()))
        marks = self._sequence(*starts)
        out = np.empty((len(rows), self.numsamples), np.int64)
        for row, places in zip(rows, out):
            for i in range(self.numsamples):
                steps = row.cumsum()
                places[i] = np.searchsorted(steps, next(marks) * steps[-1], side="right")
                if not self.replacement:
                    row[places[i]] = 0
        return wrap(out.reshape(*data.shape[:-1], self.numsamples))


def multinomial_with_replacement(
    x: Tensor, seed: int, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """Draw places in rows of weights, each as likely as its weight says.

    Args:
        x: weights, floats, one row or a matrix of rows.
        seed, offset: which sequence of random numbers; both 0 to draw anew.
        numsamples: how many draws per row.
        replacement: whether a place may be drawn twice.

    Returns:
        int64 Tensor (numsamples,) or (rows, numsamples).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a weight is negative or no number, a row has too few positive ones, or `numsamples` is not
            positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.multinomial_with_replacement(ms.Tensor([[0.0, 1.0, 3.0]]), 1, 0, 2))
        [[2 1]]
    """
    return MultinomialWithReplacement(numsamples, replacement)(x, seed, offset)

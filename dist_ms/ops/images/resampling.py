"""Resample: a sparse matrix applied along each spatial dimension, and the matrices of interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.kernels import resampling
from dist_ms.ops.layout import contiguous, converted, is_channels_last, working_type
from dist_ms.ops.primitive import Primitive


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix by its rows, without its zeros: what they would multiply is not read, so infinities stay where they are.

    Attributes:
        matrix: the matrix (count, length).
    """

    matrix: np.ndarray

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.matrix.shape[0]

    @property
    def length(self) -> int:
        """The number of columns."""
        return self.matrix.shape[1]

    @cached_property
    def _places(self) -> tuple[np.ndarray, ...]:
        return np.nonzero(self.matrix)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each row begins in `columns` and `weights`, and the end."""
        return np.searchsorted(self._places[0], np.arange(self.count + 1)).astype(np.int64)

    @cached_property
    def columns(self) -> np.ndarray:
        """The columns of what is not zero."""
        return np.ascontiguousarray(self._places[1], np.int64)

    @cached_property
    def weights(self) -> np.ndarray:
        """What is not zero, float64."""
        return self.matrix[self._places].astype(np.float64)

    @cached_property
    def transposed(self) -> SparseRows:
        """The transposed matrix."""
        return SparseRows(self.matrix.T)


@lru_cache(256)
def sparse(build: Callable[..., np.ndarray], *arguments: Any) -> SparseRows:
    """The matrix that a function makes of hashable arguments, remembered."""
    return SparseRows(build(*arguments))


def resampled(x: np.ndarray, matrices: Sequence[SparseRows], first: int) -> np.ndarray:
    """The product of matrices and the dimensions of an array.

    Args:
        x: contiguous, float32 or float64.
        matrices: one for each dimension from `first` on.
        first: a dimension's number.
    """
    # Dimensions that shrink most come first, those that grow last, and that whose elements are neighbours when there is
    # least of it: its sums cost more.
    growth = [m.count / max(m.length, 1) for m in matrices]
    for i in sorted(range(len(matrices)), key=lambda i: (growth[i], i if growth[i] < 1 else -i)):
        matrix = matrices[i]
        lead, tail = x.shape[: first + i], x.shape[first + i + 1 :]
        out = np.empty((math.prod(lead), matrix.count, math.prod(tail)), x.dtype)
        lines = x.reshape(len(out), matrix.length, out.shape[-1])
        weights = matrix.weights.astype(x.dtype, copy=False)
        resampling.weighted_sums(lines, matrix.starts, matrix.columns, weights, out)
        x = out.reshape(*lead, matrix.count, *tail)
    return x


class Resample(Primitive):
    """A linear map of (N, C, *spatial): each spatial dimension is multiplied by a matrix.

    Args:
        owner: the name used in errors.
        matrices: an array (new length, length), or its sparse form, per spatial dimension.
    """

    keeps = ()

    def __init__(self, owner: str, matrices: Sequence[np.ndarray | SparseRows]) -> None:
        self.name = owner
        self._matrices = [m if isinstance(m, SparseRows) else SparseRows(m) for m in matrices]

    def forward(self, x: np.ndarray) -> np.ndarray:
        pixels = is_channels_last(x) and not x.flags.c_contiguous
        given = contiguous(np.moveaxis(x, 1, -1) if pixels else x, working_type(x.dtype))
        out = converted(resampled(given, self._matrices, 1 if pixels else 2), x.dtype)
        return np.moveaxis(out, -1, 1) if pixels else out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Resample(self.name, [m.transposed for m in self._matrices])(dout)


def window_means(length: int, count: int) -> np.ndarray:
    """The matrix of means over `count` windows, i from floor(i n / m) to ceil((i + 1) n / m)."""
    place = np.arange(count)
    start, end = place * length // max(count, 1), -((place + 1) * -length // max(count, 1))
    inside = (np.arange(length) >= start[:, None]) & (np.arange(length) < end[:, None])
    return inside / np.maximum(end - start, 1)[:, None]


def nearest(length: int, count: int, ratio: float, exact: bool) -> np.ndarray:
    """The matrix that takes the element at floor(i ratio), or floor((i + 0.5) ratio)."""
    source = np.floor((np.arange(count) + (0.5 if exact else 0.0)) * ratio)
    return _rows(length, [(np.clip(source, 0, length - 1), np.ones(count))])


def linear(length: int, count: int, ratio: float, align_corners: bool) -> np.ndarray:
    """The matrix of linear interpolation; positions before the first element take it."""
    return linear_at(length, _places(length, count, ratio, align_corners))


def linear_at(length: int, place: np.ndarray) -> np.ndarray:
    """The matrix of linear interpolation at given positions; outside them the edges go on."""
    place = np.clip(place, 0, max(length - 1, 0))
    low = np.floor(place)
    weight = place - low
    return _rows(length, [(np.minimum(low, length - 1), 1 - weight), (np.minimum(low + 1, length - 1), weight)])


def cubic(length: int, count: int, ratio: float, align_corners: bool) -> np.ndarray:
    """The matrix of cubic interpolation, as MindSpore has it.

    Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981. With aligned
    corners a is -0.75 and the edge is repeated; else a is -0.5 and what lies outside is left out.
    """
    place = _places(length, count, ratio, align_corners)
    return cubic_at(length, place, -0.75 if align_corners else -0.5, repeated=align_corners)


def cubic_at(length: int, place: np.ndarray, a: float, repeated: bool, steps: int | None = None) -> np.ndarray:
    """The matrix of cubic interpolation at given positions; the edge is repeated, or what lies outside left out.

    With `steps` the weights are those of the nearest of so many positions between two elements.
    """
    low = np.floor(place)
    if steps:
        place = low + np.floor((place - low) * steps + 0.5) / steps
    terms = []
    for offset in (-1, 0, 1, 2):
        d, column = np.abs(place - low - offset), low + offset
        weight = np.where(d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, a * (d**3 - 5 * d**2 + 8 * d - 4))
        if not repeated:
            weight = np.where((column >= 0) & (column < length), weight, 0)
        terms.append((np.clip(column, 0, length - 1), weight))
    matrix = _rows(length, terms)
    return matrix / matrix.sum(axis=1, keepdims=True)


def _places(length: int, count: int, ratio: float, align_corners: bool) -> np.ndarray:
    """Where each output element lies between the input's."""
    if align_corners:
        return np.arange(count) * ((length - 1) / (count - 1) if count > 1 else 0.0)
    return (np.arange(count) + 0.5) * ratio - 0.5


def overlaps(length: int, count: int, step: float) -> np.ndarray:
    """The matrix of means over the parts [i step, (i + 1) step) of a line of unit elements."""
    start = np.arange(count)[:, None] * step
    element = np.arange(length)
    share = np.clip(np.minimum(start + step, element + 1) - np.maximum(start, element), 0, None)
    return share / share.sum(axis=1, keepdims=True)


def _rows(length: int, terms: list) -> np.ndarray:
    """A matrix from (column of each row, weight of each row) pairs, added up."""
    matrix = np.zeros((len(terms[0][0]), length))
    for column, weight in terms:
        np.add.at(matrix, (np.arange(len(column)), column.astype(np.int64)), weight)
    return matrix

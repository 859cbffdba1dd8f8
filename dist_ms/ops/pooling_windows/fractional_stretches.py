"""Fractional pooling over stretches of varying length, in the NHWC format.

Graham, "Fractional Max-Pooling", 2014: a dimension of n elements is divided into m = floor(n / ratio)
stretches of floor(n / m) or one more, whose order is random, or pseudo-random: stretch i then starts
at ceil(n / m (i + u)) - 1 with one random u.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.drawing_numbers.drawing import generator_of
from dist_ms.ops.images.resampling import SparseRows, resampled
from dist_ms.ops.layout import working_type
from dist_ms.ops.pooling_windows.pooling import Pick
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.transposing import transpose

__all__ = ["FractionalAvgPool", "FractionalMaxPool"]

_TYPES = (np.float32, np.float64, np.int32, np.int64)


def random_starts(rng: np.random.Generator, length: int, count: int) -> np.ndarray:
    """The starts (count + 1) of stretches in random order; the last entry is the length."""
    short = length // count
    sizes = np.full(count, short, np.int64)
    sizes[: length - count * short] += 1
    return np.concatenate([[0], rng.permutation(sizes).cumsum()])


def pseudo_random_starts(u: float, length: int, count: int) -> np.ndarray:
    """The starts (count + 1) that one number from [0, 1) fixes."""
    alpha = length / count
    short = length // count
    if short * count == length:
        return np.arange(count + 1) * short
    highest = min((short + 2) / alpha - 1, (length + 1 - short) / alpha - (count - 1))
    starts = np.ceil(alpha * (np.arange(1, count) + u * highest)).astype(np.int64) - 1
    return np.concatenate([[0], starts, [length]])


class StretchMeans(Primitive):
    """The means of x (N, H, W, C) over stretches: a matrix for each of the two dimensions."""

    keeps = ()

    def __init__(self, owner: str, rows: np.ndarray, columns: np.ndarray, transposed: bool = False) -> None:
        self.name, self._rows, self._columns, self._transposed = owner, rows, columns, transposed

    def forward(self, x: np.ndarray) -> np.ndarray:
        sums = working_type(x.dtype) if x.dtype.kind == "f" else np.dtype(np.float64)
        rows, columns = (SparseRows(m.T if self._transposed else m) for m in (self._rows, self._columns))
        out = resampled(np.ascontiguousarray(x, sums), (rows, columns), 1)
        # Means of integers are cut off, as a division in C; sums in float64 may lie an ulp below them.
        return out.astype(x.dtype, copy=False) if x.dtype.kind == "f" else np.trunc(np.round(out, 9)).astype(x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return StretchMeans(self.name, self._rows, self._columns, not self._transposed)(dout)


class _FractionalPool(Primitive):
    """What both share: where the stretches lie."""

    def __init__(
        self,
        pooling_ratio: list[float],
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
    ) -> None:
        if not isinstance(pooling_ratio, list):
            raise TypeError(complaint("pooling_ratio", self.name, "a list", type(pooling_ratio).__name__))
        for ratio in pooling_ratio:
            if not isinstance(ratio, float):
                raise TypeError(complaint("pooling_ratio", self.name, "a list of floats", pooling_ratio))
        if len(pooling_ratio) != 4 or pooling_ratio[0] != 1 or pooling_ratio[3] != 1:
            raise ValueError(complaint("pooling_ratio", self.name, "[1.0, height, width, 1.0]", pooling_ratio))
        if min(pooling_ratio) < 1:
            raise ValueError(complaint("pooling_ratio", self.name, "at least 1.0", pooling_ratio))
        self.pooling_ratio = pooling_ratio
        self.pseudo_random = check_bool(pseudo_random, "pseudo_random", self.name)
        self.overlapping = check_bool(overlapping, "overlapping", self.name)
        self.deterministic = check_bool(deterministic, "deterministic", self.name)
        self.seed, self.seed2 = (
            arguments.integer(seed, "seed", self.name),
            arguments.integer(seed2, "seed2", self.name),
        )
        self._starts: dict[tuple[int, int], list[np.ndarray]] = {}

    def starts(self, height: int, width: int) -> list[np.ndarray]:
        """The starts along both dimensions; with `deterministic` the same in every call."""
        if (height, width) in self._starts:
            return self._starts[height, width]
        seeded = self.seed or self.seed2
        rng = np.random.default_rng((self.seed, self.seed2)) if seeded else generator_of(self.name, None)
        found = []
        for length, ratio in zip((height, width), self.pooling_ratio[1:3]):
            count = math.floor(length / ratio)
            if count < 1:
                raise ValueError(
                    f"For '{self.name}', 'pooling_ratio' must not be above the input's size {(height, width)}, but got "
                    f"{self.pooling_ratio}."
                )
            if self.pseudo_random:
                found.append(pseudo_random_starts(rng.random(), length, count))
            else:
                found.append(random_starts(rng, length, count))
        if self.deterministic or seeded:
            self._starts[height, width] = found
        return found

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        data = arguments.tensor(x, "x", self.name).array()
        if data.dtype not in _TYPES:
            raise TypeError(complaint("x", self.name, "of float32, float64, int32 or int64", x.dtype))
        if data.ndim != 4:
            raise ValueError(complaint("x", self.name, "of 4 dimensions, NHWC", f"shape {data.shape}"))
        rows, columns = self.starts(*data.shape[1:3])
        pooled = self.pool(x, [self.windows(rows), self.windows(columns)])
        return pooled, wrap(rows), wrap(columns)

    def windows(self, starts: np.ndarray) -> list[tuple[int, int]]:
        """(start, end) of each stretch; overlapping ones take the first element of the next."""
        ends = np.minimum(starts[1:] + self.overlapping, starts[-1])
        return list(zip(starts[:-1].tolist(), ends.tolist()))

    def pool(self, x: Tensor, windows: list) -> Tensor:
        """Pool x over the products of two lists of stretches."""
        raise NotImplementedError


_ARGUMENTS = """
    Args:
        pooling_ratio: [1.0, height, width, 1.0], how many input elements there are for one of the output;
            at least 1.0.
        pseudo_random: whether one random number fixes a dimension's stretches; by default their lengths
            come in random order.
        overlapping: whether the first element of a stretch also counts for the one before.
        deterministic: whether an object has the same stretches in every call.
        seed, seed2: where the random numbers start; both 0 for the global seed.

    Call:
        x (Tensor): (N, H, W, C) of float32, float64, int32 or int64.

    Returns:
        A tuple (Tensor (N, H', W', C), int64 starts of the rows, int64 starts of the columns); the last start
        of each is the end.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a ratio is below 1, or `x` has another number of dimensions.
"""


class FractionalAvgPool(_FractionalPool):
    __doc__ = f"""The means of stretches of varying length along height and width.
{_ARGUMENTS}
    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(16.0).reshape(1, 4, 4, 1)
        >>> out, rows, columns = ms.ops.FractionalAvgPool([1.0, 2.0, 2.0, 1.0])(x)
        >>> print(out.reshape(2, 2), rows)
        [[ 2.5  4.5]
         [10.5 12.5]] [0 2 4]
    """

    def pool(self, x: Tensor, windows: list) -> Tensor:
        """The means."""
        matrices = []
        for length, stretches in zip(x.shape[1:3], windows):
            matrix = np.zeros((len(stretches), length))
            for row, (start, end) in zip(matrix, stretches):
                row[start:end] = 1 / (end - start)
            matrices.append(matrix)
        return StretchMeans(self.name, *matrices)(x)


class FractionalMaxPool(_FractionalPool):
    __doc__ = f"""The maxima of stretches of varying length along height and width.
{_ARGUMENTS}
    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(16.0).reshape(1, 4, 4, 1)
        >>> out, rows, columns = ms.ops.FractionalMaxPool([1.0, 2.0, 2.0, 1.0])(x)
        >>> print(out.reshape(2, 2), rows)
        [[ 5.  7.]
         [13. 15.]] [0 2 4]
    """

    def pool(self, x: Tensor, windows: list) -> Tensor:
        """The maxima; the first of equal ones gets the gradient."""
        data = x.array().transpose(0, 3, 1, 2)
        width = data.shape[3]
        index = np.empty((*data.shape[:2], len(windows[0]), len(windows[1])), np.int64)
        for i, (top, bottom) in enumerate(windows[0]):
            for j, (left, right) in enumerate(windows[1]):
                best = data[:, :, top:bottom, left:right].reshape(*data.shape[:2], -1).argmax(-1)
                row, column = np.divmod(best, right - left)
                index[:, :, i, j] = (row + top) * width + column + left
        return transpose(Pick()(transpose(x, (0, 3, 1, 2)), index), (0, 2, 3, 1))

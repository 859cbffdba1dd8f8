"""bernoulli, multinomial and their kin: draws that depend on given numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_dimensions
from dist_ms.common.dtype import Number, int32, int64
from dist_ms.common.error_classes import plain, scalars, truths
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, integer, not_of, tensor
from dist_ms.ops.drawing_numbers import drawing
from dist_ms.ops.drawing_numbers.random_engines import philox_words
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, SeededSource, source_of
from dist_ms.ops.kernels import weighted_places
from dist_ms.ops.layout import contiguous
from dist_ms.ops.primitive import Primitive

__all__ = [
    "Bernoulli",
    "RandomCategorical",
    "Randperm",
    "RandpermV2",
    "bernoulli",
    "multinomial",
    "random_categorical",
]

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


@plain("seed")
def bernoulli(input: Tensor, p: Any = 0.5, seed: int | None = None) -> Tensor:
    """Draw ones with probability `p`, else zeros, in the shape of a tensor.

    Args:
        input: the Tensor whose shape and dtype are wanted.
        p: the probability, a number or a Tensor that broadcasts to `input`.
        seed: start of this call alone; None or -1 for the global one. The same seed gives the same draws,
            those of MindSpore's first call with this seed and shape.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is no Tensor, or `seed` no int.
        ValueError: if a probability is outside [0, 1], or `seed` below -1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bernoulli(ms.Tensor([5, 6]), 1.0))
        [1 1]
    """
    if not isinstance(p, (Tensor, float)):
        raise TypeError(f"For 'bernoulli', 'p' must be a float or a Tensor, but got {type(p).__name__}.")
    not_of(input, "eEFD", "input", "bernoulli")
    not_of(p, "?ibhlBHILFD", "p", "bernoulli")
    part = p.array() if isinstance(p, Tensor) else np.asarray(p, np.float64)
    if not ((part >= 0) & (part <= 1)).all():
        raise ValueError(f"For 'bernoulli', 'p' must be in [0, 1], but got {p}.")
    shape = tensor(input, "input", "bernoulli").shape
    if part.size != 1 and part.shape != shape:
        raise ValueError(
            f"For 'bernoulli', 'p' must have one element or the shape {shape} of 'input', but got {part.shape}."
        )
    d = np.promote_types(part.dtype, np.float32) if part.ndim and part.dtype.kind == "f" else np.dtype(np.float32)
    if seed is None or integer(seed, "seed", "bernoulli") == -1:
        marks = FreeSource().uniform(shape, d)
    elif seed < 0:
        raise ValueError(f"For 'bernoulli', 'seed' must be -1 or at least 0, but got {seed}.")
    else:  # the lower 23 bits of each word
        marks = ((philox_words(seed, math.prod(shape)) & 0x7FFFFF) / 2**23).reshape(shape).astype(d)
    return wrap((marks < part.astype(d)).astype(input.array().dtype))


class Bernoulli(Primitive):
    """Ones with a probability, else zeros: `bernoulli` as a primitive.

    Args:
        seed: start of every call; -1 for the global one.
        offset: accepted; it plays no part without `seed`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Bernoulli()(ms.Tensor([5, 6]), ms.Tensor([0.0, 1.0])))
        [0 1]
    """

    def __init__(self, seed: int = -1, offset: int = 0) -> None:
        self.seed, self.offset = integer(seed, "seed", self.name), integer(offset, "offset", self.name)

    def __call__(self, x: Tensor, p: Any = 0.5) -> Tensor:
        return bernoulli(x, p, self.seed)


@plain("seed")
@truths("replacement")
@scalars("num_samples")
def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Draw places in rows of weights, each as likely as its weight says.

    Args:
        input: a Tensor of non-negative weights, one row or a matrix of rows.
        num_samples: how many draws per row.
        replacement: whether a place may be drawn again.
        seed: start of this call alone.

    Returns:
        Tensor of int32 (num_samples,) or (rows, num_samples).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a weight is negative, a row has no weight, there are more than two dimensions, or
            more draws than places without replacement.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.multinomial(ms.Tensor([0.0, 1.0]), 3))
        [1 1 1]
    """
    not_of(input, "?FD", "input", "multinomial")
    data = tensor(input, "input", "multinomial").array()
    count = integer(not_of(num_samples, "efdbBhH", "num_samples", "multinomial"), "num_samples", "multinomial")
    boolean(replacement, "replacement", "multinomial")
    if data.ndim not in (1, 2) or count < 1:
        raise _refusal(input, num_samples)
    rows = np.atleast_2d(data)
    if replacement:
        source = source_of("multinomial", seed)
        out, are_right = _found(rows, source.marks((len(rows), count)))
        if not are_right:
            raise _refusal(input, num_samples)
    else:  # the smallest of exponential clocks that run at the weights' rates
        rows = rows.astype(np.float64)
        totals = rows.sum(-1)
        if not rows.min(initial=0) >= 0 or not (np.isfinite(totals) & (totals > 0)).all():
            raise _refusal(input, num_samples)
        if count > (rows > 0).sum(-1).min():
            raise ValueError(
                f"For 'multinomial', 'num_samples' must not exceed the places with a weight without "
                f"replacement, but got {count} for the shape {data.shape}."
            )
        source = source_of("multinomial", seed)
        with np.errstate(divide="ignore"):
            clocks = -np.log(source.uniform(rows.shape).astype(np.float64)) / rows
        out = _earliest(clocks, count)
    return wrap(out.astype(np.int32).reshape((*data.shape[:-1], count)))


def _refusal(weights: Tensor, count: int) -> ValueError:
    return ValueError(
        "For 'multinomial', 'input' must have 1 or 2 dimensions, no negative weights and not "
        f"only zeros, and 'num_samples' must be positive, but got {weights} and {count}."
    )


def _earliest(clocks: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` smallest numbers of each row, in order; the first of equal ones first."""
    if 4 * count < clocks.shape[1]:
        early = clocks <= np.partition(clocks, count - 1)[:, count - 1 : count]
        if np.count_nonzero(early) == count * len(clocks):
            found = np.nonzero(early)[1].reshape(len(clocks), count)
            order = np.argsort(np.take_along_axis(clocks, found, -1), -1, kind="stable")
            return np.take_along_axis(found, order, -1)
    return np.argsort(clocks, -1, kind="stable")[:, :count]


def places(weights: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Where the marks (rows, n) from [0, 1) fall in the rows of weights laid end to end."""
    return _found(weights, marks)[0]


def _found(weights: np.ndarray, marks: np.ndarray) -> tuple[np.ndarray, bool]:
    """`places`, and whether no weight is negative or NaN and each row's sum is positive and finite."""
    is_single = weights.dtype == _F32 or (weights.dtype.itemsize == 2 and weights.dtype.kind in "fV")
    out = np.empty(marks.shape, np.int64)
    are_right = weighted_places.places(
        contiguous(weights, _F32 if is_single else _F64), np.ascontiguousarray(marks, np.float64), out
    )
    return out, are_right


def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype: Number = int64) -> Tensor:
    """Draw places in rows of logits, each as likely as the softmax says.

    Args:
        logits: a Tensor (rows, places).
        num_sample: how many draws per row.
        seed: start of this call alone, whose draws are those of MindSpore: one mark from [0, 1) for a column
            of the result, the same in all rows. 0 for the global one, with marks of their own for all.
        dtype: an integer type.

    Returns:
        Tensor (rows, num_sample).

    Raises:
        ValueError: if `logits` is no matrix.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.random_categorical(ms.Tensor([[0.0, 1e9]]), 2))
        [[1 1]]
    """
    x = tensor(logits, "logits", "random_categorical").array().astype(np.float64)
    check_dimensions(x, "logits", "random_categorical", 2)
    weights = np.exp(x - x.max(-1, keepdims=True))
    seed, count = integer(seed, "seed", "random_categorical"), integer(num_sample, "num_sample", "random_categorical")
    if seed:
        marks = np.broadcast_to(SeededSource(0, seed).marks((1, count), fine=True), (len(x), count))
    else:
        marks = FreeSource().marks((len(x), count))
    return wrap(places(weights, marks).astype(dtype.np))


class RandomCategorical(Primitive):
    """Places in rows of logits: `random_categorical` as a primitive.

    Args:
        dtype: an integer type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.RandomCategorical()(ms.Tensor([[0.0, 1e9]]), 2, 0))
        [[1 1]]
    """

    def __init__(self, dtype: Number = int64) -> None:
        self.dtype = dtype

    def __call__(self, logits: Tensor, num_sample: int, seed: int) -> Tensor:
        return random_categorical(logits, num_sample, seed, self.dtype)


class RandpermV2(Primitive):
    """The integers from 0 to n - 1 in random order: `randperm` as a primitive.

    Args:
        seed, offset: see `randperm`.
        dtype: an integer type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sort(ms.ops.RandpermV2(3)(4))[0])
        [0 1 2 3]
    """

    def __init__(self, seed: int = 0, offset: int = 0, dtype: Number = int64) -> None:
        self.seed, self.offset = integer(seed, "seed", self.name), integer(offset, "offset", self.name)
        self.dtype = dtype

    def __call__(self, n: Any) -> Tensor:
        return drawing.randperm(integer(n, "n", self.name), self.seed, self.offset, self.dtype)


class Randperm(Primitive):
    """The integers from 0 to n - 1 in random order, padded to one length.

    Args:
        max_length: length of the result, at least n.
        pad: what to fill up with.
        dtype: an integer type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Randperm(max_length=3)(ms.Tensor([1])))
        [ 0 -1 -1]
    """

    def __init__(self, max_length: int = 1, pad: int = -1, dtype: Number = int32) -> None:
        self.max_length, self.pad, self.dtype = integer(max_length, "max_length", self.name), pad, dtype

    def __call__(self, n: Any) -> Tensor:
        n = integer(n, "n", self.name)
        if not 0 <= n <= self.max_length:
            raise ValueError(f"For '{self.name}', 'n' must be in the range [0, {self.max_length}], but got {n}.")
        out = np.full(self.max_length, self.pad, self.dtype.np)
        out[:n] = drawing.randperm(n).array()
        return wrap(out)

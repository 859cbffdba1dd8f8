"""Sort, TopK, Unique and their kin: elements in order, and without repetition."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, int32, int64
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, boolean, integer, one_axis, one_of, real, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.primitive import Primitive, Undifferentiable

__all__ = [
    "SearchSorted",
    "Sort",
    "TopK",
    "Unique",
    "UniqueConsecutive",
    "UniqueWithPad",
    "argsort",
    "bucketize",
    "msort",
    "searchsorted",
    "sort",
    "top_k",
    "topk",
    "unique",
    "unique_consecutive",
    "unique_with_pad",
]


class _Ordered(Primitive):
    """An operation that returns elements of one dimension, and where they were."""

    keeps = ()
    keeps_output = True

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        x = inputs[0]
        rest = (None,) * (len(inputs) - 1)
        if not x.shape:
            return (dout[0], *rest)
        axis = one_axis(self.name, self.axis, len(x.shape))
        return (ops.picking.gathering.PutAlong(axis, x.shape)(output[1], dout[0]), *rest)


def _order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Where each element of the sorted dimension was; equal ones stay in order, NaN counts as largest."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    # Sorting the reversed dimension and reversing the result keeps equal elements in order.
    flipped = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(flipped, axis)


class Sort(_Ordered):
    """The elements along one dimension in order, and where they were, as int32.

    Args:
        axis: the dimension.
        descending: largest first.

    Call:
        x (Tensor): real numbers.

    Raises:
        TypeError: if `axis` is no int, or `descending` no bool.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.Sort()(ms.Tensor([3.0, 1.0, 2.0]))
        >>> print(values, places)
        [1. 2. 3.] [1 2 0]
    """

    def __init__(self, axis: int = -1, descending: bool = False) -> None:
        self.axis = integer(self.name, axis, "axis")
        self.descending = boolean(self.name, descending, "descending")

    def forward(self, x: np.ndarray) -> tuple:
        axis = one_axis(self.name, self.axis, real(self.name, x, "x").ndim)
        if not x.ndim:
            return x.copy(), np.zeros((), np.int32)
        order = _order(x, axis, self.descending)
        return np.take_along_axis(x, order, axis), order.astype(np.int32)


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Sort the elements along one dimension; equal ones stay in order.

    Args:
        input_x: a Tensor of real numbers.
        axis: the dimension.
        descending: largest first.

    Returns:
        (sorted elements, where they were, as int32).

    Raises:
        TypeError: if `axis` is no int, or `descending` no bool.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.sort(ms.Tensor([3.0, 1.0, 2.0]))
        >>> print(values, places)
        [1. 2. 3.] [1 2 0]
    """
    return Sort(axis, descending)(input_x)


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """Find where each element of the sorted dimension is.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension.
        descending: largest first.

    Returns:
        Tensor of int32.

    Raises:
        TypeError: if `axis` is no int, or `descending` no bool.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.argsort(ms.Tensor([3.0, 1.0, 2.0])))
        [1 2 0]
    """
    return Sort(axis, descending)(input)[1]


def msort(input: Tensor) -> Tensor:
    """Sort the elements along the first dimension.

    Args:
        input: a Tensor of real numbers.

    Returns:
        Tensor of the shape of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.msort(ms.Tensor([3.0, 1.0, 2.0])))
        [1. 2. 3.]
    """
    return Sort(0)(input)[0]


class TopK(_Ordered):
    """The k largest elements along the last dimension, and where they are, as int32.

    Args:
        sorted: largest first. Without it the order is not defined; here it is the same.

    Call:
        input_x (Tensor): real numbers.
        k (int): how many.

    Raises:
        TypeError: if `k` is no int.
        ValueError: if `k` is not positive or too large.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.TopK()(ms.Tensor([3.0, 1.0, 2.0]), 2)
        >>> print(values, places)
        [3. 2.] [0 2]
    """

    axis = -1
    largest = True

    def __init__(self, sorted: bool = True) -> None:
        self.sorted = boolean(self.name, sorted, "sorted")

    def forward(self, input_x: np.ndarray, k: Any) -> tuple:
        x = real(self.name, input_x, "input_x")
        axis, k = one_axis(self.name, self.axis, x.ndim), integer(self.name, k, "k")
        if not x.ndim or not 0 < k <= x.shape[axis]:
            raise ValueError(
                f"For '{self.name}', 'k' must be in the range [1, {x.shape[axis] if x.ndim else 0}], but got {k}."
            )
        order = np.take(_order(x, axis, self.largest), np.arange(k), axis)
        return np.take_along_axis(x, order, axis), order.astype(np.int32)


class _TopAlong(TopK):
    """The k largest or smallest elements along any dimension."""

    def __init__(self, axis: int, largest: bool) -> None:
        self.axis, self.largest = axis, largest


_TopAlong.name = "topk"


def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Find the k largest elements along one dimension.

    Args:
        input: a Tensor of real numbers.
        k: how many.
        dim: the dimension, the last one by default.
        largest: False for the smallest.
        sorted: largest (smallest) first. Without it the order is not defined; here it is the same.

    Returns:
        (the elements, where they are, as int32).

    Raises:
        TypeError: if `k` or `dim` is no int, or a flag no bool.
        ValueError: if `dim` is out of range, or `k` not positive or too large.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.topk(ms.Tensor([3.0, 1.0, 2.0]), 2)
        >>> print(values, places)
        [3. 2.] [0 2]
    """
    boolean("topk", largest, "largest")
    boolean("topk", sorted, "sorted")
    return _TopAlong(-1 if dim is None else integer("topk", dim, "dim"), largest)(tensor("topk", input), k)


def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Find the k largest elements along the last dimension: `topk` under its old name.

    Args:
        input_x: a Tensor of real numbers.
        k: how many.
        sorted: largest first.

    Returns:
        (the elements, where they are, as int32).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.top_k(ms.Tensor([3.0, 1.0, 2.0]), 1)[0])
        [3.]
    """
    return TopK(sorted)(input_x, k)


class Unique(Undifferentiable):
    """The different elements in the order they first come, and for each element which one it is.

    Call:
        input (Tensor): the elements, in one dimension.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.Unique()(ms.Tensor([3, 1, 3]))
        >>> print(values, places)
        [3 1] [0 1 0]
    """

    def forward(self, input: np.ndarray) -> tuple:
        flat = array(self.name, input).reshape(-1)
        _values, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        places = rank[inverse.reshape(-1)].reshape(input.shape)
        index = np.int64 if input.dtype == np.int64 else np.int32
        return flat[np.sort(first)], places.astype(index)


unique = Unique()


class UniqueConsecutive(Primitive):
    """The elements without the repetitions that follow each other.

    Args:
        return_inverse: also return for each element which one it is (called return_idx in MindSpore).
        return_counts: also return how often each comes.
        dim: compare slices along this dimension; None for all elements row by row.

    Call:
        input (Tensor): the elements.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UniqueConsecutive()(ms.Tensor([1, 1, 2, 1]))[0])
        [1 2 1]
    """

    differentiable = False

    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> None:
        self.return_inverse, self.return_counts, self.dim = return_inverse, return_counts, dim

    def forward(self, input: np.ndarray) -> tuple:
        x = array(self.name, input)
        rows = (
            x.reshape(-1, 1)
            if self.dim is None
            else np.moveaxis(x, one_axis(self.name, self.dim, x.ndim, "dim"), 0).reshape(x.shape[self.dim], -1)
        )
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]).any(1)
        places = np.cumsum(new) - 1
        starts = np.flatnonzero(new)
        counts = np.diff(np.append(starts, len(rows)))
        values = x.reshape(-1)[starts] if self.dim is None else np.take(x, starts, self.dim)
        return values, places.reshape(x.shape) if self.dim is None else places, counts.astype(np.int64)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Drop the repetitions that follow each other.

    Args:
        input: a Tensor.
        return_inverse: also return for each element which one it is.
        return_counts: also return how often each comes.
        dim: compare slices along this dimension; None for all elements row by row.

    Returns:
        Tensor, or tuple of it and what else was asked for, as int64.

    Examples:
        >>> import dist_ms as ms
        >>> values, counts = ms.ops.unique_consecutive(ms.Tensor([1, 1, 2, 1]), return_counts=True)
        >>> print(values, counts)
        [1 2 1] [2 1 1]
    """
    boolean("unique_consecutive", return_counts, "return_counts")
    values, places, counts = UniqueConsecutive(dim=dim)(input)
    out = (values, *([places] if return_inverse else []), *([counts] if return_counts else []))
    return out if len(out) > 1 else values


def unique_with_pad(x: Tensor, pad_num: int) -> tuple[Tensor, Tensor]:
    """Find the different elements in the order they first come, padded to the length of `x`.

    Args:
        x: a Tensor with one dimension.
        pad_num: what to pad with.

    Returns:
        (different elements and padding, for each element which one it is).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.unique_with_pad(ms.Tensor([3, 1, 3]), 0)[0])
        [3 1 0]
    """
    values, places = unique(x)
    return ops.concat([values, ops.full((x.size - values.size,), ops.arguments.scalar(pad_num), dtype=x.dtype)]), places


class UniqueWithPad(Undifferentiable):
    """The different elements in the order they first come, padded: `unique_with_pad` as a primitive.

    Raises:
        ValueError: if `x` has more than one dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UniqueWithPad()(ms.Tensor([3, 1, 3]), 0))
        (Tensor(shape=[3], dtype=Int64, value= [3, 1, 0]), Tensor(shape=[3], dtype=Int64, value= [0, 1, 0]))
    """

    def __call__(self, x: Tensor, pad_num: int) -> tuple[Tensor, Tensor]:
        if ops.arguments.tensor(self.name, x, "x").ndim != 1:
            raise ValueError(f"For '{self.name}', 'x' must have one dimension, but got shape {x.shape}.")
        return unique_with_pad(x, pad_num)


class SearchSorted(Undifferentiable):
    """The places where values would have to go into sorted rows to keep them sorted.

    Args:
        dtype: int32 or int64.
        right: after equal elements instead of before them.

    Call:
        sorted_sequence (Tensor): rows in rising order, along the last dimension.
        values (Tensor): the values, for each row, or for one row of any shape.
        sorter (Tensor): places of the elements in rising order, if the rows are not sorted.

    Raises:
        ValueError: if the leading dimensions differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SearchSorted()(ms.Tensor([1.0, 3.0, 5.0]), ms.Tensor([2.0, 3.0])))
        [1 1]
    """

    def __init__(self, dtype: Number = int64, right: bool = False) -> None:
        self.dtype, self.right = dtype, right

    def forward(self, sorted_sequence: np.ndarray, values: np.ndarray, sorter: np.ndarray | None = None) -> np.ndarray:
        rows, v = array(self.name, sorted_sequence, "sorted_sequence"), array(self.name, values, "values")
        if sorter is not None:
            rows = np.take_along_axis(rows, sorter, -1)
        side = "right" if self.right else "left"
        if rows.ndim == 1:
            return np.asarray(np.searchsorted(rows, v, side)).astype(self.dtype.np)
        if rows.shape[:-1] != v.shape[:-1]:
            raise ValueError(
                f"For '{self.name}', 'sorted_sequence' and 'values' must agree but for the last "
                f"dimension, "
                f"but got {rows.shape} and {v.shape}."
            )
        out = np.empty(v.shape, self.dtype.np)
        for place in np.ndindex(*rows.shape[:-1]):
            out[place] = np.searchsorted(rows[place], v[place], side)
        return out


def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Find where values would have to go into sorted rows to keep them sorted.

    Args:
        sorted_sequence: a Tensor whose rows (last dimension) are in rising order.
        values: a Tensor of values, for each row, or for one row of any shape.
        out_int32: return int32 instead of int64.
        right: after equal elements instead of before them.
        side: "left" or "right", the same said otherwise.
        sorter: places of the elements in rising order, if the rows are not sorted.

    Returns:
        Tensor of int64 (int32) of the shape of `values`.

    Raises:
        TypeError: if `values` is no Tensor.
        ValueError: if the leading dimensions differ, or `side` is unknown or contradicts `right`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.searchsorted(ms.Tensor([1.0, 3.0, 5.0]), ms.Tensor([2.0, 3.0]), right=True))
        [1 2]
    """
    boolean("searchsorted", right, "right")
    if side is not None:
        one_of("searchsorted", side, "side", ("left", "right"))
        if right and side == "left":
            raise ValueError("For 'searchsorted', 'side' must not be 'left' together with right=True.")
        right = right or side == "right"
    primitive = SearchSorted(int32 if out_int32 else int64, right)
    arguments = (tensor("searchsorted", sorted_sequence, "sorted_sequence"), tensor("searchsorted", values, "values"))
    return primitive(*arguments) if sorter is None else primitive(*arguments, sorter)


def bucketize(input: Tensor, boundaries: Any, *, right: bool = False) -> Tensor:
    """Find between which boundaries each element lies.

    Args:
        input: a Tensor of real numbers.
        boundaries: a list or a Tensor of numbers in rising order.
        right: an element equal to a boundary lies below it (False) or above it (True).

    Returns:
        Tensor of int32 of the shape of `input`.

    Raises:
        TypeError: if `boundaries` is no list and no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bucketize(ms.Tensor([1.0, 3.0, 6.0]), [2.0, 4.0]))
        [0 1 2]
    """
    if isinstance(boundaries, Tensor):
        boundaries = boundaries.array().ravel().tolist()
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"For 'bucketize', 'boundaries' must be a list, but got {type(boundaries).__name__}.")
    edges = Tensor(np.array(boundaries, np.float64))
    return SearchSorted(int32, right)(edges, cast_array(tensor("bucketize", input), np.dtype(np.float64)))

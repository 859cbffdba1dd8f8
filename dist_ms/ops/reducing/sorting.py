"""Sort, TopK, SearchSorted and their kin: elements in order."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, from_numpy, int32, int64
from dist_ms.common.error_classes import plain, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import (
    array,
    boolean,
    countable,
    integer,
    not_of,
    number,
    one_axis,
    one_of,
    real,
    scalar,
    tensor,
)
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.kernels import ordering as kernels
from dist_ms.ops.kernels import selection, sorted_search
from dist_ms.ops.layout import contiguous
from dist_ms.ops.primitive import Primitive, Undifferentiable

__all__ = [
    "SearchSorted",
    "Sort",
    "TopK",
    "argsort",
    "bucketize",
    "msort",
    "searchsorted",
    "sort",
    "top_k",
    "topk",
]

# Types that sorted rows are searched in, and those that are widened for it.
_SEARCHED = tuple(np.dtype(t) for t in ("f4", "f8", "i4", "i8"))
_NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


class _Ordered(Primitive):
    """An operation that returns elements of one dimension, and where they were."""

    axis: int
    keeps = ()
    keeps_output = True

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        x = inputs[0]
        rest = (None,) * (len(inputs) - 1)
        if not x.shape:
            return (dout[0], *rest)
        axis = one_axis(self.axis, "axis", self.name, len(x.shape))
        return (ops.picking.gathering.PutAlong(axis, x.shape)(output[1], dout[0]), *rest)


def _first(x: np.ndarray, axis: int, count: int, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    """The first elements of a dimension in order, and where they were.

    Equal ones stay in order, NaN counts as largest.
    """
    last = axis == x.ndim - 1
    moved = x if last else np.moveaxis(x, axis, -1)
    lead, columns = moved.shape[:-1], moved.shape[-1]
    rows = np.ascontiguousarray(moved).reshape(math.prod(lead), columns)
    values, places = np.empty((len(rows), count), x.dtype), np.empty((len(rows), count), np.int32)
    kernels.sort_first(rows, values, places, descending)
    values, places = values.reshape(*lead, count), places.reshape(*lead, count)
    return (values, places) if last else (np.moveaxis(values, -1, axis), np.moveaxis(places, -1, axis))


def selected(x: np.ndarray, axis: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Number k of a dimension in order, which stays with length 1, and where it was, as int64.

    `k` counts from 0, or is one of the medians of `_ext.selection`. Equal ones stay in order, NaN counts as largest.
    """
    moved = np.moveaxis(x, axis, -1)
    lead, columns = moved.shape[:-1], moved.shape[-1]
    places = np.empty(math.prod(lead), np.int64)
    selection.select(contiguous(moved).reshape(len(places), columns), k, places)
    places = np.expand_dims(places.reshape(lead), axis)
    return np.take_along_axis(x, places, axis), places


@plain("axis")
class Sort(_Ordered):
    """`sort` as a primitive: `Sort(axis, descending)(x)`."""

    def __init__(self, axis: int = -1, descending: bool = False) -> None:
        self.axis = integer(axis, "axis", self.name)
        self.descending = boolean(descending, "descending", self.name)

    def forward(self, x: np.ndarray) -> tuple:
        axis = one_axis(self.axis, "axis", self.name, countable(x, "x", self.name).ndim)
        if not x.ndim:
            raise ValueError(f"For '{self.name}', 'x' must have at least 1 dimension, but got a scalar.")
        return _first(x, axis, x.shape[axis], self.descending)


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
    if not tensor(input, "input", "msort").ndim:
        raise ValueError("For 'msort', 'input' must have at least 1 dimension, but got a scalar.")
    return Sort(0)(input)[0]


class TopK(_Ordered):
    """`top_k` as a primitive: `TopK(sorted)(input_x, k)`."""

    axis = -1
    largest = True

    def __init__(self, sorted: bool = True) -> None:
        self.sorted = boolean(sorted, "sorted", self.name)

    def forward(self, input_x: np.ndarray, k: Any) -> tuple:
        x = real(input_x, "input_x", self.name)
        axis, k = one_axis(self.axis, "axis", self.name, x.ndim), integer(k, "k", self.name)
        if not x.ndim or not 0 < k <= x.shape[axis]:
            raise ValueError(
                f"For '{self.name}', 'k' must be in the range [1, {x.shape[axis] if x.ndim else 0}], but got {k}."
            )
        return _first(x, axis, k, self.largest)


class _TopAlong(TopK):
    """The k largest or smallest elements along any dimension."""

    def __init__(self, axis: int, largest: bool) -> None:
        self.axis, self.largest = axis, largest


_TopAlong.name = "topk"


class KthValue(_Ordered):
    """The k-th least element of a dimension, which stays with length 1, and where it is, as int64.

    Args:
        k: which, counted from 1.
        axis: the dimension.
    """

    def __init__(self, k: int, axis: int) -> None:
        self.k, self.axis = integer(k, "k", self.name), integer(axis, "dim", self.name)

    def forward(self, input: np.ndarray) -> tuple:
        axis = one_axis(self.axis, "dim", self.name, real(input, "input", self.name).ndim)
        length = input.shape[axis] if input.ndim else 1
        if not 0 < self.k <= length:
            raise ValueError(f"For '{self.name}', 'k' must be in the range [1, {length}], but got {self.k}.")
        return selected(input, axis, self.k - 1) if input.ndim else (input.copy(), np.zeros((), np.int64))


KthValue.name = "kthvalue"


@scalars("dim")
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
    not_of(input, "?", "input", "topk")
    boolean(largest, "largest", "topk")
    boolean(sorted, "sorted", "topk")
    return _TopAlong(-1 if dim is None else integer(dim, "dim", "topk"), largest)(tensor(input, "input", "topk"), k)


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


@raises(sorter=(TypeError, TypeError))
class SearchSorted(Undifferentiable):
    """`searchsorted` as a primitive: `SearchSorted(dtype, right)(sorted_sequence, values, sorter)`.

    Args:
        dtype: int32 or int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SearchSorted()(ms.Tensor([1.0, 3.0, 5.0]), ms.Tensor([2.0, 3.0])))
        [1 1]
    """

    def __init__(self, dtype: Number = int64, right: bool = False) -> None:
        self.dtype, self.right = dtype, right

    def forward(self, sorted_sequence: np.ndarray, values: np.ndarray, sorter: np.ndarray | None = None) -> np.ndarray:
        rows, v = array(sorted_sequence, "sorted_sequence", self.name), array(values, "values", self.name)
        for name, found in (("sorted_sequence", rows), ("values", v)):
            if found.dtype.kind in "bc":
                raise RuntimeError(
                    f"For '{self.name}', the dtype of '{name}' must be a real number type, but got "
                    f"{from_numpy(found.dtype)}."
                )
        if rows.dtype != v.dtype:
            raise RuntimeError(
                f"For '{self.name}', 'values' must have the dtype of 'sorted_sequence', {from_numpy(rows.dtype)}, "
                f"but got {from_numpy(v.dtype)}; cast one of them."
            )
        if sorter is not None:
            rows = np.take_along_axis(rows, self._places(sorter, rows), -1)
        if rows.ndim != 1 and rows.shape[:-1] != v.shape[:-1]:
            raise ValueError(
                f"For '{self.name}', 'sorted_sequence' and 'values' must agree but for the last "
                f"dimension, "
                f"but got {rows.shape} and {v.shape}."
            )
        common = np.dtype(np.float32) if v.dtype in _NARROW else v.dtype
        if common in _SEARCHED and rows.ndim and self.dtype.np.char in "il":
            out = np.empty(v.shape, self.dtype.np)
            count = math.prod(rows.shape[:-1])
            searched = v.size if rows.ndim == 1 else v.shape[-1]
            sorted_search.search(
                contiguous(rows, common).reshape(count, rows.shape[-1]),
                contiguous(v, common).reshape(count, searched),
                out.reshape(count, searched),
                self.right,
            )
            return out
        side = "right" if self.right else "left"
        if rows.ndim == 1:
            return np.asarray(np.searchsorted(rows, v, side)).astype(self.dtype.np)
        out = np.empty(v.shape, self.dtype.np)
        for place in np.ndindex(*rows.shape[:-1]):
            out[place] = np.searchsorted(rows[place], v[place], side)
        return out

    def _places(self, sorter: Any, rows: np.ndarray) -> np.ndarray:
        """Check the order that the caller gives."""
        if not isinstance(sorter, np.ndarray) or sorter.dtype != np.int64:
            found = from_numpy(sorter.dtype) if isinstance(sorter, np.ndarray) else type(sorter).__name__
            kind = ValueError if isinstance(sorter, np.ndarray) else TypeError
            raise kind(f"For '{self.name}', 'sorter' must be a Tensor of Int64, but got {found}.")
        if sorter.shape != rows.shape or (sorter.size and not 0 <= sorter.min() <= sorter.max() < rows.shape[-1]):
            raise RuntimeError(
                f"For '{self.name}', 'sorter' must have the shape {rows.shape} of 'sorted_sequence' and its places, "
                f"but got the shape {sorter.shape}" + (f" with {sorter.max()}." if sorter.size else ".")
            )
        return sorter


@raises(side=ValueError)
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
        TypeError: if `values` or `sorter` is no Tensor, or a flag no bool.
        RuntimeError: if bools or complex numbers, or two dtypes are to be compared, or `sorter` names other places
            than the rows have.
        ValueError: if the leading dimensions differ, `side` is unknown or contradicts `right`, or `sorter` holds
            no int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.searchsorted(ms.Tensor([1.0, 3.0, 5.0]), ms.Tensor([2.0, 3.0]), right=True))
        [1 2]
    """
    boolean(right, "right", "searchsorted")
    boolean(out_int32, "out_int32", "searchsorted")
    if side is not None:
        one_of(side, "side", "searchsorted", ("left", "right"))
        if right and side == "left":
            raise ValueError("For 'searchsorted', 'side' must not be 'left' together with right=True.")
        right = right or side == "right"
    primitive = SearchSorted(int32 if out_int32 else int64, right)
    arguments = (tensor(sorted_sequence, "sorted_sequence", "searchsorted"), tensor(values, "values", "searchsorted"))
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
    not_of(input, "?BHILFD", "input", "bucketize")
    boolean(right, "right", "bucketize")
    if isinstance(boundaries, Tensor):
        boundaries = boundaries.array().ravel().tolist()
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"For 'bucketize', 'boundaries' must be a list, but got {type(boundaries).__name__}.")
    edges = Tensor(np.array([number(scalar(b), "boundaries", "bucketize", True) for b in boundaries], np.float64))
    return SearchSorted(int32, right)(edges, cast_array(tensor(input, "input", "bucketize"), np.dtype(np.float64)))

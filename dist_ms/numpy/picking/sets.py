"""Tensors as sets, and elements sorted into bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions, check_string
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, INT32, common_type, floats, integer_of, kind_type, strict, tensor_of
from dist_ms.ops.arguments import real

__all__ = [
    *("bincount", "digitize", "in1d", "intersect1d", "isin", "searchsorted", "setdiff1d", "unique"),
]


def unique(x: Tensor, return_inverse: bool = False) -> Any:
    """Return the different elements, in the order they first come.

    Args:
        x: a Tensor of numbers.
        return_inverse: return too, for each element, which one it is.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.unique(mnp.array([1, 2, 2])))
        [1 2]
    """
    if kind_type(strict(x, "x", "unique")).kind == "b":
        raise TypeError(f"For 'unique', 'x' must hold numbers, but got {x.dtype}.")
    values, places = ops.unique(ops.reshape(x, (-1,)))
    return (values, ops.reshape(places, x.shape)) if return_inverse else values


def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Return where elements are among others, or are not if `invert`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.isin(mnp.array([0, 2, 5]), [0, 2]))
        [ True  True False]
    """
    among = tensor_of(test_elements, "test_elements", "isin").asnumpy()
    return wrap(np.asarray(np.isin(tensor_of(element, "element", "isin").asnumpy(), among, invert=bool(invert))))


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Tensor:
    """Return `isin` of all elements in one dimension."""
    return ops.reshape(isin(ar1, ar2, invert), (-1,))


def _numbers(name: str, *xs: Any) -> list[np.ndarray]:
    """Rows of all elements, which must not be bools."""
    tensors = [tensor_of(x, f"ar{i + 1}", name) for i, x in enumerate(xs)]
    for t in tensors:
        if kind_type(t).kind == "b":
            raise TypeError(f"For '{name}', the inputs must hold numbers, but got {t.dtype}.")
    return [t.asnumpy().reshape(-1) for t in tensors]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """Return the different elements of `ar1` that are not in `ar2`, sorted unless `assume_unique`."""
    first, second = _numbers("setdiff1d", ar1, ar2)
    return wrap(np.setdiff1d(first, second, assume_unique).astype(first.dtype))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted elements that are in both.

    Args:
        ar1: a Tensor or numbers.
        ar2: likewise.
        assume_unique: whether each holds every element once.
        return_indices: return too where they first are in each.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.intersect1d([1, 3, 4, 3], [3, 1, 2, 1]))
        [1 3]
    """
    first, second = _numbers("intersect1d", ar1, ar2)
    d = common_type([wrap(first), wrap(second)])
    found = np.intersect1d(first.astype(d), second.astype(d), assume_unique, return_indices)
    if not return_indices:
        return wrap(found)
    return wrap(found[0]), wrap(found[1].astype(INT32)), wrap(found[2].astype(INT32))


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Return, as int32, where values would go into a sorted row to keep it sorted.

    Args:
        a: the row, a Tensor or numbers.
        v: the values.
        side: "left" of equal elements or "right" of them.
        sorter: the places of the elements of `a` in rising order, if it is not sorted.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.searchsorted([1, 2, 3], [0, 2]))
        [0 1]
    """
    check_string(side, "side", "searchsorted", ("left", "right"))
    row = tensor_of(a, "a", "searchsorted").asnumpy()
    check_dimensions(row, "a", "searchsorted", 1)
    order = None if sorter is None else strict(sorter, "sorter", "searchsorted").asnumpy()
    values = tensor_of(v, "v", "searchsorted").asnumpy()
    real(row, "a", "searchsorted")
    real(values, "v", "searchsorted")
    return wrap(np.asarray(np.searchsorted(row, values, side, order), INT32))


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Return, as int32, the number of the bin of each element.

    Args:
        x: a Tensor or numbers.
        bins: the edges of the bins, rising or falling.
        right: whether a bin holds its right edge instead of its left one.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.digitize(mnp.array([0.5, 2.0]), [0, 1, 2]))
        [1 3]
    """
    edges = tensor_of(bins, "bins", "digitize").asnumpy()
    check_dimensions(edges, "bins", "digitize", 1)
    return wrap(np.asarray(np.digitize(tensor_of(x, "x", "digitize").asnumpy(), edges, right), INT32))


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """Return, as float32, how often each number from 0 on occurs, or the sum of its weights.

    Args:
        x: a row of integers that are not negative.
        weights: a number for each of them.
        minlength: how many counts there are at least.
        length: how many counts there are; larger numbers are left out.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.bincount(mnp.array([0, 1, 1, 3])))
        [1. 2. 0. 1.]
    """
    x = tensor_of(x, "x", "bincount")
    if kind_type(x).kind != "i":
        raise TypeError(f"For 'bincount', 'x' must hold integers, but got {x.dtype}.")
    check_dimensions(x, "x", "bincount", 1)
    places = x.asnumpy().astype(np.int64)
    if (places < 0).any():
        raise ValueError(f"For 'bincount', 'x' must hold no negative number, but got {places.min()}.")
    needed = max(int(places.max(initial=-1)) + 1, integer_of(minlength, "minlength", "bincount"))
    count = needed if length is None else integer_of(length, "length", "bincount")
    amounts = wrap(np.ones(places.shape, FLOAT32)) if weights is None else floats(tensor_of(weights, "x", "bincount"))
    if amounts.shape != x.shape:
        raise ValueError(f"For 'bincount', 'weights' must have the shape {x.shape}, but got {amounts.shape}.")
    return ops.unsorted_segment_sum(amounts, wrap(places), max(count, needed))[:count]

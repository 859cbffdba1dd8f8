"""Elements picked, put and put in order, in PyTorch's form."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import int64
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, integer, not_of, one_axis, same_rank, tensor
from dist_ms.ops.picking.scattering_along import added_slices, fits
from dist_ms.ops.reducing.sorting import KthValue
from dist_ms.ops.reducing.uniqueness import different

__all__ = [
    "argsort",
    "gather",
    "index_add",
    "index_select",
    "kthvalue",
    "masked_select",
    "nonzero",
    "scatter",
    "scatter_add",
    "searchsorted",
    "select",
    "sort",
    "take",
    "topk",
    "unique",
    "unique_consecutive",
    "where",
]

gather = ops.gather_elements
masked_select = ops.masked_select
nonzero = ops.nonzero
searchsorted = ops.searchsorted


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`ops.where`; without `input` and `other` the places where the condition holds, one Tensor for each dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.mint.where(ms.Tensor([True, False, True])))
        [0 2]
    """
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    return ops.where(condition, input, other)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one place of a dimension, without that dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.select(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0))
        [1. 3.]
    """
    dim = one_axis(dim, "dim", "mint.select", tensor(input, "input", "mint.select").ndim)
    index = integer(index, "index", "mint.select")
    return ops.squeeze(ops.narrow(input, dim, index + input.shape[dim] if index < 0 else index, 1), dim)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """`ops.index_select`, with the axis named `dim`."""
    return ops.index_select(input, dim, index)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Add alpha times the slices of `source` to those of `input` at the places in `index`.

    Raises:
        TypeError: if `dim` is no int, or `source` of a higher dtype than `input`.
        ValueError: if the shapes do not fit, or there is no such dimension.

    Examples:
        >>> import dist_ms as ms
        >>> x, y = ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([10.0, 20.0])
        >>> print(ms.mint.index_add(x, 0, ms.Tensor([0, 2]), y, alpha=2))
        [21.  2. 43.]
    """
    for name, value in (("input", input), ("index", index), ("source", source)):
        tensor(value, name, "index_add")
    fits(input, source, "source", "mint.index_add")
    same_rank(input, source, "index_add")
    not_of(index, "BHIL", "index", "index_add")
    return added_slices("index_add", input, dim, index, source, alpha)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """`ops.scatter`, with the axis named `dim`."""
    return ops.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy with the elements of `src` added at the places in `index` along a dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.scatter_add(ms.Tensor([1.0, 2.0]), 0, ms.Tensor([1, 1]), ms.Tensor([8.0, 9.0])))
        [ 1. 19.]
    """
    if src.shape != index.shape:
        src = src[tuple(slice(n) for n in index.shape)]
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def take(input: Tensor, index: Tensor) -> Tensor:
    """`ops.take`, of the flattened tensor alone."""
    return ops.take(input, index)


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order along a dimension, and where they were (int64).

    Args:
        input: any tensor.
        dim: the dimension.
        descending: the greatest first.
        stable: keep equal elements in their order, which is done anyway here.

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.mint.sort(ms.Tensor([2.0, 1.0])))
        [1. 2.] [1 0]
    """
    values, places = ops.sort(input if input.ndim else ops.reshape(input, (1,)), dim, descending)
    if not input.ndim:
        values, places = ops.reshape(values, ()), ops.reshape(places, ())
    return values, ops.cast(places, int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The places that `sort` returns."""
    return sort(input, dim=dim, descending=descending, stable=stable)[1]


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """`ops.topk`, with int64 places."""
    values, places = ops.topk(input, k, dim, largest, sorted)
    return values, ops.cast(places, int64)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th least element along a dimension (k counts from 1), and its place (int64).

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.mint.kthvalue(ms.Tensor([2.0, 1.0, 3.0]), 2))
        2.0 0
    """
    values, places = KthValue(k, dim)(tensor(input, "input", "kthvalue"))
    return (values, places) if keepdim or not input.ndim else (ops.squeeze(values, dim), ops.squeeze(places, dim))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in ascending order, or the different slices along a dimension.

    Args:
        input: any tensor.
        sorted: the order; here it is ascending anyway.
        return_inverse: also return where each element of the input went (int64).
        return_counts: also return how often each one occurs (int64).
        dim: compare slices along it; None for elements.

    Returns:
        Tensor, or a tuple of 2 or 3.

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.mint.unique(ms.Tensor([3, 1, 3]), return_counts=True))
        [1 3] [1 2]
    """
    for value, argument in ((return_inverse, "return_inverse"), (return_counts, "return_counts")):
        boolean(value, argument, "unique")
    x = tensor(input, "input", "unique").asnumpy()
    if dim is None and x.dtype.kind != "c":
        first, places = different(x)
        values = x.reshape(-1)[first]
        order = np.argsort(values.astype(np.float32) if x.dtype.kind == "V" else values)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        values, inverse = values[order], rank[places].reshape(x.shape)
        counts = np.bincount(places, minlength=len(order))[order]
    else:
        values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim)
        inverse = inverse.reshape(x.shape if dim is None else -1)
    out = [wrap(values)] + [wrap(inverse.astype(np.int64))] * return_inverse
    out += [wrap(counts.astype(np.int64))] * return_counts
    return tuple(out) if len(out) > 1 else out[0]


unique_consecutive = ops.unique_consecutive

"""Diagonals and triangles of matrices, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, float32
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import (
    INT32,
    INT64,
    axes_of,
    cast,
    integer_of,
    kind_type,
    strict,
    tensor_of,
    type_of,
    typed,
)

__all__ = [
    *("diag", "diag_indices", "diagflat", "diagonal", "trace", "tri", "tril", "tril_indices", "tril_indices_from"),
    *("triu", "triu_indices", "triu_indices_from", "vander"),
]


def diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of the matrices along two axes, as a new last axis.

    Args:
        a: a Tensor of at least two dimensions.
        offset: which diagonal, above the main one if positive.
        axis1: the axis of the rows.
        axis2: the axis of the columns.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.diagonal(mnp.arange(4).reshape(2, 2)))
        [0 3]
    """
    a = strict(a, "a", "diagonal")
    if a.ndim < 2:
        raise ValueError(f"For 'diagonal', 'a' must have at least 2 dimensions, but got {a.ndim}.")
    rows, columns = axes_of("diagonal", (axis1, axis2), a.ndim)
    others = tuple(i for i in range(a.ndim) if i not in (rows, columns))
    a = ops.transpose(a, (rows, columns, *others))
    n, m = a.shape[:2]
    count = max(0, min(n + min(offset, 0), m - max(offset, 0)))
    start = max(0, -offset) * m + max(0, offset)
    places = wrap(np.arange(count) * (m + 1) + start)
    picked = ops.gather(ops.reshape(a, (n * m, *a.shape[2:])), places, 0)
    return ops.transpose(picked, (*range(1, picked.ndim), 0))


def diag(v: Tensor, k: int = 0) -> Tensor:
    """Return a diagonal of a matrix, or the matrix with a given diagonal.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.diag(mnp.array([1, 2])))
        [[1 0]
         [0 2]]
    """
    v = strict(v, "v", "diag")
    if v.ndim == 1:
        return diagflat(v, k)
    if v.ndim != 2:
        raise ValueError(f"For 'diag', 'v' must have 1 or 2 dimensions, but got {v.ndim}.")
    return diagonal(v, k)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """Return the matrix whose `k`-th diagonal holds all elements of `v`."""
    v = ops.reshape(tensor_of(v, "v", "diagflat"), (-1,))
    n = v.size + abs(k)
    places = np.arange(v.size) + max(0, -k)
    source = np.full((n, n), v.size)
    source[places, places + k] = np.arange(v.size)
    padded = ops.concat((v, wrap(np.zeros(1, kind_type(v)))), 0)
    return ops.gather(padded, wrap(source), 0)


def trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Return the sums of diagonals; integers are summed as int64.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.trace(mnp.eye(3)))
        3.0
    """
    line = diagonal(strict(a, "a", "trace"), offset, axis1, axis2)
    if kind_type(a).kind == "b":
        return typed(ops.any(line, -1), dtype)
    total = ops.sum(cast(line, INT64) if kind_type(a).kind in "iu" else line, -1)
    return typed(total, dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Number = float32) -> Tensor:
    """Return ones at and below the `k`-th diagonal, zeros above."""
    rows = integer_of(N, "N", "tri")
    return wrap(np.tri(rows, rows if M is None else integer_of(M, "M", "tri"), k, type_of(dtype)))


def _part(name: str, m: Any, k: int, lower: bool) -> Tensor:
    """The elements of one triangle, zeros elsewhere."""
    m = tensor_of(m, "m", name)
    if m.ndim < 1:
        raise ValueError(f"For '{name}', 'm' must have at least 1 dimension, but got a scalar.")
    if m.ndim == 1:
        m = ops.broadcast_to(m, (m.size, m.size))
    mask = np.tri(*m.shape[-2:], k if lower else k - 1, dtype=bool)
    return ops.mul(m, wrap((mask if lower else ~mask).astype(kind_type(m))))


def tril(m: Any, k: int = 0) -> Tensor:
    """Return the matrices with zeros above the `k`-th diagonal.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.tril(mnp.ones((2, 2))))
        [[1. 0.]
         [1. 1.]]
    """
    return _part("tril", m, k, True)


def triu(m: Any, k: int = 0) -> Tensor:
    """Return the matrices with zeros below the `k`-th diagonal."""
    return _part("triu", m, k, False)


def _places(found: tuple) -> tuple[Tensor, ...]:
    """Indices as tensors of int32."""
    return tuple(wrap(i.astype(INT32)) for i in found)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the rows and columns of the elements at and below the `k`-th diagonal of an n by m matrix."""
    return _places(np.tril_indices(integer_of(n, "n", "tril_indices"), k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
    """Return the rows and columns of the elements at and above the `k`-th diagonal of an n by m matrix."""
    return _places(np.triu_indices(integer_of(n, "n", "triu_indices"), k, m))


def _matrix(name: str, arr: Tensor) -> tuple[int, int]:
    """The shape of a matrix."""
    if strict(arr, "arr", name).ndim != 2:
        raise ValueError(f"For '{name}', 'arr' must have 2 dimensions, but got {arr.ndim}.")
    return arr.shape


def tril_indices_from(arr: Tensor, k: int = 0) -> tuple[Tensor, ...]:
    """Return `tril_indices` of the shape of a matrix."""
    rows, columns = _matrix("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Tensor, k: int = 0) -> tuple[Tensor, ...]:
    """Return `triu_indices` of the shape of a matrix."""
    rows, columns = _matrix("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of a tensor of `ndim` axes of length `n`."""
    return _places(np.diag_indices(integer_of(n, "n", "diag_indices"), ndim))


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the powers of each element in a row, falling from N - 1 unless `increasing`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.vander(mnp.array([1, 2, 3]), 2))
        [[1 1]
         [2 1]
         [3 1]]
    """
    x = tensor_of(x, "x", "vander")
    if x.ndim != 1:
        raise ValueError(f"For 'vander', 'x' must have 1 dimension, but got {x.ndim}.")
    count = x.size if N is None else integer_of(N, "N", "vander")
    powers = np.arange(count) if increasing else np.arange(count)[::-1].copy()
    return ops.pow(ops.reshape(x, (-1, 1)), wrap(powers.astype(kind_type(x))))

"""Factorisations of large float32 matrices by halves, so that nearly all of the work is in matrix products.

Each halving leaves one product; matrices of at most 64 columns are left to `_ext.matrix_panels`. Elmroth and Gustavson,
"Applying recursion to serial and parallel QR factorization", 2000; Toledo, "Locality of reference in LU decomposition
with partial pivoting", 1997.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dist_ms.ops.kernels import matrix_panels
from dist_ms.ops.linear_algebra.matmul import product

# Rows from which on this is quicker than LAPACK through NumPy, which computes in float64.
LARGE = 128
_PANEL = 32  # columns of a panel
_TRIANGLE = 64  # rows of a triangle that is inverted at once


def suits(x: np.ndarray) -> bool:
    """Whether matrices (..., m, n) are factored here."""
    return x.dtype.type is np.float32 and min(x.shape[-2:]) >= LARGE and x.size > 0


def each(make: Callable, *operands: np.ndarray) -> list | None:
    """What `make` gives for each matrix of batches that broadcast; None if it gives None once."""
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in operands))
    batches = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in operands]
    out = []
    for place in np.ndindex(lead):
        one = make(*(x[place] for x in batches))
        if one is None:
            return None
        out.append(one)
    return out


def stacked(make: Callable, *operands: np.ndarray) -> np.ndarray | None:
    """The matrices that `make` gives for each matrix of a batch, as one array; None if one cannot be made."""
    found = each(make, *operands)
    if found is None:
        return None
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in operands))
    return found[0] if not lead else np.stack(found).reshape(*lead, *found[0].shape)


def _half(n: int, whole: int) -> int:
    """Where to cut n in two: near the middle, at a multiple of `whole`."""
    return (n // 2 + whole - 1) // whole * whole


def factor(a: np.ndarray) -> np.ndarray:
    """Factor a square matrix into P L U in place and return the pivots: with which row each was swapped in turn."""
    pivots = np.empty(a.shape[1], np.int64)
    _factor(a, pivots)
    return pivots


def _factor(a: np.ndarray, pivots: np.ndarray) -> None:
    n = a.shape[1]
    if n <= _PANEL:
        matrix_panels.lu_panel(a, pivots)
        return
    h = _half(n, _PANEL)
    _factor(a[:, :h], pivots[:h])
    matrix_panels.swap_rows(a[:, h:], pivots[:h])
    solve_lower(a[:h, :h], a[:h, h:], True)
    matrix_panels.subtract(a[h:, h:], product(a[h:, :h], a[:h, h:]))
    _factor(a[h:, h:], pivots[h:])
    matrix_panels.swap_rows(a[h:, :h], pivots[h:])
    pivots[h:] += h


def solve_lower(low: np.ndarray, b: np.ndarray, unit: bool) -> None:
    """Replace b by the solution of L x = b; only the lower triangle is read, with `unit` without its diagonal, ones."""
    n = len(low)
    if n <= _TRIANGLE:
        b[...] = product(_inverted(low, unit), b)
        return
    h = _half(n, _TRIANGLE)
    solve_lower(low[:h, :h], b[:h], unit)
    matrix_panels.subtract(b[h:], product(low[h:, :h], b[:h]))
    solve_lower(low[h:, h:], b[h:], unit)


def solve_upper(up: np.ndarray, b: np.ndarray) -> None:
    """Replace b by the solution of U x = b; of U only the upper triangle is read."""
    n = len(up)
    if n <= _TRIANGLE:
        b[...] = product(_inverted(np.ascontiguousarray(up.T), False).T, b)
        return
    h = _half(n, _TRIANGLE)
    solve_upper(up[h:, h:], b[h:])
    matrix_panels.subtract(b[:h], product(up[:h, h:], b[h:]))
    solve_upper(up[:h, :h], b[:h])


def _inverted(low: np.ndarray, unit: bool) -> np.ndarray:
    out = np.empty(low.shape, low.dtype)
    matrix_panels.invert_lower(low, out, unit)
    return out


def inverse_of_lower(low: np.ndarray, unit: bool = False) -> np.ndarray:
    """The inverse of a lower triangular matrix."""
    out = np.zeros(low.shape, low.dtype)
    _invert_lower(low, out, unit)
    return out


def _invert_lower(low: np.ndarray, out: np.ndarray, unit: bool) -> None:
    n = len(low)
    if n <= _TRIANGLE:
        matrix_panels.invert_lower(low, out, unit)
        return
    h = _half(n, _TRIANGLE)
    _invert_lower(low[:h, :h], out[:h, :h], unit)
    _invert_lower(low[h:, h:], out[h:, h:], unit)
    matrix_panels.subtract(out[h:, :h], product(product(out[h:, h:], low[h:, :h]), out[:h, :h]))


def is_singular(factors: np.ndarray) -> bool:
    """Whether a pivot is 0."""
    return not factors.diagonal().all()


def order_of(pivots: np.ndarray) -> np.ndarray:
    """The permutation that swaps make: row i of the swapped matrix was row order[i]."""
    order = list(range(len(pivots)))
    for i, j in enumerate(pivots.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def _is_lower(a: np.ndarray) -> bool:
    """Whether there are zeros above the diagonal."""
    n = len(a)
    if n <= _TRIANGLE:
        return not np.triu(a, 1).any()
    h = _half(n, _TRIANGLE)
    return not a[0, -1] and not a[:h, h:].any() and _is_lower(a[:h, :h]) and _is_lower(a[h:, h:])


def inverse(a: np.ndarray) -> np.ndarray | None:
    """The inverse of a square matrix, None if it has none."""
    for whole, triangle in ((a, _is_lower(a)), (a.T, _is_lower(a.T))):
        if triangle:
            back = None if is_singular(a) else inverse_of_lower(np.ascontiguousarray(whole))
            return back if whole is a or back is None else np.ascontiguousarray(back.T)
    factors = a.copy()
    pivots = factor(factors)
    if is_singular(factors):
        return None
    out = inverse_of_lower(factors, True)
    solve_upper(factors, out)
    back = np.empty(len(pivots), np.int64)
    back[order_of(pivots)] = np.arange(len(pivots))
    swapped = np.empty_like(out)
    matrix_panels.take_columns(out, back, swapped)
    return swapped


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The solution of a x = b for a matrix b, None if there is none."""
    out, lower = b.copy(), _is_lower(a)
    if lower or _is_lower(a.T):
        if is_singular(a):
            return None
        a = np.ascontiguousarray(a)
        solve_lower(a, out, False) if lower else solve_upper(a, out)
        return out
    factors = a.copy()
    pivots = factor(factors)
    if is_singular(factors):
        return None
    matrix_panels.swap_rows(out, pivots)
    solve_lower(factors, out, True)
    solve_upper(factors, out)
    return out


def diagonal_of(a: np.ndarray) -> np.ndarray:
    """Numbers whose product is a determinant, float64: the pivots, the first one with the sign of the swaps."""
    if _is_lower(a) or _is_lower(a.T):
        return a.diagonal().astype(np.float64)
    factors = a.copy()
    pivots = factor(factors)
    diagonal = factors.diagonal().astype(np.float64)
    diagonal[0] *= (-1) ** np.count_nonzero(pivots != np.arange(len(pivots)))
    return diagonal


def cholesky(a: np.ndarray) -> np.ndarray | None:
    """L of L L^T of a symmetric matrix of which the lower triangle is read, None if it is not positive definite."""
    out = a.copy()
    return np.tril(out) if _cholesky(out) else None


def _cholesky(a: np.ndarray) -> bool:
    n = len(a)
    if n <= _PANEL:
        return matrix_panels.cholesky_square(a)
    h = _half(n, _PANEL)
    if not _cholesky(a[:h, :h]):
        return False
    _solve_beside(a[:h, :h], a[h:, :h])
    matrix_panels.subtract(a[h:, h:], product(a[h:, :h], a[h:, :h].T))
    return _cholesky(a[h:, h:])


def _solve_beside(low: np.ndarray, b: np.ndarray) -> None:
    """Replace b by the solution of x L^T = b."""
    n = len(low)
    if n <= _TRIANGLE:
        b[...] = product(b, _inverted(low, False).T)
        return
    h = _half(n, _TRIANGLE)
    _solve_beside(low[:h, :h], b[:, :h])
    matrix_panels.subtract(b[:, h:], product(b[:, :h], low[h:, :h].T))
    _solve_beside(low[h:, h:], b[:, h:])


def qr(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q (m, k) and R (k, n) of a matrix (m, n), k the smaller length, with the signs LAPACK gives them."""
    work = a.copy()
    m, n = work.shape
    k = min(m, n)
    panels = [(j, min(j + _PANEL, k)) for j in range(0, k, _PANEL)]
    kept = []
    for j, end in panels:
        v, t = _reflections(work[j:, j:end])
        kept.append((v, t))
        if end < n:
            rest = work[j:, end:]
            matrix_panels.subtract(rest, product(v, product(t.T, product(v.T, rest))))
    q = np.eye(m, k, dtype=a.dtype)
    for (j, _), (v, t) in zip(reversed(panels), reversed(kept)):
        rest = q[j:, j:]
        matrix_panels.subtract(rest, product(v, product(t, product(v.T, rest))))
    return q, work[:k]


def _reflections(panel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factor a panel into R in place; V and T of its reflections' product I - V T V^T."""
    m, k = panel.shape[0], min(panel.shape)
    v, t = np.empty((m, k), panel.dtype), np.empty((k, k), panel.dtype)
    matrix_panels.qr_panel(panel, v, t)
    return v, t

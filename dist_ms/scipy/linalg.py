"""Linear algebra in SciPy's form. Integer matrices count as float64 ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_choice, check_dimensions, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import Primitive
from dist_ms.ops.kernels import linalg as routines
from dist_ms.ops.linear_algebra import lapack
from dist_ms.ops.linear_algebra.lapack import one_thread

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "eigh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "solve_triangular",
]

_TYPES = (np.float32, np.float64, np.int32, np.int64)


def _matrix(a: Any, name: str, owner: str, square: bool = True, ndims: tuple = (2,)) -> Tensor:
    """A tensor of floats with the shape of a matrix."""
    if not isinstance(a, Tensor):
        raise TypeError(complaint(name, owner, "a Tensor", type(a).__name__))
    if a.array().dtype not in _TYPES:
        raise TypeError(complaint(name, owner, "of float32, float64, int32 or int64", a.dtype))
    check_dimensions(a, name, owner, *ndims)
    if square and a.shape[-1] != a.shape[-2]:
        raise ValueError(complaint(name, owner, "a square matrix", f"shape {a.shape}"))
    return a if a.array().dtype.kind == "f" else ops.cast(a, mstype.float64)


def _flags(owner: str, **flags: Any) -> None:
    for name, value in flags.items():
        check_bool(value, name, owner)


def block_diag(*arrs: Tensor) -> Tensor:
    """Put matrices along the diagonal of a matrix of zeros.

    Args:
        arrs: numbers, rows or matrices.

    Returns:
        Tensor; (1, 0) without matrices.

    Raises:
        TypeError: if one is no Tensor.
        ValueError: if one has more than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.linalg.block_diag(ms.Tensor([[1.0]]), ms.Tensor([2.0, 3.0])))
        [[1. 0. 0.]
         [0. 2. 3.]]
    """
    rows = []
    parts = [_part(i, a) for i, a in enumerate(arrs)] or [ops.zeros((1, 0), mstype.float32)]
    width, left = sum(p.shape[1] for p in parts), 0
    for p in parts:
        rows.append(ops.pad(p, (left, width - left - p.shape[1])))
        left += p.shape[1]
    return ops.concat(rows, 0)


def _part(i: int, a: Any) -> Tensor:
    if not isinstance(a, Tensor):
        raise TypeError(complaint(f"arrs[{i}]", "block_diag", "a Tensor", type(a).__name__))
    if a.ndim > 2:
        raise ValueError(complaint(f"arrs[{i}]", "block_diag", "of at most 2 dimensions", f"shape {a.shape}"))
    return a.reshape((1, -1)) if a.ndim < 2 else a


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Invert a matrix.

    Args:
        a: (n, n).
        overwrite_a: accepted; `a` stays.
        check_finite: refuse infinite and NaN elements.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `a` is no square matrix of finite numbers, or has no inverse.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.linalg.inv(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    _flags("inv", overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.inverse(_finite(_matrix(a, "a", "inv"), "a", "inv", check_finite))


def _finite(a: Tensor, name: str, owner: str, wanted: bool) -> Tensor:
    if wanted and not np.isfinite(a.array()).all():
        raise ValueError(complaint(name, owner, "of finite numbers", "infinity or NaN; check_finite=False takes them"))
    return a


def cholesky(a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Factor a symmetric positive definite matrix: a = L L^T, or U^T U.

    Args:
        a: (n, n); its lower triangle is read.
        lower: return L, not U.
        overwrite_a: accepted; `a` stays.
        check_finite: refuse infinite and NaN elements.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `a` is no square matrix of finite numbers.
        RuntimeError: if it is not positive definite.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.linalg.cholesky(ms.Tensor([[4.0, 2.0], [2.0, 5.0]])))
        [[2. 1.]
         [0. 2.]]
    """
    _flags("cholesky", lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.cholesky(_finite(_matrix(a, "a", "cholesky"), "a", "cholesky", check_finite), not lower)


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """Factor a symmetric positive definite matrix for `cho_solve`.

    Args:
        a, lower, overwrite_a, check_finite: see `cholesky`.

    Returns:
        (the factor, lower).

    Examples:
        >>> import dist_ms as ms
        >>> a = ms.Tensor([[4.0, 2.0], [2.0, 5.0]])
        >>> print(ms.scipy.linalg.cho_solve(ms.scipy.linalg.cho_factor(a), ms.Tensor([4.0, 2.0])))
        [1. 0.]
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(
    c_and_lower: tuple[Tensor, bool], b: Tensor, overwrite_b: bool = False, check_finite: bool = True
) -> Tensor:
    """Solve a x = b by the factor of a.

    Args:
        c_and_lower: what `cho_factor` returns.
        b: (n,) or (n, m).
        overwrite_b: accepted; `b` stays.
        check_finite: refuse infinite and NaN elements of b.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.linalg.cho_solve((ms.Tensor([[2.0]]), True), ms.Tensor([8.0])))
        [2.]
    """
    factor, lower = c_and_lower
    _flags("cho_solve", lower=lower, overwrite_b=overwrite_b, check_finite=check_finite)
    factor = _matrix(factor, "c", "cho_solve")
    right = _right("cho_solve", factor, b, check_finite)
    found = ops.cholesky_solve(right, factor, not lower)
    return found if b.ndim == 2 else found.reshape((-1,))


def _right(owner: str, a: Tensor, b: Any, check_finite: bool) -> Tensor:
    """The right side as a matrix of the type of a."""
    b = _finite(_matrix(b, "b", owner, square=False, ndims=(1, 2)), "b", owner, check_finite)
    if b.shape[0] != a.shape[0]:
        raise ValueError(complaint("b", owner, f"of {a.shape[0]} rows", f"shape {b.shape}"))
    return ops.cast(b if b.ndim == 2 else b.reshape((-1, 1)), a.dtype)


def solve_triangular(
    a: Tensor,
    b: Tensor,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """Solve a x = b for a triangular matrix.

    Args:
        a: (n, n); the other triangle is not read.
        b: (n,) or (n, m).
        trans: 0 or "N" for a x = b, 1 or "T" and 2 or "C" for a^T x = b.
        lower: whether the lower triangle is meant.
        unit_diagonal: whether the diagonal counts as ones.
        overwrite_b, debug: accepted; `b` stays.
        check_finite: refuse infinite and NaN elements.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or `trans` is another.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.linalg.solve_triangular(ms.Tensor([[2.0, 1.0], [0.0, 4.0]]), ms.Tensor([4.0, 8.0])))
        [1. 2.]
    """
    owner = "solve_triangular"
    _flags(owner, lower=lower, unit_diagonal=unit_diagonal, overwrite_b=overwrite_b, check_finite=check_finite)
    check_choice(trans, "trans", owner, (0, 1, 2, "N", "T", "C"))
    a = _finite(_matrix(a, "a", owner), "a", owner, check_finite)
    right = _right(owner, a, b, check_finite)
    if unit_diagonal:
        a = (ops.tril(a, -1) if lower else ops.triu(a, 1)) + ops.cast(ops.eye(a.shape[0]), a.dtype)
    adjoint = trans not in (0, "N")
    found = ops.MatrixTriangularSolve(lower=lower, adjoint=adjoint)(a, right)
    return found if b.ndim == 2 else found.reshape((-1,))


def lu_factor(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """Factor a matrix by elimination with exchanged rows.

    Args:
        a: (n, m).
        overwrite_a: accepted; `a` stays.
        check_finite: refuse infinite and NaN elements.

    Returns:
        (L below the diagonal and U in one matrix, int32 numbers of the row that each was exchanged with). No
        gradient passes through.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `a` is no matrix of finite numbers.

    Examples:
        >>> import dist_ms as ms
        >>> both, rows = ms.scipy.linalg.lu_factor(ms.Tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> print(both, rows)
        [[4.   4.  ]
         [0.25 1.  ]] [1 1]
    """
    _flags("lu_factor", overwrite_a=overwrite_a, check_finite=check_finite)
    a = _finite(_matrix(a, "a", "lu_factor", square=False), "a", "lu_factor", check_finite)
    if not a.size:
        return wrap(a.array().copy()), wrap(np.zeros(0, np.int32))
    with one_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A matrix without an inverse has factors, too.
        both, pivots = routines.lu_factor(a.array(), check_finite=False)
    return wrap(np.ascontiguousarray(both)), wrap(pivots)


def lu(a: Tensor, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple:
    """Factor a matrix: a = P L U with ones on the diagonal of L.

    Args:
        a: (n, m).
        permute_l: return (P L, U).
        overwrite_a: accepted; `a` stays.
        check_finite: refuse infinite and NaN elements.

    Returns:
        (P of int32, L, U), or (P L, U). No gradient passes through.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `a` is no matrix of finite numbers.

    Examples:
        >>> import dist_ms as ms
        >>> p, l, u = ms.scipy.linalg.lu(ms.Tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> print(p, l)
        [[0 1]
         [1 0]] [[1.   0.  ]
         [0.25 1.  ]]
    """
    _flags("lu", permute_l=permute_l, overwrite_a=overwrite_a, check_finite=check_finite)
    a = _finite(_matrix(a, "a", "lu", square=False), "a", "lu", check_finite)
    with one_thread:
        factors = [np.ascontiguousarray(factor) for factor in routines.lu(a.array(), permute_l, check_finite=False)]
    if not permute_l:
        factors[0] = factors[0].astype(np.int32) if a.size else np.eye(a.shape[0], dtype=np.int32)
    return tuple(map(wrap, factors))


class _SymmetricEigen(Primitive):
    """Eigenvalues and eigenvectors of a symmetric matrix, of which one triangle is read."""

    name = "eigh"
    keeps_output = True

    def __init__(self, lower: bool) -> None:
        self.lower = lower

    def forward(self, a: np.ndarray) -> tuple:
        return lapack.eigh(a, self.lower)

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        values, vectors = output
        gaps = ops.expand_dims(values, 0) - ops.expand_dims(values, 1)
        one = ops.cast(ops.eye(values.shape[0]), values.dtype)
        inner = ops.matmul(vectors.T, dout[1]) * (1 - one) / (gaps + one) + ops.diag(dout[0])
        whole = ops.matmul(ops.matmul(vectors, inner), vectors.T)
        # Both triangles stand for what one of them holds.
        both = whole + whole.T
        half = ops.tril(both, -1) if self.lower else ops.triu(both, 1)
        return half + ops.diag(ops.diagonal(whole))


def eigh(
    a: Tensor,
    b: Tensor | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: tuple | None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Find eigenvalues and eigenvectors of a symmetric matrix.

    Args:
        a: (n, n).
        b: must be None.
        lower: read the lower triangle, not the upper one.
        eigvals_only: return the eigenvalues alone.
        overwrite_a, overwrite_b, turbo, type: accepted; `a` stays.
        eigvals: must be None.
        check_finite: refuse infinite and NaN elements.

    Returns:
        (eigenvalues (n,) in rising order, eigenvectors (n, n) as columns), or the eigenvalues.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `a` is no square matrix of finite numbers, or `b` or `eigvals` are given.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.linalg.eigh(ms.Tensor([[2.0, 1.0], [1.0, 2.0]]), eigvals_only=True).asnumpy().round(4))
        [1. 3.]
    """
    flags = {"lower": lower, "eigvals_only": eigvals_only, "overwrite_a": overwrite_a, "overwrite_b": overwrite_b}
    _flags("eigh", **flags, turbo=turbo, check_finite=check_finite)
    for name, value in (("b", b), ("eigvals", eigvals)):
        if value is not None:
            raise ValueError(complaint(name, "eigh", "None", value))
    values, vectors = _SymmetricEigen(lower)(_finite(_matrix(a, "a", "eigh"), "a", "eigh", check_finite))
    return values if eigvals_only else (values, vectors)


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, driver: str | None = None) -> tuple:
    """Find x with the least |A x - B|, and of several the shortest.

    Args:
        A: (n, m).
        B: (n,) or (n, k).
        rcond: singular values below it times the largest count as 0; None for the machine's precision.
        driver: "gels", "gelsy", "gelsd", "gelss" or None; the last two also return residuals and singular values.

    Returns:
        (x, residuals, rank, singular values). No gradient passes through.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or the driver is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.Tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), ms.Tensor([1.0, 2.0, 4.0])
        >>> print(ms.scipy.linalg.lstsq(a, b)[0].asnumpy().round(4))
        [1. 3.]
    """
    check_choice(driver, "driver", "lstsq", (None, "gels", "gelsy", "gelsd", "gelss"))
    a = _matrix(A, "A", "lstsq", square=False)
    b = _right("lstsq", a, B, False)
    x, residuals, rank, singular = np.linalg.lstsq(a.array(), b.array(), rcond)
    if driver not in ("gelsd", "gelss"):
        residuals, singular = residuals[:0], singular[:0]
    x = x if B.ndim == 2 else x[:, 0]
    return wrap(np.ascontiguousarray(x)), wrap(residuals), Tensor(int(rank)), wrap(singular)

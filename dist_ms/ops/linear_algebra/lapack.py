"""Inverses, determinants and factors of arrays by SciPy's LAPACK: NumPy's functions take 1.1 to 2.6 times as long.

OpenBLAS gives its threads panels so thin that they wait for one another longer than they compute: a QR factorisation
of 128 x 128 takes 1.2 ms on two threads and 0.4 on one, and where cores are busy the waits are ten times that. So all
but large matrices have one.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from dist_ms.ops.kernels import lapack, triangles
from dist_ms.ops.layout import contiguous, copied

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
# What LAPACK wants of scratch for each row or column to work on as many together.
_PANEL = 32
# The shorter side of a matrix below which a batch is NumPy's, whose loop over it is compiled.
_SMALL = 64
# That from which on threads pay.
_LARGE = 1024


class _OneThread:
    """SciPy's OpenBLAS computes on one thread within; any other library is left alone."""

    def __init__(self) -> None:
        self._lock, self._inside, self._before = threading.Lock(), 0, 1
        self._calls: tuple[Callable, Callable] | None = None

    def _found(self) -> tuple[Callable, Callable]:
        library = ctypes.CDLL(importlib.import_module("scipy.linalg._flapack").__file__)
        for prefix in ("scipy_openblas", "openblas"):
            try:
                return getattr(library, f"{prefix}_get_num_threads"), getattr(library, f"{prefix}_set_num_threads")
            except AttributeError:
                continue
        return lambda: 1, lambda count: None

    def __enter__(self) -> None:
        with self._lock:
            if self._calls is None:
                self._calls = self._found()
            if not self._inside:
                self._before = self._calls[0]()
                self._calls[1](1)
            self._inside += 1

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._calls[1](self._before)


one_thread = _OneThread()


def _routine(name: str, a: np.ndarray) -> Callable:
    """LAPACK's routine for the type of an array."""
    return getattr(lapack, _LETTERS[a.dtype.char] + name)


def _by_columns(a: np.ndarray) -> np.ndarray:
    """A copy of a matrix as Fortran has it, to be written to: SciPy's own takes several times as long."""
    return copied(a.T).T


def _each(function: Callable, whole: Callable, a: np.ndarray) -> Any:
    """A function of each matrix of an array; `whole`, NumPy's of all, where there are many small ones, or none."""
    side = min(a.shape[-2:])
    if not a.size or (a.ndim > 2 and side < _SMALL):
        return whole(a)
    with one_thread if side < _LARGE else contextlib.nullcontext():
        if a.ndim == 2:
            return function(a)
        found = [function(matrix) for matrix in a.reshape(-1, *a.shape[-2:])]
    if not isinstance(found[0], tuple):
        return np.stack(found).reshape(*a.shape[:-2], *found[0].shape)
    return tuple(np.stack(part).reshape(*a.shape[:-2], *part[0].shape) for part in zip(*found))


def _inverse_of(factors: np.ndarray, pivots: np.ndarray, overwrite: bool) -> np.ndarray:
    out, wrong = _routine("getri", factors)(factors, pivots, lwork=_PANEL * len(factors), overwrite_lu=overwrite)
    if wrong:
        raise np.linalg.LinAlgError("Singular matrix")
    out += 0  # -0 is what many zeros of triangles come out as
    return out.T


def _inverse(a: np.ndarray) -> np.ndarray:
    # Transposed, a matrix lies as Fortran has it.
    factors, pivots, wrong = _routine("getrf", a)(a.T)
    if wrong:
        raise np.linalg.LinAlgError("Singular matrix")
    return _inverse_of(factors, pivots, True)


def inverse(a: np.ndarray) -> np.ndarray:
    """Invert square matrices.

    Raises:
        LinAlgError: if one has no inverse.
    """
    return _each(_inverse, np.linalg.inv, a)


def _log_determinant(a: np.ndarray) -> tuple[np.ndarray, ...]:
    """The sign, the log, and what they are made of: the factors, as rows are columns, and the pivots."""
    factors, pivots, _ = _routine("getrf", a)(a.T)
    diagonal = factors.diagonal()
    sizes = np.abs(diagonal)
    signs = np.divide(diagonal, sizes, out=np.zeros_like(diagonal), where=sizes > 0)
    sign = signs.prod()
    odd = np.count_nonzero(pivots != np.arange(len(pivots))) % 2
    return -sign if odd else sign, np.log(sizes).sum(), factors.T, pivots


def log_determinant(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The signs and the logs of the absolute values of the determinants of square matrices."""
    sign, log = _each(lambda a: _log_determinant(a)[:2], np.linalg.slogdet, a)
    return np.asarray(sign), np.asarray(log)


def factored_log_determinant(a: np.ndarray) -> tuple[np.ndarray, ...]:
    """What `log_determinant` returns, and factors and pivots for `inverse_of_factors`; empty where it needs none."""
    none = (np.empty(0, a.dtype), np.empty(0, np.int32))
    found = _each(_log_determinant, lambda a: (*np.linalg.slogdet(a), *none), a)
    return tuple(np.asarray(part) for part in found)


def inverse_of_factors(a: np.ndarray, factors: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """Invert square matrices of which `factored_log_determinant` has made factors.

    Raises:
        LinAlgError: if one has no inverse.
    """
    if not factors.size:
        return inverse(a)
    with one_thread if len(factors[-1]) < _LARGE else contextlib.nullcontext():
        pairs = zip(factors.reshape(-1, *a.shape[-2:]), pivots.reshape(-1, a.shape[-1]), strict=True)
        return np.stack([_inverse_of(lu.T, pivot, False) for lu, pivot in pairs]).reshape(a.shape)


def determinant(a: np.ndarray) -> np.ndarray:
    """The determinants of square matrices."""
    sign, log = log_determinant(a)
    return np.asarray(sign * np.exp(log), a.dtype)


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions of A x = b, square matrices A and matrices b.

    Raises:
        LinAlgError: if a matrix has no inverse.
    """
    if a.ndim > 2 or b.ndim > 2 or a.dtype != b.dtype or not a.size or not b.size:
        return np.linalg.solve(a, b)
    with one_thread if len(a) < _LARGE else contextlib.nullcontext():
        *_, out, wrong = _routine("gesv", a)(a, b)
    if wrong:
        raise np.linalg.LinAlgError("Singular matrix")
    return out


def eigh(a: np.ndarray, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues, rising, and as columns the eigenvectors of a symmetric matrix of which one triangle is read."""
    if not a.size:
        return np.linalg.eigh(a, "L" if lower else "U")
    with one_thread if len(a) < _LARGE else contextlib.nullcontext():
        values, vectors, wrong = _routine("syevd", a)(a, lower=lower)
    if wrong:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values, vectors


def _cholesky(a: np.ndarray) -> np.ndarray:
    out, wrong = _routine("potrf", a)(a.T, lower=False)
    if wrong:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return out.T


def cholesky(a: np.ndarray) -> np.ndarray:
    """The lower triangles L of matrices L L^H, of which the lower triangles are read.

    Raises:
        LinAlgError: if one is not positive definite.
    """
    return _each(_cholesky, np.linalg.cholesky, a)


def qr(a: np.ndarray, complete: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Q with orthonormal columns, square if `complete`, and R, upper triangular, of matrices Q R."""

    def factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = a.shape
        width = rows if complete else min(rows, columns)
        reflections, weights, *_ = _routine("geqrf", a)(_by_columns(a), lwork=_PANEL * columns, overwrite_a=True)
        transposed = contiguous(reflections[:width].T)
        r = np.empty_like(transposed)
        triangles.cut(transposed[None], 0, True, r[None])
        if width <= columns:
            q = reflections[:, :width]
        else:
            q = np.zeros((rows, width), a.dtype, "F")
            q[:, :columns] = reflections
        name = "orgqr" if a.dtype.kind == "f" else "ungqr"
        return _routine(name, a)(q, weights, lwork=_PANEL * width, overwrite_a=True)[0], r.T

    return _each(factors, lambda a: np.linalg.qr(a, "complete" if complete else "reduced"), a)


def svd(a: np.ndarray, full: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, s and V^H of matrices U diag(s) V^H, s falling; U and V are square if `full`.

    Raises:
        LinAlgError: if the iteration does not end, as with NaN.
    """

    def factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        u, s, v, wrong = _routine("gesdd", a)(_by_columns(a), full_matrices=full, overwrite_a=True)
        if wrong:
            raise np.linalg.LinAlgError("SVD did not converge")
        return u, s, v

    return _each(factors, lambda a: np.linalg.svd(a, full_matrices=full), a)


def singular_values(a: np.ndarray) -> np.ndarray:
    """The singular values of matrices, falling.

    Raises:
        LinAlgError: if the iteration does not end, as with NaN.
    """

    def values(a: np.ndarray) -> np.ndarray:
        _, s, _, wrong = _routine("gesdd", a)(a, compute_uv=False)
        if wrong:
            raise np.linalg.LinAlgError("SVD did not converge")
        return s

    return _each(values, lambda a: np.linalg.svd(a, compute_uv=False), a)

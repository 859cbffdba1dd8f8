"""Singular values in the matrices' own type: NumPy's public function computes those of float32 in float64."""

from __future__ import annotations

import numpy as np

from dist_ms.ops.linear_algebra import blocked
from dist_ms.ops.linear_algebra.matmul import product

# Rows and columns from which on float32 is worth it; smaller matrices gain little and keep float64's digits.
_LARGE = 64


def svd(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, the singular values and V^H of matrices (..., m, n), with as many columns and rows as there are values.

    Raises:
        LinAlgError: if they cannot be found, as for NaN.
    """
    loop = _loop(x, "svd_s")
    if loop is not None and x.ndim == 2 and x.shape[0] >= 2 * x.shape[1] and np.isfinite(x).all():
        q, r = blocked.qr(x)  # most of the work of a tall matrix becomes products
        u, s, v = svd(r)
        return product(q, u), s, v
    if loop is not None:
        with np.errstate(all="ignore"):
            u, s, v = loop(x, signature="f->fff")
        if not np.isnan(s).any():
            return u, s, v
    return np.linalg.svd(x, full_matrices=False)


def values(x: np.ndarray) -> np.ndarray:
    """The singular values alone.

    Raises:
        LinAlgError: if they cannot be found, as for NaN.
    """
    loop = _loop(x, "svd")
    if loop is not None:
        with np.errstate(all="ignore"):
            s = loop(x, signature="f->f")
        if not np.isnan(s).any():
            return s
    return np.linalg.svd(x, compute_uv=False)


def _loop(x: np.ndarray, name: str) -> np.ufunc | None:
    """NumPy's own function for large float32 matrices; None for others, or if this NumPy has none of the name."""
    if x.dtype.type is not np.float32 or min(x.shape[-2:]) < _LARGE or not x.size:
        return None
    found = getattr(getattr(np.linalg, "_umath_linalg", None), name, None)
    kind = "f->f" if name == "svd" else "f->fff"
    return found if isinstance(found, np.ufunc) and kind in found.types else None

"""The incomplete gamma functions, as SciPy has them but at the edges, and the zeta function, where SciPy's is slow."""

from __future__ import annotations

import numpy as np

from dist_ms.ops.kernels import special
from dist_ms.ops.pointwise import apply
from dist_ms.ops.special_functions.gamma_functions import digamma_array, lgamma_array

_EPS = np.finfo(np.float64).eps
# B_2k / (2k)!, k = 1 ... 12, of the formula of Euler and Maclaurin.
_BERNOULLI = np.array(
    [
        1 / 12,
        -1 / 720,
        1 / 30240,
        -1 / 1209600,
        1 / 47900160,
        -691 / 1307674368000,
        1 / 74724249600,
        -3617 / 10670622842880000,
        43867 / 5109094217170944000,
        -174611 / 802857662698291200000,
        77683 / 14101100039391805440000,
        -236364091 / 1693824136731743669452800000,
    ]
)


def density_array(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x^a exp(-x) / Gamma(a + 1)."""
    return np.exp(a * np.log(x) - x - lgamma_array(a + 1))


def igamma_array(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """P(a, x), 1 for infinite x; NaN for negative numbers or a = 0."""
    out = apply(special.gammainc, a, x)
    np.copyto(out, 1, where=x == np.inf)
    np.copyto(out, np.nan, where=~(a > 0))
    return out


def igammac_array(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Q(a, x) = 1 - P(a, x), precise where it is small."""
    out = apply(special.gammaincc, a, x)
    np.copyto(out, 0, where=x == np.inf)
    np.copyto(out, np.nan, where=~(a > 0))
    return out


def igamma_by_a_array(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of P(a, x) by a: sum over n of density(a + n, x) (log x - digamma(a + n + 1))."""
    a, x = a.astype(np.float64), x.astype(np.float64)
    good = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
    a, x = np.where(good, a, 1), np.where(good, x, 1)
    term, total, n = density_array(a, x), np.zeros_like(x), 0
    slope = np.log(x) - digamma_array(a + 1)
    while True:
        total = total + term * slope
        n += 1
        if np.all((term * np.abs(slope) <= _EPS / 16 * np.abs(total)) | (n > x + 40 + 12 * np.sqrt(x))):
            break
        term = term * (x / (a + n))
        slope = slope - 1 / (a + n)
    return np.where(good, total, 0)


def zeta_array(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The sum over n >= 0 of (n + q)^-x: twelve terms, the rest by Euler and Maclaurin.

    Infinite for x = 1; NaN for x < 1, and for q below 0 unless both are whole or q is not but x is.
    """
    x, q = x.astype(np.float64), q.astype(np.float64)
    terms = 12
    total = sum(np.power(q + n, -x) for n in range(terms))
    end = q + terms
    total = total + np.power(end, 1 - x) / (x - 1) + np.power(end, -x) / 2
    factor = x * np.power(end, -x - 1)
    for k, weight in enumerate(_BERNOULLI):
        total = total + weight * factor
        factor = factor * (x + 2 * k + 1) * (x + 2 * k + 2) / end**2
    total = np.where((q <= 0) & (q == np.floor(q)), np.inf, np.where((q < 0) & (x != np.floor(x)), np.nan, total))
    # Far below 0 the rest starts left of the origin.
    return np.where(x == 1, np.inf, np.where((x < 1) | ((q <= -terms) & np.isfinite(total)), np.nan, total))

"""Bessel functions of orders 0 and 1 on float64 arrays, from their integrals.

The integrands are periodic or fall off doubly exponentially, so that equally spaced points
give all digits: Trefethen and Weideman, The exponentially convergent trapezoidal rule, 2014.
Large arguments take the asymptotic expansions (Abramowitz and Stegun, 9.2 and 9.7).
"""

from __future__ import annotations

import numpy as np

_ANGLES = 2 * np.pi * np.arange(128) / 128
_COS, _SIN2 = np.cos(_ANGLES), np.sin(_ANGLES) ** 2
_LARGE = 30.0
_EULER = 0.57721566490153286


def _expansion(n: int, x: np.ndarray) -> list[np.ndarray]:
    """The terms a_k(n) / x^k of the asymptotic expansions, a_k = prod of (4n² - (2j - 1)²) / (8j)."""
    terms, term = [], np.ones_like(x)
    for k in range(1, 31):
        terms.append(term)
        term = term * ((4 * n * n - (2 * k - 1) ** 2) / (8 * k)) / x
    return terms


def _waves(n: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J_n and Y_n of large arguments."""
    terms = _expansion(n, x)
    even = sum((-1) ** k * t for k, t in enumerate(terms[::2]))
    odd = sum((-1) ** k * t for k, t in enumerate(terms[1::2]))
    angle, size = x - (2 * n + 1) * np.pi / 4, np.sqrt(2 / (np.pi * x))
    cos, sin = np.cos(angle), np.sin(angle)
    return size * (even * cos - odd * sin), size * (even * sin + odd * cos)


def bessel_j_array(n: int, x: np.ndarray) -> np.ndarray:
    """J_n, n 0 or 1: the mean over a circle of cos(x cos t), for n = 1 times x sin(t)²."""
    flat, sizes = np.ravel(x), np.abs(np.ravel(x))
    near = np.where(sizes < _LARGE, flat, 0)
    waves = np.cos(near[:, None] * _COS)
    inside = waves.mean(-1) if n == 0 else near * (waves * _SIN2).mean(-1)
    far = _waves(n, np.where(sizes < _LARGE, _LARGE, sizes))[0]
    out = np.where(sizes < _LARGE, inside, far if n == 0 else np.sign(flat) * far)
    return np.where(np.isinf(flat), 0, out).reshape(np.shape(x))


def bessel_y_array(n: int, x: np.ndarray) -> np.ndarray:
    """Y_n, n 0 or 1, as a sum of J_k of all orders k (9.1.88 and 89); NaN below 0."""
    flat = np.ravel(x)
    near = np.where((flat > 0) & (flat < _LARGE), flat, 1.0)
    orders = np.fft.fft(np.exp(1j * near[:, None] * np.sin(_ANGLES))).real / 128
    k = np.arange(1, 31)
    log = np.log(near / 2) + _EULER
    if n == 0:
        total = (orders[:, 2 * k] * ((-1.0) ** k / k)).sum(-1)
        inside = 2 / np.pi * (log * bessel_j_array(0, near) - 2 * total)
    else:
        total = (orders[:, 2 * k + 1] * ((-1.0) ** k * (2 * k + 1) / (k * (k + 1)))).sum(-1)
        inside = 2 / np.pi * ((log - 1) * bessel_j_array(1, near) - bessel_j_array(0, near) / near - total)
    far = _waves(n, np.maximum(flat, _LARGE))[1]
    out = np.where(flat < _LARGE, inside, np.where(np.isinf(flat), 0, far))
    return np.where(flat > 0, out, np.where(flat == 0, -np.inf, np.nan)).reshape(np.shape(x))


def bessel_ie_array(n: int, x: np.ndarray) -> np.ndarray:
    """exp(-|x|) I_n(x), n 0 or 1: the mean over a circle of exp(|x| (cos t - 1)), for n = 1 times x sin(t)²."""
    flat, sizes = np.ravel(x), np.abs(np.ravel(x))
    near = np.where(sizes < _LARGE, sizes, 0)
    waves = np.exp(near[:, None] * (_COS - 1))
    inside = waves.mean(-1) if n == 0 else near * (waves * _SIN2).mean(-1)
    large = np.maximum(sizes, _LARGE)
    far = sum((-1) ** k * t for k, t in enumerate(_expansion(n, large))) / np.sqrt(2 * np.pi * large)
    out = np.where(sizes < _LARGE, inside, far)
    return (out if n == 0 else np.sign(flat) * out).reshape(np.shape(x))


def bessel_ke_array(n: int, x: np.ndarray) -> np.ndarray:
    """exp(x) K_n(x), n 0 or 1: the integral over t > 0 of exp(-x (cosh t - 1)) cosh(n t); NaN below 0."""
    flat = np.ravel(x)
    some = np.where((flat > 0) & np.isfinite(flat), flat, 1.0)
    end = np.arccosh(1 + 50 / some)
    t = end[:, None] * (np.arange(257) / 256)
    # cosh(t) - 1 without cancellation
    waves = np.exp(-2 * some[:, None] * np.sinh(t / 2) ** 2) * np.cosh(n * t)
    waves[:, 0] /= 2
    out = np.where(np.isinf(flat), 0, waves.sum(-1) * end / 256)
    return np.where(flat > 0, out, np.where(flat == 0, np.inf, np.nan)).reshape(np.shape(x))

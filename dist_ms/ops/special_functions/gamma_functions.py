"""log-gamma, digamma and polygamma of float64 arrays.

Upward recurrence to large arguments, then the asymptotic series in Bernoulli numbers
(Abramowitz and Stegun, 6.1.41, 6.3.18, 6.4.11); the reflection formula below 0.
"""

from __future__ import annotations

import math

import numpy as np

# B(2k) for k = 1 ... 8
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LARGE = 12.0


def _raised(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(x plus a whole number that makes it large, that number)."""
    steps = np.ceil(np.clip(_LARGE - x, 0, None))
    return x + steps, steps


def _lgamma_positive(x: np.ndarray) -> np.ndarray:
    z, steps = _raised(x)
    product = np.ones_like(x)
    for k in range(int(steps.max(initial=0))):
        product = np.where(k < steps, product * (x + k), product)
    series = sum(b / (2 * k * (2 * k - 1)) / z ** (2 * k - 1) for k, b in enumerate(_BERNOULLI, 1))
    return (z - 0.5) * np.log(z) - z + 0.5 * math.log(2 * math.pi) + series - np.log(product)


def lgamma_array(x: np.ndarray) -> np.ndarray:
    """log |gamma(x)|; infinite at 0, -1, -2 ..."""
    usual = np.isfinite(x)
    safe = np.where(usual, x, 1.0)
    low = safe < 0.5
    positive = _lgamma_positive(np.where(low, 1 - safe, safe))
    sine = np.abs(np.sin(np.pi * (safe - np.floor(safe))))
    mirrored = math.log(math.pi) - np.log(np.where(sine == 0, 1.0, sine)) - positive
    out = np.where(low, np.where(sine == 0, np.inf, mirrored), positive)
    # 1 and 2 are zeros: near them the series loses digits, the exact value is at hand.
    out = np.where((safe == 1) | (safe == 2), 0.0, out)
    return np.where(usual, out, np.where(np.isnan(x), x, np.inf))


def digamma_array(x: np.ndarray) -> np.ndarray:
    """The derivative of log-gamma; NaN at 0, -1, -2 ..."""
    usual = np.isfinite(x)
    safe = np.where(usual, x, 1.0)
    pole = (safe <= 0) & (safe == np.floor(safe))
    low = safe < 0.5
    y = np.where(low, 1 - safe, safe)
    z, steps = _raised(y)
    total = np.log(z) - 0.5 / z - sum(b / (2 * k) / z ** (2 * k) for k, b in enumerate(_BERNOULLI, 1))
    for k in range(int(steps.max(initial=0))):
        total = np.where(k < steps, total - 1 / (y + k), total)
    angle = np.pi * (safe - np.floor(safe))
    out = np.where(low, total - np.pi / np.tan(np.where(pole, 1.0, angle)), total)
    return np.where(usual, np.where(pole, np.nan, out), np.where(x > 0, x, np.nan))


def polygamma_array(n: int, x: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma, n at least 1: (-1)^(n+1) n! sum over k of 1 / (x + k)^(n+1)."""
    low = x < 0.5
    poles = (x <= 0) & (x == np.floor(x))
    # Below 0 the sum itself climbs to positive arguments: one term per whole step.
    y = np.where(poles | ~np.isfinite(x), 1.0, x)
    lift = np.where(low, np.ceil(1 - y), 0.0)
    z0 = y + lift
    z, steps = _raised(z0)
    tail = 1 / (n * z**n) + 0.5 / z ** (n + 1)
    for k, b in enumerate(_BERNOULLI, 1):
        tail = tail + b * math.prod(range(n + 1, n + 2 * k)) / math.factorial(2 * k) / z ** (n + 2 * k)
    total = tail
    for k in range(int((lift + steps).max(initial=0))):
        total = np.where(k < lift + steps, total + 1 / (y + k) ** (n + 1), total)
    out = (-1) ** (n + 1) * math.factorial(n) * total
    return np.where(poles, np.inf if n % 2 else np.nan, np.where(np.isnan(x), x, np.where(np.isposinf(x), 0.0, out)))

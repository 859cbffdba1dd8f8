"""erf and erfc of arrays, and erfinv of float64 arrays: M. Giles, "Approximating the erfinv function" (2010), then
Halley's method.
"""

from __future__ import annotations

import math

import numpy as np

from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply


def erf_array(x: np.ndarray) -> np.ndarray:
    """The error function."""
    return apply(pointwise.erf, x)


def erfc_array(x: np.ndarray) -> np.ndarray:
    """1 minus the error function."""
    return apply(pointwise.erfc, x)


_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


# Elements at a time of the shorter way: what it makes of them stays in the caches.
_BLOCK = 1 << 14
# As near to 1 the polynomials are not good enough to start from; float32 has no number beyond.
_FAR = 5e-8


def erfinv_of_single(y: np.ndarray) -> np.ndarray:
    """The inverse of the error function of numbers that float32 holds, as float64 to more than float32's precision.

    The polynomials are right to 22 bits as far as 1 - 2^-24, and a step of Halley's method makes three times as many.
    """
    out = np.empty(y.shape)
    flat, found = y.reshape(-1), out.reshape(-1)
    for first in range(0, flat.size, _BLOCK):
        part = flat[first : first + _BLOCK].astype(np.float64)
        found[first : first + _BLOCK] = _refined(part, 1)
    return out


def erfinv_array(y: np.ndarray) -> np.ndarray:
    """The inverse of the error function; infinite at 1 and -1, NaN beyond."""
    return _refined(y, 3)


def _refined(y: np.ndarray, steps: int) -> np.ndarray:
    """The inverse of the error function after so many steps of Halley's method."""
    inside = np.abs(y) < 1
    y_in = np.where(inside, y, 0.0)
    tail = 1 - np.abs(y_in)
    w = -np.log1p(-np.square(y_in))
    x = (
        np.where(
            w < 5, np.polyval(_CENTRAL, np.minimum(w, 5.0) - 2.5), np.polyval(_TAIL, np.sqrt(np.clip(w, 5.0, 16.0)) - 3)
        )
        * y_in
    )
    # The polynomials are float32's; further out erfc(x) = exp(-x^2) / (x sqrt(pi)), nearly.
    if (tail < _FAR).any():
        far = np.sqrt(-np.log(np.minimum(tail, _FAR)))
        for _ in range(4):
            far = np.sqrt(-np.log(np.minimum(tail, _FAR) * math.sqrt(math.pi) * far))
        x = np.where(tail < _FAR, np.copysign(far, y_in), x)
    # On the smaller tail, so that values near 1 keep their precision.
    for _ in range(steps):
        error = np.where(np.abs(y_in) < 0.5, erf_array(x) - y_in, np.sign(y_in) * (tail - erfc_array(np.abs(x))))
        step = error / (2 / math.sqrt(math.pi) * np.exp(-np.square(x)))
        x = x - step / (1 + x * step)
    edge = np.where(np.abs(y) == 1, np.copysign(np.inf, y), np.nan)
    return np.where(inside, x, edge)

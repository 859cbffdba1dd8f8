"""erf, erfc and erfinv of float64 arrays.

erf and erfc: rational approximations in three ranges, W. J. Cody, "Rational Chebyshev
approximation for the error function", Math. Comp. 23 (1969), relative error below 1e-16.
erfinv: M. Giles, "Approximating the erfinv function" (2010), then Halley's method.
"""

from __future__ import annotations

import math

import numpy as np

_A = (3.16112374387056560, 113.864154151050156, 377.485237685302021, 3209.37758913846947, 0.185777706184603153)
_B = (23.6012909523441209, 244.024637934444173, 1282.61652607737228, 2844.23683343917062)
_C = (
    0.564188496988670089,
    8.88314979438837594,
    66.1191906371416295,
    298.635138197400131,
    881.952221241769090,
    1712.04761263407058,
    2051.07837782607147,
    1230.33935479799725,
    2.15311535474403846e-8,
)
_D = (
    15.7449261107098347,
    117.693950891312499,
    537.181101862009858,
    1621.38957456669019,
    3290.79923573345963,
    4362.61909014324716,
    3439.36767414372164,
    1230.33935480374942,
)
_P = (
    0.305326634961232344,
    0.360344899949804439,
    0.125781726111229246,
    0.0160837851487422766,
    6.58749161529837803e-4,
    0.0163153871373020978,
)
_Q = (2.56852019228982242, 1.87295284992346725, 0.527905102951428412, 0.0605183413124413191, 0.00233520497626869185)


def _ratio(numerator: tuple, denominator: tuple, t: np.ndarray) -> np.ndarray:
    """A quotient of polynomials in the form of Cody's tables: the numerator's last entry leads."""
    top, bottom = numerator[-1] * t, t
    for n, d in zip(numerator[:-2], denominator[:-1]):
        top, bottom = (top + n) * t, (bottom + d) * t
    return (top + numerator[-2]) / (bottom + denominator[-1])


def _erfc_positive(y: np.ndarray) -> np.ndarray:
    """erfc for y > 0.46875."""
    middle = np.minimum(y, 4.0)
    near = _ratio(_C, _D, middle)
    far_y = np.maximum(y, 4.0)
    z = 1 / np.square(far_y)
    far = (1 / math.sqrt(math.pi) - z * _ratio(_P, _Q, z)) / far_y
    # exp(-y²) with the square split, so that its rounding error does not grow.
    whole = np.trunc(np.minimum(y, 1e4) * 16) / 16
    rest = (y - whole) * (y + whole)
    return np.exp(-whole * whole) * np.exp(-rest) * np.where(y <= 4, near, far)


def erf_array(x: np.ndarray) -> np.ndarray:
    """The error function."""
    y = np.abs(x)
    small = np.minimum(y, 0.46875)
    inner = x * _ratio(_A, _B, np.square(small))
    outer = np.sign(x) * (1 - _erfc_positive(np.maximum(y, 0.46875)))
    return np.where(np.isnan(x), x, np.where(y <= 0.46875, inner, outer))


def erfc_array(x: np.ndarray) -> np.ndarray:
    """1 minus the error function."""
    y = np.abs(x)
    small = np.minimum(y, 0.46875)
    inner = 1 - x * _ratio(_A, _B, np.square(small))
    tail = _erfc_positive(np.maximum(y, 0.46875))
    return np.where(np.isnan(x), x, np.where(y <= 0.46875, inner, np.where(x < 0, 2 - tail, tail)))


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


def erfinv_array(y: np.ndarray) -> np.ndarray:
    """The inverse of the error function; infinite at 1 and -1, NaN beyond."""
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
    far = np.sqrt(-np.log(np.minimum(tail, 1e-6)))
    for _ in range(4):
        far = np.sqrt(-np.log(np.minimum(tail, 1e-6) * math.sqrt(math.pi) * far))
    x = np.where(tail < 1e-6, np.copysign(far, y_in), x)
    # On the smaller tail, so that values near 1 keep their precision.
    for _ in range(3):
        error = np.where(np.abs(y_in) < 0.5, erf_array(x) - y_in, np.sign(y_in) * (tail - erfc_array(np.abs(x))))
        step = error / (2 / math.sqrt(math.pi) * np.exp(-np.square(x)))
        x = x - step / (1 + x * step)
    edge = np.where(np.abs(y) == 1, np.copysign(np.inf, y), np.nan)
    return np.where(inside, x, edge)

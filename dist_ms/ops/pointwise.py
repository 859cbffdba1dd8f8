"""Functions of arrays, element by element and on all threads: NumPy's, and our own where those are slow.

`apply` takes any universal function; the others choose one by what the arrays hold.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dist_ms._ext.ufunc_loops import apply
from dist_ms.ops.kernels import pointwise as own

_BF16 = np.dtype(ml_dtypes.bfloat16)
_F16, _F32, _F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
# What is computed with in float32.
_SINGLE = (_F32, _BF16, _F16)
# What the loops of `clamp` take.
_CLAMPED = (_F32, _F64, np.dtype(np.int32), np.dtype(np.int64), _F16, _BF16)
_U16 = np.dtype(np.uint16)


def exp(x: np.ndarray) -> np.ndarray:
    """e^x of floats or complex numbers."""
    return apply(own.exp if x.dtype in _SINGLE else np.exp, x)


def log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of floats or complex numbers."""
    return apply(own.log if x.dtype in _SINGLE else np.log, x)


def of_numpy(function: np.ufunc, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """A function of NumPy that `_ext/pointwise/pointwise.pyx` has for float32, of floats or complex numbers."""
    if x.dtype in _SINGLE and (y is None or y.dtype in _SINGLE):
        function = getattr(own, function.__name__)
    return apply(function, x, y)


def select(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`np.where` of bools and two arrays of one dtype.

    Raises:
        ValueError: if the shapes do not broadcast.
    """
    d = x.dtype
    if d.kind == "c":
        return np.where(condition, x, y)
    if d == _BF16 or d == _F16:  # nothing is computed: their bits will do
        return apply(own.select, condition, x.view(_U16), y.view(_U16)).view(d)
    return apply(own.select, condition, x, y)


def clamp(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """min(max(x, low), high) of real numbers and limits of one dtype that are no NaN; an x that is one stays."""
    if x.dtype in _CLAMPED:
        return apply(own.clamp, x, low, high)
    return apply(np.minimum, apply(np.maximum, x, low), high)


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x to the power of y, floats or complex numbers of one dtype."""
    return apply(own.power if x.dtype in _SINGLE else np.power, x, y)


def power_of_number(x: np.ndarray, exponent: float) -> np.ndarray | None:
    """Floats to a power that has a way of its own; None for any other power."""
    if exponent == 2:
        return square(x)
    if exponent == 3:
        return apply(own.cube, x)
    if exponent == 0.5:
        return sqrt(x)
    return reciprocal(x) if exponent == -1 else None


def square(x: np.ndarray) -> np.ndarray:
    """x^2 of numbers."""
    if x.dtype == _BF16:
        return apply(own.bits_square, x.view(_U16)).view(_BF16)
    return apply(own.square if x.dtype in _SINGLE else np.square, x)


def sqrt(x: np.ndarray) -> np.ndarray:
    """The root of floats or complex numbers."""
    if x.dtype == _BF16:
        return apply(own.bits_sqrt, x.view(_U16)).view(_BF16)
    return apply(own.sqrt if x.dtype in _SINGLE else np.sqrt, x)


def reciprocal(x: np.ndarray) -> np.ndarray:
    """1 / x of floats or complex numbers."""
    if x.dtype.kind == "c":
        return apply(np.divide, np.ones((), x.dtype), x)
    if x.dtype == _BF16:
        return apply(own.bits_reciprocal, x.view(_U16)).view(_BF16)
    return apply(own.reciprocal if x.dtype in _SINGLE else np.reciprocal, x)


def hypot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The root of x^2 + y^2, real numbers of one dtype."""
    return apply(own.hypot if x.dtype in _SINGLE else np.hypot, x, y)


def rsqrt(x: np.ndarray) -> np.ndarray:
    """1 / sqrt(x) of floats or complex numbers."""
    if x.dtype == _BF16:
        return apply(own.bits_rsqrt, x.view(_U16)).view(_BF16)
    return reciprocal(sqrt(x)) if x.dtype.kind == "c" else apply(own.rsqrt, x)


def sign(x: np.ndarray) -> np.ndarray:
    """-1, 0 or 1 for each real number; a NaN stays one."""
    return apply(own.sign if x.dtype.kind in "fV" else np.sign, x)


def truncate_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The remainder of the division cut toward zero, of two arrays of one dtype."""
    return apply(own.fmod if x.dtype in _SINGLE else np.fmod, x, y)


def floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The remainder of the division rounded down, of two arrays of one dtype."""
    return apply(own.remainder if x.dtype in _SINGLE else np.remainder, x, y)

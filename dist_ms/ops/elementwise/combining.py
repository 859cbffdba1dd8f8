"""Sums, differences and products of two arrays: by a kernel where it is faster than NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dist_ms.ops.layout import is_channels_last, is_dense

_BF16 = np.dtype(ml_dtypes.bfloat16)
_F16 = np.dtype(np.float16)
_REAL = (np.dtype(np.float32), np.dtype(np.float64), _BF16, _F16)
# Elements from which on a kernel, called from Python, beats NumPy: earlier where NumPy is slow.
_FROM, _FROM_NARROW = 32768, 256
# Elements that y must have to be repeated: each repetition costs a little.
_LEAST_PERIOD = 64
_UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}


def combine(operation: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x + y, x - y or x * y ("add", "subtract", "multiply") of two arrays of one dtype."""
    if max(x.size, y.size) >= (_FROM_NARROW if x.dtype.itemsize == 2 else _FROM) and x.dtype in _REAL:
        if operation != "subtract" and (y.size > x.size or (y.size == x.size and _repeats_one(x))):
            x, y = y, x
        if y.shape == x.shape and _repeats_one(y):  # as the gradient of a sum does
            y = y[(slice(1),) * y.ndim]
        if x.ndim == y.ndim > 2 and 1 < y.size < x.size and not x.flags.c_contiguous and is_channels_last(x):
            return np.moveaxis(combine(operation, np.moveaxis(x, 1, -1), np.moveaxis(y, 1, -1)), -1, 1)
        if _fits(x, y):
            from dist_ms._ext import elementwise

            out = np.empty_like(x)
            getattr(elementwise, operation)(x, y.reshape(_last(x, y)), out)
            return out
    return _UFUNCS[operation](x, y)


def _repeats_one(x: np.ndarray) -> bool:
    """Whether an array of several numbers is one number, broadcast."""
    return x.size > 1 and not any(x.strides)


def _fits(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether y lies like x, or repeats along x's first axes, or is one number."""
    if x.shape == y.shape:
        return x.strides == y.strides and is_dense(x)
    if y.ndim > x.ndim:
        return False
    if y.size == 1:
        return is_dense(x)
    if not x.flags.c_contiguous:
        return False
    last = _last(x, y)
    return y.size >= _LEAST_PERIOD and y.flags.c_contiguous and x.shape[x.ndim - len(last) :] == last


def _last(x: np.ndarray, y: np.ndarray) -> tuple:
    """The shape of y without its first axes of length 1, where it is repeated."""
    if y.shape == x.shape:
        return y.shape
    return y.shape[next((i for i, n in enumerate(y.shape) if n != 1), y.ndim) :]

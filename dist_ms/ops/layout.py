"""Where the elements of an array lie: channels-last memory, dense copies, working types.

A convolution's output has the logical shape (N, C, *spatial) over memory in the order
(N, *spatial, C). What follows it keeps that order, so oneDNN never has to move elements.
"""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np

from dist_ms.ops.kernels import dnnl

_BF16 = np.dtype(ml_dtypes.bfloat16)
_F16, _F32, _F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
_FLOATS = (_F32, _BF16, _F16, _F64)

# Casts of float16 that NumPy is done with before a kernel would be called.
_LEAST_HALVES = 512


def working_type(dtype: np.dtype) -> np.dtype:
    """The type kernels compute in: float64 for itself, float32 for it and the 16-bit types."""
    return _F64 if dtype == _F64 else _F32


def kernel_type(dtype: np.dtype) -> np.dtype:
    """The type in which elementwise kernels take arrays: floats as they are, float32 for all others."""
    return dtype if dtype in _FLOATS else _F32


def onednn_type(dtype: np.dtype) -> np.dtype | None:
    """The type in which oneDNN takes arrays of a floating type.

    float16 as float32 where the CPU does not compute in it; None for float64, which oneDNN has no code for.
    """
    if dtype == _F64:
        return None
    if dtype == _F16:
        return dtype if dnnl.has_float16() else _F32
    return dtype if dtype == _BF16 else _F32


@functools.lru_cache
def _channels_first(ndim: int) -> tuple:
    """The axes of (N, *spatial, C) in the order (N, C, *spatial)."""
    return 0, ndim - 1, *range(1, ndim - 1)


@functools.lru_cache
def _channels_behind(ndim: int) -> tuple:
    """The axes of (N, C, *spatial) in the order (N, *spatial, C)."""
    return 0, *range(2, ndim), 1


def channels_last(shape: tuple, dtype: np.dtype) -> np.ndarray:
    """An uninitialised array of this shape (N, C, *spatial) over channels-last memory."""
    memory = np.empty((shape[0], *shape[2:], shape[1]), dtype)
    return memory.transpose(_channels_first(len(shape)))


def is_channels_last(x: np.ndarray) -> bool:
    """Whether (N, C, *spatial) lies in channels-last memory without gaps."""
    return x.transpose(_channels_behind(x.ndim)).flags.c_contiguous


def is_dense(x: np.ndarray) -> bool:
    """Whether the elements fill one piece of memory, in any order of the axes."""
    if x.flags.c_contiguous or (x.ndim > 2 and is_channels_last(x)):
        return True
    step = x.itemsize
    for length, stride in sorted(zip(x.shape, x.strides), key=lambda axis: axis[1]):
        if length > 1:
            if stride != step:
                return False
            step *= length
    return True


def dense(x: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """`x` itself if its elements fill one piece of memory and have the type, else a copy."""
    if dtype is not None and x.dtype != dtype:
        x = converted(x, dtype)
    return x if is_dense(x) else np.ascontiguousarray(x)


def in_memory_order(x: np.ndarray) -> np.ndarray:
    """The elements of `x` as a C-contiguous array: a view with its axes in another order where they are dense."""
    if x.flags.c_contiguous:
        return x
    if is_dense(x):
        return x.transpose(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))
    return np.ascontiguousarray(x)


def laid_out_like(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """`x` in the type and memory order of `like`, which has its shape; copied if need be."""
    if x.dtype == like.dtype and x.strides == like.strides:
        return x
    x = converted(x, like.dtype)
    if x.strides == like.strides:
        return x
    copy = np.empty_like(like)
    copy[...] = x
    return copy


def contiguous(x: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """`x` in row-major memory and, when given, this type."""
    return np.ascontiguousarray(x if dtype is None else converted(x, dtype))


def converted(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`array.astype(dtype, copy=False)`, by a kernel between float32 and the 16-bit types."""
    found = array.dtype
    if found == dtype:
        return array
    narrow = dtype if found == _F32 else found
    if not array.size or (found != _F32 and dtype != _F32) or (narrow != _BF16 and narrow != _F16):
        return array.astype(dtype, copy=False)
    if narrow == _F16 and array.size < _LEAST_HALVES:
        return array.astype(dtype)
    from dist_ms._ext import cast as kernels

    if array.ndim > 1 and not is_dense(array):
        columns, rows = array.strides[-2:]
        if rows == array.itemsize and narrow == _BF16:
            out = np.empty(array.shape, dtype)
            kernels.copy_rows(array, out)
            return out
        if columns == array.itemsize:  # a view of transposed matrices stays one
            return converted(array.swapaxes(-1, -2), dtype).swapaxes(-1, -2)
    if narrow == _BF16:
        kernel = kernels.from_bfloat16 if dtype == _F32 else kernels.to_bfloat16
    else:
        kernel = kernels.from_float16 if dtype == _F32 else kernels.to_float16
    out = np.empty_like(array, dtype, subok=False)  # a dense array's order of axes; another's in C order or close to it
    try:
        kernel(array, out)
    except ValueError:
        array = np.ascontiguousarray(array)
        out = np.empty(array.shape, dtype)
        kernel(array, out)
    return out

"""Where the elements of an array lie: channels-last memory, dense copies, working types.

A convolution's output has the logical shape (N, C, *spatial) over memory in the order
(N, *spatial, C). What follows it keeps that order, so oneDNN never has to move elements.
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from dist_ms._ext.layout import broadcast, channels_last, empty, empty_like, is_channels_last, is_dense, is_row_major
from dist_ms.ops.kernels import borders, dnnl, pointwise, strided_copy
from dist_ms.ops.kernels import cast as kernels
from dist_ms.ops.pointwise import apply

__all__ = [
    "broadcast",
    "channels_last",
    "contiguous",
    "copied",
    "copy_into",
    "converted",
    "dense",
    "empty",
    "empty_like",
    "in_memory_order",
    "is_channels_last",
    "is_dense",
    "is_row_major",
    "kernel_type",
    "laid_out_like",
    "onednn_type",
    "reshaped",
    "surrounded",
    "working_type",
]

_BF16 = np.dtype(ml_dtypes.bfloat16)
_F16, _F32, _F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
_FLOATS = (_F32, _BF16, _F16, _F64)

# Bytes from which on the kernel copies sooner than NumPy.
_LEAST_COPIED = 8192
# Bytes of the elements that the kernel of borders moves.
_BORDERED = (1, 2, 4, 8, 16)
# Casts of float16 that NumPy is done with before a kernel would be called.
_LEAST_HALVES = 512
# Casts that NumPy is done with before a second thread would help.
_LEAST_CAST = 32768
# Other types between which a kernel casts: the functions by what they return.
_CAST_FROM = tuple(np.dtype(t) for t in ("f4", "f8", "i4", "i8", "u1", "?"))
_CASTS = dict(zip(_CAST_FROM, ("to_float", "to_double", "to_int", "to_long"))) | {np.dtype(bool): "to_bool"}


def working_type(dtype: np.dtype) -> np.dtype:
    """The type kernels compute in: float64 for itself, float32 for it and the 16-bit types."""
    return _F32 if dtype is _F32 or dtype != _F64 else _F64


def kernel_type(dtype: np.dtype) -> np.dtype:
    """The type in which elementwise kernels take arrays: floats as they are, float32 for all others."""
    return dtype if dtype in _FLOATS else _F32


def onednn_type(dtype: np.dtype) -> np.dtype | None:
    """The type in which oneDNN takes arrays of a floating type.

    float16 as float32 where the CPU does not compute in it; None for float64, which oneDNN has no code for.
    """
    if dtype is _F32:
        return _F32
    if dtype == _F64:
        return None
    if dtype == _F16:
        return dtype if dnnl.has_float16() else _F32
    return dtype if dtype == _BF16 else _F32


def copy_into(source: np.ndarray, target: np.ndarray) -> None:
    """Copy the elements of `source`, broadcast and cast if need be, to `target`, which lies elsewhere in memory."""
    if target.nbytes < _LEAST_COPIED or source.dtype != target.dtype:
        target[...] = source
        return
    if source.shape != target.shape:
        source = broadcast(source, target.shape)
    if source.flags.aligned and target.flags.aligned and source.dtype.isnative:
        strided_copy.copy(source, target)
    else:
        target[...] = source


def contiguous(x: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """`x` in row-major memory and, when given, this type."""
    if is_row_major(x, dtype):
        return x
    if dtype is not None:
        x = converted(x, dtype)
    return x if x.flags.c_contiguous else copied(x)


def copied(x: np.ndarray) -> np.ndarray:
    """A copy of `x` in row-major memory."""
    copy = np.empty(x.shape, x.dtype)
    copy_into(x, copy)
    return copy


def reshaped(x: np.ndarray, shape: tuple) -> np.ndarray:
    """`x.reshape(shape)`, whose copy, where it needs one, is made by the kernel if it is large.

    Raises:
        ValueError: if the shape does not hold the elements.
    """
    if x.nbytes < _LEAST_COPIED or x.flags.c_contiguous:
        return x.reshape(shape)
    try:
        return x.reshape(shape, copy=False)
    except ValueError:
        return copied(x).reshape(shape)
    except TypeError:  # NumPy before 2.1
        return x.reshape(shape)


def surrounded(x: np.ndarray, starts: tuple, shape: tuple, value: np.ndarray) -> np.ndarray:
    """An array of this shape with `x` from `starts` on and one value of its type around it."""
    out = inner = np.empty(shape, x.dtype)
    if out.nbytes >= _LEAST_COPIED and x.size and x.ndim and x.flags.aligned and x.itemsize in _BORDERED:
        widths = [(start, n - start - length) for start, n, length in zip(starts, shape, x.shape)]
        borders.surround(x, out, widths, "constant", value)
        return out
    for axis, (start, length) in enumerate(zip(starts, x.shape)):
        before = (slice(None),) * axis
        copy_into(value, inner[(*before, slice(start))])
        copy_into(value, inner[(*before, slice(start + length, None))])
        inner = inner[(*before, slice(start, start + length))]
    copy_into(x, inner)
    return out


def dense(x: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """`x` itself if its elements fill one piece of memory and have the type, else a copy."""
    if dtype is not None and x.dtype is not dtype:
        x = converted(x, dtype)
    return x if is_dense(x) else copied(x)


def in_memory_order(x: np.ndarray) -> np.ndarray:
    """The elements of `x` as a C-contiguous array: a view with its axes in another order where they are dense."""
    if x.flags.c_contiguous:
        return x
    if is_dense(x):
        return x.transpose(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))
    return copied(x)


class AroundAxis:
    """An array as (outer, length, inner) around one axis, in the order of memory.

    Args:
        x: any array with that axis; it is copied if it is not dense.
        axis: the axis, from the front.

    Attributes:
        lines: the C-contiguous array (outer, length, inner).
    """

    def __init__(self, x: np.ndarray, axis: int) -> None:
        self._order: list | None = None
        if not x.flags.c_contiguous and is_dense(x):
            self._order = sorted(range(x.ndim), key=lambda a: -x.strides[a])
            x, axis = x.transpose(self._order), self._order.index(axis)
        x = np.ascontiguousarray(x)
        self._axis, shape = axis, x.shape
        self._before, self._behind = shape[:axis], shape[axis + 1 :]
        self.lines = x.reshape(math.prod(self._before), shape[axis], math.prod(self._behind))

    def beside(self, x: np.ndarray) -> np.ndarray:
        """Another array of these axes as `lines`, whatever its length along the axis."""
        x = contiguous(x if self._order is None else x.transpose(self._order))
        return x.reshape(math.prod(self._before), x.shape[self._axis], math.prod(self._behind))

    def shaped(self, result: np.ndarray) -> np.ndarray:
        """A result (outer, any length, inner), or (outer, inner) for length 1, in the order of the array's axes."""
        length = result.shape[1] if result.ndim == 3 else 1
        result = result.reshape(*self._before, length, *self._behind)
        return result if self._order is None else result.transpose(np.argsort(self._order))


def laid_out_like(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """`x` in the type and memory order of `like`, which has its shape; copied if need be."""
    if x.dtype == like.dtype and x.strides == like.strides:
        return x
    x = converted(x, like.dtype)
    if x.strides == like.strides:
        return x
    copy = np.empty_like(like)
    copy_into(x, copy)
    return copy


def converted(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`array.astype(dtype, copy=False)`, by a kernel between float32 and the 16-bit types."""
    found = array.dtype
    if found is dtype or found == dtype:
        return array
    narrow = dtype if found == _F32 else found
    if not array.size or (found != _F32 and dtype != _F32) or (narrow != _BF16 and narrow != _F16):
        if array.size >= _LEAST_CAST and found in _CAST_FROM and dtype in _CASTS:
            return apply(getattr(pointwise, _CASTS[dtype]), array)
        if array.size >= _LEAST_CAST and found == _BF16 and dtype.char in "il":
            return apply(
                pointwise.bits_to_int if dtype.itemsize == 4 else pointwise.bits_to_long, array.view(np.uint16)
            )
        return array.astype(dtype, copy=False)
    if narrow == _F16 and array.size < _LEAST_HALVES:
        return array.astype(dtype)
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
        array = copied(array)
        out = np.empty(array.shape, dtype)
        kernel(array, out)
    return out

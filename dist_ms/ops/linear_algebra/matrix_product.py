"""The product of arrays through a kernel: which one, and how the result lies in memory."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from dist_ms.ops.kernels import activation, amx, dnnl, vector_product
from dist_ms.ops.layout import contiguous, converted, copied

_BF16, _F16, _F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.float32)
# Elements of a matrix from which on, and a vector's length from which on, the kernel for a vector is quicker than BLAS.
_MANY, _LONG = 1 << 16, 128
# AMX multiplies blocks of 32 by 32; below that most of a block would be padding.
_LEAST = 32
# Multiplications of one product below which oneDNN is quicker: the split of the factors costs more than AMX saves.
_FEW = 1 << 20
# Rows from which on the project's product of 16 bits is quicker than oneDNN's where the first factor lies in rows: it
# packs the second one at every call (64 rows 0.7 to 1.0 x, 256 and more 0.9 to 1.7 x, and it takes float32 without a
# cast). Where that factor lies in columns, as for a weight's gradient, oneDNN has to turn it: 1.0 to 2.8 x.
_MANY_ROWS = 128


def multiply(
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray | None = None,
    out: np.ndarray | None = None,
    relu: bool = False,
) -> np.ndarray:
    """The product (..., m, n) of two float32, bfloat16 or float16 arrays (..., m, k) and (..., k, n).

    Leading dimensions broadcast; `bias` (n,) is added to every row; `relu`, of float32, gives ReLU of that. Views
    are read in place as long as their rows or columns are contiguous. `out`, contiguous and of the result's shape
    and type, gets it.
    """
    lead = a.shape[:-2]
    if lead != b.shape[:-2]:
        lead = np.broadcast_shapes(lead, b.shape[:-2])
    m, k = a.shape[-2:]
    n = b.shape[-1]
    if bias is not None and not bias.flags.c_contiguous:
        bias = contiguous(bias)
    if not k or not m or not n or 0 in lead:
        out = np.empty((*lead, m, n), a.dtype) if out is None else out
        out[...] = 0
        out = out if bias is None else np.add(out, bias, out=out)
        return _relu(out) if relu else out
    if not lead and (m == 1 or n == 1) and suits_vector(a, b):
        out = by_vector(a, b, out)
        out = out if bias is None else np.add(out, bias, out=out)
        return _relu(out) if relu else out
    if a.dtype == _F32 and suits_amx(m, n, k, lead):
        a, b = with_unit_step(a), with_unit_step(b)
        if out is None:
            out = laid_out(a, b, lead, _F32) if len(lead) > 1 and bias is None else np.empty((*lead, m, n), _F32)
        if amx.matmul(a, b, out, bias, relu):
            return out
    if out is None or not out.flags.c_contiguous:
        out = np.empty((*lead, m, n), a.dtype)
    if a.dtype != _F32 and not lead and bias is None and lies_in_columns(a) and rounds_itself(m, n, True, a.dtype):
        amx.matmul_rounded(a, with_unit_step(b), out, low=a.dtype)
    elif lead:  # one leading dimension, as oneDNN knows few
        a, b = (_readable(_batched(x, lead)) for x in (a, b))
        dnnl.matmul(a, b, out.reshape(-1, m, n), bias)
    else:
        dnnl.matmul(_readable(a), _readable(b), out, bias)
    return _relu(out) if relu else out


def suits_vector(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a product of a matrix and a vector, in either order, is made by the kernel for these."""
    matrix, length = (a, a.shape[1]) if b.shape[1] == 1 else (b.T, b.shape[0])
    if matrix.size < _MANY or min(a.shape[0], b.shape[1]) != 1:
        return False
    return length >= _LONG if matrix.strides[1] == matrix.itemsize else matrix.strides[0] == matrix.itemsize


def by_vector(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The product of a matrix and a vector, or of a vector and a matrix, that `suits_vector`."""
    matrix, vector = (a, b) if b.shape[1] == 1 else (b.T, a)
    if out is None or not out.flags.c_contiguous:
        out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    vector = np.ascontiguousarray(vector.reshape(-1))
    if a.dtype.itemsize > 2:
        vector_product.matrix_vector(with_unit_step(matrix), vector, out.reshape(-1))
        return out
    sums = np.empty(out.size, _F32)
    vector_product.matrix_vector(with_unit_step(matrix), converted(vector, _F32), sums)
    out.reshape(-1)[...] = converted(sums, a.dtype)
    return out


def suits_amx(m: int, n: int, k: int, lead: tuple = ()) -> bool:
    """Whether a float32 product (m, k) (k, n), or several, is made in AMX tiles."""
    enough = m >= _LEAST and n >= _LEAST and k >= _LEAST and (lead or m * n * k >= _FEW)
    return bool(enough) and amx.available() and not dnnl.rounds_factors()


def _relu(x: np.ndarray) -> np.ndarray:
    """Replace a float32 array by ReLU of it."""
    activation.relu_forward(x, x)
    return x


def rounds_itself(rows: int, columns: int, few: bool = False, low: np.dtype = _BF16) -> bool:
    """Whether a product of so many rows and columns is made by the kernel that rounds its factors to `low` itself.

    `few`: the first factor lies in columns, or there are several products, and few rows are enough.
    """
    if rows < (_LEAST if few else _MANY_ROWS) or columns < _LEAST:
        return False
    return amx.has_float16() if low == _F16 else amx.available()


def lies_in_columns(a: np.ndarray) -> bool:
    """Whether columns of a matrix are contiguous and rows are not."""
    return a.strides[0] == a.itemsize != a.strides[1]


def laid_out(a: np.ndarray, b: np.ndarray, lead: tuple, dtype: np.dtype) -> np.ndarray:
    """An array of this type for the product whose axes lie in memory as those of the operand that gives its last axis.

    So the heads of an attention, a view into rows of all heads, give a result that is such a
    view too, and joining the heads again moves nothing.
    """
    shape = (*lead, a.shape[-2], b.shape[-1])
    for x, inner, outer in ((b, -1, -2), (a, -2, -1)):
        if x.shape[:-2] == lead and x.strides[inner] == x.itemsize and not x.flags.c_contiguous:
            last, other = x.ndim + inner, x.ndim + outer
            axes = sorted((*range(len(lead)), other), key=lambda axis: -x.strides[axis])
            memory = np.empty([*(shape[axis] for axis in axes), shape[last]], dtype)
            return memory.transpose(np.argsort([*axes, last]))
    return np.empty(shape, dtype)


def with_unit_step(x: np.ndarray) -> np.ndarray:
    """The array itself if rows or columns of its matrices are contiguous, else a copy."""
    return x if x.itemsize in x.strides[-2:] or 1 in x.shape[-2:] else copied(x)


def _batched(x: np.ndarray, lead: tuple) -> np.ndarray:
    """An array (..., m, k) with its leading dimensions broadcast to `lead` and made one."""
    if x.shape[:-2] != lead:
        if math.prod(x.shape[:-2]) == 1:
            return x.reshape(1, *x.shape[-2:])
        x = np.broadcast_to(x, (*lead, *x.shape[-2:]))
    return x if x.ndim == 3 else x.reshape(-1, *x.shape[-2:])


def _readable(x: np.ndarray) -> np.ndarray:
    """The array itself if its matrices have one unit stride and no overlap, else a copy."""
    rows, columns = x.strides[-2:]
    size = x.itemsize
    if x.ndim == 3 and x.shape[0] > 1 and x.strides[0] < size * x.shape[-1] * x.shape[-2]:
        return copied(x)
    if (columns == size and rows >= size * x.shape[-1]) or (rows == size and columns >= size * x.shape[-2]):
        return x
    return copied(x)

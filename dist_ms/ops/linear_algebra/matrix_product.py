"""The product of arrays through the kernel that its plan names, and how the result lies in memory."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from dist_ms.ops.capabilities import capabilities
from dist_ms.ops.kernels import amx, dnnl, few_rows, vector_product
from dist_ms.ops.layout import broadcast, contiguous, converted, copied
from dist_ms.ops.linear_algebra.product_plan import Algorithm, Order, is_readable, lies, plan, rounds_itself

_BF16, _F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)


def multiply(
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The product (..., m, n) of two float32, bfloat16 or float16 arrays (..., m, k) and (..., k, n).

    Leading dimensions broadcast; `bias` (n,) is added to every row. Views are read in place as long as their rows or
    columns are contiguous. `out`, contiguous and of the result's shape and type, gets it.
    """
    if bias is not None and not bias.flags.c_contiguous:
        bias = contiguous(bias)
    made = plan(a.shape, b.shape, a.strides, b.strides, a.dtype, capabilities(), bias is not None)
    if made.direct:
        if out is None or not out.flags.c_contiguous:
            out = np.empty(made.shape, a.dtype)
        dnnl.matmul(a, b, out, bias)
        return out
    chosen, lead, shape, _ = made
    if chosen in (Algorithm.NONE, Algorithm.VECTOR, Algorithm.OUTER):
        if chosen is Algorithm.VECTOR:
            out = by_vector(a, b, out)
        elif chosen is Algorithm.OUTER:
            out = column_times_row(a, b, out)
        else:
            out = np.empty(shape, a.dtype) if out is None else out
            out[...] = 0
        return out if bias is None else np.add(out, bias, out=out)
    if chosen is Algorithm.TILES:
        a, b = with_unit_step(a), with_unit_step(b)
        if out is None:
            out = laid_out(a, b, lead, _F32) if len(lead) > 1 and bias is None else np.empty(shape, _F32)
        if amx.matmul(a, b, out, bias):
            return out
    if out is None or not out.flags.c_contiguous:
        out = np.empty(shape, a.dtype)
    if chosen is Algorithm.FEW_ROWS:
        few_rows.multiply(contiguous(a), with_unit_step(b), out, bias)
    elif chosen is Algorithm.ROUNDED_TILES:
        amx.matmul_rounded(a, with_unit_step(b), out, low=a.dtype)
    elif lead:  # one leading dimension, as oneDNN knows few
        a, b = (_readable(_batched(x, lead)) for x in (a, b))
        dnnl.matmul(a, b, out.reshape(-1, *shape[-2:]), bias)
    else:
        dnnl.matmul(_readable(a), _readable(b), out, bias)
    return out


def multiply_rounded(
    a: np.ndarray,
    b: np.ndarray,
    out: np.ndarray,
    bias: np.ndarray | None = None,
    sums: np.ndarray | None = None,
    low: np.dtype = _BF16,
) -> None:
    """Out = a @ b + bias of matrices rounded to `low` and added up in float32.

    Args:
        a: float32 or `low` (..., m, k).
        b: float32 or `low` (..., k, n).
        out: float32 or `low` (..., m, n), rows contiguous; written. With leading dimensions `rounds_itself`.
        bias: float32 (n,), C-contiguous, or None.
        sums: float32 (m,), C-contiguous, gets the sums of a's rows before they were rounded; or None. Only where `a`
            lies in columns and `rounds_itself`.
        low: bfloat16 or float16.
    """
    few = a.ndim > 2 or lies(a.strides, a.dtype) is Order.COLUMNS
    if sums is not None or rounds_itself(a.shape[-2], b.shape[-1], capabilities(), few, low):
        amx.matmul_rounded(with_unit_step(a), with_unit_step(b), out, bias, sums, low)
    else:
        dnnl.matmul(converted(a, low), converted(b, low), out, bias)


def by_vector(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The product of a matrix and a vector, or of a vector and a matrix, that `is_by_vector`."""
    matrix, vector = (a, b.T) if b.shape[1] == 1 else (b.T, a)
    if out is None or not out.flags.c_contiguous:
        out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    rows, columns = matrix.shape
    row_step, step = matrix.strides
    if a.dtype is _F32 and step == 4 <= 4 * columns <= row_step and rows >= few_rows.LEAST_COLUMNS:
        few_rows.multiply(contiguous(vector), matrix.T, out.reshape(1, rows))
        return out
    matrix, vector = with_unit_step(matrix), contiguous(vector).reshape(-1)
    if a.dtype.itemsize > 2:
        vector_product.matrix_vector(matrix, vector, out.reshape(-1))
        return out
    sums = np.empty(out.size, _F32)
    vector_product.matrix_vector(matrix, converted(vector, _F32), sums)
    out.reshape(-1)[...] = converted(sums, a.dtype)
    return out


def column_times_row(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The product of a column (m, 1) and a row (1, n) of one type, float32 or float64."""
    if out is None or not out.flags.c_contiguous:
        out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    vector_product.outer(np.ascontiguousarray(a[:, 0]), np.ascontiguousarray(b[0]), out)
    return out


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
    """The array itself if rows or columns of its matrices are contiguous and do not overlap, else a copy."""
    shape, strides = x.shape[-2:], x.strides[-2:]
    return x if is_readable(shape, strides, x.dtype) or (1 in shape and x.itemsize in strides) else copied(x)


def _batched(x: np.ndarray, lead: tuple) -> np.ndarray:
    """An array (..., m, k) with its leading dimensions broadcast to `lead` and made one."""
    if x.shape[:-2] != lead:
        if math.prod(x.shape[:-2]) == 1:
            return x.reshape(1, *x.shape[-2:])
        x = broadcast(x, (*lead, *x.shape[-2:]))
    return x if x.ndim == 3 else x.reshape(-1, *x.shape[-2:])


def _readable(x: np.ndarray) -> np.ndarray:
    """The array itself if its matrices have one unit stride and no overlap, else a copy."""
    return x if is_readable(x.shape, x.strides, x.dtype) else copied(x)

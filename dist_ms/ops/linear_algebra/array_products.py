"""The product of arrays of any type: float32 and 16-bit types by kernels, the rest by NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dist_ms._ext.ufunc_loops import apply
from dist_ms.ops.kernels import vector_product
from dist_ms.ops.layout import converted, onednn_type
from dist_ms.ops.linear_algebra.matrix_product import by_vector, column_times_row, multiply
from dist_ms.ops.linear_algebra.product_plan import deciding_order, is_by_vector
from dist_ms.ops.primitive import quiet

_BF16 = np.dtype(ml_dtypes.bfloat16)
_F16, _F32 = np.dtype(np.float16), np.dtype(np.float32)
_PLAIN = (np.float32, np.float64)
# Multiplications below which NumPy answers before oneDNN has looked up its primitive.
SMALL = 1 << 16
_SMALL_NARROW = 4096  # of 16-bit types, whose factors NumPy has to be given in float32


def product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The matrix product of arrays (..., m, k) and (..., k, n).

    `out`, contiguous and of the product's type, gets it where given.
    """
    if a.dtype == _F32 and a.size * b.shape[-1] >= SMALL:
        return multiply(a, b, None, out)
    return _other_product(a, b, out)


@quiet
def _other_product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    d = a.dtype
    many = a.size * b.shape[-1]
    if d == _F16 or d == _BF16:
        if onednn_type(d) == d and many >= _SMALL_NARROW:
            return multiply(a, b, None, out)
        wide = converted(product(converted(a, _F32), converted(b, _F32)), d)
        return wide if out is None else _put(wide, out)
    if d.type is np.float64 and a.ndim == b.ndim == 2:
        (m, k), n = a.shape, b.shape[1]
        if is_by_vector(m, n, k, (), deciding_order(m, n, a.strides, b.strides, d)):
            return by_vector(a, b, out)
        if k == 1 and many >= SMALL:
            return column_times_row(a, b, out)
    if d.kind in "iu" and many >= SMALL and (wide := _exactly(a, b)) is not None:
        return wide
    return _plain(a, b, out)


def _put(x: np.ndarray, out: np.ndarray) -> np.ndarray:
    out[...] = x
    return out


def _exactly(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The product of integers through float64, of which BLAS makes it; None if a sum might be rounded there."""
    if not a.size or not b.size:
        return None
    largest = [max(-int(x.min()), int(x.max())) for x in (a, b)]
    if a.shape[-1] * largest[0] * largest[1] >= 1 << 53:
        return None
    return _plain(a.astype(np.float64), b.astype(np.float64)).astype(np.int64).astype(a.dtype, copy=False)


def _plain(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """NumPy's product; 2-D vectors-by-matrices and integers are in good hands there too."""
    try:
        return np.matmul(a, b, out=out)
    except ValueError as error:
        raise ValueError(
            f"For 'MatMul', the leading dimensions of the operands must broadcast, "
            f"but got the shapes {a.shape} and {b.shape}."
        ) from error


def outer_has_kernel(elements: int, dtype: np.dtype) -> bool:
    """Whether an outer product of so many elements is made by a kernel of its own."""
    return dtype.type in _PLAIN and elements >= SMALL


def outer_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The products of each element of one vector with each of another, of one dtype."""
    if outer_has_kernel(x.size * y.size, x.dtype):
        out = np.empty((x.size, y.size), x.dtype)
        vector_product.outer(np.ascontiguousarray(x), np.ascontiguousarray(y), out)
        return out
    if x.dtype in (_BF16, _F16) and x.size * y.size >= _SMALL_NARROW:
        return apply(np.multiply, x[:, None], y)
    return np.outer(x, y)

"""Products of matrices rounded to bfloat16: which kernel makes them."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dist_ms.ops.kernels import amx, dnnl
from dist_ms.ops.layout import converted
from dist_ms.ops.linear_algebra.matrix_product import with_unit_step

_BF16 = np.dtype(ml_dtypes.bfloat16)
# AMX multiplies blocks of 32 by 32; below that most of a block would be padding.
_LEAST = 32
# Rows from which on the project's kernel is quicker than oneDNN where the first factor lies in rows: it packs the
# second one at every call. Where it lies in columns, as for a weight's gradient, oneDNN has to pack both.
_MANY_ROWS = 128


def rounds_itself(rows: int, columns: int, few: bool = False) -> bool:
    """Whether a product of so many rows and columns is made by the kernel that rounds its factors itself.

    `few`: the first factor lies in columns, or there are several products, and few rows are enough.
    """
    return rows >= (_LEAST if few else _MANY_ROWS) and columns >= _LEAST and amx.available()


def multiply_rounded(
    a: np.ndarray, b: np.ndarray, out: np.ndarray, bias: np.ndarray | None = None, sums: np.ndarray | None = None
) -> None:
    """Out = a @ b + bias of matrices rounded to bfloat16 and added up in float32.

    Args:
        a: float32 or bfloat16 (..., m, k).
        b: float32 or bfloat16 (..., k, n).
        out: float32 or bfloat16 (..., m, n), rows contiguous; written. With leading dimensions `rounds_itself`.
        bias: float32 (n,), C-contiguous, or None.
        sums: float32 (m,), C-contiguous, gets the sums of a's rows before they were rounded; or None. Only where `a`
            lies in columns and `rounds_itself`.
    """
    few = a.ndim > 2 or a.strides[0] == a.itemsize != a.strides[1]
    if sums is not None or rounds_itself(a.shape[-2], b.shape[-1], few):
        amx.matmul_rounded(with_unit_step(a), with_unit_step(b), out, bias, sums)
    else:
        dnnl.matmul(converted(a, _BF16), converted(b, _BF16), out, bias)

"""Products of matrices rounded to bfloat16 or float16, whatever they are given in."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dist_ms.ops.kernels import amx, dnnl
from dist_ms.ops.layout import converted
from dist_ms.ops.linear_algebra.matrix_product import lies_in_columns, rounds_itself, with_unit_step

_BF16 = np.dtype(ml_dtypes.bfloat16)


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
    few = a.ndim > 2 or lies_in_columns(a)
    if sums is not None or rounds_itself(a.shape[-2], b.shape[-1], few, low):
        amx.matmul_rounded(with_unit_step(a), with_unit_step(b), out, bias, sums, low)
    else:
        dnnl.matmul(converted(a, low), converted(b, low), out, bias)

"""The precision inside float32 products: one switch for code that may give up mantissa bits."""

from __future__ import annotations

_chosen = "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Choose how exactly float32 matrix products and convolutions are computed, in the whole process.

    With "medium" the factors are rounded to bfloat16 (8 bits of mantissa instead of 24) inside the
    kernels where that is faster, on CPUs with AMX; sums, arguments and results stay float32. Small products,
    float64 and everything else stay as they are. The name is the field's; MindSpore has no such
    switch for CPUs. The environment variable ONEDNN_DEFAULT_FPMATH_MODE=BF16 does the same.

    Args:
        precision: "highest", the default, or "medium".

    Raises:
        ValueError: for another precision.

    Examples:
        >>> import dist_ms as ms
        >>> ms.amp.set_float32_matmul_precision("medium")
        >>> ms.amp.get_float32_matmul_precision()
        'medium'
        >>> ms.amp.set_float32_matmul_precision("highest")
    """
    global _chosen
    if precision not in ("highest", "medium"):
        raise ValueError(
            f"For 'set_float32_matmul_precision', 'precision' must be 'highest' or 'medium', but got {precision!r}."
        )
    from dist_ms._ext import dnnl

    dnnl.round_factors(precision == "medium")
    _chosen = precision


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` chose last.

    Examples:
        >>> import dist_ms as ms
        >>> ms.amp.get_float32_matmul_precision()
        'highest'
    """
    return _chosen

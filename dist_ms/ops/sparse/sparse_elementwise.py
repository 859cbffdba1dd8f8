"""csr_abs, coo_abs and their kin: a function of each value of a sparse tensor, places as they are.

Zeros that are not stored stay zeros, also where the function of zero is another number.
"""

# ruff: noqa: F822  (made below, of their names)
from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor
from dist_ms.ops.sparse.sparse_containers import sparse

__all__ = [
    "coo_abs",
    "coo_acos",
    "coo_acosh",
    "coo_asin",
    "coo_asinh",
    "coo_atan",
    "coo_atanh",
    "coo_ceil",
    "coo_cos",
    "coo_cosh",
    "coo_exp",
    "coo_expm1",
    "coo_floor",
    "coo_inv",
    "coo_isfinite",
    "coo_isinf",
    "coo_isnan",
    "coo_log",
    "coo_log1p",
    "coo_neg",
    "coo_relu",
    "coo_relu6",
    "coo_round",
    "coo_sigmoid",
    "coo_sin",
    "coo_sinh",
    "coo_softsign",
    "coo_sqrt",
    "coo_square",
    "coo_tan",
    "coo_tanh",
    "csr_abs",
    "csr_acos",
    "csr_acosh",
    "csr_asin",
    "csr_asinh",
    "csr_atan",
    "csr_atanh",
    "csr_ceil",
    "csr_cos",
    "csr_cosh",
    "csr_exp",
    "csr_expm1",
    "csr_floor",
    "csr_inv",
    "csr_isfinite",
    "csr_isinf",
    "csr_isnan",
    "csr_log",
    "csr_log1p",
    "csr_neg",
    "csr_relu",
    "csr_relu6",
    "csr_round",
    "csr_sigmoid",
    "csr_sin",
    "csr_sinh",
    "csr_softsign",
    "csr_sqrt",
    "csr_square",
    "csr_tan",
    "csr_tanh",
]

_FORMS = {"coo": COOTensor, "csr": CSRTensor}


def _elementwise(owner: str) -> Any:
    """The function of a name: of one form of sparse tensors."""
    form, _, name = owner.partition("_")
    kind = _FORMS[form]

    def function(x: Any) -> Any:
        sparse(x, "x", owner, kind)
        return x.with_values(getattr(ops, name)(x.values))

    made = (
        "ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([0.0]), (2, 2))"
        if form == "coo"
        else "ms.CSRTensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([0.0]), (2, 2))"
    )
    function.__name__ = function.__qualname__ = owner
    function.__doc__ = f"""Return `ops.{name}` of each value of a {kind.__name__}, at the same places.

    Args:
        x: a {kind.__name__}.

    Returns:
        {kind.__name__}.

    Raises:
        TypeError: if `x` is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.{owner}({made}).shape
        (2, 2)
    """
    return function


globals().update({owner: _elementwise(owner) for owner in __all__})

"""csr_abs, coo_abs and their kin: a function of each value of a sparse tensor, places as they are.

Zeros that are not stored stay zeros, also where the function of zero is another number.
"""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor
from dist_ms.ops.sparse.sparse_containers import sparse

_NAMES = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "inv",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "neg",
    "relu",
    "relu6",
    "round",
    "sigmoid",
    "sin",
    "sinh",
    "softsign",
    "sqrt",
    "square",
    "tan",
    "tanh",
)
_FORMS = {"coo": COOTensor, "csr": CSRTensor}

__all__ = [f"{form}_{name}" for form in _FORMS for name in _NAMES]


def _elementwise(form: str, name: str) -> Any:
    """The function of one form of sparse tensors."""
    owner, kind = f"{form}_{name}", _FORMS[form]

    def function(x: Any) -> Any:
        sparse(owner, x, kind, "x")
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


globals().update({f"{form}_{name}": _elementwise(form, name) for form in _FORMS for name in _NAMES})

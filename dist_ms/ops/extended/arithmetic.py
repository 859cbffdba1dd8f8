"""Elementwise arithmetic whose arguments differ from those in `ops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import not_of, tensor
from dist_ms.ops.elementwise.division import true_divide

__all__ = [
    "rmod",
    "add",
    "addcdiv",
    "addcmul",
    "bitwise_not",
    "clamp",
    "clip",
    "clone",
    "div",
    "divide",
    "equal",
    "fix",
    "float_power",
    "fmod",
    "frac",
    "isnan",
    "isneginf",
    "item",
    "logaddexp2",
    "sqrt",
    "sub",
    "xlogy",
]

divide = ops.div
clamp = clip = ops.clamp
isneginf = ops.isneginf
fix = ops.trunc
logaddexp2 = ops.logaddexp2


def isnan(tensor: Any) -> Tensor:
    """`ops.isnan`, also of a number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.isnan(float("nan")))
        True
    """
    return ops.isnan(Tensor(tensor) if isinstance(tensor, (bool, int, float)) else tensor)


def fmod(input: Tensor, other: Any) -> Tensor:
    """`ops.fmod` of a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.fmod(ms.Tensor([-5.0, 5.0]), 3))
        [-2.  2.]
    """
    return ops.fmod(tensor(input, "input", "fmod"), other)


def xlogy(input: Tensor, other: Any) -> Tensor:
    """`ops.xlogy` of a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.xlogy(ms.Tensor([0.0, 2.0]), ms.Tensor([0.0, 1.0])))
        [0. 0.]
    """
    return ops.xlogy(tensor(input, "input", "xlogy"), other)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """`ops.div`, where a `rounding_mode` that is no str has a wrong type.

    Raises:
        TypeError: if `rounding_mode` is neither a str nor None.
        ValueError: if it is anything but "floor" and "trunc".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.div(ms.Tensor([-7, 7]), 2, rounding_mode="floor"))
        [-4  3]
    """
    if rounding_mode is None:
        return true_divide(input, other)
    return ops.div(input, other, rounding_mode=check_type(rounding_mode, "rounding_mode", "mint.div", str))


def float_power(input: Any, exponent: Any) -> Tensor:
    """`ops.float_power` of real numbers.

    Raises:
        TypeError: if one of the two is complex, or neither a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.float_power(ms.Tensor([1, 2]), 2))
        [1. 4.]
    """
    for value, name in ((input, "input"), (exponent, "exponent")):
        if isinstance(not_of(value, "FD", name, "float_power"), complex):
            raise TypeError(complaint(name, "float_power", "real", value))
    return ops.float_power(input, exponent)


def _kind(value: Any) -> str:
    return value._element.kind if isinstance(value, Tensor) else np.min_scalar_type(value).kind


def _scaled(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """alpha times `other`; alpha must be a number, and its kind no wider than that of the two operands' sum."""
    if isinstance(alpha, Tensor) and not alpha.ndim:
        alpha = alpha.item()
    if isinstance(alpha, Tensor) or not isinstance(alpha, (int, float)):
        raise TypeError(f"For '{name}', 'alpha' must be a number, but got {type(alpha).__name__}.")
    if isinstance(other, (tuple, list)):
        raise TypeError(f"For '{name}', 'other' must be a Tensor or a number, but got {type(other).__name__}.")
    kinds = {_kind(value) for value in (input, other)}
    if kinds != {"b"} if isinstance(alpha, bool) else isinstance(alpha, float) and not kinds & set("fVc"):
        raise TypeError(
            f"For '{name}', 'alpha' must be a number of the kind of 'input' and 'other', but got {alpha!r} for "
            f"{' and '.join(str(getattr(value, 'dtype', type(value).__name__)) for value in (input, other))}."
        )
    if alpha == 1 and not isinstance(alpha, bool):
        return other
    return ops.mul(other, alpha) if isinstance(other, Tensor) else other * alpha


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha other.

    Raises:
        TypeError: if `alpha` is no number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.add(ms.Tensor([1.0, 2.0]), 3, alpha=2))
        [7. 8.]
    """
    return ops.add(input, _scaled("add", input, other, alpha))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Input - alpha other.

    Raises:
        TypeError: if `alpha` is no number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.sub(ms.Tensor([1.0, 2.0]), 3, alpha=2))
        [-5. -4.]
    """
    return ops.sub(input, _scaled("sub", input, other, alpha))


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """`ops.addcmul`: input + value tensor1 tensor2, with `value` by name alone and 1 if not given."""
    return ops.addcmul(input, tensor1, tensor2, value)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """`ops.addcdiv`: input + value tensor1 / tensor2, with `value` by name alone and 1 if not given."""
    return ops.addcdiv(input, tensor1, tensor2, value)


def clone(input: Tensor) -> Tensor:
    """`ops.deepcopy`: a copy through which gradients pass."""
    return ops.deepcopy(input)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.equal(ms.Tensor([1, 2]), ms.Tensor([1, 2]))
        True
    """
    return input.shape == other.shape and bool(ops.all(ops.eq(input, other)).item())


def item(input: Tensor) -> Any:
    """The element of a tensor that has one, as a Python number.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.item(ms.Tensor([2.0]))
        2.0
    """
    return tensor(input, "input", "item").item()


def sqrt(input: Tensor) -> Tensor:
    """`ops.sqrt`, with its argument named `input`."""
    return ops.sqrt(input)


def frac(input: Tensor) -> Tensor:
    """`ops.frac`, with its argument named `input`."""
    return ops.frac(input)


def bitwise_not(input: Tensor) -> Tensor:
    """`ops.bitwise_not`, with its argument named `input`."""
    return ops.bitwise_not(input)


def rmod(input: Any, other: Tensor) -> Tensor:
    """The remainder of a number by a tensor, of the sign of the tensor: `input % other`.

    Args:
        input: a number, or a Tensor without dimensions.
        other: a Tensor.

    Raises:
        TypeError: if an argument has another type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.functional_overload.rmod(7, ms.Tensor([3.0, -4.0])))
        [ 1. -1.]
    """
    if isinstance(input, Tensor) and input.ndim == 0:
        return ops.floor_mod(input, tensor(other, "other", "rmod"))
    if not isinstance(input, (int, float)):
        raise TypeError(complaint("input", "rmod", "a number, or a Tensor without dimensions", type(input).__name__))
    return input % tensor(other, "other", "rmod")

"""Elementwise arithmetic whose arguments differ from those in `ops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor

__all__ = [
    "rmod",
    "add",
    "addcdiv",
    "addcmul",
    "bitwise_not",
    "clamp",
    "clip",
    "clone",
    "divide",
    "equal",
    "fix",
    "frac",
    "isneginf",
    "item",
    "logaddexp2",
    "sqrt",
    "sub",
    "xlogy",
]

divide = ops.div
xlogy = ops.xlogy
isneginf = ops.isneginf
fix = ops.trunc
logaddexp2 = ops.logaddexp2


def _kind(value: Any) -> str:
    return value._element.kind if isinstance(value, Tensor) else np.min_scalar_type(value).kind


def _scaled(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """alpha times `other`; alpha must be a number, and its kind no wider than that of the two operands' sum."""
    if isinstance(alpha, Tensor) or not isinstance(alpha, (int, float)):
        raise TypeError(f"For '{name}', 'alpha' must be a number, but got {type(alpha).__name__}.")
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
    """Input + value tensor1 tensor2.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> print(ms.mint.addcmul(x, x, x, value=2))
        [ 3. 10.]
    """
    return ops.addcmul(input, tensor1, tensor2, value)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Input + value tensor1 / tensor2.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> print(ms.mint.addcdiv(x, x, x, value=2))
        [3. 4.]
    """
    return ops.addcdiv(input, tensor1, tensor2, value)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Elements below `min` become it, and those above `max` that.

    Args:
        input: any tensor.
        min, max: numbers or Tensors, not both None. Where min > max the result is max.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.clamp(ms.Tensor([-1.0, 0.5, 2.0]), 0, 1))
        [0.  0.5 1. ]
    """
    return ops.clamp(input, min, max)


clip = clamp


def clone(input: Tensor) -> Tensor:
    """A copy; gradients pass through it.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.clone(ms.Tensor([1.0])))
        [1.]
    """
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
    """The square root; integers become float32.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.sqrt(ms.Tensor([4.0])))
        [2.]
    """
    return ops.sqrt(input)


def frac(input: Tensor) -> Tensor:
    """What is left of a number without its integer part; the sign stays.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.frac(ms.Tensor([2.5, -1.25])))
        [ 0.5  -0.25]
    """
    return ops.frac(input)


def bitwise_not(input: Tensor) -> Tensor:
    """All bits of integers turned over, or all bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.bitwise_not(ms.Tensor([0, 5])))
        [-1 -6]
    """
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

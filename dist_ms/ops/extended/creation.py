"""Tensors made from nothing, in PyTorch's form: sizes first, the dtype by name."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.dtype import Number
from dist_ms.common.tensor import Tensor

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "polar",
    "zeros",
    "zeros_like",
]

arange = ops.arange
full = ops.full
full_like = ops.full_like
ones_like = ops.ones_like
polar = ops.polar
zeros_like = ops.zeros_like


def ones(size: Any, *, dtype: Number | None = None) -> Tensor:
    """`ops.ones`, with `dtype` by name alone."""
    return ops.ones(size, dtype)


def zeros(size: Any, *, dtype: Number | None = None) -> Tensor:
    """`ops.zeros`, with `dtype` by name alone."""
    return ops.zeros(size, dtype)


def empty(*size: Any, dtype: Number | None = None, device: Any = None) -> Tensor:
    """A tensor whose elements nobody has chosen; here they are zeros.

    Args:
        size: ints, or one tuple or list of them.
        dtype: element type; None for float32.
        device: taken for scripts that give it; there is the CPU alone.

    Examples:
        >>> from dist_ms import mint
        >>> mint.empty(2, 3).shape
        (2, 3)
    """
    return ops.zeros(size[0] if len(size) == 1 else size, dtype)


def empty_like(input: Tensor, *, dtype: Number | None = None, device: Any = None) -> Tensor:
    """`empty` in a tensor's shape, and in its dtype unless one is given."""
    return ops.zeros_like(input, dtype=dtype)


def eye(n: int, m: int | None = None, dtype: Number | None = None) -> Tensor:
    """`ops.eye`, of float32 if `dtype` is None."""
    return ops.eye(n, m, mstype.float32 if dtype is None else dtype)


def linspace(start: Any, end: Any, steps: int, *, dtype: Number | None = None) -> Tensor:
    """`ops.linspace`, and a cast if a `dtype` is given."""
    out = ops.linspace(start, end, steps)
    return out if dtype is None else ops.cast(out, dtype)

"""Norms and inverses, in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]

inv = ops.inverse
norm = ops.norm


def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Decompose matrices into an orthogonal and an upper triangular one.

    Args:
        A: floats (..., m, n).
        mode: "reduced", "complete" for a square Q, or "r" for R alone.

    Returns:
        (Q, R); Q is empty for "r".

    Raises:
        TypeError: if `A` holds no floats.
        ValueError: if `mode` is another.

    Examples:
        >>> import dist_ms as ms
        >>> q, r = ms.mint.linalg.qr(ms.Tensor([[3.0, 1.0], [0.0, 2.0]]))
        >>> print(ms.ops.matmul(q, r))
        [[3. 1.]
         [0. 2.]]
    """
    q, r = ops.qr(A, "reduced" if mode == "r" else mode)
    return (ops.zeros((0,), A.dtype) if mode == "r" else q), r


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """`ops.matrix_norm`, with PyTorch's names of its arguments."""
    return ops.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """`ops.vector_norm`, with PyTorch's names of its arguments."""
    return ops.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def tensor_norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm of all elements or of those along dimensions, as `mint.norm`.

    Args:
        input: floats.
        p: a number, infinity, or "fro" for 2.
        dim: an int, tuple or list; None for all.
        keepdim: keep the reduced dimensions with length 1.
        dtype: what the input is cast to first.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.norm(ms.Tensor([[3.0], [4.0]])))
        5.0
    """
    if p == "nuc":
        return ops.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    axes = tuple(dim) if isinstance(dim, list) else dim
    return ops.vector_norm(input, 2 if p == "fro" else p, axes, keepdim, dtype=dtype)

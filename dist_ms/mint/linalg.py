"""Norms and inverses, in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_type
from dist_ms.common.dtype import float32
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]

inv = ops.inverse


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
    """`ops.matrix_norm`, with PyTorch's names of its arguments; norms of singular values are float32.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.linalg.matrix_norm(ms.Tensor([[3.0, 0.0], [0.0, 4.0]], ms.float16), "nuc").dtype)
        Float32
    """
    if ord in ("nuc", 2, -2):
        return ops.matrix_norm(ops.cast(tensor(A, "A", "matrix_norm"), float32), ord, dim, keepdim)
    return ops.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """`ops.vector_norm`, with PyTorch's names of its arguments."""
    return ops.vector_norm(x, ord, dim, keepdim, dtype=dtype)


@reads("ndim", owner="linalg.norm")
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A norm of vectors or matrices: of two dimensions, or by the name of a norm of matrices, `matrix_norm`.

    Args:
        A: a Tensor.
        ord: the norm, as for `vector_norm` and `matrix_norm`; None for the root of the sum of squares.
        dim: one dimension for vectors, two for matrices; None for all, of which there may be two if `ord` is given.
        keepdim: keep the reduced dimensions with length 1.
        dtype: what the input is cast to first.

    Raises:
        TypeError: if `A` is no Tensor, or `dim` neither an int nor a tuple or list.
        ValueError: if there are too many dimensions, or `ord` does not fit them.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.linalg.norm(ms.Tensor([[3.0, 4.0], [6.0, 8.0]]), dim=1))
        [ 5. 10.]
    """
    ndim = tensor(A, "A", "linalg.norm").ndim
    if dim is None:
        if ord is not None and ndim > 2:
            raise ValueError(
                f"For 'linalg.norm', 'A' must have at most 2 dimensions when 'ord' is given without 'dim', "
                f"but got {ndim}; name the dimensions."
            )
        axes: Any = tuple(range(ndim))
        if ord is None:
            return ops.vector_norm(A, 2, axes, keepdim, dtype=dtype)
    else:
        axes = (int(dim),) if isinstance(dim, int) else check_type(dim, "dim", "linalg.norm", (int, tuple, list))
        if len(axes) > 2:
            raise ValueError(f"For 'linalg.norm', 'dim' must be one or two dimensions, but got {dim}.")
    if isinstance(ord, str) or (ord is not None and len(axes) == 2):
        return matrix_norm(A, ord, axes, keepdim, dtype=dtype)
    return ops.vector_norm(A, 2 if ord is None else ord, axes, keepdim, dtype=dtype)


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
        ndim = tensor(input, "input", "mint.norm").ndim
        return matrix_norm(input, "nuc", tuple(range(ndim)) if dim is None else dim, keepdim)
    axes = tuple(dim) if isinstance(dim, list) else dim
    return ops.vector_norm(input, 2 if p == "fro" else p, axes, keepdim, dtype=dtype)

"""addmm, addmv, addr, addbmm, baddbmm: products added to a tensor."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import not_of, number, one_dtype, tensor
from dist_ms.ops.elementwise.arithmetic import add, mul
from dist_ms.ops.linear_algebra.matmul import bmm, mm, mv, outer
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.transposing import swapaxes

__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm"]


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2).

    Args:
        input: a Tensor that broadcasts to (m, n).
        mat1: (m, k).
        mat2: (k, n).
        beta: factor of `input`.
        alpha: factor of the product.

    Returns:
        Tensor (m, n).

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0]])
        >>> print(ms.ops.addmm(ms.Tensor([[1.0]]), x, x.T, beta=10))
        [[15.]]
    """
    return _plus("addmm", input, mm(mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * input + alpha * (mat @ vec).

    Args:
        input: a Tensor that broadcasts to (m,).
        mat: (m, k).
        vec: (k,).
        beta: factor of `input`.
        alpha: factor of the product.

    Returns:
        Tensor (m,).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.addmv(ms.Tensor([1.0]), ms.Tensor([[1.0, 2.0]]), ms.Tensor([3.0, 4.0])))
        [12.]
    """
    one_dtype("addmv", "iufV", mat=mat, vec=vec)
    one_dtype("addmv", "iufV", input=not_of(input, "BHIL", "input", "addmv"))
    return _plus("addmv", input, mv(mat, vec), beta, alpha)


def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * x + alpha * outer(vec1, vec2).

    Args:
        x: a Tensor that broadcasts to (m, n).
        vec1: (m,).
        vec2: (n,).
        beta: factor of `x`.
        alpha: factor of the product.

    Returns:
        Tensor (m, n).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.addr(ms.Tensor([[1.0]]), ms.Tensor([2.0]), ms.Tensor([3.0, 4.0])))
        [[7. 9.]]
    """
    one_dtype("addr", "iufV", vec1=vec1, vec2=vec2)
    one_dtype("addr", "iufV", x=not_of(x, "BHIL", "x", "addr"))
    return _plus("addr", x, outer(vec1, vec2), beta, alpha)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * input + alpha * (sum over b of batch1[b] @ batch2[b]).

    Args:
        input: a Tensor that broadcasts to (m, n).
        batch1: (b, m, k).
        batch2: (b, k, n). Two matrices instead are multiplied, and the product's rows added up.
        beta: factor of `input`.
        alpha: factor of the product.

    Returns:
        Tensor (m, n).

    Raises:
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> a = ms.ops.ones((3, 2, 2), ms.float32)
        >>> print(ms.ops.addbmm(ms.Tensor([[1.0]]), a, a))
        [[7. 7.]
         [7. 7.]]
    """
    if tensor(batch1, "batch1", "addbmm").ndim == tensor(batch2, "batch2", "addbmm").ndim == 2:
        return _plus("addbmm", input, ops.ReduceSum()(mm(batch1, batch2), 0), beta, alpha)
    if batch1.ndim != 3 or batch2.ndim != 3:
        raise ValueError(
            f"For 'addbmm', 'batch1' and 'batch2' must have 3 dimensions, but got {batch1.ndim} and {batch2.ndim}."
        )
    b, m, k = batch1.shape
    if batch2.shape[:2] != (b, k):
        raise ValueError(f"For 'addbmm', 'batch2' must have the shape ({b}, {k}, n), but got {batch2.shape}.")
    wide = reshape(swapaxes(batch1, 0, 1), (m, b * k))
    return _plus("addbmm", input, mm(wide, reshape(batch2, (b * k, batch2.shape[2]))), beta, alpha)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta * input + alpha * (batch1 @ batch2).

    Args:
        input: a Tensor that broadcasts to (b, m, n).
        batch1: (b, m, k).
        batch2: (b, k, n).
        beta: factor of `input`.
        alpha: factor of the products.

    Returns:
        Tensor (b, m, n).

    Examples:
        >>> import dist_ms as ms
        >>> a = ms.ops.ones((1, 2, 2), ms.float32)
        >>> print(ms.ops.baddbmm(ms.Tensor([1.0]), a, a))
        [[[3. 3.]
          [3. 3.]]]
    """
    one_dtype("baddbmm", input=input, batch1=batch1, batch2=batch2)
    return _plus("baddbmm", input, bmm(batch1, batch2), beta, alpha)


def _plus(owner: str, input: Tensor, out: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * out."""
    number(beta, "beta", owner, True), number(alpha, "alpha", owner, True)
    return add(input if beta == 1 else mul(input, beta), out if alpha == 1 else mul(out, alpha))

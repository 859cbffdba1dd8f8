"""matrix_solve, lu_solve, lu_unpack, pinv, lstsq, cond: linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, floating, integral, not_of, number, one_dtype, same_rank, tensor
from dist_ms.ops.linear_algebra import lapack
from dist_ms.ops.linear_algebra.decompositions import singular_values, square_matrices
from dist_ms.ops.primitive import OfTensors, Primitive

__all__ = [
    "LuSolve",
    "LuUnpack",
    "Lstsq",
    "MatrixPower",
    "MatrixSolve",
    "MatrixSolveLs",
    "MatrixTriangularSolve",
    "cond",
    "lstsq",
    "lu_solve",
    "lu_unpack",
    "matrix_solve",
    "pinv",
]


class MatrixSolve(OfTensors):
    """`matrix_solve` as a primitive: `MatrixSolve(adjoint)(matrix, rhs)`."""

    keeps = (0,)
    keeps_output = True

    def __init__(self, adjoint: bool = False) -> None:
        self.adjoint = boolean(adjoint, "adjoint", self.name)

    def forward(self, matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        a, b = square_matrices(self.name, matrix), floating(rhs, "rhs", self.name)
        if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
            raise ValueError(f"For '{self.name}', 'rhs' must have {a.shape[-1]} rows, but got the shape {b.shape}.")
        b = b.astype(np.float32) if b.dtype.itemsize == 2 else b
        # NumPy before 2.0 takes b for vectors where it has one dimension less.
        b = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
        try:
            out = lapack.solve(np.conj(np.swapaxes(a, -1, -2)) if self.adjoint else a, b)
        except np.linalg.LinAlgError:
            raise ValueError(f"For '{self.name}', every matrix must have an inverse, but one has none.") from None
        return out.astype(rhs.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        a, b = inputs
        db = MatrixSolve(not self.adjoint)(a, dout)
        if not wanted(a):
            return None, _summed(db, b.shape)
        da = ops.neg(ops.matmul(output, ops.adjoint(db)) if self.adjoint else ops.matmul(db, ops.adjoint(output)))
        return _summed(da, a.shape), _summed(db, b.shape)


def _summed(x: Tensor, shape: tuple) -> Tensor:
    """The sum over the batch dimensions that were broadcast."""
    extra = len(x.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(extra + i for i, n in enumerate(shape) if n != x.shape[extra + i])
    return ops.reshape(ops.sum(x, axes), shape) if axes else x


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """Solve A x = b.

    Args:
        matrix: A, a Tensor of floats (..., n, n).
        rhs: b, a Tensor of the same dtype (..., n, m).
        adjoint: solve A^H x = b instead.

    Returns:
        Tensor of the shape of `rhs`.

    Raises:
        TypeError: if an input holds no floats.
        ValueError: if the shapes do not fit, or a matrix has no inverse.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_solve(ms.Tensor([[2.0, 0.0], [0.0, 4.0]]), ms.Tensor([[2.0], [2.0]])))
        [[1. ]
         [0.5]]
    """
    one_dtype("matrix_solve", "fcV", matrix=matrix, rhs=rhs)
    same_rank(matrix, rhs, "matrix_solve")
    return MatrixSolve(adjoint)(matrix, rhs)


class MatrixTriangularSolve(Primitive):
    """The solutions of A x = b with triangular A, of which the other triangle is not read.

    Args:
        lower: the lower triangle is A.
        adjoint: solve A^H x = b instead.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MatrixTriangularSolve()(ms.Tensor([[2.0, 9.0], [0.0, 4.0]]), ms.Tensor([[2.0], [2.0]])))
        [[1. ]
         [0.5]]
    """

    def __init__(self, lower: bool = True, adjoint: bool = False) -> None:
        self.lower, self.adjoint = boolean(lower, "lower", self.name), boolean(adjoint, "adjoint", self.name)

    def __call__(self, matrix: Tensor, rhs: Tensor) -> Tensor:
        return matrix_solve((ops.tril if self.lower else ops.triu)(matrix), rhs, self.adjoint)


def _row_order(name: str, pivots: Any, rows: int) -> np.ndarray:
    """The order of rows that successive swaps of row i with row pivots[i] (counted from 1) lead to."""
    swaps = integral(tensor(pivots, "LU_pivots", name).array(), "LU_pivots", name)
    if swaps.size and (swaps.min() < 1 or swaps.max() > rows):
        raise ValueError(f"For '{name}', 'LU_pivots' must be in [1, {rows}], but got {swaps.tolist()}.")
    order = np.broadcast_to(np.arange(rows), (*swaps.shape[:-1], rows)).copy()
    flat, all_swaps = order.reshape(-1, rows), swaps.reshape(-1, swaps.shape[-1])
    for row, swap in zip(flat, all_swaps):
        for i, j in enumerate(swap):
            row[[i, j - 1]] = row[[j - 1, i]]
    return order


def _triangles(lu: Tensor) -> tuple[Tensor, Tensor]:
    """L with ones on its diagonal, and U."""
    rows, columns = lu.shape[-2:]
    k = min(rows, columns)
    low = ops.add(ops.tril(lu[..., :k], -1), ops.eye(rows, k, lu.dtype))
    return low, ops.triu(lu[..., :k, :])


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Solve A x = b with A given by its LU decomposition.

    Args:
        b: a Tensor of floats (..., n, m).
        LU_data: L and U in one Tensor (..., n, n).
        LU_pivots: the rows swapped, counted from 1, a Tensor of int32 (..., n).

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: if an input has the wrong dtype.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> pivots = ms.Tensor([2, 2], ms.int32)
        >>> print(ms.ops.lu_solve(ms.Tensor([[4.0], [2.0]]), ms.Tensor([[2.0, 0.0], [0.0, 4.0]]), pivots))
        [[1.]
         [1.]]
    """
    not_of(LU_pivots, "lqBHIL", "LU_pivots", "lu_solve")
    square_matrices("lu_solve", tensor(LU_data, "LU_data", "lu_solve").array())
    if tensor(b, "b", "lu_solve").ndim < 2:
        raise ValueError(f"For 'lu_solve', 'b' must hold matrices, but got the shape {b.shape}.")
    one_dtype("lu_solve", "fcV", LU_data=LU_data, b=b)
    if b.shape[-2] != LU_data.shape[-1]:
        raise ValueError(f"For 'lu_solve', 'b' must have {LU_data.shape[-1]} rows, but got the shape {b.shape}.")
    permutation = _permutation("lu_solve", LU_pivots, LU_data)
    low, up = _triangles(LU_data)
    solve = MatrixSolve()
    return solve(up, solve(low, ops.matmul(ops.swapaxes(permutation, -1, -2), b)))


def _permutation(name: str, pivots: Tensor, lu: Tensor) -> Tensor:
    """The matrix P of A = P L U."""
    if tensor(pivots, "LU_pivots", name).shape[:-1] != lu.shape[:-2]:
        raise ValueError(
            f"For '{name}', 'LU_pivots' must have the batch of 'LU_data', {lu.shape[:-2]}, but got {pivots.shape[:-1]}."
        )
    order = _row_order(name, pivots, lu.shape[-2])
    return wrap(np.swapaxes(np.eye(lu.shape[-2], dtype=lu.array().dtype)[order], -1, -2).copy())


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple:
    """Take an LU decomposition apart.

    Args:
        LU_data: L and U in one Tensor of floats (..., m, n).
        LU_pivots: the rows swapped, counted from 1, a Tensor of int32 (..., min(m, n)).
        unpack_data: return L and U; else None in their places.
        unpack_pivots: return P; else None in its place.

    Returns:
        tuple of P, L and U with A = P L U.

    Raises:
        TypeError: if `LU_pivots` holds no integers.
        ValueError: if a pivot is no row, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> p, l, u = ms.ops.lu_unpack(ms.Tensor([[2.0, 4.0], [0.5, 1.0]]), ms.Tensor([2, 2], ms.int32))
        >>> print(p @ l @ u)
        [[1. 3.]
         [2. 4.]]
    """
    not_of(LU_data, "?FD", "LU_data", "lu_unpack")
    if len(tensor(LU_data, "LU_data", "lu_unpack").shape) < 2:
        raise ValueError(f"For 'lu_unpack', 'LU_data' must hold matrices, but got the shape {LU_data.shape}.")
    permutation = _permutation("lu_unpack", LU_pivots, LU_data) if unpack_pivots else None
    low, up = _triangles(LU_data) if unpack_data else (None, None)
    return permutation, low, up


class LuSolve(Primitive):
    """`lu_solve` as a primitive: `LuSolve()(x, lu_data, lu_pivots)`."""

    def __call__(self, x: Tensor, lu_data: Tensor, lu_pivots: Tensor) -> Tensor:
        return lu_solve(x, lu_data, lu_pivots)


class LuUnpack(Primitive):
    """`lu_unpack` as a primitive: `LuUnpack(unpack_data, unpack_pivots)(LU_data, LU_pivots)`."""

    def __init__(self, unpack_data: bool = True, unpack_pivots: bool = True) -> None:
        self.unpack_data = boolean(unpack_data, "unpack_data", self.name)
        self.unpack_pivots = boolean(unpack_pivots, "unpack_pivots", self.name)

    def __call__(self, LU_data: Tensor, LU_pivots: Tensor) -> tuple:
        return lu_unpack(LU_data, LU_pivots, self.unpack_data, self.unpack_pivots)


class PseudoInverse(Primitive):
    """The inverses of Moore and Penrose; singular values up to `cut` of the largest count as 0."""

    keeps = (0,)
    keeps_output = True

    def __init__(self, absolute: float, relative: float | None) -> None:
        self.absolute, self.relative = absolute, relative

    def forward(self, x: np.ndarray) -> np.ndarray:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        u, s, v = lapack.svd(wide)
        relative = max(x.shape[-2:]) * np.finfo(s.dtype).eps if self.relative is None else self.relative
        kept = s > np.maximum(self.absolute, relative * s.max(-1, keepdims=True, initial=0))
        s = np.divide(1, s, where=kept, out=np.zeros_like(s))
        return np.conj(np.swapaxes((u * s[..., None, :]) @ v, -1, -2)).astype(x.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        a, p, g = inputs[0], output, dout
        pt, gt = ops.adjoint(p), ops.adjoint(g)
        rows, columns = a.shape[-2:]
        first = ops.matmul(pt, ops.matmul(g, pt))
        left = ops.sub(ops.eye(rows, rows, a.dtype), ops.matmul(a, p))
        right = ops.sub(ops.eye(columns, columns, a.dtype), ops.matmul(p, a))
        second = ops.matmul(ops.matmul(left, gt), ops.matmul(p, pt))
        third = ops.matmul(ops.matmul(pt, p), ops.matmul(gt, right))
        return ops.sub(ops.add(second, third), first)


def pinv(x: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False) -> Tensor:
    """Return the inverses of Moore and Penrose.

    Args:
        x: a Tensor of floats (..., m, n).
        atol: singular values up to this count as 0.
        rtol: so do those up to this part of the largest; max(m, n) * eps by default, 0 if `atol` is given.
        hermitian: the matrices are symmetric, of which no use is made.

    Returns:
        Tensor (..., n, m).

    Raises:
        TypeError: if `x` holds no floats.
        ValueError: if `x` holds no matrices.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.pinv(ms.Tensor([[4.0, 0.0], [0.0, 5.0]])))
        [[0.25 0.  ]
         [0.   0.2 ]]
    """
    not_of(x, "eFD", "x", "pinv")
    if floating(tensor(x, "x", "pinv").array(), "x", "pinv").ndim < 2:
        kind = ValueError if x.ndim else TypeError
        raise kind(f"For 'pinv', 'x' must hold matrices, but got the shape {x.shape}.")
    boolean(hermitian, "hermitian", "pinv")
    for name, limit in (("atol", atol), ("rtol", rtol)):
        if limit is not None and not isinstance(limit, Tensor):
            number(limit, name, "pinv", True)
    return PseudoInverse(atol or 0.0, 0.0 if rtol is None and atol is not None else rtol)(x)


def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """Find x that makes |input x - A| smallest; of several the smallest.

    Args:
        input: a Tensor of floats (m, n).
        A: a Tensor of the same dtype (m,) or (m, k).

    Returns:
        Tensor (n, k), k = 1 for a vector `A`.

    Raises:
        TypeError: if an input holds no floats, or the dtypes differ.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lstsq(ms.Tensor([[1.0], [1.0]]), ms.Tensor([[1.0], [3.0]])).asnumpy().round(4))
        [[2.]]
    """
    x, a = (
        floating(tensor(input, "input", "lstsq").array(), "input", "lstsq"),
        floating(tensor(A, "A", "lstsq").array(), "A", "lstsq"),
    )
    if x.dtype != a.dtype:
        raise TypeError(f"For 'lstsq', 'input' and 'A' must have the same dtype, but got {input.dtype} and {A.dtype}.")
    if x.ndim != 2 or a.ndim not in (1, 2) or a.shape[0] != x.shape[0]:
        raise ValueError(
            "For 'lstsq', 'input' must be a matrix and 'A' a vector or matrix with as many rows, "
            f"but got the shapes {x.shape} and {a.shape}."
        )
    return ops.matmul(pinv(input), ops.expand_dims(A, -1) if a.ndim == 1 else A)


class Lstsq(Primitive):
    """Least squares: `lstsq` as a primitive.

    Args:
        fast: must be True.
        l2_regularizer: must be 0; see `MatrixSolveLs`.

    Raises:
        TypeError: if an argument is anything else.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Lstsq()(ms.Tensor([[1.0], [1.0]]), ms.Tensor([[1.0], [3.0]])).asnumpy().round(4))
        [[2.]]
    """

    def __init__(self, fast: bool = True, l2_regularizer: float = 0.0) -> None:
        if fast is not True or l2_regularizer != 0:
            raise TypeError(
                f"For '{self.name}', 'fast' must be True and 'l2_regularizer' 0, "
                f"but got {fast} and {l2_regularizer}; use MatrixSolveLs."
            )
        self.fast, self.l2_regularizer = fast, l2_regularizer

    def __call__(self, x: Tensor, a: Tensor) -> Tensor:
        return lstsq(x, a)


class MatrixSolveLs(Primitive):
    """The x that make |A x - b|² + l2 |x|² smallest.

    Args:
        fast: accepted; there is one method.

    Call:
        matrix (Tensor): A, floats (..., m, n).
        rhs (Tensor): b, of the same dtype (..., m, k).
        l2 (Tensor): a number of float64.

    Examples:
        >>> import dist_ms as ms
        >>> l2 = ms.Tensor(2.0, ms.float64)
        >>> print(ms.ops.MatrixSolveLs()(ms.Tensor([[1.0], [1.0]]), ms.Tensor([[1.0], [3.0]]), l2))
        [[1.]]
    """

    def __init__(self, fast: bool = True) -> None:
        self.fast = boolean(fast, "fast", self.name)

    def __call__(self, matrix: Tensor, rhs: Tensor, l2: Tensor) -> Tensor:
        weight = float(tensor(l2, "l2", self.name).array())
        if weight == 0:
            return ops.matmul(pinv(matrix), rhs)
        n, back = matrix.shape[-1], ops.adjoint(matrix)
        inner = ops.add(ops.matmul(back, matrix), ops.mul(ops.eye(n, n, matrix.dtype), weight))
        return matrix_solve(inner, ops.matmul(back, rhs))


class MatrixPower(Primitive):
    """`matrix_power` as a primitive: `MatrixPower(n)(x)`."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, x: Tensor) -> Tensor:
        return ops.matrix_power(x, self.n)


@reads("dim")
def cond(A: Tensor, p: Any = None) -> Tensor:
    """Return the condition numbers of matrices: how much they enlarge relative errors.

    Args:
        A: a Tensor of floats (..., m, n).
        p: the norm, as in `matrix_norm`; None is 2, for which the matrices need not be square.

    Returns:
        Tensor of shape A.shape[:-2].

    Raises:
        TypeError: if `A` holds no floats.
        ValueError: if there is no such norm, or a matrix is not square with `p` other than 2 and -2.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cond(ms.Tensor([[1.0, 0.0], [0.0, 4.0]])))
        4.0
    """
    not_of(A, "e", "A", "cond")
    if floating(tensor(A, "A", "cond").array(), "A", "cond").ndim < 2:
        raise (TypeError if A.ndim else ValueError)(f"For 'cond', 'A' must hold matrices, but got the shape {A.shape}.")
    if p is None or p in (2, -2):
        s = singular_values(A)
        first, last = s[..., 0], s[..., -1]
        return ops.true_divide(last, first) if p == -2 else ops.true_divide(first, last)
    return ops.mul(ops.matrix_norm(A, p), ops.matrix_norm(ops.inverse(A), p))

"""cholesky, cholesky_inverse, cholesky_solve: symmetric positive definite matrices as L L^T."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, not_of, one_dtype, tensor
from dist_ms.ops.linear_algebra import lapack
from dist_ms.ops.linear_algebra.decompositions import square_matrices
from dist_ms.ops.primitive import Primitive

__all__ = ["Cholesky", "CholeskySolve", "cholesky", "cholesky_inverse", "cholesky_solve"]


def _adjoint(matrices: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrices, -1, -2).conj()


class Cholesky(Primitive):
    """`cholesky` as a primitive: `Cholesky(upper)(input_x)`."""

    keeps = ()
    keeps_output = True

    def __init__(self, upper: bool = False) -> None:
        self.upper = boolean(upper, "upper", self.name)

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        not_of(input_x, "FD", "input_x", self.name)
        matrices = square_matrices(self.name, input_x)
        try:
            # The lower triangle of the adjoint is the upper one; NumPy before 2.0 factors lower triangles alone.
            out = lapack.cholesky(_adjoint(matrices) if self.upper else matrices)
        except np.linalg.LinAlgError:
            raise RuntimeError(f"For '{self.name}', every matrix must be positive definite, but one is not.") from None
        return (_adjoint(out) if self.upper else out).astype(input_x.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        low, slope = (ops.adjoint(output), ops.adjoint(dout)) if self.upper else (output, dout)
        # L^-H phi(L^H dL) L^-1, phi: the lower triangle with half the diagonal; then the symmetric part
        inner = ops.matmul(ops.adjoint(low), slope)
        inner = ops.mul(ops.add(ops.tril(inner), ops.tril(inner, -1)), 0.5)
        back = ops.inverse(low)
        full = ops.matmul(ops.adjoint(back), ops.matmul(inner, back))
        return ops.mul(ops.add(full, ops.adjoint(full)), 0.5)


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """Decompose positive definite matrices into L L^H; only their lower triangles are read.

    Args:
        input_x: a Tensor of floats (..., n, n).
        upper: return L^H instead of L.

    Returns:
        Tensor of the shape of `input_x`.

    Raises:
        TypeError: if `input_x` holds no floats.
        ValueError: if the matrices are not square, or one is not positive definite.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cholesky(ms.Tensor([[4.0, 0.0], [0.0, 9.0]])))
        [[2. 0.]
         [0. 3.]]
    """
    return Cholesky(upper)(input_x)


def _lower(name: str, x: Any, upper: Any) -> Tensor:
    """The lower triangular factor that `x` holds, or its upper one transposed."""
    square_matrices(name, tensor(x, "input", name).array())
    return ops.adjoint(ops.triu(x)) if boolean(upper, "upper", name) else ops.tril(x)


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """Invert a matrix that is given by its triangular factor.

    Args:
        input_x: the factor, a Tensor of floats (..., n, n).
        upper: `input_x` is L^H instead of L.

    Returns:
        Tensor, the inverse of L L^H.

    Raises:
        TypeError: if `input_x` holds no floats.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cholesky_inverse(ms.Tensor([[1.0, 0.0], [0.0, 2.0]])))
        [[1.   0.  ]
         [0.   0.25]]
    """
    back = ops.inverse(_lower("cholesky_inverse", input_x, upper))
    return ops.matmul(ops.adjoint(back), back)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solve L L^H x = b.

    Args:
        input: b, a Tensor of floats (..., n, m).
        input2: the factor L, a Tensor of the same dtype (..., n, n).
        upper: `input2` is L^H instead of L.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if an input holds no floats.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cholesky_solve(ms.Tensor([[4.0], [4.0]]), ms.Tensor([[1.0, 0.0], [0.0, 2.0]])))
        [[4.]
         [1.]]
    """
    tensor(input2, "input2", "cholesky_solve")
    one_dtype("cholesky_solve", "fV", input=input, input2=input2)
    if input.ndim not in (2, 3) or input.ndim != input2.ndim:
        raise ValueError(
            "For 'cholesky_solve', 'input' and 'input2' must both have 2 or 3 dimensions, "
            f"but got the shapes {input.shape} and {input2.shape}."
        )
    low = _lower("cholesky_solve", input2, upper)
    return ops.matrix_solve(ops.adjoint(low), ops.matrix_solve(low, input))


class CholeskySolve(Primitive):
    """`cholesky_solve` as a primitive: `CholeskySolve(upper)(x1, x2)`."""

    def __init__(self, upper: bool = False) -> None:
        self.upper = upper

    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor:
        return cholesky_solve(x1, x2, self.upper)

"""inverse, det, slogdet, singular values: matrices taken apart by LAPACK (SciPy's or NumPy's)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating, not_of, tensor
from dist_ms.ops.elementwise.arithmetic import mul, neg
from dist_ms.ops.linear_algebra import lapack
from dist_ms.ops.linear_algebra.matmul import matmul
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.shaping.reshaping import expand_dims
from dist_ms.ops.shaping.transposing import swapaxes

__all__ = [
    "LogMatrixDeterminant",
    "MatrixDeterminant",
    "MatrixInverse",
    "det",
    "inverse",
    "log_matrix_determinant",
    "logdet",
    "matrix_determinant",
    "slogdet",
]


def square_matrices(name: str, x: Any) -> np.ndarray:
    """An array of square matrices, in a dtype LAPACK knows.

    Raises:
        TypeError: if it holds no floats or complex numbers.
        ValueError: if the matrices are not square.
    """
    floating(x, "input", name)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For '{name}', 'input' must hold square matrices, but got the shape {x.shape}.")
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


class MatrixInverse(Primitive):
    """The inverses of square matrices.

    Args:
        adjoint: of the conjugate transposes.

    Call:
        x (Tensor): floats (..., n, n).

    Raises:
        TypeError: if `x` holds no floats.
        ValueError: if the matrices are not square, or one has no inverse.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MatrixInverse()(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """

    keeps = ()
    keeps_output = True

    def __init__(self, adjoint: bool = False) -> None:
        self.adjoint = adjoint

    def __call__(self, x: Tensor) -> Tensor:
        out = super().__call__(x)
        return ops.adjoint(out) if self.adjoint else out

    def forward(self, x: np.ndarray) -> np.ndarray:
        not_of(x, "e", "x", self.name)
        return _inverted(self.name, x, lapack.inverse)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        return _gradient_of_inverse(output, dout)


class FactoredInverse(Primitive):
    """The inverses of square matrices whose factors are there already."""

    keeps = ()
    keeps_output = True

    def forward(self, x: np.ndarray, factors: np.ndarray, pivots: np.ndarray) -> np.ndarray:
        return _inverted(self.name, x, lapack.inverse_of_factors, factors, pivots)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        return _gradient_of_inverse(output, dout), None, None


def _inverted(name: str, x: np.ndarray, function: Callable, *factors: np.ndarray) -> np.ndarray:
    """What LAPACK's function returns, in the type of `x`."""
    try:
        return function(square_matrices(name, x), *factors).astype(x.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise ValueError(f"For '{name}', every matrix must have an inverse, but one has none.") from None


def _gradient_of_inverse(output: Tensor, dout: Tensor) -> Tensor:
    back = ops.adjoint(output)
    return neg(matmul(back, matmul(dout, back)))


_inverse, _factored_inverse = MatrixInverse(), FactoredInverse("MatrixInverse")


def inverse(input: Tensor) -> Tensor:
    """Invert square matrices.

    Args:
        input: a Tensor of floats (..., n, n).

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if the matrices are not square, or one has no inverse.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.inverse(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return _inverse(input)


class MatrixDeterminant(Primitive):
    """The determinants of square matrices.

    Call:
        input (Tensor): floats (..., n, n).

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.det(ms.Tensor([[2.0, 0.0], [0.0, 4.0]])))
        8.0
    """

    keeps_output = True

    @quiet
    def forward(self, input: np.ndarray) -> np.ndarray:
        return lapack.determinant(square_matrices(self.name, input)).astype(input.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> Tensor:
        weight = expand_dims(expand_dims(mul(dout, output), -1), -1)
        return mul(weight, swapaxes(inverse(inputs[0]), -1, -2))


class LogMatrixDeterminant(Primitive):
    """The signs and the logs of the absolute values of the determinants of square matrices.

    Call:
        input (Tensor): floats (..., n, n).

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> sign, log = ms.ops.slogdet(ms.Tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> print(sign, log)
        -1.0 0.0
    """

    keeps = (0,)

    @quiet
    def forward(self, input: np.ndarray) -> tuple:
        sign, log = lapack.log_determinant(square_matrices(self.name, input))
        return sign.astype(input.dtype, copy=False), log.astype(input.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> Tensor:
        return mul(expand_dims(expand_dims(dout[1], -1), -1), swapaxes(inverse(inputs[0]), -1, -2))


class LogDeterminant(Primitive):
    """The logs of the determinants of square matrices, and the factors that the gradient goes on with."""

    keeps = (0,)
    keeps_output = True

    @quiet
    def forward(self, input: np.ndarray) -> tuple:
        sign, log, *factors = lapack.factored_log_determinant(square_matrices(self.name, input))
        log = np.where(sign < 0, np.nan, log) if input.dtype.kind == "f" else log + np.log(sign)
        return log.astype(input.dtype, copy=False), *factors

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        inverted = _factored_inverse(inputs[0], *output[1:])
        return mul(expand_dims(expand_dims(dout[0], -1), -1), swapaxes(inverted, -1, -2))


det = matrix_determinant = MatrixDeterminant()
slogdet = log_matrix_determinant = LogMatrixDeterminant()
_log_determinant = LogDeterminant("logdet")


def logdet(input: Tensor) -> Tensor:
    """Return the logs of the determinants of square matrices; NaN for negative ones.

    Args:
        input: a Tensor of floats (..., n, n).

    Returns:
        Tensor of shape input.shape[:-2].

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logdet(ms.Tensor([[1.0, 0.0], [0.0, 1.0]])))
        0.0
    """
    return _log_determinant(input)[0]


class SingularValues(Primitive):
    """The singular values of matrices, largest first, and the two matrices beside them.

    There is no second gradient: those of the matrices beside are not defined here.
    """

    keeps = ()
    keeps_output = True

    def forward(self, x: np.ndarray) -> tuple:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        u, s, v = lapack.svd(wide)
        return s.astype(x.dtype, copy=False), u.astype(x.dtype, copy=False), v.astype(x.dtype, copy=False)

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        if any(d.array().any() for d in dout[1:]):
            raise RuntimeError("For 'matrix_norm', the second-order gradient of singular values is not supported.")
        return matmul(mul(output[1], expand_dims(dout[0], -2)), output[2])


def singular_values(x: Tensor) -> Tensor:
    """The singular values of matrices, largest first."""
    return SingularValues()(tensor(x, "input", "singular_values"))[0]

"""Functions of matrices: exponentials, products with the Q of reflections, and others as primitives.

MindSpore has no CPU kernel of MatrixExp and Ormqr.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.kernels import linalg as routines
from dist_ms.ops.primitive import Primitive

__all__ = ["CholeskyInverse", "FillDiagonal", "MatrixExp", "NuclearNorm", "Ormqr", "matrix_exp", "ormqr"]


class CholeskyInverse(Primitive):
    """`cholesky_inverse` as a primitive: `CholeskyInverse(upper)(input_x)`."""

    def __init__(self, upper: bool = False) -> None:
        self.upper = check_bool(upper, "upper", self.name)

    def __call__(self, input_x: Tensor) -> Tensor:
        return ops.cholesky_inverse(input_x, self.upper)


class NuclearNorm(Primitive):
    """The sum of the singular values of matrices.

    Args:
        dim: the two dimensions of the matrices, a tuple or list; None for a tensor of two dimensions.
        keepdim: whether these dimensions stay, with length 1.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `dim` does not name two different dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.NuclearNorm()(ms.Tensor([[3.0, 0.0], [0.0, -4.0]]))
        Tensor(shape=[], dtype=Float32, value= 7)
    """

    def __init__(self, dim: Any = None, keepdim: bool = False) -> None:
        if dim is not None:
            if not isinstance(dim, (tuple, list)):
                raise TypeError(complaint("dim", self.name, "a tuple or list of two ints, or None", type(dim).__name__))
            if len(dim) != 2:
                raise ValueError(complaint("dim", self.name, "two dimensions", dim))
        self.dim, self.keepdim = dim, check_bool(keepdim, "keepdim", self.name)

    def __call__(self, x: Tensor) -> Tensor:
        data = arguments.floating(arguments.tensor(x, "x", self.name).array(), "x", self.name)
        if self.dim is None and data.ndim != 2:
            raise ValueError(
                complaint("dim", self.name, "given unless there are 2 dimensions", f"None for {data.ndim}")
            )
        dims = arguments.many_axes(tuple(self.dim or (0, 1)), "dim", self.name, data.ndim)
        if len(set(dims)) != 2:
            raise ValueError(complaint("dim", self.name, "two different dimensions", self.dim))
        return ops.matrix_norm(x, "nuc", dims, self.keepdim)


class FillDiagonal(Primitive):
    """A copy of a tensor with one value on its diagonal.

    Args:
        fill_value: the value, a float.
        wrap: whether the diagonal of a matrix that is higher than wide starts again after a row without it.

    Call:
        input_x (Tensor): a matrix, or more dimensions of one length; real numbers.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the dimensions are too few, or more than two and not of one length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.FillDiagonal(9.0)(ms.ops.zeros((2, 3), ms.float32)))
        [[9. 0. 0.]
         [0. 9. 0.]]
    """

    keeps = ()

    def __init__(self, fill_value: float, wrap: bool = False) -> None:
        if not isinstance(fill_value, float):
            raise TypeError(complaint("fill_value", self.name, "a float", type(fill_value).__name__))
        self.fill_value, self.wrap = fill_value, check_bool(wrap, "wrap", self.name)

    def _diagonal(self, shape: tuple[int, ...]) -> slice:
        """The flat places of the diagonal."""
        step = sum(np.cumprod((1, *shape[:0:-1])).tolist())
        end = shape[1] * shape[1] if len(shape) == 2 and not self.wrap else None
        return slice(0, end, step)

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        arguments.real(input_x, "input_x", self.name)
        if input_x.ndim < 2 or (input_x.ndim > 2 and len(set(input_x.shape)) > 1):
            wanted = "a matrix, or of one length in all dimensions"
            raise ValueError(complaint("input_x", self.name, wanted, f"shape {input_x.shape}"))
        out = np.array(input_x, order="C")
        out.reshape(-1)[self._diagonal(out.shape)] = self.fill_value
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        mask = np.ones(dout.shape, bool)
        mask.reshape(-1)[self._diagonal(dout.shape)] = False
        return dout * ops.cast(wrap(mask), dout.dtype)


class MatrixExp(Primitive):
    """`matrix_exp` as a primitive: `MatrixExp()(input)`."""

    def forward(self, input: np.ndarray) -> np.ndarray:
        if input.dtype.kind != "c":
            arguments.floating(input, "input", self.name)
        if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
            raise ValueError(complaint("input", self.name, "square matrices", f"shape {input.shape}"))
        if not input.size:
            return input.copy()
        wide = input.astype(np.float32) if input.dtype.itemsize == 2 else input
        return routines.expm(wide).astype(input.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        # exp of ((A, E), (0, A)) has the derivative of exp in the direction E as its upper right block.
        a = ops.adjoint(inputs[0])
        n = a.shape[-1]
        above, below = ops.concat((a, dout), -1), ops.concat((ops.zeros_like(a), a), -1)
        return matrix_exp(ops.concat((above, below), -2))[..., :n, n:]


_exponential = MatrixExp()


def matrix_exp(input: Tensor) -> Tensor:
    """Return the exponential of matrices, the sum of A^k / k!.

    Args:
        input: a Tensor of floats or complex numbers (..., n, n).

    Raises:
        TypeError: if `input` is no Tensor of such numbers.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_exp(ms.Tensor([[0.0, 2.0], [0.0, 0.0]])))
        [[1. 2.]
         [0. 1.]]
    """
    return _exponential(arguments.tensor(input, "input", "matrix_exp"))


def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Multiply matrices by the Q of `geqrf`'s reflections.

    Args:
        input: a Tensor of floats (..., q, k), whose columns below the diagonal are the reflections' vectors.
        tau: their factors, a Tensor of the same dtype (..., min(q, k)) or of fewer.
        other: the matrices, a Tensor of the same dtype (..., m, n); q is m, or n if `left` is false.
        left: whether Q is the left factor.
        transpose: whether Q's adjoint takes its place.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> y, tau = ms.ops.geqrf(x)
        >>> print(ms.ops.ormqr(y, tau, ms.ops.triu(y)).asnumpy().round(4))
        [[1. 2.]
         [3. 4.]]
    """
    for name, value in (("input", input), ("tau", tau), ("other", other)):
        arguments.tensor(value, name, "ormqr")
    check_bool(left, "left", "ormqr")
    check_bool(transpose, "transpose", "ormqr")
    if input.dtype != other.dtype:
        raise TypeError(complaint("other", "ormqr", f"of the dtype of 'input', {input.dtype}", other.dtype))
    if len(input.shape) < 2 or len(other.shape) != len(input.shape) or len(tau.shape) != len(input.shape) - 1:
        found = f"{input.shape}, {tau.shape} and {other.shape}"
        raise ValueError(
            f"For 'ormqr', 'input', 'tau' and 'other' must be matrices, vectors and matrices, but got {found}."
        )
    rows, columns = input.shape[-2:]
    if rows != other.shape[-2 if left else -1] or tau.shape[-1] > min(rows, columns):
        found = f"{input.shape}, {tau.shape} and {other.shape}"
        raise ValueError(f"For 'ormqr', the shapes of 'input', 'tau' and 'other' must fit, but got {found}.")
    if columns < rows:  # Reflections that are missing reflect nothing: orgqr's Q becomes square.
        blank = wrap(np.zeros((*input.shape[:-1], rows - columns), input.array().dtype))
        input = ops.concat((input, blank), -1)
    q = ops.orgqr(input[..., :rows], tau)
    q = ops.adjoint(q) if transpose else q
    return ops.matmul(q, other) if left else ops.matmul(other, q)


class Ormqr(Primitive):
    """`ormqr` as a primitive: `Ormqr(left, transpose)(x, tau, other)`."""

    def __init__(self, left: bool = True, transpose: bool = False) -> None:
        self.left = check_bool(left, "left", self.name)
        self.transpose = check_bool(transpose, "transpose", self.name)

    def __call__(self, x: Tensor, tau: Tensor, other: Tensor) -> Tensor:
        return ormqr(x, tau, other, self.left, self.transpose)

"""CholeskyInverse, NuclearNorm and FillDiagonal: functions of matrices as primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.primitive import Primitive

__all__ = ["CholeskyInverse", "FillDiagonal", "NuclearNorm"]


class CholeskyInverse(Primitive):
    """The inverse of a matrix given by its triangular factor: `cholesky_inverse` as a primitive.

    Args:
        upper: whether the factor is the upper one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.CholeskyInverse()(ms.Tensor([[1.0, 0.0], [0.0, 2.0]])))
        [[1.   0.  ]
         [0.   0.25]]
    """

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

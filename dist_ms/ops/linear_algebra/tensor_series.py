"""LogSpace and TridiagonalMatMul: powers at even exponents, products with three diagonals."""

from __future__ import annotations

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, float32
from dist_ms.common.error_classes import bools, plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating, integer, tensor
from dist_ms.ops.primitive import Primitive, Undifferentiable
from dist_ms.ops.shaping.joining import concat
from dist_ms.ops.shaping.reshaping import expand_dims

__all__ = ["vander", "LogSpace", "TridiagonalMatMul"]


class LogSpace(Undifferentiable):
    """`logspace` as a primitive: `LogSpace(steps, base, dtype)(start, end)`."""

    def __init__(self, steps: int = 10, base: int = 10, dtype: Number = float32) -> None:
        self.steps, self.base = integer(steps, "steps", self.name), integer(base, "base", self.name)
        if self.steps < 0 or self.base < 1:
            raise ValueError(
                f"For '{self.name}', 'steps' must not be negative and 'base' positive, but got {steps} and {base}."
            )
        if not isinstance(dtype, Number) or dtype.np.kind not in "fV":
            raise TypeError(f"For '{self.name}', 'dtype' must be a float type, but got {dtype!r}.")
        self.dtype = dtype

    def forward(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        ends = [float(np.asarray(v).reshape(())) for v in (start, end)]
        return np.power(float(self.base), np.linspace(*ends, self.steps)).astype(self.dtype.np)


class TridiagonalMatMul(Primitive):
    """The product of a matrix of three diagonals with a matrix.

    Call:
        superdiag (Tensor): floats or complex numbers (..., 1, M), the upper diagonal; the last one does not count.
        maindiag (Tensor): (..., 1, M).
        subdiag (Tensor): (..., 1, M), the lower diagonal; the first one does not count.
        rhs (Tensor): (..., M, N).

    Returns:
        Tensor (..., M, N).

    Raises:
        TypeError: if the dtypes differ or are no floats.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> row = ms.Tensor([[1.0, 2.0, 3.0]])
        >>> print(ms.ops.TridiagonalMatMul()(row, row, row, ms.ops.ones((3, 1))).reshape(-1))
        [2. 6. 6.]
    """

    def __call__(self, superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor) -> Tensor:
        named = {"superdiag": superdiag, "maindiag": maindiag, "subdiag": subdiag, "rhs": rhs}
        for argument, value in named.items():
            floating(tensor(value, argument, self.name).array(), argument, self.name)
        if len({value.dtype for value in named.values()}) > 1:
            raise TypeError(
                f"For '{self.name}', the inputs must have one dtype, but got {[str(v.dtype) for v in named.values()]}."
            )
        shape = rhs.shape
        if (
            len(shape) < 2
            or shape[-2] < 1
            or any(v.shape != (*shape[:-2], 1, shape[-2]) for v in list(named.values())[:3])
        ):
            raise ValueError(
                f"For '{self.name}', 'rhs' must be (..., M, N) and the diagonals (..., 1, M), but got "
                f"{[v.shape for v in named.values()]}."
            )
        upper, middle, lower = (expand_dims(v[..., 0, :], -1) for v in (superdiag, maindiag, subdiag))
        nothing = rhs[..., :1, :] * 0
        after = concat((rhs[..., 1:, :], nothing), -2)
        before = concat((nothing, rhs[..., :-1, :]), -2)
        return upper * after + middle * rhs + lower * before


@bools("N")
@plain("N")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Make the matrix of the powers of a vector, highest first.

    Args:
        x: a Tensor with one dimension.
        N: number of columns, its length by default.

    Returns:
        Tensor (length of x, N).

    Raises:
        ValueError: if `x` is no vector, or `N` not positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.vander(ms.Tensor([2.0, 3.0]), 3))
        [[4. 2. 1.]
         [9. 3. 1.]]
    """
    if tensor(x, "x", "vander").ndim != 1:
        raise ValueError(f"For 'vander', 'x' must have 1 dimension, but got {x.ndim}.")
    columns = x.size if N is None else integer(N, "N", "vander")
    if columns < 1:
        raise ValueError(f"For 'vander', 'N' must be positive, but got {N}.")
    return ops.pow(expand_dims(x, 1), Tensor(np.arange(columns - 1, -1, -1).astype(x.array().dtype)))

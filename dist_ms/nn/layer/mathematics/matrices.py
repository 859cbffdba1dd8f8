"""Matrix layers: products, determinants, inverses, and diagonals made, read and written."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import has_dimensions, tensor

__all__ = ["MatDet", "MatInverse", "MatMul", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag"]


class MatMul(Cell):
    """The product of matrices, vectors, or batches of matrices; see `ops.matmul`.

    Args:
        transpose_x1, transpose_x2: swap the last two dimensions of that input first; vectors stay.

    Inputs:
        x1, x2 (Tensor): (..., m, k) or (k,), and (..., k, n) or (k,), of one dtype.

    Outputs:
        Tensor (..., m, n), without m or n where an input is a vector.

    Raises:
        TypeError: if an argument is no bool, or the dtypes differ.
        ValueError: if the lengths do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0]])
        >>> print(ms.nn.MatMul(transpose_x2=True)(x, x))
        [[5.]]
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = check_bool(transpose_x1, "transpose_x1", "MatMul")
        self.transpose_x2 = check_bool(transpose_x2, "transpose_x2", "MatMul")

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        for x, name in ((x1, "x1"), (x2, "x2")):
            has_dimensions(tensor(x, name, "MatMul"), 1, name, "MatMul")
        if self.transpose_x1 and x1.ndim > 1:
            x1 = ops.swapaxes(x1, -1, -2)
        if self.transpose_x2 and x2.ndim > 1:
            x2 = ops.swapaxes(x2, -1, -2)
        if x1.shape[-1:] != x2.shape[-2:][:1]:
            raise ValueError(
                f"For 'MatMul', the columns of 'x1' must be as many as the rows of 'x2', but got the shapes "
                f"{x1.shape} and {x2.shape} (after transposing)."
            )
        return ops.matmul(x1, x2)


class MatrixDiag(Cell):
    """`ops.diag_embed` as a layer: matrices (..., n, n) with the given diagonals (..., n), `MatrixDiag()(input_x)`."""

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.diag_embed(input_x)


class MatrixDiagPart(Cell):
    """`ops.diagonal` as a layer: the diagonals of matrices (..., m, n), `MatrixDiagPart()(input_x)`."""

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """`ops.diagonal_scatter` as a layer: matrices with other diagonals, `MatrixSetDiag()(input_x, diagonal)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Tensor:
        return ops.diagonal_scatter(input_x, diagonal, 0, -2, -1)


class _OfDefinite(Cell):
    """What MatDet and MatInverse share: a check of the input."""

    def _check(self, a: Tensor) -> None:
        if a.dtype not in (mstype.float16, mstype.float32):
            raise TypeError(f"For '{self.cls_name}', the dtype of 'a' must be Float16 or Float32, but got {a.dtype}.")


class MatInverse(_OfDefinite):
    """`ops.inverse` as a layer, of float32 or float16: `MatInverse()(a)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, a: Tensor) -> Tensor:
        self._check(a)
        return ops.cast(ops.inverse(ops.cast(a, mstype.float32)), a.dtype)


class MatDet(_OfDefinite):
    """`ops.det` as a layer, of float32 or float16: `MatDet()(a)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, a: Tensor) -> Tensor:
        self._check(a)
        return ops.cast(ops.det(ops.cast(a, mstype.float32)), a.dtype)

"""matrix_diag, matrix_diag_part, matrix_set_diag, matrix_band_part: diagonals of matrices, several at once.

The diagonals k[0] ... k[1] of a matrix are kept as rows of another one, the highest first. One
shorter than the longest lies at the left or the right end of its row, as `align` says for those
above and those below the main diagonal: "RIGHT_LEFT" puts those above right, those below left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions
from dist_ms.common.error_classes import shaped
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integer, integers, no_tensor, not_array, not_of, number, one_dtype, one_of, tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "MatrixBandPart",
    "MatrixDiagPartV3",
    "MatrixDiagV3",
    "MatrixSetDiagV3",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
]

_ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _range(name: str, k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    if isinstance(k, Tensor):
        check_dimensions(k, "k", name, 0, 1)
    found = integers(k.array().reshape(-1) if isinstance(k, Tensor) else not_array(k, "k", name), "k", name)
    if len(found) not in (1, 2) or found[0] > found[-1]:
        raise ValueError(f"For '{name}', 'k' must be one or two rising ints, but got {found}.")
    return found[0], found[-1]


def _places(name: str, k: tuple[int, int], rows: int, columns: int, align: str) -> np.ndarray:
    """Where each element of the matrix of diagonals is in the flat matrix, -1 for those that are nowhere."""
    one_of(align, "align", name, _ALIGNS)
    if not (-rows < k[0] <= k[1] < columns or 0 in (*k, rows, columns)):
        raise ValueError(f"For '{name}', 'k' must be in ({-rows}, {columns}), but got {k}.")
    above, below = align.split("_")
    longest = min(rows + min(k[1], 0), columns - max(k[0], 0))
    out = np.full((k[1] - k[0] + 1, longest), -1)
    for i, d in enumerate(range(k[1], k[0] - 1, -1)):
        length = min(rows + min(d, 0), columns - max(d, 0))
        row = np.arange(length) - min(d, 0)
        shift = longest - length if (above if d >= 0 else below) == "RIGHT" else 0
        out[i, shift : shift + length] = row * columns + row + d
    return out


def _flat(x: Tensor, dims: int) -> Tensor:
    """The tensor with its last dimensions made one."""
    return ops.reshape(x, (*x.shape[: len(x.shape) - dims], -1))


def _sources(places: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Where each element of the flat matrix is in the flat diagonals, -1 for those in none."""
    flat = places.reshape(-1)
    out = np.full(rows * columns, -1)
    out[flat[flat >= 0]] = np.flatnonzero(flat >= 0)
    return out


def _picked(x: Tensor, index: np.ndarray, other: Tensor) -> Tensor:
    """The elements of the last dimension that an index names, `other` where it is -1."""
    found = ops.gather(x, wrap(np.maximum(index, 0)), -1)
    return ops.where(wrap(np.broadcast_to(index >= 0, found.shape).copy()), found, other)


def _padding(name: str, value: Any, x: Tensor) -> Tensor:
    """The padding value in a tensor's dtype."""
    if not isinstance(value, Tensor):
        value = Tensor(number(value, "padding_value", name, True))
    return ops.cast(value, x.dtype)


def matrix_diag(
    x: Tensor, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Make matrices of their diagonals.

    Args:
        x: the diagonals, a Tensor (..., length), or (..., number, length) for several.
        k: which diagonal they are, or the lowest and highest, an int, ints or a Tensor.
        num_rows: number of rows; -1 for as few as possible.
        num_cols: number of columns, likewise.
        padding_value: what is elsewhere.
        align: at which ends of their rows short diagonals are: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT".

    Returns:
        Tensor (..., num_rows, num_cols).

    Raises:
        ValueError: if the shapes do not fit, or `align` is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_diag(ms.Tensor([1, 2]), padding_value=9))
        [[1 9]
         [9 2]]
    """
    for name, value in (("num_rows", num_rows), ("num_cols", num_cols), ("padding_value", padding_value)):
        if isinstance(value, (np.ndarray, tuple, list)):
            raise no_tensor(value, name, "matrix_diag")
    if isinstance(padding_value, Tensor):
        one_dtype("matrix_diag", x=x, padding_value=padding_value)
    not_of(num_cols, "BHIL", "num_cols", "matrix_diag")
    not_of(num_rows, "BHIL", "num_rows", "matrix_diag")
    for name, value in (("num_rows", num_rows), ("num_cols", num_cols), ("padding_value", padding_value)):
        if isinstance(value, Tensor):
            check_dimensions(value, name, "matrix_diag", 0)
    low, high = _range("matrix_diag", k)
    dims = 1 if low == high else 2
    if len(tensor(x, "x", "matrix_diag").shape) < dims or (dims == 2 and x.shape[-2] != high - low + 1):
        raise ValueError(f"For 'matrix_diag', 'x' must hold {high - low + 1} diagonals, but got the shape {x.shape}.")
    rows, columns = integer(num_rows, "num_rows", "matrix_diag"), integer(num_cols, "num_cols", "matrix_diag")
    longest = x.shape[-1]
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    places = _places("matrix_diag", (low, high), rows, columns, align)
    if places.shape[-1] != longest:
        raise ValueError(
            f"For 'matrix_diag', the diagonals of matrices of shape {(rows, columns)} must be "
            f"{places.shape[-1]} long, but got the shape {x.shape}."
        )
    out = _picked(_flat(x, dims), _sources(places, rows, columns), _padding("matrix_diag", padding_value, x))
    return ops.reshape(out, (*out.shape[:-1], rows, columns))


def matrix_diag_part(x: Tensor, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Tensor:
    """Return diagonals of matrices.

    Args:
        x: a Tensor (..., m, n).
        k: the diagonal, or the lowest and highest, an int, ints or a Tensor.
        padding_value: what fills the rows of short diagonals.
        align: at which ends of their rows these are, as in `matrix_diag`.

    Returns:
        Tensor (..., length), or (..., number, length) for several.

    Raises:
        ValueError: if `x` holds no matrices, there is no such diagonal, or `align` is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_diag_part(ms.Tensor([[1, 2], [3, 4]]), (0, 1), 9))
        [[9 2]
         [1 4]]
    """
    not_of(k, "BHILl", "k", "matrix_diag_part")
    not_array(padding_value, "padding_value", "matrix_diag_part")
    if isinstance(padding_value, Tensor) and padding_value.ndim:
        raise ValueError(
            f"For 'matrix_diag_part', 'padding_value' must have no dimensions, but got shape {padding_value.shape}."
        )
    if len(tensor(x, "x", "matrix_diag_part").shape) < 2:
        raise ValueError(f"For 'matrix_diag_part', 'x' must hold matrices, but got the shape {x.shape}.")
    if isinstance(padding_value, Tensor):
        one_dtype("matrix_diag_part", x=x, padding_value=padding_value)
    low, high = _range("matrix_diag_part", k)
    places = _places("matrix_diag_part", (low, high), *x.shape[-2:], align)
    return _picked(_flat(x, 2), places[0] if low == high else places, _padding("matrix_diag_part", padding_value, x))


@shaped("x", "diagonal")
def matrix_set_diag(x: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Return matrices with other diagonals.

    Args:
        x: a Tensor (..., m, n).
        diagonal: the new diagonals (..., length), or (..., number, length) for several.
        k: which they are, an int, ints or a Tensor.
        align: at which ends of their rows short diagonals are, as in `matrix_diag`.

    Returns:
        Tensor of the shape of `x` and the common dtype.

    Raises:
        TypeError: if one is no Tensor.
        ValueError: if the shapes do not fit, or `align` is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_set_diag(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """
    not_of(x, "FD", "x", "matrix_set_diag")
    if len(tensor(x, "x", "matrix_set_diag").shape) < 2:
        raise ValueError(f"For 'matrix_set_diag', 'x' must hold matrices, but got the shape {x.shape}.")
    low, high = _range("matrix_set_diag", k)
    places = _places("matrix_set_diag", (low, high), *x.shape[-2:], align)
    wanted = (*x.shape[:-2], *(places.shape[1:] if low == high else places.shape))
    if tensor(diagonal, "diagonal", "matrix_set_diag").shape != wanted:
        raise ValueError(f"For 'matrix_set_diag', 'diagonal' must have the shape {wanted}, but got {diagonal.shape}.")
    sources = _sources(places, *x.shape[-2:])
    return ops.reshape(_picked(_flat(diagonal, 1 if low == high else 2), sources, _flat(x, 2)), x.shape)


def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Tensor:
    """Return matrices with zeros outside a band around the main diagonal.

    Args:
        x: a Tensor (..., m, n).
        lower: how many diagonals below the main one are kept; all if negative.
        upper: how many above, likewise.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        TypeError: if a number is no int.
        ValueError: if `x` holds no matrices.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_band_part(ms.ops.ones((3, 3), ms.int32), 0, 1))
        [[1 1 0]
         [0 1 1]
         [0 0 1]]
    """
    if len(tensor(x, "x", "matrix_band_part").shape) < 2:
        raise ValueError(f"For 'matrix_band_part', 'x' must hold matrices, but got the shape {x.shape}.")
    lower, upper = integer(lower, "lower", "matrix_band_part"), integer(upper, "upper", "matrix_band_part")
    offset = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None]
    inside = ((lower < 0) | (offset >= -lower)) & ((upper < 0) | (offset <= upper))
    return ops.where(wrap(np.broadcast_to(inside, x.shape).copy()), x, ops.zeros_like(x))


class MatrixBandPart(Primitive):
    """`matrix_band_part` as a primitive: `MatrixBandPart()(x, lower, upper)`."""

    def __call__(self, x: Tensor, lower: Any, upper: Any) -> Tensor:
        return matrix_band_part(x, lower, upper)


class MatrixDiagV3(Primitive):
    """`matrix_diag` as a primitive: `MatrixDiagV3(align)(x, k, num_rows, num_cols, padding_value)`."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        self.align = one_of(align, "align", self.name, _ALIGNS)

    def __call__(self, x: Tensor, k: Any, num_rows: Any, num_cols: Any, padding_value: Any) -> Tensor:
        return matrix_diag(x, k, num_rows, num_cols, padding_value, self.align)


class MatrixDiagPartV3(MatrixDiagV3):
    """`matrix_diag_part` as a primitive: `MatrixDiagPartV3(align)(x, k, padding_value)`."""

    def __call__(self, x: Tensor, k: Any, padding_value: Any) -> Tensor:
        return matrix_diag_part(x, k, padding_value, self.align)


class MatrixSetDiagV3(MatrixDiagV3):
    """`matrix_set_diag` as a primitive: `MatrixSetDiagV3(align)(x, diagonal, k)`."""

    def __call__(self, x: Tensor, diagonal: Tensor, k: Any) -> Tensor:
        return matrix_set_diag(x, diagonal, k, self.align)

"""Tril, Triu, Diag and their kin: triangles and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext import small
from dist_ms.common.dtype import Number, bool_, int32, int64
from dist_ms.common.error_classes import bools, plain, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import array, data_type, integer, not_of, one_axis, tensor
from dist_ms.ops.broadcasting import promote_types
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.kernels import triangles
from dist_ms.ops.layout import contiguous
from dist_ms.ops.primitive import Primitive, numpy_dtype
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.transposing import movedim

__all__ = [
    "Diag",
    "DiagPart",
    "Trace",
    "Tril",
    "TrilIndices",
    "Triu",
    "TriuIndices",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "trace",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
]


@plain("diagonal")
class Tril(Primitive):
    """`tril` as a primitive: `Tril(diagonal)(input)`."""

    keeps = ()
    is_lower = True
    refused = ""

    def __init__(self, diagonal: int = 0) -> None:
        self.diagonal = integer(diagonal, "diagonal", self.name)

    def forward(self, input: np.ndarray) -> np.ndarray:
        not_of(input, self.refused, "input", self.name)
        if array(input, "input", self.name).ndim < 2:
            raise ValueError(f"For '{self.name}', 'input' must have at least 2 dimensions, but got {input.ndim}.")
        out = np.empty(input.shape, input.dtype)
        shape = (-1 if input.size else 0, *input.shape[-2:])
        triangles.cut(contiguous(input).reshape(shape), self.diagonal, self.is_lower, out.reshape(shape))
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return self(dout)


class Triu(Tril):
    """`triu` as a primitive: `Triu(diagonal)(input)`."""

    is_lower = False
    refused = "FD"


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Keep the lower triangle of each matrix, with zeros elsewhere.

    Args:
        input: a Tensor of matrices, in the last two dimensions.
        diagonal: the last diagonal kept: 0 the main one, below it negative.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `diagonal` is no int.
        ValueError: if there are fewer than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tril(ms.Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    not_of(input, "FD", "input", "tril")
    return Tril(diagonal)(input)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """`tril` for the upper triangle; `diagonal` is the first one kept, above the main one positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.triu(ms.Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    return Triu(diagonal)(input)


def _not_negative(owner: str, row: int, col: int) -> None:
    """Require sizes of a matrix."""
    if row < 0 or col < 0:
        raise ValueError(f"For '{owner}', 'row' and 'col' must not be negative, but got {row} and {col}.")


@plain("col", "row", "offset")
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Number = int64) -> Tensor:
    """List the places of a matrix's lower triangle, rows above columns.

    Args:
        row: number of rows.
        col: number of columns.
        offset: the last diagonal: 0 the main one, below it negative.
        dtype: int32 or int64.

    Returns:
        Tensor (2, number of places).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tril_indices(2, 2))
        [[0 1 1]
         [0 0 1]]
    """
    row, col = integer(row, "row", "tril_indices"), integer(col, "col", "tril_indices")
    dtype = data_type(dtype, "dtype", "tril_indices")
    _not_negative("tril_indices", row, col)
    return wrap(np.stack(np.tril_indices(row, integer(offset, "offset", "tril_indices"), col)).astype(dtype.np))


@plain("col", "row", "offset")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Number = int64) -> Tensor:
    """`tril_indices` for the upper triangle; `offset` is the first diagonal, above the main one positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.triu_indices(2, 2))
        [[0 0 1]
         [0 1 1]]
    """
    row, col = integer(row, "row", "triu_indices"), integer(col, "col", "triu_indices")
    dtype = data_type(dtype, "dtype", "triu_indices")
    _not_negative("triu_indices", row, col)
    return wrap(np.stack(np.triu_indices(row, integer(offset, "offset", "triu_indices"), col)).astype(dtype.np))


class TrilIndices(Primitive):
    """`tril_indices` as a primitive, of int32 by default: `TrilIndices(row, col, offset, dtype)()`."""

    make = staticmethod(tril_indices)

    def __init__(self, row: int, col: int, offset: int = 0, dtype: Number = int32) -> None:
        self.row, self.col, self.offset, self.dtype = row, col, offset, dtype

    def __call__(self) -> Tensor:
        return self.make(self.row, self.col, self.offset, dtype=self.dtype)


class TriuIndices(TrilIndices):
    """`triu_indices` as a primitive, of int32 by default: `TriuIndices(row, col, offset, dtype)()`."""

    make = staticmethod(triu_indices)


@scalars("dim2", "offset")
class Diagonal(Primitive):
    """The diagonals of matrices, as a new last dimension; the memory is shared.

    Args:
        offset: which diagonal: 0 the main one, above it positive.
        dim1: the matrices' rows.
        dim2: the matrices' columns.
    """

    keeps = ()

    def __init__(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> None:
        self.offset, self.dim1, self.dim2 = integer(offset, "offset", self.name), dim1, dim2

    def forward(self, input: np.ndarray) -> np.ndarray:
        ndim = array(input, "input", self.name).ndim
        a, b = one_axis(self.dim1, "dim1", self.name, ndim), one_axis(self.dim2, "dim2", self.name, ndim)
        if a == b or ndim < 2:
            raise ValueError(
                f"For '{self.name}', 'dim1' and 'dim2' must be two dimensions of 'input', "
                f"but got {self.dim1} and {self.dim2} for the shape {input.shape}."
            )
        if not -input.shape[a] <= self.offset <= input.shape[b]:
            return np.empty((*[n for i, n in enumerate(input.shape) if i not in (a, b)], 0), input.dtype)
        out = input.diagonal(self.offset, a, b)
        if input.flags.writeable:
            out.flags.writeable = True
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return PutDiagonal(inputs[0].shape, self.offset, self.dim1, self.dim2)(dout)


class PutDiagonal(Primitive):
    """Zeros with values on the diagonals: the gradient of `Diagonal`.

    Args:
        shape: the shape of the result.
        offset, dim1, dim2: as for `Diagonal`.
    """

    keeps = ()

    def __init__(self, shape: tuple, offset: int, dim1: int, dim2: int) -> None:
        self.shape, self.offset, self.dim1, self.dim2 = shape, offset, dim1, dim2

    def forward(self, values: np.ndarray) -> np.ndarray:
        out = np.zeros(self.shape, values.dtype)
        if values.shape[-1]:
            view = out.diagonal(self.offset, self.dim1, self.dim2)
            view.flags.writeable = True
            view[...] = values
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Diagonal(self.offset, self.dim1, self.dim2)(dout)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the diagonals of matrices as a last dimension; the memory is shared.

    Args:
        input: a Tensor with at least two dimensions.
        offset: which diagonal: 0 the main one, above it positive.
        dim1: the matrices' rows.
        dim2: the matrices' columns.

    Returns:
        Tensor.

    Raises:
        TypeError: if an argument is no int.
        ValueError: if the dimensions are out of range or equal.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.diagonal(ms.Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    return Diagonal(offset, dim1, dim2)(input)


@plain("dim1", "offset")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Make matrices with the last dimension on a diagonal and zeros elsewhere.

    Args:
        input: a Tensor with at least one dimension.
        offset: which diagonal: 0 the main one, above it positive.
        dim1: where the matrices' rows go.
        dim2: where the matrices' columns go.

    Returns:
        Tensor with one dimension more.

    Raises:
        TypeError: if an argument is no int.
        ValueError: if the dimensions are out of range or equal.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.diag_embed(ms.Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    ndim = tensor(input, "input", "diag_embed").ndim + 1
    offset = integer(offset, "offset", "diag_embed")
    a, b = one_axis(dim1, "dim1", "diag_embed", ndim), one_axis(dim2, "dim2", "diag_embed", ndim)
    if a == b or ndim < 2:
        raise ValueError(
            f"For 'diag_embed', 'dim1' and 'dim2' must differ and 'input' have a dimension, "
            f"but got {dim1}, {dim2} and the shape {input.shape}."
        )
    n = input.shape[-1] + abs(offset)
    square = PutDiagonal((*input.shape[:-1], n, n), offset, ndim - 2, ndim - 1)(input)
    return square if (a, b) == (ndim - 2, ndim - 1) else movedim(square, (ndim - 2, ndim - 1), (a, b))


def diag(input: Tensor) -> Tensor:
    """Put all elements on the diagonal of a tensor with twice the dimensions.

    Args:
        input: a Tensor with at least one dimension.

    Returns:
        Tensor of shape input.shape + input.shape.

    Raises:
        ValueError: if `input` is a scalar.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.diag(ms.Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    not_of(input, "?B", "input", "diag")
    if tensor(input, "input", "diag").ndim < 1:
        raise ValueError("For 'diag', 'input' must have at least 1 dimension, but got a scalar.")
    return reshape(PutDiagonal((input.size, input.size), 0, 0, 1)(reshape(input, (-1,))), input.shape + input.shape)


class Diag(Primitive):
    """`diag` as a primitive: `Diag()(input)`."""

    def __call__(self, input: Tensor) -> Tensor:
        return diag(input)


class DiagPart(Primitive):
    """The diagonal of a tensor of shape (*s, *s), with shape s: the inverse of `Diag`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.DiagPart()(ms.Tensor([[1, 2], [3, 4]])))
        [1 4]
    """

    def __call__(self, input_x: Tensor) -> Tensor:
        shape = tensor(input_x, "input_x", self.name).shape
        half = shape[: len(shape) // 2]
        if not shape or shape != half + half:
            raise ValueError(f"For '{self.name}', the shape of 'input_x' must be one shape twice, but got {shape}.")
        n = int(np.prod(half))
        return reshape(Diagonal()(reshape(input_x, (n, n))), half)


@bools("offset")
@plain("offset")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Make a matrix with all elements, row by row, on a diagonal.

    Args:
        input: a Tensor.
        offset: which diagonal: 0 the main one, above it positive.

    Returns:
        Tensor with two dimensions.

    Raises:
        TypeError: if `offset` is no int.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.diagflat(ms.Tensor([1, 2]), 1))
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
    """
    not_of(input, "?B", "input", "diagflat")
    return diag_embed(reshape(tensor(input, "input", "diagflat"), (-1,)), integer(offset, "offset", "diagflat"))


@plain("dim1", "dim2")
@scalars("dim1", "dim2")
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Copy a tensor, with the diagonals of its matrices replaced.

    Args:
        input: a Tensor with at least two dimensions.
        src: the diagonals, as `diagonal` returns them.
        offset: which diagonal: 0 the main one, above it positive.
        dim1: the matrices' rows.
        dim2: the matrices' columns.

    Returns:
        Tensor of the shape of `input` and the common dtype.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shape of `src` does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.diagonal_scatter(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """
    not_of(input, "?FD", "input", "diagonal_scatter")
    not_of(src, "?FD", "src", "diagonal_scatter")
    tensor(input, "input", "diagonal_scatter")
    for name, dim in (("dim1", dim1), ("dim2", dim2)):
        integer(dim, name, "diagonal_scatter")
    integer(offset, "offset", "diagonal_scatter")
    wanted = ops.zeros_like(input).array().diagonal(offset, dim1, dim2).shape
    if tensor(src, "src", "diagonal_scatter").shape != wanted:
        raise ValueError(f"For 'diagonal_scatter', 'src' must have the shape {wanted}, but got {src.shape}.")
    input = cast_array(input, promote_types(numpy_dtype(input), numpy_dtype(src)))
    put = PutDiagonal(input.shape, offset, dim1, dim2)
    on = put(ops.ones(wanted, bool_))
    return ops.select(on, put(cast_array(src, numpy_dtype(input))), input)


class Trace(Primitive):
    """The sum of a matrix's diagonal.

    Call:
        input (Tensor): a matrix.

    Raises:
        ValueError: if `input` is no matrix.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.trace(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
        5.0
    """

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        not_of(input, "?FD", "input", self.name)
        if array(input, "input", self.name).ndim != 2:
            raise RuntimeError(f"For '{self.name}', 'input' must have 2 dimensions, but got {input.ndim}.")
        found = small.trace(input)
        return np.asarray(input.diagonal().sum(dtype=input.dtype)) if found is None else found

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        shape = inputs[0].shape
        return PutDiagonal(shape, 0, 0, 1)(ops.broadcast_to(dout, (min(shape),)))


trace = Trace()

"""Shapes and layouts in PyTorch's form: join, split, turn, repeat."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_type
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, one_axis, tensor

__all__ = [
    "broadcast_to",
    "cat",
    "chunk",
    "concat",
    "flatten",
    "meshgrid",
    "narrow",
    "permute",
    "ravel",
    "repeat_interleave",
    "reshape",
    "roll",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "t",
    "tile",
    "transpose",
    "unbind",
    "unsqueeze",
    "diag",
    "diff",
]

broadcast_to = ops.broadcast_to
reshape = ops.reshape
ravel = ops.ravel
roll = ops.roll
tile = ops.tile
unbind = ops.unbind
unsqueeze = ops.unsqueeze


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """`ops.cat`, with the axis named `dim`."""
    return ops.cat(tensors, dim)


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """`ops.stack`, with the axis named `dim`."""
    return ops.stack(tensors, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`ops.chunk`, with the axis named `dim`."""
    return ops.chunk(input, integer(chunks, "chunks", "mint.chunk"), dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """`ops.split`, with the axis named `dim`."""
    return ops.split(tensor, split_size_or_sections, dim)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`ops.narrow`, with the axis named `dim`."""
    return ops.narrow(input, dim, start, length)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """`ops.flatten`, row by row, of all dimensions if none are named.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.flatten(ms.ops.ones((2, 3))).shape, ms.mint.flatten(ms.ops.ones((2, 3, 4)), 1).shape
        ((6,), (2, 12))
    """
    ndim = tensor(input, "input", "flatten").ndim or 1
    start_dim, end_dim = (
        one_axis(start_dim, "start_dim", "flatten", ndim),
        one_axis(end_dim, "end_dim", "flatten", ndim),
    )
    return ops.flatten(input, start_dim=start_dim, end_dim=end_dim)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Drop the dimensions of length 1: all, or those in `dim` that have this length.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.squeeze(ms.ops.ones((1, 2, 1)), 0).shape
        (2, 1)
    """
    if dim is None:
        return ops.squeeze(input)
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    dropped = tuple(d for d in dims if not -input.ndim <= d < input.ndim or input.shape[d] == 1)
    return ops.squeeze(input, dropped) if dropped else input


def permute(input: Tensor, dims: Any) -> Tensor:
    """`ops.permute`, with a tuple of dimensions."""
    return ops.permute(input, check_type(dims, "dims", "permute", tuple))


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """`ops.swapaxes`: two dimensions, `dim0` and `dim1`, change places."""
    return swapaxes(input, dim0, dim1)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`ops.swapaxes`, of dimensions that are ints or Tensors of one, no bools."""
    owner = "mint.swapaxes"
    return ops.swapaxes(input, integer(axis0, "axis0", owner), integer(axis1, "axis1", owner))


def t(input: Tensor) -> Tensor:
    """`ops.t` of a Tensor."""
    return ops.t(tensor(input, "input", "mint.t"))


def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """`ops.repeat_interleave`; the length of the result, `output_size`, is known anyway here."""
    return ops.repeat_interleave(input, repeats, dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid's points, from those along each side.

    Args:
        tensors: vectors, or one tuple or list of them.
        indexing: "ij" (also if None) for outputs of shape (len of the first, len of the second,
            ...), "xy" for those with the first two swapped.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.meshgrid(ms.Tensor([1, 2]), ms.Tensor([3, 4, 5]))[0].shape
        (2, 3)
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    return ops.meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The square matrix with a vector on a diagonal, or the diagonal of a matrix.

    Args:
        input: (n,) or (m, n).
        diagonal: above the main one by so much, below if negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.diag(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), 1))
        [2.]
    """
    return ops.diag_embed(input, diagonal) if input.ndim == 1 else ops.diagonal(input, diagonal)


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """`ops.diff`, with PyTorch's names of its arguments."""
    return ops.diff(input, n, dim, prepend, append)

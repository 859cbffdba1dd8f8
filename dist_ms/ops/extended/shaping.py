"""Shapes and layouts in PyTorch's form: join, split, turn, repeat."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_type
from dist_ms.common.error_classes import bools
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, not_of, one_axis, tensor

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

reshape = ops.reshape
ravel = ops.ravel
roll = ops.roll
tile = ops.tile
unsqueeze = ops.unsqueeze


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """`ops.broadcast_to`, to a tuple or list of lengths."""
    return ops.broadcast_to(input, check_type(shape, "shape", "mint.broadcast_to", (tuple, list)))


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """`ops.cat`, with the axis named `dim`."""
    return ops.cat(tensors, dim if type(dim) is int else integer(dim, "dim", "mint.cat"))


concat = cat


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """`ops.stack`, with the axis named `dim`."""
    return ops.stack(tensors, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`ops.chunk`, with the axis named `dim`; of nothing there are as many parts as wanted."""
    chunks, dim = integer(chunks, "chunks", "mint.chunk"), integer(dim, "dim", "mint.chunk")
    parts = ops.chunk(input, chunks, dim)
    return parts if input.size or input.shape[dim] else parts * chunks


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """`ops.split`, with the axis named `dim`."""
    dim = integer(dim, "dim", "mint.split")
    parts = ops.split(tensor, split_size_or_sections, dim)
    if not (tensor.size or isinstance(split_size_or_sections, (tuple, list)) or tensor.shape[dim]):
        raise ValueError(
            f"For 'split', 'tensor' must not be empty along 'dim' {dim}, but got the shape {tensor.shape}; "
            f"name the lengths of the parts."
        )
    return parts


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`ops.narrow`, with the axis named `dim`; the three numbers are ints or Tensors of one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.narrow(ms.Tensor([1, 2, 3]), 0, ms.Tensor(1), 2))
        [2 3]
    """
    owner = "mint.narrow"
    return ops.narrow(
        input, integer(dim, "dim", owner), integer(start, "start", owner), integer(length, "length", owner)
    )


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """`ops.unbind`; there must be something along the dimension.

    Raises:
        TypeError: if `input` is no Tensor, or `dim` neither an int nor a Tensor of one.
        ValueError: if there is no such dimension, or its length is 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.mint.unbind(ms.Tensor([[1, 2], [3, 4]])))
        [1 2] [3 4]
    """
    shape = tensor(input, "input", "mint.unbind").shape
    axis = one_axis(dim, "dim", "mint.unbind", len(shape))
    if shape and not shape[axis]:
        raise ValueError(f"For 'unbind', 'input' must not be empty along 'dim' {dim}, but got the shape {shape}.")
    return ops.unbind(input, axis)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """`ops.flatten`, row by row, of all dimensions if none are named.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.flatten(ms.ops.ones((2, 3))).shape, ms.mint.flatten(ms.ops.ones((2, 3, 4)), 1).shape
        ((6,), (2, 12))
    """
    ndim = tensor(input, "input", "flatten").ndim or 1
    start_dim, end_dim = (
        one_axis(start_dim, "start_dim", "mint.flatten", ndim),
        one_axis(end_dim, "end_dim", "mint.flatten", ndim),
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
    """The transpose of a Tensor: its first two dimensions, if it has them, change places.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.t(ms.ops.ones((2, 3, 4))).shape
        (3, 2, 4)
    """
    return ops.t(input) if tensor(input, "input", "mint.t").ndim < 3 else ops.swapaxes(input, 0, 1)


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


@bools("n", owner="mint.diff")
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """`ops.diff`, which leaves the input as it is if `n` is 0, and only puts something before and behind it below 0.

    Args:
        input: a Tensor of numbers, without float64, int16 and complex ones.
        n: how often: an int, or a Tensor without dimensions.
        dim: the dimension.
        prepend, append: what to put before and behind.

    Raises:
        TypeError: if `input` holds other numbers, or `n` is no int.
        ValueError: if there is something to put before or behind a scalar.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.diff(ms.Tensor([1, 4, 9]), append=ms.Tensor([20])))
        [ 3  5 11]
    """
    not_of(input, "hdFD", "input", "mint.diff")
    n = integer(n, "n", "mint.diff")
    if n == 0:
        return tensor(input, "input", "mint.diff")
    if (prepend is not None or append is not None) and not tensor(input, "input", "mint.diff").ndim:
        raise ValueError("For 'diff', 'input' must have a dimension for 'prepend' and 'append', but got a scalar.")
    return ops.diff(input, n if n > 0 else 0, dim, prepend, append)

"""Unique and its kin: elements without repetition."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, boolean, index_array, not_of, number, one_axis, scalar, tensor
from dist_ms.ops.kernels import unique as kernels
from dist_ms.ops.primitive import Primitive, Undifferentiable

__all__ = ["Unique", "UniqueConsecutive", "UniqueWithPad", "unique", "unique_consecutive", "unique_with_pad"]


def different(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each different element first comes, row by row, and for each element which one it is."""
    flat = np.ascontiguousarray(x).reshape(-1)
    if x.dtype.kind == "c":
        _values, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
        return np.sort(first), np.argsort(np.argsort(first))[inverse.reshape(-1)]
    places = np.empty(flat.shape, np.int32)
    return kernels.unique(flat, places), places


@reads("shape")
class Unique(Undifferentiable):
    """The different elements in the order they first come, and for each element which one it is.

    Call:
        input (Tensor): the elements, in one dimension.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.Unique()(ms.Tensor([3, 1, 3]))
        >>> print(values, places)
        [3 1] [0 1 0]
    """

    def forward(self, input: np.ndarray) -> tuple:
        not_of(input, "?FD", "input", self.name)
        first, places = different(array(input, "input", self.name))
        index = np.int64 if input.dtype == np.int64 else np.int32
        return input.reshape(-1)[first], places.reshape(input.shape).astype(index, copy=False)


unique = Unique()


class UniqueConsecutive(Primitive):
    """`unique_consecutive` as a primitive: `UniqueConsecutive(return_inverse, return_counts, dim)(input)`."""

    differentiable = False

    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> None:
        self.return_inverse, self.return_counts, self.dim = return_inverse, return_counts, dim

    def forward(self, input: np.ndarray) -> tuple:
        x = array(input, "input", self.name)
        rows = (
            x.reshape(-1, 1)
            if self.dim is None
            else np.moveaxis(x, one_axis(self.dim, "dim", self.name, x.ndim), 0).reshape(x.shape[self.dim], -1)
        )
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]).any(1)
        places = np.cumsum(new) - 1
        starts = np.flatnonzero(new)
        counts = np.diff(np.append(starts, len(rows)))
        values = x.reshape(-1)[starts] if self.dim is None else np.take(x, starts, self.dim)
        return values, places.reshape(x.shape) if self.dim is None else places, counts.astype(np.int64)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Drop the repetitions that follow each other.

    Args:
        input: a Tensor.
        return_inverse: also return for each element which one it is.
        return_counts: also return how often each comes.
        dim: compare slices along this dimension; None for all elements row by row.

    Returns:
        Tensor, or tuple of it and what else was asked for, as int64.

    Examples:
        >>> import dist_ms as ms
        >>> values, counts = ms.ops.unique_consecutive(ms.Tensor([1, 1, 2, 1]), return_counts=True)
        >>> print(values, counts)
        [1 2 1] [2 1 1]
    """
    boolean(return_inverse, "return_inverse", "unique_consecutive")
    boolean(return_counts, "return_counts", "unique_consecutive")
    values, places, counts = UniqueConsecutive(dim=dim)(input)
    out = (values, *([places] if return_inverse else []), *([counts] if return_counts else []))
    return out if len(out) > 1 else values


def unique_with_pad(x: Tensor, pad_num: int) -> tuple[Tensor, Tensor]:
    """Find the different elements in the order they first come, padded to the length of `x`.

    Args:
        x: a Tensor with one dimension.
        pad_num: what to pad with.

    Returns:
        (different elements and padding, for each element which one it is).

    Raises:
        TypeError: if `x` is no Tensor of float32, int32 or int64, or `pad_num` does not fit it.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.unique_with_pad(ms.Tensor([3, 1, 3]), 0)[0])
        [3 1 0]
    """
    index_array(tensor(x, "x", "unique_with_pad").array(), "x", "unique_with_pad")
    number(scalar(pad_num), "pad_num", "unique_with_pad", True)
    if x.ndim != 1 or not x.size:
        raise ValueError(
            f"For 'unique_with_pad', 'x' must have 1 dimension with elements, but got the shape {x.shape}."
        )
    values, places = unique(tensor(x, "x", "unique_with_pad"))
    pad = ops.arguments.scalar(pad_num)
    if isinstance(pad, bool) or (isinstance(pad, float) and x.array().dtype.kind == "i"):
        raise TypeError(f"For 'unique_with_pad', 'pad_num' must be an int for {x.dtype}, but got {pad_num}.")
    return ops.concat([values, ops.full((x.size - values.size,), pad, dtype=x.dtype)]), places


class UniqueWithPad(Undifferentiable):
    """The different elements in the order they first come, padded: `unique_with_pad` as a primitive.

    Raises:
        ValueError: if `x` has more than one dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UniqueWithPad()(ms.Tensor([3, 1, 3]), 0))
        (Tensor(shape=[3], dtype=Int64, value= [3, 1, 0]), Tensor(shape=[3], dtype=Int64, value= [0, 1, 0]))
    """

    def __call__(self, x: Tensor, pad_num: int) -> tuple[Tensor, Tensor]:
        if ops.arguments.tensor(x, "x", self.name).ndim != 1:
            raise ValueError(f"For '{self.name}', 'x' must have one dimension, but got shape {x.shape}.")
        return unique_with_pad(x, pad_num)

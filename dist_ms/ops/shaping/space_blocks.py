"""Blocks of pixels to channels or to the batch, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, integers, not_of, tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "BatchToSpaceND",
    "BatchToSpaceNDV2",
    "DepthToSpace",
    "SpaceToBatchND",
    "SpaceToDepth",
    "batch_to_space_nd",
    "space_to_batch_nd",
]


class SpaceToDepth(Primitive):
    """Blocks of pixels put into the channels: (N, C, H, W) to (N, C b^2, H / b, W / b).

    Args:
        block_size: b, 2 or more.

    Call:
        x (Tensor): (N, C, H, W).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if b is below 2, or does not divide height and width.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.SpaceToDepth(2)(ms.ops.ones((1, 1, 2, 4))).shape
        (1, 4, 1, 2)
    """

    def __init__(self, block_size: int) -> None:
        self.block_size = integer(block_size, "block_size", self.name)
        if self.block_size < 2:
            raise ValueError(f"For '{self.name}', 'block_size' must be 2 or more, but got {block_size}.")

    def __call__(self, x: Tensor) -> Tensor:
        shape, b = tensor(x, "x", self.name).shape, self.block_size
        if len(shape) != 4 or shape[2] % b or shape[3] % b:
            raise ValueError(
                f"For '{self.name}', 'x' must be (N, C, H, W) with H and W multiples of 'block_size' {b}, but got "
                f"shape {shape}."
            )
        n, c, h, w = shape
        parts = ops.transpose(ops.reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
        return ops.reshape(parts, (n, c * b * b, h // b, w // b))


class DepthToSpace(SpaceToDepth):
    """Channels put into blocks of pixels, the inverse of `SpaceToDepth`: (N, C b^2, H, W) to (N, C, H b, W b).

    Args:
        block_size: b, 2 or more.

    Call:
        x (Tensor): (N, C b^2, H, W).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if b is below 2, or its square does not divide the channels.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.DepthToSpace(2)(ms.ops.ones((1, 4, 1, 2))).shape
        (1, 1, 2, 4)
    """

    def __call__(self, x: Tensor) -> Tensor:
        shape, b = tensor(x, "x", self.name).shape, self.block_size
        if len(shape) != 4 or shape[1] % (b * b):
            raise ValueError(
                f"For '{self.name}', 'x' must be (N, C, H, W) with C a multiple of the square of 'block_size' {b}, "
                f"but got shape {shape}."
            )
        n, c, h, w = shape
        parts = ops.transpose(ops.reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
        return ops.reshape(parts, (n, c // (b * b), h * b, w * b))


def _pairs(value: Any, name: str, owner: str, rank: int) -> list[tuple[int, int]]:
    """Two numbers for each dimension."""
    if isinstance(value, Tensor):
        value = value.asnumpy().tolist()
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"For '{owner}', '{name}' must be {rank} pairs of ints, but got {value!r}.")
    if len(value) != rank:
        raise ValueError(f"For '{owner}', '{name}' must be {rank} pairs of ints, but got {value!r}.")
    for pair in value:
        parts = pair if isinstance(pair, (tuple, list)) else [None]
        if not isinstance(pair, (tuple, list, Tensor)) or any(isinstance(n, Tensor) for n in parts):
            raise ValueError(f"For '{owner}', '{name}' must be {rank} pairs of ints, but got {value!r}.")
    pairs = [integers(check_type(pair, name, owner, (tuple, list)), name, owner) for pair in value]
    if any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(f"For '{owner}', '{name}' must be {rank} pairs of ints of 0 or more, but got {value!r}.")
    return pairs


def _blocks(value: Any, name: str, owner: str, ndim: int) -> tuple[int, ...]:
    """The block length of each of the last dimensions; a single int counts for two."""
    value = (value, value) if isinstance(value, int) and not isinstance(value, bool) else value
    blocks = integers(value, name, owner)
    if not 0 < len(blocks) <= ndim - 1 or min(blocks) < 1:
        raise ValueError(
            f"For '{owner}', '{name}' must be positive, one for each of the last dimensions, but got {value!r} "
            f"for {ndim} dimensions."
        )
    return blocks


def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Tensor:
    """Put blocks of the last dimensions into the batch.

    Args:
        input_x: (N, ..., *spatial).
        block_size: the block's length in each of the last dimensions, or one int for two of them.
        paddings: (before, after) per dimension, zeros added first.

    Returns:
        Tensor (N prod(block_size), ..., *(padded spatial / block_size)).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there are other numbers of blocks or pairs than dimensions, or one is negative.
        RuntimeError: if the blocks do not divide the padded dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.space_to_batch_nd(ms.ops.ones((1, 3, 2, 2)), [2, 2], [[0, 0], [0, 0]]).shape
        (4, 3, 1, 1)
    """
    return SpaceToBatchND(block_size, paddings)(input_x)


def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Put parts of the batch into blocks of the last dimensions: the inverse of `space_to_batch_nd`.

    Args:
        input_x: (N prod(block_shape), ..., *spatial).
        block_shape: the block's length in each of the last dimensions, or one int for two of them.
        crops: (before, after) per dimension, cut off at the end.

    Returns:
        Tensor (N, ..., *(spatial block_shape - crops)).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the blocks do not divide the batch, or nothing remains.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.batch_to_space_nd(ms.ops.ones((4, 3, 1, 1)), [2, 2], [[0, 0], [0, 0]]).shape
        (1, 3, 2, 2)
    """
    return BatchToSpaceND(block_shape, crops)(input_x)


class SpaceToBatchND(Primitive):
    """`space_to_batch_nd` as a primitive: `SpaceToBatchND(block_shape, paddings)(input_x)`."""

    def __init__(self, block_shape: Any, paddings: Any) -> None:
        self.block_shape, self.paddings = block_shape, paddings

    def __call__(self, input_x: Tensor) -> Tensor:
        shape = tensor(not_of(input_x, "?", "input_x", self.name), "input_x", self.name).shape
        blocks = _blocks(self.block_shape, "block_shape", self.name, len(shape))
        pairs, m = _pairs(self.paddings, "paddings", self.name, len(blocks)), len(blocks)
        if any(pair != (0, 0) for pair in pairs):
            input_x = ops.pad(input_x, [n for pair in pairs[::-1] for n in pair])
        n, middle, sizes = shape[0], input_x.shape[1:-m], input_x.shape[-m:]
        if any(size % b for size, b in zip(sizes, blocks)):
            raise RuntimeError(
                f"For '{self.name}', 'block_shape' must divide the padded dimensions {sizes}, but got {blocks}."
            )
        split = [k for size, b in zip(sizes, blocks) for k in (size // b, b)]
        first = 1 + len(middle)
        order = (*range(first + 1, first + 2 * m, 2), *range(first), *range(first, first + 2 * m, 2))
        parts = ops.transpose(ops.reshape(input_x, (n, *middle, *split)), order)
        return ops.reshape(parts, (n * math.prod(blocks), *middle, *split[::2]))


class BatchToSpaceND(Primitive):
    """`batch_to_space_nd` as a primitive: `BatchToSpaceND(block_shape, crops)(input_x)`."""

    def __init__(self, block_shape: Any, crops: Any) -> None:
        self.block_shape, self.crops = block_shape, crops

    def __call__(self, input_x: Tensor) -> Tensor:
        shape = tensor(not_of(input_x, "?", "input_x", self.name), "input_x", self.name).shape
        blocks = _blocks(self.block_shape, "block_shape", self.name, len(shape))
        pairs, m = _pairs(self.crops, "crops", self.name, len(blocks)), len(blocks)
        middle, sizes, total = shape[1:-m], shape[-m:], math.prod(blocks)
        whole = [size * b for size, b in zip(sizes, blocks)]
        if shape[0] % total or any(sum(pair) >= size for pair, size in zip(pairs, whole)):
            raise ValueError(
                f"For '{self.name}', 'block_shape' {blocks} must divide the batch and 'crops' {pairs} leave something, "
                f"but got shape {shape}."
            )
        n, first = shape[0] // total, m + 1 + len(middle)
        order = (*range(m, first), *[k for i in range(m) for k in (first + i, i)])
        out = ops.reshape(
            ops.transpose(ops.reshape(input_x, (*blocks, n, *middle, *sizes)), order), (n, *middle, *whole)
        )
        cut = [slice(a, size - b) for (a, b), size in zip(pairs, whole)]
        return out[(slice(None),) * (1 + len(middle)) + tuple(cut)]


class BatchToSpaceNDV2(Primitive):
    """Parts of the batch put into blocks of the first dimensions after it.

    Call:
        input_x (Tensor): (N, ...), where the product of `block_shape` divides N.
        block_shape (Tensor): M numbers of 1 or more, integers.
        crops (Tensor): (M, 2), how many elements are cut at each end of the M dimensions after the first.

    Returns:
        Tensor (N / product, sizes of M dimensions times block_shape less crops, ...).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(4.0).reshape(4, 1, 1, 1)
        >>> blocks, crops = ms.Tensor([2, 2]), ms.Tensor([[0, 0], [0, 0]])
        >>> print(ms.ops.BatchToSpaceNDV2()(x, blocks, crops).reshape(2, 2))
        [[0. 1.]
         [2. 3.]]
    """

    def __call__(self, input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
        shape = tensor(input_x, "input_x", self.name).shape
        blocks, pairs = (np.asarray(v.array() if isinstance(v, Tensor) else v) for v in (block_shape, crops))
        for name, value in (("block_shape", blocks), ("crops", pairs)):
            if value.dtype.kind not in "iu":
                raise TypeError(complaint(name, self.name, "of integers", value.dtype))
        m, total = len(blocks), int(blocks.prod())
        fits = blocks.ndim == 1 and m < len(shape) and pairs.shape == (m, 2) and blocks.min(initial=1) > 0
        whole = [size * int(b) for size, b in zip(shape[1:], blocks)] if fits else []
        if not fits or shape[0] % total or pairs.min(initial=0) < 0 or any(pairs.sum(1) >= whole):
            raise ValueError(
                f"For '{self.name}', 'block_shape' {blocks.tolist()} must divide the batch and 'crops' "
                f"{pairs.tolist()} leave something, but got shape {shape}."
            )
        n, rest = shape[0] // total, range(2 * m + 1, m + len(shape))
        parts = ops.reshape(input_x, (*blocks.tolist(), n, *shape[1:]))
        order = (m, *[k for i in range(m) for k in (m + 1 + i, i)], *rest)
        out = ops.reshape(ops.transpose(parts, order), (n, *whole, *shape[m + 1 :]))
        cut = [slice(int(a), size - int(b)) for (a, b), size in zip(pairs, whole)]
        return out[(slice(None), *cut)]

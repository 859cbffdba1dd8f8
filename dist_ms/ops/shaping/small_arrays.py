"""Bucketize, ChannelShuffle, UnravelIndex and their kin: elements renumbered, reordered, packed."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.dtype import Number
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integer, integral, number, real, tensor
from dist_ms.ops.primitive import Primitive, Undifferentiable
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.transposing import transpose

__all__ = [
    "Bucketize",
    "ChannelShuffle",
    "CompareAndBitpack",
    "IdentityN",
    "InvertPermutation",
    "UnravelIndex",
    "scalar_cast",
]


class Bucketize(Undifferentiable):
    """`bucketize` as a primitive: `Bucketize(boundaries)(input)`.

    Args:
        boundaries: floats that never fall; bucket i ends before boundary i.

    Raises:
        ValueError: if `boundaries` fall.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Bucketize([1.0, 3.0])(ms.Tensor([0, 1, 2, 3])))
        [0 1 1 2]
    """

    def __init__(self, boundaries: list) -> None:
        check_type(boundaries, "boundaries", self.name, list)
        self.boundaries = [float(number(b, "boundaries", self.name)) for b in boundaries]
        if sorted(self.boundaries) != self.boundaries:
            raise ValueError(f"For '{self.name}', 'boundaries' must not fall, but got {boundaries}.")

    def forward(self, input: np.ndarray) -> np.ndarray:
        x = real(input, "input", self.name).astype(np.float64)
        return np.searchsorted(self.boundaries, x, side="right").astype(np.int32)


class ChannelShuffle(Primitive):
    """Channels in groups, reordered so that those of one group come apart.

    Zhang et al., "ShuffleNet", 2018.

    Args:
        group: the number of groups.

    Call:
        x (Tensor): (..., C, H, W); C is a multiple of `group`.

    Raises:
        ValueError: if `group` does not divide the channels, or `x` has fewer than 3 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ChannelShuffle(2)(ms.ops.arange(4).reshape(1, 4, 1, 1)).reshape(-1))
        [0 2 1 3]
    """

    def __init__(self, group: int) -> None:
        self.group = integer(group, "group", self.name)

    def __call__(self, x: Tensor) -> Tensor:
        shape = tensor(x, "x", self.name).shape
        if len(shape) < 3 or self.group < 1 or shape[-3] % self.group:
            raise ValueError(
                f"For '{self.name}', 'x' must be (..., C, H, W) with C a multiple of 'group' {self.group}, "
                f"but got shape {shape}."
            )
        lead, parts = len(shape) - 3, reshape(x, (*shape[:-3], self.group, shape[-3] // self.group, *shape[-2:]))
        return reshape(transpose(parts, (*range(lead), lead + 1, lead, lead + 2, lead + 3)), shape)


class CompareAndBitpack(Undifferentiable):
    """Whether elements are above a threshold, eight in a byte, the first in the highest bit.

    Call:
        x (Tensor): real numbers or bools; the last length is a multiple of 8.
        threshold (Tensor): one number of the same dtype.

    Raises:
        TypeError: if the dtypes differ.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.CompareAndBitpack()(ms.ops.arange(8.0), ms.Tensor(5.0)))
        [3]
    """

    def forward(self, x: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        real(x, "x", self.name)
        if array(threshold, "threshold", self.name).dtype != x.dtype:
            raise TypeError(f"For '{self.name}', 'threshold' must be {x.dtype}, but got {threshold.dtype}.")
        if not x.ndim or x.shape[-1] % 8 or threshold.size != 1:
            raise ValueError(
                f"For '{self.name}', the last length of 'x' must be a multiple of 8 and 'threshold' one number, "
                f"but got shapes {x.shape} and {threshold.shape}."
            )
        return np.packbits(x > threshold.reshape(()), axis=-1)


class IdentityN(Primitive):
    """The tensors of a list, as a tuple.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.IdentityN()([ms.Tensor([1, 2]), ms.Tensor(3)])[1])
        3
    """

    def __call__(self, x: Any) -> tuple:
        check_type(x, "x", self.name, (tuple, list))
        return tuple([tensor(part, "x", self.name) + 0 if part.dtype.np.kind != "b" else part for part in x])


class InvertPermutation(Primitive):
    """The inverse of a permutation given as ints: where each number stands.

    Raises:
        TypeError: if it is no tuple or list.
        ValueError: if it is no permutation of 0 to n - 1.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.InvertPermutation()((3, 4, 0, 2, 1))
        (2, 4, 3, 0, 1)
    """

    def __call__(self, input_x: Any) -> tuple:
        check_type(input_x, "input_x", self.name, (tuple, list))
        order = [integer(n, "input_x", self.name) for n in input_x]
        if sorted(order) != list(range(len(order))):
            raise ValueError(
                f"For '{self.name}', 'input_x' must hold each number from 0 to {len(order) - 1} once, but got {order}."
            )
        return tuple(np.argsort(order).tolist())


class UnravelIndex(Undifferentiable):
    """The coordinates of flat places in an array.

    Call:
        indices (Tensor): int32 or int64, one place or (n,) of them.
        dims (Tensor): the shape of the array, of the same dtype.

    Returns:
        Tensor (rank,), or (rank, n): one row for each dimension of the array.

    Raises:
        TypeError: if an argument holds no integers.
        ValueError: if a place is outside the array, or a shape does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UnravelIndex()(ms.Tensor([2, 5]), ms.Tensor([3, 3])))
        [[0 1]
         [2 2]]
    """

    def forward(self, indices: np.ndarray, dims: np.ndarray) -> np.ndarray:
        places, shape = integral(indices, "indices", self.name), integral(dims, "dims", self.name)
        if places.ndim > 1 or shape.ndim != 1 or (shape < 1).any():
            raise ValueError(
                f"For '{self.name}', 'indices' must have at most one dimension and 'dims' hold positive numbers, "
                f"but got shape {places.shape} and {shape}."
            )
        if places.size and not (places.min() >= 0 and places.max() < shape.prod()):
            raise ValueError(f"For '{self.name}', 'indices' must be in [0, {shape.prod()}), but got {places}.")
        return np.stack(np.unravel_index(places, tuple(shape.tolist()))).astype(places.dtype)


def scalar_cast(input_x: Any, input_y: Number) -> Any:
    """Return a Python number as an int, a float or a bool, rounded to a dtype.

    Args:
        input_x: a number.
        input_y: the dtype.

    Returns:
        int, float or bool.

    Raises:
        TypeError: if `input_x` is no number.
        ValueError: if `input_y` is no dtype.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.scalar_cast(255.0, ms.int64)
        255
    """
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(f"For 'scalar_cast', 'input_x' must be a number, but got {type(input_x).__name__}.")
    if not isinstance(input_y, Number):
        raise ValueError(f"For 'scalar_cast', 'input_y' must be a dtype, but got {input_y!r}.")
    return np.asarray(input_x).astype(input_y.np).item()

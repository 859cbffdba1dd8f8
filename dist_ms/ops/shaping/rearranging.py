"""Flip, Roll, rot90 and their kin: the elements along a dimension in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.error_classes import bools, plain, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integer, integers, integral, many_axes, not_of, one_axis, tensor
from dist_ms.ops.layout import copied
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.padding import bordered
from dist_ms.ops.shaping.transposing import swapaxes

__all__ = [
    "ReverseSequence",
    "ReverseV2",
    "Roll",
    "flip",
    "fliplr",
    "flipud",
    "reverse",
    "reverse_sequence",
    "roll",
    "rot90",
]


class ReverseV2(Primitive):
    """The elements along some dimensions in reverse order.

    Args:
        axis: the dimension or dimensions.

    Call:
        input (Tensor): the elements.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReverseV2([0])(ms.Tensor([1, 2, 3])))
        [3 2 1]
    """

    keeps = ()

    def __init__(self, axis: Any) -> None:
        self.axis = integers(axis, "axis", self.name)

    def forward(self, input: np.ndarray) -> np.ndarray:
        ndim = array(input, "input", self.name).ndim
        axes = many_axes(self.axis, "axis", self.name, ndim) if self.axis else ()
        return copied(np.flip(input, axes))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return self(dout)


def flip(input: Tensor, dims: Any) -> Tensor:
    """Reverse the order of the elements along some dimensions.

    Args:
        input: a Tensor.
        dims: the dimensions, a tuple or list.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `dims` is no tuple or list of ints.
        ValueError: if a dimension is out of range or comes twice.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.flip(ms.Tensor([[1, 2], [3, 4]]), (0,)))
        [[3 4]
         [1 2]]
    """
    if not tensor(input, "input", "flip").ndim:
        raise ValueError("For 'flip', 'input' must have at least 1 dimension, but got a scalar.")
    if not isinstance(dims, (tuple, list)):
        raise TypeError(f"For 'flip', 'dims' must be a tuple or list of ints, but got {type(dims).__name__}.")
    return ReverseV2(dims)(input)


def fliplr(input: Tensor) -> Tensor:
    """Reverse the order along the second dimension.

    Args:
        input: a Tensor with at least two dimensions.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        ValueError: if there are fewer dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fliplr(ms.Tensor([[1, 2], [3, 4]])))
        [[2 1]
         [4 3]]
    """
    return ReverseV2(1)(input)


def flipud(input: Tensor) -> Tensor:
    """Reverse the order along the first dimension.

    Args:
        input: a Tensor with at least one dimension.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        ValueError: if `input` is a scalar.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.flipud(ms.Tensor([[1, 2], [3, 4]])))
        [[3 4]
         [1 2]]
    """
    if not tensor(input, "input", "flipud").ndim:
        raise ValueError("For 'flipud', 'input' must have at least 1 dimension, but got a scalar.")
    return ReverseV2(0)(input)


def reverse(x: Tensor, axis: Any) -> Tensor:
    """Reverse the order of the elements along some dimensions: `flip` under its other name.

    Args:
        x: a Tensor.
        axis: the dimensions.

    Returns:
        Tensor of the shape of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.reverse(ms.Tensor([1, 2, 3]), [0]))
        [3 2 1]
    """
    return ReverseV2(axis)(x)


class Roll(Primitive):
    """`roll` as a primitive: `Roll(shifts, dims)(input)`."""

    keeps = ()

    def __init__(self, shifts: Any, dims: Any = None) -> None:
        self.shifts = integers(shifts, "shifts", self.name)
        self.dims = None if dims is None else integers(dims, "dims", self.name)
        if len(self.shifts) != (1 if self.dims is None else len(self.dims)):
            raise ValueError(
                f"For '{self.name}', 'shifts' and 'dims' must have one length, but got {shifts} and {dims}."
            )

    def forward(self, input: np.ndarray) -> np.ndarray:
        array(input, "input", self.name)
        if self.dims is None:
            return _moved(input.reshape(-1), self.shifts[0], 0).reshape(input.shape)
        out = input
        for shift, dim in zip(self.shifts, self.dims):
            out = _moved(out, shift, one_axis(dim, "dims", self.name, input.ndim))
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Roll([-s for s in self.shifts], self.dims)(dout)


def _moved(x: np.ndarray, shift: int, axis: int) -> np.ndarray:
    """A copy of `x` with its elements moved along one dimension, around the end."""
    shift %= max(x.shape[axis], 1)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (shift, -shift)
    return bordered(x, tuple(widths), "circular")


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Move the elements along some dimensions; what leaves at the end comes in at the start.

    Args:
        input: a Tensor.
        shifts: how far, an int or one per dimension.
        dims: the dimension or dimensions; None treats the tensor as one-dimensional.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if an argument holds anything but ints.
        ValueError: if a dimension is out of range, or the two lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.roll(ms.Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    return Roll(shifts, dims)(input)


@plain("k")
@bools("k", "dims")
@scalars("dims")
def rot90(input: Tensor, k: int, dims: Any) -> Tensor:
    """Turn a tensor by 90 degrees in the plane of two dimensions, from the first toward the second.

    Args:
        input: a Tensor with at least two dimensions.
        k: how often; negative turns the other way.
        dims: the two dimensions.

    Returns:
        Tensor.

    Raises:
        TypeError: if `k` is no int.
        ValueError: if `dims` are not two different dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.rot90(ms.Tensor([[1, 2], [3, 4]]), 1, (0, 1)))
        [[2 4]
         [1 3]]
    """
    if not isinstance(dims, (tuple, list)):
        raise TypeError(f"For 'rot90', 'dims' must be a tuple or list of ints, but got {type(dims).__name__}.")
    if len(dims) != 2:
        raise ValueError(f"For 'rot90', 'dims' must be two dimensions, but got {dims}.")
    ndim = tensor(input, "input", "rot90").ndim
    if ndim == 1:
        raise RuntimeError(f"For 'rot90', 'input' must have at least 2 dimensions, but got {ndim}.")
    a, b = (one_axis(axis, "dims", "rot90", ndim) for axis in dims)
    if a == b:
        raise RuntimeError(f"For 'rot90', 'dims' must be different dimensions, but got {dims}.")
    turns = integer(k, "k", "rot90") % 4
    if turns == 0:
        return ReverseV2(())(input)
    if turns == 2:
        return ReverseV2((a, b))(input)
    return swapaxes(ReverseV2(b)(input), a, b) if turns == 1 else ReverseV2(b)(swapaxes(input, a, b))


@plain("batch_dim")
@plain("seq_dim", "batch_dim")
class ReverseSequence(Primitive):
    """`reverse_sequence` as a primitive: `ReverseSequence(seq_dim, batch_dim)(x, seq_lengths)`."""

    keeps = (1,)

    def __init__(self, seq_dim: int, batch_dim: int = 0) -> None:
        self.seq_dim = integer(seq_dim, "seq_dim", self.name)
        self.batch_dim = integer(batch_dim, "batch_dim", self.name)

    def forward(self, x: np.ndarray, seq_lengths: np.ndarray) -> np.ndarray:
        counts = integral(seq_lengths, "seq_lengths", self.name)
        along = one_axis(self.seq_dim, "seq_dim", self.name, array(x, "x", self.name).ndim)
        if self.seq_dim < 0 or self.batch_dim < 0:
            raise ValueError(
                f"For '{self.name}', 'seq_dim' and 'batch_dim' must not be negative, but got {self.seq_dim} and "
                f"{self.batch_dim}."
            )
        over = one_axis(self.batch_dim, "batch_dim", self.name, x.ndim)
        if over == along:
            raise ValueError(
                f"For '{self.name}', 'batch_dim' must be another dimension than 'seq_dim', but got {over}."
            )
        length = x.shape[along]
        fits = counts.shape == (x.shape[over],)
        if not fits or (counts < 0).any() or (counts > length).any():
            raise (RuntimeError if fits else ValueError)(
                f"For '{self.name}', 'seq_lengths' must hold {x.shape[over]} lengths up to {length}, "
                f"but got {counts.tolist()}."
            )
        steps = np.arange(length)
        places = np.where(steps < counts[:, None], counts[:, None] - 1 - steps, steps)
        shape = [1] * x.ndim
        shape[over], shape[along] = places.shape
        places = (places if over < along else places.T).reshape(shape)
        return np.take_along_axis(x, places, along)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return self(dout, inputs[1]), None


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """Reverse the first so many elements of each sequence.

    Args:
        x: a Tensor.
        seq_lengths: how many elements to reverse, a Tensor of integers, one per sequence.
        seq_dim: the dimension along the sequences.
        batch_dim: the dimension over the sequences.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        ValueError: if a dimension is out of range, or there is not one length per sequence.
        RuntimeError: if a length is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.reverse_sequence(ms.Tensor([[1, 2, 3]]), ms.Tensor([2]), 1))
        [[2 1 3]]
    """
    tensor(seq_lengths, "seq_lengths", "reverse_sequence")
    not_of(seq_lengths, "BHIL", "seq_lengths", "reverse_sequence")
    return ReverseSequence(seq_dim, batch_dim)(x, seq_lengths)

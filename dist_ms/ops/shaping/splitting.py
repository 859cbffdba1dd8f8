"""Split, Unstack and their kin: several tensors from one. The parts share its memory."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms._ext.remember import remembered
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integer, integers, one_axis, tensor
from dist_ms.ops.picking.indexing import GetItem
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping import joining

__all__ = [
    "Split",
    "SplitV",
    "Unpack",
    "Unstack",
    "chunk",
    "dsplit",
    "hsplit",
    "split",
    "tensor_split",
    "unbind",
    "unstack",
    "vsplit",
]


class Cut(Primitive):
    """A tensor cut into parts of given lengths along one dimension.

    Args:
        lengths: the parts' lengths, which add up to the dimension's.
        axis: the dimension.
    """

    keeps = ()

    def __init__(self, lengths: tuple, axis: int) -> None:
        self.lengths, self.axis = lengths, axis
        ends = list(itertools.accumulate(lengths))
        self.parts = [(*(slice(None),) * axis, slice(end - n, end)) for n, end in zip(lengths, ends)]

    def forward(self, x: np.ndarray) -> tuple:
        return tuple([x[part] for part in self.parts])

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> Tensor:
        return joining.concat(dout, self.axis)


class Split(Primitive):
    """Equal parts of a tensor along one dimension.

    Args:
        axis: the dimension.
        output_num: how many parts.

    Call:
        input_x (Tensor): the elements.

    Raises:
        TypeError: if `axis` or `output_num` is no int.
        ValueError: if `axis` is out of range, or the dimension is no multiple of `output_num`.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.Split(0, 2)(ms.Tensor([1, 2, 3, 4]))
        >>> print(a, b)
        [1 2] [3 4]
    """

    def __init__(self, axis: int = 0, output_num: int = 1) -> None:
        self.axis = integer(axis, "axis", self.name)
        self.output_num = integer(output_num, "output_num", self.name)

    def __call__(self, input_x: Tensor) -> tuple:
        axis = one_axis(self.axis, "axis", self.name, tensor(input_x, "input_x", self.name).ndim)
        length = input_x.shape[axis]
        if self.output_num < 1 or length % self.output_num:
            raise ValueError(
                f"For '{self.name}', 'output_num' must divide the length {length} of dimension {axis}, "
                f"but got {self.output_num}."
            )
        return Cut((length // self.output_num,) * self.output_num, axis)(input_x)


class SplitV(Primitive):
    """Parts of a tensor of given lengths along one dimension.

    Args:
        size_splits: the parts' lengths; one may be -1 for the rest.
        split_dim: the dimension.
        num_split: how many parts.

    Call:
        input_x (Tensor): the elements.

    Raises:
        ValueError: if the lengths do not add up to the dimension's, or are not `num_split`.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.SplitV([1, -1], 0, 2)(ms.Tensor([1, 2, 3, 4]))
        >>> print(a, b)
        [1] [2 3 4]
    """

    def __init__(self, size_splits: Any, split_dim: int, num_split: int) -> None:
        self.size_splits = integers(size_splits, "size_splits", self.name)
        self.split_dim, self.num_split = split_dim, num_split

    def __call__(self, input_x: Tensor) -> tuple:
        axis = one_axis(self.split_dim, "split_dim", self.name, tensor(input_x, "input_x", self.name).ndim)
        lengths, total = self.size_splits, input_x.shape[axis]
        rest = total - sum(n for n in lengths if n != -1)
        lengths = tuple([rest if n == -1 else n for n in lengths])
        if len(lengths) != self.num_split or sum(lengths) != total or min(lengths) < 0:
            raise ValueError(
                f"For '{self.name}', 'size_splits' must be {self.num_split} lengths that add up to "
                f"{total}, "
                f"but got {self.size_splits}."
            )
        return Cut(lengths, axis)(input_x)


@plain("axis")
class Unstack(Primitive):
    """`unstack` as a primitive: `Unstack(axis, num)(input_x)`.

    Args:
        num: how many slices there must be; None for any number.
    """

    keeps = ()

    def __init__(self, axis: int = 0, num: int | None = None) -> None:
        self.axis, self.num = integer(axis, "axis", self.name), num

    def forward(self, input_x: np.ndarray) -> tuple:
        axis = one_axis(self.axis, "axis", self.name, array(input_x, "input_x", self.name).ndim)
        if not input_x.ndim:
            raise ValueError(f"For '{self.name}', 'input_x' must have at least one dimension, but got a scalar.")
        if self.num is not None and input_x.shape[axis] != self.num:
            raise ValueError(
                f"For '{self.name}', 'num' must be the length of dimension {axis}, {input_x.shape[axis]}, "
                f"but got {self.num}."
            )
        lead = (slice(None),) * axis
        return tuple([np.asarray(input_x[(*lead, i)]) for i in range(input_x.shape[axis])])

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> Tensor:
        return joining.stack(dout, one_axis(self.axis, "axis", self.name, len(inputs[0].shape)))


class Unpack(Unstack):
    """The slices of a tensor along one dimension: `Unstack` under its old name.

    Args:
        axis: the dimension.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.ops.Unpack()(ms.Tensor([[1, 2], [3, 4]])))
        2
    """


@plain("axis", "split_size_or_sections")
def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into parts along one dimension.

    Args:
        tensor: a Tensor.
        split_size_or_sections: the length of every part (the last may be shorter), or a
            tuple or list of lengths that add up to the dimension's.
        axis: the dimension.

    Returns:
        tuple of Tensors that share the memory of `tensor`.

    Raises:
        TypeError: if the lengths or `axis` are no ints.
        ValueError: if `axis` is out of range, or the lengths do not add up.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.split(ms.Tensor([1, 2, 3]), 2)
        >>> print(a, b)
        [1 2] [3]
    """
    x = _tensor(tensor, "tensor", "split")
    axis = one_axis(axis, "axis", "split", x.ndim)
    if not x.ndim:
        raise ValueError("For 'split', 'tensor' must have at least 1 dimension, but got a scalar.")
    length = x.shape[axis]
    if isinstance(split_size_or_sections, (tuple, list)):
        lengths = integers(split_size_or_sections, "split_size_or_sections", "split")
        if sum(lengths) != length or any(n < 0 for n in lengths):
            raise ValueError(
                f"For 'split', 'split_size_or_sections' must add up to the length {length} of dimension "
                f"{axis}, but got {lengths}."
            )
    else:
        size = integer(split_size_or_sections, "split_size_or_sections", "split")
        if size < 1:
            raise ValueError(f"For 'split', 'split_size_or_sections' must be positive, but got {size}.")
        return _even_cut(length, size, axis)(x)
    return Cut(lengths, axis)(x)


@remembered
def _even_cut(length: int, size: int, axis: int) -> Cut:
    """Cut a dimension into parts of this size, the last one perhaps shorter; one part of nothing."""
    return Cut(tuple([min(size, length - start) for start in range(0, length, size)]) or (0,), axis)


_tensor = tensor


@plain("axis", "chunks")
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into at most so many parts of one length (the last may be shorter).

    Args:
        input: a Tensor.
        chunks: how many parts at most.
        axis: the dimension.

    Returns:
        tuple of Tensors that share the memory of `input`.

    Raises:
        TypeError: if `chunks` or `axis` is no int.
        ValueError: if `axis` is out of range, or `chunks` not positive.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.chunk(ms.Tensor([1, 2, 3]), 2)
        >>> print(a, b)
        [1 2] [3]
    """
    axis = one_axis(axis, "axis", "chunk", tensor(input, "input", "chunk").ndim)
    if not input.ndim:
        raise ValueError("For 'chunk', 'input' must have at least 1 dimension, but got a scalar.")
    chunks = integer(chunks, "chunks", "chunk")
    if chunks < 1:
        raise ValueError(f"For 'chunk', 'chunks' must be positive, but got {chunks}.")
    length = input.shape[axis]
    return _even_cut(length, -(-length // chunks) or 1, axis)(input)


@plain("axis", "indices_or_sections")
def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut a tensor into so many parts, or at given places.

    Args:
        input: a Tensor.
        indices_or_sections: how many parts (the first are longer by one if they cannot be
            equal), or a tuple or list of places to cut at.
        axis: the dimension.

    Returns:
        tuple of Tensors that share the memory of `input`.

    Raises:
        TypeError: if the places or `axis` are no ints.
        ValueError: if `axis` is out of range, or the number of parts not positive.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.tensor_split(ms.Tensor([1, 2, 3]), (1,))
        >>> print(a, b)
        [1] [2 3]
    """
    return _cut_at("tensor_split", input, indices_or_sections, axis)


def _cut_at(name: str, x: Tensor, places: Any, axis: int) -> tuple:
    if not tensor(x, "input", name).ndim:
        raise ValueError(f"For '{name}', 'input' must have at least 1 dimension, but got a scalar.")
    axis = one_axis(axis, "axis", name, x.ndim)
    length = x.shape[axis]
    if isinstance(places, (tuple, list)):
        marks = [min(max(p + length if p < 0 else p, 0), length) for p in integers(places, "indices_or_sections", name)]
        marks = [0, *marks, length]
        lengths = [max(0, b - a) for a, b in itertools.pairwise(marks)]
        if sum(lengths) != length:  # places out of order: parts may overlap, so cut each by itself
            return tuple([GetItem((slice(None),) * axis + (slice(a, b),))(x) for a, b in itertools.pairwise(marks)])
        return Cut(tuple(lengths), axis)(x)
    count = integer(places, "indices_or_sections", name)
    if count < 1:
        raise ValueError(f"For '{name}', 'indices_or_sections' must be positive, but got {count}.")
    base, longer = divmod(length, count)
    return Cut((base + 1,) * longer + (base,) * (count - longer), axis)(x)


@plain("indices_or_sections")
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut a tensor along the first dimension.

    Args:
        input: a Tensor with at least two dimensions.
        indices_or_sections: how many parts, or the places to cut at.

    Returns:
        tuple of Tensors that share the memory of `input`.

    Raises:
        ValueError: if `input` has fewer than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.ops.vsplit(ms.ops.zeros((4, 2)), 2))
        2
    """
    return _cut_at("vsplit", _at_least(input, 1, "vsplit"), indices_or_sections, 0)


@plain("indices_or_sections")
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut a tensor along the second dimension, a vector along the first.

    Args:
        input: a Tensor with at least one dimension.
        indices_or_sections: how many parts, or the places to cut at.

    Returns:
        tuple of Tensors that share the memory of `input`.

    Raises:
        ValueError: if `input` is a scalar.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.ops.hsplit(ms.ops.zeros((2, 4)), 4))
        4
    """
    if tensor(input, "input", "hsplit").ndim < 2:
        raise ValueError(f"For 'hsplit', 'input' must have at least 2 dimensions, but got {input.ndim}.")
    return _cut_at("hsplit", _at_least(input, 1, "hsplit"), indices_or_sections, min(1, input.ndim - 1))


@plain("indices_or_sections")
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut a tensor along the third dimension.

    Args:
        input: a Tensor with at least three dimensions.
        indices_or_sections: how many parts, or the places to cut at.

    Returns:
        tuple of Tensors that share the memory of `input`.

    Raises:
        ValueError: if `input` has fewer than three dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.ops.dsplit(ms.ops.zeros((2, 2, 4)), 2))
        2
    """
    return _cut_at("dsplit", _at_least(input, 3, "dsplit"), indices_or_sections, 2)


def _at_least(x: Tensor, ndim: int, name: str) -> Tensor:
    if tensor(x, "input", name).ndim < ndim:
        raise ValueError(f"For '{name}', 'input' must have at least {ndim} dimensions, but got {x.ndim}.")
    return x


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the slices of a tensor along one dimension, which is dropped.

    Args:
        input_x: a Tensor.
        axis: the dimension.

    Returns:
        tuple of Tensors that share the memory of `input_x`.

    Raises:
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.unstack(ms.Tensor([[1, 2], [3, 4]]))
        >>> print(a, b)
        [1 2] [3 4]
    """
    return Unstack(axis)(input_x)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the slices of a tensor along one dimension: `unstack` under its other name.

    Args:
        input: a Tensor.
        dim: the dimension.

    Returns:
        tuple of Tensors that share the memory of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> len(ms.ops.unbind(ms.Tensor([[1, 2], [3, 4]]), 1))
        2
    """
    return Unstack(dim)(input)

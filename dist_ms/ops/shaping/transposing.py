"""Transpose and its kin: the same elements with the dimensions in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import apply
from dist_ms.common.error_classes import bools, plain, reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, integers, one_axis, tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "ConjugateTranspose",
    "Transpose",
    "adjoint",
    "moveaxis",
    "movedim",
    "permute",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
]


@plain("input_perm")
class Transpose(Primitive):
    """`transpose` as a primitive: `Transpose()(input, dims)`."""

    keeps = ()

    def __call__(self, input: Tensor, dims: Any) -> Tensor:
        if type(dims) is not tuple:
            if isinstance(dims, int):
                raise TypeError(f"For '{self.name}', 'dims' must be a tuple or list of ints, but got {dims}.")
            dims = integers(dims, "dims", self.name)
        return apply(self, input, dims)

    def forward(self, input: np.ndarray, dims: tuple) -> np.ndarray:
        try:
            return input.transpose(dims)
        except (ValueError, TypeError, AttributeError):
            ndim = array(input, "input", self.name).ndim
        for axis in dims:
            one_axis(axis, "dims", self.name, ndim)
        raise ValueError(
            f"For '{self.name}', 'dims' must name each of the {ndim} dimensions of 'input' once, but got {dims}."
        )

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        perm = inputs[1]
        back = [0] * len(perm)
        for new, old in enumerate(perm):
            back[old] = new
        return transpose(dout, tuple(back)), None


_transpose = Transpose()


def transpose(input: Tensor, dims: Any) -> Tensor:
    """Return a tensor with its dimensions in another order; the memory is shared.

    Args:
        input: a Tensor.
        dims: for each new dimension the old one.

    Returns:
        Tensor with shape[i] = input.shape[dims[i]].

    Raises:
        TypeError: if `dims` holds anything but ints.
        ValueError: if it does not name each dimension once.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.transpose(ms.ops.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    return _transpose(input, dims)


def permute(input: Tensor, axis: Any) -> Tensor:
    """Return a tensor with its dimensions in another order: `transpose` under its other name.

    Args:
        input: a Tensor.
        axis: for each new dimension the old one.

    Returns:
        Tensor with shape[i] = input.shape[axis[i]].

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.permute(ms.ops.zeros((2, 3, 4)), (0, 2, 1)).shape
        (2, 4, 3)
    """
    return _transpose(input, axis)


@plain("axis0", "axis1")
@bools("axis0", "axis1")
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Exchange two dimensions.

    Args:
        input: a Tensor.
        axis0: one dimension.
        axis1: the other.

    Returns:
        Tensor that shares the memory of `input`.

    Raises:
        TypeError: if an axis is no int.
        ValueError: if an axis is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.swapaxes(ms.ops.zeros((2, 3, 4)), 0, -1).shape
        (4, 3, 2)
    """
    ndim = tensor(input, "input", "swapaxes").ndim
    a = one_axis(axis0, "axis0", "swapaxes", ndim)
    b = one_axis(axis1, "axis1", "swapaxes", ndim)
    if a == b:
        return input
    order = list(range(ndim))
    order[a], order[b] = b, a
    return _transpose(input, tuple(order))


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions: `swapaxes` under its other name.

    Args:
        input: a Tensor.
        dim0: one dimension.
        dim1: the other.

    Returns:
        Tensor that shares the memory of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.swapdims(ms.ops.zeros((2, 3, 4)), 0, 1).shape
        (3, 2, 4)
    """
    return swapaxes(input, dim0, dim1)


@plain("destination", "source")
@bools("source", "destination")
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places; the rest keep their order.

    Args:
        x: a Tensor.
        source: the dimension or dimensions to move.
        destination: where each of them goes.

    Returns:
        Tensor that shares the memory of `x`.

    Raises:
        ValueError: if a dimension is out of range or comes twice, or the two lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.movedim(ms.ops.zeros((2, 3, 4)), 0, 2).shape
        (3, 4, 2)
    """
    ndim = tensor(x, "x", "movedim").ndim
    source, destination = (() if axes is None else axes for axes in (source, destination))
    sources = [one_axis(a, "source", "movedim", ndim) for a in integers(source, "source", "movedim")]
    targets = [one_axis(a, "destination", "movedim", ndim) for a in integers(destination, "destination", "movedim")]
    if len(sources) != len(targets) or len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise ValueError(
            "For 'movedim', 'source' and 'destination' must have equally many different dimensions, "
            f"but got {source} and {destination}."
        )
    order = [i for i in range(ndim) if i not in sources]
    for place, axis in sorted(zip(targets, sources)):
        order.insert(place, axis)
    return _transpose(x, tuple(order))


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places: `movedim` under its other name.

    Args:
        x: a Tensor.
        source: the dimension or dimensions to move.
        destination: where each of them goes.

    Returns:
        Tensor that shares the memory of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.moveaxis(ms.ops.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    return movedim(x, source, destination)


@reads(input="ndim")
def t(input: Tensor) -> Tensor:
    """Transpose a matrix; what has more or fewer dimensions stays as it is.

    Args:
        input: a Tensor.

    Returns:
        Tensor that shares the memory of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.t(ms.Tensor([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    return _transpose(input, (1, 0)) if tensor(input, "input", "t").ndim == 2 else input


@reads("shape")
def adjoint(x: Tensor) -> Tensor:
    """Exchange the last two dimensions and conjugate.

    Args:
        x: a Tensor with at least two dimensions.

    Returns:
        Tensor of shape (..., n, m) for `x` of shape (..., m, n).

    Raises:
        ValueError: if there are fewer than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.adjoint(ms.ops.zeros((2, 3, 4))).shape
        (2, 4, 3)
    """
    from dist_ms.ops.elementwise.complex_numbers import conj

    if tensor(x, "x", "adjoint").ndim < 2:
        raise ValueError(f"For 'adjoint', 'x' must have at least 2 dimensions, but got {x.ndim}.")
    x = swapaxes(x, -1, -2)
    return conj(x) if x.array().dtype.kind == "c" else x


class ConjugateTranspose(Primitive):
    """A tensor conjugated, with its dimensions in another order.

    Call:
        x (Tensor): the elements.
        perm (tuple of ints): for each new dimension the old one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ConjugateTranspose()(ms.Tensor([[1j, 2 + 0j]]), (1, 0)))
        [[0.-1.j]
         [2.-0.j]]
    """

    def __call__(self, x: Tensor, perm: Any) -> Tensor:
        from dist_ms.ops.elementwise.complex_numbers import conj

        return conj(transpose(x, perm))

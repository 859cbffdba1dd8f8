"""The same elements in another shape or order of axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import axes_of, axis_of, strict, tensor_of

__all__ = [
    *("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "expand_dims", "moveaxis"),
    *("ravel", "reshape", "rollaxis", "size", "squeeze", "swapaxes", "transpose"),
]


def reshape(x: Tensor, new_shape: Any) -> Tensor:
    """Return the elements in a new shape, of which one length may be -1 for what is left.

    Raises:
        TypeError: if `x` is no Tensor.
        ValueError: if the shape holds another number of elements.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.reshape(mnp.arange(4), (2, -1)))
        [[0 1]
         [2 3]]
    """
    shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    return ops.reshape(strict(x, "x", "reshape"), shape)


def ravel(x: Tensor) -> Tensor:
    """Return the elements in one dimension."""
    return ops.reshape(strict(x, "x", "ravel"), (-1,))


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    """Return the tensor with its axes in another order, by default turned around.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.transpose(mnp.ones((1, 2, 3))).shape)
        (3, 2, 1)
    """
    a = strict(a, "a", "transpose")
    order = tuple(reversed(range(a.ndim))) if axes is None else axes_of("transpose", axes, a.ndim)
    return ops.transpose(a, order)


def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """Return the tensor with two axes exchanged."""
    order = list(range(strict(x, "x", "swapaxes").ndim))
    i, j = axis_of("swapaxes", axis1, x.ndim), axis_of("swapaxes", axis2, x.ndim)
    order[i], order[j] = order[j], order[i]
    return ops.transpose(x, tuple(order))


def moveaxis(a: Tensor, source: Any, destination: Any) -> Tensor:
    """Move axes to new places; the others keep their order.

    Args:
        a: a Tensor.
        source: an axis or several.
        destination: where each of them goes.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.moveaxis(mnp.zeros((3, 4, 5)), 0, -1).shape)
        (4, 5, 3)
    """
    ndim = strict(a, "a", "moveaxis").ndim
    come, go = axes_of("moveaxis", source, ndim), axes_of("moveaxis", destination, ndim)
    if len(come) != len(go):
        raise ValueError(
            f"For 'moveaxis', 'source' and 'destination' must be as long as each other, but got {source} "
            f"and {destination}."
        )
    order = [i for i in range(ndim) if i not in come]
    for place, axis in sorted(zip(go, come, strict=True)):
        order.insert(place, axis)
    return ops.transpose(a, tuple(order))


def rollaxis(x: Tensor, axis: int, start: int = 0) -> Tensor:
    """Move one axis back until it stands before the one at `start`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.rollaxis(mnp.ones((2, 3, 4)), 2).shape)
        (4, 2, 3)
    """
    ndim = strict(x, "x", "rollaxis").ndim
    axis = axis_of("rollaxis", axis, ndim)
    if not -ndim <= start <= ndim:
        raise ValueError(f"For 'rollaxis', 'start' must be in [{-ndim}, {ndim}], but got {start}.")
    start += ndim if start < 0 else 0
    return moveaxis(x, axis, start - 1 if axis < start else start)


def expand_dims(a: Tensor, axis: Any) -> Tensor:
    """Insert axes of length 1 at the places they have in the result."""
    a = strict(a, "a", "expand_dims")
    count = 1 if isinstance(axis, (int, np.integer)) else len(axis)
    places = axes_of("expand_dims", axis, a.ndim + count)
    lengths = iter(a.shape)
    return ops.reshape(a, tuple(1 if i in places else next(lengths) for i in range(a.ndim + count)))


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    """Remove axes of length 1: all of them, or those of `axis` that have it.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.squeeze(mnp.ones((1, 2, 1)), 0).shape)
        (2, 1)
    """
    chosen = axes_of("squeeze", axis, strict(a, "a", "squeeze").ndim)
    return ops.reshape(a, tuple(n for i, n in enumerate(a.shape) if n != 1 or i not in chosen))


def size(a: Any, axis: Any = None) -> int:
    """Return how many elements there are, or along some axes."""
    a = tensor_of(a, "a", "size")
    return int(np.prod([a.shape[i] for i in axes_of("size", axis, a.ndim)], dtype=np.int64))


def broadcast_to(array: Tensor, shape: Any) -> Tensor:
    """Repeat a tensor along axes of length 1 and new leading ones until it has a shape.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.broadcast_to(mnp.array([1, 2]), (2, 2)))
        [[1 2]
         [1 2]]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.broadcast_to(strict(array, "array", "broadcast_to"), shape)


def broadcast_arrays(*args: Tensor) -> list[Tensor]:
    """Broadcast tensors against each other."""
    shapes = [strict(a, "args", "broadcast_arrays").shape for a in args]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"For 'broadcast_arrays', the shapes must broadcast, but got {shapes}.") from None
    return [ops.broadcast_to(a, shape) for a in args]


def _at_least(name: str, arys: tuple, shape: Any) -> Any:
    """Each tensor in the shape that `shape` makes of its own; alone if there is one."""
    made = [ops.reshape(a, shape(strict(a, "arys", name).shape)) for a in arys]
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Tensor) -> Any:
    """Return the tensors with at least one dimension, in a list if there are several."""
    return _at_least("atleast_1d", arys, lambda s: s or (1,))


def atleast_2d(*arys: Tensor) -> Any:
    """Return the tensors with at least two dimensions; new ones come first."""
    return _at_least("atleast_2d", arys, lambda s: (1,) * (2 - len(s)) + s)


def atleast_3d(*arys: Tensor) -> Any:
    """Return the tensors with at least three dimensions: a row n becomes (1, n, 1), a matrix gets a last one."""
    return _at_least("atleast_3d", arys, lambda s: (1, *(s or (1,)), 1) if len(s) < 2 else s + (1,) * (3 - len(s)))

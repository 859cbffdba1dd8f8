"""Elements turned around, rolled, repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import axes_of, axis_of, strict, tensor_of

__all__ = ["flip", "fliplr", "flipud", "repeat", "roll", "rot90", "tile"]


def flip(m: Tensor, axis: Any = None) -> Tensor:
    """Turn the order of elements around along some axes, by default all.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.flip(mnp.arange(3)))
        [2 1 0]
    """
    return ops.flip(m, axes_of("flip", axis, strict(m, "m", "flip").ndim))


def fliplr(m: Tensor) -> Tensor:
    """Turn the second axis around."""
    return flip(m, 1)


def flipud(m: Tensor) -> Tensor:
    """Turn the first axis around."""
    return flip(m, 0)


def rot90(a: Tensor, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Turn a tensor by 90 degrees in the plane of two axes, `k` times, from the first towards the second."""
    first, second = axes_of("rot90", tuple(axes), strict(a, "a", "rot90").ndim)
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    turns = k % 4
    if turns == 0:
        return a
    if turns == 2:
        return flip(a, (first, second))
    if turns == 1:
        return ops.transpose(flip(a, second), tuple(order))
    return flip(ops.transpose(a, tuple(order)), second)


def roll(a: Tensor, shift: Any, axis: Any = None) -> Tensor:
    """Move elements along axes; those that leave at the end come back at the start.

    Args:
        a: a Tensor.
        shift: by how many places, one number or one for each axis.
        axis: the axes; by default the elements are rolled in one dimension.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.roll(mnp.arange(4), 1))
        [3 0 1 2]
    """
    a = strict(a, "a", "roll")
    if axis is None:
        total = int(np.sum(shift))
        return ops.reshape(_rolled(ops.reshape(a, (-1,)), total, 0), a.shape)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(axes) != len(shifts):
        raise ValueError(f"For 'roll', 'shift' and 'axis' must be as long as each other, but got {shift} and {axis}.")
    for by, along in zip(shifts, axes, strict=True):
        a = _rolled(a, by, axis_of("roll", along, a.ndim))
    return a


def _rolled(a: Tensor, shift: int, axis: int) -> Tensor:
    """The tensor rolled along one axis."""
    n = a.shape[axis]
    by = shift % n if n else 0
    if by == 0:
        return a
    before = (slice(None),) * axis
    return ops.concat((a[(*before, slice(n - by, None))], a[(*before, slice(0, n - by))]), axis)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element, or slice along an axis.

    Args:
        a: a Tensor or numbers.
        repeats: how often, one number or one for each slice.
        axis: the axis; by default the elements in one dimension.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.repeat(mnp.array([1, 2]), [2, 1]))
        [1 1 2]
    """
    a = tensor_of(a, "a", "repeat")
    if axis is None:
        a, axis = ops.reshape(a, (-1,)), 0
    axis = axis_of("repeat", axis, a.ndim)
    counts = np.asarray(repeats.asnumpy() if isinstance(repeats, Tensor) else repeats)
    if (counts < 0).any() or counts.size not in (1, a.shape[axis]):
        raise ValueError(
            f"For 'repeat', 'repeats' must hold one number that is not negative, or {a.shape[axis]}, but got {repeats}."
        )
    counts = counts if counts.size != 1 else counts.reshape(())
    return ops.gather(a, wrap(np.repeat(np.arange(a.shape[axis]), counts)), axis)


def tile(a: Tensor, reps: Any) -> Tensor:
    """Repeat a tensor along each of its last axes.

    Args:
        a: a Tensor.
        reps: how often, one number for each of the last axes; more of them add leading axes.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.tile(mnp.array([0, 1]), (2, 2)))
        [[0 1 0 1]
         [0 1 0 1]]
    """
    a = strict(a, "a", "tile")
    times = (reps,) if isinstance(reps, int) else tuple(reps)
    times = (1,) * (a.ndim - len(times)) + times
    a = ops.reshape(a, (1,) * (len(times) - a.ndim) + a.shape)
    if 0 in times:
        d = a.dtype
        return ops.zeros(tuple(n * t for n, t in zip(a.shape, times, strict=True)), d)
    return ops.tile(a, times)

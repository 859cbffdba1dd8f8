"""Differences, slopes, areas under a curve, and values between given points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import (
    FLOAT32,
    alike,
    axes_of,
    axis_of,
    cast,
    floats,
    integer_of,
    is_float,
    kind_type,
    strict,
    tensor_of,
)

__all__ = ["diff", "ediff1d", "gradient", "interp", "trapz", "unwrap"]


def part(a: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """The slice between two places along an axis."""
    return a[(*(slice(None),) * axis, slice(start, stop))]


def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Return the differences of neighbours along an axis, `n` times over.

    Args:
        a: a Tensor.
        n: how many times.
        axis: the axis.
        prepend: what to put in front first, a number or a Tensor.
        append: what to put behind first.

    Raises:
        ValueError: if nothing would be left.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.diff(mnp.array([1, 3, -1])))
        [ 2 -4]
    """
    a = strict(a, "a", "diff")
    axis = axis_of("diff", axis, a.ndim)
    pieces = [a]
    for place, extra in ((0, prepend), (2, append)):
        if extra is not None:
            extra = tensor_of(extra, "append" if place else "prepend", "diff")
            if extra.ndim == 0:
                extra = ops.broadcast_to(extra, (*a.shape[:axis], 1, *a.shape[axis + 1 :]))
            pieces.insert(place, extra)
    a = ops.concat(alike(pieces), axis) if len(pieces) > 1 else a
    if not 0 <= integer_of(n, "n", "diff") < a.shape[axis]:
        raise ValueError(f"For 'diff', 'n' must be in [0, {a.shape[axis]}), but got {n}.")
    for _ in range(n):
        after, before = part(a, axis, 1, None), part(a, axis, None, -1)
        a = ops.sub(after, before) if kind_type(a).kind != "b" else ops.not_equal(after, before)
    return a


def ediff1d(ary: Tensor, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Return the differences of neighbours among all elements.

    Args:
        ary: a Tensor.
        to_end: numbers to put behind.
        to_begin: numbers to put in front.
    """
    ary = ops.reshape(strict(ary, "ary", "ediff1d"), (-1,))
    parts = [diff(ary)]
    if to_begin is not None:
        parts.insert(0, ops.reshape(tensor_of(to_begin, "to_begin", "ediff1d"), (-1,)))
    if to_end is not None:
        parts.append(ops.reshape(tensor_of(to_end, "to_end", "ediff1d"), (-1,)))
    return ops.concat([cast(p, kind_type(ary)) for p in parts], 0) if len(parts) > 1 else parts[0]


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the slopes along axes: central differences inside, one-sided ones at the edges.

    Args:
        f: values at equal distances, a Tensor or numbers.
        varargs: the distance, one for all axes or one for each.
        axis: an axis or several, by default all.
        edge_order: 1, the only one that MindSpore has.

    Returns:
        Tensor of floats, or a list of them for several axes.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.gradient([1, 2, 4]))
        [1.  1.5 2. ]
    """
    f = tensor_of(f, "f", "gradient")
    f = f if kind_type(f) == np.float64 else cast(f, FLOAT32)
    if edge_order != 1:
        raise ValueError(f"For 'gradient', 'edge_order' must be 1, but got {edge_order}.")
    axes = axes_of("gradient", axis, f.ndim)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1,) * len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"For 'gradient', there must be one distance or {len(axes)}, but got {len(varargs)}.")
    slopes = [_slope(f, i, h) for i, h in zip(axes, steps, strict=True)]
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(f: Tensor, axis: int, step: Any) -> Tensor:
    """The slope along one axis."""
    if f.shape[axis] < 2:
        raise ValueError(f"For 'gradient', axis {axis} must have at least 2 elements, but got {f.shape[axis]}.")
    steps = ops.sub(part(f, axis, 1, None), part(f, axis, None, -1))
    inside = ops.mul(ops.add(part(steps, axis, 1, None), part(steps, axis, None, -1)), 0.5)
    edges = part(steps, axis, 0, 1), part(steps, axis, -1, None)
    return ops.div(
        ops.concat((edges[0], inside, edges[1]), axis) if f.shape[axis] > 2 else ops.concat(edges, axis), step
    )


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Return the area under the line through points along an axis.

    Args:
        y: the heights, a Tensor or numbers.
        x: where they are, by default at equal distances.
        dx: the distance.
        axis: the axis.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.trapz(mnp.array([1.0, 2.0, 3.0])))
        4.0
    """
    y = floats(tensor_of(y, "y", "trapz"))
    axis = axis_of("trapz", axis, y.ndim)
    width = dx
    if x is not None:
        x = floats(tensor_of(x, "x", "trapz"))
        width = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        width = ops.reshape(width, (-1,) + (1,) * (y.ndim - 1 - axis)) if x.ndim == 1 else width
    heights = ops.add(part(y, axis, 1, None), part(y, axis, None, -1))
    return ops.sum(ops.mul(ops.mul(heights, width), 0.5), axis)


def unwrap(p: Any, discont: float = math.pi, axis: int = -1) -> Tensor:
    """Change angles by multiples of 2 pi so that neighbours differ by less than `discont` (at least pi).

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.unwrap(mnp.array([1.0, 7.2831855])).asnumpy().round(3))
        [1. 1.]
    """
    p = floats(tensor_of(p, "p", "unwrap"))
    if p.ndim == 0:
        raise ValueError("For 'unwrap', 'p' must have at least 1 dimension, but got a scalar.")
    axis = axis_of("unwrap", axis, p.ndim)
    jump = np.diff(p.asnumpy(), axis=axis)
    small = np.mod(jump + np.pi, 2 * np.pi) - np.pi
    small = np.where((small == -np.pi) & (jump > 0), np.pi, small)
    change = np.cumsum(np.where(np.abs(jump) < discont, 0, small - jump), axis=axis).astype(kind_type(p))
    first = part(p, axis, 0, 1)
    return ops.concat((first, ops.add(part(p, axis, 1, None), wrap(change))), axis)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Return the values at `x` of the line through the points (xp, fp).

    Args:
        x: where to read, a Tensor or numbers.
        xp: where the points are, in rising order.
        fp: their heights.
        left: the value before the first point, by default its height.
        right: the value behind the last point, by default its height.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.interp(1.5, [1, 2, 3], [3, 2, 0]))
        2.5
    """
    x, xp, fp = [tensor_of(t, n, "interp") for t, n in ((x, "x"), (xp, "xp"), (fp, "fp"))]
    if xp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError(f"For 'interp', 'xp' and 'fp' must be rows of one length, but got {xp.shape} and {fp.shape}.")
    x, xp, fp = [t if is_float(t) else cast(t, FLOAT32) for t in (x, xp, fp)]
    n = xp.size
    end = np.clip(np.searchsorted(xp.asnumpy(), x.asnumpy(), "right"), 1, max(n - 1, 1))
    high, low = wrap(np.asarray(np.minimum(end, n - 1))), wrap(np.asarray(end - 1))
    x0, x1, y0, y1 = [ops.gather(t, i, 0) for t, i in ((xp, low), (xp, high), (fp, low), (fp, high))]
    inside = ops.clip(x, xp[0], xp[n - 1]) if n > 1 else x0
    line = ops.add(y0, ops.mul(ops.sub(inside, x0), ops.div_no_nan(ops.sub(y1, y0), ops.sub(x1, x0))))
    for bound, outside in ((left, ops.less(x, xp[0])), (right, ops.greater(x, xp[n - 1]))):
        if bound is not None:
            line = ops.where(outside, cast(tensor_of(bound, "left", "interp"), kind_type(line)), line)
    return line

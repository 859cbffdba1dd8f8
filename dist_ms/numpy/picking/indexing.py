"""Elements chosen by index, by condition or by function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_string
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, INT32, alike, axes_of, axis_of, cast, kind_type, strict, tensor_of
from dist_ms.ops.arguments import integral

__all__ = [
    *("apply_along_axis", "apply_over_axes", "argwhere", "choose", "ix_", "piecewise", "ravel_multi_index", "select"),
    *("take", "take_along_axis", "unravel_index", "where"),
]


def _within(name: str, index: np.ndarray, length: int, mode: str) -> np.ndarray:
    """Indices brought into a range: clipped to its ends, wrapped around, or refused."""
    if mode == "clip":
        return np.clip(index, 0, length - 1)
    if mode == "wrap":
        return np.mod(index, length)
    if mode != "raise":
        raise ValueError(f"For '{name}', 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}.")
    raise NotImplementedError(f"For '{name}', the mode 'raise' does not exist in MindSpore either: take 'clip'.")


def take(a: Tensor, indices: Tensor, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Return the elements (or slices along an axis) at some indices.

    Args:
        a: a Tensor.
        indices: a Tensor of integers.
        axis: the axis; by default all elements in one dimension.
        mode: what happens to indices outside: "clip" or "wrap".

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.take(mnp.array([4, 3, 5]), mnp.array([0, 2])))
        [4 5]
    """
    a, indices = strict(a, "a", "take"), strict(indices, "indices", "take")
    if axis is None:
        a, axis = ops.reshape(a, (-1,)), 0
    axis = axis_of("take", axis, a.ndim)
    places = _within("take", integral(indices.asnumpy(), "indices", "take"), a.shape[axis], mode)
    picked = ops.gather(a, wrap(places.reshape(-1)), axis)
    return ops.reshape(picked, (*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :]))


def take_along_axis(arr: Tensor, indices: Tensor, axis: int | None) -> Tensor:
    """Return, for each vector along an axis, its elements at the indices of a vector; other axes broadcast.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.take_along_axis(mnp.array([[1, 2], [3, 4]]), mnp.array([[1], [0]]), 1))
        [[2]
         [3]]
    """
    arr, indices = strict(arr, "arr", "take_along_axis"), strict(indices, "indices", "take_along_axis")
    if axis is None:
        arr, axis = ops.reshape(arr, (-1,)), 0
    axis = axis_of("take_along_axis", axis, arr.ndim)
    if arr.ndim != indices.ndim:
        raise ValueError(
            f"For 'take_along_axis', 'indices' must have {arr.ndim} dimensions as 'arr', but got {indices.ndim}."
        )
    n = arr.shape[axis]
    places = integral(indices.asnumpy(), "indices", "take_along_axis").astype(np.int64)
    places = np.where(places < 0, places + n, places)
    others = [max(s, t) if i != axis else None for i, (s, t) in enumerate(zip(arr.shape, places.shape, strict=True))]
    arr = ops.broadcast_to(arr, tuple(n if s is None else s for s in others))
    places = np.broadcast_to(places, tuple(places.shape[axis] if s is None else s for s in others))
    return ops.gather_elements(arr, axis, wrap(np.ascontiguousarray(places)))


def where(condition: Any, x: Any = None, y: Any = None) -> Tensor:
    """Return elements of `x` where the condition holds, of `y` elsewhere; all broadcast.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.where(mnp.array([True, False]), 1, 2))
        [1 2]
    """
    if x is None or y is None:
        raise TypeError("For 'where', 'x' and 'y' must be given, but got None: use 'argwhere' for the places.")
    mask = cast(tensor_of(condition, "condition", "where"), np.dtype(bool))
    x, y = alike([tensor_of(x, "x", "where"), tensor_of(y, "y", "where")])
    return ops.where(mask, x, y)


def argwhere(a: Any) -> Tensor:
    """Return the indices of the elements that are not 0, one row each, as int64."""
    found = np.argwhere(np.atleast_1d(tensor_of(a, "a", "argwhere").asnumpy()))
    return wrap(found.astype(np.int64))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Return, at each place, the element of the choice whose condition holds first.

    Args:
        condlist: conditions, Tensors of bools.
        choicelist: as many Tensors.
        default: what stands where no condition holds.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.select([[True, False], [True, True]], [[1, 2], [3, 4]]))
        [1 4]
    """
    if len(condlist) != len(choicelist) or len(condlist) == 0:
        raise ValueError(
            f"For 'select', 'condlist' and 'choicelist' must be as long as each other and not empty, "
            f"but got {len(condlist)} and {len(choicelist)}."
        )
    masks = [cast(tensor_of(c, "condlist", "select"), np.dtype(bool)) for c in condlist]
    choices = [tensor_of(c, "choicelist", "select") for c in choicelist]
    *choices, result = alike([*choices, tensor_of(default, "default", "select")])
    for mask, choice in zip(reversed(masks), reversed(choices), strict=True):
        result = ops.where(mask, choice, result)
    return result


def choose(a: Any, choices: Any, mode: str = "clip") -> Tensor:
    """Return, at each place, the element of the choice whose number stands there.

    Args:
        a: numbers of choices, integers.
        choices: Tensors that broadcast with `a`.
        mode: what happens to numbers outside: "clip" or "wrap".

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.choose([1, 0], [[1, 2], [3, 4]]))
        [3 2]
    """
    index = tensor_of(a, "a", "choose").asnumpy()
    tensors = alike([tensor_of(c, "choices", "choose") for c in choices])
    shape = np.broadcast_shapes(index.shape, *[t.shape for t in tensors])
    places = np.broadcast_to(_within("choose", index, len(tensors), mode), shape)[None]
    stacked = ops.stack([ops.broadcast_to(t, shape) for t in tensors])
    return ops.reshape(ops.gather_elements(stacked, 0, wrap(places.astype(np.int64))), shape)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """Return, at each place, the function (or number) whose condition holds, the last one winning.

    Args:
        x: a Tensor or numbers.
        condlist: conditions, Tensors of bools, or one of them.
        funclist: as many functions or numbers; one more is for where no condition holds, 0 by default.
        args: passed to the functions.
        kw: likewise.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> x = mnp.array([-1.0, 2.0])
        >>> print(mnp.piecewise(x, [x < 0, x >= 0], [-1, 1]))
        [-1  1]
    """
    x = tensor_of(x, "x", "piecewise")
    conditions = [condlist] if isinstance(condlist, Tensor) and condlist.ndim == x.ndim else list(condlist)
    if conditions and isinstance(conditions[0], bool):
        conditions = [conditions]
    masks = [cast(tensor_of(c, "condlist", "piecewise"), np.dtype(bool)) for c in conditions]
    if len(funclist) not in (len(masks), len(masks) + 1):
        raise ValueError(
            f"For 'piecewise', 'funclist' must hold {len(masks)} or {len(masks) + 1} items, but got {len(funclist)}."
        )
    made = [tensor_of(f(x, *args, **kw) if callable(f) else f, "funclist", "piecewise") for f in funclist]
    rest = made.pop() if len(made) > len(masks) else wrap(np.zeros((), kind_type(made[0])))
    *made, result = alike([*made, rest])
    result = ops.broadcast_to(result, x.shape)
    for mask, value in zip(masks, made, strict=True):
        result = ops.where(mask, value, result)
    return result


def ix_(*args: Tensor) -> tuple[Tensor, ...]:
    """Return rows of indices turned so that indexing with them picks a grid."""
    rows = [strict(a, "args", "ix_") for a in args]
    for row in rows:
        if row.ndim != 1:
            raise ValueError(f"For 'ix_', each argument must have 1 dimension, but got {row.ndim}.")
    return tuple(ops.reshape(r, tuple(-1 if i == j else 1 for j in range(len(rows)))) for i, r in enumerate(rows))


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    """Return the coordinates, in a shape, of elements counted row by row; outside ones are clipped.

    Args:
        indices: a Tensor of integers, or numbers.
        shape: a tuple of ints.
        order: "C", or "F" to count column by column.
    """
    check_string(order, "order", "unravel_index", ("C", "F"))
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = np.asarray(tensor_of(indices, "indices", "unravel_index").asnumpy()).astype(np.int64)
    total = int(np.prod(sizes))
    flat = np.clip(np.where(flat < 0, flat + total, flat), 0, total - 1)
    return tuple(wrap(np.asarray(i, INT32)) for i in np.unravel_index(flat, sizes, order=order))


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Tensor:
    """Return, as float32 like MindSpore, the numbers of elements, counted row by row, of coordinates in a shape.

    Args:
        multi_index: one row of coordinates for each axis.
        dims: a tuple of ints.
        mode: what happens to coordinates outside: "clip" or "wrap".
        order: "C", or "F" to count column by column.
    """
    check_string(order, "order", "ravel_multi_index", ("C", "F"))
    rows = tensor_of(multi_index, "multi_index", "ravel_multi_index").asnumpy().astype(np.int64)
    inside = [_within("ravel_multi_index", row, n, mode) for row, n in zip(rows, dims, strict=True)]
    return wrap(np.asarray(np.ravel_multi_index(tuple(inside), tuple(dims), order=order), FLOAT32))


def apply_along_axis(func1d: Callable, axis: int, arr: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Return what a function of vectors makes of each vector along an axis.

    Args:
        func1d: takes a Tensor of one dimension, returns a Tensor or number.
        axis: the axis; the results' axes take its place.
        arr: a Tensor.
        args: passed to the function.
        kwargs: likewise.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.apply_along_axis(mnp.sum, 0, mnp.ones((2, 3))))
        [2. 2. 2.]
    """
    arr = strict(arr, "arr", "apply_along_axis")
    axis = axis_of("apply_along_axis", axis, arr.ndim)
    last = ops.transpose(arr, (*[i for i in range(arr.ndim) if i != axis], axis))
    rows = ops.reshape(last, (-1, arr.shape[axis]))
    made = [tensor_of(func1d(rows[i], *args, **kwargs), "x", "apply_along_axis") for i in range(rows.shape[0])]
    inner, outer = made[0].ndim, arr.ndim - 1
    result = ops.reshape(ops.stack(made), (*last.shape[:-1], *made[0].shape))
    return ops.transpose(result, (*range(axis), *range(outer, outer + inner), *range(axis, outer)))


def apply_over_axes(func: Callable, a: Tensor, axes: Any) -> Tensor:
    """Apply a function of (tensor, axis) over axes, one after another; an axis that it removes comes back as 1."""
    a = strict(a, "a", "apply_over_axes")
    for axis in axes_of("apply_over_axes", axes, a.ndim):
        result = func(a, axis)
        a = result if result.ndim == a.ndim else ops.reshape(result, (*a.shape[:axis], 1, *a.shape[axis + 1 :]))
    return a

"""vmap: map a function over an axis of its arguments.

The function runs once per slice. (A batched rule per operation would be faster; this one
is right for every function.) As in MindSpore all slices see the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.autograd.stacking import stack, unstack
from dist_ms.common.random.random_state import get_random_state, set_random_state
from dist_ms.common.tensor import Tensor, wrap


def vmap(fn: Callable, in_axes: Any = 0, out_axes: Any = 0) -> Callable:
    """Return `fn` mapped over one axis of its arguments.

    Args:
        fn: a Cell or function; or a CellList with one cell per slice.
        in_axes: the mapped axis: an int for all arguments, or a tuple or list with an int or None
            (not mapped) for each argument, nested where the argument is a tuple.
        out_axes: where the mapped axis goes in the outputs: an int, or a tuple or list like the
            outputs. None is for outputs that do not depend on the slice.

    Returns:
        The mapped function; its outputs nest like those of `fn`, lists as tuples.

    Raises:
        RuntimeError: if an axis is neither int nor None or out of bounds, if all are None, if
            their number differs from that of the arguments or outputs, or if the mapped axes
            have different lengths.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> f = ms.vmap(lambda a, b: ms.ops.reduce_sum(a * b), in_axes=(0, None))
        >>> print(f(x, ms.Tensor([1.0, 10.0])))
        [21. 43.]
    """
    if not callable(fn) and not hasattr(fn, "__getitem__"):
        raise RuntimeError(f"For 'vmap', 'fn' must be a Cell, a CellList or a function, but got {type(fn).__name__}.")
    cells = fn if _is_list_of_cells(fn) else None
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        _check_axes(name, axes)
        if axes is None and cells is None:
            raise RuntimeError(f"The '{name}' of 'vmap' cannot be a single None while 'fn' is not a 'CellList'.")
        if isinstance(axes, (tuple, list)) and cells is None and name == "in_axes" and not any(_leaves(axes)):
            raise RuntimeError("The 'in_axes' of 'vmap' cannot be all None while 'fn' is not a 'CellList'.")

    def mapped(*args: Any) -> Any:
        axes = _spread_over(args, in_axes)
        sizes: list[int] = []
        slices = [_sliced(a, axis, sizes) for a, axis in zip(args, axes)]
        if cells is not None:
            sizes.append(len(cells))
        if not sizes:
            raise RuntimeError("The 'in_axes' of 'vmap' must map at least one argument.")
        if len(set(sizes)) > 1:
            raise RuntimeError(
                "The 'axis_size' of each argument in the scope of 'vmap' should be equal, but got "
                f"{' and '.join(map(str, dict.fromkeys(sizes)))}."
            )
        state = get_random_state()
        results = []
        for i in range(sizes[0]):
            set_random_state(state)
            call = fn if cells is None else cells[i]
            results.append(call(*[_slice(s, i) for s in slices]))
        return _joined(results, out_axes)

    return mapped


def _is_list_of_cells(fn: Any) -> bool:
    """Whether `fn` is a CellList without a computation of its own (its class is known above)."""
    bases = [c for c in type(fn).__mro__ if c.__name__ == "CellList"]
    return bool(bases) and type(fn).construct is bases[-1].construct


def _check_axes(name: str, axes: Any) -> None:
    if isinstance(axes, (tuple, list)):
        for a in axes:
            _check_axes(name, a)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise RuntimeError(
            f"The axis in vmap's '{name}' can only be of type Int or None, but got {axes!r} of "
            f"type {type(axes).__name__}."
        )


def _leaves(axes: Any) -> list[bool]:
    """For each axis in a nesting whether it is given."""
    if isinstance(axes, (tuple, list)):
        return [leaf for a in axes for leaf in _leaves(a)]
    return [axes is not None]


def _spread_over(args: tuple, in_axes: Any) -> Any:
    """The axes of each argument."""
    if not isinstance(in_axes, (tuple, list)):
        return [in_axes] * len(args)
    if len(in_axes) != len(args):
        raise RuntimeError(
            "When vmap's 'in_axes' is a tuple or list, its size must be equal to the number of "
            f"arguments of 'fn': {len(args)}, but got size: {len(in_axes)}."
        )
    return in_axes


class _Whole:
    """An argument that every slice gets whole."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Slices:
    """The slices of a tensor."""

    def __init__(self, items: tuple) -> None:
        self.items = items


def _sliced(value: Any, axis: Any, sizes: list[int]) -> Any:
    """An argument split along its axis; the length of the axis is added to `sizes`."""
    if isinstance(value, (tuple, list)):
        axes = axis if isinstance(axis, (tuple, list)) else [axis] * len(value)
        if len(axes) != len(value):
            raise RuntimeError(
                f"For 'vmap', a nested part of 'in_axes' must have the size {len(value)} of its "
                f"argument, but got size: {len(axes)}."
            )
        return [_sliced(v, a, sizes) for v, a in zip(value, axes)]
    if axis is None:
        return _Whole(value)
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"For 'vmap', an argument mapped over the axis {axis} must be a Tensor, but got "
            f"{type(value).__name__}: use None in 'in_axes' for it."
        )
    if not -value.ndim <= axis < value.ndim:
        raise RuntimeError(
            f"The axis: {axis} in 'in_axes' is out of bounds for array of dimension [{-value.ndim},{value.ndim})."
        )
    size = value.shape[axis]
    if size == 0:
        raise RuntimeError(
            f"For 'vmap', the axis {axis} must have a length of at least 1, but the shape is {value.shape}."
        )
    sizes.append(size)
    return _Slices(unstack(value, axis % value.ndim))


def _slice(value: Any, i: int) -> Any:
    """What the call for slice `i` gets of an argument."""
    if isinstance(value, list):
        return tuple([_slice(v, i) for v in value])
    return value.items[i] if isinstance(value, _Slices) else value.value


def _joined(results: list, axes: Any) -> Any:
    """The outputs of all slices as one output with the mapped axis."""
    first = results[0]
    if isinstance(first, (tuple, list)):
        each = axes if isinstance(axes, (tuple, list)) else [axes] * len(first)
        if len(each) != len(first):
            raise RuntimeError(
                "The size of vmap's 'out_axes' should be equal to the number of results of 'fn': "
                f"{len(first)}, but got size: {len(each)}."
            )
        return tuple([_joined([r[i] for r in results], axis) for i, axis in enumerate(each)])
    if isinstance(axes, (tuple, list)):
        raise RuntimeError(
            "The size of vmap's 'out_axes' should be equal to the number of results of 'fn': 1, "
            f"but got size: {len(axes)}."
        )
    if axes is None:
        return _same(results)
    items = [r if isinstance(r, Tensor) else wrap(np.asarray(r)) for r in results]
    rank = items[0].ndim + 1
    if not -rank <= axes < rank:
        raise RuntimeError(f"The axis: {axes} in 'out_axes' is out of bounds for array of dimension [{-rank},{rank}).")
    return stack(items, axes % rank)


def _same(results: list) -> Any:
    """The output that all slices share."""
    first = results[0]
    for r in results[1:]:
        same = np.array_equal(r.array(), first.array()) if isinstance(r, Tensor) else r == first
        if not same:
            raise RuntimeError(
                "It is invalid that the 'out_axes' of an output is None while the output differs "
                "between the slices of 'vmap'."
            )
    return first

"""Which slice of a sharded parameter a rank holds, worked out from a layout.

`common` may not ask the communication floor for this process's rank, so that floor's
users put it here: `set_rank_source` (the default reads RANK_ID, which `init` exports).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dist_ms.common.checks import check_type
from dist_ms.common.settings.environment import value_of
from dist_ms.common.settings.parallel_context import get_auto_parallel_context, is_set

_OWNER = "Parameter.init_data"


def _rank_from_environment(group: str | None = None) -> int:
    if group:
        raise RuntimeError(
            f"For '{_OWNER}', the rank in the group '{group}' is not known here: "
            "call `dist_ms.communication.init()` first."
        )
    return int(value_of("RANK_ID"))


_rank_source: Callable[..., int] = _rank_from_environment


def set_rank_source(source: Callable[..., int] | None) -> None:
    """Say how to find this process's rank.

    Args:
        source: called without arguments for the rank in the world, and with a group's name
            for the rank in it. None restores the default, which reads the environment
            variable RANK_ID.

    Examples:
        >>> from dist_ms.common.tensor import slices
        >>> slices.set_rank_source(lambda group="world": 3)
        >>> slices.rank()
        3
        >>> slices.set_rank_source(None)
    """
    global _rank_source
    _rank_source = _rank_from_environment if source is None else source


def rank(group: str | None = None) -> int:
    """This process's rank in a group, or in the world (`global_rank`, where it was set)."""
    if group:
        return _rank_source(group)
    if is_set("global_rank"):
        return get_auto_parallel_context("global_rank")
    return _rank_source()


class Slice(NamedTuple):
    """One slice of a tensor.

    Attributes:
        index: its number; ranks with the same number hold the same values.
        shape: its shape.
        start: the position of its first element in the whole tensor.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index
    shape: tuple[int, ...]
    start: tuple[int, ...]


def coordinates(device_matrix: Sequence[int], rank_id: int) -> tuple[int, ...]:
    """The place of a rank in a row-major arrangement of the devices.

    Examples:
        >>> from dist_ms.common.tensor.slices import coordinates
        >>> coordinates([2, 3], 4)
        (1, 1)
    """
    place = []
    for length in reversed(device_matrix):
        place.append(rank_id % length)
        rank_id //= length
    return tuple(reversed(place))


def cut(device_matrix: Sequence[int], tensor_map: Sequence[int | Sequence[int]], rank_id: int) -> list[tuple[int, int]]:
    """For each dimension of a tensor: (the part this rank holds, the number of parts).

    Args:
        device_matrix: how many devices there are along each axis of the arrangement.
        tensor_map: for each dimension the axis it is cut along, counted from the last
            one (0), -1 for a dimension that stays whole, or several axes.
        rank_id: the rank.
    """
    place = coordinates(device_matrix, rank_id)
    parts = []
    for axes in tensor_map:
        part, number = 0, 1
        for axis in (axes,) if isinstance(axes, int) else axes:
            if axis >= 0:
                length = device_matrix[-1 - axis]
                part, number = part * length + place[-1 - axis], number * length
        parts.append((part, number))
    return parts


def slice_of(layout: Any, full_shape: Sequence[int], rank_id: int | None = None) -> Slice:
    """The slice that a rank holds under a layout.

    Args:
        layout: (device matrix, tensor map, slice shape, field size, uniform split, group
            over which the optimizer shards the slice further).
        full_shape: the shape of the whole tensor.
        rank_id: the rank; by default this process's.

    Raises:
        TypeError: if `layout` is no tuple.
        ValueError: if it has fewer than six entries.

    Examples:
        >>> from dist_ms.common.tensor.slices import slice_of
        >>> slice_of(([2, 2], [1, -1], [2, 8], 0, True, ""), (4, 8), rank_id=3)
        Slice(index=1, shape=(2, 8), start=(2, 0))
    """
    check_type(layout, "layout", _OWNER, tuple)
    if len(layout) < 6:
        raise ValueError(
            f"For '{_OWNER}', 'layout' must have at least 6 entries (device matrix, tensor map, "
            f"slice shape, field size, uniform split, optimizer group), but got {len(layout)}."
        )
    device_matrix, tensor_map, slice_shape, _, _, group = layout[:6]
    shape = tuple(int(n) for n in slice_shape)
    devices = 1
    for length in device_matrix:
        devices *= int(length)
    here = rank() if rank_id is None else rank_id
    if not 0 <= here < devices:
        raise ValueError(
            f"For '{_OWNER}', the device matrix of 'layout' must hold rank {here}, "
            f"but got {list(device_matrix)} with {devices} devices."
        )
    if not len(tensor_map) == len(shape) == len(full_shape):
        raise ValueError(
            f"For '{_OWNER}', the tensor map and slice shape of 'layout' must have one entry "
            f"for each dimension of {tuple(full_shape)}, but got "
            f"{list(tensor_map)} and {list(shape)}."
        )
    index = 0
    start = []
    parts = cut(device_matrix, tensor_map, here)
    for (part, number), length in zip(parts, shape):
        index = index * number + part
        start.append(part * length)
    if group:
        # The optimizer cut the slice once more along the first dimension; numbers beyond
        # the device count keep these pieces apart from every plain slice.
        piece = rank(group)
        part, number = parts[0]
        start[0] = part * (full_shape[0] // number) + piece * shape[0]
        index = (index + 1) * devices + piece
    return Slice(index, shape, tuple(start))

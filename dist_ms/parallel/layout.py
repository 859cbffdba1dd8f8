"""Layout: which axis of a grid of devices cuts which dimension of a tensor."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common.checks import check_elements, check_type, complaint

__all__ = ["Layout"]

_VIRTUAL = "interleaved_parallel"


class Layout:
    """A grid of devices with named axes; called with an axis per dimension it lays out a tensor.

    It describes; `nn.model_parallel` has the layers that are cut over ranks here.

    Args:
        device_matrix: the grid's lengths.
        alias_name: their names; "interleaved_parallel" may be the last, for halves of one device.
        rank_list: the ranks in the grid's order; None for 0, 1, 2, ...

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if names repeat, are empty or "None", or lengths do not fit.

    Examples:
        >>> from dist_ms.parallel import Layout
        >>> grid = Layout((2, 4), ("rows", "columns"))
        >>> grid("columns", "None").to_dict()["tensor_map"]
        (0, -1)
    """

    def __init__(
        self, device_matrix: tuple[int, ...], alias_name: tuple[str, ...], rank_list: list | None = None
    ) -> None:
        self._lengths = check_elements(device_matrix, "device_matrix", "Layout", int, tuple)
        self._names = check_elements(alias_name, "alias_name", "Layout", str, tuple)
        if len(self._lengths) != len(self._names):
            raise ValueError(complaint("alias_name", "Layout", f"{len(self._lengths)} names", alias_name))
        if any(length < 1 for length in self._lengths):
            raise ValueError(complaint("device_matrix", "Layout", "positive lengths", device_matrix))
        if len(set(self._names)) != len(self._names):
            raise ValueError(complaint("alias_name", "Layout", "names that differ", alias_name))
        if any(name in ("", "None") for name in self._names):
            raise ValueError(complaint("alias_name", "Layout", "names that are not empty and not 'None'", alias_name))
        if _VIRTUAL in self._names[:-1]:
            raise ValueError(complaint("alias_name", "Layout", f"{_VIRTUAL!r} last", alias_name))
        count = math.prod(self._lengths)
        if rank_list is None:
            rank_list = list(range(count))
        check_type(rank_list, "rank_list", "Layout", list)
        if len(rank_list) != count or len(set(rank_list)) != count:
            raise ValueError(complaint("rank_list", "Layout", f"{count} ranks that differ", rank_list))
        self._ranks = rank_list
        self._map: tuple[int | tuple[int, ...], ...] = ()

    def __call__(self, *tensor_map: str | tuple[str, ...]) -> Layout:
        """Lay out a tensor.

        Args:
            tensor_map: per dimension the axis that cuts it, a tuple of axes, or "None".

        Returns:
            A new Layout.

        Raises:
            ValueError: if an axis is unknown or named twice.
        """
        seen: set[str] = set()

        def number(axis: Any) -> int:
            if axis == "None":
                return -1
            if axis not in self._names:
                raise ValueError(complaint("tensor_map", "Layout", f"of the axes {self._names} or 'None'", repr(axis)))
            if axis in seen:
                raise ValueError(complaint("tensor_map", "Layout", "each axis once", tensor_map))
            seen.add(axis)
            return len(self._names) - 1 - self._names.index(axis)

        laid = Layout(self._lengths, self._names, self._ranks)
        laid._map = tuple([tuple(map(number, a)) if isinstance(a, tuple) else number(a) for a in tensor_map])
        return laid

    def to_dict(self) -> dict[str, Any]:
        """The layout in numbers: axes are counted from the last, -1 cuts nothing."""
        return {
            "device_matrix": self._lengths,
            "tensor_map": self._map,
            "interleaved_parallel": _VIRTUAL in self._names,
            "alias_name": self._names,
            "rank_list": self._ranks,
        }

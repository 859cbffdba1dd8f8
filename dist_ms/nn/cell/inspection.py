"""What can be asked of a Cell about itself, or of all cells: found when asked, so no cell pays for it.

Fields of a cell: reads `_cell_hooks`, `_cell_listed`.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

T_destination = TypeVar("T_destination", bound=dict[str, Any])


class Living:
    """An attribute of a class, and of its objects: how many objects of the class that declares it are alive."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner

    def __get__(self, cell: Any, owner: type) -> int:
        return sum(issubclass(type(thing), self.owner) for thing in gc.get_objects())


def _exist_names(self: Cell) -> set[str]:
    """The names of the parameters that are in lists and tuples of this cell."""
    return set(self.__dict__.get("_cell_listed", ()))


def _exist_objs(self: Cell) -> set:
    """The parameters that are in lists and tuples of this cell."""
    return set(self.__dict__.get("_cell_listed", {}).values())


def _enable_backward_hook(self: Cell) -> bool:
    """Whether a hook is called with the gradients of this cell."""
    hooks = self._cell_hooks or {}
    return any(hooks.get(kind) for kind in ("backward_pre", "backward"))


exist_names = property(_exist_names)
exist_objs = property(_exist_objs)
enable_backward_hook = property(_enable_backward_hook)


def own_fields(kind: type) -> list[str]:
    """The private fields that a class itself declares: what is no part of a network that a user writes.

    Args:
        kind: the class.
    """
    plain = {name for name, value in vars(kind).items() if not callable(value) and not hasattr(value, "__get__")}
    return sorted(n for n in {*plain, *kind.__annotations__} if n.startswith("_") and not n.startswith("__"))

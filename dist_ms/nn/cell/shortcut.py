"""Whether a call of a Cell is `construct` and nothing else, which compiled code then runs at once.

Fields of a cell: writes `_cell_plain`; reads `_cell_called`, `_cell_hooks`, `_cell_policy`, `_cell_recompute`,
`_cell_saved_hooks`, `has_bprop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell


def choose_call(cell: Cell) -> None:
    """Decide whether a call needs more than `construct`."""
    cell.__dict__["_cell_plain"] = cell._cell_called and not (
        cell._cell_policy is not None
        or (cell._cell_hooks is not None and any(cell._cell_hooks.values()))
        or cell._cell_recompute is not None
        or cell.has_bprop
        or cell._cell_saved_hooks is not None
    )

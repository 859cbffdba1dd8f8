"""What is in a Cell: its children, the cells nested in it, their parameters, and the names of these.

Fields of a cell: writes `_param_prefix`; reads `_cells`, `_params`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dist_ms.common.checks import check_string
from dist_ms.common.parameter import Parameter

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

_PREFIX = re.compile(r"^\w*[0-9a-zA-Z_.\-]*$", re.ASCII)


def need_init(cell: Cell, what: str) -> None:
    """Refuse to register something in a cell whose `__init__` has not run."""
    if "_params" not in cell.__dict__:
        raise AttributeError(
            f"For '{type(cell).__name__}', please call Cell.__init__() before assigning {what}: "
            "add super().__init__() as the first line of __init__."
        )


# ---- iteration
def name_cells(self: Cell) -> OrderedDict:
    """The direct children by name, each cell once.

    Examples:
        >>> from dist_ms import nn
        >>> list(nn.SequentialCell(nn.ReLU(), nn.Flatten()).name_cells())
        ['0', '1']
    """
    found: OrderedDict = OrderedDict()
    for name, cell in self._cells.items():
        if cell is not None and not any(cell is c for c in found.values()):
            found[name] = cell
    return found


def cells(self: Cell) -> Any:
    """The direct children."""
    return self.name_cells().values()


def cells_and_names(self: Cell, cells: set | None = None, name_prefix: str = "") -> Iterator:
    """Iterate over this cell and all nested ones as (path, cell), each cell once.

    Args:
        cells: cells to leave out; the ones seen are added.
        name_prefix: put before every path.

    Examples:
        >>> from dist_ms import nn
        >>> [path for path, _ in nn.SequentialCell(nn.ReLU(), nn.SequentialCell(nn.Tanh())).cells_and_names()]
        ['', '0', '1', '1.0']
    """
    seen = cells if cells is not None else set()
    if self in seen:
        return
    seen.add(self)
    yield name_prefix, self
    for name, cell in self._cells.items():
        if cell is not None:
            yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)


def parameters_and_names(self: Cell, name_prefix: str = "", expand: bool = True) -> Iterator:
    """Iterate over (path, parameter): own parameters first, then the children's; each parameter once.

    Args:
        name_prefix: put before every path.
        expand: go into child cells.
    """
    seen = set()
    for path, cell in self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]:
        for key, p in cell._params.items():
            if p is not None and id(p) not in seen:
                seen.add(id(p))
                yield (f"{path}.{key}" if path else key), p


def get_parameters(self: Cell, expand: bool = True) -> Iterator:
    """Iterate over the parameters: own ones first, then the children's; each once.

    Examples:
        >>> from dist_ms import nn
        >>> print([p.name for p in nn.Dense(2, 1).get_parameters()])
        ['weight', 'bias']
    """
    for _, p in self.parameters_and_names(expand=expand):
        yield p


def parameters_dict(self: Cell, recurse: bool = True) -> OrderedDict:
    """The parameters by name; of several with one name the last."""
    return OrderedDict((p.name, p) for p in self.get_parameters(recurse))


def trainable_params(self: Cell, recurse: bool = True) -> list[Parameter]:
    """The parameters that need gradients, in order."""
    return [p for p in self.get_parameters(recurse) if p.requires_grad]


def untrainable_params(self: Cell, recurse: bool = True) -> list[Parameter]:
    """The parameters that need no gradients, in order."""
    return [p for p in self.get_parameters(recurse) if not p.requires_grad]


def apply(self: Cell, fn: Callable[[Cell], None]) -> Cell:
    """Call `fn` on every nested cell, children before parents, this one last.

    Examples:
        >>> from dist_ms import nn
        >>> net = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
        >>> _ = net.apply(lambda c: print(c.cls_name))
        Dense
        ReLU
        SequentialCell
    """
    for cell in self.cells():
        cell.apply(fn)
    fn(self)
    return self


# ---- names
def update_parameters_name(self: Cell, prefix: str = "", recurse: bool = True) -> None:
    """Rename every parameter to `prefix` + its path.

    Raises:
        TypeError: if `prefix` is no str.
        ValueError: if it holds other than letters, digits, `_`, `-` and `.`.
    """
    check_string(prefix, "prefix", "update_parameters_name")
    if not _PREFIX.match(prefix):
        raise ValueError(
            "For 'update_parameters_name', 'prefix' must hold only letters, digits, '_', '-' and '.', "
            f"but got {prefix!r}."
        )
    for path, p in self.parameters_and_names(expand=recurse):
        if prefix:
            p.is_init = False
        p.name = prefix + path


def check_names(self: Cell) -> None:
    """Check that parameter names are unique.

    Raises:
        ValueError: if two parameters have one name.
    """
    names: set = set()
    for key, p in self.parameters_and_names():
        if p.name in names:
            raise ValueError(
                f"For '{self.cls_name}', every Parameter must have a name of its own, but '{p.name}' of {key} "
                "already exists: rename one of the two."
            )
        names.add(p.name)


def check_names_and_refresh_name(self: Cell) -> None:
    """Where two parameters have one name, rename all to their paths; a cell's first call does so.

    Raises:
        ValueError: if two still have one name.
    """
    names = [p.name for p in self.get_parameters()]
    if len(set(names)) < len(names):
        self.update_parameters_name()
        self.check_names()


def update_cell_prefix(self: Cell) -> None:
    """Tell every nested cell the path it has."""
    for path, cell in self.cells_and_names():
        cell.__dict__["_param_prefix"] = path

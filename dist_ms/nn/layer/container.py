"""SequentialCell, CellList and CellDict.

The parameters of a child are named after its place: `"<prefix><place>.<path>"`. The prefix is
that of the children there are already, so a container that has become a parent's attribute
keeps naming after it; an empty container starts without one, as in MindSpore.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.nn.cell import Cell

__all__ = ["CellDict", "CellList", "SequentialCell"]


def _require_cell(owner: str, cell: Any) -> Cell:
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{owner}', each cell must be subclass of Cell, but got {type(cell).__name__}.")
    return cell


def _prefix(cells: dict) -> str:
    """What stands before the places of children in the names of their parameters, with its dot."""
    named = []  # the name parts of one parameter each of the first two children that have any, with their places
    for place, cell in cells.items():
        first = next(cell.get_parameters(), None) if cell is not None else None
        if first is not None and len(named) < 2:
            named.append((first.name.split("."), place))
    if not named:
        return ""
    parts, place = named[0]
    found = [i for i, part in enumerate(parts) if part == place]
    for i in found:  # a place such as "0" may occur more than once: the second child tells which it is
        if len(named) == 2 and named[1][0][i : i + 1] == [named[1][1]]:
            return "".join(part + "." for part in parts[:i])
    return "".join(part + "." for part in parts[: found[-1]]) if found else ""  # MindSpore takes the last, too


class _Container(Cell):
    """What the containers share."""

    def _cell_put(self, place: str, cell: Cell, prefix: str) -> None:
        """Store a child and name its parameters after its place."""
        if self._auto_prefix:
            cell.update_parameters_name(f"{prefix}{place}.")
        self._cells[place] = cell

    def __len__(self) -> int:
        return len(self._cells)

    def set_grad(self, flag: bool = True) -> Cell:
        """Mark this cell and its children as ones whose gradient is taken. Returns the cell."""
        self.requires_grad = flag
        for cell in self._cells.values():
            cell.set_grad(flag)
        return self


class _Numbered(_Container):
    """What SequentialCell and CellList share: children in an order, most of them named by their number."""

    def _cell_position(self, index: Any, owner: str, kinds: str = "int", end: int = 0) -> int:
        """The place of an index from 0 on; `end` 1 allows the place after the last."""
        n = len(self._cells)
        if not isinstance(index, int):
            raise TypeError(f"For '{owner}', the type of 'index' must be {kinds}, but got {type(index).__name__}.")
        if not -n <= index < n + end:
            raise IndexError(
                f"For '{owner}', the value of 'index' must be a number in range [{-n}, {n}{'])'[not end]}, "
                f"but got {index}."
            )
        return index if index == n else index % n

    def _cell_keys(self, index: Any, kinds: str = "int") -> list[str]:
        """The names of the children that an index or a slice means."""
        keys = list(self._cells)
        return keys[index] if isinstance(index, slice) else [keys[self._cell_position(index, self.cls_name, kinds)]]

    def _cell_arrange(self, cells: list[tuple[str, Cell]], prefix: str) -> None:
        """Store the children anew and name their parameters after their places."""
        self._cells.clear()
        for place, cell in cells:
            self._cell_put(place, cell, prefix)

    def __bool__(self) -> bool:
        return len(self._cells) != 0

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __reversed__(self) -> Iterator[Cell]:
        return reversed(list(self._cells.values()))

    def __contains__(self, cell: Any) -> bool:
        return any(c is cell for c in self._cells.values())

    def append(self, cell: Cell) -> None:
        """Add a cell at the end.

        Raises:
            TypeError: if it is no Cell.
        """
        self._cell_put(str(len(self)), _require_cell(self.cls_name, cell), _prefix(self._cells))


class SequentialCell(_Numbered):
    """Cells run one after another, each on the result of the one before.

    Args:
        args: cells, or one list of cells, or one OrderedDict name -> cell.

    Attributes:
        cell_list: the cells that are run, in order. Children assigned as attributes are not run.

    Raises:
        TypeError: if something is no Cell.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.SequentialCell(nn.Flatten(), nn.ReLU())
        >>> print(net(ms.Tensor([[[-1.0, 2.0]]])))
        [[0. 2.]]
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self.__dict__["_cell_steps"] = []  # the names of the cells to run
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named: Iterable = args[0].items()
        elif len(args) == 1 and not isinstance(args[0], (Cell, list)):
            raise TypeError(
                f"For '{self.cls_name}', the 'args[0]' must be Cell, list or orderedDict, but got "
                f"{type(args[0]).__name__}"
            )
        else:
            named = ((str(i), c) for i, c in enumerate(args[0] if len(args) == 1 and type(args[0]) is list else args))
        for name, cell in named:
            self._cell_step(name, _require_cell(self.cls_name, cell), "")

    def _cell_step(self, name: str, cell: Cell, prefix: str) -> None:
        """Add a cell to run."""
        self.insert_child_to_cell(name, cell)
        self._cell_put(name, cell, prefix)
        self._cell_steps.append(name)

    @property
    def cell_list(self) -> list[Cell]:
        """The cells that are run, in order; a list of children may be assigned.

        Raises:
            ValueError: if a cell that is no child is assigned.
        """
        return [self._cells[name] for name in self._cell_steps if self._cells.get(name) is not None]

    @cell_list.setter
    def cell_list(self, cells: Iterable[Cell]) -> None:
        steps: list[str] = []
        for cell in cells:
            name = next((k for k, c in self._cells.items() if c is cell and k not in steps), None)
            if name is None:
                raise ValueError(f"For '{self.cls_name}', 'cell_list' must hold children, but got {cell}.")
            steps.append(name)
        self.__dict__["_cell_steps"] = steps

    def __getitem__(self, index: Any) -> Any:
        keys = self._cell_keys(index)
        if not isinstance(index, slice):
            return self._cells[keys[0]]
        part = SequentialCell()
        for key in keys:  # the part shares its cells: their parameters keep their names
            part._cells[key] = self._cells[key]
            part._cell_steps.append(key)
        return part

    def __setitem__(self, index: int, cell: Cell) -> None:
        _require_cell(self.cls_name, cell)
        key = list(self._cells)[self._cell_position(index, self.cls_name)]
        self._cell_put(key, cell, _prefix(self._cells))

    def __delitem__(self, index: Any) -> None:
        gone = self._cell_keys(index, "int or slice")
        prefix = _prefix(self._cells)
        numbered = {k: k == str(i) for i, k in enumerate(self._cells)}
        left = [(k, c) for k, c in self._cells.items() if k not in gone]
        places = [str(i) if numbered[k] else k for i, (k, _) in enumerate(left)]
        run = {p for p, (k, _) in zip(places, left) if k in self._cell_steps}
        self._cell_arrange([(p, c) for p, (_, c) in zip(places, left)], prefix)
        self.__dict__["_cell_steps"] = [p for p in places if p in run]

    def append(self, cell: Cell) -> None:
        """Add a cell at the end.

        Raises:
            TypeError: if it is no Cell.

        Examples:
            >>> from dist_ms import nn
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net.append(nn.Tanh())
            >>> print(len(net))
            2
        """
        super().append(cell)
        self._cell_steps.append(str(len(self) - 1))

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the place `index`; the later ones move up.

        Raises:
            TypeError: if `index` is no int or `cell` no Cell.
            IndexError: if there is no such place.
            ValueError: if cells have names of their own.
        """
        place = self._cell_position(index, self.cls_name, end=1)
        _require_cell(self.cls_name, cell)
        if list(self._cells) != self._cell_steps or any(k != str(i) for i, k in enumerate(self._cells)):
            raise ValueError(f"For '{self.cls_name}', 'insert' needs numbered cells, but got {list(self._cells)}.")
        cells, prefix = list(self._cells.values()), _prefix(self._cells)
        cells.insert(place, cell)
        self._cell_arrange([(str(i), c) for i, c in enumerate(cells)], prefix)
        self.__dict__["_cell_steps"] = list(self._cells)

    def construct(self, input_data: Any) -> Any:
        """Run the cells in order."""
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Numbered):
    """A list of cells whose parameters belong to the network.

    Args:
        args: one list of cells; none for an empty list.
        auto_prefix (bool): name the parameters after the places.

    Raises:
        TypeError: if the argument is no list, or something in it no Cell.

    Examples:
        >>> from dist_ms import nn
        >>> layers = nn.CellList([nn.Dense(2, 2)])
        >>> layers.append(nn.ReLU())
        >>> print(len(layers), [p.name for p in layers.get_parameters()])
        2 ['0.weight', '0.bias']
    """

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix=auto_prefix)
        if len(args) > 1:
            raise TypeError(f"For '{self.cls_name}', one list of cells must be given, but got {len(args)} arguments.")
        if args:
            self.extend(list(args[0]) if isinstance(args[0], CellList) else args[0])

    def __getitem__(self, index: Any) -> Any:
        keys = self._cell_keys(index, "int or slice")
        if not isinstance(index, slice):
            return self._cells[keys[0]]
        part = CellList(auto_prefix=self._auto_prefix)
        for i, key in enumerate(keys):  # the part shares its cells: their parameters keep their names
            part._cells[str(i)] = self._cells[key]
        return part

    def __setitem__(self, index: int, cell: Cell) -> None:
        _require_cell(self.cls_name, cell)
        self._cell_put(str(self._cell_position(index, self.cls_name)), cell, _prefix(self._cells))

    def __delitem__(self, index: Any) -> None:
        gone = self._cell_keys(index, "int or slice")
        left = [c for k, c in self._cells.items() if k not in gone]
        self._cell_arrange([(str(i), c) for i, c in enumerate(left)], _prefix(self._cells))

    def __iadd__(self, cells: list[Cell]) -> CellList:
        return self.extend(cells)

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the place `index`; the later ones move up.

        Raises:
            TypeError: if `index` is no int or `cell` no Cell.
            IndexError: if there is no such place.
        """
        place = self._cell_position(index, self.cls_name, end=1)
        cells, prefix = list(self._cells.values()), _prefix(self._cells)
        cells.insert(place, _require_cell(self.cls_name, cell))
        self._cell_arrange([(str(i), c) for i, c in enumerate(cells)], prefix)

    def extend(self, cells: list[Cell]) -> CellList:
        """Add the cells of a list at the end. Returns the list.

        Raises:
            TypeError: if `cells` is no list, or holds something else than cells, or a CellDict.
        """
        check_type(cells, "cells", self.cls_name, list)
        prefix = _prefix(self._cells)
        for cell in cells:
            if isinstance(cell, CellDict):
                raise TypeError(f"For '{self.cls_name}', the type of cell can not be CellDict, but got CellDict.")
            self._cell_put(str(len(self)), _require_cell(self.cls_name, cell), prefix)
        return self

    def construct(self, *inputs: Any) -> Any:
        """A list is not run: index it, or subclass it and define `construct`."""
        raise NotImplementedError(f"For '{self.cls_name}', construct is not defined: call its cells one by one.")


class CellDict(_Container):
    """A dictionary of cells whose parameters belong to the network.

    Args:
        args: one dict, OrderedDict or iterable of (name, cell) pairs; none for an empty one.
        auto_prefix (bool): name the parameters after the keys.

    Raises:
        TypeError: if a key is no str or a value no Cell (or is a container).
        KeyError: if a key is empty, has a dot or is an attribute of Cell.

    Examples:
        >>> from dist_ms import nn
        >>> heads = nn.CellDict({"left": nn.Dense(2, 1), "right": nn.ReLU()})
        >>> print("left" in heads, list(heads))
        True ['left', 'right']
    """

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix=auto_prefix)
        if len(args) > 1:
            raise TypeError(f"For '{self.cls_name}', at most one argument is taken, but got {len(args)}.")
        if args:
            self.update(args[0])

    def set_grad(self, requires_grad: bool = True) -> Cell:  # not `flag`, in MindSpore either
        """Mark this cell and its children as ones whose gradient is taken. Returns the cell."""
        return super().set_grad(requires_grad)

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        self._cell_check_key(key)
        self._cell_check(cell)
        self._cell_put(key, cell, _prefix(self._cells))

    def _cell_check_key(self, key: Any) -> None:
        owner = self.cls_name
        if not isinstance(key, str):
            raise TypeError(f"For '{owner}', the type of key should be string but got {type(key).__name__}.")
        if key not in self._cells and hasattr(self, key):
            raise KeyError(f"For '{owner}', 'key' must not be the name of an attribute of Cell, but got {key}.")
        if "." in key:
            raise KeyError(f"For '{owner}', key can not contain \".\", but got key {key}")
        if not key:
            raise KeyError(f"For '{owner}', key can not be empty string \"\", but got key {key}")

    def _cell_check(self, cell: Any) -> None:
        owner = self.cls_name
        if cell is None:
            raise TypeError(f"For '{owner}', cell can not be None.")
        if not isinstance(cell, Cell):
            raise TypeError(f"For '{owner}', the type of cell should be Cell, but got {type(cell).__name__}.")
        if isinstance(cell, (CellDict, CellList, SequentialCell)):
            raise TypeError(
                f"For '{owner}', 'cell' must not be a container of Cells itself, but got {type(cell).__name__}."
            )

    def __delitem__(self, key: str) -> None:
        del self._cells[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: Any) -> bool:
        return key in self._cells

    def keys(self) -> Any:
        """The names."""
        return self._cells.keys()

    def values(self) -> Any:
        """The cells."""
        return self._cells.values()

    def items(self) -> Any:
        """The (name, cell) pairs."""
        return self._cells.items()

    def clear(self) -> None:
        """Remove all cells."""
        self._cells.clear()

    def pop(self, key: str) -> Cell:
        """Remove a cell and return it.

        Raises:
            KeyError: if there is none of that name.
        """
        return self._cells.pop(key)

    def update(self, cells: Any) -> None:
        """Add the cells of a mapping, CellDict or iterable of (name, cell) pairs, replacing equal names.

        Raises:
            TypeError: if `cells`, or an element of it, is not iterable.
            ValueError: if an element is no pair.
        """
        if not isinstance(cells, Iterable):
            raise TypeError(
                f"For 'CellDict.update', 'cells' must be a dict or pairs of name and Cell, but got "
                f"{type(cells).__name__}."
            )
        pairs = list(cells.items()) if isinstance(cells, (Mapping, CellDict)) else list(cells)
        for i, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"CellDict update sequence element #{i} should be Iterable; but got {type(pair).__name__}"
                )
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"CellDict update sequence element #{i}, length should be 2; but has length {len(pair)}"
                )
            self[pair[0]] = pair[1]

    def construct(self, *inputs: Any) -> Any:
        """A dictionary is not run: index it, or subclass it and define `construct`."""
        raise NotImplementedError(f"For '{self.cls_name}', construct is not defined: call its cells one by one.")

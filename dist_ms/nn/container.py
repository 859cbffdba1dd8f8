"""SequentialCell, CellList and CellDict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from dist_ms.nn.cell import Cell

__all__ = ["CellDict", "CellList", "SequentialCell"]


def _require_cell(owner: str, cell: Any) -> Cell:
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{owner}', each cell must be subclass of Cell, but got {type(cell).__name__}.")
    return cell


class _Numbered(Cell):
    """What SequentialCell and CellList share: children named "0", "1", ... in order."""

    def _position(self, index: Any) -> int:
        n = len(self._cells)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For '{self.cls_name}', the type of 'index' must be int, but got {type(index).__name__}.")
        if not -n <= index < n:
            raise IndexError(
                f"For '{self.cls_name}', the value of 'index' must be a number in range [{-n}, {n}), but got {index}."
            )
        return index % n

    def _renumber(self, cells: Iterable[Cell]) -> None:
        """Store the children anew and name their parameters after their places."""
        self._cells.clear()
        for i, cell in enumerate(cells):
            self._put(str(i), cell)

    def _put(self, key: str, cell: Cell) -> None:
        self._cells[key] = cell
        if self._auto_prefix:
            cell.update_parameters_name(f"{self._names_under}{key}.")

    def _keys(self, index: Any) -> list[str]:
        keys = list(self._cells)
        return keys[index] if isinstance(index, slice) else [keys[self._position(index)]]

    def __setitem__(self, index: Any, cell: Cell) -> None:
        self._put(
            self._keys(index)[0] if not isinstance(index, slice) else self._reject_slice(),
            _require_cell(self.cls_name, cell),
        )

    def _reject_slice(self) -> str:
        raise TypeError(f"For '{self.cls_name}', the type of 'index' must be int to assign a cell, but got slice.")

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return len(self._cells) != 0

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __reversed__(self) -> Iterator[Cell]:
        return reversed(list(self._cells.values()))

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end. Returns the container.

        Raises:
            TypeError: if it is no Cell.
        """
        self._put(str(len(self._cells)), _require_cell(self.cls_name, cell))
        return self

    def set_grad(self, flag: bool = True) -> Cell:
        """Mark this cell and its children as ones whose gradient is taken."""
        self.requires_grad = flag
        for cell in self._cells.values():
            cell.set_grad(flag)
        return self


class SequentialCell(_Numbered):
    """Cells run one after another, each on the result of the one before.

    Args:
        args: cells, or one list of cells, or one OrderedDict name -> cell.

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
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                self._put(name, _require_cell("SequentialCell", cell))
            return
        if len(args) == 1 and isinstance(args[0], list):
            args = tuple(args[0])
        for i, cell in enumerate(args):
            if not isinstance(cell, Cell):
                raise TypeError(
                    f"For 'SequentialCell', the 'args[{i}]' must be Cell, list or orderedDict, but got "
                    f"{type(cell).__name__}"
                )
            self._put(str(i), cell)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = SequentialCell()
            for key in self._keys(index):
                part._cells[key] = self._cells[key]
            return part
        return self._cells[self._keys(index)[0]]

    def __delitem__(self, index: Any) -> None:
        gone = set(self._keys(index))
        left = [(k, c) for k, c in self._cells.items() if k not in gone]
        self._cells.clear()
        numbered = all(k.isdigit() for k, _ in left)
        for i, (key, cell) in enumerate(left):
            self._put(str(i) if numbered else key, cell)

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the place `index`; the later ones move up."""
        _require_cell("SequentialCell", cell)
        cells = list(self._cells.values())
        n = len(cells)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For 'SequentialCell', the type of 'index' must be int, but got {type(index).__name__}.")
        if not -n <= index <= n:
            raise IndexError(
                f"For 'SequentialCell', the value of 'index' must be a number in range [{-n}, {n}], but got {index}."
            )
        cells.insert(index, cell)
        self._renumber(cells)

    def construct(self, input_data: Any) -> Any:
        """Run the cells in order."""
        for cell in self._cells.values():
            input_data = cell(input_data)
        return input_data


class CellList(_Numbered):
    """A list of cells whose parameters belong to the network.

    Args:
        args: one list or tuple of cells; none for an empty list.
        auto_prefix (bool): name the parameters after the places.

    Raises:
        TypeError: if something is no Cell.

    Examples:
        >>> from dist_ms import nn
        >>> layers = nn.CellList([nn.Dense(2, 2)])
        >>> _ = layers.append(nn.ReLU())
        >>> print(len(layers), [p.name for p in layers.get_parameters()])
        2 ['0.weight', '0.bias']
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        auto_prefix = kwargs.pop("auto_prefix", True)
        if kwargs:
            raise TypeError(f"For 'CellList', the only keyword is 'auto_prefix', but got {sorted(kwargs)}.")
        super().__init__(auto_prefix=auto_prefix)
        if len(args) == 1:
            self.extend(list(args[0]) if not isinstance(args[0], (dict, Cell)) else args[0])
        elif args:
            self.extend(list(args))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = type(self)(auto_prefix=False) if type(self) is CellList else CellList(auto_prefix=False)
            for i, key in enumerate(self._keys(index)):
                part._cells[str(i)] = self._cells[key]
            part.__dict__["_auto_prefix"] = self._auto_prefix
            return part
        return self._cells[self._keys(index)[0]]

    def __delitem__(self, index: Any) -> None:
        gone = set(self._keys(index))
        self._renumber([c for k, c in list(self._cells.items()) if k not in gone])

    def __add__(self, cells: Iterable[Cell]) -> CellList:
        return CellList([*self, *cells])

    def __iadd__(self, cells: Iterable[Cell]) -> CellList:
        return self.extend(list(cells) if not isinstance(cells, (int, float)) else cells)

    def __contains__(self, cell: Any) -> bool:
        return any(c is cell for c in self._cells.values())

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the place `index`; the later ones move up."""
        n = len(self._cells)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"For 'CellList', the type of 'index' must be int, but got {type(index).__name__}.")
        if not -n <= index <= n:
            raise IndexError(
                f"For 'CellList', the value of 'index' must be a number in range [{-n}, {n}], but got {index}."
            )
        cells = list(self._cells.values())
        cells.insert(index, _require_cell("CellList", cell))
        self._renumber(cells)

    def extend(self, cells: list[Cell]) -> CellList:
        """Add the cells of a list at the end. Returns the list.

        Raises:
            TypeError: if `cells` is no list, or holds something else than cells.
        """
        if not isinstance(cells, list):
            raise TypeError(
                "For 'CellList', the new cells wanted to append should be instance of list, but got "
                f"{type(cells).__name__}."
            )
        for cell in cells:
            if isinstance(cell, CellDict):
                raise TypeError("For 'CellList', each cell must not be a CellDict: give its values.")
            self.append(cell)
        return self

    def construct(self, *inputs: Any) -> Any:
        """A list is not run: index it, or subclass it and define `construct`."""
        raise NotImplementedError("For 'CellList', construct is not defined: call its cells one by one.")


class CellDict(Cell):
    """A dictionary of cells whose parameters belong to the network.

    Args:
        args: one dict, OrderedDict or list of (name, cell) pairs; none for an empty one.

    Raises:
        TypeError: if a key is no str or a value no Cell (or is a container).
        KeyError: if a key is empty, has a dot or is an attribute of Cell.

    Examples:
        >>> from dist_ms import nn
        >>> heads = nn.CellDict({"left": nn.Dense(2, 1), "right": nn.ReLU()})
        >>> print("left" in heads, list(heads))
        True ['left', 'right']
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) > 1:
            raise TypeError(f"For 'CellDict', at most one argument is taken, but got {len(args)}.")
        if args:
            self.update(args[0])

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        self._check_key(key)
        self._check_cell(cell)
        self._cells[key] = cell
        if self._auto_prefix:
            cell.update_parameters_name(f"{self._names_under}{key}.")

    def _check_key(self, key: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"For 'CellDict', the type of key should be string but got {type(key).__name__}.")
        if not key:
            raise KeyError(f"For 'CellDict', key can not be empty string \"\", but got key {key}")
        if "." in key:
            raise KeyError(f"For 'CellDict', key can not contain \".\", but got key {key}")
        if key not in self._cells and (hasattr(self, key) or key == "_scope"):
            raise KeyError(f"For 'CellDict', the key can not be same with the attributes of Cell, but got key {key}.")

    @staticmethod
    def _check_cell(cell: Any) -> None:
        if cell is None:
            raise TypeError("For 'CellDict', cell can not be None.")
        if not isinstance(cell, Cell):
            raise TypeError(f"For 'CellDict', the type of cell should be Cell, but got {type(cell).__name__}.")
        if isinstance(cell, (CellDict, CellList, SequentialCell)):
            raise TypeError(
                "For 'CellDict', the type of cell can not be CellDict, CellList or SequentialCell, but "
                f"got {type(cell).__name__}."
            )

    def __delitem__(self, key: str) -> None:
        del self._cells[key]

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return len(self._cells) != 0

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
        """Add the cells of a dict, CellDict or iterable of (name, cell) pairs, replacing equal names.

        Raises:
            TypeError: if `cells` is none of these.
            ValueError: if an element is no pair.
        """
        if isinstance(cells, (dict, CellDict)):
            pairs: Iterable = list(cells.items())
        elif isinstance(cells, Iterable):
            pairs = list(cells)
        else:
            raise TypeError(
                "CellDict.update() should be called with an iterable of key-value pairs, but got "
                f"{type(cells).__name__}"
            )
        for i, pair in enumerate(pairs):
            if not isinstance(pair, (list, tuple)):
                raise TypeError(
                    f"CellDict update sequence element #{i} should be a pair, but got {type(pair).__name__}"
                )
            if len(pair) != 2:
                raise ValueError(
                    f"CellDict update sequence element #{i}, length should be 2; but has length {len(pair)}"
                )
            self[pair[0]] = pair[1]

    def construct(self, *inputs: Any) -> Any:
        """A dictionary is not run: index it, or subclass it and define `construct`."""
        raise NotImplementedError("For 'CellDict', construct is not defined: call its cells one by one.")

"""Cell: registers Parameters, buffers and other Cells, names them, and prints them.

Registration happens in `__setattr__`; everything else is an ordinary attribute. The other
parts of a Cell: call.py runs it, hooks.py calls hooks, precision.py sets the
type of its operations, state.py keeps buffers and state dictionaries, flags.py
holds flags, compiler.py answers what scripts ask of MindSpore's compiler,
summary.py describes a network as a table.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from dist_ms._ext.cell import find_registered, registered
from dist_ms.common.parameter import Parameter, ParameterTuple, _Buffer, _is_parameter_generated
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell.call import CellCall
from dist_ms.nn.cell.compiler import CellCompiler
from dist_ms.nn.cell.flags import CellFlags
from dist_ms.nn.cell.state import CellState, register_cell_buffer_registration_hook
from dist_ms.nn.cell.summary import CellSummary

__all__ = ["Cell", "GraphCell", "register_cell_buffer_registration_hook"]

_PREFIX = re.compile(r"^\w*[0-9a-zA-Z_.\-]*$", re.ASCII)


class Cell(CellCall, CellState, CellFlags, CellCompiler, CellSummary):
    """Base class of networks and layers.

    A subclass creates Parameters and other Cells as attributes in `__init__` and
    computes in `construct`. With a method `bprop(self, *inputs, out, dout)` it defines
    its own gradient.

    Args:
        auto_prefix: name the parameters of child cells after the attribute that holds the child.
        flags: settings stored with `add_flags`.

    Attributes:
        training: whether layers behave as in training; set by `set_train`.
        requires_grad: set by `set_grad`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> class Scale(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.w = ms.Parameter(ms.Tensor([2.0]), name="w")
        ...     def construct(self, x):
        ...         return x * self.w
        >>> print(Scale()(ms.Tensor([3.0])))
        [6.]
    """

    training = False
    requires_grad = False
    _param_prefix = ""
    _cell_generated = 0  # parameters of ParameterTuples named so far

    def __init__(self, auto_prefix: bool = True, flags: dict | None = None) -> None:
        state = self.__dict__
        state["_params"] = OrderedDict()
        state["_cells"] = OrderedDict()
        state["_buffers"] = OrderedDict()
        state["_auto_prefix"] = auto_prefix
        if hasattr(type(self), "bprop"):
            state["has_bprop"] = True
        if flags:
            self.add_flags(**flags)

    # ---- attributes
    __getattr__ = registered

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        find_registered(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                self._cell_need_init("a Parameter")
                self.__dict__.pop(name, None)
                self.insert_param_to_cell(name, value)
                return
            if isinstance(value, _Buffer):
                self._cell_need_init("a Buffer")
                self.__dict__.pop(name, None)
                self.register_buffer(name, value, getattr(value, "persistent", True))
                return
        elif isinstance(value, Cell):
            self._cell_set_child(name, value)
            return
        elif isinstance(value, (tuple, list)):
            if isinstance(value, ParameterTuple):
                self._cell_register_tuple(value)
                object.__setattr__(self, name, value)
                return
            if value and all(isinstance(v, Parameter) for v in value):
                self._cell_check_listed(value)
        self._cell_set_plain(name, value)

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        for registry in ("_params", "_buffers", "_cells"):
            if name in state.get(registry, ()):
                del state[registry][name]
                state.pop(name, None)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        state = self.__dict__
        return sorted({*super().__dir__(), *(k for r in ("_params", "_cells", "_buffers") for k in state.get(r, ()))})

    def __bool__(self) -> bool:
        return True

    def _cell_need_init(self, what: str) -> None:
        if "_params" not in self.__dict__:
            raise AttributeError(
                f"For '{type(self).__name__}', please call Cell.__init__() before assigning {what}: "
                "add super().__init__() as the first line of __init__."
            )

    def _cell_set_child(self, name: str, value: Cell) -> None:
        self._cell_need_init("a Cell")
        self.__dict__.pop(name, None)
        if self._auto_prefix:
            value.update_parameters_name(name + ".")
        self.insert_child_to_cell(name, value)

    def _cell_register_tuple(self, value: ParameterTuple) -> None:
        """Register the members of a ParameterTuple, each under its own name."""
        self._cell_need_init("a ParameterTuple")
        for p in OrderedDict.fromkeys(value):
            if _is_parameter_generated(p.name):
                self.__dict__["_cell_generated"] = self._cell_generated + 1
                p.name = f"Parameter${self._cell_generated}"
            self.insert_param_to_cell(p.name, p, check_name_contain_dot=False)

    def _cell_check_listed(self, value: list | tuple) -> None:
        """Require that the Parameters in lists and tuples, which are not registered, have different names."""
        listed = self.__dict__.setdefault("_cell_listed", {})
        for p in value:
            if listed.setdefault(p.name, p) is not p:
                raise ValueError(
                    f"For 'Cell', every Parameter must have a name of its own, but '{p.name}' already exists: rename "
                    f"one in {value}."
                )

    def _cell_set_plain(self, name: str, value: Any) -> None:
        """Set an attribute that is no Parameter, Cell or buffer; on the place of one, write into it or clear it."""
        state = self.__dict__
        if name in state.get("_params", ()):
            if isinstance(value, Tensor) and state["_params"][name] is not None:
                state["_params"][name].set_data(value)
                return
            registry, what, where = state["_params"], "a parameter", "Parameter"
        elif name in state.get("_cells", ()):
            registry, what, where = state["_cells"], "a cell", "Sub cell"
        elif name in state.get("_buffers", ()):
            registry, what, where = state["_buffers"], "a buffer", "Buffer"
        else:
            object.__setattr__(self, name, value)
            return
        if value is not None:
            raise TypeError(
                f"{where} '{name}' already exists in network, can not assign this type: '{type(value)}' as {what}."
            )
        registry[name] = None

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Add a child cell under a name; its parameters keep their names.

        Args:
            child_name: a name without dots that no other attribute has.
            child_cell: the cell; None reserves the name.

        Raises:
            KeyError: if the name is empty, has a dot or belongs to another attribute.
            TypeError: if the name is no str or the child no Cell.

        Examples:
            >>> from dist_ms import nn
            >>> net = nn.Cell()
            >>> net.insert_child_to_cell("act", nn.ReLU())
            >>> net
            Cell(
              (act): ReLU()
            )
        """
        if not isinstance(child_name, str):
            raise TypeError(
                f"For 'insert_child_to_cell', the type of parameter 'child_name' must be str, but got "
                f"{type(child_name)}."
            )
        if not child_name or "." in child_name:
            raise KeyError(
                "For 'insert_child_to_cell', the parameter 'child_name' can not be None and can not contain '.' , "
                f"but got {child_name!r}."
            )
        self._cell_need_init("a Cell")
        if child_name != "summary" and hasattr(self, child_name) and child_name not in self._cells:
            raise KeyError(
                f"For 'insert_child_to_cell', 'child_name' must be new to the Cell, but {child_name} already exists."
            )
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_cell' must be a Cell or None, but got {type(child_cell).__name__}."
            )
        self._cells[child_name] = child_cell
        if child_name == "summary":  # MindSpore's cells have no such method: a child may have its name, and hides it
            self.__dict__[child_name] = child_cell

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Add a parameter under a name; one without a name of its own gets it.

        Args:
            param_name: a name that no other attribute has.
            param: the parameter; None reserves the name.
            check_name_contain_dot: refuse names with a dot.

        Raises:
            KeyError: if the name is empty, has a dot (unless allowed) or belongs to another attribute.
            TypeError: if the name is no str or `param` no Parameter.

        Examples:
            >>> import dist_ms as ms
            >>> net = ms.nn.Cell()
            >>> net.insert_param_to_cell("bias", ms.Parameter(ms.Tensor([1.0])))
            >>> net.bias
            Parameter (name=bias, shape=(1,), dtype=Float32, requires_grad=True)
        """
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' should not be None.")
        if not isinstance(param_name, str):
            raise TypeError(
                f"For 'insert_param_to_cell', the argument 'param_name' must be a str, but got {type(param_name)}."
            )
        if check_name_contain_dot and "." in param_name:
            raise KeyError(
                f"For 'insert_param_to_cell', the argument 'param_name' should not contain '.', but got {param_name!r}."
            )
        self._cell_need_init("a Parameter")
        if hasattr(self, param_name) and param_name not in self._params:
            raise KeyError(
                f"For 'insert_param_to_cell', 'param_name' must be new to the Cell, but {param_name} already exists."
            )
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                "For 'insert_param_to_cell', the argument 'param' must be 'Parameter' if not None, but got "
                f"{type(param)}."
            )
        if param is not None and _is_parameter_generated(param.name):
            param.name = param_name
        self._params[param_name] = param

    # ---- iteration
    def name_cells(self) -> OrderedDict:
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

    def cells(self) -> Any:
        """The direct children."""
        return self.name_cells().values()

    def cells_and_names(self, cells: set | None = None, name_prefix: str = "") -> Iterator:
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

    def get_sub_cell(self, target: str) -> Cell:
        """The cell at a dotted path such as `"body.0"`; "" is this cell.

        Raises:
            AttributeError: if the path leads nowhere or to something else.
        """
        cell = self
        for part in target.split(".") if target else ():
            if not hasattr(cell, part):
                raise AttributeError(f"{cell.cls_name} has no attribute `{part}`")
            cell = getattr(cell, part)
            if not isinstance(cell, Cell):
                raise AttributeError(f"`{part}` is not an nn.Cell")
        return cell

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator:
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

    def get_parameters(self, expand: bool = True) -> Iterator:
        """Iterate over the parameters: own ones first, then the children's; each once.

        Examples:
            >>> from dist_ms import nn
            >>> print([p.name for p in nn.Dense(2, 1).get_parameters()])
            ['weight', 'bias']
        """
        for _, p in self.parameters_and_names(expand=expand):
            yield p

    def parameters_dict(self, recurse: bool = True) -> OrderedDict:
        """The parameters by name; of several with one name the last."""
        return OrderedDict((p.name, p) for p in self.get_parameters(recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict | None:
        """The parameters that data parallelism broadcasts, by name; None when there are none."""
        found = OrderedDict((p.name, p) for p in self.get_parameters(recurse) if not p.layerwise_parallel)
        return found or None

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that need gradients, in order."""
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that need no gradients, in order."""
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def apply(self, fn: Callable[[Cell], None]) -> Cell:
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
    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Rename every parameter to `prefix` + its path.

        Raises:
            TypeError: if `prefix` is no str.
            ValueError: if it holds other than letters, digits, `_`, `-` and `.`.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"For 'update_parameters_name', 'prefix' must be a str, but got {type(prefix)}.")
        if not _PREFIX.match(prefix):
            raise ValueError(
                "For 'update_parameters_name', 'prefix' must hold only letters, digits, '_', '-' and '.', "
                f"but got {prefix!r}."
            )
        for path, p in self.parameters_and_names(expand=recurse):
            if prefix:
                p.is_init = False
            p.name = prefix + path

    def check_names(self) -> None:
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

    def check_names_and_refresh_name(self) -> None:
        """Where two parameters have one name, rename all to their paths; a cell's first call does so.

        Raises:
            ValueError: if two still have one name.
        """
        names = [p.name for p in self.get_parameters()]
        if len(set(names)) < len(names):
            self.update_parameters_name()
            self.check_names()

    @property
    def param_prefix(self) -> str:
        """The path of this cell, once `update_cell_prefix` was called on the top cell.

        Examples:
            >>> from dist_ms import nn
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net.update_cell_prefix()
            >>> net[0].param_prefix
            '0'
        """
        return self._param_prefix

    def update_cell_prefix(self) -> None:
        """Tell every nested cell the path it has."""
        for path, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = path

    @property
    def cls_name(self) -> str:
        """The name of the cell's class."""
        return type(self).__name__

    # ---- printed form
    def extend_repr(self) -> str:
        """What a layer prints between its brackets."""
        return ""

    def __str__(self) -> str:
        return self.__repr__()

    def __repr__(self) -> str:
        text = self.extend_repr()
        lines = text.split("\n") if text else []
        if len(lines) <= 1 and not self._cells:
            return f"{self.cls_name}({text})"
        lines += [f"({name}): {cell!r}".replace("\n", "\n  ") for name, cell in self._cells.items()]
        return "\n  ".join([f"{self.cls_name}(", *lines]) + "\n)"


find_registered(Cell)


class GraphCell(Cell):
    """Not available: graphs in MindIR form belong to MindSpore's compiler.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, graph: Any, params_init: dict | None = None, obf_random_seed: int | None = None) -> NoReturn:
        raise RuntimeError(
            "For 'GraphCell', graphs in MindIR form can not be run by dist_ms: build the network from Cells and load "
            "its checkpoint."
        )

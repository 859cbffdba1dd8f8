"""Cell: registers Parameters, Buffers and other Cells, names them, and runs `construct`.

Registration happens in `__setattr__` for Parameter, Buffer and Cell only;
everything else is an ordinary attribute. State dictionaries live in
cell_state.py, hooks and custom gradients in cell_call.py, mixed precision in
cell_precision.py.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from dist_ms.common.parameter import Parameter, ParameterTuple, _Buffer, _is_parameter_generated
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell_call import CellCall
from dist_ms.nn.cell_flags import CellFlags
from dist_ms.nn.cell_state import CellState

__all__ = ["Cell", "GraphCell"]

_REGISTRIES = ("_params", "_cells", "_buffers")
_PREFIX = re.compile(r"^\w*[0-9a-zA-Z_.]*$")


class Cell(CellCall, CellState, CellFlags):
    """Base class of networks and layers.

    A subclass creates Parameters and other Cells as attributes in `__init__` and
    computes in `construct`.

    Args:
        auto_prefix: name the parameters of child cells after the path to them.
        flags: settings stored with `add_flags`.

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

    def __init__(self, auto_prefix: bool = True, flags: dict | None = None) -> None:
        state = self.__dict__
        state["_params"] = OrderedDict()
        state["_cells"] = OrderedDict()
        state["_buffers"] = OrderedDict()
        state["_auto_prefix"] = auto_prefix
        state["_names_under"] = ""  # prefix that update_parameters_name gave this cell
        state["_param_prefix"] = ""
        state["training"] = False
        state["requires_grad"] = False
        state["_phase"] = "train"
        state["_init_flag"] = True
        self._init_state()
        self._init_call()
        self._init_flags()
        if flags:
            self.add_flags(**flags)

    # ---- registration
    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        for registry in _REGISTRIES:
            entries = state.get(registry)
            if entries is not None and name in entries:
                value = entries[name]
                if registry == "_params" and state["_cast_now"] is not None:
                    return self._cast_parameter(value)
                return value
        hint = ""
        if "_params" not in state and name != "__deepcopy__":
            hint = " Call super().__init__() first."
        raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.{hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._set_parameter(name, value)
        elif isinstance(value, Cell):
            self._set_cell(name, value)
        elif isinstance(value, _Buffer):
            self._set_buffer(name, value)
        elif isinstance(value, ParameterTuple):
            self._set_parameter_tuple(name, value)
        else:
            self._set_plain(name, value)

    def __delattr__(self, name: str) -> None:
        for registry in _REGISTRIES:
            entries = self.__dict__.get(registry, {})
            if name in entries:
                del entries[name]
                self._non_persistent.discard(name)
                return
        if name in self.__dict__ or hasattr(type(self), name):
            object.__delattr__(self, name)
            return
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'.")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._params, *self._cells, *self._buffers})

    def _need_init(self, what: str) -> None:
        if "_params" not in self.__dict__:
            raise AttributeError(
                f"For '{type(self).__name__}', please call Cell.__init__() before assigning {what}: "
                "add super().__init__() as the first line of __init__."
            )

    def _set_parameter(self, name: str, value: Parameter) -> None:
        self._need_init("a Parameter")
        if name in self._cells and self._cells[name] is not None:
            raise KeyError(
                f"For '{type(self).__name__}', '{name}' is a child cell already: a Parameter needs another name."
            )
        self.__dict__.pop(name, None)
        self._cells.pop(name, None)
        self._buffers.pop(name, None)
        self.insert_param_to_cell(name, value, check_name_contain_dot=False)

    def _set_cell(self, name: str, value: Cell) -> None:
        self._need_init("a Cell")
        if self._params.get(name) is not None:
            raise KeyError(
                f"For '{type(self).__name__}', '{name}' is a Parameter already: a child cell needs another name."
            )
        self.__dict__.pop(name, None)
        self._params.pop(name, None)
        if self._auto_prefix:
            value.update_parameters_name(self._names_under + name + ".")
        self._cells[name] = value

    def _set_buffer(self, name: str, value: _Buffer) -> None:
        self._need_init("a Buffer")
        if name in self._buffers:
            self._buffers[name] = value
        else:
            self.register_buffer(name, value)

    def _set_parameter_tuple(self, name: str, value: ParameterTuple) -> None:
        self._need_init("a ParameterTuple")
        for p in value:
            self.insert_param_to_cell(p.name, p, check_name_contain_dot=False)
        object.__setattr__(self, name, value)

    def _set_plain(self, name: str, value: Any) -> None:
        state = self.__dict__
        if "_params" in state:
            if self._params.get(name) is not None:
                if isinstance(value, Tensor):
                    self._params[name].set_data(value)
                    return
                if value is not None:
                    raise TypeError(
                        f"Parameter '{name}' already exists in network, can not assign this type: "
                        f"'{type(value)}' as a parameter."
                    )
                self._params[name] = None
                return
            if self._cells.get(name) is not None:
                if value is not None:
                    raise TypeError(
                        f"Sub cell '{name}' already exists in network, can not assign this type: "
                        f"'{type(value)}' as a cell."
                    )
                self._cells[name] = None
                return
            if name in self._buffers:
                if value is not None:
                    raise TypeError(
                        f"Buffer '{name}' already exists in network, can not assign this type: "
                        f"'{type(value)}' as a buffer."
                    )
                self._buffers[name] = None
                return
        object.__setattr__(self, name, value)

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Add a child cell under a name.

        Args:
            child_name: a name without dots that no other attribute has.
            child_cell: the cell; None reserves the name.

        Raises:
            KeyError: if the name is empty, has a dot or belongs to another attribute.
            TypeError: if the name is no str or the child no Cell.
        """
        if not isinstance(child_name, str):
            raise TypeError(
                "For 'insert_child_to_cell', the type of parameter 'child_name' must be str, but got "
                f"{type(child_name)}."
            )
        if not child_name or "." in child_name:
            raise KeyError(
                "For 'insert_child_to_cell', the parameter 'child_name' can not be None and can not "
                f"contain '.', but got {child_name!r}."
            )
        if hasattr(self, child_name) and child_name not in self._cells:
            raise KeyError(
                f"For 'insert_child_to_cell', the {child_name} child cell already exists in the network. "
                "Cannot insert another child cell with the same name."
            )
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(
                "For 'insert_child_to_cell', the argument 'child_cell' must be 'Cell' if not None, but "
                f"got type {type(child_cell)}."
            )
        self._cells[child_name] = child_cell

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Add a parameter under a name; one with a generated name is renamed to it.

        Raises:
            KeyError: if the name is empty, has a dot (unless allowed) or belongs to another attribute.
            TypeError: if `param` is no Parameter.
        """
        if not isinstance(param_name, str):
            raise TypeError(f"For 'insert_param_to_cell', 'param_name' must be a str, but got {type(param_name)}.")
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', the argument 'param_name' should not be None.")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(
                f"For 'insert_param_to_cell', the argument 'param_name' should not contain '.', but got {param_name!r}."
            )
        self._need_init("a Parameter")
        if param_name not in self._params and hasattr(self, param_name):
            raise KeyError(
                f"For 'insert_param_to_cell', the {param_name} parameter already exists in the network. "
                "Cannot insert another parameter with the same name."
            )
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                "For 'insert_param_to_cell', the argument 'param' must be 'Parameter' if not None, but "
                f"got {type(param)}."
            )
        if param is not None and _is_parameter_generated(param.name):
            param.name = param_name
        self._params[param_name] = param

    # ---- iteration
    def name_cells(self) -> OrderedDict:
        """The direct children by name, each cell once."""
        found: OrderedDict = OrderedDict()
        seen = set()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells(self) -> Any:
        """The direct children."""
        return self.name_cells().values()

    def cells_and_names(self, cells: set | None = None, name_prefix: str = "") -> Iterator:
        """Iterate over this cell and all nested ones as (path, cell), each cell once."""
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
            if part not in cell._cells:
                raise AttributeError(f"{cell.cls_name} has no attribute `{part}`")
            cell = cell._cells[part]
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
        """Iterate over the parameters.

        Examples:
            >>> from dist_ms import nn
            >>> print([p.name for p in nn.Dense(2, 1).get_parameters()])
            ['weight', 'bias']
        """
        for _, p in self.parameters_and_names(expand=expand):
            yield p

    def parameters_dict(self, recurse: bool = True) -> OrderedDict:
        """The parameters by name."""
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

    # ---- names
    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Rename every parameter to `prefix` + its path.

        Raises:
            TypeError: if `prefix` is no str.
            ValueError: if it holds other than letters, digits, `_` and `.`.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"For 'update_parameters_name', 'prefix' must be a str, but got {type(prefix)}.")
        if not _PREFIX.match(prefix):
            raise ValueError(
                "For 'update_parameters_name', 'prefix' must hold only letters, digits, '_' and '.', "
                f"but got {prefix!r}."
            )
        for path, cell in self.cells_and_names() if recurse else [("", self)]:
            cell.__dict__["_names_under"] = prefix + (path + "." if path else "")
        for path, p in self.parameters_and_names(expand=recurse):
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
                    f"The value of {key} is {p}, its name '{p.name}' already exists. Please set a "
                    "unique name for the parameter."
                )
            names.add(p.name)

    @property
    def param_prefix(self) -> str:
        """The path of this cell, once `update_cell_prefix` was called on the top cell."""
        return self._param_prefix

    def update_cell_prefix(self) -> None:
        """Tell every nested cell the path it has."""
        for path, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = path

    @property
    def cls_name(self) -> str:
        """The name of the cell's class."""
        return type(self).__name__

    # ---- state of training
    @property
    def phase(self) -> str:
        """The state set by `set_train`: "train" or "predict"."""
        return self._phase

    def set_train(self, mode: bool = True) -> Cell:
        """Set this cell and all nested ones to training or inference.

        Examples:
            >>> from dist_ms import nn
            >>> print(nn.Dropout(p=0.5).set_train(False).phase)
            predict
        """
        phase = "train" if mode else "predict"
        for _, cell in self.cells_and_names():
            cell.__dict__["training"] = mode
            cell.__dict__["_phase"] = phase
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Mark the cell as one whose gradient is taken (parameters are not touched)."""
        self.requires_grad = requires_grad
        return self

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

    # ---- printed form
    def extend_repr(self) -> str:
        """What a layer prints between its brackets."""
        return ""

    def __str__(self) -> str:
        return self.__repr__()

    def __repr__(self) -> str:
        extra = self.extend_repr()
        if not any(c is not None for c in self._cells.values()):
            return f"{self.cls_name}({extra})"
        lines = [f"{self.cls_name}({extra}" if extra else f"{self.cls_name}("]
        for name, cell in self._cells.items():
            if cell is not None:
                lines.append("  " + f"({name}): {cell!r}".replace("\n", "\n  "))
        return "\n".join([*lines, ")"])


class GraphCell(Cell):
    """Not available: graphs in MindIR form belong to MindSpore's compiler."""

    def __init__(self, graph: Any, params_init: dict | None = None, obf_random_seed: int | None = None) -> None:
        raise RuntimeError(
            "For 'GraphCell', MindIR graphs can not be run by dist_ms: build the network from Cells "
            "and load its checkpoint."
        )

"""Cell: its fields, how attributes become Parameters, buffers and children, and its printed form.

Registration happens in `__setattr__`; everything else is an ordinary attribute. Most methods are functions of the files
beside this one, each of which says which fields of a cell it reads and writes; all fields are declared here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dist_ms._ext.cell import Constructed, find_registered, registered
from dist_ms.common.checks import check_string
from dist_ms.common.parameter import Parameter, ParameterTuple, _Buffer, _is_parameter_generated
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import call, compiler, conversion, flags, hooks, inspection, members, precision, state, summary
from dist_ms.nn.cell.members import need_init
from dist_ms.nn.cell.state import register_cell_buffer_registration_hook

if TYPE_CHECKING:
    from dist_ms.common import dtype as mstype

__all__ = ["Cell", "register_cell_buffer_registration_hook"]


class Cell(Constructed):
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

    # ---- fields, by the file that writes them; a class's value is that of a cell which has none of its own
    _params: OrderedDict[str, Any]
    _cells: OrderedDict[str, Any]
    _buffers: OrderedDict[str, Any]
    _auto_prefix: bool
    _cell_listed: dict[str, Parameter]  # those in lists and tuples, by name
    _cell_generated = 0  # parameters of ParameterTuples named so far
    has_bprop = False
    _param_prefix = ""  # members.py
    _cell_plain = False  # shortcut.py: nothing but `construct` is to be run
    _cell_called = False  # call.py
    _cell_recompute: dict | None = None
    _bprop_debug = False
    _cell_hooks: dict[str, OrderedDict] | None = None  # hooks.py: the four tables, made with the first hook
    _cell_saved_hooks: tuple[Callable, Callable] | None = None
    _cell_read_hooks: dict[str, Callable] | None = None  # by attribute: what a compiled run sees of a parameter
    _cell_policy: precision.RunIn | None = None  # precision.py
    _cell_float_type: mstype.Number | None = None
    _non_persistent_buffers_set: frozenset | set = frozenset()  # state.py
    _cell_state_hooks: dict[str, OrderedDict] | None = None  # the four tables, made with the first hook
    _func_graph_flags: dict  # flags.py
    _phase = "train"
    _scope: str | None = None
    cell_type: str | None = None
    training = False
    requires_grad = False
    _cell_init_args: str  # compiler.py: of cells that record them
    _jit_config_dict: dict | None = None
    _dynamic_shape_inputs: Any = None
    compiled = False  # no cell is ever compiled
    pipeline_stage = compiler.Stage(int, int, "The stage of pipeline parallelism, which dist_ms does not have.")
    pipeline_segment = compiler.Stage(int, int, "The segment of pipeline parallelism, which dist_ms does not have.")
    parameter_layout_dict = compiler.Kept(dict, dict, "Layouts of parameters that model parallelism cuts.")
    parallel_parameter_name_list = compiler.Kept(list, tuple, "Names of parameters that model parallelism cuts.")
    parallel_parameter_merge_net_dict = compiler.Kept(dict, dict, "How model parallelism puts parameters together.")
    compile_phase = compiler.Kept(str, lambda: None, "The name a compiled form would have.")
    compile_cache = compiler.Kept(set, set, "The names of compiled forms, of which there are none.")
    phase_cache = compiler.Kept(dict, dict, "The names of compiled forms by phase, of which there are none.")

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
                need_init(self, "a Parameter")
                self.__dict__.pop(name, None)
                self.insert_param_to_cell(name, value)
                return
            if isinstance(value, _Buffer):
                need_init(self, "a Buffer")
                self.__dict__.pop(name, None)
                self.register_buffer(name, value, getattr(value, "persistent", True))  # type: ignore[arg-type]
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

    def _cell_set_child(self, name: str, value: Cell) -> None:
        need_init(self, "a Cell")
        self.__dict__.pop(name, None)
        if self._auto_prefix:
            value.update_parameters_name(name + ".")
        self.insert_child_to_cell(name, value)

    def _cell_register_tuple(self, value: ParameterTuple) -> None:
        """Register the members of a ParameterTuple, each under its own name."""
        need_init(self, "a ParameterTuple")
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
        need_init(self, "a Cell")
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
        check_string(param_name, "param_name", "insert_param_to_cell")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(
                f"For 'insert_param_to_cell', the argument 'param_name' should not contain '.', but got {param_name!r}."
            )
        need_init(self, "a Parameter")
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

    # ---- what is inside
    name_cells = members.name_cells
    cells = members.cells
    cells_and_names = members.cells_and_names
    parameters_and_names = members.parameters_and_names
    get_parameters = members.get_parameters
    parameters_dict = members.parameters_dict
    trainable_params = members.trainable_params
    untrainable_params = members.untrainable_params
    apply = members.apply

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

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict | None:
        """The parameters that data parallelism broadcasts, by name; None when there are none."""
        found = OrderedDict((p.name, p) for p in self.get_parameters(recurse) if not p.layerwise_parallel)
        return found or None

    # ---- names
    update_parameters_name = members.update_parameters_name
    check_names = members.check_names
    check_names_and_refresh_name = members.check_names_and_refresh_name
    update_cell_prefix = members.update_cell_prefix

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

    @property
    def cls_name(self) -> str:
        """The name of the cell's class."""
        return type(self).__name__

    # ---- calls
    construct = call.construct
    _cell_call = call.call_cell
    run_construct = call.run_construct
    bprop_debug = call.bprop_debug
    recompute = call.recompute

    # ---- hooks
    register_forward_pre_hook = hooks.register_forward_pre_hook
    register_forward_hook = hooks.register_forward_hook
    register_backward_pre_hook = hooks.register_backward_pre_hook
    register_backward_hook = hooks.register_backward_hook
    register_saved_tensors_hooks = hooks.register_saved_tensors_hooks
    register_parameter_forward_hook = hooks.register_parameter_forward_hook
    _cell_read = hooks.read_parameter

    # ---- types of operations and of parameters
    to_float = precision.to_float
    get_mixed_precision_type = precision.get_mixed_precision_type
    set_mixed_precision_type = precision.set_mixed_precision_type
    cast_inputs = precision.cast_inputs
    _apply = conversion._apply
    to = conversion.to
    to_empty = conversion.to_empty

    # ---- buffers and state dictionaries
    register_buffer = state.register_buffer
    named_buffers = state.named_buffers
    buffers = state.buffers
    get_buffer = state.get_buffer
    get_extra_state = state.get_extra_state
    set_extra_state = state.set_extra_state
    state_dict = state.state_dict
    _save_to_state_dict = state._save_to_state_dict
    load_state_dict = state.load_state_dict
    _load_from_state_dict = state._load_from_state_dict
    register_state_dict_pre_hook = state.register_state_dict_pre_hook
    register_state_dict_post_hook = state.register_state_dict_post_hook
    register_load_state_dict_pre_hook = state.register_load_state_dict_pre_hook
    register_load_state_dict_post_hook = state.register_load_state_dict_post_hook

    # ---- flags
    add_flags = flags.add_flags
    add_flags_recursive = flags.add_flags_recursive
    get_flags = flags.get_flags
    phase = flags.phase
    set_train = flags.set_train
    set_grad = flags.set_grad
    set_comm_fusion = flags.set_comm_fusion
    set_param_ps = flags.set_param_ps
    init_parameters_data = flags.init_parameters_data
    flatten_weights = flags.flatten_weights
    set_broadcast_flag = flags.set_broadcast_flag
    set_data_parallel = flags.set_data_parallel
    update_cell_type = flags.update_cell_type
    generate_scope = flags.generate_scope
    get_scope = flags.get_scope

    # ---- what compilers and model parallelism would look at
    cell_init_args = compiler.cell_init_args
    set_jit_config = compiler.set_jit_config
    jit_config_dict = compiler.jit_config_dict
    set_inputs = compiler.set_inputs
    get_inputs = compiler.get_inputs
    compile = compiler.compile
    compile_and_run = compiler.compile_and_run
    remove_redundant_parameters = compiler.remove_redundant_parameters
    get_func_graph_proto = compiler.get_func_graph_proto
    set_boost = compiler.set_boost
    offload = compiler.offload
    shard = compiler.shard

    # ---- a description
    summary = summary.summary
    total_instance_count = inspection.Living()
    exist_names = inspection.exist_names
    exist_objs = inspection.exist_objs
    enable_backward_hook = inspection.enable_backward_hook
    T_destination = inspection.T_destination
    IGNORE_LIST: list[str]

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
Cell.IGNORE_LIST = inspection.own_fields(Cell)

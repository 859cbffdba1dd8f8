"""What scripts ask of MindSpore's graph compiler and of its model parallelism through a Cell.

Cells run as Python here. Settings that change no result are checked and kept; what only
another backend could do is refused.

Fields of a cell: writes `_cell_init_args`, `_dynamic_shape_inputs`, `_jit_config_dict`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from dist_ms.common.checks import check_type, complaint
from dist_ms.common.once import warn_once

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell


class Kept:
    """An attribute of one type that is stored, and not used.

    Args:
        kind: the type.
        first: makes its value before one is assigned.
        doc: what it is.
    """

    def __init__(self, kind: type, first: Callable, doc: str) -> None:
        self.kind, self.first, self.__doc__ = kind, first, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.slot = name, "_" + name

    def __get__(self, cell: Any, owner: type) -> Any:
        if cell is None:
            return self
        if self.slot not in cell.__dict__:
            cell.__dict__[self.slot] = self.first()
        return cell.__dict__[self.slot]

    def __set__(self, cell: Any, value: Any) -> None:
        if not isinstance(value, self.kind):
            raise TypeError(
                f"For 'Cell', the property '{self.name}' must be {self.kind.__name__} type, but got type {type(value)}."
            )
        cell.__dict__[self.slot] = value


class Stage(Kept):
    """An attribute for a number of 0 or more, which is not there before it is assigned."""

    def __get__(self, cell: Any, owner: type) -> Any:
        if cell is not None and self.slot not in cell.__dict__:
            raise AttributeError(f"The '{owner.__name__}' object has no attribute '{self.name}'.")
        return super().__get__(cell, owner)

    def __set__(self, cell: Any, value: Any) -> None:
        super().__set__(cell, None if isinstance(value, bool) else value)
        if value < 0:
            raise ValueError(f"For 'Cell', the property '{self.name}' can not be less than 0, but got {value}")


def _cell_init_args(self: Cell) -> str:
    """The arguments of the constructor as text, for cells that record them.

    Raises:
        AttributeError: if none were recorded.
        TypeError: if something else than a string is assigned.
    """
    return self._cell_init_args


def _set_cell_init_args(self: Cell, value: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"For 'Cell', the property 'cell_init_args' must be string type, but got type {type(value)}.")
    self._cell_init_args = value


cell_init_args = property(_cell_init_args, _set_cell_init_args)


# ---- settings of the compiler
def set_jit_config(self: Cell, jit_config: Any) -> None:
    """Keep compiler settings; no result depends on them. The first call counts.

    Args:
        jit_config: a `JitConfig`.

    Raises:
        AttributeError: if it is none.
    """
    if not self._jit_config_dict:
        self.__dict__["_jit_config_dict"] = jit_config.jit_config_dict


def _jit_config_dict(self: Cell) -> dict:
    """The settings given to `set_jit_config`."""
    return self._jit_config_dict or {}


jit_config_dict = property(_jit_config_dict)


def set_inputs(self: Cell, *inputs: Any, **kwargs: Any) -> None:
    """Keep example inputs that a compiler would take shapes from; every call accepts its own shapes.

    Args:
        inputs: one for each argument of `construct`; a dimension may be None.
        kwargs: or some of them, by name.

    Raises:
        ValueError: if both are given, or a name is none of `construct`.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.ReLU()
        >>> net.set_inputs(ms.Tensor(shape=[3, None], dtype=ms.float32))
        >>> net.get_inputs()[0].shape
        (3, -1)
    """
    if inputs and kwargs:
        raise ValueError(f"For Cell, set_inputs should only set inputs or kwargs(inputs: {inputs}, kwargs: {kwargs})!")
    names = list(inspect.signature(self.construct).parameters)
    for key in kwargs:
        if key not in names:
            raise ValueError(f"For dict mode, valid key is {names}, but got {key}!")
    places = [[names.index(k), v] for k, v in kwargs.items()]
    self.__dict__["_dynamic_shape_inputs"] = (
        {"arg_specified_infos": places, "total_arg_length": len(names)} if kwargs else inputs
    )


def get_inputs(self: Cell) -> Any:
    """What `set_inputs` was given, None before."""
    return self._dynamic_shape_inputs


def compile(self: Cell, *args: Any, **kwargs: Any) -> None:
    """Check what a compiler would: parameter names are unique, and the arguments fit `construct`.

    Raises:
        ValueError: if two parameters have one name.
        TypeError: if the arguments do not fit.
    """
    self.check_names()
    try:
        inspect.signature(self.construct).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"For '{self.cls_name}', the arguments do not fit 'construct': {error}.") from None


def compile_and_run(self: Cell, *args: Any, **kwargs: Any) -> Any:
    """Check as `compile` does, then run."""
    self.compile(*args, **kwargs)
    return self(*args, **kwargs)


def remove_redundant_parameters(self: Cell) -> None:
    """Check that there is nothing to remove: every parameter is the one of its name.

    Raises:
        ValueError: if two parameters have one name.
    """
    self.check_names()


def set_boost(self: Cell, boost_type: str) -> Any:
    """Note on this cell and all nested ones that fewer BatchNorms are wanted; no result changes, as on MindSpore's CPU.

    `boost.LessBN`, which calls this, also puts another layer in the place of the last Dense.

    Args:
        boost_type: "less_bn".

    Returns:
        The cell itself.

    Raises:
        ValueError: for an unknown algorithm.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.ReLU().set_boost("less_bn").get_flags()
        {'less_bn': True}
    """
    if boost_type != "less_bn":
        raise ValueError(f"For 'set_boost', the argument 'boost_type' must be 'less_bn', but got {boost_type}.")
    warn_once(
        "less_bn", "'set_boost' notes 'less_bn' on the cells; BatchNorms are left out by Ascend's compiler alone."
    )
    return self.add_flags_recursive(less_bn=True)


# ---- refused
def get_func_graph_proto(self: Cell) -> NoReturn:
    """Not available: there is no compiled graph.

    Raises:
        RuntimeError: always.
    """
    raise _refusal(self, "get_func_graph_proto", "cells run as Python and have no compiled graph")


def offload(self: Cell, backward_prefetch: str | int = "Auto") -> NoReturn:
    """Not available: activations are in the memory of the CPU anyway.

    Raises:
        RuntimeError: always.
    """
    raise _refusal(
        self, "offload", "it moves activations of an accelerator to the CPU, where they are; 'recompute()' saves memory"
    )


def shard(
    fn: Cell | Callable,
    in_strategy: tuple,
    out_strategy: tuple | None = None,
    parameter_plan: dict[str, Any] | None = None,
) -> Cell | Callable:
    """Return a network or function whose operations MindSpore cuts over ranks; nothing can be cut here.

    Args:
        fn: the Cell or function.
        in_strategy: per input, into how many parts each dimension is cut: 1 everywhere.
        out_strategy: the same for results.
        parameter_plan: the same for parameters, by name.

    Returns:
        Cell or function, `fn`.

    Raises:
        TypeError: if an argument has the wrong type.
        NotImplementedError: if something is to be cut.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.shard(ms.nn.ReLU(), in_strategy=((1,),))(ms.Tensor([-1.0])))
        [0.]
    """
    if not callable(fn):
        raise TypeError(complaint("fn", "shard", "a Cell or a function", fn))
    check_type(in_strategy, "in_strategy", "shard", tuple)
    check_type(out_strategy, "out_strategy", "shard", (tuple, type(None)))
    check_type(parameter_plan, "parameter_plan", "shard", (dict, type(None)))
    plans = tuple((parameter_plan or {}).values())
    for name, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy), ("parameter_plan", plans)):
        if _most(strategy) > 1:
            raise NotImplementedError(
                f"For 'shard', '{name}' must have no part count above 1, but got {strategy}: operations are not cut "
                "over ranks. Train data-parallel, or use nn.model_parallel."
            )
    return fn


def _most(strategy: Any) -> int:
    """The largest number in nested tuples; of what MindSpore has besides them, such as a Layout, its ranks."""
    if isinstance(strategy, (tuple, list)):
        return max(map(_most, strategy), default=1)
    if hasattr(strategy, "to_dict"):
        return _most(strategy.to_dict()["device_matrix"])
    return strategy if isinstance(strategy, int) else 1


def _refusal(cell: Cell, method: str, reason: str) -> RuntimeError:
    return RuntimeError(f"For '{cell.cls_name}', '{method}' is not supported by dist_ms on CPUs: {reason}.")

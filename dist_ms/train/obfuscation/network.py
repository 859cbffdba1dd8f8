"""`load_obf_params_into_net`: a network whose cells compute with the clear values of obfuscated weights."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.train.obfuscation import plan as plans
from dist_ms.train.obfuscation.config import check_config
from dist_ms.train.obfuscation.steps import Step

_OWNER = "load_obf_params_into_net"
_DECORATORS = ("ignored_func_decorators", "ignored_class_decorators")


def load_obf_params_into_net(
    network: Cell,
    target_modules: list[str] | None = None,
    obf_ratios: Tensor | Mapping[str, Any] | None = None,
    obf_config: dict[str, Any] | None = None,
    data_parallel_num: int = 1,
    **kwargs: Any,
) -> Cell:
    """Have a network compute with the clear values of weights that `obfuscate_ckpt` changed.

    Its parameters keep the obfuscated values, which may be loaded before or after: the target cells undo the
    obfuscation whenever they are called. Without `obf_ratios` the network stays as it is; in MindSpore 2.10 it does so
    with them, too.

    Args:
        network: the network, which is changed.
        target_modules: as for `obfuscate_ckpt`.
        obf_ratios: what `obfuscate_ckpt` returned; or a Tensor of one ratio, or of one for each layer.
        obf_config: as for `obfuscate_ckpt`, instead of `target_modules`, and with 'network_obf_config', a list that
            MindSpore demands; what is undone follows from the other two.
        data_parallel_num: a positive int, without effect.
        **kwargs: `ignored_func_decorators`, `ignored_class_decorators`, lists of str without effect: no source is
            rewritten.

    Returns:
        Cell, the network.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a target is not in the network, ratios are missing, or a value is wrong.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> net, x = ms.nn.SequentialCell(ms.nn.Dense(2, 1)), ms.ops.ones((1, 2))
        >>> clear = net(x)
        >>> ms.save_checkpoint(net, os.path.join(folder, "a.ckpt"))
        >>> ratios = ms.obfuscate_ckpt(net, folder, ["", "0"], saved_path=folder)
        >>> _ = ms.load_checkpoint(os.path.join(folder, "a_obf.ckpt"), net)
        >>> net = ms.load_obf_params_into_net(net, ["", "0"], ratios)
        >>> bool(ms.ops.isclose(net(x), clear, rtol=1e-5).all())
        True
    """
    check_type(network, "network", _OWNER, Cell)
    config = None if obf_config is None else check_config(obf_config, _OWNER, "network_obf_config")
    plan = plans.of_modules(network, target_modules, _OWNER) if config is None else None
    if isinstance(data_parallel_num, bool) or not isinstance(data_parallel_num, int) or data_parallel_num < 1:
        raise ValueError(complaint("data_parallel_num", _OWNER, "a positive int", repr(data_parallel_num)))
    _check_decorators(kwargs)
    if obf_ratios is None:
        return network
    if config is not None:
        for name in ("obf_metadata_config", "weight_obf_config"):
            if name not in config:
                raise ValueError(
                    complaint(f"obf_config['{name}']", _OWNER, "a list, as there are 'obf_ratios'", "none")
                )
        plan = plans.of_config(config)
    assert plan is not None
    drawn = _drawn(plan, obf_ratios)
    owners = _owners(network)
    for name, steps in plan.steps.items():
        if name not in owners:
            raise ValueError(complaint("obf_config", _OWNER, "of parameters of the network", f"'{name}'"))
        for step in steps:
            if step.metadata not in drawn:
                raise ValueError(complaint("obf_ratios", _OWNER, f"a dict with '{step.metadata}'", "one without it"))
    for name, steps in plan.steps.items():
        for cell, key in owners[name]:
            _restore(cell, key, functools.partial(_undone, steps=steps, drawn=drawn))
    return network


def _check_decorators(kwargs: dict[str, Any]) -> None:
    for name, value in kwargs.items():
        if name not in _DECORATORS:
            raise TypeError(f"For '{_OWNER}', there is no argument '{name}'; there are {' and '.join(_DECORATORS)}.")
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise TypeError(complaint(name, _OWNER, "a list of str", repr(value)))


def _drawn(plan: plans.Plan, ratios: Any) -> dict[str, np.ndarray]:
    """What was drawn, by name, of what the user kept."""
    wanted = [m for m in plan.metadata if m.saved]
    if isinstance(ratios, Mapping):
        kept = {name: np.asarray(v.asnumpy() if isinstance(v, Tensor) else v) for name, v in ratios.items()}
        for name, value in kept.items():
            for m in (m for m in wanted if m.name == name and m.shape != value.shape):
                raise ValueError(complaint(f"obf_ratios['{name}']", _OWNER, f"of shape {m.shape}", value.shape))
    else:
        check_type(ratios, "obf_ratios", _OWNER, (Tensor, dict))
        values = ratios.asnumpy().reshape(-1)
        if len(values) != len(wanted) or any(m.shape != (1,) for m in wanted):
            form = f"a Tensor of {len(wanted)} ratios" if all(m.shape == (1,) for m in wanted) else "a dict"
            raise ValueError(complaint("obf_ratios", _OWNER, form, f"one of shape {ratios.shape}"))
        kept = {m.name: values[place : place + 1] for place, m in enumerate(wanted)}
    return {m.name: m.drawn_again(kept[m.name]) for m in wanted if m.name in kept}


def _owners(network: Cell) -> dict[str, list[tuple[Cell, str]]]:
    """The cells that hold a parameter, by its name, with the attributes."""
    found: dict[str, list[tuple[Cell, str]]] = {}
    for _, cell in network.cells_and_names():
        for key, parameter in cell._params.items():
            if parameter is not None:
                found.setdefault(parameter.name, []).append((cell, key))
    return found


def _undone(weight: Tensor, steps: tuple[Step, ...], drawn: dict[str, np.ndarray]) -> Tensor:
    for step in reversed(steps):
        weight = step.undo(weight, drawn)
    return weight


def _restore(cell: Cell, key: str, undo: Callable[[Tensor], Tensor]) -> None:
    """Have a cell's own code meet the clear value of a parameter while it runs."""
    if "_obfuscated" in cell.__dict__:
        cell._obfuscated[key] = undo
        return
    cell.__dict__["_obfuscated"] = {key: undo}
    construct: Any = cell.construct
    cell.__dict__["_obfuscated_construct"] = construct.__func__
    object.__setattr__(cell, "construct", types.MethodType(_with_clear_weights, cell))


def _with_clear_weights(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a cell's `construct`; its attributes stand before its parameters."""
    clear = {key: undo(self._params[key]) for key, undo in self._obfuscated.items()}
    self.__dict__.update(clear)
    try:
        return self._obfuscated_construct(self, *args, **kwargs)
    finally:
        for key in clear:
            del self.__dict__[key]

"""Which weights are obfuscated with what: from `target_modules`, or from `obf_config`."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from string import Template
from typing import Any

from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.container import CellList
from dist_ms.train.obfuscation.metadata import Metadata
from dist_ms.train.obfuscation.steps import Step

_PATH, _TARGETS = re.compile(r"[A-Za-z0-9_/]*"), re.compile(r"[A-Za-z0-9_|]+")
_LAYERS = re.compile(r"obfuscate_layers:(all|[0-9]+)")
_KEYS = ("weight", "bias")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """What is drawn, in order, and the steps for each parameter by its name."""

    metadata: tuple[Metadata, ...]
    steps: dict[str, tuple[Step, ...]]


def of_modules(network: Cell, target_modules: Any, owner: str) -> Plan:
    """The plan of `target_modules`: weights and biases are multiplied by one number, or by one for each layer.

    Raises:
        TypeError: if it is no list of str.
        ValueError: if it has another form, or names nothing in the network.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.train.obfuscation.plan import of_modules
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 1))
        >>> list(of_modules(net, ["", "0"], "obfuscate_ckpt").steps)
        ['0.weight', '0.bias']
    """
    path, targets, layers = _checked(target_modules, owner)
    homes = _homes(network, path, owner)
    if layers is not None and homes[0][0] is None:
        raise ValueError(
            f"For '{owner}', 'target_modules[0]' must lead through a CellList if '{target_modules[2]}' is given, but "
            f"got '{path}'."
        )
    if layers is not None and layers != "all":
        homes = [(layer, cell) for layer, cell in homes if layer is not None and layer < int(layers)]
    steps: dict[str, tuple[Step, ...]] = {}
    used: dict[str, None] = {}
    for layer, home in homes:
        name = "obf_metadata" if layers is None else f"obf_metadata_{layer}"
        for target in targets:
            cell = getattr(home, target, None)
            if not isinstance(cell, Cell):
                _log.warning("For '%s', there is no cell '%s' in the path '%s'.", owner, target, path)
                continue
            for parameter in (cell._params.get(key) for key in _KEYS):
                if parameter is not None:
                    steps[parameter.name] = (Step("mul", name),)
                    used[name] = None
    if not steps:
        raise ValueError(
            f"For '{owner}', 'target_modules[1]' must name cells with a weight or a bias in the path '{path}', but "
            f"got '{target_modules[1]}'."
        )
    return Plan(tuple(Metadata(name, (1,), "random", True, True) for name in used), steps)


def _checked(target_modules: Any, owner: str) -> tuple[str, list[str], str | None]:
    """The path, the targets and the number of layers."""
    if not isinstance(target_modules, list):
        raise TypeError(
            f"For '{owner}', 'target_modules' must be a list where there is no 'obf_config', but got "
            f"{type(target_modules).__name__}."
        )
    if not 2 <= len(target_modules) <= 3:
        raise ValueError(
            f"For '{owner}', 'target_modules' must have two or three elements, as ['A/B/C', 'D|E'], but got "
            f"{target_modules}."
        )
    for index, value in enumerate(target_modules):
        if not isinstance(value, str):
            raise TypeError(f"For '{owner}', 'target_modules[{index}]' must be a str, but got {type(value).__name__}.")
    wanted = (
        (_PATH, "letters, digits, '_' and '/'"),
        (_TARGETS, "names of letters, digits and '_' with '|' between them"),
        (_LAYERS, "'obfuscate_layers:all' or 'obfuscate_layers:' and an int"),
    )
    for index, (value, (pattern, form)) in enumerate(zip(target_modules, wanted)):
        if not pattern.fullmatch(value):
            raise ValueError(f"For '{owner}', 'target_modules[{index}]' must be {form}, but got '{value}'.")
    layers = target_modules[2].partition(":")[2] if len(target_modules) == 3 else None
    return target_modules[0], [name for name in target_modules[1].split("|") if name], layers


def _homes(network: Cell, path: str, owner: str) -> list[tuple[int | None, Cell]]:
    """The cells a path leads to, with their places in the first CellList on it; all members of a list are followed."""
    homes: list[tuple[int | None, Cell]] = [(None, network)]
    for part in path.split("/") if path else ():
        found: list[tuple[int | None, Cell]] = []
        for layer, cell in homes:
            child = getattr(cell, part, None)
            if isinstance(child, CellList):
                found += [(place if layer is None else layer, member) for place, member in enumerate(child)]
            elif isinstance(child, Cell):
                found.append((layer, child))
        if not found:
            raise ValueError(
                f"For '{owner}', 'target_modules[0]' must be a path of cells in the network, but got '{path}', where "
                f"'{part}' is none."
            )
        homes = found
    return homes


def of_config(config: dict[str, Any]) -> Plan:
    """The plan of an `obf_config` that was checked.

    Examples:
        >>> from dist_ms.train.obfuscation.plan import of_config
        >>> by = {"name": "mul", "input_x": "weight", "input_y": "obf_metadata"}
        >>> drawn = {"name": "obf_metadata", "shape": [1], "type": "random"}
        >>> weights = [{"target": "a/weight", "weight_obf_ops": [by]}]
        >>> list(of_config({"obf_metadata_config": [drawn], "weight_obf_config": weights}).steps)
        ['a.weight']
    """
    metadata: dict[str, Metadata] = {}
    for entry in config["obf_metadata_config"]:
        settings = (
            tuple(entry["shape"]),
            entry.get("type") or "random",
            entry.get("save_metadata", False),
            entry.get("metadata_op") == "invert",
        )
        for layer in entry.get("layers") or [None]:
            name = _named(entry["name"], layer)
            metadata.setdefault(name, Metadata(name, *settings))
    steps: dict[str, tuple[Step, ...]] = {}
    for entry in config["weight_obf_config"]:
        for layer in entry.get("layers") or [None]:
            target = _named(entry["target"], layer).strip("/").replace("/", ".")
            steps[target] = steps.get(target, ()) + tuple(_step(op, layer) for op in entry["weight_obf_ops"])
    for step in (s for several in steps.values() for s in several):
        if step.metadata not in metadata:
            raise ValueError(
                f"For 'obf_config', 'weight_obf_ops' must name metadata of 'obf_metadata_config', which are "
                f"{', '.join(metadata) or 'none'}, but got '{step.metadata}'."
            )
    return Plan(tuple(metadata.values()), steps)


def _named(text: str, layer: int | None) -> str:
    return text if layer is None else Template(text).safe_substitute({"layer": str(layer)})


def _step(op: dict[str, Any], layer: int | None) -> Step:
    """One of `weight_obf_ops`; outside of layers MindSpore takes their names for those of layer 0."""
    first, second = (_named(op[key], layer or 0) for key in ("input_x", "input_y"))
    if op["name"] == "mul":
        return Step("mul", second)
    if op["name"] == "permuate":
        return Step("permuate", first)
    drawn = [name.startswith("obf_metadata") for name in (first, second)]
    if drawn[0] == drawn[1]:
        raise ValueError(
            f"For 'obf_config', one of the inputs of 'matmul' must be metadata, whose name starts with 'obf_metadata', "
            f"and one the weight, but got '{first}' and '{second}'."
        )
    turn_first, turn_second = op.get("transpose_a", False), op.get("transpose_b", False)
    if drawn[0]:
        return Step("matmul", first, True, turn_first, turn_second)
    return Step("matmul", second, False, turn_second, turn_first)

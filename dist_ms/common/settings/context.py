"""The settings of a process: execution mode and device.

One table says for each key its default and which values it takes. `mode`,
`device_target`, `device_id` and `runtime_num_threads` are read by dist_ms. The other keys
steer MindSpore's graph compiler, its memory pools and other devices: their values are
checked and given back, and what they ask for is either always so here (execution is
synchronous and deterministic) or has no counterpart on a CPU without a compiler.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dist_ms.common.absent import did_you_mean
from dist_ms.common.checks import check_bool, check_string
from dist_ms.common.once import warn_once
from dist_ms.common.settings import new_processes
from dist_ms.common.settings.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_ps_context,
)

__all__ = [
    "COMPATIBLE",
    "DEBUG",
    "GRAPH_MODE",
    "LAX",
    "PYNATIVE_MODE",
    "RELEASE",
    "STRICT",
    "DeviceInfo",
    "ParallelMode",
    "get_auto_parallel_context",
    "get_context",
    "get_current_device",
    "get_ps_context",
    "listen",
    "reset_auto_parallel_context",
    "reset_ps_context",
    "set_auto_parallel_context",
    "set_context",
    "set_device",
    "set_ps_context",
]

GRAPH_MODE, PYNATIVE_MODE = 0, 1
STRICT, COMPATIBLE, LAX = 0, 1, 2
RELEASE, DEBUG = 0, 1

_MEMORY = re.compile(r"[1-9][0-9]*(\.[0-9]+)?GB|0\.[0-9]*GB")
_TARGETS = ("CPU", "GPU", "Ascend", "Davinci")


def _refuse(key: str, wanted: str, found: Any, remedy: str = "", error: type[Exception] = ValueError) -> None:
    raise error(f"For 'set_context', '{key}' must be {wanted}, but got {found!r}{remedy}.")


def _kind(*types: type) -> Callable[[str, Any], Any]:
    def check(key: str, value: Any) -> Any:
        if not isinstance(value, types):
            _refuse(key, " or ".join(t.__name__ for t in types), value, error=TypeError)
        return value

    return check


def _int(low: int, high: int | None = None) -> Callable[[str, Any], int]:
    def check(key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            _refuse(key, "an int", value, error=TypeError)
        if value < low or (high is not None and value > high):
            _refuse(key, f"in [{low}, {high}]" if high is not None else f"{low} or more", value)
        return value

    return check


def _choice(choices: Sequence[Any], keep: Callable[[Any], Any] = lambda v: v) -> Callable[[str, Any], Any]:
    def check(key: str, value: Any) -> Any:
        if not isinstance(value, type(choices[0])):
            _refuse(key, f"of the type {type(choices[0]).__name__}", value, error=TypeError)
        if value not in choices:
            _refuse(key, f"one of {', '.join(repr(c) for c in choices)}", value)
        return keep(value)

    return check


def _target(key: str, value: Any) -> str:
    if not isinstance(value, str):
        _refuse(key, "a str", value, error=TypeError)
    if value not in _TARGETS and not _any_target_is_cpu:
        _refuse(key, f"one of {', '.join(repr(t) for t in _TARGETS)}", value)
    if value != "CPU" and not _any_target_is_cpu:
        _refuse(
            key,
            "'CPU'",
            value,
            ": dist_ms runs on CPUs; take the setting out or say 'CPU' (python -m dist_ms.compat --cpu does so)",
            RuntimeError,
        )
    if value != "CPU":
        warn_once("any target is the CPU", "device_target=%r: this runs on the CPU.", value)
    return "CPU"


_any_target_is_cpu = False


def take_any_target_for_cpu() -> None:
    """Have other devices that a script asks for mean the CPU, for the rest of the process and in its workers."""
    global _any_target_is_cpu
    if not _any_target_is_cpu:
        new_processes.first.append(take_any_target_for_cpu)
    _any_target_is_cpu = True


def _gigabytes(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        _refuse(key, "a str", value, error=TypeError)
    if not _MEMORY.fullmatch(value):
        _refuse(key, "a size such as '3.5GB'", value)
    return float(value[:-2])


def _file(key: str, value: Any) -> str:
    if not isinstance(value, str):
        _refuse(key, "a str", value, error=TypeError)
    if not os.path.isfile(value):
        _refuse(key, "the path of a file that exists", value)
    return value


def _compiler(key: str, value: Any) -> dict:
    if not isinstance(value, dict):
        _refuse(key, "a dict", value, error=TypeError)
    if value.get("jit_level", "O0") not in ("O0", "O1", "O2"):
        _refuse("jit_config['jit_level']", "one of 'O0', 'O1', 'O2'", value["jit_level"])
    return dict(value)


def _save_graphs(key: str, value: Any) -> int:
    if not isinstance(value, int):
        _refuse(key, "a bool or an int", value, error=TypeError)
    if value is True:
        return 2
    if not 0 <= value <= 3:
        _refuse(key, "in [0, 3]", value)
    return int(value)


_bool, _str, _dict = _kind(bool), _kind(str), _kind(dict)
_settings: dict[str, tuple[Any, Callable[[str, Any], Any]]] = {
    "mode": (PYNATIVE_MODE, _choice((GRAPH_MODE, PYNATIVE_MODE), int)),
    "device_target": ("CPU", _target),
    "device_id": (0, _int(0, 4095)),
    "runtime_num_threads": (len(os.sched_getaffinity(0)), _int(0)),
    "aoe_config": ({}, _dict),
    "aoe_tune_mode": ("", _choice(("online", "offline"))),
    "ascend_config": ({}, _dict),
    "auto_tune_mode": ("", _str),
    "check_bprop": (False, _bool),
    "compile_cache_path": ("", _str),
    "debug_level": (RELEASE, _choice((RELEASE, DEBUG))),
    "deterministic": ("OFF", _choice(("ON", "OFF"))),
    "disable_format_transform": (False, _bool),
    "enable_auto_mixed_precision": (False, _bool),
    "enable_compile_cache": (None, _bool),
    "enable_graph_kernel": (False, _bool),
    "enable_profiling": (False, _bool),
    "enable_reduce_precision": (True, _bool),
    "enable_sparse": (False, _bool),
    "env_config_path": ("", _file),
    "exec_order": ("bfs", _choice(("bfs", "dfs"))),
    "gpu_config": ({}, _dict),
    "graph_kernel_flags": ("", _str),
    "inter_op_parallel_num": (0, _int(0)),
    "jit_config": ({}, _compiler),
    "jit_syntax_level": (LAX, _choice((STRICT, COMPATIBLE, LAX))),
    "max_call_depth": (1000, _int(1)),
    "max_device_memory": (1024.0, _gigabytes),
    "memory_optimize_level": (0, _choice(("O0", "O1"), lambda v: int(v[1]))),
    "mempool_block_size": (1.0, _gigabytes),
    "op_timeout": (900, _int(0)),
    "print_file_path": ("", _str),
    "profiling_options": ("training_trace", _str),
    "pynative_synchronize": (False, _bool),
    "reserve_class_name_in_scope": (True, _bool),
    "save_graphs": (0, _save_graphs),
    "save_graphs_path": (".", _str),
    "support_binary": (False, _bool),
    "variable_memory_max_size": ("0", _str),
}
_values: dict[str, Any] = {key: default for key, (default, _) in _settings.items()}
_listeners: dict[str, list[Callable[[Any], None]]] = {}


def set_context(**kwargs: Any) -> None:
    """Set the execution mode, the device and other settings.

    Args:
        mode: GRAPH_MODE (0) or PYNATIVE_MODE (1, the default).
        device_target: "CPU".
        device_id: 0 to 4095; remembered.
        runtime_num_threads: threads of the kernels of this process; 0: as many as cores.
        **kwargs: the other keys of MindSpore; the module's text says what becomes of them.

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: for an unknown key, or a value out of range. Nothing is set then.
        RuntimeError: for another `device_target` than "CPU".

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
        >>> ms.get_context("mode")
        1
    """
    checked = {}
    for key, value in kwargs.items():
        if key not in _settings:
            raise ValueError(
                f"For 'set_context', the keyword argument '{key}' is not recognized: "
                f"it must be one of {', '.join(sorted(_settings))}.{did_you_mean(key, _settings)}"
            )
        checked[key] = _settings[key][1](key, value)
    for key, value in checked.items():
        _values[key] = value
        for listener in _listeners.get(key, ()):
            listener(value)


def get_context(attr_key: str) -> Any:
    """Return a setting.

    Raises:
        TypeError: if `attr_key` is no str.
        ValueError: if there is no such setting.

    Examples:
        >>> import dist_ms as ms
        >>> ms.get_context("device_target")
        'CPU'
    """
    check_string(attr_key, "attr_key", "get_context")
    try:
        value = _values[attr_key]
    except KeyError:
        raise ValueError(
            f"For 'get_context', the argument '{attr_key}' is not recognized: "
            f"it must be one of {', '.join(sorted(_settings))}."
        ) from None
    return dict(value) if isinstance(value, dict) else value


def listen(key: str, listener: Callable[[Any], None]) -> None:
    """Call `listener` with the new value whenever a setting is set. Inside the package only."""
    _listeners.setdefault(key, []).append(listener)


class DeviceInfo(NamedTuple):
    """A device.

    Attributes:
        device_target: "CPU".
        device_id: its number.
    """

    device_target: str
    device_id: int

    def __repr__(self) -> str:
        return repr(tuple(self))


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Set the device.

    Args:
        device_target: "CPU".
        device_id: 0 or more; by default 0.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: for an unknown device or a negative number.
        RuntimeError: for another device than the CPU.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_device("CPU")
        >>> ms.get_current_device()
        ('CPU', 0)
    """
    set_context(device_target=device_target, device_id=0 if device_id is None else device_id)


def get_current_device() -> DeviceInfo:
    """Return the device."""
    return DeviceInfo(_values["device_target"], _values["device_id"])


def set_deterministic(deterministic: bool) -> None:
    """Ask for results that are the same from run to run.

    dist_ms's kernels give them either way: they add in a fixed order, whatever the number of threads. oneDNN does so
    at a fixed number of threads: with this that number stays also while other processes keep the cores busy, when
    some threads are given back otherwise. The setting can be read with `get_context("deterministic")`.

    Args:
        deterministic: the wish.

    Raises:
        TypeError: if it is no bool.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_deterministic(True)
        >>> ms.get_context("deterministic")
        'ON'
        >>> ms.set_deterministic(False)
    """
    check_bool(deterministic, "deterministic", "set_deterministic")
    set_context(deterministic="ON" if deterministic else "OFF")

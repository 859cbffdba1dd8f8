"""Binding the process's threads to cores."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from dist_ms._ext import threads
from dist_ms.common.checks import check_bool
from dist_ms.common.settings.environment import value_of

_OWNER = "set_cpu_affinity"
_RANGE = re.compile(r"\d+(-\d+)?")
# Operations, gradients and their OpenMP threads are one crowd here; the pipeline's threads are another.
_MODULES = ("main", "runtime", "pynative", "minddata")
_done = False


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: list | None = None,
    module_to_cpu_dict: dict | None = None,
    bind_file: str | None = None,
) -> None:
    """Bind the threads of this process to cores; once in a process.

    Kernels then run as many threads as there are cores to run on.

    Args:
        enable_affinity: False leaves everything as it is.
        affinity_cpu_list: ranges such as ["0-3", "8-11"]; None or empty: the cores the process
            may use now.
        module_to_cpu_dict: cores per module, {"main": [0, 1], ...}, out of the ranges. "main",
            "runtime" and "pynative" are the same threads here and get the cores of all three;
            cores of "minddata", whose threads start later and inherit those, are added to them.
        bind_file: a JSON file, {"bind_cpu": {"device0": {"main": "0-4"}}}, used in place of both;
            the device is this process's number on its node.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a range, a core, a module or the file is malformed.
        RuntimeError: if it was called before, or this process may not use a core that is asked for.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.set_cpu_affinity(False)
    """
    global _done
    if _done:
        raise RuntimeError("The 'mindspore.runtime.set_cpu_affinity' cannot be set repeatedly.")
    check_bool(enable_affinity, "enable_affinity", _OWNER)
    available = os.sched_getaffinity(0)
    if enable_affinity and bind_file is not None:
        module_to_cpu_dict = _from_file(bind_file)
        affinity_cpu_list = None
    allowed = _cores_of_ranges(affinity_cpu_list) or available
    wanted = _cores_of_modules(module_to_cpu_dict) or allowed
    if enable_affinity:
        missing = sorted(wanted - (available & allowed))
        if missing:
            raise RuntimeError(
                f"For '{_OWNER}', every core must be one of {sorted(available & allowed)}, which this process may "
                f"use and 'affinity_cpu_list' allows, but got {missing}."
            )
        _bind(wanted)
    _done = True


def _bind(cores: set[int]) -> None:
    """Bind all threads that the process has; those of the kernels start with as many as cores."""
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cores)
        except ProcessLookupError:  # it has ended meanwhile
            continue
    threads.set_num_threads(min(threads.get_num_threads(), len(cores)))


def _refuse(name: str, wanted: str, found: Any, error: type[Exception] = ValueError) -> None:
    raise error(f"For '{_OWNER}', '{name}' must be {wanted}, but got {found!r}.")


def _expand(text: str, name: str) -> set[int]:
    """The numbers of "0-3" or of "5"."""
    if not _RANGE.fullmatch(text):
        _refuse(name, "a range such as '0-3'", text)
    low, _, high = text.partition("-")
    cores = set(range(int(low), int(high or low) + 1))
    if not cores:
        _refuse(name, "a range that rises", text)
    return cores


def _cores_of_ranges(ranges: Any) -> set[int]:
    """The cores of ["0-3", "8-11"]."""
    if ranges is None:
        return set()
    if not isinstance(ranges, list):
        _refuse("affinity_cpu_list", "a list of ranges", ranges, TypeError)
    cores: set[int] = set()
    for text in ranges:
        if not isinstance(text, str):
            _refuse("affinity_cpu_list", "a list of ranges such as '0-3'", text, TypeError)
        cores |= _expand(text, "affinity_cpu_list")
    return cores


def _cores_of_modules(modules: Any) -> set[int]:
    """The cores of {"main": [0, 1], ...}."""
    if modules is None:
        return set()
    if not isinstance(modules, dict):
        _refuse("module_to_cpu_dict", "a dict", modules, TypeError)
    cores: set[int] = set()
    for module, given in modules.items():
        if not isinstance(module, str) or not isinstance(given, list):
            _refuse("module_to_cpu_dict", "a dict of lists by name", {module: given}, TypeError)
        if module not in _MODULES:
            _refuse("module_to_cpu_dict", f"a dict by {', '.join(_MODULES)}", module)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in given):
            _refuse("module_to_cpu_dict", "a dict of lists of cores, 0 or more", given)
        cores.update(given)
    return cores


def _from_file(path: str) -> dict[str, list[int]] | None:
    """This process's part of a file of bindings, None if it has none."""
    if not isinstance(path, str):
        _refuse("bind_file", "a path", path, TypeError)
    try:
        with open(path, encoding="utf-8") as file:
            devices = json.load(file)["bind_cpu"]
        mine = devices.get(f"device{_local_rank()}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"For '{_OWNER}', 'bind_file' must be a JSON file with an object 'bind_cpu' of devices, "
            f"but got '{path}' ({type(error).__name__}: {error})."
        ) from error
    if mine is None:
        return None
    return {
        module: sorted(set().union(*(_expand(part.strip(), "bind_file") for part in str(ranges).split(","))))
        for module, ranges in mine.items()
    }


def _local_rank() -> int:
    """This process's number on its node, as launchers tell it."""
    for name in ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "LOCAL_RANK"):
        if value_of(name).isdigit():
            return int(value_of(name))
    return 0

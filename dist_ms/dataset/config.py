"""Settings of data pipelines: the seed of shuffles, workers and how far they run ahead, and what bad rows do."""

from __future__ import annotations

import json
import os
import random
from enum import IntEnum
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_positive_int, complaint
from dist_ms.common.random import seed as global_seed

__all__ = [
    "ErrorSamplesMode",
    "get_auto_num_workers",
    "get_auto_offload",
    "get_autotune_interval",
    "get_callback_timeout",
    "get_debug_mode",
    "get_enable_autotune",
    "get_enable_shared_mem",
    "get_enable_watchdog",
    "get_error_samples_mode",
    "get_fast_recovery",
    "get_iterator_mode",
    "get_monitor_sampling_interval",
    "get_multiprocessing_start_method",
    "get_multiprocessing_timeout_interval",
    "get_num_parallel_workers",
    "get_numa_enable",
    "get_prefetch_size",
    "get_seed",
    "load",
    "set_auto_num_workers",
    "set_auto_offload",
    "set_autotune_interval",
    "set_callback_timeout",
    "set_debug_mode",
    "set_enable_autotune",
    "set_enable_shared_mem",
    "set_enable_watchdog",
    "set_error_samples_mode",
    "set_fast_recovery",
    "set_iterator_mode",
    "set_monitor_sampling_interval",
    "set_multiprocessing_start_method",
    "set_multiprocessing_timeout_interval",
    "set_num_parallel_workers",
    "set_numa_enable",
    "set_prefetch_size",
    "set_seed",
    "set_sending_batches",
    "shuffle_seed",
]


class ErrorSamplesMode(IntEnum):
    """What a row does whose functions raise an error.

    RETURN raises it, REPLACE gives another row in its place, SKIP leaves the row out.

    Examples:
        >>> from dist_ms.dataset import config
        >>> config.ErrorSamplesMode.SKIP.value
        2
    """

    RETURN = 0
    REPLACE = 1
    SKIP = 2


_settings: dict[str, Any] = {
    "seed": None,
    "num_parallel_workers": None,
    "prefetch_size": 16,
    "callback_timeout": 60,
    "multiprocessing_timeout_interval": 300,
    "enable_watchdog": True,
    "error_samples_mode": ErrorSamplesMode.RETURN,
    "debug_mode": False,
    "iterator_mode": {"do_copy": False, "parallel_convert": False},
    # Without effect: nothing here samples, tunes or places workers on nodes of memory.
    "monitor_sampling_interval": 1000,
    "numa_enable": False,
    "auto_num_workers": False,
    "enable_shared_mem": True,
    "enable_autotune": False,
    "autotune_interval": 0,
    "fast_recovery": True,
    "multiprocessing_start_method": "spawn",
    "sending_batches": 0,
}


def set_seed(seed: int) -> None:
    """Set the seed of shuffles (0 to 2**32 - 1), the same on every rank, and of NumPy and Python's `random`."""
    check_int_range(seed, "seed", "set_seed", 0, 2**32 - 1)
    random.seed(seed)
    np.random.seed(seed)
    _settings["seed"] = seed


def get_seed() -> int:
    """The seed of shuffles: this module's, else the global one, else MindSpore's default 5489."""
    if _settings["seed"] is not None:
        return _settings["seed"]
    general = global_seed.get_seed()
    return 5489 if general is None else general


shuffle_seed = get_seed


def set_num_parallel_workers(num: int) -> None:
    """Set how many workers load rows where a stage does not say."""
    _settings["num_parallel_workers"] = check_positive_int(num, "num", "set_num_parallel_workers")


def get_num_parallel_workers() -> int:
    """How many workers load rows where a stage does not say: this process's cores, at most 8, by default."""
    chosen = _settings["num_parallel_workers"]
    return min(len(os.sched_getaffinity(0)), 8) if chosen is None else chosen


def set_prefetch_size(size: int) -> None:
    """Set how many rows or batches workers prepare ahead at most."""
    _settings["prefetch_size"] = check_positive_int(size, "size", "set_prefetch_size")


def get_prefetch_size() -> int:
    """How many rows or batches workers prepare ahead at most."""
    return _settings["prefetch_size"]


def set_callback_timeout(timeout: int) -> None:
    """Set how many seconds a pipeline waits for `sync_update` and for the training of a WaitedDSCallback."""
    _settings["callback_timeout"] = check_positive_int(timeout, "timeout", "set_callback_timeout")


def get_callback_timeout() -> int:
    """How many seconds a pipeline waits for `sync_update` and for the training of a WaitedDSCallback."""
    return _settings["callback_timeout"]


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Set after how many seconds without a row a worker process counts as hung, if the watchdog is on."""
    check_positive_int(interval, "interval", "set_multiprocessing_timeout_interval")
    _settings["multiprocessing_timeout_interval"] = interval


def get_multiprocessing_timeout_interval() -> int:
    """After how many seconds without a row a worker process counts as hung."""
    return _settings["multiprocessing_timeout_interval"]


def set_enable_watchdog(enable: bool) -> None:
    """Set whether a worker process that gives no row for too long ends the iteration with an error."""
    _settings["enable_watchdog"] = check_bool(enable, "enable", "set_enable_watchdog")


def get_enable_watchdog() -> bool:
    """Whether a worker process that gives no row for too long ends the iteration with an error."""
    return _settings["enable_watchdog"]


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Set what a row does whose functions raise an error.

    Args:
        error_samples_mode: raise it, replace the row by another, or leave it out.

    Raises:
        TypeError: if it is no ErrorSamplesMode.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
        >>> data = ds.NumpySlicesDataset([1, 0, 2], shuffle=False).map(lambda x: 2 // int(x))
        >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [2, 1]
        >>> ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        found = type(error_samples_mode).__name__
        raise TypeError(complaint("error_samples_mode", "set_error_samples_mode", "an ErrorSamplesMode", found))
    _settings["error_samples_mode"] = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """What a row does whose functions raise an error."""
    return _settings["error_samples_mode"]


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: list | None = None) -> None:
    """Set whether rows are loaded by the caller alone, one after another, so that a debugger sees all.

    Args:
        debug_mode_flag: whether they are.
        debug_hook_list: functions called with what each operation of `map` returns.

    Raises:
        TypeError: if the flag is no bool, or the hooks are no list of functions.
    """
    check_bool(debug_mode_flag, "debug_mode_flag", "set_debug_mode")
    hooks = [] if debug_hook_list is None else debug_hook_list
    if not isinstance(hooks, list) or not all(callable(h) or hasattr(h, "compute") for h in hooks):
        raise TypeError(complaint("debug_hook_list", "set_debug_mode", "a list of functions", repr(hooks)))
    _settings["debug_mode"], _settings["debug_hooks"] = debug_mode_flag, hooks if debug_mode_flag else []


def get_debug_mode() -> bool:
    """Whether rows are loaded by the caller alone."""
    return _settings["debug_mode"]


def debug_hooks() -> list:
    """What is called with the results of `map`'s operations in debug mode."""
    return _settings.get("debug_hooks", [])


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Set what iterators do where their arguments do not say.

    Args:
        do_copy: give copies that nothing else holds.
        parallel_convert: accepted; making Tensors of arrays copies nothing here.
    """
    check_bool(do_copy, "do_copy", "set_iterator_mode")
    check_bool(parallel_convert, "parallel_convert", "set_iterator_mode")
    _settings["iterator_mode"] = {"do_copy": do_copy, "parallel_convert": parallel_convert}


def get_iterator_mode() -> dict[str, bool]:
    """What iterators do where their arguments do not say."""
    return dict(_settings["iterator_mode"])


def set_auto_offload(offload: bool) -> None:
    """Refuse to run operations on another device; there is none.

    Raises:
        TypeError: if it is no bool.
        ValueError: if it is True.
    """
    if check_bool(offload, "offload", "set_auto_offload"):
        raise ValueError(complaint("offload", "set_auto_offload", "False: no other device is there", True))


def get_auto_offload() -> bool:
    """False: operations run on this CPU."""
    return False


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """Say how worker processes start: anew ("spawn") either way, as a process with MPI may not be forked.

    Args:
        start_method: "fork" or "spawn".
    """
    if start_method not in ("fork", "spawn"):
        wanted = "'fork' or 'spawn'"
        raise ValueError(complaint("start_method", "set_multiprocessing_start_method", wanted, repr(start_method)))


def get_multiprocessing_start_method() -> str:
    """How worker processes start: "spawn"."""
    return _settings["multiprocessing_start_method"]


def set_monitor_sampling_interval(interval: int) -> None:
    """Accepted: no pipeline is sampled here."""
    _settings["monitor_sampling_interval"] = check_positive_int(interval, "interval", "set_monitor_sampling_interval")


def get_monitor_sampling_interval() -> int:
    """The milliseconds that `set_monitor_sampling_interval` was given; 1000 by default."""
    return _settings["monitor_sampling_interval"]


def set_numa_enable(numa_enable: bool) -> None:
    """Accepted: workers run on the cores that the launcher gave their rank."""
    _settings["numa_enable"] = check_bool(numa_enable, "numa_enable", "set_numa_enable")


def get_numa_enable() -> bool:
    """What `set_numa_enable` was given."""
    return _settings["numa_enable"]


def set_auto_num_workers(enable: bool) -> None:
    """Accepted: the number of workers follows this process's cores unless it is set."""
    _settings["auto_num_workers"] = check_bool(enable, "enable", "set_auto_num_workers")


def get_auto_num_workers() -> bool:
    """What `set_auto_num_workers` was given."""
    return _settings["auto_num_workers"]


def set_enable_shared_mem(enable: bool) -> None:
    """Accepted: worker processes always hand over rows in shared memory."""
    _settings["enable_shared_mem"] = check_bool(enable, "enable", "set_enable_shared_mem")


def get_enable_shared_mem() -> bool:
    """What `set_enable_shared_mem` was given."""
    return _settings["enable_shared_mem"]


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Refuse to tune pipelines while they run.

    Args:
        enable: must be False.
        filepath_prefix: where the settings found would be written.

    Raises:
        TypeError: if `enable` is no bool.
        ValueError: if it is True.
    """
    if check_bool(enable, "enable", "set_enable_autotune"):
        wanted = "False: set the number of workers with set_num_parallel_workers"
        raise ValueError(complaint("enable", "set_enable_autotune", wanted, True))


def get_enable_autotune() -> bool:
    """False: pipelines are not tuned while they run."""
    return False


def set_autotune_interval(interval: int) -> None:
    """Accepted: pipelines are not tuned while they run."""
    check_int_range(interval, "interval", "set_autotune_interval", 0, 2**31 - 1)
    _settings["autotune_interval"] = interval


def get_autotune_interval() -> int:
    """What `set_autotune_interval` was given; 0 by default."""
    return _settings["autotune_interval"]


def set_fast_recovery(fast_recovery: bool) -> None:
    """Accepted: a pipeline always goes on at a step without making the rows before it."""
    _settings["fast_recovery"] = check_bool(fast_recovery, "fast_recovery", "set_fast_recovery")


def get_fast_recovery() -> bool:
    """What `set_fast_recovery` was given."""
    return _settings["fast_recovery"]


def set_sending_batches(batch_num: int) -> None:
    """Accepted: batches are taken by the training, none are sent to a device."""
    _settings["sending_batches"] = check_int_range(batch_num, "batch_num", "set_sending_batches", 0, 2**31 - 1)


def load(file: str) -> None:
    """Read settings from a JSON file, as MindSpore writes them.

    Args:
        file: its name; keys are `seed`, `numParallelWorkers`, `prefetchSize` and the like in either spelling.

    Raises:
        RuntimeError: if it cannot be read.
    """
    try:
        with open(file, encoding="utf-8") as text:
            found = json.load(text)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"For 'load', 'file' must be a JSON file of settings, but got {file!r}: {error}.") from error
    names = {name.removeprefix("set_").replace("_", "").lower(): name for name in __all__ if name.startswith("set_")}
    for key, value in found.items():
        setter = names.get(key.replace("_", "").lower())
        if setter is not None and value is not None:
            globals()[setter](value)


def snapshot() -> dict:
    """All settings, with the seed that holds now: what worker processes shall have, too."""
    return _settings | {"seed": get_seed()}


def restore(settings: dict) -> None:
    """Take the settings of another process."""
    _settings.update(settings)

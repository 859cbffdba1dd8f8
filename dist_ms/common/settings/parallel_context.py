"""The parallel settings of a process: how several ranks train together.

One table says for each key its default and which values it takes. Values that MindSpore takes
for other machines or other ways to parallelise are refused by name, not ignored. The settings
are read once, when a train step is built.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

from dist_ms.common.absent import did_you_mean
from dist_ms.common.settings.ps_context import get_ps_context, reset_ps_context, set_ps_context
from dist_ms.common.settings.value_checks import Check, ValueChecks

__all__ = [
    "ParallelMode",
    "get_auto_parallel_context",
    "get_ps_context",
    "is_set",
    "reset_auto_parallel_context",
    "reset_ps_context",
    "set_auto_parallel_context",
    "set_ps_context",
]

_SET = "For 'set_auto_parallel_context', "
_checks = ValueChecks("set_auto_parallel_context")
_bool, _str, _dict = _checks.of_type(bool), _checks.of_type(str), _checks.of_type(dict)
_int, _one_of = _checks.ints, _checks.one_of


class ParallelMode:
    """Names of the parallel modes.

    Attributes:
        STAND_ALONE: ranks know nothing of each other (default).
        DATA_PARALLEL: ranks hold the same weights and each trains on its part of the data.
        HYBRID_PARALLEL: the same, with `layerwise_parallel` parameters of the user's own making.
        SEMI_AUTO_PARALLEL: remembered; training in it is refused.
        AUTO_PARALLEL: remembered; training in it is refused.
        MODE_LIST: all of them.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ParallelMode.DATA_PARALLEL
        'data_parallel'
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST: ClassVar = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


@dataclass(frozen=True)
class _Key:
    """A setting: its default, what checks a value, and the one value dist_ms can follow."""

    default: Any
    check: Check
    refused: str = ""  # why another value than the default is refused; empty: none is


def _split_indices(key: str, value: Any) -> None:
    """Check a list of gradient indices that end fused groups."""
    if not isinstance(value, list):
        raise TypeError(f"{_SET}'{key}' must be a list, but got {value!r}.")
    if not value:
        raise ValueError(f"{_SET}'{key}' must have at least one index, but got [].")
    for index in value:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"{_SET}'{key}' must hold ints, but got {index!r}.")
        if index < 0:
            raise TypeError(f"{_SET}'{key}' must hold indices from 0 on, but got {index}.")
    if len(set(value)) != len(value):
        raise ValueError(f"{_SET}'{key}' must have each index once, but got {value}.")
    if sorted(value) != value:
        raise ValueError(f"{_SET}'{key}' must be in ascending order, but got {value}.")


def _comm_fusion(key: str, value: Any) -> None:
    """Check how each kind of collective is fused."""
    _dict(key, value)
    for kind, config in value.items():
        if kind == "openstate":
            _bool(f"{key}['openstate']", config)
            continue
        if kind not in ("allreduce", "allgather", "reducescatter"):
            raise KeyError(
                f"{_SET}the keys of '{key}' must be openstate, allreduce, allgather or reducescatter, but got {kind!r}."
            )
        _dict(f"{key}['{kind}']", config)
        for field in ("mode", "config"):
            if field not in config:
                raise KeyError(f"{_SET}'{key}['{kind}']' must have '{field}', but got {config}.")
        modes = ("auto", "size", "index") if kind == "allreduce" else ("auto", "size")
        if config["mode"] not in modes:
            raise KeyError(
                f"{_SET}the mode of '{key}['{kind}']' must be one of {', '.join(modes)}, but got {config['mode']!r}."
            )
        if config["mode"] == "size":
            _int(0)(f"{key}['{kind}']['config']", config["config"])
        elif config["mode"] == "index":
            if config["config"] is None:
                raise ValueError(f"{_SET}'{key}['{kind}']' needs the indices as its config.")
            _split_indices(f"{key}['{kind}']['config']", config["config"])


def _dataset_strategy(key: str, value: Any) -> None:
    if not isinstance(value, (str, tuple)):
        raise TypeError(f"{_SET}'{key}' must be a str or a tuple, but got {value!r}.")
    if isinstance(value, str):
        _one_of("full_batch", "data_parallel")(key, value)
    elif value:
        raise ValueError(f"{_SET}'{key}' must be 'data_parallel' or 'full_batch', but got {value!r}: {_AUTO}")


def _fields(key: str, value: Any, checks: dict[str, Check]) -> None:
    """Check a dict, key by key."""
    _dict(key, value)
    for field, item in value.items():
        if field not in checks:
            wanted = ", ".join(checks)
            raise ValueError(f"{_SET}the keys of '{key}' must be {wanted}, but got {field!r}.")
        checks[field](f"{key}['{field}']", item)


def _parallel_optimizer_config(key: str, value: Any) -> None:
    checks = {
        "gradient_accumulation_shard": _bool,
        "parallel_optimizer_threshold": _int(0),
        "optimizer_weight_shard_size": _int(1),
        "optimizer_level": _one_of("level1", "level2", "level3"),
    }
    _fields(key, value, checks)
    if value.get("gradient_accumulation_shard"):
        raise ValueError(f"{_SET}'{key}['gradient_accumulation_shard']' must be False, but got True: {_SHARDED}")
    if value.get("optimizer_level", "level1") == "level3":
        raise ValueError(f"{_SET}'{key}['optimizer_level']' must not be 'level3': every rank keeps whole weights.")


def _strategy_ckpt_config(key: str, value: Any) -> None:
    checks = {"load_file": _str, "save_file": _str, "only_trainable_params": _bool}
    _fields(key, value, checks)
    if any(value.get(name) for name in ("load_file", "save_file")):
        raise ValueError(f"{_SET}'{key}' must name no file, but got {value}: {_AUTO}")


_AUTO = "operator-level (auto) parallelism is not part of dist_ms, which trains data-parallel."
_PIPELINE = "pipeline parallelism is not part of dist_ms, which trains data-parallel."
_SHARDED = "the parallel optimizer divides its update among all ranks."
_NORMS = "writing local norms to files is not part of dist_ms."
_search = _one_of("recursive_programming", "dynamic_programming", "sharding_propagation")
_auto = {"mode": "auto", "config": None}
_FUSION = {"openstate": True, "allreduce": _auto, "allgather": _auto, "reducescatter": _auto}
_STRATEGY = {"load_file": "", "save_file": "", "only_trainable_params": True}

_KEYS: dict[str, _Key] = {
    # what data-parallel training follows
    "parallel_mode": _Key(ParallelMode.STAND_ALONE, _one_of(*ParallelMode.MODE_LIST)),
    "device_num": _Key(1, _int(1)),
    "global_rank": _Key(0, _int(0, 4095)),
    "gradients_mean": _Key(False, _bool),
    "parameter_broadcast": _Key(False, _bool),
    "all_reduce_fusion_config": _Key([], _split_indices),
    "comm_fusion": _Key(_FUSION, _comm_fusion),
    "full_batch": _Key(False, _bool),
    "dataset_strategy": _Key("data_parallel", _dataset_strategy),
    # true or false makes no difference to data-parallel training, by MindSpore's definition
    "gradient_fp32_sync": _Key(True, _bool),
    "force_fp32_communication": _Key(False, _bool),
    "loss_repeated_mean": _Key(True, _bool),
    "enable_parallel_optimizer": _Key(False, _bool),
    "parallel_optimizer_config": _Key({}, _parallel_optimizer_config),
    # what only the default is possible for
    "optimizer_weight_shard_size": _Key(-1, _int(-(2**31)), _SHARDED),
    "optimizer_weight_shard_aggregated_save": _Key(False, _bool, _SHARDED),
    "communi_parallel_mode": _Key(
        "all_group_parallel",
        _one_of("all_group_parallel", "same_server_group_parallel", "no_group_parallel"),
        _AUTO,
    ),
    "enable_alltoall": _Key(False, _bool, _AUTO),
    "search_mode": _Key("recursive_programming", _search, _AUTO),
    "auto_parallel_search_mode": _Key("recursive_programming", _search, _AUTO),
    "sharding_propagation": _Key(False, _bool, _AUTO),
    "auto_parallel_new_interface": _Key(False, _bool, _AUTO),
    "init_param_in_compile": _Key(True, _bool, _AUTO),
    "strategy_ckpt_load_file": _Key("", _str, _AUTO),
    "strategy_ckpt_save_file": _Key("", _str, _AUTO),
    "strategy_ckpt_config": _Key(_STRATEGY, _strategy_ckpt_config),
    "group_ckpt_save_file": _Key("", _str, _AUTO),
    "grad_accumulation_step": _Key(1, _int(1), "use nn.GradAccumulationCell instead."),
    "pipeline_stages": _Key(1, _int(1), _PIPELINE),
    "pipeline_segments": _Key(1, _int(1), _PIPELINE),
    "pipeline_config": _Key({}, _dict, _PIPELINE),
    "pipeline_result_broadcast": _Key(False, _bool, _PIPELINE),
    "auto_pipeline": _Key(False, _bool, _PIPELINE),
    "dump_local_norm": _Key(False, _bool, _NORMS),
    "dump_local_norm_path": _Key("", _str, _NORMS),
    "dump_device_local_norm": _Key(False, _bool, _NORMS),
}
_ONLY_SET = {
    "group_ckpt_save_file",
    "parallel_optimizer_config",
    "pipeline_config",
    "pipeline_segments",
}
_ONLY_GET = {"pipeline_interleave": False, "pipeline_scheduler": "1f1b"}

_values: dict[str, Any] = {}


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Set how ranks train together; a train step reads it when it is built.

    Nothing is set when any key or value is wrong.

    Args:
        parallel_mode (str): "stand_alone" (default), "data_parallel" or "hybrid_parallel";
            "semi_auto_parallel" and "auto_parallel" are remembered, but training in them is
            refused.
        gradients_mean (bool): divide the sum of the ranks' gradients by their number. Default
            False.
        parameter_broadcast (bool): start training with rank 0's parameters on every rank. Unset,
            this is done under more than one rank.
        device_num (int): the number to divide by, from 1 on; unset, the number of ranks.
        global_rank (int): this process's rank, 0 to 4095.
        all_reduce_fusion_config (list[int]): indices of gradients, ascending; each is the last
            of a group whose gradients are reduced together.
        comm_fusion (dict): {"allreduce": {"mode": "auto" | "size" | "index", "config": None |
            MB | indices}}; "openstate": False reduces each gradient alone.
        enable_parallel_optimizer (bool): every rank keeps the optimizer's states of its slice of the
            weights and updates that alone; element-wise optimizers only. Default False.
        parallel_optimizer_config (dict): {"parallel_optimizer_threshold": KB}: smaller parameters stay
            whole. Default 64.
        full_batch (bool): every rank gets the same batches. Default False.
        dataset_strategy (str): "data_parallel" (default) or "full_batch".
        **kwargs: MindSpore's other keys are accepted with their default values.

    Raises:
        TypeError: if a value is of the wrong type.
        ValueError: if a key is unknown, or a value out of range or not possible in dist_ms.
        KeyError: if `comm_fusion` has a wrong key or mode.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        >>> ms.get_auto_parallel_context("gradients_mean")
        True
        >>> ms.reset_auto_parallel_context()
    """
    new: dict[str, Any] = {}
    for key, value in kwargs.items():
        if key not in _KEYS:
            raise ValueError(f"Set context keyword {key} is not recognized!{did_you_mean(key, _KEYS)}")
        setting = _KEYS[key]
        setting.check(key, value)
        if setting.refused and value != setting.default:
            raise ValueError(f"{_SET}'{key}' must be {setting.default!r}, but got {value!r}: {setting.refused}")
        new |= _consequences(key, copy.deepcopy(value))
    _values.update(new)


def _consequences(key: str, value: Any) -> dict[str, Any]:
    """Return the settings that follow from one."""
    if key == "comm_fusion":
        merged = {**get_auto_parallel_context(key), **value}
        reduce = merged["allreduce"]
        index = {"all_reduce_fusion_config": reduce["config"]} if reduce["mode"] == "index" else {}
        return {key: merged, **index}
    if key == "full_batch":
        return {key: value, "dataset_strategy": "full_batch" if value else "data_parallel"}
    if key == "dataset_strategy":
        return {key: value, "full_batch": value == "full_batch"}
    return {key: value}


def get_auto_parallel_context(attr_key: str) -> Any:
    """Return a parallel setting.

    Args:
        attr_key: the key, as in `set_auto_parallel_context`.

    Raises:
        ValueError: if the key is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> ms.get_auto_parallel_context("parallel_mode")
        'stand_alone'
    """
    if attr_key in _ONLY_GET:
        return _ONLY_GET[attr_key]
    if attr_key == "full_batch_is_set":
        return is_set("full_batch")
    if attr_key not in _KEYS or attr_key in _ONLY_SET:
        raise ValueError(f"Get context keyword {attr_key} is not recognized!{did_you_mean(attr_key, _KEYS)}")
    return copy.deepcopy(_values.get(attr_key, _KEYS[attr_key].default))


def parallel_optimizer_threshold() -> int:
    """Return the bytes below which the parallel optimizer leaves a parameter whole; 64 KB by default."""
    return _values.get("parallel_optimizer_config", {}).get("parallel_optimizer_threshold", 64) << 10


def reset_auto_parallel_context() -> None:
    """Set every parallel setting back to its default.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_auto_parallel_context(device_num=4)
        >>> ms.reset_auto_parallel_context()
        >>> ms.get_auto_parallel_context("device_num")
        1
    """
    _values.clear()


def is_set(key: str) -> bool:
    """Return whether the user gave this setting a value."""
    return key in _values

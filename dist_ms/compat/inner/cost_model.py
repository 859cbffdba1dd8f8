"""`mindspore.parallel._cost_model_context`: figures for MindSpore's search for a parallel strategy, checked and kept.

There is no such search here to read them.
"""

from __future__ import annotations

from typing import Any

from dist_ms.common.absent import did_you_mean
from dist_ms.common.checks import complaint

__all__ = ["get_cost_model_context", "reset_cost_model_context", "set_cost_model_context"]

_DEFAULTS: dict[str, Any] = {
    "device_memory_capacity": 16.0 * 2**30,
    "costmodel_alpha": 1.0,
    "costmodel_beta": 400.0,
    "costmodel_gamma": 0.001,
    "costmodel_communi_threshold": 2048.0,
    "costmodel_communi_const": 3072.0,
    "costmodel_communi_bias": 1024.0,
    "run_phase": 0,
    "costmodel_allreduce_fusion_algorithm": 0,
    "costmodel_allreduce_fusion_times": 0,
    "costmodel_allreduce_fusion_tail_percent": 0.1,
    "costmodel_allreduce_fusion_tail_time": 0.1,
    "costmodel_allreduce_fusion_allreduce_inherent_time": 0.1,
    "costmodel_allreduce_fusion_allreduce_bandwidth": 0.1,
    "costmodel_allreduce_fusion_computation_time_parameter": 0.1,
}
_INNER: dict[str, Any] = {"multi_subgraphs": False, "algo_single_loop": False, "rp_matmul_mem_coef": 0.1}
_values = {**_DEFAULTS, **_INNER}


def _known(key: str, owner: str) -> None:
    if key not in _DEFAULTS:
        raise ValueError(f"For '{owner}', the key {key!r} is not known.{did_you_mean(key, _DEFAULTS)}")


def _set(key: str, value: Any, owner: str) -> None:
    kind = type(_values[key])
    if type(value) is not kind:
        raise TypeError(complaint(key, owner, f"of type {kind.__name__}", type(value).__name__))
    _values[key] = value


def set_cost_model_context(**kwargs: Any) -> None:
    """Set figures of MindSpore's cost model, so that its scripts run; training does not read them.

    Args:
        kwargs: names of figures and their values.

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: if a name is unknown.

    Examples:
        >>> from dist_ms.compat.inner import cost_model
        >>> cost_model.set_cost_model_context(costmodel_alpha=2.0)
        >>> cost_model.get_cost_model_context("costmodel_alpha")
        2.0
        >>> cost_model.reset_cost_model_context()
    """
    for key in kwargs:
        _known(key, "set_cost_model_context")
    for key, value in kwargs.items():
        _set(key, value, "set_cost_model_context")


def get_cost_model_context(attr_key: str) -> Any:
    """Return what `set_cost_model_context` set, or the default.

    Raises:
        ValueError: if the name is unknown.
    """
    _known(attr_key, "get_cost_model_context")
    return _values[attr_key]


def reset_cost_model_context() -> None:
    """Set every figure back to its default."""
    _values.update(_DEFAULTS)


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """Keep whether a network is several graphs for the search."""
    _set("multi_subgraphs", multi_subgraph, "_set_multi_subgraphs")


def _get_multi_subgraphs() -> bool:
    """Whether a network is several graphs for the search."""
    return _values["multi_subgraphs"]


def _set_algo_single_loop(single_loop: bool = True) -> None:
    """Keep whether the search goes over one loop."""
    _set("algo_single_loop", single_loop, "_set_algo_single_loop")


def _get_algo_single_loop() -> bool:
    """Whether the search goes over one loop."""
    return _values["algo_single_loop"]


def _set_rp_matmul_mem_coef(coef: float) -> None:
    """Keep the weight of memory in the search's products."""
    _set("rp_matmul_mem_coef", coef, "_set_rp_matmul_mem_coef")


def _get_rp_matmul_mem_coef() -> float:
    """The weight of memory in the search's products."""
    return _values["rp_matmul_mem_coef"]

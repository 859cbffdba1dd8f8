"""`mindspore.parallel._auto_parallel_context` and `_utils`: the parallel settings as scripts reach for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.settings.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    is_set,
    reset_auto_parallel_context,
    set_auto_parallel_context,
)

_set_auto_parallel_context = set_auto_parallel_context
_get_auto_parallel_context = get_auto_parallel_context
_reset_auto_parallel_context = reset_auto_parallel_context


class _Settings:
    """The settings behind `get_<key>()`, `set_<key>(value)` and `get_<key>_is_set()`."""

    def __getattr__(self, name: str) -> Callable:
        verb, _, key = name.partition("_")
        if verb == "set" and key:
            return lambda value: set_auto_parallel_context(**{key: value})
        if verb == "get" and key.endswith("_is_set"):
            return lambda: is_set(key[: -len("_is_set")])
        if verb == "get" and key:
            return lambda: get_auto_parallel_context(key)
        raise AttributeError(f"The parallel context has no attribute '{name}'.")

    def reset(self) -> None:
        """Set every parallel setting back to its default."""
        reset_auto_parallel_context()


_settings = _Settings()


def auto_parallel_context() -> Any:
    """The one object that has the parallel settings.

    Examples:
        >>> from dist_ms.compat.parallel_settings import auto_parallel_context
        >>> auto_parallel_context().get_parallel_mode(), auto_parallel_context().get_device_num_is_set()
        ('stand_alone', False)
    """
    return _settings


def _get_parallel_mode() -> str:
    """The parallel mode."""
    return get_auto_parallel_context("parallel_mode")


def _is_in_data_parallel_mode() -> bool:
    """Whether gradients are reduced over the ranks."""
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_in_hybrid_parallel_mode() -> bool:
    """Whether the mode is hybrid parallelism."""
    return _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def _is_in_auto_parallel_mode() -> bool:
    """Whether a mode is set that cuts parameters."""
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _get_gradients_mean() -> bool:
    """Whether gradients are averaged, not added."""
    return get_auto_parallel_context("gradients_mean")


def _get_full_batch() -> bool:
    """Whether every rank loads the whole batch."""
    return get_auto_parallel_context("full_batch")


def _get_parameter_broadcast() -> bool:
    """Whether parameters are broadcast at the start."""
    return get_auto_parallel_context("parameter_broadcast")


def _get_pipeline_stages() -> int:
    """The number of pipeline stages."""
    return get_auto_parallel_context("pipeline_stages")


def _get_enable_parallel_optimizer() -> bool:
    """Whether the optimizer is cut over the ranks."""
    return get_auto_parallel_context("enable_parallel_optimizer")


def _get_device_num() -> int:
    """The number of ranks: the setting, or else the size of the group of all."""
    from dist_ms.communication.management import get_group_size

    return get_auto_parallel_context("device_num") if is_set("device_num") else get_group_size()


def _get_global_rank() -> int:
    """This rank: the setting, or else the one in the group of all."""
    from dist_ms.communication.management import get_rank

    return get_auto_parallel_context("global_rank") if is_set("global_rank") else get_rank()

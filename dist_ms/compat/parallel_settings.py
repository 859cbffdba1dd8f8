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
from dist_ms.communication.management import get_group_size, get_rank

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
    return get_auto_parallel_context("device_num") if is_set("device_num") else get_group_size()


def _get_global_rank() -> int:
    """This rank: the setting, or else the one in the group of all."""
    return get_auto_parallel_context("global_rank") if is_set("global_rank") else get_rank()


def _get_stage_device_num() -> int:
    """The number of ranks of a pipeline's stage: there is one stage."""
    return _get_device_num() // _get_pipeline_stages()


def _get_grad_accumulation_shard() -> bool:
    """Whether accumulated gradients are cut over ranks: they are not."""
    return False


def _is_parallel_mode() -> bool:
    """Whether several ranks train together."""
    return _get_parallel_mode() != ParallelMode.STAND_ALONE


def _is_sharding_propagation() -> bool:
    """Whether MindSpore searches for a strategy from the operators' own: it does not here."""
    return False


def _need_to_full() -> bool:
    """Whether batches are parts of larger tensors: a rank's batch is its own."""
    return False


def _reset_op_id() -> None:
    """Count operators from the start again: here they have no numbers."""


def _check_full_batch() -> None:
    """Refuse a full batch outside the modes that cut operators.

    Raises:
        RuntimeError: if `full_batch` is set there.
    """
    if _get_full_batch() and not _is_in_auto_parallel_mode():
        raise RuntimeError(
            f"'full_batch' must be False in the parallel mode '{_get_parallel_mode()}', but got True: only modes that "
            "cut operators take it."
        )


def _parallel_predict_check() -> None:
    """Check that a network can predict in this parallel mode: each rank does so alone."""


def _device_number_check(parallel_mode: str, device_number: int) -> None:
    """Refuse several ranks where each trains alone.

    Raises:
        ValueError: if so.
    """
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(f"In the parallel mode 'stand_alone', 'device_number' must be 1, but got {device_number}.")


def _parameter_broadcast_check(parallel_mode: str, parameter_broadcast: bool) -> None:
    """Refuse to broadcast parameters in modes without equal ones.

    Raises:
        ValueError: if so.
    """
    if parameter_broadcast and parallel_mode not in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL):
        raise ValueError(
            f"In the parallel mode '{parallel_mode}', 'parameter_broadcast' must be False, but got True: only "
            "'data_parallel' and 'hybrid_parallel' have it."
        )


def _to_full_shapes(shapes: list, device_num: int) -> list:
    """Shapes of a rank's batches as those of all ranks' together.

    Examples:
        >>> from dist_ms.compat.parallel_settings import _to_full_shapes
        >>> _to_full_shapes([[2, 3]], 4)
        [[8, 3]]
    """
    return [[shape[0] * device_num, *shape[1:]] for shape in shapes]


def _grads_divided_by_device_num_if_recomputation(grads: Any) -> Any:
    """Gradients as they are: recomputation adds up none twice."""
    return grads

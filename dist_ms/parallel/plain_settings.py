"""MindSpore's functions on parameters that are cut over ranks or stages, for parameters that are not."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_int, check_type, complaint

__all__ = ["parameter_broadcast", "sync_pipeline_shared_parameters"]


def sync_pipeline_shared_parameters(net: Any) -> None:
    """Make parameters equal that several stages share; there is one stage, which has them all.

    Args:
        net: the network.

    Raises:
        TypeError: if `net` is no Cell.

    Examples:
        >>> import dist_ms as ms
        >>> ms.sync_pipeline_shared_parameters(ms.nn.ReLU())
    """
    if not hasattr(net, "parameters_dict"):
        raise TypeError(complaint("net", "sync_pipeline_shared_parameters", "a Cell", net))


def parameter_broadcast(net: Any, layout: dict, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Give ranks the parameters of others that a layout says are equal.

    Without a layout all are each rank's own, and nothing is sent; a first training step gives all ranks rank 0's.

    Args:
        net: the network.
        layout: how parameters are cut, by name: an empty dict.
        cur_rank: this rank.
        initial_rank: the first rank of this pipeline stage.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a rank is negative or larger than this one.
        NotImplementedError: if `layout` has a parameter.

    Examples:
        >>> import dist_ms as ms
        >>> ms.parameter_broadcast(ms.nn.Dense(2, 1), {})
    """
    if not hasattr(net, "parameters_dict"):
        raise TypeError(complaint("net", "parameter_broadcast", "a Cell", net))
    check_type(layout, "layout", "parameter_broadcast", dict)
    if check_int(cur_rank, "cur_rank", "parameter_broadcast") < check_int(
        initial_rank, "initial_rank", "parameter_broadcast"
    ):
        raise ValueError(complaint("initial_rank", "parameter_broadcast", f"at most {cur_rank}", initial_rank))
    if layout:
        raise NotImplementedError(
            "For 'parameter_broadcast', 'layout' must be empty, but got "
            f"{len(layout)} parameters: operators are not cut over ranks. Use parallel.broadcast_parameters."
        )

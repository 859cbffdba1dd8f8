"""Which way of training the parallel context and the job ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dist_ms.common.once import warn_once
from dist_ms.common.settings import parallel_context
from dist_ms.common.settings.parallel_context import ParallelMode
from dist_ms.communication import Comm, LocalComm, current
from dist_ms.communication.start.launched import check_launcher, launched_rank, launched_size
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.roles import is_worker

_TOGETHER = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)
REDUCED = ("all_reduce", "reduce_scatter", "all_gather")


def number_of_ranks() -> int:
    """Return how many ranks the job has, or this process's launcher says it has before `init()`.

    Examples:
        >>> from dist_ms.parallel.mode import number_of_ranks
        >>> number_of_ranks()
        1
    """
    world, launched = current(), launched_size()
    if world is not None:
        return world.comm.size
    return 1 if launched is None else launched[1]


def world_comm() -> Comm:
    """Return the communicator of all ranks, or of this one where it is alone.

    Raises:
        RuntimeError: if several ranks were started and init() has not been called.
    """
    world = current()
    if world is not None:
        return world.comm
    check_launcher("data_parallel")
    found = launched_size()
    if found is not None and found[1] > 1:
        raise RuntimeError(
            f"For 'data_parallel', init() must be called first: {found[0]} says that {found[1]} "
            "ranks were started, but they have not met. Call dist_ms.communication.init()."
        )
    return LocalComm()


def is_data_parallel(weights: Sequence[Any] = ()) -> bool:
    """Return whether the ranks train one model together, so that gradients are reduced.

    They do where `parallel_mode` says so. Where nothing is said but `set_ps_context(enable_ps=True)`, ranks train one
    model too: what no server holds is then trained data-parallel.

    Args:
        weights: what is trained, where it is known.

    Raises:
        RuntimeError: in semi_auto_parallel and auto_parallel on several ranks, which dist_ms cannot do.

    Examples:
        >>> from dist_ms.parallel.mode import is_data_parallel
        >>> is_data_parallel()
        False
    """
    if number_of_ranks() > 1:
        refuse_automatic()
        _tell_no_servers()
    return trains_together(weights)


def refuse_automatic() -> None:
    """Refuse to train in semi_auto_parallel and auto_parallel.

    Raises:
        RuntimeError: in one of them.
    """
    mode = parallel_context.get_auto_parallel_context("parallel_mode")
    if mode not in (*_TOGETHER, ParallelMode.STAND_ALONE):
        raise RuntimeError(
            "For 'set_auto_parallel_context', 'parallel_mode' must be 'data_parallel', "
            f"'hybrid_parallel' or 'stand_alone' to train, but got {mode!r}: dist_ms trains "
            "data-parallel only."
        )


def trains_together(weights: Sequence[Any] = ()) -> bool:
    """Return the same as `is_data_parallel`, without a word or an error.

    Args:
        weights: what is trained, where it is known.
    """
    if parallel_context.get_auto_parallel_context("parallel_mode") in _TOGETHER:
        return True
    return _servers_alone() and (not is_worker() or reduced(weights))


def averages() -> bool:
    """Return whether gradients are averaged over the ranks where the caller has not said so.

    `gradients_mean`, but where parameter servers alone imply data-parallel training: averaged, as servers do.

    Examples:
        >>> from dist_ms.parallel.mode import averages
        >>> averages()
        False
    """
    mean = parallel_context.get_auto_parallel_context("gradients_mean")
    return mean if parallel_context.is_set("gradients_mean") else mean or _servers_alone()


def reduced(weights: Sequence[Any]) -> bool:
    """Return whether any of some weights is reduced over the ranks, as the plan has it.

    Args:
        weights: Parameters.
    """
    return any(row.gradient in REDUCED for row in make_plan(weights, weights, servers=is_worker()).rows)


def tell_alone() -> None:
    """Say once, on rank 0, that each of several ranks trains for itself where nobody has said how they train."""
    world, size = current(), number_of_ranks()
    rank = launched_rank() if world is None else world.comm.rank
    if size < 2 or rank or parallel_context.is_set("parallel_mode") or parallel_context.get_ps_context("enable_ps"):
        return
    warn_once(
        "alone",
        "%d ranks were started, but 'parallel_mode' is not set: each rank trains a model of its own. "
        "set_auto_parallel_context(parallel_mode='data_parallel') before the model is built trains one together; "
        "parallel_mode='stand_alone' says that this is meant.",
        size,
    )


def tell_sum(size: int) -> None:
    """Say once that gradients are added up, which surprises those who expect a mean."""
    warn_once(
        "sum",
        "gradients_mean is False: the gradients of %d ranks are added, not averaged. "
        "set_auto_parallel_context(gradients_mean=True) averages them.",
        size,
    )


def _servers_alone() -> bool:
    """Whether parameter servers were asked for on several ranks, and nothing said of the parallel mode."""
    asked = parallel_context.get_ps_context("enable_ps") and not parallel_context.is_set("parallel_mode")
    return bool(asked) and number_of_ranks() > 1


def _tell_no_servers() -> None:
    """Say once, on rank 0, what becomes of a job that was to have parameter servers and has none."""
    world, get = current(), parallel_context.get_auto_parallel_context
    alone = parallel_context.is_set("parallel_mode") and get("parallel_mode") == ParallelMode.STAND_ALONE
    if alone or is_worker() or not parallel_context.get_ps_context("enable_ps"):
        return
    if world is not None and world.comm.rank:
        return
    warn_once(
        "no servers",
        "enable_ps is True, but the job of %d ranks has no parameter servers: all parameters are trained "
        "data-parallel, their gradients %s over the ranks. Start servers with 'dist-ms run --servers K'; "
        "parallel_mode='stand_alone' lets every rank train a model of its own.",
        number_of_ranks(),
        "averaged" if averages() else "added up",
    )

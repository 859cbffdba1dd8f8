"""When the values of parameters are made later than the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dist_ms.common.settings.environment import value_of
from dist_ms.common.settings.parallel_context import get_auto_parallel_context, get_ps_context

_postponed = False


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """A region in which parameters made from an initializer hold no data until asked.

    Values appear with `init_data`, `Cell.init_parameters_data`, a loaded checkpoint, or
    the first read.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.initializer import initializer
        >>> from dist_ms.common.parameter.postponing import no_init_parameters
        >>> with no_init_parameters():
        ...     table = ms.Parameter(initializer("normal", [100000, 64]), name="table")
        >>> table.has_init
        True
    """
    global _postponed
    before, _postponed = _postponed, True
    try:
        yield
    finally:
        _postponed = before


def values_postponed() -> bool:
    """Whether `no_init_parameters` is on."""
    return _postponed


def parameters_cut() -> bool:
    """Whether a mode is set that cuts parameters into slices."""
    return get_auto_parallel_context("parallel_mode") in ("semi_auto_parallel", "auto_parallel")


def servers_hold_tables() -> bool:
    """Whether this process is a worker of a job with parameter servers."""
    return value_of("MS_ROLE") == "MS_WORKER" and bool(get_ps_context("enable_ps"))

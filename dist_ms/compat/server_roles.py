"""`mindspore.parallel._ps_context`: which role of a job with parameter servers this process has."""

from __future__ import annotations

from dist_ms.common.settings.environment import value_of as _value_of
from dist_ms.common.settings.ps_context import get_ps_context as _get_ps_context
from dist_ms.common.settings.ps_context import reset_ps_context as _reset_ps_context
from dist_ms.common.settings.ps_context import set_ps_context as _set_ps_context

__all__ = [
    "_get_ps_context",
    "_is_ps_mode",
    "_is_role_pserver",
    "_is_role_sched",
    "_is_role_worker",
    "_reset_ps_context",
    "_set_ps_context",
]


def _is_ps_mode() -> bool:
    """Whether scripts asked for servers."""
    return bool(_get_ps_context("enable_ps"))


def _is_role_worker() -> bool:
    """Whether this process is a worker of a job with servers."""
    return _value_of("MS_ROLE") == "MS_WORKER"


def _is_role_pserver() -> bool:
    """Whether this process is a server."""
    return _value_of("MS_ROLE") in ("MS_PSERVER", "MS_SERVER")


def _is_role_sched() -> bool:
    """Whether this process is a scheduler, which jobs here do not have."""
    return _value_of("MS_ROLE") == "MS_SCHED"

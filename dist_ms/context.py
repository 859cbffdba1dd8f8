"""`mindspore.context`: what a script sets about modes, parallelism and servers, under MindSpore's module name."""

from dist_ms.common.settings.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from dist_ms.common.settings.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
)
from dist_ms.common.settings.ps_context import get_ps_context, reset_ps_context, set_ps_context

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "ParallelMode",
    "get_auto_parallel_context",
    "get_context",
    "get_ps_context",
    "reset_auto_parallel_context",
    "reset_ps_context",
    "set_auto_parallel_context",
    "set_context",
    "set_ps_context",
]

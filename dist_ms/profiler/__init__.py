"""Which operations and cells take the time: recorded on demand, written as a trace and as a table.

    with dist_ms.profiler.profile(on_trace_ready=tensorboard_trace_handler("./traces")):
        net(x)

`trace.json` opens in Perfetto or chrome://tracing; `operators.csv` sums up by operation.
"""

from dist_ms.common.late_names import late_names as _late_names
from dist_ms.profiler.environment import EnvProfiler
from dist_ms.profiler.marks import mstx
from dist_ms.profiler.options import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
)
from dist_ms.profiler.profiling import Profiler, profile, tensorboard_trace_handler
from dist_ms.profiler.scheduling import ProfilerAction, schedule

__all__ = [
    "AicoreMetrics",
    "EnvProfiler",
    "ExportType",
    "HostSystem",
    "Profiler",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "mstx",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
]

_late_names(__name__)  # a callback that records

"""Memory, threads and streams of the process, by the names of `mindspore.runtime`.

Memory figures are real: they come from the caching allocator. On a CPU operations run at once and
in order, so streams and events are always complete; what only steers a device's queues is checked,
kept, and said to be without effect.
"""

from dist_ms.runtime.affinity import set_cpu_affinity
from dist_ms.runtime.executor import (
    dispatch_threads_num,
    launch_blocking,
    set_kernel_launch_capture,
    set_kernel_launch_group,
)
from dist_ms.runtime.limits import (
    StreamLimitCtx,
    get_device_limit,
    get_stream_limit,
    reset_stream_limit,
    set_device_limit,
    set_stream_limit,
)
from dist_ms.runtime.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
    set_memory,
)
from dist_ms.runtime.refused import MemPool, PluggableAllocator, memory_replay, use_mem_pool
from dist_ms.runtime.streams import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Event",
    "MemPool",
    "PluggableAllocator",
    "Stream",
    "StreamCtx",
    "StreamLimitCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "dispatch_threads_num",
    "empty_cache",
    "get_device_limit",
    "get_stream_limit",
    "launch_blocking",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_replay",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "reset_stream_limit",
    "set_cpu_affinity",
    "set_cur_stream",
    "set_device_limit",
    "set_kernel_launch_capture",
    "set_kernel_launch_group",
    "set_memory",
    "set_stream_limit",
    "synchronize",
    "use_mem_pool",
]

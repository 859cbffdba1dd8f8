"""Training on several ranks: one plan decides, a session and its reducer follow it.

This floor imports common, communication, _ext and the sink protocol of autograd; it knows no
network, and of an optimizer what its attributes say.
"""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names
from dist_ms.parallel import status_file, threads  # which begin when ranks have joined, as does what follows
from dist_ms.parallel.replicas import by_hand

if _typing.TYPE_CHECKING:
    from dist_ms.common.settings.search_settings import get_algo_parameters, reset_algo_parameters, set_algo_parameters
    from dist_ms.parallel.agreement import agree_on_plan
    from dist_ms.parallel.broadcast import broadcast_parameters
    from dist_ms.parallel.errors import DesyncError, PlanMismatchError
    from dist_ms.parallel.fusion import Fusion
    from dist_ms.parallel.layout import Layout
    from dist_ms.parallel.plan import Sharding, SyncPlan, make_plan
    from dist_ms.parallel.reduction.gradient_hook import GradBucket, GradHook
    from dist_ms.parallel.reduction.reducer import Reducer
    from dist_ms.parallel.servers.checkpoint import load_servers, save_servers
    from dist_ms.parallel.session import DataParallel, data_parallel
    from dist_ms.parallel.slice_merging import merge_sliced_parameter
    from dist_ms.parallel.threads import use_share
    from dist_ms.parallel.virtual_shards import set_virtual_shards

__all__ = [
    "DataParallel",
    "DesyncError",
    "Fusion",
    "GradBucket",
    "GradHook",
    "Layout",
    "PlanMismatchError",
    "Reducer",
    "Sharding",
    "SyncPlan",
    "agree_on_plan",
    "broadcast_parameters",
    "data_parallel",
    "get_algo_parameters",
    "load_servers",
    "make_plan",
    "merge_sliced_parameter",
    "reset_algo_parameters",
    "save_servers",
    "set_algo_parameters",
    "set_virtual_shards",
    "status_file",
    "use_share",
]

_late_names(__name__)

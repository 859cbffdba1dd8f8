"""Ranks, groups and the verbs between them: the only door to MPI.

This floor imports no other part of dist_ms, and nothing but mpi.py imports mpi4py, when init()
finds that several ranks were started.
"""

from typing import TYPE_CHECKING

from dist_ms.communication.agreement import agree, agreeing
from dist_ms.communication.comm import Comm, Handle
from dist_ms.communication.end.survivors import RankFailedError, follow
from dist_ms.communication.local import LocalComm
from dist_ms.communication.management import (
    HCCL_WORLD_COMM_GROUP,
    MCCL_WORLD_COMM_GROUP,
    NCCL_WORLD_COMM_GROUP,
    GlobalComm,
    create_group,
    destroy_group,
    get_comm,
    get_comm_name,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_process_group_ranks,
    get_rank,
    get_world_rank_from_group_rank,
    init,
    release,
    shrink,
)
from dist_ms.communication.world import World, current, dead_ranks, is_elastic, on_init, on_shrink, rank_has_died

if TYPE_CHECKING:
    # MindSpore's door to a floor above; it loads when it is first used.
    from dist_ms.communication import comm_func

__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "Comm",
    "GlobalComm",
    "Handle",
    "LocalComm",
    "RankFailedError",
    "World",
    "agree",
    "agreeing",
    "create_group",
    "current",
    "dead_ranks",
    "destroy_group",
    "follow",
    "get_comm",
    "get_comm_name",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "is_elastic",
    "on_init",
    "on_shrink",
    "rank_has_died",
    "release",
    "shrink",
]

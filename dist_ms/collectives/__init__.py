"""Collectives as operations: MindSpore's communication primitives, `comm_func` and what `mint.distributed` stands on.

This floor lies above `ops` and `communication`, which do not know each other. The names of `PRIMITIVES` are
offered to `dist_ms.ops`, where MindSpore has them, and load when first used.
"""

PRIMITIVES = {
    "dist_ms.collectives.all_to_all": ("AlltoAll", "AlltoAllV", "AlltoAllVC"),
    "dist_ms.collectives.barrier": ("Barrier",),
    "dist_ms.collectives.broadcasting": ("Broadcast",),
    "dist_ms.collectives.gathering_scattering": (
        "AllGather",
        "AllGatherV",
        "CollectiveGather",
        "CollectiveScatter",
        "ReduceScatter",
        "ReduceScatterV",
    ),
    "dist_ms.collectives.neighbours": ("NeighborExchange", "NeighborExchangeV2"),
    "dist_ms.collectives.point_to_point": ("BatchISendIRecv", "Receive", "Send"),
    "dist_ms.collectives.reductions": ("AllReduce", "Reduce", "ReduceOp"),
}

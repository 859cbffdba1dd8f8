"""Collectives as operations: MindSpore's communication primitives, `comm_func` and what `mint.distributed` stands on.

This floor lies above `ops` and `communication`, which do not know each other. The names of `PRIMITIVES` are
offered to `dist_ms.ops`, where MindSpore has them, and load when first used.
"""

PRIMITIVES = {
    "collectives.all_to_all": ("AlltoAll", "AlltoAllV", "AlltoAllVC"),
    "collectives.barrier": ("Barrier",),
    "collectives.broadcasting": ("Broadcast",),
    "collectives.gathering_scattering": (
        "AllGather",
        "AllGatherV",
        "CollectiveGather",
        "CollectiveScatter",
        "ReduceScatter",
        "ReduceScatterV",
    ),
    "collectives.neighbours": ("NeighborExchange", "NeighborExchangeV2"),
    "collectives.point_to_point": ("BatchISendIRecv", "Receive", "Send"),
    "collectives.reductions": ("AllReduce", "Reduce", "ReduceOp"),
}

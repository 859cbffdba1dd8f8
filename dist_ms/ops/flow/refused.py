"""Operations of accelerators and of a graph compiler, not built here; calling one says what to do instead."""

from dist_ms.common.refusing import refused

__all__ = [
    "GeSwitch",
    "GetNext",
    "MapCacheIdx",
    "Merge",
    "Pull",
    "Push",
    "Reshard",
    "distribute",
    "geswitch",
    "make_map_parameter",
    "merge",
    "moe_distribute_combine",
    "moe_distribute_dispatch",
    "ms_kernel",
    "reshard",
]

_ASCEND = (
    "has no part of an operation that MindSpore has on Ascend only",
    "Write it with the plain operations of ops.",
)
_COMPILED = (
    "compiles no graphs, whose parts this is",
    "Write plain Python.",
)
_TABLES = (
    "keeps embeddings whole in servers and has no cache of rows to move",
    "Use nn.EmbeddingLookup, or parameter servers (set_ps_context).",
)
_QUEUE = (
    "has no queue of data on a device",
    "Iterate over the dataset, or call Model.train.",
)
_UNCUT = (
    "does not cut an operation over devices",
    "Train data-parallel, or use nn.model_parallel.",
)
_KERNELS = (
    "has no compiler of kernels for Ascend",
    "Write an ops.Custom.",
)

moe_distribute_combine = refused("moe_distribute_combine", *_ASCEND)
moe_distribute_dispatch = refused("moe_distribute_dispatch", *_ASCEND)
GeSwitch = refused("GeSwitch", *_COMPILED)
Merge = refused("Merge", *_COMPILED)
geswitch = refused("geswitch", *_COMPILED)
make_map_parameter = refused("make_map_parameter", *_COMPILED)
merge = refused("merge", *_COMPILED)
MapCacheIdx = refused("MapCacheIdx", *_TABLES)
Pull = refused("Pull", *_TABLES)
Push = refused("Push", *_TABLES)
GetNext = refused("GetNext", *_QUEUE)
Reshard = refused("Reshard", *_UNCUT)
distribute = refused("distribute", *_UNCUT)
reshard = refused("reshard", *_UNCUT)
ms_kernel = refused("ms_kernel", *_KERNELS)

"""Operations of accelerators and of a graph compiler, not built here; calling one says what to do instead."""

from dist_ms.common.refusing import refused

__all__ = [
    "ApplyRotaryPosEmb",
    "BasicLSTMCell",
    "GeSwitch",
    "GetNext",
    "GroupTopk",
    "J",
    "MapCacheIdx",
    "Merge",
    "PagedAttention",
    "PagedAttentionMask",
    "Pull",
    "Push",
    "PyExecute",
    "Reshard",
    "array_reduce",
    "distribute",
    "embed",
    "env_get",
    "environ_add",
    "environ_create",
    "environ_get",
    "environ_set",
    "fused_infer_attention_score",
    "geswitch",
    "iter_converter",
    "lightning_indexer",
    "make_map_parameter",
    "merge",
    "moe_distribute_combine",
    "moe_distribute_dispatch",
    "ms_hasnext",
    "ms_kernel",
    "ms_next",
    "nsa_compress",
    "nsa_compress_attention",
    "nsa_select_attention",
    "ref_to_embed",
    "reshard",
    "rotated_iou",
    "sparse_flash_attention",
    "speed_fusion_attention",
    "zip_operation",
]

_ASCEND = (
    "has no part of an operation that MindSpore has on Ascend only",
    "Write it with the plain operations of ops.",
)
_RECURRENT = (
    "has no operation that MindSpore has on Ascend only",
    "Use nn.LSTM or nn.GRU.",
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

ApplyRotaryPosEmb = refused("ApplyRotaryPosEmb", *_ASCEND)
BasicLSTMCell = refused("BasicLSTMCell", *_ASCEND)
GroupTopk = refused("GroupTopk", *_ASCEND)
PagedAttention = refused("PagedAttention", *_ASCEND)
PagedAttentionMask = refused("PagedAttentionMask", *_ASCEND)
fused_infer_attention_score = refused("fused_infer_attention_score", *_ASCEND)
lightning_indexer = refused("lightning_indexer", *_ASCEND)
moe_distribute_combine = refused("moe_distribute_combine", *_ASCEND)
moe_distribute_dispatch = refused("moe_distribute_dispatch", *_ASCEND)
nsa_compress = refused("nsa_compress", *_ASCEND)
nsa_compress_attention = refused("nsa_compress_attention", *_ASCEND)
nsa_select_attention = refused("nsa_select_attention", *_ASCEND)
rotated_iou = refused("rotated_iou", *_ASCEND)
sparse_flash_attention = refused("sparse_flash_attention", *_ASCEND)
speed_fusion_attention = refused("speed_fusion_attention", *_ASCEND)
GeSwitch = refused("GeSwitch", *_COMPILED)
J = refused("J", *_COMPILED)
Merge = refused("Merge", *_COMPILED)
PyExecute = refused("PyExecute", *_COMPILED)
array_reduce = refused("array_reduce", *_COMPILED)
embed = refused("embed", *_COMPILED)
env_get = refused("env_get", *_COMPILED)
environ_add = refused("environ_add", *_COMPILED)
environ_create = refused("environ_create", *_COMPILED)
environ_get = refused("environ_get", *_COMPILED)
environ_set = refused("environ_set", *_COMPILED)
geswitch = refused("geswitch", *_COMPILED)
iter_converter = refused("iter_converter", *_COMPILED)
make_map_parameter = refused("make_map_parameter", *_COMPILED)
merge = refused("merge", *_COMPILED)
ms_hasnext = refused("ms_hasnext", *_COMPILED)
ms_next = refused("ms_next", *_COMPILED)
ref_to_embed = refused("ref_to_embed", *_COMPILED)
zip_operation = refused("zip_operation", *_COMPILED)
MapCacheIdx = refused("MapCacheIdx", *_TABLES)
Pull = refused("Pull", *_TABLES)
Push = refused("Push", *_TABLES)
GetNext = refused("GetNext", *_QUEUE)
Reshard = refused("Reshard", *_UNCUT)
distribute = refused("distribute", *_UNCUT)
reshard = refused("reshard", *_UNCUT)
ms_kernel = refused("ms_kernel", *_KERNELS)

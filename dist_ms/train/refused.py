"""Functions of MindSpore on files that dist_ms does not have; using one raises an error."""

from dist_ms.common.refusing import refused

__all__ = [
    "build_searched_strategy",
    "export_split_mindir",
    "get_ckpt_path_with_strategy",
    "merge_pipeline_strategys",
    "restore_group_info_list",
    "set_op_strategy_config",
]

_STRATEGIES = (
    "does not cut operators over ranks, so there are no files of strategies",
    "Train data-parallel, or use nn.model_parallel.",
)

build_searched_strategy = refused("build_searched_strategy", *_STRATEGIES)
get_ckpt_path_with_strategy = refused("get_ckpt_path_with_strategy", *_STRATEGIES)
merge_pipeline_strategys = refused("merge_pipeline_strategys", *_STRATEGIES)
restore_group_info_list = refused("restore_group_info_list", *_STRATEGIES)
set_op_strategy_config = refused("set_op_strategy_config", *_STRATEGIES)
export_split_mindir = refused("export_split_mindir", *_STRATEGIES)

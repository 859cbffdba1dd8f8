"""Names of MindSpore's private paths that are called otherwise here, or cannot be: for each the answer or the reason.

`modules.py` says where a path's names are looked up; these come before that.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from dist_ms.common.refusing import refused

# path: "MindSpore's name=dist_ms' path and name"
_ELSEWHERE = {
    "_c_expression": "pyboost_dense=ops.dense disable_multi_thread=compat.plain_values.disable_multi_thread",
    "common.api": "cells_compile_cache=compat.plain_values.CELLS_COMPILED",
    "common.initializer": "_INITIALIZER_ALIAS=common.initializers.base._registry",
    "common.np_dtype": "bfloat16=compat.plain_values.BFLOAT16",
    "common.seed": "_get_graph_seed=compat.plain_values._get_graph_seed",
    "nn.layer.conv": "_check_input_3d=compat.checkparam._check_input_3d",
    "nn.loss.loss": "_Loss=nn.LossBase",
    "nn.wrap.cell_wrapper": "_VirtualDatasetCell=nn.wrap.virtual_dataset.VirtualDatasetCell",
    "ops": "P=ops.operations F=ops.functional C=ops.composite add_flags=compat.plain_values.add_flags",
    "train.callback": "_set_cur_net=compat.plain_values._set_cur_net",
    "train.callback._callback": (
        "_handle_loss=train.callback.outputs.number_of set_cur_net=compat.plain_values._set_cur_net"
    ),
    "version": "__version__=compat.version.__version__",
}

_NO_ASCEND = ("runs on CPUs and has no Ascend device", "Leave the call out where 'device_target' is 'CPU'.")
_NO_GPU = ("runs on CPUs and has no GPU", "Leave the call out where 'device_target' is 'CPU'.")
_OWN_COMPILERS = (
    "has none of MindSpore's kernel compilers to register an operation with",
    "Write an ops.Primitive or an ops.Custom.",
)
_NO_STRATEGIES = (
    "does not cut operators over ranks, so there are no strategies",
    "Train data-parallel, or use nn.model_parallel.",
)
_NO_NUMBERS = ("takes the options of operations as texts and has no numbers for them", "Pass the text.")

# path: (names, what dist_ms lacks, the remedy)
_REFUSED: dict[str, list[tuple[str, tuple[str, str]]]] = {
    "device_context.ascend.op_precision": [
        ("precision_mode op_precision_mode matmul_allow_hf32 conv_allow_hf32", _NO_ASCEND),
    ],
    "device_context.ascend.op_debug": [("debug_option execute_timeout aclinit_config", _NO_ASCEND)],
    "device_context.ascend.op_tuning": [("op_compile aoe_tune_mode aoe_job_type aclnn_cache", _NO_ASCEND)],
    "device_context.gpu.op_precision": [("matmul_allow_tf32 conv_allow_tf32", _NO_GPU)],
    "device_context.gpu.op_tuning": [("conv_fprop_algo conv_dgrad_algo conv_wgrad_algo", _NO_GPU)],
    "ops.op_info_register": [
        ("op_info_register custom_info_register CustomRegOp RegOp", _OWN_COMPILERS),
        ("TBERegOp AiCPURegOp CpuRegOp AkgRegOp AkgCpuRegOp AkgGpuRegOp AkgAscendRegOp", _OWN_COMPILERS),
    ],
    "ops.vm_impl_registry": [("vm_impl_registry get_vm_impl_fn", _OWN_COMPILERS)],
    "ops.operations.comm_ops": [
        ("_VirtualDataset _VirtualOutput _VirtualDiv _VirtualAdd _GetTensorSlice _AllSwap", _NO_STRATEGIES),
        ("_MirrorOperator _MirrorMiniStepOperator _MirrorMicroStepOperator", _NO_STRATEGIES),
    ],
    "train.node_strategy_pb2": [("ParallelStrategyMap ParallelLayouts ParallelGroupMap", _NO_STRATEGIES)],
    "train.serialization": [
        (
            "_get_merged_param_data _save_graph _exec_save",
            ("has a writer of checkpoints of its own", "Use save_checkpoint."),
        ),
    ],
    "_c_expression.op_enum": [("str_to_enum", _NO_NUMBERS)],
    "ops.auto_generate": [("str_to_enum", _NO_NUMBERS)],
    "_c_expression": [
        ("Cell_", ("has a Cell that is written in Python and has no compiled base", "Call nn.Cell's own methods.")),
        ("GradOperation_", ("takes gradients without a graph compiler", "Use ms.grad or ops.GradOperation.")),
        ("init_exec_dataset", ("has no queue of data on a device", "Iterate over the dataset, or call Model.train.")),
        ("GraphExecutor_ PyNativeExecutor_ JitExecutor_ FuncGraph", ("compiles no graphs", "Call the network.")),
    ],
}


def _found(path: str) -> Any:
    """What a path and name of dist_ms means."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"dist_ms.{module}"), name)


def _table() -> dict[str, dict[str, Callable[[], Any]]]:
    found: dict[str, dict[str, Callable[[], Any]]] = {}
    for path, listed in _REFUSED.items():
        names = found.setdefault(path, {})
        for group, (lacks, remedy) in listed:
            for name in group.split():
                names[name] = functools.partial(refused, name, lacks, remedy)
    for path, text in _ELSEWHERE.items():
        pairs = (pair.split("=") for pair in text.split())
        found.setdefault(path, {}).update({name: functools.partial(_found, to) for name, to in pairs})
    return found


SPECIAL = _table()

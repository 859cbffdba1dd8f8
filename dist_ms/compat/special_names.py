"""Names of MindSpore's private paths that are called otherwise here, or cannot be: for each the answer or the reason.

`modules.py` says where a path's names are looked up; SPECIAL comes before that and REFUSED after it, so what is built
later under a refused name is found.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from dist_ms.common.refusing import refused
from dist_ms.compat.refused_names import REASONS, REFUSED_NAMES

# path: "MindSpore's name=dist_ms' path and name"
_ELSEWHERE = {
    "_c_expression": (
        "pyboost_dense=ops.dense disable_multi_thread=compat.inner.plain_values.disable_multi_thread "
        "MixedPrecisionType=nn.cell.precision.MixedPrecisionType"
    ),
    "graph.api": "flops_collection=train.flops.flops_collection ms_memory_recycle=allocator.ms_memory_recycle",
    "": "ms_function=common.jit.jit ms_class=common.jit.jit_class",
    "_checkparam": "Validator=compat.checkparam Rel=compat.checkparam",
    "common": "ms_function=common.jit.jit ms_class=common.jit.jit_class",
    "common.api": (
        "cells_compile_cache=compat.inner.plain_values.CELLS_COMPILED ms_function=common.jit.jit "
        "ms_class=common.jit.jit_class"
    ),
    "dataset.transforms.py_transforms": "OneHotOp=dataset.transforms.OneHot",
    "common.initializer": "_INITIALIZER_ALIAS=common.initializers.base._registry",
    "common.np_dtype": "bfloat16=compat.inner.plain_values.BFLOAT16",
    "common.sparse_tensor": "RowTensorInner=common.tensor.sparse_tensor.RowTensor",
    "profiler.schedule": "Schedule=profiler.scheduling.schedule",
    "common.seed": "_get_graph_seed=compat.inner.plain_values._get_graph_seed",
    "dataset": (
        "context=context Implementation=compat.inner.number_limits.Implementation "
        "SourceDataset=dataset.sources.indexed.IndexedSource MappableDataset=dataset.sources.indexed.IndexedSource "
        "RepeatDataset=dataset.stages.ordering.RepeatDataset "
        "TextBaseDataset=dataset.dataset.Dataset VisionBaseDataset=dataset.dataset.Dataset "
        "AudioBaseDataset=dataset.dataset.Dataset UnionBaseDataset=dataset.dataset.Dataset"
    ),
    "ops.function.nn_func": (
        "multi_head_attention_forward=compat.inner.attention_function.multi_head_attention_forward"
    ),
    "nn.layer": "CosineSimilarity=nn.layer.mathematics.cosine_similarity.CosineSimilarity",
    "nn.layer.math": "CosineSimilarity=nn.layer.mathematics.cosine_similarity.CosineSimilarity",
    "ops.function.comm_func": "set_comm_ops_inplace=ops.communication.set_comm_ops_inplace",
    "nn.layer.activation": "_activation=nn.layer.activation._ACTIVATIONS",
    "nn.layer.rnn_cells": (
        "RNNCellBase=nn.layer.recurrent.rnn_cells._OneStep _rnn_tanh_cell=compat.inner.recurrent_steps._rnn_tanh_cell "
        "_rnn_relu_cell=compat.inner.recurrent_steps._rnn_relu_cell _gru_cell=compat.inner.recurrent_steps._gru_cell "
        "_lstm_cell=compat.inner.recurrent_steps._lstm_cell"
    ),
    "ops.op_info_register": "DataType=compat.inner.number_limits.DataType",
    "nn.layer.conv": "_check_input_3d=compat.checkparam._check_input_3d",
    "nn.loss": "L1LossExt=mint.nn.L1Loss",
    "nn.loss.loss": "_Loss=nn.LossBase L1LossExt=mint.nn.L1Loss",
    "nn.wrap.cell_wrapper": "_VirtualDatasetCell=nn.wrap.virtual_dataset.VirtualDatasetCell",
    "ops": "P=ops.operations F=ops.functional C=ops.composite add_flags=compat.inner.plain_values.add_flags",
    "train.callback": "_set_cur_net=compat.inner.plain_values._set_cur_net",
    "train.callback._callback": (
        "InternalCallbackParam=train.callback.callback.CallbackParameters "
        "_handle_loss=train.callback.outputs.loss_of set_cur_net=compat.inner.plain_values._set_cur_net"
    ),
    "train.amp": (
        "_config_level=amp.levels._config_level _do_keep_batchnorm_fp32=amp.levels._do_keep_batchnorm_fp32 "
        "_add_loss_network=amp.levels._add_loss_network"
    ),
    "train.serialization": (
        "_update_param=train.checkpoint.single_parameter._update_param "
        "tensor_to_ms_type=compat.inner.saved_types.tensor_to_ms_type "
        "tensor_to_np_type=compat.inner.saved_types.tensor_to_np_type"
    ),
    "version": "__version__=compat.version.__version__",
}


def _found(path: str) -> Any:
    """What a path and name of dist_ms means."""
    module, _, name = path.rpartition(".")
    within = importlib.import_module(f"dist_ms.{module}") if module else None
    return getattr(within, name) if hasattr(within, name) else importlib.import_module(f"dist_ms.{path}")


SPECIAL: dict[str, dict[str, Callable[[], Any]]] = {
    path: {name: functools.partial(_found, to) for name, to in (pair.split("=") for pair in text.split())}
    for path, text in _ELSEWHERE.items()
}
REFUSED: dict[str, dict[str, Callable[[], Any]]] = {
    path: {
        name: functools.partial(refused, name, *REASONS[reason])
        for reason, names in listed.items()
        for name in names.split()
    }
    for path, listed in REFUSED_NAMES.items()
}

"""Cells that wrap a network for training and evaluation."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer
    from dist_ms.nn.wrap.gradient_cells import ForwardValueAndGrad, WithGradCell
    from dist_ms.nn.wrap.loss_cells import WithEvalCell, WithLossCell
    from dist_ms.nn.wrap.loss_scale import (
        DynamicLossScaleUpdateCell,
        FixedLossScaleUpdateCell,
        TrainOneStepWithLossScaleCell,
    )
    from dist_ms.nn.wrap.micro_batches import GradAccumulationCell, MicroBatchInterleaved, PipelineCell
    from dist_ms.nn.wrap.parameter_update import ParameterUpdate
    from dist_ms.nn.wrap.refused import GetNextSingleOp, PipelineGradReducer
    from dist_ms.nn.wrap.time_distributed import TimeDistributed
    from dist_ms.nn.wrap.train_step import TrainOneStepCell
    from dist_ms.nn.wrap.virtual_dataset import VirtualDatasetCellTriple

__all__ = [
    "DistributedGradReducer",
    "DynamicLossScaleUpdateCell",
    "FixedLossScaleUpdateCell",
    "ForwardValueAndGrad",
    "GetNextSingleOp",
    "GradAccumulationCell",
    "MicroBatchInterleaved",
    "ParameterUpdate",
    "PipelineCell",
    "PipelineGradReducer",
    "TimeDistributed",
    "TrainOneStepCell",
    "TrainOneStepWithLossScaleCell",
    "VirtualDatasetCellTriple",
    "WithEvalCell",
    "WithGradCell",
    "WithLossCell",
]

_late_names(__name__)

"""Cells that wrap a network for training and evaluation."""

from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer
from dist_ms.nn.wrap.loss_cells import WithEvalCell, WithLossCell
from dist_ms.nn.wrap.train_step import TrainOneStepCell

__all__ = ["DistributedGradReducer", "TrainOneStepCell", "WithEvalCell", "WithLossCell"]

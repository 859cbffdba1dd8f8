"""Layers in PyTorch's form by the names that MindSpore's `nn` has for them."""

from dist_ms.mint.nn.activations import LogSoftmax as LogSoftmaxExt
from dist_ms.mint.nn.losses import L1Loss as L1LossExt
from dist_ms.mint.nn.mapping import Embedding as EmbeddingExt
from dist_ms.mint.nn.pooling import AvgPool1d as AvgPool1dExt
from dist_ms.mint.nn.pooling import AvgPool2d as AvgPool2dExt
from dist_ms.mint.nn.pooling import AvgPool3d as AvgPool3dExt
from dist_ms.mint.nn.pooling import MaxPool2d as MaxPool2dExt

__all__ = [
    "AvgPool1dExt",
    "AvgPool2dExt",
    "AvgPool3dExt",
    "EmbeddingExt",
    "L1LossExt",
    "LogSoftmaxExt",
    "MaxPool2dExt",
]

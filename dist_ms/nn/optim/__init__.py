"""Optimizers."""

from dist_ms.nn.optim.adam import Adam, AdamWeightDecay
from dist_ms.nn.optim.momentum import Momentum
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamWeightDecay", "Momentum", "Optimizer"]

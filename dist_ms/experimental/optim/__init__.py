"""Optimizers in PyTorch's form: groups are dictionaries, and `optimizer(gradients)` makes a step."""

from dist_ms.experimental.optim import lr_scheduler
from dist_ms.experimental.optim.adadelta import Adadelta
from dist_ms.experimental.optim.adagrad import Adagrad
from dist_ms.experimental.optim.adam import Adam
from dist_ms.experimental.optim.adamax import Adamax
from dist_ms.experimental.optim.adamw import AdamW
from dist_ms.experimental.optim.asgd import ASGD
from dist_ms.experimental.optim.nadam import NAdam
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.experimental.optim.radam import RAdam
from dist_ms.experimental.optim.rmsprop import RMSprop
from dist_ms.experimental.optim.rprop import Rprop
from dist_ms.experimental.optim.sgd import SGD

__all__ = [
    *("ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop"),
    *("Rprop", "lr_scheduler"),
]

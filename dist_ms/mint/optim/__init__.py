"""Optimizers of MindSpore's interfaces in PyTorch's form."""

from dist_ms.mint.optim.adam import Adam
from dist_ms.mint.optim.adamw import AdamW, FusedAdamW
from dist_ms.mint.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]

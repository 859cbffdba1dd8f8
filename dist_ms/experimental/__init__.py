"""Interfaces that MindSpore calls experimental: optimizers in PyTorch's form, with their schedulers, and tables."""

from dist_ms.experimental import optim
from dist_ms.experimental.map_parameter import MapParameter

__all__ = ["MapParameter", "optim"]

"""Interfaces that MindSpore calls experimental: optimizers in PyTorch's form, with their schedulers."""

from dist_ms.common.refusing import refused as _refused
from dist_ms.experimental import optim

__all__ = ["MapParameter", "optim"]

MapParameter = _refused("MapParameter", "has no hash tables as parameters", "Use nn.Embedding or nn.EmbeddingLookup.")

"""Interfaces that MindSpore calls experimental: optimizers in PyTorch's form, with their schedulers."""

from dist_ms.experimental import optim

__all__ = ["optim"]

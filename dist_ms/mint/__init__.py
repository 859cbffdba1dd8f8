"""MindSpore's interfaces in PyTorch's form."""

from dist_ms.mint import optim

__all__ = ["optim"]

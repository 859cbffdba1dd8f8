"""Layers in PyTorch's form."""

from dist_ms.mint.nn import functional

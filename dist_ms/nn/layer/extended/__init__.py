"""Layers whose arguments follow PyTorch's."""

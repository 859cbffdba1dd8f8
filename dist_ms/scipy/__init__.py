"""MindSpore's part of SciPy: linear algebra and optimisation on tensors."""

from dist_ms.scipy import linalg, optimize

__all__ = ["linalg", "optimize"]

"""MindSpore's part of SciPy: linear algebra, optimisation and cosine transforms, on tensors."""

from dist_ms.scipy import fft, linalg, optimize

__all__ = ["fft", "linalg", "optimize"]

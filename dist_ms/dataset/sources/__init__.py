"""Sources of rows: arrays, Python objects, and files."""

from dist_ms.dataset.sources.generator import GeneratorDataset
from dist_ms.dataset.sources.numpy_slices import NumpySlicesDataset

__all__ = ["GeneratorDataset", "NumpySlicesDataset"]

"""MindSpore's longer path to the transforms of columns: the names of `dist_ms.dataset.transforms`."""

from dist_ms.dataset import transforms as _transforms
from dist_ms.dataset.declared import shown as _shown

__getattr__, __dir__, __all__ = _shown(_transforms)

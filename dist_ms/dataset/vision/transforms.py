"""MindSpore's longer path to the transforms of images: the names of `dist_ms.dataset.vision`."""

from dist_ms.dataset import vision as _vision
from dist_ms.dataset.declared import shown as _shown

__getattr__, __dir__, __all__ = _shown(_vision)

"""MindSpore's longer path to the transforms of images: the names of `dist_ms.dataset.vision`."""

from dist_ms.common.late_names import names_of
from dist_ms.dataset import vision

__getattr__, __dir__ = names_of(vision, lambda name: not name.startswith("_"))

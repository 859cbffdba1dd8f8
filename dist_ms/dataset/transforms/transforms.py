"""MindSpore's longer path to the transforms of columns: the names of `dist_ms.dataset.transforms`."""

from dist_ms.common.late_names import names_of
from dist_ms.dataset import transforms

__getattr__, __dir__ = names_of(transforms, lambda name: not name.startswith("_"))

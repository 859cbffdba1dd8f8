"""MindSpore's longer path to the transforms of text: the names of `dist_ms.dataset.text`."""

from dist_ms.common.late_names import names_of
from dist_ms.dataset import text

__getattr__, __dir__ = names_of(text, lambda name: not name.startswith("_"))

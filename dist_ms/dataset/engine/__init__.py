"""Where MindSpore keeps its datasets: the names of `dist_ms.dataset`, for scripts that take them from here."""

from dist_ms import dataset
from dist_ms.common.late_names import names_of

__getattr__, __dir__ = names_of(dataset, lambda name: not name.startswith("_"))

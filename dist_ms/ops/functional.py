"""The functional forms, as MindSpore's `ops.functional` (usually imported as F)."""

from dist_ms import ops
from dist_ms.common.late_names import names_of

__getattr__, __dir__ = names_of(ops, lambda name: not name.startswith("_"))

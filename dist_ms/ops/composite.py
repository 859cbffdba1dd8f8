"""Functions made of functions, as MindSpore's `ops.composite` (usually imported as C)."""

from dist_ms import ops
from dist_ms.common.late_names import names_of

_LISTED = {"GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "clip_by_global_norm", "clip_by_value"}

__getattr__, __dir__ = names_of(ops, _LISTED.__contains__)

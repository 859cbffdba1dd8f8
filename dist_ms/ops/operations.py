"""The primitives, as MindSpore's `ops.operations` (usually imported as P)."""

import sys

from dist_ms import ops
from dist_ms.common.late_names import names_of

# MindSpore's files of primitives, which scripts name too; here they all hold everything.
array_ops = image_ops = linalg_ops = math_ops = nn_ops = random_ops = sparse_ops = sys.modules[__name__]

__getattr__, __dir__ = names_of(ops, lambda name: name[0].isupper())

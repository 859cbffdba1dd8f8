"""MindSpore's gradient primitives: ReluGrad, LayerNormGrad and their kin, over the gradients that are here.

Only `mindspore.ops.operations._grad_ops` and `mindspore.ops.auto_generate` show them; `ops` itself does not.
"""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.ops.backward.activations import *
    from dist_ms.ops.backward.algebra import *
    from dist_ms.ops.backward.convolutions import *
    from dist_ms.ops.backward.elementwise import *
    from dist_ms.ops.backward.images import *
    from dist_ms.ops.backward.layers import *
    from dist_ms.ops.backward.losses import *
    from dist_ms.ops.backward.pieces import *
    from dist_ms.ops.backward.pooling import *
    from dist_ms.ops.backward.refused import *

_late_names(__name__)

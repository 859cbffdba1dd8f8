"""Operations: a Primitive each, with its functional form and the method of Tensor.

Folders are families, and each file holds one kind; what it gives to the world is in its `__all__`.
Floor rule: nothing here imports more than `common`, `autograd` and `_ext`.
"""

# ruff: noqa: E402, I001
import typing as _typing

from dist_ms.common.late_names import late_names as _late_names
from dist_ms.ops.declared import declared as _declared
from dist_ms.ops.extended_names import in_other_form as _in_other_form
from dist_ms.ops.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer

if _typing.TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...


_late_names(__name__, _declared, _in_other_form)

# elementwise
from dist_ms.ops.elementwise.arithmetic import *
from dist_ms.ops.elementwise.division import *
from dist_ms.ops.elementwise.powers import *
from dist_ms.ops.elementwise.exponentials import *
from dist_ms.ops.elementwise.extremes import *
from dist_ms.ops.elementwise.comparison import *
from dist_ms.ops.elementwise.logical import *

# types and shapes
from dist_ms.ops.creating.casting import *
from dist_ms.ops.creating.properties import *
from dist_ms.ops.shaping.reshaping import *
from dist_ms.ops.shaping.transposing import *
from dist_ms.ops.shaping.expanding import *
from dist_ms.ops.shaping.joining import *
from dist_ms.ops.shaping.splitting import *
from dist_ms.ops.shaping.padding import *

# reductions, scans, order
from dist_ms.ops.reducing.reduction import *
from dist_ms.ops.reducing.reduce_extremes import *

# products
from dist_ms.ops.linear_algebra.matmul import *
from dist_ms.ops.linear_algebra.einsum import *
from dist_ms.ops.linear_algebra.cholesky import *

# elements picked, put, chosen
from dist_ms.ops.shaping.slicing import *
from dist_ms.ops.picking.gathering import *
from dist_ms.ops.picking.selection import *

# made, drawn, written
from dist_ms.ops.creating.creation import *
from dist_ms.ops.creating.assignment import *

# neural networks
from dist_ms.ops.activations.activation import *
from dist_ms.ops.activations.softmax import *
from dist_ms.ops.layers.dropout import *
from dist_ms.ops.layers.embedding import *
from dist_ms.ops.layers.dense import *
from dist_ms.ops.layers.bias_add import *
from dist_ms.ops.convolutions.unfold import *
from dist_ms.ops.images.interpolate import *
from dist_ms.ops.shaping.pixel_shuffle import *
from dist_ms.ops.layers.batch_norm import *
from dist_ms.ops.layers.layer_norm import *
from dist_ms.ops.losses.cross_entropy import *
from dist_ms.ops.losses.ctc_loss import *

# sparse containers
from dist_ms.ops.sparse.sparse_containers import *

# side effects, hooks, functions of functions
from dist_ms.ops.flow.hooks import *

# what stands on all of these: Tensor's operators and methods
from dist_ms.ops.picking import indexing
from dist_ms.ops.tensor import tensor_operators
from dist_ms.ops.tensor import tensor_methods
from dist_ms.ops.tensor import tensor_reduction_methods
from dist_ms.ops.tensor import tensor_shape_methods
from dist_ms.ops.tensor import tensor_element_methods
from dist_ms.ops.tensor import tensor_conversion_methods
from dist_ms.ops.tensor import tensor_named_methods, tensor_offload_methods, tensor_storage_methods
from dist_ms.ops.tensor import tensor_drawing_methods
from dist_ms.ops.tensor import tensor_inplace_methods
from dist_ms.ops.tensor import tensor_window_methods
from dist_ms.ops.sparse import sparse_methods

# Last, as `vjp` is also the name of a file here.
from dist_ms.autograd.public import *

# MindSpore's other names for this package: P, F and C
from dist_ms.ops import composite, functional, operations

# its modules of functions
from dist_ms.ops import auto_generate, function, functional_overload

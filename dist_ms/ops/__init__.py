"""Operations: a Primitive each, with its functional form and the method of Tensor.

Folders are families, and each file holds one kind; what it gives to the world is in its `__all__`, and it loads when
one of those names is first used. Floor rule: nothing here imports more than `common`, `autograd` and `_ext`.
"""

# ruff: noqa: E402
import typing as _typing

from dist_ms.common.late_names import late_names as _late_names
from dist_ms.ops.declared import declared as _declared
from dist_ms.ops.extended_names import in_other_form as _in_other_form

if _typing.TYPE_CHECKING:
    from typing import Any

    from dist_ms.autograd.public import *

    # MindSpore's other names for this package, P, F and C, and its modules of functions
    from dist_ms.ops import auto_generate, composite, function, functional, functional_overload, operations
    from dist_ms.ops.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer

    def __getattr__(name: str) -> Any: ...


_late_names(__name__, _declared, _in_other_form)

# Tensor's operators and methods, which are attached
from dist_ms.ops.flow import hooks
from dist_ms.ops.picking import indexing
from dist_ms.ops.sparse import sparse_methods
from dist_ms.ops.tensor import (
    tensor_conversion_methods,
    tensor_drawing_methods,
    tensor_element_methods,
    tensor_inplace_methods,
    tensor_methods,
    tensor_named_methods,
    tensor_offload_methods,
    tensor_operators,
    tensor_reduction_methods,
    tensor_shape_methods,
    tensor_storage_methods,
    tensor_window_methods,
)

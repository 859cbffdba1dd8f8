"""`tensor_to_ms_type` and `tensor_to_np_type` of `mindspore.train.serialization`: types by their names in files."""

from __future__ import annotations

from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_choice

__all__ = ["tensor_to_ms_type", "tensor_to_np_type"]

_TYPES = [
    getattr(mstype, kind)
    for kind in "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 bool_ bfloat16".split()
]
tensor_to_ms_type: dict[str, Any] = {str(kind): kind for kind in _TYPES} | {"str": mstype.string}


def tensor_to_np_type(tensor_type_str: str) -> type:
    """NumPy's type for the name of one in a checkpoint.

    Args:
        tensor_type_str: such as "Float32".

    Raises:
        ValueError: if no tensor has it.

    Examples:
        >>> from dist_ms.compat.inner.saved_types import tensor_to_np_type
        >>> tensor_to_np_type("Float32").__name__
        'float32'
    """
    names = [name for name in tensor_to_ms_type if name != "str"]
    check_choice(tensor_type_str, "tensor_type_str", "tensor_to_np_type", names)
    return mstype.to_numpy(tensor_to_ms_type[tensor_type_str]).type

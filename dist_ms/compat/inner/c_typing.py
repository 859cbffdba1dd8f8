"""`mindspore._c_expression.typing`: the classes of data types, and MindSpore's numbers for them."""

from __future__ import annotations

from dist_ms.common import dtype as mstype
from dist_ms.common.type_classes import BFloat, Bool, Complex, Float, Int, Kind, Number, TensorType, Type, UInt

__all__ = [
    "BFloat",
    "Bool",
    "Complex",
    "Float",
    "Int",
    "Number",
    "TensorType",
    "Type",
    "UInt",
    "is_subclass",
    "str_to_type",
    "type_id_to_type",
    "type_to_type_id",
]

_OF_TYPES: dict[int, Type] = {
    4: mstype.type_type,
    7: mstype.type_none,
    **dict(enumerate((mstype.number, mstype.string, mstype.list_, mstype.tuple_), 11)),
    17: mstype.tensor_type,
    **dict(enumerate((mstype.bool_, mstype.int_, *mstype.int_type), 30)),
    **dict(enumerate((mstype.uint, *mstype.uint_type), 36)),
    **dict(enumerate((mstype.float_, *mstype.float_type), 41)),
    **dict(enumerate(mstype.complex_type, 51)),
}
_NUMBERS = {type_: number for number, type_ in _OF_TYPES.items()}

kBool, kInt, kUInt, kFloat, kNumber = mstype.bool_, mstype.int_, mstype.uint, mstype.float_, mstype.number
kInt8, kInt16, kInt32, kInt64 = mstype.int_type
kUInt8, kUInt16, kUInt32, kUInt64 = mstype.uint_type
kFloat16, kFloat32, kFloat64, kBFloat16 = mstype.float_type
kComplex64, kComplex128 = mstype.complex_type


def type_to_type_id(type: Type) -> int:
    """MindSpore's number of a type.

    Raises:
        TypeError: if it has none here.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.c_typing import type_to_type_id
        >>> type_to_type_id(ms.float32)
        43
    """
    if isinstance(type, TensorType):
        return 17
    if type not in _NUMBERS:
        raise TypeError(f"For 'type_to_type_id', 'type' must be a data type, but got {type!r}.")
    return _NUMBERS[type]


def type_id_to_type(type_id: int) -> Type:
    """The type of one of MindSpore's numbers.

    Raises:
        ValueError: if no type has the number.
    """
    if type_id not in _OF_TYPES:
        raise ValueError(f"For 'type_id_to_type', 'type_id' must be the number of a data type, but got {type_id!r}.")
    return _OF_TYPES[type_id]


def str_to_type(text: str) -> Number | Kind:
    """The type of a name such as "float32".

    Raises:
        ValueError: if no type has the name.
    """
    found = Number.by_text.get(text.lower())
    if not isinstance(found, (Number, Kind)):
        raise ValueError(f"For 'str_to_type', 'text' must be the name of a data type, but got {text!r}.")
    return found


def is_subclass(type: Type, family: Type) -> bool:
    """Whether a type is of a family such as `kNumber`."""
    return type is family or (isinstance(family, Kind) and isinstance(type, family.family))

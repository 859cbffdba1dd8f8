"""Data types: one object per type, printed as MindSpore prints them."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from dist_ms.common.late_names import late_names
from dist_ms.common.type_classes import (
    BFloat,
    Bool,
    Complex,
    Float,
    Float8,
    Int,
    Kind,
    Number,
    TensorType,
    Type,
    UInt,
)

__all__ = [
    *("Type", "Int", "TensorType", "bool_", "int_", "uint", "float_", "number", "string"),
    *("int8", "byte", "int16", "short", "int32", "intc", "int64", "intp", "long"),
    *("uint8", "ubyte", "uint16", "ushort", "uint32", "uintc", "uint64", "uintp"),
    *("float16", "half", "float32", "single", "float64", "double", "bfloat16"),
    *("float8_e4m3fn", "float8_e5m2"),
    *("complex64", "cfloat", "complex128", "cdouble"),
    *("list_", "tuple_", "type_none", "tensor_type"),
    *("dtype_to_nptype", "dtype_to_pytype", "pytype_to_dtype", "get_py_obj_dtype"),
]

bool_ = Bool("Bool", np.bool_)
int8 = Int("Int8", np.int8)
int16 = Int("Int16", np.int16)
int32 = Int("Int32", np.int32)
int64 = Int("Int64", np.int64)
uint8 = UInt("UInt8", np.uint8)
uint16 = UInt("UInt16", np.uint16)
uint32 = UInt("UInt32", np.uint32)
uint64 = UInt("UInt64", np.uint64)
float16 = Float("Float16", np.float16)
float32 = Float("Float32", np.float32)
float64 = Float("Float64", np.float64)
bfloat16 = BFloat("BFloat16", ml_dtypes.bfloat16)
float8_e4m3fn = Float8("Float8E4M3FN", ml_dtypes.float8_e4m3fn)
float8_e5m2 = Float8("Float8E5M2", ml_dtypes.float8_e5m2)
complex64 = Complex("Complex64", np.complex64)
complex128 = Complex("Complex128", np.complex128)

byte, short, intc, intp, long = int8, int16, int32, int64, int64
ubyte, ushort, uintc, uintp = uint8, uint16, uint32, uint64
half, single, double = float16, float32, float64
cfloat, cdouble = complex64, complex128

number = Kind("Number", "number", Number)
int_ = Kind("Int", "int", Int)
uint = Kind("UInt", "uint", UInt)
float_ = Kind("Float", "float", Float)
string = Kind("String", "string_", str)
list_ = Kind("List", "list_", list)
tuple_ = Kind("Tuple", "tuple_", tuple)
type_none = Kind("None", "type_none", type(None))
type_type = Kind("TypeType", "type_type", Type)
tensor_type = TensorType()

int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64, bfloat16)
complex_type = (complex64, complex128)
number_type = (*int_type, *uint_type, *float_type, *complex_type)
signed_type = (*int_type, *float_type, *complex_type)
all_types = (bool_, *number_type)
float8_type = (float8_e4m3fn, float8_e5m2)  # which are stored and cast, and no family of MindSpore has

_FROM_NUMPY = Number.by_numpy
_FROM_NAME = {str(t).lower(): t for t in all_types} | {t.np.name: t for t in float8_type}
_FROM_PYTHON = {bool: bool_, int: int64, float: float32, complex: complex128}
_OF_OBJECTS: dict[Any, Type] = {
    bool: bool_,
    int: int64,
    float: float64,
    complex: complex128,
    str: string,
    list: list_,
    tuple: tuple_,
    type(None): type_none,
}


def from_numpy(np_dtype: Any) -> Number:
    """Return the type of a NumPy dtype.

    Raises:
        TypeError: for a dtype without a counterpart, such as strings and objects.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.dtype import from_numpy
        >>> print(from_numpy(np.dtype("float32")))
        Float32
    """
    try:
        return _FROM_NUMPY[np_dtype]
    except (KeyError, TypeError):
        pass
    found = _FROM_NUMPY.get(np.dtype(np_dtype))
    if found is None:
        raise TypeError(
            "For 'Tensor', the NumPy dtype must be a boolean, integer, float or complex type in "
            f"the machine's byte order, but got {np_dtype}."
        )
    return found


def is_known(np_dtype: np.dtype) -> bool:
    """Whether a NumPy dtype has a counterpart here, in the machine's byte order."""
    return np_dtype in _FROM_NUMPY


@functools.lru_cache(maxsize=256)
def to_type(dtype: Any) -> Number:
    """Return the type object of a type, a Python type, a NumPy dtype or a name.

    Raises:
        TypeError: if `dtype` names no data type.
    """
    if isinstance(dtype, Number):
        return dtype
    if isinstance(dtype, type) and dtype in _FROM_PYTHON:
        return _FROM_PYTHON[dtype]
    if isinstance(dtype, str) and dtype.lower() in _FROM_NAME:
        return _FROM_NAME[dtype.lower()]
    try:
        return from_numpy(np.dtype(dtype))
    except (TypeError, ValueError):
        raise TypeError(f"The dtype must be a dist_ms dtype such as dist_ms.float32, but got {dtype!r}.") from None


def to_numpy(dtype: Any) -> np.dtype:
    """Return the NumPy dtype of anything `to_type` accepts."""
    return dtype.np if isinstance(dtype, Number) else to_type(dtype).np


def dtype_to_nptype(type_: Number) -> type:
    """Convert a data type to the NumPy scalar type.

    Raises:
        TypeError: if `type_` is no number type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.dtype_to_nptype(ms.int8)
        <class 'numpy.int8'>
    """
    if not isinstance(type_, Number):
        raise TypeError(f"For 'dtype_to_nptype', 'type_' must be a number type, but got {type_!r}.")
    return type_.np.type


def dtype_to_pytype(type_: Type) -> type:
    """Convert a data type to the Python type that holds one such value.

    Raises:
        TypeError: if there is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.dtype_to_pytype(ms.bool_)
        <class 'bool'>
    """
    for family, python in (
        (Bool, bool),
        ((Int, UInt), int),
        ((Float, BFloat), float),
        (Complex, complex),
    ):
        if isinstance(type_, family):
            return python
    if type_ in (string, list_, tuple_, type_none):
        return type_.family[0]
    raise TypeError(
        f"For 'dtype_to_pytype', 'type_' must be a number type, string, list_ or tuple_, but got {type_!r}."
    )


def pytype_to_dtype(obj: Any) -> Type:
    """Convert a Python or NumPy type to a data type.

    Raises:
        TypeError: if `obj` is no type.
        NotImplementedError: if it has no counterpart.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.pytype_to_dtype(bool))
        Bool
    """
    if isinstance(obj, Type):
        return obj
    if not isinstance(obj, (type, np.dtype)):
        raise TypeError(
            "For 'pytype_to_dtype', 'obj' must be a type such as int, float or numpy.int8, "
            f"but got {type(obj).__name__} {obj!r}."
        )
    if obj in _OF_OBJECTS:
        return _OF_OBJECTS[obj]
    if isinstance(obj, np.dtype) or issubclass(obj, np.generic):
        return from_numpy(np.dtype(obj))
    raise NotImplementedError(f"The python type {obj} cannot be converted to a data type.")


def get_py_obj_dtype(obj: Any) -> Type:
    """Return the data type of a Python object, a Tensor or a Python type.

    Raises:
        NotImplementedError: if it has none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.get_py_obj_dtype(1)
        mindspore.int64
    """
    if isinstance(obj, type):
        return pytype_to_dtype(obj)
    if isinstance(obj, Type):
        return type_type
    element = getattr(obj, "dtype", None)
    return TensorType(element) if isinstance(element, Number) else pytype_to_dtype(type(obj))


def type_size_in_bytes(dtype: Number) -> int:
    """Return the size in bytes of one element."""
    return to_type(dtype).np.itemsize


def _issubclass_(type_: Type, dtype: Any) -> bool:
    """Whether a type, or a class of types, belongs to a family: `number`, or the class Int."""
    families = dtype.family if isinstance(dtype, Kind) else (dtype if isinstance(dtype, type) else type(dtype),)
    return type_ is dtype or issubclass(type_ if isinstance(type_, type) else type(type_), families)


# As globals these would hide the built-ins in this file.
late_names(__name__, otherwise={"bool": bool_, "int": int32, "float": float32}.get)

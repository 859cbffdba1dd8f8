"""Values in a file of MINDIR: tensors, and numbers, texts and tuples as attributes."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.mindir.messages import ATTRIBUTE, message

__all__ = ["ORDER", "TYPES", "array_of", "attribute", "dtype_of", "element_type", "tensor", "type_number", "value_of"]

# NumPy's names of element types: their numbers in tensors, and as settings of operations.
_NUMBERS = {
    "float32": (1, 43),
    "uint8": (2, 37),
    "int8": (3, 32),
    "uint16": (4, 38),
    "int16": (5, 33),
    "int32": (6, 34),
    "int64": (7, 35),
    "bool": (9, 30),
    "float16": (10, 42),
    "float64": (11, 44),
    "uint32": (12, 39),
    "uint64": (13, 40),
    "complex64": (14, 51),
    "complex128": (15, 52),
    "bfloat16": (16, 45),
}


class _Order:
    """In place of a value: a node waits for another, and reads nothing of it."""

    def __repr__(self) -> str:
        return "the order of nodes"


ORDER = _Order()


@functools.cache
def _types() -> dict[int, Any]:
    return {number: getattr(mstype, "bool_" if name == "bool" else name).np for name, (number, _) in _NUMBERS.items()}


@functools.cache
def TYPES() -> dict[int, Any]:
    """Types as settings of operations, by their number."""
    return {number: getattr(mstype, "bool_" if name == "bool" else name) for name, (_, number) in _NUMBERS.items()}


def element_type(dtype: np.dtype) -> int:
    """The number of a NumPy type in tensors."""
    return _NUMBERS[dtype.name][0]


def type_number(dtype: Any) -> int:
    """The number of a type, NumPy's or MindSpore's, as a setting."""
    return _NUMBERS[np.dtype(getattr(dtype, "np", dtype)).name][1]


def tensor(array: np.ndarray, name: str = "") -> Any:
    """An array as a message."""
    made = message("Tensor", dims=array.shape, data_type=element_type(array.dtype))
    made.raw_data = np.ascontiguousarray(array).tobytes()
    if name:
        made.name = name
    return made


def dtype_of(number: int, what: str) -> np.dtype:
    """NumPy's type of a tensor's elements.

    Raises:
        ValueError: if there is none of this number.
    """
    if number not in _types():
        raise ValueError(f"{what} has elements of the unknown type {number}")
    return _types()[number]


def array_of(told: Any, what: str) -> np.ndarray:
    """The array of a tensor's message.

    Args:
        told: the message.
        what: what it is, for errors.

    Raises:
        ValueError: if it is incomplete, or its values lie elsewhere.
    """
    if told.HasField("external_data"):
        raise ValueError(f"the values of {what} lie in a file of their own, {told.external_data.location!r}")
    if told.compression_type:
        raise ValueError(f"the values of {what} are compressed")
    dtype, shape = dtype_of(told.data_type, what), tuple(told.dims)
    if any(n < 0 for n in shape):
        raise ValueError(f"{what} has the shape {shape}")
    if len(told.raw_data) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{what} has {len(told.raw_data)} bytes for the shape {shape} of {dtype.name}")
    return np.frombuffer(told.raw_data, dtype).reshape(shape).copy()


def attribute(value: Any, name: str = "") -> Any:
    """A value as a message: an array, a number, a str, None, or a tuple of such.

    Raises:
        TypeError: if it is none of these.
    """
    made = message("Attribute")
    if name:
        made.name = name
    if isinstance(value, np.ndarray):
        made.type = ATTRIBUTE["tensors"]
        made.tensors.append(tensor(value, "value0"))
    elif isinstance(value, (bool, np.bool_)):
        made.type, made.i = ATTRIBUTE["bool"], int(value)
    elif isinstance(value, (int, np.integer)):
        made.type, made.i = ATTRIBUTE["int64"], int(value)
    elif isinstance(value, (float, np.floating)):
        made.type, made.f = ATTRIBUTE["float"], float(value)
    elif isinstance(value, str):
        made.type, made.s = ATTRIBUTE["string"], value.encode()
    elif value is None:
        made.type = ATTRIBUTE["none"]
    elif isinstance(value, (tuple, list)):
        made.type = ATTRIBUTE["tuple"]
        made.values.extend([_part(v) for v in value])
    else:
        raise TypeError(f"a {type(value).__name__} is no value of MINDIR")
    return made


def _part(value: Any) -> Any:
    """A value within a tuple: numbers and texts stand in lists of one there."""
    made = attribute(value)
    for single, several in (("i", "ints"), ("f", "floats"), ("s", "strings")):
        if made.HasField(single) and made.type != ATTRIBUTE["bool"]:
            getattr(made, several).append(getattr(made, single))
            made.ClearField(single)
    return made


_SCALARS = {
    ATTRIBUTE["float"]: ("f", "floats", float),
    ATTRIBUTE["double"]: ("d", "doubles", float),
    ATTRIBUTE["int32"]: ("i", "ints", int),
    ATTRIBUTE["int64"]: ("i", "ints", int),
    ATTRIBUTE["bool"]: ("i", "ints", bool),
}


def value_of(told: Any, what: str) -> Any:
    """The value of an attribute's message; arrays for tensors.

    Raises:
        ValueError: if it is of another kind, or incomplete.
    """
    if told.type in _SCALARS:
        single, several, make = _SCALARS[told.type]
        listed = getattr(told, several)
        return make(listed[0] if listed else getattr(told, single))
    if told.type == ATTRIBUTE["string"]:
        text = told.strings[0] if told.strings else told.s
        return text.decode(errors="replace")
    if told.type in (ATTRIBUTE["tuple"], ATTRIBUTE["list"]):
        return tuple([value_of(v, what) for v in told.values])
    if told.type in (ATTRIBUTE["tensor"], ATTRIBUTE["tensors"]):
        found = told.tensors[0] if told.tensors else told.t
        return array_of(found, what)
    if told.type == ATTRIBUTE["none"]:
        return None
    if told.type in (ATTRIBUTE["memory"], ATTRIBUTE["io"]):
        return ORDER
    raise ValueError(f"{what} has a value of the unknown kind {told.type}")

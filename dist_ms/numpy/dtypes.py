"""Names of data types and constants, and the type that several promote to."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.dtype import (
    Number,
    bool_,
    float16,
    float32,
    float64,
    from_numpy,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import tensor_of, type_of
from dist_ms.ops.broadcasting import promote_types as promote

__all__ = [
    *("bool_", "float16", "float32", "float64", "float_", "int8", "int16", "int32", "int64", "int_", "uint"),
    *("uint8", "uint16", "uint32", "uint64", "inf", "nan", "pi", "PINF", "NINF", "numeric_types"),
    *("promote_types", "result_type"),
]

int_, uint, float_ = int32, uint32, float32
inf, nan, pi = float("inf"), float("nan"), np.pi
PINF, NINF = inf, -inf
numeric_types = [int_, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float_]
numeric_types += [float16, float32, float64, bool_]


def promote_types(type1: Any, type2: Any) -> Number:
    """Return the smallest data type that both types can be cast to; a float beats an integer of any width.

    Args:
        type1: a data type, a Python type or a name.
        type2: likewise.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.promote_types("int8", "uint8"), mnp.promote_types("float16", "int32"))
        Int16 Float16
    """
    a, b = type_of(type1), type_of(type2)
    if {a, b} <= {np.dtype(np.uint64), *map(np.dtype, ("int8", "int16", "int32", "int64"))} and a.kind != b.kind:
        return float64
    return from_numpy(promote(a, b))


def result_type(*arrays_and_dtypes: Any) -> Number:
    """Return the data type of an operation on tensors, numbers and types together.

    Args:
        arrays_and_dtypes: Tensors, Python numbers, lists of them, and data types.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.result_type("int8", mnp.float16, True))
        Float16
    """
    if not arrays_and_dtypes:
        raise TypeError("For 'result_type', at least one argument is needed, but got none.")
    found = None
    for item in arrays_and_dtypes:
        is_type = isinstance(item, (str, type, np.dtype, Number))
        if isinstance(item, Tensor) or not is_type:
            item = tensor_of(item, "arrays_and_dtypes", "result_type").dtype
        found = from_numpy(type_of(item)) if found is None else promote_types(found, item)
    return found

"""Arrays from what users hand to Tensor, with MindSpore's types."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype

# What NumPy makes of Python numbers, and the types MindSpore gives them.
_DEFAULTS: dict[np.dtype, np.dtype] = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.int32): np.dtype(np.int64),
}


def array_from(value: Any, np_dtype: np.dtype | None) -> np.ndarray:
    """Make a new array, in standard order, of an array, a number or a nested sequence.

    Args:
        value: what a Tensor accepts but a Tensor, which may sit inside a sequence.
        np_dtype: the wanted type; None keeps an array's, and makes float32 of Python
            floats and int64 of Python ints.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(value, np.ndarray):
        mstype.from_numpy(value.dtype)
        return cast(np.array(value, order="C"), np_dtype)
    if isinstance(value, np.generic):
        mstype.from_numpy(value.dtype)
        return cast(np.array(value), np_dtype)
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, np_dtype)
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(
            "For 'Tensor', 'input_data' must be a Tensor, numpy.ndarray, number, bool, list or "
            f"tuple, but got {type(value).__name__}."
        )
    return _with_defaults(_numbers(value, value), np_dtype)


def _from_sequence(value: Any, np_dtype: np.dtype | None) -> np.ndarray:
    """Convert a nested sequence, which may hold tensors and arrays."""
    return _with_defaults(_numbers(_plain(value), value), np_dtype)


def _numbers(plain: Any, shown: Any) -> np.ndarray:
    try:
        array = np.array(plain)
    except (ValueError, OverflowError) as error:
        raise TypeError(
            f"For 'Tensor', 'input_data' must be numbers in a regular nesting, but got {shown!r}: {error}."
        ) from None
    if not mstype.is_known(array.dtype):
        raise TypeError(f"For 'Tensor', the elements of 'input_data' must be numbers, but got {shown!r}.")
    return array


def _with_defaults(array: np.ndarray, np_dtype: np.dtype | None) -> np.ndarray:
    return cast(array, _DEFAULTS.get(array.dtype) if np_dtype is None else np_dtype)


def _plain(items: Any) -> list:
    """Replace tensors in a nested sequence by their arrays."""
    return [_plain(i) if isinstance(i, (list, tuple)) else i.array() if hasattr(i, "array") else i for i in items]


def cast(array: np.ndarray, np_dtype: np.dtype | None) -> np.ndarray:
    """The array in another type; the same array if it has that type.

    Imaginary parts are dropped, and numbers that do not fit wrap or saturate as the
    processor does it, without a warning.
    """
    if np_dtype is None or array.dtype == np_dtype:
        return array
    if array.dtype.kind == "c" and np_dtype.kind != "c":
        array = array.real if np_dtype.kind != "b" else array != 0
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(np_dtype)

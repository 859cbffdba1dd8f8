"""What the functions of this package accept: tensors, numbers and nested lists, and their default types."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import to_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.broadcasting import promote_types
from dist_ms.ops.creating.casting import cast_array

FLOAT32 = np.dtype(np.float32)
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
_DEFAULTS = {"i": INT32, "u": INT32, "f": FLOAT32, "c": np.dtype(np.complex64)}
_PYTHON = {int: INT32, float: FLOAT32, bool: np.dtype(np.bool_)}


def tensor_of(x: Any, name: str, owner: str) -> Tensor:
    """Return a tensor as it is; numbers and nested lists become int32, float32 or bool tensors."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return wrap(_default(np.asarray(x), name, owner))
    if isinstance(x, (list, tuple)):
        if _holds_tensor(x):
            return ops.stack(alike([tensor_of(item, name, owner) for item in x]))
        return wrap(_default(_regular(x, name, owner), name, owner))
    raise TypeError(
        f"For '{owner}', '{name}' must be a Tensor, a number or a list or tuple of them, but got {type(x).__name__}."
    )


def strict(x: Any, name: str, owner: str) -> Tensor:
    """Return a tensor as it is, and refuse anything else."""
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{owner}', '{name}' must be a Tensor, but got {type(x).__name__}.")
    return x


def strict_all(tensors: Any, name: str, owner: str) -> list[Tensor]:
    """Return a non-empty sequence of tensors, or the rows of one tensor, as a list."""
    if not isinstance(tensors, (list, tuple, Tensor)):
        raise TypeError(
            f"For '{owner}', '{name}' must be a list or tuple of Tensors, but got {type(tensors).__name__}."
        )
    if len(tensors) == 0:
        raise ValueError(f"For '{owner}', '{name}' must hold at least one Tensor, but it is empty.")
    return [strict(t, name, owner) for t in tensors]


def _holds_tensor(x: Iterable) -> bool:
    return any(isinstance(i, Tensor) or (isinstance(i, (list, tuple)) and _holds_tensor(i)) for i in x)


def _regular(x: Any, name: str, owner: str) -> np.ndarray:
    """An array of nested lists, which must have equal lengths."""
    try:
        return np.asarray(x)
    except ValueError:
        raise ValueError(f"For '{owner}', the lists in '{name}' must have equal lengths, but got {x}.") from None


def _default(a: np.ndarray, name: str, owner: str) -> np.ndarray:
    """Numbers of Python in MindSpore's default types; a bool stays a bool."""
    if a.dtype.kind not in "biufc":
        raise TypeError(f"For '{owner}', '{name}' must hold numbers or bools, but got {a.dtype}.")
    return a if a.dtype.kind == "b" else a.astype(_DEFAULTS[a.dtype.kind])


def type_of(dtype: Any) -> np.dtype:
    """The NumPy dtype of a type object, a Python type or a name; int means int32 and float float32."""
    return _PYTHON[dtype] if isinstance(dtype, type) and dtype in _PYTHON else to_numpy(dtype)


def typed(x: Tensor, dtype: Any) -> Tensor:
    """The tensor in another type, or as it is when `dtype` is None."""
    return x if dtype is None else cast(x, type_of(dtype))


def cast(x: Tensor, np_dtype: np.dtype) -> Tensor:
    """The tensor in a NumPy dtype."""
    return x if kind_type(x) == np_dtype else cast_array(x, np_dtype)


def kind_type(x: Tensor) -> np.dtype:
    """The NumPy dtype of a tensor."""
    return x.dtype.np


def is_float(x: Tensor) -> bool:
    """Whether a tensor holds floats or complex numbers."""
    return kind_type(x).kind not in "biu"


def floats(x: Tensor) -> Tensor:
    """The tensor as floats: integers and bools become float32."""
    return x if is_float(x) else cast(x, FLOAT32)


def common_type(tensors: Iterable[Tensor]) -> np.dtype:
    """The type that all the tensors promote to."""
    return functools.reduce(promote_types, [kind_type(t) for t in tensors])


def alike(tensors: Iterable[Tensor]) -> list[Tensor]:
    """The tensors in their common type."""
    tensors = list(tensors)
    d = common_type(tensors)
    return [cast(t, d) for t in tensors]


def shape_of(name: str, shape: Any) -> tuple[int, ...]:
    """A shape given as an int or a sequence of ints."""
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else shape
    if not isinstance(sizes, (tuple, list)) or not all(isinstance(n, (int, np.integer)) for n in sizes):
        raise TypeError(f"For '{name}', 'shape' must be an int or a tuple or list of ints, but got {shape}.")
    if any(n < 0 for n in sizes):
        raise ValueError(f"For '{name}', 'shape' must hold no negative number, but got {shape}.")
    return tuple(int(n) for n in sizes)


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes named by None (all of them), an int or a sequence, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    chosen = (axis,) if isinstance(axis, (int, np.integer)) else axis
    if not isinstance(chosen, (tuple, list)) or not all(isinstance(a, (int, np.integer)) for a in chosen):
        raise TypeError(f"For '{name}', 'axis' must be None, an int or a tuple of ints, but got {axis}.")
    for a in chosen:
        if not -ndim <= a < ndim:
            raise ValueError(f"For '{name}', 'axis' must be in [{-ndim}, {ndim}), but got {a}.")
    found = tuple(int(a) % ndim for a in chosen)
    if len(set(found)) != len(found):
        raise ValueError(f"For '{name}', 'axis' must name each axis once, but got {axis}.")
    return found


def axis_of(name: str, axis: Any, ndim: int) -> int:
    """One axis, counted from the front."""
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        raise TypeError(f"For '{name}', 'axis' must be an int, but got {axis}.")
    return axes_of(name, axis, ndim)[0]


def integer_of(value: Any, name: str, owner: str) -> int:
    """An int that is no bool."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{name}' must be an int, but got {value}.")
    return int(value)

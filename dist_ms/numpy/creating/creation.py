"""Tensors made of given values, or filled with one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, float32
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, cast, integer_of, shape_of, strict, tensor_of, type_of, typed

__all__ = [
    *("array", "array_str", "asarray", "asfarray", "copy", "empty", "empty_like", "eye", "full", "full_like"),
    *("identity", "ones", "ones_like", "zeros", "zeros_like"),
]


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Make a tensor of a number, of nested lists of numbers and tensors, or of a tensor.

    Args:
        obj: a number, a Tensor, or lists and tuples of them.
        dtype: the data type; by default int32, float32 or bool as the values need.
        copy: whether a tensor is copied.
        ndmin: how many dimensions the result has at least; new ones of length 1 come first.

    Returns:
        Tensor of the values.

    Raises:
        TypeError: if `obj` holds anything but numbers and tensors.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.array([1, 2], ndmin=2))
        [[1 2]]
    """
    x = tensor_of(obj, "obj", "array")
    if copy and x is obj:
        x = ops.deepcopy(x)
    x = typed(x, dtype)
    missing = integer_of(ndmin, "ndmin", "array") - x.ndim
    return x if missing <= 0 else ops.reshape(x, (1,) * missing + x.shape)


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of numbers, or give a tensor back as it is; see `array`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.asarray([1, 2.5]))
        [1.  2.5]
    """
    return typed(tensor_of(a, "a", "asarray"), dtype)


def asfarray(a: Any, dtype: Any = float32) -> Tensor:
    """Make a tensor of floats; a `dtype` that is no float type means float32.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.asfarray([1, 2]))
        [1. 2.]
    """
    d = FLOAT32 if dtype is None else type_of(dtype)
    return cast(tensor_of(a, "a", "asfarray"), d if d.kind not in "biu" else FLOAT32)


def copy(a: Any) -> Tensor:
    """Return a copy of a tensor, or a tensor of numbers."""
    return array(a)


def array_str(a: Tensor) -> str:
    """Return the text of a tensor's values as `print` shows them."""
    return str(strict(a, "a", "array_str"))


def zeros(shape: Any, dtype: Any = float32) -> Tensor:
    """Return a tensor of zeros.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.zeros(2))
        [0. 0.]
    """
    return wrap(np.zeros(shape_of("zeros", shape), type_of(float32 if dtype is None else dtype)))


def ones(shape: Any, dtype: Any = float32) -> Tensor:
    """Return a tensor of ones."""
    return wrap(np.ones(shape_of("ones", shape), type_of(float32 if dtype is None else dtype)))


def empty(shape: Any, dtype: Any = float32) -> Tensor:
    """Return a tensor to be filled; as in MindSpore, it holds zeros."""
    return wrap(np.zeros(shape_of("empty", shape), type_of(float32 if dtype is None else dtype)))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor filled with a number, or with values that broadcast to its shape.

    Args:
        shape: an int or a tuple of ints.
        fill_value: a number, list or Tensor.
        dtype: the data type; by default that of `fill_value`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.full((2, 2), [1, 2]))
        [[1 2]
         [1 2]]
    """
    value = typed(tensor_of(fill_value, "fill_value", "full"), dtype)
    return ops.broadcast_to(value, shape_of("full", shape))


def _like(name: str, a: Any, value: int, dtype: Any, shape: Any) -> Tensor:
    """A tensor of one value, with the shape and type of another unless told otherwise."""
    a = tensor_of(a, "a", name)
    d = a.dtype.np if dtype is None else type_of(dtype)
    return wrap(np.full(a.shape if shape is None else shape_of(name, shape), value, d))


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Return zeros with the shape and type of `a`, unless told otherwise."""
    return _like("zeros_like", a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Return ones with the shape and type of `a`, unless told otherwise."""
    return _like("ones_like", a, 1, dtype, shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Return a tensor to be filled, with the shape and type of `prototype`; it holds zeros."""
    return _like("empty_like", prototype, 0, dtype, shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Return `fill_value` with the shape and type of `a`, unless told otherwise.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.full_like(mnp.ones(2), 0.5))
        [0.5 0.5]
    """
    a = tensor_of(a, "a", "full_like")
    return full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Number = float32) -> Tensor:
    """Return ones on a diagonal, zeros elsewhere.

    Args:
        N: rows.
        M: columns; as many as rows by default.
        k: the diagonal, above the main one if positive.
        dtype: the data type.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.eye(2, 3, 1))
        [[0. 1. 0.]
         [0. 0. 1.]]
    """
    rows = integer_of(N, "N", "eye")
    columns = rows if M is None else integer_of(M, "M", "eye")
    shape_of("eye", (rows, columns))
    return wrap(np.eye(rows, columns, integer_of(k, "k", "eye"), type_of(dtype)))


def identity(n: int, dtype: Number = float32) -> Tensor:
    """Return the identity matrix of `n` rows."""
    return eye(n, n, 0, dtype)

"""Shape, Rank, Size, DType and other facts about a tensor, as Python values."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.dtype import Number, float32
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import data_type, tensor
from dist_ms.ops.primitive import Primitive, numpy_dtype

__all__ = [
    "DType",
    "DynamicShape",
    "Rank",
    "ScalarCast",
    "ScalarToArray",
    "ScalarToTensor",
    "Shape",
    "Size",
    "TensorShape",
    "TupleToArray",
    "dtype",
    "dyn_shape",
    "is_floating_point",
    "is_tensor",
    "numel",
    "rank",
    "scalar_to_array",
    "scalar_to_tensor",
    "shape",
    "shape_",
    "size",
    "tuple_to_array",
]


def shape(input_x: Tensor) -> tuple[int, ...]:
    """Return the length of each dimension.

    Args:
        input_x: a Tensor.

    Returns:
        tuple of ints.

    Raises:
        TypeError: if `input_x` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.shape(ms.Tensor([[1, 2, 3]]))
        (1, 3)
    """
    return tensor(input_x, "input_x", "shape").shape


def shape_(x: Tensor) -> tuple[int, ...]:
    """The lengths of a tensor: `shape`, with another name for its argument."""
    return shape(x)


def dyn_shape(input_x: Tensor) -> Tensor:
    """Return the length of each dimension, as a Tensor of int64.

    Args:
        input_x: a Tensor.

    Returns:
        Tensor (ndim,).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dyn_shape(ms.Tensor([[1, 2, 3]])))
        [1 3]
    """
    return wrap(np.array(tensor(input_x, "input_x", "dyn_shape").shape, np.int64))


def rank(input_x: Tensor) -> int:
    """Return the number of dimensions.

    Args:
        input_x: a Tensor.

    Returns:
        int.

    Raises:
        TypeError: if `input_x` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.rank(ms.Tensor([[1, 2, 3]]))
        2
    """
    return tensor(input_x, "input_x", "rank").ndim


def size(input_x: Tensor) -> int:
    """Return the number of elements.

    Args:
        input_x: a Tensor.

    Returns:
        int.

    Raises:
        TypeError: if `input_x` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.size(ms.Tensor([[1, 2, 3]]))
        3
    """
    return tensor(input_x, "input_x", "size").size


def numel(input: Tensor) -> int:
    """Return the number of elements: `size` under its other name.

    Args:
        input: a Tensor.

    Returns:
        int.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.numel(ms.Tensor([[1, 2, 3]]))
        3
    """
    return tensor(input, "input", "numel").size


def dtype(x: Tensor) -> Number:
    """Return the element type.

    Args:
        x: a Tensor.

    Returns:
        dist_ms dtype.

    Raises:
        TypeError: if `x` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dtype(ms.Tensor([1.0])))
        Float32
    """
    return tensor(x, "x", "dtype").dtype


def is_tensor(obj: Any) -> bool:
    """Tell whether an object is a Tensor.

    Args:
        obj: anything.

    Returns:
        bool.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.is_tensor(ms.Tensor(1)), ms.ops.is_tensor(1)
        (True, False)
    """
    return isinstance(obj, Tensor)


@reads(input="dtype")
def is_floating_point(input: Tensor) -> bool:
    """Tell whether a tensor holds real floating-point numbers.

    Args:
        input: a Tensor.

    Returns:
        bool.

    Raises:
        TypeError: if `input` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.is_floating_point(ms.Tensor([1.0]))
        True
    """
    return numpy_dtype(tensor(input, "input", "is_floating_point")).kind in "fV"


def scalar_to_tensor(input_x: Any, dtype: Number = float32) -> Tensor:
    """Make a Tensor without dimensions of a number.

    Args:
        input_x: a Python number or bool.
        dtype: element type.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input_x` is no number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.scalar_to_tensor(1, ms.int32))
        1
    """
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(
            f"For 'scalar_to_tensor', 'input_x' must be a bool, int or float, but got {type(input_x).__name__}."
        )
    return Tensor(input_x, data_type(dtype, "dtype", "scalar_to_tensor"))


def scalar_to_array(input_x: Any) -> Tensor:
    """Make a Tensor without dimensions of a number: int64 of an int, float32 of a float.

    Args:
        input_x: a Python number or bool.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.scalar_to_array(1.5))
        1.5
    """
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(
            f"For 'scalar_to_array', 'input_x' must be a bool, int or float, but got {type(input_x).__name__}."
        )
    return Tensor(input_x)


def tuple_to_array(input_x: tuple | range) -> Tensor:
    """Make a one-dimensional Tensor of a tuple of numbers: int32 of ints, float32 of floats.

    Args:
        input_x: a tuple of numbers of one type, not empty, or a range.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input_x` is neither, or holds other things or several types.
        ValueError: if it is empty.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tuple_to_array((1, 2, 3)))
        [1 2 3]
    """
    check_type(input_x, "input_x", "tuple_to_array", (tuple, range))
    if not input_x:
        raise ValueError("For 'tuple_to_array', 'input_x' must not be empty.")
    kinds = {type(v) for v in input_x}
    if len(kinds) > 1 or not kinds <= {int, float}:
        raise TypeError(f"For 'tuple_to_array', 'input_x' must hold numbers of one type, but got {input_x}.")
    return wrap(np.array(input_x, np.int32 if kinds == {int} else np.float32))


class _Fact(Primitive):
    """A function of this file as a primitive."""

    function: Any

    def __call__(self, *args: Any) -> Any:
        return type(self).function(*args)


class Shape(_Fact):
    """`shape` as a primitive: `Shape()(x)`."""

    function = staticmethod(shape)


class TensorShape(_Fact):
    """`dyn_shape` as a primitive: `TensorShape()(x)`."""

    function = staticmethod(dyn_shape)


class DynamicShape(TensorShape):
    """The length of each dimension, as a Tensor: `TensorShape` under another name.

    Args:
        dtype: accepted; the result is int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.DynamicShape()(ms.Tensor([[1, 2]])))
        [1 2]
    """

    def __init__(self, dtype: int = 9) -> None:
        self.dtype = dtype


class Rank(_Fact):
    """`rank` as a primitive: `Rank()(x)`."""

    function = staticmethod(rank)


class Size(_Fact):
    """`size` as a primitive: `Size()(x)`."""

    function = staticmethod(size)


class DType(_Fact):
    """`dtype` as a primitive: `DType()(x)`."""

    function = staticmethod(dtype)


class ScalarToTensor(_Fact):
    """`scalar_to_tensor` as a primitive: `ScalarToTensor()(number, dtype)`."""

    function = staticmethod(scalar_to_tensor)


class ScalarToArray(_Fact):
    """`scalar_to_array` as a primitive: `ScalarToArray()(number)`."""

    function = staticmethod(scalar_to_array)


class TupleToArray(_Fact):
    """`tuple_to_array` as a primitive: `TupleToArray()(numbers)`."""

    function = staticmethod(tuple_to_array)


class ScalarCast(Primitive):
    """A Python number in the Python type that a dtype stands for.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ScalarCast()(255.7, ms.int64)
        255
    """

    def __call__(self, input_x: Any, input_y: Number) -> Any:
        if not isinstance(input_x, (bool, int, float)):
            raise TypeError(
                f"For '{self.name}', 'input_x' must be a bool, int or float, but got {type(input_x).__name__}."
            )
        with np.errstate(all="ignore"):
            return np.asarray(input_x).astype(input_y.np).item()

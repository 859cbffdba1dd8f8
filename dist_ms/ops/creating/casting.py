"""Cast: a tensor's values in another element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.dtype import Number, from_numpy, to_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.layout import converted
from dist_ms.ops.primitive import Primitive, as_tensor, quiet

__all__ = ["Cast", "cast", "type_as"]


class Cast(Primitive):
    """`cast` as a primitive: `Cast()(input_x, dtype)`."""

    keeps = ()

    def __call__(self, input_x: Any, dtype: Any) -> Tensor:
        if not isinstance(dtype, Number):
            raise TypeError(f"For 'Cast', 'dtype' must be a dist_ms dtype, but got {dtype!r}.")
        if not isinstance(input_x, (Tensor, bool, int, float, complex, np.generic)):
            raise TypeError(f"For 'Cast', 'input_x' must be a Tensor or a number, but got {type(input_x).__name__}.")
        return super().__call__(as_tensor(input_x), dtype.np)

    @quiet
    def forward(self, input_x: np.ndarray, dtype: np.dtype) -> np.ndarray:
        if input_x.dtype.kind == "c" and dtype.kind not in "cb":
            input_x = input_x.real
        return converted(input_x, dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return cast(dout, inputs[0].dtype), None


_cast = Cast()


def cast(input: Any, dtype: Number) -> Tensor:
    """Return a tensor's values in another element type.

    A tensor that has the type already is returned with its memory shared. Floats are
    cut toward zero when they become integers.

    Args:
        input: a Tensor or a number.
        dtype: the element type wanted, e.g. `dist_ms.float16`.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `dtype` is no dist_ms dtype, or `input` neither a Tensor nor a number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cast(ms.Tensor([1.7, -1.7]), ms.int32))
        [ 1 -1]
    """
    return _cast(input, dtype)


def cast_array(input: Tensor, np_dtype: np.dtype) -> Tensor:
    """`cast` for a NumPy dtype, free when the type is right. Inside the package only."""
    return input if input._element == np_dtype else _cast(input, from_numpy(np_dtype))


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the element type of `other`.

    Args:
        input: the values.
        other: the Tensor whose type is wanted.

    Returns:
        Tensor of the shape of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.type_as(ms.Tensor([1.5]), ms.Tensor([2])).dtype)
        Int64
    """
    return cast(input, other.dtype)


def astype(input: Tensor, dtype: Any) -> Tensor:
    """`cast` for anything that names a type: "float32", int, np.float64. The method of Tensor."""
    return cast_array(input, to_numpy(dtype))

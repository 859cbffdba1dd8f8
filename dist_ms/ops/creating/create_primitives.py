"""Zeros, Ones, Fill, Range, LinSpace, Eye, Expand: the constructors of tensors as primitives."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import Number, to_type
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers
from dist_ms.ops.creating import creation
from dist_ms.ops.creating.creation import filled, shape_of
from dist_ms.ops.primitive import Primitive, as_tensor

__all__ = [
    "Eps",
    "Expand",
    "Eye",
    "Fill",
    "FillV2",
    "Fills",
    "LinSpace",
    "Ones",
    "OnesLike",
    "Range",
    "Zeros",
    "ZerosLike",
]


class Zeros(Primitive):
    """`zeros` as a primitive: `Zeros()(size, dtype)`."""

    def __call__(self, size: Any, dtype: Number | None = None) -> Tensor:
        return creation.zeros(size, dtype)


class Ones(Primitive):
    """`ones` as a primitive: `Ones()(shape, dtype)`."""

    def __call__(self, shape: Any, dtype: Number | None = None) -> Tensor:
        return creation.ones(shape, dtype)


class Fill(Primitive):
    """`fill` as a primitive: `Fill()(dtype, dims, x)`."""

    def __call__(self, dtype: Number, dims: Any, x: Any) -> Tensor:
        return creation.fill(dtype, dims, x)


class FillV2(Primitive):
    """Make a tensor of one number, with that number's dtype.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.FillV2()((2,), ms.Tensor(5.0)))
        [5. 5.]
    """

    def __call__(self, shape: Any, value: Any) -> Tensor:
        value = as_tensor(value)
        return wrap(filled(shape_of(shape, "shape", "FillV2"), value.array().reshape(()), value.array().dtype))


class ZerosLike(Primitive):
    """`zeros_like` as a primitive: `ZerosLike()(x)`."""

    def __call__(self, x: Tensor) -> Tensor:
        return creation.zeros_like(x)


class OnesLike(Primitive):
    """`ones_like` as a primitive: `OnesLike()(x)`."""

    def __call__(self, x: Tensor) -> Tensor:
        return creation.ones_like(x)


class Range(Primitive):
    """`range` as a primitive: `Range(maxlen)(start, end, step)`."""

    def __init__(self, maxlen: int = 1000000) -> None:
        self.maxlen = maxlen

    def __call__(self, start: Any, end: Any, step: Any) -> Tensor:
        return creation.range(start, end, step, self.maxlen)


class LinSpace(Primitive):
    """`linspace` as a primitive: `LinSpace()(start, stop, num)`."""

    def __call__(self, start: Any, stop: Any, num: int) -> Tensor:
        return creation.linspace(start, stop, num)


class Eye(Primitive):
    """`eye` as a primitive: `Eye()(n, m, dtype)`."""

    def __call__(self, n: int, m: int, dtype: Number) -> Tensor:
        return creation.eye(n, m, to_type(dtype))


class Eps(Primitive):
    """`eps` as a primitive: `Eps()(x)`."""

    def __call__(self, x: Tensor) -> Tensor:
        return creation.eps(x)


class Fills(Primitive):
    """`fills` as a primitive: `Fills()(x, value)`."""

    def __call__(self, x: Tensor, value: Any) -> Tensor:
        return creation.fills(x, value)


class Expand(Primitive):
    """`expand` as a primitive: `Expand()(input_x, shape)`."""

    def __call__(self, input_x: Tensor, shape: Any) -> Tensor:
        return ops.broadcast_to(input_x, integers(shape, "shape", self.name))

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
    """Make a tensor of zeros: `zeros` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Zeros()((2,), ms.float32))
        [0. 0.]
    """

    def __call__(self, shape: Any, dtype: Number | None = None) -> Tensor:
        return creation.zeros(shape, dtype)


class Ones(Primitive):
    """Make a tensor of ones: `ones` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Ones()((2,), ms.float32))
        [1. 1.]
    """

    def __call__(self, shape: Any, dtype: Number | None = None) -> Tensor:
        return creation.ones(shape, dtype)


class Fill(Primitive):
    """Make a tensor of one number: `fill` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Fill()(ms.int32, (2,), 5))
        [5 5]
    """

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
    """Make a tensor of zeros like another: `zeros_like` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ZerosLike()(ms.Tensor([1, 2])))
        [0 0]
    """

    def __call__(self, x: Tensor) -> Tensor:
        return creation.zeros_like(x)


class OnesLike(Primitive):
    """Make a tensor of ones like another: `ones_like` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.OnesLike()(ms.Tensor([3, 2])))
        [1 1]
    """

    def __call__(self, x: Tensor) -> Tensor:
        return creation.ones_like(x)


class Range(Primitive):
    """Make numbers at equal distances: `range` as a primitive.

    Args:
        maxlen: the largest length allowed.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Range()(0, 6, 2))
        [0 2 4]
    """

    def __init__(self, maxlen: int = 1000000) -> None:
        self.maxlen = maxlen

    def __call__(self, start: Any, end: Any, step: Any) -> Tensor:
        return creation.range(start, end, step, self.maxlen)


class LinSpace(Primitive):
    """Make numbers at equal distances, both ends included: `linspace` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.LinSpace()(ms.Tensor(0.0), ms.Tensor(1.0), 3))
        [0.  0.5 1. ]
    """

    def __call__(self, start: Any, stop: Any, num: int) -> Tensor:
        return creation.linspace(start, stop, num)


class Eye(Primitive):
    """Make a matrix with ones on the diagonal: `eye` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Eye()(1, 2, ms.int32))
        [[1 0]]
    """

    def __call__(self, n: int, m: int, dtype: Number) -> Tensor:
        return creation.eye(n, m, to_type(dtype))


class Eps(Primitive):
    """A tensor of the smallest number that changes 1 when added: `eps` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Eps()(ms.Tensor([1.0, 2.0])).shape
        (2,)
    """

    def __call__(self, x: Tensor) -> Tensor:
        return creation.eps(x)


class Fills(Primitive):
    """A tensor of one number with the shape and dtype of another: `fills` as a primitive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Fills()(ms.Tensor([1.0, 2.0]), ms.Tensor(3.0)))
        [3. 3.]
    """

    def __call__(self, x: Tensor, value: Any) -> Tensor:
        return creation.fills(x, value)


class Expand(Primitive):
    """`expand` as a primitive: `Expand()(input_x, shape)`."""

    def __call__(self, input_x: Tensor, shape: Any) -> Tensor:
        return ops.broadcast_to(input_x, integers(shape, "shape", self.name))

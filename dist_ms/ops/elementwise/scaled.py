"""A tensor times a number, between two by a number, and a sigmoid in place."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["LerpScalar", "inplace_sigmoid", "tensor_muls"]


class LerpScalar(Primitive):
    """input + weight (end - input).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.LerpScalar()(ms.Tensor([1.0]), ms.Tensor([3.0]), 0.25))
        [1.5]
    """

    def __call__(self, input: Tensor, end: Tensor, weight: float) -> Tensor:
        return ops.lerp(tensor(input, "input", self.name), tensor(end, "end", self.name), weight)


def tensor_muls(input: Tensor, other: Any) -> Tensor:
    """A tensor times a number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tensor_muls(ms.Tensor([1.0, 2.0]), 3))
        [3. 6.]
    """
    return ops.mul(tensor(input, "input", "tensor_muls"), other)


def inplace_sigmoid(input: Tensor) -> Tensor:
    """Put 1 / (1 + exp(-input)) in the tensor's place, and return the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([0.0])
        >>> ms.ops.inplace_sigmoid(x) is x, float(x)
        (True, 0.5)
    """
    return tensor(input, "input", "inplace_sigmoid").sigmoid_()

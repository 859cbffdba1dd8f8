"""Quantile and LogSoftmaxExt: reductions along a dimension as primitives."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["LogSoftmaxExt", "Quantile"]


class LogSoftmaxExt(Primitive):
    """The log of softmax in PyTorch's form.

    Call:
        input (Tensor): floats.
        dim: the dimension; None is the first of 1 or 3 dimensions, else the second.
        dtype: of the result, cast first; None keeps it.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.LogSoftmaxExt()(ms.Tensor([0.0, 0.0]), -1))
        [-0.6931472 -0.6931472]
    """

    def __call__(self, input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
        x = tensor(input, "input", self.name)
        if dim is None:
            dim = 0 if x.ndim in (0, 1, 3) else 1
        return ops.log_softmax(x if dtype is None else x.astype(dtype), dim)


class Quantile(Primitive):
    """The values below which given parts of the elements lie: `quantile` and `nanquantile` as a primitive.

    Args:
        dim: the dimension; None for all elements.
        keep_dims: keep the dimension with length 1.
        ignore_nan: leave NaN out; else it is the result.

    Call:
        input (Tensor): floats.
        q: the part, from 0 to 1, or a one-dimensional Tensor of parts.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Quantile()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor(0.25)))
        1.5
    """

    def __init__(self, dim: int | None = None, keep_dims: bool = False, ignore_nan: bool = False) -> None:
        self.dim = dim
        self.keep_dims = boolean(keep_dims, "keep_dims", self.name)
        self.ignore_nan = boolean(ignore_nan, "ignore_nan", self.name)

    def __call__(self, input: Tensor, q: Any) -> Tensor:
        return (ops.nanquantile if self.ignore_nan else ops.quantile)(input, q, self.dim, self.keep_dims)

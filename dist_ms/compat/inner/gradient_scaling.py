"""`grad_scale` and `_grad_overflow` of `mindspore.nn.wrap.loss_scale`: gradients over the loss's factor; overflows."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor

__all__ = ["grad_scale", "shard_grad_scale", "tensor_grad_scale"]

grad_scale = ops.MultitypeFuncGraph("grad_scale")
_grad_overflow = ops.MultitypeFuncGraph("_grad_overflow")
shard_grad_scale = grad_scale  # of gradients on one rank: they are whole here


@grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale: Tensor, grad: Tensor) -> Tensor:
    """A gradient over the scale, in its own type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.gradient_scaling import grad_scale
        >>> print(grad_scale(ms.Tensor(2.0), ms.Tensor([2.0, 4.0])))
        [1. 2.]
    """
    return grad * ops.cast(1 / scale, grad.dtype)


@grad_scale.register("Tensor", "RowTensor")
def tensor_grad_scale_row_tensor(scale: Tensor, grad: Any) -> RowTensor:
    """A gradient of rows over the scale."""
    return RowTensor(grad.indices, tensor_grad_scale(scale, grad.values), grad.dense_shape)


@_grad_overflow.register("Tensor")
def _tensor_grad_overflow(grad: Tensor) -> Tensor:
    """[1.] where a gradient has an infinity or NaN, else [0.].

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.gradient_scaling import _grad_overflow
        >>> print(_grad_overflow(ms.Tensor([1.0, float("inf")])), _grad_overflow(ms.Tensor([1.0])))
        [1.] [0.]
    """
    return ops.FloatStatus()(grad)


@_grad_overflow.register("RowTensor")
def _tensor_grad_overflow_row_tensor(grad: Any) -> Tensor:
    """The same of a gradient of rows."""
    return _tensor_grad_overflow(grad.values)

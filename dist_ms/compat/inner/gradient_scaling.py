"""`grad_scale` of `mindspore.nn.wrap.loss_scale`: gradients over the factor that the loss was multiplied by."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor

__all__ = ["grad_scale", "shard_grad_scale", "tensor_grad_scale"]

grad_scale = ops.MultitypeFuncGraph("grad_scale")
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

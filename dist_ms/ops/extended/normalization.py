"""Normalisations in PyTorch's form: weight and bias may be left out."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.tensor import Tensor

__all__ = ["batch_norm", "group_norm", "layer_norm", "normalize"]

group_norm = ops.group_norm
layer_norm = ops.layer_norm


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise (N, C, ...) per channel: (x - mean) / sqrt(variance + eps) weight + bias.

    Args:
        input: floats (N, C, ...).
        running_mean, running_var: (C,): used when not training, updated in place when training, or None.
        weight, bias: (C,); None for ones and zeros.
        training: use the batch's statistics.
        momentum: weight of the batch in the update.
        eps: added to the variance.

    Raises:
        ValueError: without running statistics when not training.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.batch_norm(ms.Tensor([[1.0], [3.0]]), None, None, training=True))
        [[-0.999995]
         [ 0.999995]]
    """
    if not training and (running_mean is None or running_var is None):
        raise ValueError(
            "For 'batch_norm', 'running_mean' and 'running_var' must be given when 'training' is False, but got None."
        )
    channels = (input.shape[1],)
    ones, zeros = ops.ones(channels, input.dtype), ops.zeros(channels, input.dtype)
    return ops.batch_norm(
        input,
        zeros if running_mean is None else running_mean,
        ops.ones(channels, input.dtype) if running_var is None else running_var,
        ones if weight is None else weight,
        ops.zeros(channels, input.dtype) if bias is None else bias,
        training,
        momentum,
        eps,
    )


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Divide by the p-norm along a dimension, or by eps where that is smaller.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.normalize(ms.Tensor([[3.0, 4.0]])))
        [[0.6 0.8]]
    """
    return ops.div(input, ops.clamp(ops.vector_norm(input, p, dim, True), min=eps))

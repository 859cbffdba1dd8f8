"""The negative log likelihood of normal values."""

from __future__ import annotations

import math

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_number
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.losses.loss import check_pair, reduced

__all__ = ["gaussian_nll_loss"]


@raises(eps=ValueError)
def gaussian_nll_loss(
    x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Return 0.5 (log v + (x - target)^2 / v) with v = max(var, eps).

    Args:
        x: means, floats.
        target: values, of a shape that broadcasts with `x`.
        var: variances of 0 or more, of the shape of `x`, without its last dimension or with length 1
            there.
        full: add the constant 0.5 log(2 pi).
        eps: least variance, above 0.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a variance is negative, `eps` not above 0, or the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x, var = ms.Tensor([1.0]), ms.Tensor([1.0])
        >>> print(ms.ops.gaussian_nll_loss(x, ms.Tensor([3.0]), var))
        2.0
    """
    owner = "gaussian_nll_loss"
    check_pair(owner, x, target, reduction, "x")
    arguments.tensor(var, "var", owner)
    check_bool(full, "full", owner)
    check_positive_number(eps, "eps", owner)
    if var.shape != x.shape and var.shape == x.shape[:-1]:
        var = ops.reshape(var, (*var.shape, 1))
    if var.size and var.array().min() < 0:
        raise ValueError(f"For '{owner}', 'var' must not be negative, but got {var.array().min()}.")
    variance = ops.maximum(var, eps)
    difference = x - target
    loss = 0.5 * (ops.log(variance) + difference * difference / variance)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)

"""Losses in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]

cosine_embedding_loss = ops.cosine_embedding_loss
cross_entropy = ops.cross_entropy
l1_loss = ops.l1_loss
mse_loss = ops.mse_loss
soft_margin_loss = ops.soft_margin_loss


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-weight (y log x + (1 - y) log(1 - x)) for probabilities x and targets y; its mean, sum, or elements.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.binary_cross_entropy(ms.Tensor([0.5]), ms.Tensor([1.0])))
        0.6931472
    """
    return ops.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The binary cross entropy of sigmoid(input), without overflow.

    Args:
        input, target: floats of one shape.
        weight: broadcasts with them; None for ones.
        reduction: "mean", "sum" or "none".
        pos_weight: the weight of positive examples, likewise.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.binary_cross_entropy_with_logits(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Target (log target - input): the divergence of exp(input) from the target.

    Args:
        input: log probabilities.
        target: probabilities, or their logarithms if `log_target`.
        reduction: "mean", "sum", "batchmean" or "none".
        log_target: whether the target is given as logarithms.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.kl_div(ms.Tensor([0.0, 0.0]), ms.Tensor([1.0, 1.0])))
        0.0
    """
    if not log_target:
        return ops.kl_div(input, target, reduction)
    loss = ops.mul(ops.exp(target), ops.sub(target, input))
    if reduction == "batchmean":
        return ops.div(ops.sum(loss), input.shape[0])
    return {"none": lambda x: x, "sum": ops.sum, "mean": ops.mean}[reduction](loss)


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """The negative log probability of the target classes, weighted.

    Args:
        input: log probabilities (N, C) or (N, C, ...).
        target: classes (N,) or (N, ...).
        weight: one for each class; None for ones.
        ignore_index: a class that does not count.
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.nll_loss(ms.Tensor([[-1.0, -2.0]]), ms.Tensor([1], ms.int32)))
        2.0
    """
    return ops.nll_loss(input, target, weight, ignore_index, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Any:
    """0.5 d^2 / beta where d = |input - target| is below beta, else d - 0.5 beta.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.smooth_l1_loss(ms.Tensor([2.0, 3.0]), ms.Tensor([2.0, 1.0])))
        0.75
    """
    return ops.smooth_l1_loss(input, target, beta, reduction)

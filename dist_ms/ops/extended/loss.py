"""Losses in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor

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
    """`ops.binary_cross_entropy`, with its arguments named `input` and `target`."""
    return ops.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`ops.binary_cross_entropy_with_logits`, with `pos_weight` as the last argument."""
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


@reads(target="ndim", owner="mint.nll_loss")
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """`ops.nll_loss`, with its first argument named `input` and without smoothing.

    Raises:
        IndexError: if `target` has no dimensions where `input` has rows.
        ValueError: if they have not as many rows.
        RuntimeError: if their other lengths, or that of `weight`, do not agree.
    """
    rows, labels = tensor(input, "input", "nll_loss").shape, tensor(target, "target", "mint.nll_loss").shape
    if len(rows) > 1 and not labels:
        raise IndexError(complaint("target", "nll_loss", f"of at least 1 dimension where 'input' has {rows}", labels))
    wanted = rows[:1] + rows[2:] if len(rows) > 1 else ()
    if rows and labels != wanted and (len(rows) == 1 or labels[0] == rows[0]):
        raise RuntimeError(complaint("target", "nll_loss", f"of shape {wanted}, a label per row of 'input'", labels))
    if isinstance(weight, Tensor) and rows and weight.shape != rows[:2][-1:]:
        raise RuntimeError(complaint("weight", "nll_loss", f"of shape {rows[:2][-1:]}, one per class", weight.shape))
    return ops.nll_loss(input, target, weight, ignore_index, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Any:
    """`ops.smooth_l1_loss`, with `beta` as the last argument and the mean as what it returns if not told otherwise."""
    return ops.smooth_l1_loss(input, target, beta, reduction)

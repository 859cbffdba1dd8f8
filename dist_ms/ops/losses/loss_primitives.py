"""MindSpore's loss primitives that are classes around the functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_choice, check_int, check_number, check_string
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.arguments import tensor
from dist_ms.ops.losses.cross_entropy import nll_loss
from dist_ms.ops.losses.loss import binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, smooth_l1_loss
from dist_ms.ops.losses.margin_loss import (
    labels_as_mask,
    multi_margin_loss,
    multilabel_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from dist_ms.ops.primitive import Primitive

__all__ = [
    "BCEWithLogitsLoss",
    "BinaryCrossEntropy",
    "KLDivLoss",
    "MultiMarginLoss",
    "MultilabelMarginLoss",
    "NLLLoss",
    "SigmoidCrossEntropyWithLogits",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]


class _Reduced(Primitive):
    """A loss with the attribute `reduction`: "mean", "sum" or "none"."""

    _choices = ("none", "mean", "sum")

    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = check_string(reduction, "reduction", self.name, self._choices)


class BinaryCrossEntropy(_Reduced):
    """`binary_cross_entropy` as a primitive: `BinaryCrossEntropy(reduction)(input, target, weight)`."""

    def __call__(self, input: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        return binary_cross_entropy(input, target, weight, self.reduction)


class BCEWithLogitsLoss(_Reduced):
    """`binary_cross_entropy_with_logits` as a primitive.

    `BCEWithLogitsLoss(reduction)(input, target, weight, posWeight)`.
    """

    def __call__(
        self, input: Tensor, target: Tensor, weight: Tensor | None = None, posWeight: Tensor | None = None
    ) -> Tensor:
        return binary_cross_entropy_with_logits(input, target, weight, posWeight, self.reduction)


class SigmoidCrossEntropyWithLogits(Primitive):
    """The binary cross entropy of sigmoid(logits) and label, element by element.

    Call:
        logits, label (Tensor): of one shape.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SigmoidCrossEntropyWithLogits()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        [0.6931472]
    """

    def __call__(self, logits: Tensor, label: Tensor) -> Tensor:
        return binary_cross_entropy_with_logits(logits, label, reduction="none")


class KLDivLoss(_Reduced):
    """`kl_div` as a primitive: `KLDivLoss(reduction)(logits, labels)`."""

    _choices = ("none", "mean", "batchmean", "sum")

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        return kl_div(logits, labels, self.reduction)


class SmoothL1Loss(Primitive):
    """`smooth_l1_loss` as a primitive: `SmoothL1Loss(beta, reduction)(prediction, target)`."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        self.beta = check_number(beta, "beta", "SmoothL1Loss")
        self.reduction = check_string(reduction, "reduction", "SmoothL1Loss", ["none", "mean", "sum"])

    def __call__(self, prediction: Tensor, target: Tensor) -> Tensor:
        return smooth_l1_loss(prediction, target, self.beta, self.reduction)


class NLLLoss(_Reduced):
    """`nll_loss` as a primitive that returns the sum of weights as well: `NLLLoss(reduction, ignore_index)(logits,
    labels, weight)`.

    Returns:
        A tuple (loss, sum of the weights of the rows that count).

    Examples:
        >>> import dist_ms as ms
        >>> loss, total = ms.ops.NLLLoss()(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([1]), ms.Tensor([1.0, 2.0]))
        >>> print(loss, total)
        1.0 2.0
    """

    def __init__(self, reduction: str = "mean", ignore_index: int = -100) -> None:
        super().__init__(reduction)
        self.ignore_index = check_int(ignore_index, "ignore_index", "NLLLoss")

    def __call__(self, logits: Tensor, labels: Tensor, weight: Tensor) -> tuple:
        for name, value in (("logits", logits), ("labels", labels)):
            tensor(value, name, self.name)
        loss = nll_loss(logits, labels, weight, self.ignore_index, self.reduction)
        ids, vector = labels.array(), weight.array()
        return loss, wrap(np.asarray(vector[ids[ids != self.ignore_index]].sum(), vector.dtype))


class MultiMarginLoss(Primitive):
    """`multi_margin_loss` as a primitive: `MultiMarginLoss(p, margin, reduction)(x, target, weight)`."""

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean") -> None:
        check_choice(p, "p", "MultiMarginLoss", (1, 2))
        self.p, self.margin = p, check_number(margin, "margin", "MultiMarginLoss")
        self.reduction = check_string(reduction, "reduction", "MultiMarginLoss", ["none", "mean", "sum"])

    def __call__(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        return multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultilabelMarginLoss(_Reduced):
    """`multilabel_margin_loss` as a primitive that returns which classes are labels as well:
    `MultilabelMarginLoss(reduction)(x, target)`.

    Returns:
        A tuple (loss, mask of the shape and dtype of `target`).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MultilabelMarginLoss()(ms.Tensor([[0.5, 0.0]]), ms.Tensor([[0, -1]]))[1])
        [[1 0]]
    """

    def __call__(self, x: Tensor, target: Tensor) -> tuple:
        loss = multilabel_margin_loss(x, target, self.reduction)
        labels = target.array()
        mask = labels_as_mask(self.name, labels.reshape(-1, labels.shape[-1] if labels.ndim else 1))
        return loss, wrap(mask.reshape(labels.shape).astype(labels.dtype))


class SoftMarginLoss(_Reduced):
    """`soft_margin_loss` as a primitive: `SoftMarginLoss(reduction)(input, target)`."""

    def __call__(self, input: Tensor, target: Tensor) -> Tensor:
        return soft_margin_loss(input, target, self.reduction)


class TripletMarginLoss(Primitive):
    """`triplet_margin_loss` as a primitive: `TripletMarginLoss(p, swap, eps, reduction)(x, positive, negative,
    margin)`.

    Call:
        margin (Tensor or float): the margin.
    """

    def __init__(self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        self.p, self.swap, self.eps = p, swap, eps
        self.reduction = check_string(reduction, "reduction", "TripletMarginLoss", ["none", "mean", "sum"])

    def __call__(self, x: Tensor, positive: Tensor, negative: Tensor, margin: Any) -> Tensor:
        return triplet_margin_loss(
            x, positive, negative, arguments.scalar(margin), self.p, self.eps, self.swap, self.reduction
        )

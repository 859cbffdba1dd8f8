"""Losses with a margin, as layers."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.checks import check_choice, check_float, check_number_range, check_type
from dist_ms.common.error_classes import bools, plain, reads, reads_of_none, truths
from dist_ms.common.tensor import Tensor
from dist_ms.nn.loss.loss import LossBase, check_tensors
from dist_ms.ops.arguments import integer, number, tensor

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultilabelMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]


class CosineEmbeddingLoss(LossBase):
    """`ops.cosine_embedding_loss` as a layer.

    `CosineEmbeddingLoss(margin, reduction)(logits_x1, logits_x2, labels)`.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        check_type(margin, "margin", self.cls_name, float)
        self.margin = check_number_range(margin, "margin", self.cls_name, -1.0, 1.0)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


@reads("shape")
class HingeEmbeddingLoss(LossBase):
    """`ops.hinge_embedding_loss` as a layer: `HingeEmbeddingLoss(margin, reduction)(logits, labels)`."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = number(margin, "margin", self.cls_name)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """`ops.margin_ranking_loss` as a layer: `MarginRankingLoss(margin, reduction)(input1, input2, target)`."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = number(margin, "margin", self.cls_name)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


@plain("p")
@reads_of_none("x")
class MultiMarginLoss(LossBase):
    """`ops.multi_margin_loss` as a layer: `MultiMarginLoss(p, margin, reduction, weight)(x, target, weight=None)`.

    A weight given with the call stands in for the layer's.
    """

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Tensor | None = None) -> None:
        check_float(margin, "margin", "MultiMarginLoss")
        integer(p, "p", "MultiMarginLoss")
        super().__init__(reduction)
        check_choice(p, "p", self.cls_name, (1, 2))
        self.p, self.margin = p, number(margin, "margin", self.cls_name)
        self.weight = weight if weight is None else check_type(weight, "weight", self.cls_name, Tensor)

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        chosen = self.weight if weight is None else weight
        if chosen is None:
            tensor(x, "x", self.cls_name)
        return ops.multi_margin_loss(x, target, self.p, self.margin, chosen, self.reduction)


class MultilabelMarginLoss(LossBase):
    """`ops.multilabel_margin_loss` as a layer: `MultilabelMarginLoss(reduction)(x, target)`."""

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_margin_loss(x, target, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """`ops.multilabel_soft_margin_loss` as a layer: `MultiLabelSoftMarginLoss(weight, reduction)(x, target)`."""

    def __init__(self, weight: Tensor | float | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class SoftMarginLoss(LossBase):
    """`ops.soft_margin_loss` as a layer: `SoftMarginLoss(reduction)(logits, labels)`."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.soft_margin_loss(logits, labels, self.reduction)


@bools("margin")
@truths("swap")
class TripletMarginLoss(LossBase):
    """`ops.triplet_margin_loss` as a layer.

    `TripletMarginLoss(p, swap, eps, reduction, margin)(x, positive, negative, margin=1.0)`.
    A margin given with the call counts where the layer's is 1.0, as in MindSpore.
    """

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__()
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin  # looked at in the call, as MindSpore does
        self.reduction = reduction

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0) -> Tensor:
        chosen = margin if self.margin == 1.0 else self.margin
        return ops.triplet_margin_loss(x, positive, negative, chosen, self.p, self.eps, self.swap, self.reduction)

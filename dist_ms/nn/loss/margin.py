"""Losses with a margin, as layers."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.checks import check_number_range, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.nn.loss.loss import LossBase, check_tensors
from dist_ms.ops.arguments import boolean, number

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
    """1 - cos(x1, x2) where the label is 1, max(0, cos(x1, x2) - margin) where it is -1.

    Args:
        margin: a float in [-1, 1].
        reduction: "mean", "sum" or "none".

    Raises:
        TypeError: if `margin` is no float.
        ValueError: if it is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x, y = ms.Tensor([[1.0, 0.0]]), ms.Tensor([[0.0, 1.0]])
        >>> print(ms.nn.CosineEmbeddingLoss()(x, y, ms.Tensor([1])))
        1.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        check_type(margin, "margin", self.cls_name, float)
        self.margin = check_number_range(margin, "margin", self.cls_name, -1.0, 1.0)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits_x1=logits_x1, logits_x2=logits_x2, labels=labels)
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """x where the label is 1, max(0, margin - x) where it is -1.

    Args:
        margin: an int or float.
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.HingeEmbeddingLoss()(ms.Tensor([0.25, 0.25]), ms.Tensor([1.0, -1.0])))
        0.5
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = number(margin, "margin", self.cls_name)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target (input1 - input2) + margin).

    Args:
        margin: an int or float.
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.MarginRankingLoss()(ms.Tensor([1.0]), ms.Tensor([3.0]), ms.Tensor([1.0])))
        2.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = number(margin, "margin", self.cls_name)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class MultiMarginLoss(LossBase):
    """The multi-class hinge loss; see `ops.multi_margin_loss`.

    Args:
        p: 1 or 2.
        margin: an int or float.
        reduction: "mean", "sum" or "none".
        weight: a Tensor with a weight per class, or None for ones.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.MultiMarginLoss()(ms.Tensor([[0.5, 0.0]]), ms.Tensor([0])))
        0.25
    """

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        if p not in (1, 2):
            raise ValueError(complaint("p", self.cls_name, "1 or 2", p))
        self.p, self.margin = p, number(margin, "margin", self.cls_name)
        self.weight = weight if weight is None else check_type(weight, "weight", self.cls_name, Tensor)

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        chosen = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, chosen, self.reduction)


class MultilabelMarginLoss(LossBase):
    """The multi-label hinge loss; see `ops.multilabel_margin_loss`.

    Args:
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.MultilabelMarginLoss()(ms.Tensor([[0.5, 0.0]]), ms.Tensor([[0, -1]])))
        0.25
    """

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_margin_loss(x, target, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over classes of the binary cross entropy of sigmoid(x) and target.

    Args:
        weight: a Tensor with a weight per class, or None for ones.
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.MultiLabelSoftMarginLoss()(ms.Tensor([[0.0]]), ms.Tensor([[1.0]])))
        0.6931472
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight if weight is None else check_type(weight, "weight", self.cls_name, Tensor)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels logits)), for labels 1 and -1.

    Args:
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.SoftMarginLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class TripletMarginLoss(LossBase):
    """max(0, d(x, positive) - d(x, negative) + margin); see `ops.triplet_margin_loss`.

    Args:
        p: order of the norm.
        swap: use the smaller of the negative's distances to x and to the positive.
        eps: added to each difference.
        reduction: "mean", "sum" or "none".
        margin: an int or float.

    Examples:
        >>> import dist_ms as ms
        >>> a, b, c = ms.Tensor([[0.0]]), ms.Tensor([[1.0]]), ms.Tensor([[5.0]])
        >>> print(ms.nn.TripletMarginLoss()(a, b, c))
        0.0
    """

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        self.p, self.eps = number(p, "p", self.cls_name), number(eps, "eps", self.cls_name)
        self.swap = boolean(swap, "swap", self.cls_name)
        self.margin = number(margin, "margin", self.cls_name)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float | None = None) -> Tensor:
        chosen = self.margin if margin is None else margin
        return ops.triplet_margin_loss(x, positive, negative, chosen, self.p, self.eps, self.swap, self.reduction)

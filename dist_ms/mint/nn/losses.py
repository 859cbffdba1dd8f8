"""Losses in PyTorch's form."""

from __future__ import annotations

from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
]


class BCELoss(Cell):
    """`functional.binary_cross_entropy` as a layer: `BCELoss(weight, reduction)(input, target)`."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.weight, self.reduction = weight, reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(Cell):
    """`functional.binary_cross_entropy_with_logits` as a layer.

    `BCEWithLogitsLoss(weight, reduction, pos_weight)(input, target)`.
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__()
        self.weight, self.reduction, self.pos_weight = weight, reduction, pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class KLDivLoss(Cell):
    """`functional.kl_div` as a layer: `KLDivLoss(reduction, log_target)(input, target)`."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction, self.log_target = reduction, log_target

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.kl_div(input, target, self.reduction, self.log_target)


class SmoothL1Loss(Cell):
    """`functional.smooth_l1_loss` as a layer: `SmoothL1Loss(reduction, beta)(input, target)`."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__()
        self.reduction, self.beta = reduction, beta

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


class MSELoss(Cell):
    """`functional.mse_loss` as a layer: `MSELoss(reduction)(input, target)`."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(input, target, self.reduction)


class L1Loss(Cell):
    """`functional.l1_loss` as a layer: `L1Loss(reduction)(input, target)`."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.l1_loss(input, target, self.reduction)


class SoftMarginLoss(Cell):
    """`functional.soft_margin_loss` as a layer: `SoftMarginLoss(reduction)(input, target)`."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.soft_margin_loss(input, target, self.reduction)


class CosineEmbeddingLoss(Cell):
    """`functional.cosine_embedding_loss` as a layer.

    `CosineEmbeddingLoss(margin, reduction)(input1, input2, target)`.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return functional.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class NLLLoss(Cell):
    """`functional.nll_loss` as a layer: `NLLLoss(weight, ignore_index, reduction)(input, target)`."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__()
        self.weight, self.ignore_index, self.reduction = weight, ignore_index, reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(NLLLoss):
    """`functional.cross_entropy` as a layer.

    `CrossEntropyLoss(weight, ignore_index, reduction, label_smoothing)(input, target)`.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, ignore_index, reduction)
        self.label_smoothing = label_smoothing

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )

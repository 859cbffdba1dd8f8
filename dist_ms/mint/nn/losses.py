"""Losses in PyTorch's form."""

from __future__ import annotations

from dist_ms.common.checks import check_string
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn.function_layer import FunctionLayer

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


class BCELoss(FunctionLayer, of="binary_cross_entropy", inputs="input target"):
    """`functional.binary_cross_entropy` as a layer: `BCELoss(weight, reduction)(input, target)`."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        check_string(reduction, "reduction", "mint.nn.BCELoss", ["none", "mean", "sum"])
        super().__init__(weight=weight, reduction=reduction)


class BCEWithLogitsLoss(FunctionLayer, of="binary_cross_entropy_with_logits", inputs="input target"):
    """`functional.binary_cross_entropy_with_logits` as a layer.

    `BCEWithLogitsLoss(weight, reduction, pos_weight)(input, target)`.
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(weight=weight, reduction=reduction, pos_weight=pos_weight)


class KLDivLoss(FunctionLayer, of="kl_div", inputs="input target"):
    """`functional.kl_div` as a layer: `KLDivLoss(reduction, log_target)(input, target)`."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction=reduction, log_target=log_target)


class SmoothL1Loss(FunctionLayer, of="smooth_l1_loss", inputs="input target"):
    """`functional.smooth_l1_loss` as a layer: `SmoothL1Loss(reduction, beta)(input, target)`."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction, beta=beta)


class MSELoss(FunctionLayer, of="mse_loss", inputs="input target"):
    """`functional.mse_loss` as a layer: `MSELoss(reduction)(input, target)`."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class L1Loss(FunctionLayer, of="l1_loss", inputs="logits labels"):
    """`functional.l1_loss` as a layer: `L1Loss(reduction)(logits, labels)`."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class SoftMarginLoss(FunctionLayer, of="soft_margin_loss", inputs="logits labels"):
    """`functional.soft_margin_loss` as a layer: `SoftMarginLoss(reduction)(logits, labels)`."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class CosineEmbeddingLoss(FunctionLayer, of="cosine_embedding_loss", inputs="input1 input2 target"):
    """`functional.cosine_embedding_loss` as a layer.

    `CosineEmbeddingLoss(margin, reduction)(input1, input2, target)`.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(margin=margin, reduction=reduction)


class NLLLoss(FunctionLayer, of="nll_loss", inputs="input target"):
    """`functional.nll_loss` as a layer: `NLLLoss(weight, ignore_index, reduction)(input, target)`."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction)


class CrossEntropyLoss(NLLLoss, of="cross_entropy"):
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
        options = {"weight": weight, "ignore_index": ignore_index, "reduction": reduction}
        FunctionLayer.__init__(self, **options, label_smoothing=label_smoothing)

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
    """Applies `functional.binary_cross_entropy`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.BCELoss()(ms.Tensor([0.5]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.weight, self.reduction = weight, reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(Cell):
    """Applies `functional.binary_cross_entropy_with_logits`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.BCEWithLogitsLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__()
        self.weight, self.reduction, self.pos_weight = weight, reduction, pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class KLDivLoss(Cell):
    """Applies `functional.kl_div`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.KLDivLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.0
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction, self.log_target = reduction, log_target

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.kl_div(input, target, self.reduction, self.log_target)


class SmoothL1Loss(Cell):
    """Applies `functional.smooth_l1_loss`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.SmoothL1Loss()(ms.Tensor([2.0, 3.0]), ms.Tensor([2.0, 1.0])))
        0.75
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__()
        self.reduction, self.beta = reduction, beta

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


class MSELoss(Cell):
    """Applies `functional.mse_loss`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.mse_loss(input, target, self.reduction)


class L1Loss(Cell):
    """Applies `functional.l1_loss`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.L1Loss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        1.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.l1_loss(input, target, self.reduction)


class SoftMarginLoss(Cell):
    """Applies `functional.soft_margin_loss`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.SoftMarginLoss()(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.soft_margin_loss(input, target, self.reduction)


class CosineEmbeddingLoss(Cell):
    """Applies `functional.cosine_embedding_loss`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 0.0]])
        >>> print(ms.mint.nn.CosineEmbeddingLoss()(x, x, ms.Tensor([-1])))
        1.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return functional.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class NLLLoss(Cell):
    """Applies `functional.nll_loss`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.NLLLoss()(ms.Tensor([[-1.0, -2.0]]), ms.Tensor([1], ms.int32)))
        2.0
    """

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__()
        self.weight, self.ignore_index, self.reduction = weight, ignore_index, reduction

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(NLLLoss):
    """Applies `functional.cross_entropy`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.CrossEntropyLoss()(ms.Tensor([[0.0, 0.0]]), ms.Tensor([1], ms.int32)))
        0.6931472
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

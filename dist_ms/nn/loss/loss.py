"""LossBase, and losses of pairs of values."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_string
from dist_ms.common.error_classes import bools, raises
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import not_of, number, tensor

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "RMSELoss",
    "SmoothL1Loss",
]


class LossBase(Cell):
    """Base class of losses: holds the reduction and applies it.

    Args:
        reduction: "mean", "sum" or "none".

    Attributes:
        reduction: as given.
        reduce: whether values are added up at all.
        average: whether the sum is divided by their number.

    Raises:
        ValueError: for another reduction.

    Examples:
        >>> import dist_ms as ms
        >>> class Distance(ms.nn.LossBase):
        ...     def construct(self, logits, labels):
        ...         return self.get_loss(ms.ops.abs(logits - labels))
        >>> print(Distance()(ms.Tensor([1.0, 2.0]), ms.Tensor([2.0, 4.0])))
        1.5
    """

    _choices = ("mean", "sum", "none")

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = check_string(reduction, "reduction", self.cls_name, self._choices)
        self.reduce = reduction != "none"
        self.average = reduction == "mean"

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """Return all axes of a tensor."""
        return tuple(range(x.ndim))

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """Weight values and reduce them, computing in float32 at least.

        Args:
            x: the values.
            weights: a number, or a Tensor of a shape that broadcasts with `x`.

        Returns:
            Tensor in the dtype of `x`: a scalar, or with "none" of the broadcast shape.
        """
        d = x.dtype
        wide = x if d == mstype.float64 else ops.cast(x, mstype.float32)
        if isinstance(weights, Tensor) or weights != 1:
            wide = wide * weights
        if self.reduce:
            wide = ops.ReduceMean()(wide) if self.average else ops.ReduceSum()(wide)
        return ops.cast(wide, d)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Compute the loss; a subclass defines it."""
        raise NotImplementedError(f"For '{self.cls_name}', construct is not defined.")


def check_tensors(owner: str, **given: Any) -> None:
    """Require tensors."""
    for name, value in given.items():
        tensor(value, name, owner)


class L1Loss(LossBase):
    """`ops.l1_loss` as a layer: `L1Loss(reduction)(logits, labels)`."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.l1_loss(logits, labels, self.reduction)


class MAELoss(L1Loss):
    """The mean absolute error; the same as `L1Loss`: `MAELoss(reduction)(logits, label)`."""

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, label=label)
        return ops.l1_loss(logits, label, self.reduction)


class MSELoss(LossBase):
    """(logits - labels)^2, or its mean or sum.

    Args:
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.MSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.mse_loss(logits, labels, self.reduction)


class RMSELoss(LossBase):
    """The square root of the mean of (logits - labels)^2.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.RMSELoss()(ms.Tensor([1.0, 2.0]), ms.Tensor([4.0, 5.0])))
        3.0
    """

    def __init__(self) -> None:
        super().__init__()
        self.MSELoss = MSELoss()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        not_of(logits, "BHIL", "logits", self.cls_name), not_of(label, "BHIL", "label", self.cls_name)
        return ops.sqrt(self.MSELoss(logits, label))


@bools("beta")
class SmoothL1Loss(LossBase):
    """`ops.smooth_l1_loss` as a layer: `SmoothL1Loss(beta, reduction)(logits, labels)`."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = number(beta, "beta", self.cls_name)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """`ops.huber_loss` as a layer: `HuberLoss(reduction, delta)(logits, labels)`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = number(delta, "delta", self.cls_name)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


@raises(reduction=ValueError)
class BCELoss(LossBase):
    """`ops.binary_cross_entropy` as a layer: `BCELoss(weight, reduction)(logits, labels)`."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight if weight is None else tensor(weight, "weight", self.cls_name)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


@raises(reduction=(TypeError, ValueError))
class BCEWithLogitsLoss(LossBase):
    """`ops.binary_cross_entropy_with_logits` as a layer.

    `BCEWithLogitsLoss(reduction, weight, pos_weight)(input, target)`.
    """

    def __init__(self, reduction: str = "mean", weight: Tensor | None = None, pos_weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        for given, name in ((weight, "weight"), (pos_weight, "pos_weight")):
            if given is not None:
                tensor(given, name, self.cls_name)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        check_tensors(self.cls_name, input=input, target=target)
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(LossBase):
    """`ops.kl_div` as a layer: `KLDivLoss(reduction)(logits, labels)`."""

    _choices = ("mean", "batchmean", "sum", "none")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.kl_div(logits, labels, self.reduction)

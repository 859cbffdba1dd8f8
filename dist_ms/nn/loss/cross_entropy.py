"""Losses of class labels and class probabilities."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_float, check_number_range, check_type
from dist_ms.common.dtype import int32
from dist_ms.common.error_classes import reads, reads_of_none
from dist_ms.common.tensor import Tensor
from dist_ms.nn.loss.loss import LossBase, check_tensors
from dist_ms.ops.arguments import floating_tensor, not_of, number
from dist_ms.ops.losses.softmax_cross_entropy import label_losses

__all__ = ["CrossEntropyLoss", "FocalLoss", "NLLLoss", "SoftmaxCrossEntropyWithLogits"]


def _class_weight(weight: Any, owner: str) -> Tensor | None:
    """Require a Tensor of floats, or None."""
    if weight is not None:
        floating_tensor(check_type(weight, "weight", owner, Tensor), "weight", owner)
    return weight


@reads_of_none()
class CrossEntropyLoss(LossBase):
    """The cross entropy between softmax(logits) and labels or probabilities; see `ops.cross_entropy`.

    Args:
        weight: a Tensor with a weight per class, or None for ones.
        ignore_index: the label whose rows do not count.
        reduction: "mean", "sum" or "none".
        label_smoothing: a float in [0, 1].

    Inputs:
        logits (Tensor): (N, C), (N, C, ...) or (C,) floats.
        labels (Tensor): int32 or int64 labels (N, ...) or (), or probabilities of the shape of `logits`.

    Outputs:
        Tensor: a scalar, or with "none" one loss per row.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or the shapes do not agree.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> logits = ms.Tensor([[0.0, 0.0], [0.0, 0.0]])
        >>> print(ms.nn.CrossEntropyLoss()(logits, ms.Tensor([0, 1])))
        0.6931472
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.weight = _class_weight(weight, self.cls_name)
        self.ignore_index = check_type(ignore_index, "ignore_index", self.cls_name, int)
        check_type(label_smoothing, "label_smoothing", self.cls_name, float)
        self.label_smoothing = check_number_range(label_smoothing, "label_smoothing", self.cls_name, 0.0, 1.0)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if not (isinstance(logits, Tensor) and isinstance(labels, Tensor)):
            check_tensors(self.cls_name, logits=logits, labels=labels)
        if labels.ndim not in (logits.ndim, logits.ndim - 1):
            raise ValueError(
                f"For 'CrossEntropyLoss', 'labels' must have as many dimensions as 'logits', or one less, but got the "
                f"shapes {labels.shape} and {logits.shape}."
            )
        if labels._element.kind != "b":
            numbers = labels.ndim < logits.ndim
            if (labels._element.kind in "iu") is not numbers:
                wanted = "Int32 or Int64, class numbers" if numbers else "float, probabilities"
                raise TypeError(
                    f"For 'CrossEntropyLoss', the dtype of 'labels' of the shape {labels.shape} must be {wanted} for "
                    f"'logits' of the shape {logits.shape}, but got {labels.dtype}."
                )
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


@reads(labels="expand_dims")
class NLLLoss(LossBase):
    """`ops.nll_loss` as a layer: `NLLLoss(weight, ignore_index, reduction)(logits, labels)`."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = _class_weight(weight, self.cls_name)
        self.ignore_index = check_type(ignore_index, "ignore_index", self.cls_name, int)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if not hasattr(logits, "ndim"):  # which MindSpore's layer reads first
            raise AttributeError(f"For 'NLLLoss', 'logits' must be a Tensor, but got {type(logits).__name__}.")
        check_tensors(self.cls_name, logits=logits, labels=labels)
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """-log softmax(logits) at the label, or weighted by one-hot labels.

    Args:
        sparse: labels are class numbers, else one-hot vectors or probabilities.
        reduction: "none", "mean" or "sum".

    Inputs:
        logits (Tensor): (N, C) floats.
        labels (Tensor): int32 or int64 (N,), or (N, C) in the dtype of `logits`.

    Outputs:
        Tensor (N,), or a scalar.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not agree, or `reduction` is another string.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> loss = ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True)
        >>> print(loss(ms.Tensor([[0.0, 0.0]]), ms.Tensor([1])))
        [0.6931472]
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = check_bool(sparse, "sparse", self.cls_name)
        self.softmax_cross_entropy = ops.SoftmaxCrossEntropyWithLogits()

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_tensors(self.cls_name, logits=logits, labels=labels)
        if not self.sparse:
            return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])
        loss, _ = label_losses(self.cls_name, logits, labels, self.average)
        return loss if self.average else self.get_loss(loss)


@reads_of_none()
class FocalLoss(LossBase):
    """-weight (1 - p)^gamma log p, where p is softmax(logits) at the target.

    Lin et al., "Focal Loss for Dense Object Detection", 2017.

    Args:
        weight: a Tensor with a weight per class, or None for ones.
        gamma: how little easy examples count, a float in [0, 20].
        reduction: "mean", "sum" or "none".

    Inputs:
        logits (Tensor): (N, C), (N, C, L) or (N, C, H, W) floats.
        labels (Tensor): of as many dimensions: class numbers with length 1 in place of C, or
            probabilities.

    Outputs:
        Tensor: a scalar, or with "none" the mean over L or H and W: (N,) for class numbers, (N, C)
        for probabilities.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.FocalLoss(gamma=0.0)(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[1]])))
        0.6931472
    """

    def __init__(self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        check_float(gamma, "gamma", "FocalLoss")
        if isinstance(weight, Tensor) and weight.ndim != 1:
            raise ValueError(f"For 'FocalLoss', 'weight' must have 1 dimension, but got {weight.ndim}.")
        super().__init__(reduction)
        self.gamma = check_number_range(number(gamma, "gamma", self.cls_name), "gamma", self.cls_name, 0, 20)
        self.weight = weight if weight is None else check_type(weight, "weight", self.cls_name, Tensor)
        self.logsoftmax = ops.LogSoftmax(1)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        not_of(labels, "?BHILFD", "labels", self.cls_name)
        check_tensors(self.cls_name, logits=logits, labels=labels)
        shape = logits.shape
        if (
            labels.ndim != len(shape)
            or not 2 <= len(shape) <= 4
            or labels.shape[0] != shape[0]
            or labels.shape[1] not in (1, shape[1])
            or labels.shape[2:] != shape[2:]
        ):
            raise ValueError(
                f"For '{self.cls_name}', 'labels' must have the shape {shape} of 'logits', or length 1 in "
                f"place of the classes, but got {labels.shape}."
            )
        logp = self.logsoftmax(logits)
        loss = -logp if self.gamma == 0 else -ops.pow(1 - ops.exp(logp), self.gamma) * logp
        if self.weight is not None:
            loss = loss * ops.reshape(self.weight, (1, -1, *(1,) * (len(shape) - 2)))
        if labels.shape[1] == 1:
            classes = ops.squeeze(ops.cast(labels, int32), 1)
            loss = loss * ops.one_hot(classes, shape[1], Tensor(1.0, logp.dtype), Tensor(0.0, logp.dtype), 1)
            loss = ops.ReduceSum()(loss, 1)
        else:
            loss = loss * labels
        if len(shape) > 2:
            loss = ops.ReduceMean()(loss, tuple(range(loss.ndim - len(shape) + 2, loss.ndim)))
        return self.get_loss(loss)

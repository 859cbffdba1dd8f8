"""Likelihood losses (Poisson, Gaussian) and Dice losses, as layers."""

from __future__ import annotations

import math

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_number, check_type, complaint
from dist_ms.common.error_classes import bools, reads_of_none, truths
from dist_ms.common.tensor import Tensor
from dist_ms.nn.layer.activation import get_activation
from dist_ms.nn.loss.loss import LossBase, check_tensors
from dist_ms.ops.arguments import not_of

__all__ = ["DiceLoss", "GaussianNLLLoss", "MultiClassDiceLoss", "PoissonNLLLoss"]


@bools("eps")
@truths("full", "log_input")
class PoissonNLLLoss(LossBase):
    """The negative log likelihood of counts: exp(x) - target x, up to a constant.

    Args:
        log_input: whether x is the logarithm of the rate; else x - target log(x + eps).
        full: add Stirling's approximation of log(target!) where target is above 1.
        eps: keeps the logarithm finite; not looked at where there is none.
        reduction: "mean", "sum" or "none".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.PoissonNLLLoss()(ms.Tensor([0.0]), ms.Tensor([3.0])))
        1.0
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input, self.full = (
            check_bool(log_input, "log_input", self.cls_name),
            check_bool(full, "full", self.cls_name),
        )
        self.eps = eps if self.log_input and not self.full else check_number(eps, "eps", self.cls_name)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        check_tensors(self.cls_name, input=input, target=target)
        loss = ops.exp(input) - target * input if self.log_input else input - target * ops.log(input + self.eps)
        if self.full:
            safe = ops.select(target > 1, target, ops.ones_like(target))
            stirling = safe * ops.log(safe) - safe + 0.5 * ops.log(2 * math.pi * safe)
            loss = loss + ops.select(target > 1, stirling, ops.zeros_like(stirling))
        return self.get_loss(loss)


class GaussianNLLLoss(LossBase):
    """`ops.gaussian_nll_loss` as a layer: `GaussianNLLLoss(full=, eps=, reduction=)(logits, labels, var)`."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full = check_bool(full, "full", self.cls_name)
        if check_type(eps, "eps", self.cls_name, float) <= 0:
            raise ValueError(complaint("eps", self.cls_name, "a float above 0", eps))
        self.eps = eps

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


@reads_of_none()
class DiceLoss(LossBase):
    """1 - 2 sum(x y) / (sum(x^2) + sum(y^2) + smooth), how little two masks overlap.

    Milletari, Navab and Ahmadi, "V-Net", 2016.

    Args:
        smooth: keeps the fraction finite, a float of 0 or more.

    Raises:
        TypeError: if `smooth` is no float.
        ValueError: if it is negative, or the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.DiceLoss(0.0)(ms.Tensor([1.0, 0.0]), ms.Tensor([1.0, 0.0])))
        0.0
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        if check_type(smooth, "smooth", self.cls_name, float) < 0:
            raise ValueError(complaint("smooth", self.cls_name, "a float of 0 or more", smooth))
        self.smooth = smooth

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        not_of(label, "BHILFD", "label", self.cls_name)
        not_of(logits, "BHIL", "logits", self.cls_name)
        check_tensors(self.cls_name, logits=logits, label=label)
        if logits.shape != label.shape:
            raise ValueError(
                f"For '{self.cls_name}', 'label' must have the shape {logits.shape} of 'logits', but got {label.shape}."
            )
        total = ops.ReduceSum()
        overlap = 2 * total(logits * label)
        return 1 - overlap / (total(logits * logits) + total(label * label) + self.smooth)


@reads_of_none()
class MultiClassDiceLoss(LossBase):
    """The mean over classes of `DiceLoss`, after an activation.

    Args:
        weights: a Tensor with a weight per class, or None for ones.
        ignore_indiex: a class left out (MindSpore's spelling), or None.
        activation: name of the activation of the logits, or None.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> print(ms.nn.MultiClassDiceLoss(activation=None)(x, x) < 1e-4)
        True
    """

    def __init__(
        self, weights: Tensor | None = None, ignore_indiex: int | None = None, activation: str | None = "softmax"
    ) -> None:
        super().__init__()
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        self.weights = weights if weights is None else check_type(weights, "weights", self.cls_name, Tensor)
        self.ignore_indiex = (
            ignore_indiex if ignore_indiex is None else check_type(ignore_indiex, "ignore_indiex", self.cls_name, int)
        )
        self.activation = (
            get_activation(activation)
            if activation is None or isinstance(activation, str)
            else check_type(activation, "activation", self.cls_name, str)
        )

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        not_of(label, "BHILFD", "label", self.cls_name)
        check_tensors(self.cls_name, logits=logits, label=label)
        if logits.shape != label.shape or logits.ndim < 2:
            raise ValueError(
                f"For '{self.cls_name}', 'logits' and 'label' must have one shape (N, C, ...), but got "
                f"{logits.shape} and {label.shape}."
            )
        if self.weights is not None and self.weights.shape[:1] != label.shape[1:2]:
            raise ValueError(
                f"For '{self.cls_name}', 'weights' must have an element for each of the {label.shape[1]} "
                f"classes, but got shape {self.weights.shape}."
            )
        if self.activation is not None:
            logits = self.activation(logits)
        total = 0
        for i in range(label.shape[1]):
            if i != self.ignore_indiex:
                dice = self.binarydiceloss(logits[:, i], label[:, i])
                total = total + (dice if self.weights is None else dice * self.weights[i])
        return total / label.shape[1]

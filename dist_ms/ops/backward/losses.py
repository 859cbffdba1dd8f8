"""Gradients of losses as operations: BinaryCrossEntropyGrad, NLLLossGrad, SmoothL1LossGrad and their kin."""

from __future__ import annotations

from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import Backward

__all__ = [
    "BinaryCrossEntropyGrad",
    "CrossEntropyLossGrad",
    "KLDivGrad",
    "KLDivLossGrad",
    "MSELossGradExt",
    "MultiMarginLossGrad",
    "MultilabelMarginLossGrad",
    "NLLLoss2dGrad",
    "NLLLossGrad",
    "SigmoidCrossEntropyWithLogitsGrad",
    "SmoothL1LossGrad",
    "SoftMarginLossGrad",
]


class BinaryCrossEntropyGrad(Backward):
    """The gradient of BinaryCrossEntropy.

    Args:
        reduction: "mean", "sum" or "none".

    Call:
        input (Tensor): probabilities.
        target (Tensor): labels.
        grad_output (Tensor): the gradient of the loss.
        weight (Tensor): of each element, or None.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import BinaryCrossEntropyGrad
        >>> print(BinaryCrossEntropyGrad("sum")(ms.Tensor([0.5]), ms.Tensor([1.0]), ms.Tensor(1.0)))
        [-2.]
    """

    options: ClassVar[dict[str, Any]] = {"reduction": "mean"}

    def compute(self, input: Tensor, target: Tensor, grad_output: Tensor, weight: Tensor | None = None) -> Tensor:
        loss = ops.BinaryCrossEntropy(self.reduction)
        return self.through(lambda x: loss(x, target, weight), [input], grad_output)[0]


class SigmoidCrossEntropyWithLogitsGrad(Backward):
    """The gradient of SigmoidCrossEntropyWithLogits: of logits `x` and labels `y`."""

    def compute(self, x: Tensor, y: Tensor, dout: Tensor) -> Tensor:
        return dout * (ops.sigmoid(x) - y)


class SmoothL1LossGrad(Backward):
    """The gradient of SmoothL1Loss with respect to the prediction."""

    options: ClassVar[dict[str, Any]] = {"beta": 1.0, "reduction": "none"}

    def compute(self, prediction: Tensor, target: Tensor, dout: Tensor) -> Tensor:
        loss = ops.SmoothL1Loss(self.beta, self.reduction)
        return self.through(lambda x: loss(x, target), [prediction], dout)[0]


class MSELossGradExt(Backward):
    """The gradient of `mse_loss` with respect to the input."""

    def compute(self, dout: Tensor, x: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
        return self.through(lambda v: ops.mse_loss(v, target, reduction), [x], dout)[0]


class KLDivLossGrad(Backward):
    """The gradient of KLDivLoss with respect to the logits `x`."""

    options: ClassVar[dict[str, Any]] = {"reduction": "mean"}

    def compute(self, grad: Tensor, x: Tensor, target: Tensor) -> Tensor:
        loss = ops.KLDivLoss(self.reduction)
        return self.through(lambda v: loss(v, target), [x], grad)[0]


class KLDivGrad(Backward):
    """The gradient of `kl_div` with respect to the input."""

    def compute(
        self, grad_output: Tensor, input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
    ) -> Tensor:
        wanted = ops.exp(target) if log_target else target
        return KLDivLossGrad(reduction)(grad_output, input, wanted)


class NLLLossGrad(Backward):
    """The gradient of NLLLoss with respect to the logits, from the saved sum of weights."""

    options: ClassVar[dict[str, Any]] = {"reduction": "mean", "ignore_index": -100}

    def compute(
        self, logits: Tensor, loss_grad: Tensor, labels: Tensor, weight: Tensor, total_weight: Tensor
    ) -> Tensor:
        counts = ops.not_equal(labels, self.ignore_index)
        known = ops.select(counts, labels, ops.zeros_like(labels))
        share = -ops.cast(ops.gather(weight, known, 0), logits.dtype) * ops.cast(counts, logits.dtype)
        share = share * (loss_grad / total_weight if self.reduction == "mean" else loss_grad)
        places = ops.reshape(known, (-1, 1))
        return self.through(
            lambda x: ops.gather_elements(x, 1, places), [ops.zeros_like(logits)], ops.reshape(share, (-1, 1))
        )[0]


class NLLLoss2dGrad(Backward):
    """The gradient of the loss of NLLLoss for each pixel with respect to the input (N, C, H, W)."""

    def compute(
        self,
        loss_grad: Tensor,
        input: Tensor,
        target: Tensor,
        weight: Tensor,
        reduction: str,
        ignore_index: int,
        total_weight: Tensor,
    ) -> Tensor:
        pixels = ops.transpose(input, (0, 2, 3, 1))
        grad = ops.reshape(loss_grad, (-1,)) if reduction == "none" else loss_grad
        found = NLLLossGrad(reduction, ignore_index)(
            ops.reshape(pixels, (-1, input.shape[1])), grad, ops.reshape(target, (-1,)), weight, total_weight
        )
        return ops.transpose(ops.reshape(found, pixels.shape), (0, 3, 1, 2))


class CrossEntropyLossGrad(Backward):
    """The gradient of `cross_entropy` with respect to the logits, from the logarithms of their softmax."""

    def compute(
        self,
        grad_loss: Tensor,
        log_prob: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        grad_zloss: Any = None,
        lse_for_zloss: Any = None,
        reduction: str = "mean",
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
        lse_square_scale_for_zloss: float = 0.0,
    ) -> Tensor:
        for name, value in (("grad_zloss", grad_zloss), ("lse_for_zloss", lse_for_zloss)):
            if value is not None:
                raise ValueError(complaint(name, self.name, "None, as the loss has no z part", type(value).__name__))
        if lse_square_scale_for_zloss:
            raise ValueError(complaint("lse_square_scale_for_zloss", self.name, "0", lse_square_scale_for_zloss))
        return self.through(
            lambda x: ops.cross_entropy(x, target, weight, ignore_index, reduction, label_smoothing),
            [log_prob],
            grad_loss,
        )[0]


class SoftMarginLossGrad(Backward):
    """The gradient of SoftMarginLoss with respect to the prediction."""

    options: ClassVar[dict[str, Any]] = {"reduction": "mean"}

    def compute(self, predict: Tensor, label: Tensor, dout: Tensor) -> Tensor:
        loss = ops.SoftMarginLoss(self.reduction)
        return self.through(lambda x: loss(x, label), [predict], dout)[0]


class MultiMarginLossGrad(Backward):
    """The gradient of MultiMarginLoss with respect to the input."""

    options: ClassVar[dict[str, Any]] = {"p": 1, "margin": 1.0, "reduction": "mean"}

    def compute(self, y_grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        loss = ops.MultiMarginLoss(self.p, self.margin, self.reduction)
        return self.through(lambda v: loss(v, target, weight), [x], y_grad)[0]


class MultilabelMarginLossGrad(Backward):
    """The gradient of MultilabelMarginLoss with respect to the input; `is_target` follows from `target`."""

    options: ClassVar[dict[str, Any]] = {"reduction": "mean"}

    def compute(self, y_grad: Tensor, x: Tensor, target: Tensor, is_target: Tensor) -> Tensor:
        loss = ops.MultilabelMarginLoss(self.reduction)
        return self.through(lambda v: loss(v, target)[0], [x], y_grad)[0]

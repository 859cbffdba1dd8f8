"""The connectionist temporal classification loss, as a layer."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_int
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor
from dist_ms.nn.loss.loss import LossBase
from dist_ms.ops.arguments import tensor

__all__ = ["CTCLoss"]


@raises(reduction=(TypeError, ValueError))
class CTCLoss(LossBase):
    """`ops.ctc_loss` as a layer that returns the loss alone, and takes sequences without a batch, too.

    Args:
        blank, reduction, zero_infinity: as there.

    Inputs:
        log_probs (Tensor): (T, N, C) or (T, C).
        targets (Tensor): (N, S) or (S,).
        input_lengths (Tensor or tuple): (N,).
        target_lengths (Tensor or tuple): (N,).

    Outputs:
        Tensor: a scalar, or with "none" (N,) if there is a batch.

    Examples:
        >>> import dist_ms as ms
        >>> logp = ms.ops.log_softmax(ms.ops.zeros((2, 2)))
        >>> print(ms.nn.CTCLoss()(logp, ms.Tensor([1]), ms.Tensor([2]), ms.Tensor([1])))
        0.2876821
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank = check_int(blank, "blank", self.cls_name)
        self.zero_infinity = check_bool(zero_infinity, "zero_infinity", self.cls_name)

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        unbatched = tensor(log_probs, "log_probs", self.cls_name).ndim == 2
        if unbatched:
            log_probs = ops.expand_dims(log_probs, 1)
            targets = ops.reshape(tensor(targets, "targets", self.cls_name), (1, -1))
        loss = ops.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )[0]
        return ops.reshape(loss, ()) if unbatched else loss

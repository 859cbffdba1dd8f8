"""TripletMarginWithDistanceLoss: the triplet loss with a distance of one's own."""

from __future__ import annotations

from collections.abc import Callable

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_float
from dist_ms.common.tensor import Tensor
from dist_ms.nn.loss.loss import LossBase, check_tensors

__all__ = ["TripletMarginWithDistanceLoss"]


def euclidean(x: Tensor, y: Tensor) -> Tensor:
    """The Euclidean distance along dimension 1."""
    if x.ndim == 0:
        raise ValueError("For 'TripletMarginWithDistanceLoss', the inputs must have at least one dimension.")
    return ops.LpNorm(axis=1, p=2)(x - y)


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, d(x, positive) - d(x, negative) + margin).

    Args:
        distance_function: d, a function of two Tensors; None for the Euclidean distance along
            dimension 1.
        swap: use the smaller of the negative's distances to x and to the positive.
        reduction: "mean", "sum" or "none".
        margin: a float.

    Inputs:
        x, positive, negative (Tensor): (N, ...) of one shape.

    Outputs:
        Tensor: a scalar, or with "none" what d returns.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `reduction` is another string, or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> a, b, c = ms.Tensor([[0.0]]), ms.Tensor([[1.0]]), ms.Tensor([[1.5]])
        >>> print(ms.nn.TripletMarginWithDistanceLoss()(a, b, c))
        0.5
    """

    def __init__(
        self,
        distance_function: Callable | None = None,
        swap: bool = False,
        reduction: str = "mean",
        margin: float = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.margin = check_float(margin, "margin", self.cls_name)
        self.swap = check_bool(swap, "swap", self.cls_name)
        self.distance_function = euclidean if distance_function is None else distance_function

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        check_tensors(self.cls_name, x=x, positive=positive, negative=negative)
        near, far = self.distance_function(x, positive), self.distance_function(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return self.get_loss(ops.maximum(near - far + self.margin, 0))

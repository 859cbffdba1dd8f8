"""Dropout layers; they act in training only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_number_range, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.layers.dropout import Dropout as DropoutPrimitive
from dist_ms.ops.layers.dropout import dropout1d, dropout2d, dropout3d

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]


class Dropout(Cell):
    """Sets elements to 0 with probability p and divides the others by 1 - p, in training only.

    Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014.

    Args:
        keep_prob: probability to keep an element, a float in (0, 1]; MindSpore's old argument.
        p: probability to drop an element, in [0, 1); wins over `keep_prob`.
        dtype: has no effect, as in MindSpore.

    Inputs:
        x (Tensor): floats.

    Outputs:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a probability is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Dropout(p=0.5)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: Any = mstype.float32) -> None:
        super().__init__()
        self.p, self.keep_prob = p, keep_prob
        if p is None:
            check_type(keep_prob, "keep_prob", "Dropout", float)
            check_number_range(keep_prob, "keep_prob", "Dropout", 0, 1, "(]")
            self.dropout = DropoutPrimitive(keep_prob)
        else:
            check_number_range(p, "p", "Dropout", 0, 1, "[)")
            self.dropout = DropoutPrimitive(1.0 - p)

    def construct(self, x: Tensor) -> Tensor:
        if not self.training or self.dropout.keep_prob == 1:
            return x
        return self.dropout.dropped(x)

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _ChannelDropout(Cell):
    """What the layers that drop whole channels share."""

    _drop: Callable[..., Tensor]

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        check_type(p, "p", self.cls_name, float)
        self.prob = check_number_range(p, "p", self.cls_name, 0, 1)

    def construct(self, x: Tensor) -> Tensor:
        if not self.training or self.prob == 0:
            return x
        return self._drop(x, self.prob)


class Dropout1d(_ChannelDropout):
    """`ops.dropout1d` as a layer that acts in training only: `Dropout1d(p)(x)`."""

    _drop = staticmethod(dropout1d)


class Dropout2d(_ChannelDropout):
    """`ops.dropout2d` as a layer that acts in training only: `Dropout2d(p)(x)`."""

    _drop = staticmethod(dropout2d)

    def extend_repr(self) -> str:
        return f"p={self.prob}"


class Dropout3d(_ChannelDropout):
    """`ops.dropout3d` as a layer that acts in training only: `Dropout3d(p)(x)`."""

    _drop = staticmethod(dropout3d)

    def extend_repr(self) -> str:
        return f"p={self.prob}"

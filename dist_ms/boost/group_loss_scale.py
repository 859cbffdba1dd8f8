"""A loss scale of its own for each group of layers, changed by what overflows in that group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_number
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.primitive import Primitive

__all__ = ["GroupLossScaleManager"]


class _ScaleGradient(Primitive):
    """x; its gradient is multiplied by a factor."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: np.ndarray) -> np.ndarray:
        return x

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return dout * self.factor


class GroupLossScaleManager(Cell):
    """A cell between the groups of layers of a network, at which the gradients' scale changes on their way back.

    The network calls it in front of its first layer with (x, 0, 1), between group i and the next with (x, i, i + 1),
    and behind the last with (x, number of groups, number of groups + 1).

    Args:
        init_loss_scale: the first scale of all groups; or a list of them.
        loss_scale_groups: the parameters of each group.

    Examples:
        >>> import dist_ms as ms
        >>> manager = ms.boost.GroupLossScaleManager(8.0, [])
        >>> manager.set_loss_scale_status(1, 8.0)
        >>> print(ms.grad(lambda x: manager(x, 1, 2))(ms.Tensor(3.0)))
        8.0
    """

    def __init__(self, init_loss_scale: float | list, loss_scale_groups: list[Sequence[Parameter]]) -> None:
        super().__init__()
        for value in init_loss_scale if isinstance(init_loss_scale, list) else [init_loss_scale]:
            check_positive_number(value, "init_loss_scale", "GroupLossScaleManager")
        self._loss_scale = init_loss_scale
        self.loss_scale_groups = loss_scale_groups
        self.loss_scale_number = 0
        self.dynamic_loss_scale: Any = None

    def set_loss_scale_status(self, loss_scale_number: int, init_loss_scale: float | list) -> None:
        """Make the groups' scales.

        Args:
            loss_scale_number: how many groups.
            init_loss_scale: the first scale of all of them, or a list.

        Raises:
            ValueError: for a list of another length.
        """
        first = init_loss_scale if isinstance(init_loss_scale, list) else [init_loss_scale] * loss_scale_number
        if len(first) != loss_scale_number:
            raise ValueError(
                f"For 'GroupLossScaleManager', 'init_loss_scale' must have one entry per group, {loss_scale_number}, "
                f"but got {len(first)}."
            )
        self.loss_scale_number = loss_scale_number
        self.dynamic_loss_scale = ParameterTuple(
            Parameter(Tensor(np.float32(value)), name=f"layer_loss_scale_{place}", requires_grad=False)
            for place, value in enumerate([1.0, *first, 1.0])
        )

    def update_loss_scale_status(self, layer: int, update_ratio: float | Tensor) -> Tensor:
        """Multiply a group's scale by a number, and return it.

        Args:
            layer: the number of the group, from 0.
            update_ratio: the number.
        """
        scale = self.dynamic_loss_scale[layer + 1]
        scale.set_data(Tensor((scale.asnumpy() * np.float32(update_ratio)).astype(np.float32)))
        return Tensor(scale.asnumpy())

    def construct(self, x: Tensor, layer1: int, layer2: int) -> Tensor:
        """Return x; before `set_loss_scale_status` its gradient stays as it is, too.

        Args:
            x: what goes from group `layer1` to group `layer2`.
            layer1: the number of the group before, from 1; 0 in front of all.
            layer2: that of the next one.
        """
        if self.dynamic_loss_scale is None:
            return x
        first, second = (float(self.dynamic_loss_scale[layer].asnumpy()) for layer in (layer1, layer2))
        return _ScaleGradient(first / second)(x)

    def get_loss_scale(self) -> float | list:
        """Return the scale to start with."""
        return self._loss_scale

    def get_update_cell(self) -> Cell:
        """Return this cell, which a train step changes the scales of."""
        return self

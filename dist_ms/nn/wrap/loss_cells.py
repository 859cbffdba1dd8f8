"""WithLossCell and WithEvalCell: a network and its loss as one cell."""

from __future__ import annotations

from typing import Any

from dist_ms.autograd.tree import map_tensors
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_type
from dist_ms.nn.cell import Cell
from dist_ms.ops.creating.casting import cast


def _check_cell(value: Any, name: str, owner: str) -> None:
    check_type(value, name, owner, Cell)


class WithLossCell(Cell):
    """A network followed by a loss function: `construct(data, label)` returns the loss.

    Args:
        backbone: the network.
        loss_fn: a Cell or function of (network output, label).

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.WithLossCell(nn.ReLU(), nn.MSELoss())
        >>> print(net(ms.Tensor([1.0, -1.0]), ms.Tensor([0.0, 0.0])))
        0.5
    """

    def __init__(self, backbone: Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        _check_cell(backbone, "backbone", "WithLossCell")
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        """The loss of one batch."""
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithEvalCell(Cell):
    """A network for evaluation: `construct(data, label)` returns (loss, network output, label).

    Args:
        network: the network.
        loss_fn: a Cell or function of (network output, label).
        add_cast_fp32: compute the loss in float32.
    """

    def __init__(self, network: Cell, loss_fn: Any, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        _check_cell(network, "network", "WithEvalCell")
        check_bool(add_cast_fp32, "add_cast_fp32", "WithEvalCell")
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data: Any, label: Any) -> tuple:
        """The loss, the output and the label of one batch."""
        outputs = self._network(data)
        if self.add_cast_fp32:
            widen = lambda x: cast(x, mstype.float32) if x.dtype in mstype.float_type else x  # noqa: E731
            label, outputs = map_tensors(widen, label), map_tensors(widen, outputs)
        return self._loss_fn(outputs, label), outputs, label

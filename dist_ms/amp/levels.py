"""What `mindspore.train.amp` keeps to itself: the levels' settings, BatchNorm in float32, a loss behind a network."""

from __future__ import annotations

from typing import Any

from dist_ms.amp.loss_scale import DynamicLossScaleManager
from dist_ms.common import dtype as mstype
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from dist_ms.nn.wrap.loss_cells import WithLossCell

__all__: list[str] = []


def _level(keep_batchnorm_fp32: bool, cast_model_type: Any, loss_scale_manager: Any) -> dict[str, Any]:
    return {
        "keep_batchnorm_fp32": keep_batchnorm_fp32,
        "cast_model_type": cast_model_type,
        "loss_scale_manager": loss_scale_manager,
    }


_config_level = {
    "O0": _level(False, mstype.float32, None),
    "O1": _level(False, mstype.float32, None),
    "O2": _level(True, mstype.float16, DynamicLossScaleManager()),
    "O3": _level(False, mstype.float16, None),
    "auto": _level(False, mstype.float32, None),
}


def _do_keep_batchnorm_fp32(network: Cell) -> None:
    """Have the BatchNorm layers of a network compute in float32, whatever the rest does.

    Args:
        network: the network, changed.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> from dist_ms.amp.levels import _do_keep_batchnorm_fp32
        >>> net = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2)).to_float(ms.float16)
        >>> _do_keep_batchnorm_fp32(net)
        >>> net[0](ms.ops.ones((2, 2))).dtype, net[1](ms.ops.ones((2, 2))).dtype
        (mindspore.float16, mindspore.float32)
    """
    for _, cell in network.cells_and_names():
        if isinstance(cell, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            cell.to_float(mstype.float32)


class _WithFloat32Outputs(Cell):
    """A network whose result is cast to float32.

    Args:
        network: gives a tensor.
    """

    def __init__(self, network: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = network

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*inputs).astype(mstype.float32)


def _add_loss_network(network: Cell, loss_fn: Any, cast_model_type: Any) -> Cell:
    """A network and its loss as one cell; the loss is computed in float32 when the network is not.

    Args:
        network: the network.
        loss_fn: of (network output, label).
        cast_model_type: the network's type.
    """
    return WithLossCell(network if cast_model_type == mstype.float32 else _WithFloat32Outputs(network), loss_fn)

"""Which cells and operations run in which type."""

from __future__ import annotations

from dist_ms.nn.layer.conv import Conv1d, Conv2d, Conv3d
from dist_ms.nn.layer.conv_transpose import Conv1dTranspose, Conv2dTranspose, Conv3dTranspose
from dist_ms.nn.layer.dense import Dense
from dist_ms.nn.layer.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm
from dist_ms.nn.layer.recurrent.rnn_cells import GRUCell, LSTMCell, RNNCell
from dist_ms.ops.activations.activation import ReLU
from dist_ms.ops.activations.rectifiers import PReLU
from dist_ms.ops.convolutions.conv_primitives import (
    Conv2D,
    Conv2DBackpropInput,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
)
from dist_ms.ops.linear_algebra.matmul import BatchMatMul, Ger, MatMul

WHITE_LIST: list[type] = [
    Conv1d,
    Conv2d,
    Conv3d,
    Conv1dTranspose,
    Conv2dTranspose,
    Conv3dTranspose,
    Dense,
    LSTMCell,
    RNNCell,
    GRUCell,
    Conv2D,
    Conv3D,
    Conv2DTranspose,
    Conv3DTranspose,
    Conv2DBackpropInput,
    MatMul,
    BatchMatMul,
    PReLU,
    ReLU,
    Ger,
]
BLACK_LIST: list[type] = [BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm]


def get_white_list() -> list[type]:
    """Return a copy of the cells and primitives that level O1 runs in the low type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Conv2d in ms.amp.get_white_list()
        True
    """
    return WHITE_LIST.copy()


def get_black_list() -> list[type]:
    """Return a copy of the cells that level O2 runs in float32.

    Examples:
        >>> import dist_ms as ms
        >>> [cell.__name__ for cell in ms.amp.get_black_list()]
        ['BatchNorm1d', 'BatchNorm2d', 'BatchNorm3d', 'LayerNorm']
    """
    return BLACK_LIST.copy()

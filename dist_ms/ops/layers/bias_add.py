"""BiasAdd: a vector added along the channels."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.geometry import check_data_format
from dist_ms.ops.kernels import column_sum
from dist_ms.ops.layout import converted
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.shaping import expanding, reshaping

__all__ = ["BiasAdd", "bias_add"]

_BF16, _F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
# Elements from which on a second thread pays.
_LARGE = 32768
# Elements of a row that a vector is repeated to at most; fewer are added to at once.
_ROW = 4096


class BiasAdd(Primitive):
    """`bias_add` as a primitive: `BiasAdd(data_format)(input_x, bias)`.

    Args:
        data_format: "NCHW", or "NCDHW" for three spatial dimensions.
    """

    keeps = ()

    def __init__(self, data_format: str = "NCHW") -> None:
        self.data_format = data_format if data_format == "NCDHW" else check_data_format(data_format, "BiasAdd", "NCHW")

    @quiet
    def forward(self, input_x: Any, bias: Any) -> np.ndarray:
        arguments.array(input_x, "input_x", self.name)
        arguments.array(bias, "bias", self.name)
        if input_x.ndim < 2 or bias.ndim != 1 or bias.shape[0] != input_x.shape[1]:
            raise ValueError(
                f"For '{self.name}', 'bias' must be a vector with an element per channel of 'input_x' "
                f"{input_x.shape}, but got shape {bias.shape}."
            )
        if input_x.dtype != bias.dtype:
            raise TypeError(
                f"For '{self.name}', 'bias' must have the dtype {from_numpy(input_x.dtype)} of 'input_x', "
                f"but got {from_numpy(bias.dtype)}; cast it first."
            )
        return with_row(input_x, bias)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return dout, channel_sum(dout) if wanted(inputs[1]) else None


def with_row(x: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The sums of x (N, C, ...) and a vector (C,) along its channels.

    Where the channels are neighbours in memory, a row that repeats the vector is added to several pixels at once.
    """
    lines = x.transpose(0, *range(2, x.ndim), 1)
    if x.ndim == 2 or x.size < _ROW or not lines.flags.c_contiguous:
        return apply(np.add, x, bias.reshape(-1, *(1,) * (x.ndim - 2)))
    repeats = 1
    for count in reversed(lines.shape[:-1]):
        if repeats * count * bias.size > _ROW:
            break
        repeats *= count
    sums = apply(np.add, lines.reshape(-1, repeats * bias.size), np.tile(bias, repeats))
    return np.moveaxis(sums.reshape(lines.shape), -1, 1)


def row_sum(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The sum (columns,) over the rows of a matrix, in `out` if given; of a large one of floats by a kernel.

    16-bit floats are added up in float32 and rounded once.
    """
    if x.dtype in (_BF16, _F16):
        total = converted(row_sum(converted(x, _F32)), x.dtype)
        if out is None:
            return total
        out[...] = total
        return out
    if x.size < _LARGE or x.dtype not in (_F32, _F64) or not x.flags.c_contiguous:
        return np.add.reduce(x, 0, None, out)
    out = np.empty(x.shape[1], x.dtype) if out is None else out
    column_sum.column_sums(x, out)
    return out


class ChannelSum(Primitive):
    """The sums (C,) of an (N, C, ...) tensor over everything but the channels."""

    keeps = ()

    @quiet
    def forward(self, x: np.ndarray) -> np.ndarray:
        return row_sum(x if x.ndim == 2 else np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        shape = inputs[0].shape
        column = reshaping.reshape(dout, (shape[1], *(1,) * (len(shape) - 2)))
        return expanding.broadcast_to(column, shape)


channel_sum = ChannelSum()
_bias_add = BiasAdd()


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """Add a bias to each channel.

    Args:
        input_x: (N, C, ...), 2 to 5 dimensions.
        bias: (C,).

    Returns:
        Tensor of the shape of `input_x`.

    Raises:
        TypeError: if the dtypes differ.
        ValueError: if `bias` has another length than there are channels.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bias_add(ms.Tensor([[1.0, 2.0]]), ms.Tensor([10.0, 20.0])))
        [[11. 22.]]
    """
    tensor(bias, "bias", "bias_add")
    return _bias_add(input_x, bias)

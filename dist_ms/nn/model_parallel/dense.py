"""Fully connected layers whose weight is cut over the ranks, by outputs or by inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dist_ms.collectives.gathering_scattering import AllGatherV, ReduceScatterV
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.common.initializer import HeUniform, Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.model_parallel.shards import (
    ScaleGradient,
    Shards,
    batch_lengths,
    batches_to_features,
    check_features,
    features_to_batches,
    gradient_scale,
    shard_parameter,
    world_comm,
)
from dist_ms.ops.layers.dense import dense

__all__ = ["ColumnParallelDense", "RowParallelDense"]


class _ParallelDense(Cell):
    """What both have in common: the arguments, and how rows reach the product."""

    _axis = 0  # of the weight, which is cut
    _product: Callable[..., Tensor]
    _make_bias: Callable[..., Parameter]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = check_positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = check_bool(has_bias, "has_bias", self.cls_name)
        self._comm = world_comm()
        self._scale = ScaleGradient(gradient_scale(self._comm.size))
        shape, name = (out_channels, in_channels), ("out_channels", "in_channels")[self._axis]
        check_features(shape[self._axis], name, self.cls_name, self._comm.size)
        self._shards = Shards(shape[self._axis], self._comm.size, self._comm.rank)
        init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = shard_parameter(init, shape, self._axis, self._shards, dtype, "weight")
        self.bias = None
        if has_bias:
            init = Uniform(1 / math.sqrt(in_channels)) if bias_init is None else bias_init
            self.bias = self._make_bias(init, dtype)

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim == 0 or x.shape[-1] != self.in_channels:
            raise ValueError(
                f"For '{self.cls_name}', the last dimension of 'x' must be {self.in_channels}, but got shape {x.shape}."
            )
        rows = x.reshape(-1, self.in_channels)
        return self._product(rows, batch_lengths(len(rows), self._comm)).reshape(*x.shape[:-1], self.out_channels)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, has_bias={self.has_bias}, "
            f"ranks={self._comm.size}"
        )


class ColumnParallelDense(_ParallelDense):
    """out = x weight^T + bias, where each rank holds some outputs' rows of the weight.

    For layers with many outputs, such as a classifier of very many classes. A step gathers every rank's rows, (sum of
    batches, in_channels), computes this rank's outputs for all of them, and exchanges the results.

    Parameters, both `layerwise_parallel`: `weight` (this rank's outputs, in_channels), `bias` (this rank's outputs,).
    With the same seed on every rank they hold together what `Dense` would. Under `gradients_mean` their gradients are
    the mean over the ranks' losses, as the reducer makes those of other parameters.

    Args:
        in_channels: length of the input's last dimension.
        out_channels: length of the output's, at least the number of ranks.
        weight_init: Tensor of the whole, name, Initializer or number; None as for `Dense`.
        bias_init: likewise.
        has_bias: whether there is a bias.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (..., in_channels); every rank its own batch, of any size.

    Outputs:
        Tensor (..., out_channels).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or a shape does not agree.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.model_parallel import ColumnParallelDense
        >>> layer = ColumnParallelDense(3, 2, weight_init="ones", bias_init="zeros")
        >>> print(layer(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def _make_bias(self, init: Any, dtype: Any) -> Parameter:
        return shard_parameter(init, (self.out_channels,), 0, self._shards, dtype, "bias")

    def _product(self, rows: Tensor, batches: list[int]) -> Tensor:
        everybody = AllGatherV()(rows, batches)
        bias = self._scale(self.bias) if self.has_bias else None
        y = dense(everybody, self._scale(self.weight), bias)
        return features_to_batches(y, batches, self._shards.lengths, self._comm.rank)


class RowParallelDense(_ParallelDense):
    """out = x weight^T + bias, where each rank holds some inputs' columns of the weight.

    For layers with many inputs. A step gives each rank its inputs of every rank's rows, computes partial sums for all
    of them, and adds them up over the ranks where they belong.

    Parameters: `weight` (out_channels, this rank's inputs), `layerwise_parallel`; `bias` (out_channels,), an ordinary
    one. With the same seed on every rank they hold together what `Dense` would. Under `gradients_mean` the weight's
    gradient is the mean over the ranks' losses, as the reducer makes those of other parameters.

    Args:
        in_channels: length of the input's last dimension, at least the number of ranks.
        out_channels: length of the output's.
        weight_init: Tensor of the whole, name, Initializer or number; None as for `Dense`.
        bias_init: likewise.
        has_bias: whether there is a bias.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (..., in_channels); every rank its own batch, of any size.

    Outputs:
        Tensor (..., out_channels).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or a shape does not agree.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.model_parallel import RowParallelDense
        >>> layer = RowParallelDense(3, 2, weight_init="ones", bias_init="zeros")
        >>> print(layer(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    _axis = 1

    def _make_bias(self, init: Any, dtype: Any) -> Parameter:
        return Parameter(initializer(init, (self.out_channels,), dtype), name="bias")

    def _product(self, rows: Tensor, batches: list[int]) -> Tensor:
        mine = batches_to_features(rows, batches, self._shards.lengths, self._comm.rank)
        y = ReduceScatterV()(dense(mine, self._scale(self.weight)), batches)
        return y + self.bias if self.has_bias else y

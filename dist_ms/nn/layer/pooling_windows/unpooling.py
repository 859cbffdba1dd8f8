"""Layers that put maxima back to where they were found."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.convolutions.geometry import padding_pairs, per_dimension
from dist_ms.ops.pooling_windows.unpooling import no_flags

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxUnpoolNd(Cell):
    """What the layers share."""

    _rank = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        per_dimension(kernel_size, self._rank, "kernel_size", self.cls_name, ValueError)
        if self._rank == 1:
            no_flags(self.cls_name, kernel_size=kernel_size, stride=stride, padding=padding)
        if stride is not None:
            per_dimension(stride, self._rank, "stride", self.cls_name, ValueError)
        padding_pairs(padding, self._rank, "padding", self.cls_name, symmetric=True)
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        function = (ops.max_unpool1d, ops.max_unpool2d, ops.max_unpool3d)[self._rank - 1]
        return function(x, indices, self.kernel_size, self.stride, self.padding, output_size)


@scalars("stride")
class MaxUnpool2d(_MaxUnpoolNd):
    """`ops.max_unpool2d` as a layer: `MaxUnpool2d(kernel_size, stride, padding)(x, indices, output_size=None)`."""

    _rank = 2


@scalars("stride")
class MaxUnpool1d(_MaxUnpoolNd):
    """`ops.max_unpool1d` as a layer: `MaxUnpool1d(kernel_size, stride, padding)(x, indices, output_size=None)`."""

    _rank = 1


@scalars("stride")
class MaxUnpool3d(_MaxUnpoolNd):
    """`ops.max_unpool3d` as a layer: `MaxUnpool3d(kernel_size, stride, padding)(x, indices, output_size=None)`."""

    _rank = 3

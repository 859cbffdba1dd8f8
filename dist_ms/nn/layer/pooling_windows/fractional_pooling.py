"""FractionalMaxPool2d and FractionalMaxPool3d."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.pooling_windows.fractional_pooling import fractional_max_pool2d, fractional_max_pool3d

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPoolNd(Cell):
    """What the layers share."""

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices, self._random_samples = return_indices, _random_samples

    def _settings(self) -> tuple:
        return self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """`ops.fractional_max_pool2d` as a layer.

    `FractionalMaxPool2d(kernel_size, output_size, output_ratio, return_indices, _random_samples)(input)`.
    """

    def construct(self, input: Tensor) -> Any:
        return fractional_max_pool2d(input, *self._settings())


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """`ops.fractional_max_pool3d` as a layer.

    `FractionalMaxPool3d(kernel_size, output_size, output_ratio, return_indices, _random_samples)(input)`.
    """

    def construct(self, input: Tensor) -> Any:
        return fractional_max_pool3d(input, *self._settings())

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
    """The maxima of windows at random places; see `ops.fractional_max_pool2d`, which checks the arguments.

    Args:
        kernel_size: size of the windows, an int or a tuple (height, width).
        output_size: how many there are, an int or a tuple; or None.
        output_ratio: output size over input size, a float in (0, 1) or a tuple; or None.
        return_indices: also return where the maxima are.
        _random_samples: (N, C, 2) floats in [0, 1) that say where the windows lie; None to draw them
            at each call.

    Inputs:
        input (Tensor): (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor (N, C, H', W'); with `return_indices` a tuple of it and the int64 places in H W.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.FractionalMaxPool2d(2, output_ratio=0.5)(ms.ops.ones((1, 3, 8, 8))).shape
        (1, 3, 4, 4)
    """

    def construct(self, input: Tensor) -> Any:
        return fractional_max_pool2d(input, *self._settings())


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The maxima of windows at random places; see `ops.fractional_max_pool3d`, which checks the arguments.

    Args:
        kernel_size, output_size, output_ratio, return_indices: as in `FractionalMaxPool2d`, with three
            numbers.
        _random_samples: (N, C, 3) floats in [0, 1) in the dtype of the input; None to draw them at each
            call.

    Inputs:
        input (Tensor): (N, C, D, H, W) or (C, D, H, W).

    Outputs:
        Tensor (N, C, D', H', W'); with `return_indices` a tuple of it and the int64 places in D H W.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.FractionalMaxPool3d(2, output_size=3)(ms.ops.ones((1, 3, 8, 8, 8))).shape
        (1, 3, 3, 3, 3)
    """

    def construct(self, input: Tensor) -> Any:
        return fractional_max_pool3d(input, *self._settings())

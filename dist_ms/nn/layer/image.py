"""Image layers: pixel and channel shuffling, upsampling, patches."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_positive_int
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle", "Upsample"]


class PixelShuffle(Cell):
    """Rearranges (..., C r^2, H, W) to (..., C, H r, W r); see `ops.pixel_shuffle`.

    Args:
        upscale_factor: r, a positive int.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.PixelShuffle(2)(ms.ops.ones((1, 4, 3, 3))).shape
        (1, 1, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_positive_int(upscale_factor, "upscale_factor", self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Rearranges (..., C, H r, W r) to (..., C r^2, H, W); see `ops.pixel_unshuffle`.

    Args:
        downscale_factor: r, a positive int.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.PixelUnshuffle(2)(ms.ops.ones((1, 1, 6, 6))).shape
        (1, 4, 3, 3)
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = check_positive_int(downscale_factor, "downscale_factor", self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """Deals the channels of (N, C, ...) to groups in turn; see `ops.channel_shuffle`.

    Args:
        groups: number of groups, a positive int.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.ChannelShuffle(2)(ms.ops.ones((1, 4, 3))).shape
        (1, 4, 3)
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = check_positive_int(groups, "groups", self.cls_name)

    def construct(self, x: Tensor) -> Tensor:
        return ops.channel_shuffle(x, self.groups)


class Upsample(Cell):
    """A (N, C, *spatial) tensor at another spatial size; see `ops.interpolate`.

    Args:
        size: the new size, or None.
        scale_factor: new size over old, or None.
        mode: "nearest", "linear", "bilinear", "bicubic", "trilinear", "area" or "nearest-exact".
        align_corners: let the corner elements coincide.
        recompute_scale_factor: take the scale from the rounded new size.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Upsample(size=4)(ms.Tensor([[[1.0, 3.0]]])))
        [[[1. 1. 3. 3.]]]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        return ops.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

"""Image layers: pixel and channel shuffling, upsampling, patches."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_positive_int
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import has_dimensions, tensor
from dist_ms.ops.shaping.pixel_shuffle import shuffled

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle", "Upsample"]


class PixelShuffle(Cell):
    """`ops.pixel_shuffle` as a layer: `PixelShuffle(upscale_factor)(input)`."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_positive_int(upscale_factor, "upscale_factor", self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """`ops.pixel_unshuffle` as a layer: `PixelUnshuffle(downscale_factor)(input)`."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = check_positive_int(downscale_factor, "downscale_factor", self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """`ops.channel_shuffle` as a layer: `ChannelShuffle(groups)(x)`."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = check_positive_int(groups, "groups", self.cls_name)

    def construct(self, x: Tensor) -> Tensor:
        shape = has_dimensions(tensor(x, "x", self.cls_name), 2, "x", self.cls_name).shape
        return ops.reshape(shuffled(ops.reshape(x, (*shape[:2], -1)), self.groups), shape)


class Upsample(Cell):
    """`ops.interpolate` as a layer: `Upsample(size, scale_factor, mode, align_corners, recompute_scale_factor)(x)`."""

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

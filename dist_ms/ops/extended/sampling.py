"""Other sizes of a tensor: interpolation and padding, in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.images.grid_sampling import grid_sample

__all__ = ["grid_sample", "interpolate", "pad", "pixel_shuffle", "upsample"]

interpolate = ops.interpolate
pixel_shuffle = ops.pixel_shuffle


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """`ops.interpolate`, without `recompute_scale_factor`."""
    return ops.interpolate(input, size, scale_factor, mode, align_corners)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """`ops.pad`, with PyTorch's names of its arguments."""
    return ops.pad(input, pad, mode, value)

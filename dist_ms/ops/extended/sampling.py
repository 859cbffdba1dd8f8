"""Other sizes of a tensor: interpolation and padding, in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_key, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.images.grid_sampling import grid_sample

__all__ = ["grid_sample", "interpolate", "pad", "pixel_shuffle", "upsample"]

_WITH_CORNERS = ("linear", "bilinear", "bicubic", "trilinear")

pixel_shuffle = ops.pixel_shuffle


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """`ops.interpolate`, where `align_corners` must be None in the modes that have no use for it.

    Anything that Python takes for False is one in `recompute_scale_factor`.

    Raises:
        TypeError, ValueError: as `ops.interpolate`; ValueError for an option that does not go with the others.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[1.0, 3.0]]])
        >>> print(ms.mint.nn.functional.interpolate(x, size=3, mode="linear", align_corners=True))
        [[[1. 2. 3.]]]
    """
    owner = "interpolate"
    check_key(mode, "mode", owner)
    if align_corners is not None and mode not in _WITH_CORNERS:
        raise ValueError(complaint("align_corners", owner, f"None with 'mode' {mode!r}", align_corners))
    if recompute_scale_factor and size is not None:
        raise ValueError(complaint("recompute_scale_factor", owner, "None or False when 'size' is given", True))
    return ops.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor or None)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """`ops.interpolate`, without `recompute_scale_factor`."""
    return ops.interpolate(input, size, scale_factor, mode, align_corners)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """`ops.pad`, with PyTorch's names of its arguments; a `value` of 0 is one of the modes that use none, too."""
    tensor(input, "input", "pad")
    if mode == "circular" and not isinstance(pad, (tuple, list)) and not hasattr(pad, "shape"):
        raise AttributeError(complaint("pad", "pad", "a tuple, list or Tensor of ints", pad))
    return ops.pad(input, pad, mode, value if mode == "constant" or value != 0 else None)

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
    """A (N, C, *spatial) tensor at another size; see `interpolate`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.upsample(ms.Tensor([[[1.0, 3.0]]]), size=4))
        [[[1. 1. 3. 3.]]]
    """
    return ops.interpolate(input, size, scale_factor, mode, align_corners)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Widen a tensor on both sides of its last dimensions.

    Args:
        input: any tensor.
        pad: (before, after) of the last dimension, then of the one before it, and so on.
        mode: "constant", "reflect", "replicate" or "circular".
        value: what to fill with in the mode "constant"; None for 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.functional.pad(ms.Tensor([1.0, 2.0]), (1, 0)))
        [0. 1. 2.]
    """
    return ops.pad(input, pad, mode, value)

"""Channels to pixels and back, and channels among groups."""

from __future__ import annotations

from dist_ms.common.checks import check_positive_int
from dist_ms.common.error_classes import raises, reads_of_none
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import not_of, tensor
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.transposing import transpose

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


@reads_of_none("input")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange (..., C r^2, H, W) to (..., C, H r, W r).

    Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
    Convolutional Neural Network", 2016.

    Args:
        input: numbers of 3 or more dimensions.
        upscale_factor: r.

    Returns:
        Tensor (..., C, H r, W r).

    Raises:
        TypeError: if `upscale_factor` is no int.
        ValueError: if it is not positive, or r^2 does not divide the channels.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.pixel_shuffle(ms.Tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2))
        [[[1. 2.]
          [3. 4.]]]
    """
    r = check_positive_int(upscale_factor, "upscale_factor", "pixel_shuffle")
    shape = tensor(input, "input", "pixel_shuffle").shape
    if len(shape) < 3 or shape[-3] % (r * r):
        raise ValueError(
            f"For 'pixel_shuffle', 'input' must be (..., C r^2, H, W) with 'upscale_factor' r = {r}, but "
            f"got shape {shape}."
        )
    lead, (c, h, w) = shape[:-3], shape[-3:]
    n, at = len(lead), tuple(range(len(lead)))
    parts = reshape(input, (*lead, c // (r * r), r, r, h, w))
    return reshape(transpose(parts, (*at, n, n + 3, n + 1, n + 4, n + 2)), (*lead, c // (r * r), h * r, w * r))


@reads_of_none("input")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearrange (..., C, H r, W r) to (..., C r^2, H, W): the inverse of `pixel_shuffle`.

    Args:
        input: numbers of 3 or more dimensions.
        downscale_factor: r.

    Returns:
        Tensor (..., C r^2, H, W).

    Raises:
        TypeError: if `downscale_factor` is no int.
        ValueError: if it is not positive, or does not divide height and width.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.pixel_unshuffle(ms.ops.ones((1, 4, 4)), 2).shape
        (4, 2, 2)
    """
    r = check_positive_int(downscale_factor, "downscale_factor", "pixel_unshuffle")
    shape = tensor(input, "input", "pixel_unshuffle").shape
    if len(shape) < 3 or shape[-1] % r or shape[-2] % r:
        raise ValueError(
            f"For 'pixel_unshuffle', 'input' must be (..., C, H r, W r) with 'downscale_factor' r = {r}, "
            f"but got shape {shape}."
        )
    lead, (c, h, w) = shape[:-3], shape[-3:]
    n, at = len(lead), tuple(range(len(lead)))
    parts = reshape(input, (*lead, c, h // r, r, w // r, r))
    return reshape(transpose(parts, (*at, n, n + 2, n + 4, n + 1, n + 3)), (*lead, c * r * r, h // r, w // r))


@raises(groups=ValueError)
def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Deal the channels of (N, C, ...) to groups in turn.

    Zhang et al., "ShuffleNet", 2017: (N, groups, C / groups, ...) transposed.

    Args:
        x: numbers of 4 or more dimensions.
        groups: number of groups, divides C.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        TypeError: if `groups` is no int, or `x` has fewer dimensions, or holds bools or complex numbers.
        ValueError: if it is not positive, or does not divide C.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.channel_shuffle(ms.Tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]), 2).reshape(4))
        [1. 3. 2. 4.]
    """
    check_positive_int(groups, "groups", "channel_shuffle")
    shape = tensor(x, "x", "channel_shuffle").shape
    if len(shape) < 4:
        raise TypeError(f"For 'channel_shuffle', 'x' must have at least 4 dimensions, but got shape {shape}.")
    return shuffled(not_of(x, "?FD", "x", "channel_shuffle"), groups)


def shuffled(x: Tensor, groups: int) -> Tensor:
    """A tensor (N, C, ...) with the channels of its groups in turn."""
    shape = x.shape
    if shape[1] % groups:
        raise ValueError(
            f"For 'channel_shuffle', 'x' must be (N, C, ...) with C a multiple of 'groups' {groups}, but "
            f"got shape {shape}."
        )
    parts = reshape(x, (shape[0], groups, shape[1] // groups, *shape[2:]))
    return reshape(transpose(parts, (0, 2, 1, *range(3, parts.ndim))), shape)

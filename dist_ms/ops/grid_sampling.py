"""affine_grid and grid_sample: values of an image at given positions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_string
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, integers, tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["AffineGrid", "GridSampler2D", "GridSampler3D", "affine_grid", "grid_sample"]


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """Return the positions that an affine map takes the pixels of an image to, for `grid_sample`.

    Args:
        theta: floats (N, 2, 3), or (N, 3, 4) for volumes.
        size: (N, C, H, W), or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centers of the outer pixels; else their outer edges.

    Returns:
        Tensor (N, H, W, 2) or (N, D, H, W, 3).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> theta = ms.Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> print(ms.ops.affine_grid(theta, (1, 1, 1, 2)))
        [[[[-0.5  0. ]
           [ 0.5  0. ]]]]
    """
    owner = "affine_grid"
    data = floating(owner, tensor(owner, theta, "theta").array(), "theta")
    check_bool(align_corners, "align_corners", owner)
    sizes = integers(owner, size, "size")
    rank = len(sizes) - 2
    if rank not in (2, 3) or data.shape != (sizes[0], rank, rank + 1) or min(sizes) < 1:
        raise ValueError(
            f"For '{owner}', 'theta' must be (N, 2, 3) with 'size' (N, C, H, W), or (N, 3, 4) with (N, C, D, H, W), "
            f"but got {data.shape} and {sizes}."
        )
    lines = [_line(n, align_corners) for n in sizes[2:]]
    axes = np.meshgrid(*lines, indexing="ij")[::-1]
    base = np.stack([*axes, np.ones_like(axes[0])], axis=-1).reshape(1, -1, rank + 1).astype(data.dtype)
    out = ops.matmul(wrap(base), ops.transpose(theta, (0, 2, 1)))
    return ops.reshape(out, (sizes[0], *sizes[2:], rank))


def _line(n: int, align_corners: bool) -> np.ndarray:
    """The positions of n pixels."""
    if align_corners:
        return np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
    return (2 * np.arange(n) + 1) / n - 1


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Return the values of images at given positions.

    Args:
        input: floats (N, C, H, W), or (N, C, D, H, W).
        grid: positions (N, ..., 2) as (x, y), or (N, ..., 3) as (x, y, z); -1 and 1 are the borders.
        mode: "bilinear" between the nearest pixels, or "nearest".
        padding_mode: outside are "zeros", the "border" again, or a "reflection".
        align_corners: whether -1 and 1 are the centers of the outer pixels; else their outer edges.

    Returns:
        Tensor (N, C, ...).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or a mode is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[[1.0, 3.0]]]])
        >>> print(ms.ops.grid_sample(x, ms.Tensor([[[[0.0, 0.0]]]])))
        [[[[2.]]]]
    """
    return _sample("grid_sample", input, grid, mode, padding_mode, bool(align_corners))


def _sample(owner: str, x: Tensor, grid: Tensor, mode: str, padding_mode: str, align: bool) -> Tensor:
    floating(owner, tensor(owner, x, "input").array(), "input")
    floating(owner, tensor(owner, grid, "grid").array(), "grid")
    check_string(mode, "mode", owner, ("bilinear", "nearest"))
    check_string(padding_mode, "padding_mode", owner, ("zeros", "border", "reflection"))
    rank = x.ndim - 2
    if rank not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise ValueError(
            f"For '{owner}', 'input' must be (N, C, H, W) with 'grid' (N, H', W', 2), or have one dimension more, but "
            f"got shapes {x.shape} and {grid.shape}."
        )
    sizes, n, d = x.shape[2:], x.shape[0], x.array().dtype
    places = [
        _inside(_unnormalized(grid[..., rank - 1 - axis], size, align), size, padding_mode, align)
        for axis, size in enumerate(sizes)
    ]
    plain = [place.asnumpy() for place in places]
    pixels = ops.reshape(ops.transpose(x, (0, *range(2, rank + 2), 1)), (-1, x.shape[1]))
    first = (np.arange(n) * int(np.prod(sizes))).reshape(n, *[1] * rank)
    out = None
    for corner in itertools.product((0, 1), repeat=rank) if mode == "bilinear" else [None]:
        index, known, weight = 0, True, None
        for axis, size in enumerate(sizes):
            if corner is None:
                column = np.rint(plain[axis])
            else:
                low = np.floor(plain[axis])
                column = low + corner[axis]
                share = places[axis] - wrap(low) if corner[axis] else 1 - (places[axis] - wrap(low))
                weight = share if weight is None else weight * share
            known = known & (column >= 0) & (column < size)
            index = index * size + np.clip(np.nan_to_num(column), 0, size - 1).astype(np.int64)
        part = ops.gather(pixels, wrap(index + first), 0) * wrap(known[..., None].astype(d))
        part = part if weight is None else part * ops.expand_dims(weight, -1)
        out = part if out is None else out + part
    return ops.transpose(out, (0, rank + 1, *range(1, rank + 1)))


def _unnormalized(g: Tensor, size: int, align: bool) -> Tensor:
    """Positions counted in pixels."""
    return (g + 1) * ((size - 1) / 2) if align else ((g + 1) * size - 1) * 0.5


def _inside(place: Tensor, size: int, padding_mode: str, align: bool) -> Tensor:
    """Positions outside moved into the image, unless there are zeros."""
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if span == 0:
            return place * 0
        away = ops.abs(place - low)
        turns = np.floor(away.asnumpy() / span)
        rest = away - wrap((turns * span).astype(away.array().dtype))
        even = (turns % 2 == 0).astype(rest.array().dtype)
        place = rest * wrap(2 * even - 1) + wrap((1 - even) * span + low)
    return ops.clamp(place, 0.0, float(size - 1))


class AffineGrid(Primitive):
    """The positions of `grid_sample` under an affine map; see `affine_grid`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.AffineGrid()(ms.ops.ones((1, 2, 3)), (1, 1, 4, 5)).shape
        (1, 4, 5, 2)
    """

    def __init__(self, align_corners: bool = False) -> None:
        self.align_corners = check_bool(align_corners, "align_corners", self.name)

    def __call__(self, theta: Tensor, output_size: Any) -> Tensor:
        return affine_grid(theta, output_size, self.align_corners)


class GridSampler2D(Primitive):
    """The values of images at given positions; see `grid_sample`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.GridSampler2D()(ms.ops.ones((1, 3, 4, 5)), ms.ops.zeros((1, 2, 2, 2), ms.float32)).shape
        (1, 3, 2, 2)
    """

    def __init__(
        self, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
    ) -> None:
        check_string(interpolation_mode, "interpolation_mode", self.name, ("bilinear", "nearest"))
        check_string(padding_mode, "padding_mode", self.name, ("zeros", "border", "reflection"))
        self.interpolation_mode, self.padding_mode = interpolation_mode, padding_mode
        self.align_corners = check_bool(align_corners, "align_corners", self.name)

    def __call__(self, input_x: Tensor, grid: Tensor) -> Tensor:
        return _sample(self.name, input_x, grid, self.interpolation_mode, self.padding_mode, self.align_corners)


class GridSampler3D(GridSampler2D):
    """The values of volumes at given positions; see `grid_sample`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.GridSampler3D()(ms.ops.ones((1, 3, 4, 5, 6)), ms.ops.zeros((1, 2, 2, 2, 3), ms.float32)).shape
        (1, 3, 2, 2, 2)
    """

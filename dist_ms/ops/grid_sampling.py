"""grid_sample and affine_grid: images read at the points of a grid, and grids made by affine maps.

Jaderberg et al., "Spatial Transformer Networks", 2015. Which pixels a point reads is fixed before
the gradient; its weights are operations on the grid, so gradients of any order go to both.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_string
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.pooling import Pick
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["AffineGrid", "GridSampler2D", "GridSampler3D", "affine_grid", "grid_sample"]

_PADDINGS = ["zeros", "border", "reflection"]


@quiet
def _inside(x: np.ndarray, length: int, padding: str, align_corners: bool) -> tuple[np.ndarray, np.ndarray]:
    """Factor and addend that bring pixel coordinates into [0, length - 1]: clipped, or reflected first."""
    factor, addend = np.ones_like(x), np.zeros_like(x)
    if padding == "reflection":
        low, span = (0.0, length - 1.0) if align_corners else (-0.5, float(length))
        if span == 0:
            factor[...] = 0
        else:
            away = np.where(x < low, -1.0, 1.0).astype(x.dtype)
            flips = np.floor((x - low) * away / span)
            odd = flips % 2 == 1
            factor = np.where(odd, -away, away)
            addend = np.where(odd, span * (flips + 1), -span * flips) + low - factor * low
    moved = x * factor + addend
    outside = ~((moved > 0) & (moved < length - 1))
    factor[outside] = 0
    # NaN goes to the last pixel, as in MindSpore.
    addend[outside] = np.where(moved <= 0, 0, length - 1)[outside]
    return factor, addend


def _coordinates(grid: Tensor, axis: int, length: int, padding: str, align_corners: bool) -> Tensor:
    """The pixel coordinates along one dimension, of grid points in [-1, 1]."""
    x = grid[..., axis] + 1
    x = x * ((length - 1) / 2) if align_corners else (x * length - 1) / 2
    if padding == "zeros":
        return x
    factor, addend = _inside(x.array(), length, padding, align_corners)
    # Infinities and NaN were replaced, which 0 x cannot do.
    x = ops.select(wrap(np.isfinite(x.array())), x, ops.zeros_like(x))
    return x * wrap(factor) + wrap(addend)


def _sample(x: Tensor, points: list[Tensor], places: list[list[np.ndarray]]) -> Tensor:
    """The sum over the corners: pixel times weights, 0 outside of the image.

    Args:
        x: (N, C, *spatial).
        points: per dimension the pixel coordinates (N, *output).
        places: per dimension the pixels read: the nearest one, or the two around.
    """
    sizes, lead = x.shape[2:], (slice(None), None)
    total = None
    for corner in itertools.product(*places):
        valid = np.ones(corner[0].shape, bool)
        for place, length in zip(corner, sizes):
            valid &= (place >= 0) & (place < length)
        flat = np.zeros(corner[0].shape, np.int64)
        for place, length in zip(corner, sizes):
            flat = flat * length + np.where(valid, place, 0).astype(np.int64)
        values = Pick()(x, np.broadcast_to(flat[lead], (x.shape[0], x.shape[1], *flat.shape[1:])))
        weight = wrap(valid.astype(x.array().dtype))
        for point, place, choices in zip(points, corner, places):
            if len(choices) == 2:
                near = 1 - ops.abs(point - wrap(np.where(valid, place, 0).astype(weight.array().dtype)))
                weight = weight * ops.select(wrap(valid), near, ops.zeros_like(near))
        part = values * ops.expand_dims(weight, 1)
        total = part if total is None else total + part
    return total


class _GridSampler(Primitive):
    """What both ranks share."""

    _rank = 0

    def __init__(self, interpolation_mode: str = "bilinear", padding_mode: str = "zeros",
                 align_corners: bool = False) -> None:
        self.interpolation_mode = check_string(interpolation_mode, "interpolation_mode", self.name,
                                               ["bilinear", "nearest"])
        self.padding_mode = check_string(padding_mode, "padding_mode", self.name, _PADDINGS)
        self.align_corners = check_bool(align_corners, "align_corners", self.name)

    def __call__(self, input_x: Tensor, grid: Tensor) -> Tensor:
        self._check(input_x, grid)
        d, sizes = input_x.array().dtype, input_x.shape[2:]
        if 0 in (*sizes, *grid.shape):
            return ops.zeros((*input_x.shape[:2], *grid.shape[1:-1]), input_x.dtype)
        small = d.itemsize == 2
        x, grid = (ops.cast(t, ops.mstype_float32) for t in (input_x, grid)) if small else (input_x, grid)
        # The last number of a grid point is for the first dimension from the right.
        points = [_coordinates(grid, self._rank - 1 - i, n, self.padding_mode, self.align_corners)
                  for i, n in enumerate(sizes)]
        if self.interpolation_mode == "nearest":
            places = [[np.rint(p.array())] for p in points]
        else:
            places = [[np.floor(p.array()), np.floor(p.array()) + 1] for p in points]
        out = _sample(x, points, places)
        return ops.cast(out, input_x.dtype) if small else out

    def _check(self, x: Tensor, grid: Tensor) -> None:
        data = arguments.floating(self.name, arguments.tensor(self.name, x, "input_x").array(), "input_x", False)
        points = arguments.tensor(self.name, grid, "grid").array()
        if points.dtype != data.dtype:
            raise TypeError(f"For '{self.name}', 'input_x' and 'grid' must have one dtype, but got "
                            f"{from_numpy(data.dtype)} and {from_numpy(points.dtype)}; cast one of them.")
        rank = self._rank
        if data.ndim != rank + 2 or points.ndim != rank + 2:
            raise ValueError(f"For '{self.name}', 'input_x' and 'grid' must have {rank + 2} dimensions, but got shapes "
                             f"{data.shape} and {points.shape}.")
        if points.shape[0] != data.shape[0] or points.shape[-1] != rank:
            raise ValueError(f"For '{self.name}', 'grid' must have the shape ({data.shape[0]}, ..., {rank}), but got "
                             f"{points.shape}.")

"""grid_sample and affine_grid: images read at the points of a grid, and grids made by affine maps.

Jaderberg et al., "Spatial Transformer Networks", 2015. Kernels read the pixels and make the first gradients. Those of
higher order are gradients of operations: which pixels a point reads is fixed, and its weights come of the grid.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_string
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises, reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import grid_sampling
from dist_ms.ops.layout import contiguous
from dist_ms.ops.pooling_windows.pooling import Pick
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
    data = x.array()
    usual = np.isfinite(data)
    if not usual.all():
        x = ops.select(wrap(usual), x, wrap(np.full(data.shape, -2, data.dtype)))
    if padding == "zeros":
        return x
    factor, addend = _inside(data, length, padding, align_corners)
    return x * wrap(factor) + wrap(addend)


def _sample(x: Tensor, points: list[Tensor], places: list[list[np.ndarray]]) -> Tensor:
    """The sum over the corners: pixel times weights, 0 outside of the image.

    Args:
        x: (N, C, *spatial).
        points: per dimension the pixel coordinates (N, *output).
        places: per dimension the pixels read: the nearest one, or the one before and the one after.
    """
    sizes, d, total = x.shape[2:], x.array().dtype, None
    for sides in itertools.product(*(range(len(choices)) for choices in places)):
        corner = [choices[side] for choices, side in zip(places, sides)]
        valid = np.ones(corner[0].shape, bool)
        for place, length in zip(corner, sizes):
            valid &= (place >= 0) & (place < length)
        flat = np.zeros(corner[0].shape, np.int64)
        for place, length in zip(corner, sizes):
            flat = flat * length + np.where(valid, place, 0).astype(np.int64)
        part = Pick()(x, np.broadcast_to(flat[:, None], (*x.shape[:2], *flat.shape[1:])))
        weight = wrap(valid.astype(d))
        for point, choices, side in zip(points, places, sides):
            if len(choices) == 2:
                weight = weight * (point - wrap(choices[0]) if side else wrap(choices[1]) - point)
        part = part * ops.expand_dims(weight, 1)
        total = part if total is None else total + part
    return total


def sample_at(x: Tensor, points: list[Tensor]) -> Tensor:
    """Interpolate x (N, C, *spatial) linearly at pixel coordinates (N, *output) per dimension; outside it is 0."""
    lows = [np.floor(point.array()) for point in points]
    return _sample(x, points, [[low, low + 1] for low in lows])


def _rounded(x: np.ndarray) -> np.ndarray:
    """The nearest whole numbers, halves away from 0."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0)


class _Sampling(Primitive):
    """What sampling and its gradient share.

    Args:
        nearest: whether the nearest pixel is read, not those around.
        padding: what lies outside: "zeros", "border" or "reflection".
        align: whether -1 and 1 are the centres of the corner pixels.
    """

    def __init__(self, nearest: bool, padding: str, align: bool) -> None:
        self.nearest, self.padding, self.align = nearest, padding, align

    def formula(self, x: Tensor, grid: Tensor) -> Tensor:
        """The samples in plain operations."""
        # The last number of a grid point is for the first dimension from the right.
        points = [_coordinates(grid, x.ndim - 3 - i, n, self.padding, self.align) for i, n in enumerate(x.shape[2:])]
        if self.nearest:
            places = [[_rounded(p.array())] for p in points]
        else:
            before = [np.floor(p.array()) for p in points]
            places = [[place, place + 1] for place in before]
        return _sample(x, points, places)


class Sampled(_Sampling):
    """Images (N, C, *spatial) read at the points of a grid (N, *output, rank), both float32 or float64."""

    def forward(self, x: np.ndarray, grid: np.ndarray) -> np.ndarray:
        out = np.empty((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
        grid_sampling.sample(
            contiguous(x), _rows(grid), out.reshape(*x.shape[:2], -1), self.nearest, self.padding, self.align
        )
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, grid = inputs
        options = (self.nearest, self.padding, self.align)
        return (
            ImageSlope(*options)(x, grid, dout) if wanted(x) else None,
            GridSlope(*options)(x, grid, dout) if wanted(grid) else None,
        )


class _Slope(_Sampling):
    """One of the gradients of `Sampled`."""

    _input = 0

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        def slope(x: Tensor, grid: Tensor, dy: Tensor) -> Tensor:
            return formula_gradient(self.formula, (x, grid), dy)[self._input]

        return tuple(formula_gradient(slope, inputs, dout))


class ImageSlope(_Slope):
    """The gradient of the images in `Sampled`."""

    def forward(self, x: np.ndarray, grid: np.ndarray, dy: np.ndarray) -> np.ndarray:
        dx = np.empty(x.shape, x.dtype)
        grid_sampling.sample_gradient(dx, _rows(grid), _points(dy), self.nearest, self.padding, self.align)
        return dx


class GridSlope(_Slope):
    """The gradient of the grid in `Sampled`."""

    _input = 1

    def forward(self, x: np.ndarray, grid: np.ndarray, dy: np.ndarray) -> np.ndarray:
        if self.nearest:
            return np.zeros(grid.shape, grid.dtype)
        rows = _rows(grid)
        slopes = np.empty(rows.shape, rows.dtype)
        grid_sampling.grid_gradient(contiguous(x), rows, _points(dy), slopes, self.padding, self.align)
        return slopes.reshape(grid.shape)


def _rows(grid: np.ndarray) -> np.ndarray:
    """The points of a grid in one dimension."""
    return contiguous(grid).reshape(grid.shape[0], -1, grid.shape[-1])


def _points(out: np.ndarray) -> np.ndarray:
    """The samples of each channel in one dimension."""
    return contiguous(out).reshape(*out.shape[:2], -1)


class _GridSampler(Primitive):
    """What both ranks share."""

    _rank = 0

    def __init__(
        self, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
    ) -> None:
        self.interpolation_mode = check_string(
            interpolation_mode, "interpolation_mode", self.name, ["bilinear", "nearest"]
        )
        self.padding_mode = check_string(padding_mode, "padding_mode", self.name, _PADDINGS)
        self.align_corners = check_bool(align_corners, "align_corners", self.name)

    def __call__(self, input_x: Tensor, grid: Tensor) -> Tensor:
        self._check(input_x, grid)
        d = input_x.array().dtype
        if 0 in (*input_x.shape, *grid.shape):
            return ops.zeros((*input_x.shape[:2], *grid.shape[1:-1]), input_x.dtype)
        small = d.itemsize == 2
        x, grid = (ops.cast(t, mstype.float32) for t in (input_x, grid)) if small else (input_x, grid)
        out = Sampled(self.interpolation_mode == "nearest", self.padding_mode, self.align_corners)(x, grid)
        return ops.cast(out, input_x.dtype) if small else out

    def _check(self, x: Tensor, grid: Tensor) -> None:
        data = arguments.floating(arguments.tensor(x, "input_x", self.name).array(), "input_x", self.name, False)
        points = arguments.tensor(grid, "grid", self.name).array()
        if points.dtype != data.dtype:
            raise TypeError(
                f"For '{self.name}', 'input_x' and 'grid' must have one dtype, but got "
                f"{from_numpy(data.dtype)} and {from_numpy(points.dtype)}; cast one of them."
            )
        rank = self._rank
        if data.ndim != rank + 2 or points.ndim != rank + 2:
            raise ValueError(
                f"For '{self.name}', 'input_x' and 'grid' must have {rank + 2} dimensions, but got shapes "
                f"{data.shape} and {points.shape}."
            )
        if points.shape[0] != data.shape[0] or points.shape[-1] != rank:
            raise ValueError(
                f"For '{self.name}', 'grid' must have the shape ({data.shape[0]}, ..., {rank}), but got {points.shape}."
            )


@raises(interpolation_mode=(TypeError, ValueError), padding_mode=(TypeError, ValueError))
class GridSampler2D(_GridSampler):
    """Images read at the points of a grid.

    Args:
        interpolation_mode: "bilinear", or "nearest".
        padding_mode: what lies outside: "zeros", "border" for the nearest pixel, or "reflection".
        align_corners: whether -1 and 1 are the centres of the corner pixels, or their outer edges.

    Call:
        input_x (Tensor): (N, C, H, W) floats.
        grid (Tensor): (N, H', W', 2), points (x, y) in [-1, 1], of the same dtype.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        TypeError: if `align_corners` is no bool, or the dtypes are no floats or differ.
        ValueError: if a mode is another one, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> print(ms.ops.GridSampler2D(align_corners=True)(x, ms.Tensor([[[[0.0, 0.0], [1.0, -1.0]]]])))
        [[[[1.5 1. ]]]]
    """

    _rank = 2


class GridSampler3D(_GridSampler):
    """Volumes read at the points of a grid; see `GridSampler2D`.

    Args:
        interpolation_mode, padding_mode, align_corners: as in `GridSampler2D`.

    Call:
        input_x (Tensor): (N, C, D, H, W) floats.
        grid (Tensor): (N, D', H', W', 3), points (x, y, z) in [-1, 1], of the same dtype.

    Returns:
        Tensor (N, C, D', H', W').

    Raises:
        TypeError: if `align_corners` is no bool, or the dtypes are no floats or differ.
        ValueError: if a mode is another one, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 2, 3, 3, 3))
        >>> ms.ops.GridSampler3D()(x, ms.ops.zeros((1, 2, 2, 2, 3), ms.float32)).shape
        (1, 2, 2, 2, 2)
    """

    _rank = 3


@reads("shape")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Read images or volumes at the points of a grid.

    Jaderberg et al., "Spatial Transformer Networks", 2015.

    Args:
        input: (N, C, H, W) or (N, C, D, H, W) floats.
        grid: (N, H', W', 2) points (x, y), or (N, D', H', W', 3) points (x, y, z), in [-1, 1], of the
            same dtype.
        mode: "bilinear" (between the pixels around, also of volumes), or "nearest".
        padding_mode: what lies outside: "zeros", "border" for the nearest pixel, or "reflection".
        align_corners: whether -1 and 1 are the centres of the corner pixels, or their outer edges
            (False and None).

    Returns:
        Tensor (N, C, H', W') or (N, C, D', H', W').

    Raises:
        TypeError: if an input is no Tensor, or the dtypes are no floats or differ.
        ValueError: if a mode is another one, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> print(ms.ops.grid_sample(x, ms.Tensor([[[[0.0, 0.0], [1.0, -1.0]]]]), align_corners=True))
        [[[[1.5 1. ]]]]
    """
    sampler = GridSampler2D if arguments.tensor(input, "input", "grid_sample").ndim == 4 else GridSampler3D
    return sampler(mode, padding_mode, False if align_corners is None else align_corners)(input, grid)


class AffineGrid(Primitive):
    """`affine_grid` as a primitive: `AffineGrid(align_corners)(theta, output_size)`."""

    def __init__(self, align_corners: bool = False) -> None:
        self.align_corners = check_bool(align_corners, "align_corners", self.name)

    def __call__(self, theta: Tensor, output_size: Any) -> Tensor:
        data = arguments.tensor(theta, "theta", self.name).array()
        if data.dtype not in (np.float16, np.float32):
            raise TypeError(
                f"For '{self.name}', the dtype of 'theta' must be Float16 or Float32, but got "
                f"{from_numpy(data.dtype)}; cast it first."
            )
        if not isinstance(output_size, (tuple, Tensor)):
            raise TypeError(
                f"For '{self.name}', 'output_size' must be a tuple or a Tensor, but got {type(output_size).__name__}."
            )
        size = arguments.integers(output_size, "output_size", self.name)
        rank = len(size) - 2
        if rank not in (2, 3) or data.shape != (size[0], rank, rank + 1):
            raise ValueError(
                f"For '{self.name}', 'theta' must be (N, 2, 3) beside an 'output_size' (N, C, H, W), or "
                f"(N, 3, 4) beside (N, C, D, H, W), but got {data.shape} and {size}."
            )
        if min(size) < 0:
            raise ValueError(f"For '{self.name}', 'output_size' must not have negative lengths, but got {size}.")
        positions = [self._positions(n) for n in size[2:]]
        points = np.meshgrid(*positions, indexing="ij")[::-1]
        base = np.stack([*points, np.ones(size[2:], np.float32)], -1).reshape(1, -1, rank + 1).astype(data.dtype)
        base = np.broadcast_to(base, (size[0], *base.shape[1:]))
        moved = ops.BatchMatMul(transpose_b=True)(wrap(base), theta)
        return ops.reshape(moved, (size[0], *size[2:], rank))

    def _positions(self, count: int) -> np.ndarray:
        """The positions of `count` pixels in [-1, 1]."""
        if count == 1:
            return np.zeros(1, np.float32)
        ends = np.linspace(-1, 1, count)
        return (ends if self.align_corners else ends * (count - 1) / max(count, 1)).astype(np.float32)


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """Make the grids that affine maps of output positions give, for `grid_sample`.

    Jaderberg et al., "Spatial Transformer Networks", 2015.

    Args:
        theta: (N, 2, 3) or (N, 3, 4), float32 or float16.
        size: (N, C, H, W) or (N, C, D, H, W), a tuple or a Tensor.
        align_corners: whether -1 and 1 are the centres of the corner pixels, or their outer edges.

    Returns:
        Tensor (N, H, W, 2) or (N, D, H, W, 3): theta (x, y, 1) at each position.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> theta = ms.Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]])
        >>> print(ms.ops.affine_grid(theta, (1, 1, 1, 2), True))
        [[[[-1.   0.5]
           [ 1.   0.5]]]]
    """
    return AffineGrid(align_corners)(theta, size)

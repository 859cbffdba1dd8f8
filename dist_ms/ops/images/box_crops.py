"""CropAndResize, ROIAlign, ExtractGlimpse: parts of images at one size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating, integer, integers, integral, number, one_of, real
from dist_ms.ops.drawing_numbers.random_sources import FreeSource
from dist_ms.ops.images.resampling import SparseRows, resampled
from dist_ms.ops.layout import contiguous, working_type
from dist_ms.ops.primitive import Primitive, Undifferentiable

__all__ = ["CropAndResize", "ExtractGlimpse", "ROIAlign", "crop_and_resize"]


class CropAndResize(Undifferentiable):
    """`crop_and_resize` as a primitive: `CropAndResize(method, extrapolation_value)(x, boxes, box_index,
    crop_size)`.
    """

    def __init__(self, method: str = "bilinear", extrapolation_value: float = 0.0) -> None:
        self.method = one_of(method, "method", self.name, ("bilinear", "nearest", "bilinear_v2"))
        if not isinstance(extrapolation_value, float):
            raise TypeError(
                f"For '{self.name}', 'extrapolation_value' must be a float, but got "
                f"{type(extrapolation_value).__name__}."
            )
        self.extrapolation_value = extrapolation_value

    def forward(self, x: np.ndarray, boxes: np.ndarray, box_index: np.ndarray, crop_size: Any) -> np.ndarray:
        real(x, "x", self.name)
        floating(boxes, "boxes", self.name, complex_too=False)
        index, size = integral(box_index, "box_index", self.name), integers(crop_size, "crop_size", self.name)
        if x.ndim != 4 or boxes.ndim != 2 or boxes.shape[1] != 4 or index.shape != boxes.shape[:1]:
            raise ValueError(
                f"For '{self.name}', 'x' must be (N, H, W, C), 'boxes' (M, 4) and 'box_index' (M,), but got shapes "
                f"{x.shape}, {boxes.shape} and {index.shape}."
            )
        if len(size) != 2 or min(size) < 1:
            raise ValueError(f"For '{self.name}', 'crop_size' must be two positive numbers, but got {size}.")
        if index.size and not (index.min() >= 0 and index.max() < len(x)):
            raise ValueError(f"For '{self.name}', 'box_index' must be in [0, {len(x)}), but got {index}.")
        edges = boxes.astype(np.float32)
        rows = self._places(edges[:, 0], edges[:, 2], x.shape[1], size[0])
        columns = self._places(edges[:, 1], edges[:, 3], x.shape[2], size[1])
        out = _sampled(x, index, rows, columns, self.method == "nearest")
        inside = _within(rows, x.shape[1])[:, :, None] & _within(columns, x.shape[2])[:, None, :]
        return np.where(inside[..., None], out, np.float32(self.extrapolation_value)).astype(np.float32)

    def _places(self, first: np.ndarray, last: np.ndarray, length: int, count: int) -> np.ndarray:
        """Where (M, count) the new elements lie."""
        first, last = first[:, None], last[:, None]
        if self.method == "bilinear_v2":
            middle = (np.arange(count, dtype=np.float32) + np.float32(0.5)) / count
            return (first + (last - first) * middle) * length - np.float32(0.5)
        if count == 1:
            return np.float32(0.5) * (first + last) * (length - 1)
        step = (last - first) * np.float32(length - 1) / np.float32(count - 1)
        return first * np.float32(length - 1) + np.arange(count, dtype=np.float32) * step


def _within(places: np.ndarray, length: int) -> np.ndarray:
    """Which places lie between the first and the last of some elements."""
    return (places >= 0) & (places <= length - 1)


def _sampled(x: np.ndarray, index: np.ndarray, rows: np.ndarray, columns: np.ndarray, nearest: bool) -> np.ndarray:
    """Images (N, H, W, C) at rows (M, h) and columns (M, w) of the images `index`: (M, h, w, C) float32."""

    def corners(places: np.ndarray, length: int) -> tuple:
        clipped = np.clip(places, 0, length - 1)
        low = np.floor(clipped + 0.5 if nearest else clipped)
        share = np.zeros_like(clipped) if nearest else clipped - low
        low = np.minimum(low, length - 1).astype(np.int64)
        return low, np.minimum(low + 1, length - 1), share.astype(np.float32)

    top, bottom, down = corners(rows, x.shape[1])
    left, right, across = corners(columns, x.shape[2])
    image, across = index[:, None, None], across[:, None, :, None]

    def line(row: np.ndarray) -> np.ndarray:
        first = x[image, row[:, :, None], left[:, None, :]].astype(np.float32)
        second = x[image, row[:, :, None], right[:, None, :]].astype(np.float32)
        return first + (second - first) * across

    upper = line(top)
    return upper + (line(bottom) - upper) * down[:, :, None, None]


def crop_and_resize(
    image: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Return boxes of images, each resized to one size.

    Args:
        image: images (N, H, W, C).
        boxes: floats (M, 4): y1, x1, y2, x2 in parts of the height and width.
        box_indices: int32 (M,), the image of each box.
        crop_size: the new height and width.
        method: "bilinear", "nearest" or "bilinear_v2".
        extrapolation_value: what stands outside the image.

    Returns:
        Tensor of float32 (M, *crop_size, C).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, box = ms.ops.arange(4.0).reshape(1, 2, 2, 1), ms.Tensor([[0.0, 0.0, 1.0, 1.0]])
        >>> ms.ops.crop_and_resize(x, box, ms.Tensor([0], ms.int32), (3, 3)).shape
        (1, 3, 3, 1)
    """
    return CropAndResize(method, extrapolation_value)(image, boxes, box_indices, crop_size)


class ROIAlign(Primitive):
    """Means of interpolated samples over the bins of regions.

    He et al., "Mask R-CNN", 2017.

    Args:
        pooled_height, pooled_width: the number of bins.
        spatial_scale: the features' size over that of the image the regions are given in.
        sample_num: samples along a side of a bin; 0 for one each element.
        roi_end_mode: 1 if the regions' last elements belong to them.

    Call:
        features (Tensor): floats (N, C, H, W).
        rois (Tensor): floats (M, 5): the number of the image, then x1, y1, x2, y2.

    Returns:
        Tensor (M, C, pooled_height, pooled_width).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or a region's image does not exist.

    Examples:
        >>> import dist_ms as ms
        >>> x, box = ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), ms.Tensor([[0, 0.2, 0.3, 0.2, 0.3]])
        >>> ms.ops.ROIAlign(2, 2, 0.5, 2)(x, box).shape
        (1, 1, 2, 2)
    """

    keeps = (1,)

    def __init__(
        self, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2, roi_end_mode: int = 1
    ) -> None:
        self.pooled_height = check_positive_int(pooled_height, "pooled_height", self.name)
        self.pooled_width = check_positive_int(pooled_width, "pooled_width", self.name)
        self.spatial_scale = float(number(spatial_scale, "spatial_scale", self.name))
        self.sample_num = integer(sample_num, "sample_num", self.name)
        self.roi_end_mode = one_of(roi_end_mode, "roi_end_mode", self.name, (0, 1))

    def forward(self, features: np.ndarray, rois: np.ndarray) -> np.ndarray:
        floating(features, "features", self.name, complex_too=False)
        floating(rois, "rois", self.name, complex_too=False)
        if features.ndim != 4 or rois.ndim != 2 or rois.shape[1] != 5:
            raise ValueError(
                f"For '{self.name}', 'features' must be (N, C, H, W) and 'rois' (M, 5), but got shapes "
                f"{features.shape} and {rois.shape}."
            )
        index = rois[:, 0].astype(np.int64)
        if index.size and not (index.min() >= 0 and index.max() < len(features)):
            raise ValueError(f"For '{self.name}', 'rois' must name images in [0, {len(features)}), but got {index}.")
        out = np.empty((len(rois), features.shape[1], self.pooled_height, self.pooled_width), features.dtype)
        given = contiguous(features, working_type(features.dtype))
        for place, matrices in enumerate(self._weights(rois, features.shape[2:])):
            out[place] = resampled(given[index[place]], matrices, 1)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return _ROISpread(self)(dout, inputs[1], inputs[0].shape), None

    def _weights(self, rois: np.ndarray, sizes: tuple) -> Iterator[tuple[SparseRows, SparseRows]]:
        """For each region the matrices (bins, length) of the means along both dimensions."""
        boxes = rois[:, 1:].astype(np.float64) * self.spatial_scale
        extra = self.spatial_scale * self.roi_end_mode
        for x1, y1, x2, y2 in boxes.tolist():
            yield (
                SparseRows(self._line(y1, y2 + extra, sizes[0], self.pooled_height)),
                SparseRows(self._line(x1, x2 + extra, sizes[1], self.pooled_width)),
            )

    def _line(self, start: float, end: float, length: int, bins: int) -> np.ndarray:
        """The matrix (bins, length) of the means of samples from start to end."""
        span = max(end - start, 0.0 if self.roi_end_mode else 1.0)
        count = self.sample_num if self.sample_num > 0 else max(int(np.ceil(span / bins)), 1)
        place = start + (np.arange(bins * count) + 0.5) * (span / bins / count)
        matrix = np.zeros((bins * count, length))
        near = (place >= -1) & (place <= length)
        place = np.clip(place, 0, length - 1)
        low = np.floor(place).astype(np.int64)
        row = np.arange(len(place))
        matrix[row, low] += (1 - (place - low)) * near
        matrix[row, np.minimum(low + 1, length - 1)] += (place - low) * near
        return matrix.reshape(bins, count, length).mean(1)


class _ROISpread(Primitive):
    """The transpose of `ROIAlign` by its features."""

    keeps = (1,)

    def __init__(self, align: ROIAlign) -> None:
        self._align = align

    def forward(self, dout: np.ndarray, rois: np.ndarray, shape: tuple) -> np.ndarray:
        out = np.zeros(shape)
        for place, (rows, columns) in enumerate(self._align._weights(rois, shape[2:])):
            given = contiguous(dout[place], np.dtype(np.float64))
            out[int(rois[place, 0])] += resampled(given, (rows.transposed, columns.transposed), 1)
        return out.astype(dout.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return self._align(dout, inputs[1]), None, None


class ExtractGlimpse(Undifferentiable):
    """One part of each image, around a place.

    Args:
        centered: whether places are counted from the middle of the image.
        normalized: whether they are parts of the size, from -1 to 1 if centered.
        uniform_noise: with `noise` "uniform", as in MindSpore, must be False here.
        noise: "uniform" or "gaussian" draw what lies outside the image, "zero" leaves zeros.

    Call:
        x (Tensor): float32 (N, H, W, C).
        size (Tensor): int32 (2,), the height and width of the part.
        offsets (Tensor): float32 (N, 2), the row and column of its middle.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(9.0).reshape(1, 3, 3, 1)
        >>> take = ms.ops.ExtractGlimpse(False, False, False, "zero")
        >>> print(take(x, ms.Tensor([2, 2], ms.int32), ms.Tensor([[1.0, 1.0]])).reshape(-1))
        [0. 1. 3. 4.]
    """

    def __init__(
        self, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, noise: str = "uniform"
    ) -> None:
        self.centered = check_bool(centered, "centered", self.name)
        self.normalized = check_bool(normalized, "normalized", self.name)
        self.uniform_noise = check_bool(uniform_noise, "uniform_noise", self.name)
        self.noise = one_of(noise, "noise", self.name, ("uniform", "gaussian", "zero"))

    def forward(self, x: np.ndarray, size: Any, offsets: np.ndarray) -> np.ndarray:
        floating(x, "x", self.name, complex_too=False)
        floating(offsets, "offsets", self.name, complex_too=False)
        wanted = integers(size, "size", self.name)
        if x.ndim != 4 or offsets.shape != (len(x), 2) or len(wanted) != 2 or min(wanted) < 1:
            raise ValueError(
                f"For '{self.name}', 'x' must be (N, H, W, C), 'offsets' (N, 2) and 'size' two positive numbers, but "
                f"got shapes {x.shape}, {offsets.shape} and {wanted}."
            )
        lengths = np.array(x.shape[1:3], np.float32)
        place = offsets.astype(np.float32)
        if self.normalized:
            place = place * lengths
        if self.centered:
            place = (place + lengths) / 2
        first = (place - np.array(wanted, np.float32) / 2).astype(np.int64)
        rows, columns = (first[:, i, None] + np.arange(n) for i, n in enumerate(wanted))
        inside = ((rows >= 0) & (rows < x.shape[1]))[:, :, None] & ((columns >= 0) & (columns < x.shape[2]))[:, None]
        image = np.arange(len(x))[:, None, None]
        part = x[image, np.clip(rows, 0, x.shape[1] - 1)[:, :, None], np.clip(columns, 0, x.shape[2] - 1)[:, None]]
        return np.where(inside[..., None], part, self._outside(part)).astype(x.dtype)

    def _outside(self, part: np.ndarray) -> np.ndarray:
        """What stands where the image has ended."""
        if self.noise == "zero":
            return np.zeros_like(part)
        source = FreeSource()
        return source.uniform(part.shape) if self.noise == "uniform" else np.maximum(source.normal(part.shape), 0)

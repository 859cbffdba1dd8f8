"""Images of another size: each axis is a product with a matrix of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.images import decode, image, pair


def _cubic(distance: np.ndarray) -> np.ndarray:
    """Keys' cubic kernel with a = -0.75."""
    d, a = np.abs(distance), -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    return np.where(d <= 1, near, np.where(d < 2, (((d - 5) * d + 8) * d - 4) * a, 0))


def axis_weights(size: int, wanted: int, kind: Inter, mixed: bool = False) -> np.ndarray:
    """How much each of `size` pixels counts in each of `wanted`; rows sum to 1. Edge pixels go on beyond the edge.

    `mixed` is for AREA where an axis grows: every axis then takes two pixels, as MindSpore's (OpenCV's) does.
    """
    scale = size / wanted
    weights = np.zeros((wanted, size))
    rows = np.arange(wanted)
    if kind == Inter.NEAREST:
        weights[rows, np.minimum((rows * scale).astype(int), size - 1)] = 1
    elif kind == Inter.AREA and mixed:
        pixel = np.floor(rows * scale).astype(int)
        part = np.maximum(rows + 1 - (pixel + 1) / scale, 0) % 1
        np.add.at(weights, (rows, np.minimum(pixel, size - 1)), 1 - part)
        np.add.at(weights, (rows, np.minimum(pixel + 1, size - 1)), part)
    elif kind == Inter.AREA:
        low, high = rows[:, None] * scale, (rows[:, None] + 1) * scale
        pixel = np.arange(size)
        weights = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0, None) / scale
    else:
        center = (rows + 0.5) * scale - 0.5
        for step in (0, 1) if kind == Inter.LINEAR else (-1, 0, 1, 2):
            pixel = np.floor(center).astype(int) + step
            part = 1 - np.abs(center - pixel) if kind == Inter.LINEAR else _cubic(center - pixel)
            np.add.at(weights, (rows, np.clip(pixel, 0, size - 1)), part)
    return weights


def resize(array: np.ndarray, height: int, width: int, kind: Inter) -> np.ndarray:
    """The image in another size, of the same type; integers are rounded and kept in their range."""
    mixed = height > array.shape[0] or width > array.shape[1]
    rows = axis_weights(array.shape[0], height, kind, mixed)
    columns = axis_weights(array.shape[1], width, kind, mixed)
    pixels = array.astype(np.float64)
    result = np.einsum("hi,ij...->hj...", rows, np.einsum("wj,ij...->iw...", columns, pixels))
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        result = np.clip(np.rint(result), limits.min, limits.max)
    return result.astype(array.dtype)


def _kind(interpolation: Any, owner: str) -> Inter:
    """A way to interpolate that is built."""
    if not isinstance(interpolation, Inter):
        raise TypeError(f"For '{owner}', 'interpolation' must be an Inter, but got {interpolation!r}.")
    if interpolation in (Inter.ANTIALIAS, Inter.PILCUBIC):
        raise NotImplementedError(
            f"For '{owner}', 'interpolation' {interpolation.name} is not built: use NEAREST, LINEAR, BICUBIC or AREA."
        )
    return interpolation


class Resize:
    """The image in another size.

    Args:
        size: (height, width), or an int for the shorter side, the other keeping the ratio.
        interpolation: Inter.NEAREST, LINEAR (default), BICUBIC or AREA.

    Raises:
        NotImplementedError: for another interpolation.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.Resize(8)(np.zeros((16, 32, 3), np.uint8)).shape
        (8, 16, 3)
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        self.size = pair(size, "size", "Resize") if isinstance(size, (list, tuple)) else None
        self.shorter = None if self.size else check_positive_int(size, "size", "Resize")
        self.kind = _kind(interpolation, "Resize")

    def __call__(self, value: Any) -> np.ndarray:
        array = image(value, "Resize")
        h, w = array.shape[:2]
        size = self.size or (
            (self.shorter, int(self.shorter * w / h)) if h <= w else (int(self.shorter * h / w), self.shorter)
        )
        return resize(array, *size, self.kind)


class RandomResizedCrop:
    """A part of the image of drawn size and shape, in another size.

    Args:
        size: the result's (height, width), or an int for both.
        scale: the part's area, as limits of its share of the image's.
        ratio: limits of the part's width / height, drawn on a logarithmic scale.
        interpolation: as in Resize.
        max_attempts: how often to draw a part before the central one is taken.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomResizedCrop(4)(np.zeros((16, 32, 3), np.uint8)).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        owner = type(self).__name__
        for name, (low, high) in (("scale", scale), ("ratio", ratio)):
            if not 0 < low <= high and not (name == "scale" and 0 <= low <= high and high > 0):
                raise ValueError(f"For '{owner}', '{name}' must be (low, high) above 0, but got {(low, high)}.")
        self.size, self.scale, self.ratio = pair(size, "size", owner), scale, ratio
        self.kind, self.attempts = _kind(interpolation, owner), check_positive_int(max_attempts, "max_attempts", owner)

    def __call__(self, value: Any) -> np.ndarray:
        array = image(value, type(self).__name__)
        top, left, h, w = self._part(*array.shape[:2])
        return resize(array[top : top + h, left : left + w], *self.size, self.kind)

    def _part(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Where the part begins, and its size."""
        draw = generator()
        for _ in range(self.attempts):
            area = height * width * draw.uniform(*self.scale)
            ratio = np.exp(draw.uniform(*np.log(self.ratio)))
            w, h = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return int(draw.integers(height - h + 1)), int(draw.integers(width - w + 1)), h, w
        w = min(width, round(height * self.ratio[1]))
        h = min(height, round(width / self.ratio[0]))
        return (height - h) // 2, (width - w) // 2, h, w


class RandomCropDecodeResize(RandomResizedCrop):
    """RandomResizedCrop of an image file's bytes; needs the package Pillow.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> vision.RandomCropDecodeResize(224).size
        (224, 224)
    """

    def __call__(self, value: Any) -> np.ndarray:
        return super().__call__(decode(value, "RandomCropDecodeResize"))

"""Which pixels of an image a chain takes: a crop with its border, mirror images, and another size."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.row_streams import units, whole_numbers
from dist_ms.dataset.vision.cropping import CenterCrop, Crop, RandomCrop
from dist_ms.dataset.vision.enums import Border, Inter
from dist_ms.dataset.vision.flipping import HorizontalFlip, RandomHorizontalFlip, RandomVerticalFlip, VerticalFlip
from dist_ms.dataset.vision.padding import Pad
from dist_ms.dataset.vision.resizing import Resize

CROPS = (CenterCrop, Crop, Pad, RandomCrop)
_BITS = {HorizontalFlip: 1, RandomHorizontalFlip: 1, VerticalFlip: 2, RandomVerticalFlip: 2}
_RANDOM_FLIPS = (RandomHorizontalFlip, RandomVerticalFlip)
FLIPS = tuple(_BITS)


class Crops:
    """What one crop, or none, takes of images of a size.

    Args:
        operation: one of CROPS, or None for all of the image.
        height, width, channels: of the images.

    Attributes:
        part: height and width of what is taken.
        free: how many places from 0 on its top, and its left, may have, less one; drawn if `is_drawn`.
        at: top and left where nothing is drawn.
        row_map, column_map, fill: the border's, as `_ext.pixels` has them.
        fits: whether the operation takes such images.
    """

    def __init__(self, operation: Any, height: int, width: int, channels: int) -> None:
        self.part, self.at, self.is_drawn, self.fits = (height, width), (0, 0), type(operation) is RandomCrop, True
        self.row_map = self.column_map = self.fill = None
        widths, fill, mode = (0, 0, 0, 0), (0, 0, 0), Border.CONSTANT
        if type(operation) is Pad:
            widths, fill, mode = operation.widths, operation.fill, operation.mode
        elif type(operation) is RandomCrop:
            widths, fill, mode = operation.margins(height, width), operation.fill, operation.mode
        elif type(operation) is CenterCrop:
            more, wide = max(operation.size[0] - height, 0), max(operation.size[1] - width, 0)
            widths = wide - wide // 2, more - more // 2, wide // 2, more // 2
        left, top, right, bottom = widths
        height, width = height + top + bottom, width + left + right
        self.part = (height, width) if operation is None or type(operation) is Pad else operation.size
        self.free = height - self.part[0], width - self.part[1]
        if type(operation) is CenterCrop:
            self.at = self.free[0] // 2, self.free[1] // 2
        elif type(operation) is Crop:
            self.at = operation.top, operation.left
        self.fits = all(at <= free for at, free in zip(self.at, self.free))
        if any(widths):
            self._border(widths, height, width, fill, mode, channels)

    def _border(self, widths: tuple, height: int, width: int, fill: tuple, mode: Border, channels: int) -> None:
        left, top, right, bottom = widths
        if channels != 3 and channels != 1 and len(set(fill)) > 1:
            self.fits = False
            return
        self.fill = np.array([fill[c % 3] for c in range(channels)], np.uint8)
        how: dict[str, Any] = {"constant_values": -1} if mode == Border.CONSTANT else {}
        inner = np.arange(height - top - bottom, dtype=np.int32), np.arange(width - left - right, dtype=np.int32)
        self.row_map = np.pad(inner[0], (top, bottom), mode.value, **how)
        self.column_map = np.pad(inner[1], (left, right), mode.value, **how)


class Draws:
    """The numbers that many rows draw, one after another, from their streams.

    Args:
        keys: uint64, the streams' keys.
    """

    def __init__(self, keys: np.ndarray) -> None:
        self.keys, self.drawn = keys, 0

    def units(self) -> np.ndarray:
        """What `random()` gives each row."""
        self.drawn += 1
        return units(self.keys, self.drawn - 1)

    def whole(self, most: int) -> np.ndarray:
        """What `integers(most + 1)` gives each row."""
        self.drawn += 1
        return whole_numbers(self.keys, self.drawn - 1, most + 1)


def is_drawn(operation: Any) -> bool:
    """Whether a crop or a mirror image depends on random numbers."""
    return type(operation) is RandomCrop or type(operation) in _RANDOM_FLIPS


def turned(flips: list, count: int, draws: Draws | None) -> np.ndarray | None:
    """Which rows are mirrored (bit 0) and turned upside down (bit 1)."""
    if not flips:
        return None
    bits = np.zeros(count, np.uint8)
    for flip in flips:
        bit = np.uint8(_BITS[type(flip)])
        if type(flip) in _RANDOM_FLIPS:
            assert draws is not None
            bits ^= (draws.units() < flip.prob) * bit
        else:
            bits ^= bit
    return bits


def turned_once(flips: list, height: int, width: int) -> np.ndarray | None:
    """The same for one row, which draws from its own stream."""
    bits = 0
    for flip in flips:
        if type(flip) not in _RANDOM_FLIPS or flip.parameters(height, width):
            bits ^= _BITS[type(flip)]
    return np.array([bits], np.uint8) if bits else None


def is_bilinear(operation: Any) -> bool:
    """Whether it is a Resize that `_ext.pixels` has."""
    return type(operation) is Resize and operation.kind == Inter.LINEAR


def halves(size: tuple[int, int], wanted: tuple[int, int]) -> bool:
    """Whether both sides become halves, for which OpenCV takes means of four pixels instead."""
    return size == (2 * wanted[0], 2 * wanted[1])

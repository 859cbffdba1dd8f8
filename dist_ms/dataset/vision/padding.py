"""Borders around images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_type, complaint
from dist_ms.dataset.vision.arguments import INT32, border, colour, padding_widths
from dist_ms.dataset.vision.enums import Border
from dist_ms.dataset.vision.libraries import pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice


def pad(array: np.ndarray, left: int, top: int, right: int, bottom: int, fill: Any, mode: Border) -> np.ndarray:
    """The image with a border; one of one channel takes the first of three fill values."""
    if not (left or top or right or bottom):
        return array
    array = array.view(np.uint8) if array.dtype == np.bool_ else array
    widths = [(top, bottom), (left, right), (0, 0)][: array.ndim]
    if mode != Border.CONSTANT:
        return np.pad(array, widths, mode=Border(mode).value)
    channels = array.shape[2] if array.ndim == 3 else 1
    result = np.empty((array.shape[0] + top + bottom, array.shape[1] + left + right, *array.shape[2:]), array.dtype)
    if channels == 3 and len(set(fill)) > 1:
        result[:] = fill
    elif channels in (1, 3) or len(set(fill)) == 1:
        result.fill(fill[0])
    else:
        raise RuntimeError(
            f"For 'Pad', 'fill_value' must be one value for an image of {channels} channels, but got {fill}."
        )
    result[top : top + array.shape[0], left : left + array.shape[1]] = array
    return result


def pad_pil(image: Any, widths: tuple[int, int, int, int], fill: Any, mode: Border, owner: str) -> Any:
    """The PIL image with a border."""
    pil = pillow(owner)
    left, top, right, bottom = widths
    palette = image.getpalette() if image.mode == "P" else None
    if mode == Border.CONSTANT:
        if image.mode in ("L", "1"):
            fill = fill[:1]
        result = pil.ImageOps.expand(image, border=widths, fill=fill)
    else:
        pixels = np.asarray(image)
        around = [(top, bottom), (left, right), (0, 0)][: pixels.ndim]
        result = pil.Image.fromarray(np.pad(pixels, around, mode.value))
    if palette is not None:
        result.putpalette(palette)
    return result


class Pad(ImageOperation, OnDevice):
    """A border around the image.

    Args:
        padding: its width, (left and right, top and bottom), or (left, top, right, bottom), in pixels.
        fill_value: a constant border's value, from 0 to 255, or a tuple of three for the channels.
        padding_mode: Border.CONSTANT, EDGE, REFLECT or SYMMETRIC.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Pad((1, 0, 0, 0), fill_value=7)(np.zeros((1, 2))))
        [[7. 0. 0.]]
    """

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self.widths, self.fill = padding_widths(padding, "Pad"), colour(fill_value, "Pad")
        self.mode = border(padding_mode, "Pad")

    def on_array(self, array: np.ndarray) -> np.ndarray:
        result = pad(array, *self.widths, self.fill, self.mode)
        return array.copy() if result is array else result

    def on_pil(self, image: Any) -> Any:
        return pad_pil(image, self.widths, self.fill, self.mode, "Pad")


class PadToSize(ImageOperation):
    """A border around the image that makes it as large as wanted.

    Args:
        size: the result's (height, width), or an int for both.
        offset: the border's width (above, to the left), or an int for both; None puts the image in the middle.
        fill_value: a constant border's value, from 0 to 255, or a tuple of three for the channels.
        padding_mode: Border.CONSTANT, EDGE, REFLECT or SYMMETRIC.

    Raises:
        RuntimeError: when called, if the image is larger.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.PadToSize((1, 4), fill_value=7)(np.zeros((1, 2))))
        [[7. 0. 0. 7.]]
    """

    def __init__(
        self, size: Any, offset: Any = None, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        owner = "PadToSize"
        self.size = self._two(size, "size", 1)
        offset = None if isinstance(offset, (list, tuple)) and not offset else offset
        self.offset = None if offset is None else self._two(offset, "offset", 0)
        self.fill, self.mode = colour(fill_value, owner), border(padding_mode, owner)

    @staticmethod
    def _two(value: Any, name: str, least: int) -> tuple[int, int]:
        check_type(value, name, "PadToSize", (int, list, tuple))
        values = (value, value) if isinstance(value, int) else tuple(value)
        if len(values) != 2:
            raise ValueError(complaint(name, "PadToSize", "an int or two ints", repr(value)))
        return tuple(check_int_range(v, name, "PadToSize", least, INT32) for v in values)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        more = self.size[0] - array.shape[0], self.size[1] - array.shape[1]
        top, left = self.offset or (more[0] // 2, more[1] // 2)
        bottom, right = more[0] - top, more[1] - left
        if min(*more, bottom, right) < 0:
            found = f"{self.size} with 'offset' {self.offset}"
            raise RuntimeError(f"For 'PadToSize', 'size' must hold the image {array.shape}, but got {found}.")
        result = pad(array, left, top, right, bottom, self.fill, self.mode)
        return array.copy() if result is array else result

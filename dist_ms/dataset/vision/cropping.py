"""Parts of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import INT32, border, colour, padding_widths, pair
from dist_ms.dataset.vision.enums import Border
from dist_ms.dataset.vision.libraries import is_pil
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation
from dist_ms.dataset.vision.padding import pad, pad_pil


class Crop(ImageOperation, OnDevice):
    """A part of the image.

    Args:
        coordinates: (top, left).
        size: (height, width), or an int for both.

    Raises:
        RuntimeError: if the image does not hold it.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Crop((0, 1), (1, 2))(np.array([[1, 2, 3]])))
        [[2 3]]
    """

    def __init__(self, coordinates: tuple[int, int], size: Any) -> None:
        if len(check_type(coordinates, "coordinates", "Crop", (list, tuple))) != 2:
            raise TypeError(complaint("coordinates", "Crop", "(top, left)", repr(coordinates)))
        self.top, self.left = (check_int_range(c, "coordinates", "Crop", 0, INT32) for c in coordinates)
        self.size = pair(size, "size", "Crop")

    def on_array(self, array: np.ndarray) -> np.ndarray:
        h, w = self.size
        if self.top + h > array.shape[0] or self.left + w > array.shape[1]:
            raise RuntimeError(f"For 'Crop', 'size' must fit the image {array.shape}, but got {self.size}.")
        return array[self.top : self.top + h, self.left : self.left + w].copy()


class CenterCrop(ImageOperation):
    """The middle of the image, with a border of zeros where the image is smaller.

    Args:
        size: (height, width), or an int for both.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.CenterCrop((1, 1))(np.arange(9).reshape(3, 3)))
        [[4]]
    """

    def __init__(self, size: Any) -> None:
        self.size = pair(size, "size", "CenterCrop")

    def on_array(self, array: np.ndarray) -> np.ndarray:
        h, w = self.size
        more, wide = max(h - array.shape[0], 0), max(w - array.shape[1], 0)
        widths = wide - wide // 2, more - more // 2, wide // 2, more // 2
        array = pad(array, *widths, (0, 0, 0), Border.CONSTANT)
        top, left = (array.shape[0] - h) // 2, (array.shape[1] - w) // 2
        return array[top : top + h, left : left + w].copy()

    def on_pil(self, image: Any) -> Any:
        return center_of_pil(image, self.size)


def center_of_pil(image: Any, size: tuple[int, int]) -> Any:
    """The middle of a PIL image, with a border where the image is smaller."""
    (width, height), (h, w) = image.size, size
    top, left = round((height - h) / 2), round((width - w) / 2)
    return image.crop((left, top, left + w, top + h))


class RandomCrop(RandomImageOperation):
    """A part of the image at a drawn place.

    Args:
        size: (height, width), or an int for both.
        padding: a border put around the image first, as in Pad.
        pad_if_needed: widen an image that is smaller than `size`.
        fill_value, padding_mode: the border's, as in Pad.

    Raises:
        RuntimeError: if the image is smaller than `size`; ValueError for a PIL image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomCrop(4, padding=1)(np.zeros((6, 6, 3))).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        owner = type(self).__name__
        self.size, self.needed = pair(size, "size", owner), check_bool(pad_if_needed, "pad_if_needed", owner)
        self.widths = padding_widths(0 if padding is None else padding, owner)
        self.fill, self.mode = colour(fill_value, owner), border(padding_mode, owner)

    def __call__(self, *images: Any) -> Any:
        """Crop one image, or several at the same place, as a tuple then."""
        try:
            return super().__call__(*images)
        except RuntimeError as error:
            raise (ValueError(str(error)) if len(images) == 1 and is_pil(images[0]) else error) from None

    def margins(self, height: int, width: int) -> tuple[int, int, int, int]:
        """All that is put around an image of this size: left, top, right, bottom."""
        left, top, right, bottom = self.widths
        more = wide = 0
        if self.needed:
            more, wide = max(self.size[0] - height - top - bottom, 0), max(self.size[1] - width - left - right, 0)
        return left + wide, top + more, right + wide, bottom + more

    def parameters(self, height: int, width: int) -> tuple[int, int]:
        """Draw where the part begins in the image with its margins: top, left."""
        left, top, right, bottom = self.margins(height, width)
        places = height + top + bottom - self.size[0], width + left + right - self.size[1]
        if min(places) < 0:
            owner = type(self).__name__
            raise RuntimeError(f"For '{owner}', 'size' must fit the image {(height, width)}, but got {self.size}.")
        draw = generator()
        return tuple(int(draw.integers(n + 1)) for n in places)

    def apply(self, array: np.ndarray, parameters: tuple[int, int]) -> np.ndarray:
        (top, left), (h, w) = parameters, self.size
        array = pad(array, *self.margins(*array.shape[:2]), self.fill, self.mode)
        return array[top : top + h, left : left + w].copy()

    def apply_pil(self, image: Any, parameters: tuple[int, int]) -> Any:
        (top, left), (h, w) = parameters, self.size
        image = pad_pil(image, self.margins(*image.size[::-1]), self.fill, self.mode, type(self).__name__)
        return image.crop((left, top, left + w, top + h))

"""Parts of images, borders around them, and mirror images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_non_negative_int, check_number_range
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.enums import Border
from dist_ms.dataset.vision.images import image, pair


def _pad(array: np.ndarray, left: int, top: int, right: int, bottom: int, fill: Any, mode: Border) -> np.ndarray:
    """The image with a border."""
    widths = [(top, bottom), (left, right), (0, 0)][: array.ndim]
    if mode != Border.CONSTANT:
        return np.pad(array, widths, mode=Border(mode).value)
    result = np.empty((array.shape[0] + top + bottom, array.shape[1] + left + right, *array.shape[2:]), array.dtype)
    result[:] = fill
    result[top : top + array.shape[0], left : left + array.shape[1]] = array
    return result


def _widths(padding: Any, owner: str) -> tuple[int, int, int, int]:
    """Left, top, right, bottom from one width, (left and right, top and bottom), or the four."""
    values = padding if isinstance(padding, (list, tuple)) else (padding,) * 4
    values = (*values, *values) if len(values) == 2 else tuple(values)
    if len(values) != 4:
        raise ValueError(f"For '{owner}', 'padding' must be 1, 2 or 4 ints, but got {padding!r}.")
    for value in values:
        check_non_negative_int(value, "padding", owner)
    return values


class Pad:
    """A border around the image.

    Args:
        padding: its width, (left and right, top and bottom), or (left, top, right, bottom), in pixels.
        fill_value: a constant border's value, or one for every channel.
        padding_mode: Border.CONSTANT, EDGE, REFLECT or SYMMETRIC.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Pad((1, 0, 0, 0), fill_value=7)(np.zeros((1, 2))))
        [[7. 0. 0.]]
    """

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self.widths, self.fill, self.mode = _widths(padding, "Pad"), fill_value, Border(padding_mode)

    def __call__(self, value: Any) -> np.ndarray:
        return _pad(image(value, "Pad"), *self.widths, self.fill, self.mode)


class Crop:
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
        self.top, self.left = (check_non_negative_int(c, "coordinates", "Crop") for c in coordinates)
        self.size = pair(size, "size", "Crop")

    def __call__(self, value: Any) -> np.ndarray:
        array, (h, w) = image(value, "Crop"), self.size
        if self.top + h > array.shape[0] or self.left + w > array.shape[1]:
            raise RuntimeError(f"For 'Crop', 'size' must fit the image {array.shape}, but got {self.size}.")
        return array[self.top : self.top + h, self.left : self.left + w].copy()


class CenterCrop:
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

    def __call__(self, value: Any) -> np.ndarray:
        array, (h, w) = image(value, "CenterCrop"), self.size
        more, wide = max(h - array.shape[0], 0), max(w - array.shape[1], 0)
        array = _pad(array, wide - wide // 2, more - more // 2, wide // 2, more // 2, 0, Border.CONSTANT)
        top, left = (array.shape[0] - h) // 2, (array.shape[1] - w) // 2
        return array[top : top + h, left : left + w].copy()


class RandomCrop:
    """A part of the image at a drawn place.

    Args:
        size: (height, width), or an int for both.
        padding: a border put around the image first, as in Pad.
        pad_if_needed: widen an image that is smaller than `size`.
        fill_value, padding_mode: the border's, as in Pad.

    Raises:
        RuntimeError: if the image is smaller than `size`.

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
        self.size, self.needed = pair(size, "size", "RandomCrop"), pad_if_needed
        self.widths = _widths(0 if padding is None else padding, "RandomCrop")
        self.fill, self.mode = fill_value, Border(padding_mode)

    def __call__(self, value: Any) -> np.ndarray:
        array, (h, w) = _pad(image(value, "RandomCrop"), *self.widths, self.fill, self.mode), self.size
        if self.needed:
            more, wide = max(h - array.shape[0], 0), max(w - array.shape[1], 0)
            array = _pad(array, wide, more, wide, more, self.fill, self.mode)
        if h > array.shape[0] or w > array.shape[1]:
            raise RuntimeError(f"For 'RandomCrop', 'size' must fit the image {array.shape}, but got {self.size}.")
        top, left = (int(generator().integers(n + 1)) for n in (array.shape[0] - h, array.shape[1] - w))
        return array[top : top + h, left : left + w].copy()


class HorizontalFlip:
    """Left and right exchanged.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.HorizontalFlip()(np.array([[1, 2]])))
        [[2 1]]
    """

    axis = 1

    def __call__(self, value: Any) -> np.ndarray:
        return np.flip(image(value, type(self).__name__), self.axis).copy()


class VerticalFlip(HorizontalFlip):
    """Top and bottom exchanged.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.VerticalFlip()(np.array([[1], [2]])).ravel())
        [2 1]
    """

    axis = 0


class RandomHorizontalFlip(HorizontalFlip):
    """HorizontalFlip with probability `prob`, else the image as it is.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomHorizontalFlip(1.0)(np.array([[1, 2]])))
        [[2 1]]
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = check_number_range(prob, "prob", type(self).__name__, 0, 1)

    def __call__(self, value: Any) -> np.ndarray:
        return super().__call__(value) if generator().random() < self.prob else image(value, type(self).__name__)


class RandomVerticalFlip(RandomHorizontalFlip):
    """VerticalFlip with probability `prob`, else the image as it is.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomVerticalFlip(1.0)(np.array([[1], [2]])).ravel())
        [2 1]
    """

    axis = 0

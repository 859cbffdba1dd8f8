"""Several parts of one image."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_type, complaint
from dist_ms.dataset.vision.arguments import INT32, pair
from dist_ms.dataset.vision.cropping import center_of_pil
from dist_ms.dataset.vision.enums import SliceMode
from dist_ms.dataset.vision.libraries import is_pil
from dist_ms.dataset.vision.operation import ImageOperation


class FiveCrop:
    """The four corners and the middle of a PIL image, as a tuple: upper left and right, lower left and right, middle.

    Args:
        size: each part's (height, width), or an int for both.

    Raises:
        TypeError: when called, if it is not given a PIL image.
        ValueError: when called, if the image is smaller than `size`.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> parts = vision.FiveCrop(2)(vision.ToPIL()(np.zeros((4, 5, 3), np.uint8)))
        >>> len(parts), parts[4].size
        (5, (2, 2))
    """

    random = False
    python_only = True

    def __init__(self, size: Any) -> None:
        self.size = pair(size, "size", type(self).__name__)

    def __call__(self, img: Any) -> tuple:
        """Cut the parts out of one image."""
        owner = type(self).__name__
        if not is_pil(img):
            raise TypeError(complaint("image", owner, "a PIL image", type(img).__name__))
        (width, height), (h, w) = img.size, self.size
        if h > height or w > width:
            raise ValueError(complaint("size", owner, f"within the image's {(height, width)}", self.size))
        corners = [img.crop((x, y, x + w, y + h)) for y in (0, height - h) for x in (0, width - w)]
        return (*corners, center_of_pil(img, self.size))


class TenCrop(FiveCrop):
    """FiveCrop of a PIL image and of its mirror image, as a tuple of ten.

    Args:
        size: each part's (height, width), or an int for both.
        use_vertical_flip: whether the mirror image has top and bottom exchanged, else left and right.

    Raises:
        TypeError: when called, if it is not given a PIL image.
        ValueError: when called, if the image is smaller than `size`.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> len(vision.TenCrop(2)(vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))))
        10
    """

    def __init__(self, size: Any, use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.use_vertical_flip = check_bool(use_vertical_flip, "use_vertical_flip", "TenCrop")

    def __call__(self, img: Any) -> tuple:
        """Cut the parts out of one image."""
        first = super().__call__(img)
        return first + super().__call__(img.transpose(1 if self.use_vertical_flip else 0))


class SlicePatches(ImageOperation):
    """The image cut into a grid of patches, row by row, as a tuple; with one patch the image itself.

    Args:
        num_height, num_width: how many patches lie above, and beside, each other.
        slice_mode: SliceMode.PAD widens the image to the right and below to whole patches, DROP leaves pixels out.
        fill_value: what is put there, from 0 to 255.

    Raises:
        RuntimeError: when called, if there are more patches than pixels.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> [patch.shape for patch in vision.SlicePatches(1, 2)(np.zeros((4, 5, 3)))]
        [(4, 3, 3), (4, 3, 3)]
    """

    def __init__(
        self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD, fill_value: int = 0
    ) -> None:
        owner = "SlicePatches"
        self.num_height = check_int_range(num_height, "num_height", owner, 1, INT32)
        self.num_width = check_int_range(num_width, "num_width", owner, 1, INT32)
        self.slice_mode = check_type(slice_mode, "slice_mode", owner, SliceMode)
        self.fill_value = check_int_range(fill_value, "fill_value", owner, 0, 255)

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Cut each array."""
        return [patch for array in arrays for patch in self._patches(array)]

    def _patches(self, array: np.ndarray) -> list[np.ndarray]:
        rows, columns = self.num_height, self.num_width
        if rows == columns == 1:
            return [array]
        if array.ndim not in (2, 3) or rows > array.shape[0] or columns > array.shape[1]:
            wanted = f"(H, W) or (H, W, C) with at least {rows} x {columns} pixels"
            raise RuntimeError(complaint("image", "SlicePatches", wanted, f"of shape {array.shape}"))
        height, width = array.shape[0] // rows, array.shape[1] // columns
        if self.slice_mode == SliceMode.PAD:
            height, width = -(-array.shape[0] // rows), -(-array.shape[1] // columns)
            more = (0, height * rows - array.shape[0]), (0, width * columns - array.shape[1]), (0, 0)
            array = np.pad(array, more[: array.ndim], constant_values=self.fill_value)
        return [
            array[i * height : (i + 1) * height, j * width : (j + 1) * width].copy()
            for i in range(rows)
            for j in range(columns)
        ]

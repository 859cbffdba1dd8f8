"""Parts of images overwritten."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_number, check_number_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import INT32, LARGEST, probability
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation


class Erase(ImageOperation, OnDevice):
    """A rectangle overwritten with one value for each channel.

    Args:
        top, left, height, width: where it is.
        value: a number from 0 to 255, or a tuple of three.
        inplace: whether to write into the array that is given.

    Raises:
        RuntimeError: when called, if the rectangle is larger than the image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Erase(0, 1, 1, 1, value=9)(np.array([[1, 2, 3]], np.uint8)))
        [[1 9 3]]
    """

    def __init__(self, top: int, left: int, height: int, width: int, value: Any = 0.0, inplace: bool = False) -> None:
        self.top, self.left = (check_int_range(v, n, "Erase", 0, INT32) for v, n in ((top, "top"), (left, "left")))
        self.height, self.width = (
            check_int_range(v, n, "Erase", 1, INT32) for v, n in ((height, "height"), (width, "width"))
        )
        self.inplace = check_bool(inplace, "inplace", "Erase")
        check_type(value, "value", "Erase", (int, float, tuple))
        values = value if isinstance(value, tuple) else (value,) * 3
        for v in values:
            check_number(v, "value", "Erase")
        if len(values) != 3:
            raise TypeError(complaint("value", "Erase", "a number or a tuple of 3", repr(value)))
        self.value = tuple(check_number_range(v, "value", "Erase", 0, 255) for v in values)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        if self.height > array.shape[0] or self.width > array.shape[1]:
            size = self.height, self.width
            raise RuntimeError(f"For 'Erase', 'height' and 'width' must fit the image {array.shape}, but got {size}.")
        result = array if self.inplace and array.flags.writeable else array.copy()
        value = np.asarray(self.value if array.ndim == 3 and array.shape[2] == 3 else self.value[0], np.float32)
        if array.dtype.kind in "iu":
            value = np.rint(value).clip(None, np.iinfo(array.dtype).max)
        result[self.top : self.top + self.height, self.left : self.left + self.width] = value.astype(array.dtype)
        return result


class CutOut(RandomImageOperation):
    """Squares at drawn places set to 0; those that reach over an edge are cut off there.

    Args:
        length: their side in pixels.
        num_patches: how many there are.
        is_hwc: whether the image is (H, W, C), else (C, H, W).

    Raises:
        RuntimeError: when called, if the image has not three dimensions, or is smaller than a square.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> bool(vision.CutOut(2)(np.ones((8, 8, 3), np.uint8)).sum() >= 8 * 8 * 3 - 2 * 2 * 3)
        True
    """

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = check_int_range(length, "length", "CutOut", 1, LARGEST)
        self.num_patches = check_int_range(num_patches, "num_patches", "CutOut", 1, LARGEST)
        self.is_hwc = check_bool(is_hwc, "is_hwc", "CutOut")

    def parameters(self, height: int, width: int) -> list[tuple[int, int]]:
        """Draw where the squares begin: top, left; below 0 for those over an edge."""
        draw = generator()
        return [
            (int(draw.integers(-self.length, height + 1)), int(draw.integers(-self.length, width + 1)))
            for _ in range(self.num_patches)
        ]

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Cut squares out of each array."""
        results = []
        for array in arrays:
            size = array.shape[:2] if self.is_hwc else array.shape[1:]
            if array.ndim != 3 or min(size) < self.length:
                wanted = f"of three dimensions and at least {self.length} x {self.length} pixels"
                raise RuntimeError(complaint("image", "CutOut", wanted, f"of shape {array.shape}"))
            results.append(self.apply(array, self.parameters(*size)))
        return results

    def apply(self, array: np.ndarray, parameters: list[tuple[int, int]]) -> np.ndarray:
        result = array.copy()
        pixels = result if self.is_hwc else result.transpose(1, 2, 0)
        for top, left in parameters:
            pixels[max(top, 0) : max(top + self.length, 0), max(left, 0) : max(left + self.length, 0)] = 0
        return result


def _rising(values: Any, name: str, low_is_open: bool) -> tuple[float, float]:
    owner = "RandomErasing"
    for value in check_type(values, name, owner, (list, tuple)):
        check_number(value, name, owner)
    if len(values) != 2:
        raise TypeError(complaint(name, owner, "(low, high)", repr(values)))
    above = values[0] > 0 if low_is_open else values[0] >= 0
    if not (above and values[0] <= values[1] <= LARGEST and values[1] > 0):
        raise ValueError(complaint(name, owner, f"(low, high) above 0 and up to {LARGEST}", repr(values)))
    return tuple(values)


class RandomErasing:
    """A drawn rectangle of an array (C, H, W) overwritten, with probability `prob`, else the array as it is.

    Args:
        prob: from 0 to 1.
        scale: limits of the rectangle's share of the area.
        ratio: limits of its width / height.
        value: an int from 0 to 255, three of them for the channels, or "random" for normal random numbers.
        inplace: whether to write into the array that is given.
        max_attempts: how often to draw a rectangle that fits, before the array is left as it is.

    Raises:
        TypeError: when called, if it is not given an array.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> bool(vision.RandomErasing(1.0)(np.ones((3, 16, 16), np.float32)).sum() < 3 * 16 * 16)
        True
    """

    random = True
    python_only = True

    def __init__(
        self,
        prob: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ) -> None:
        owner = "RandomErasing"
        self.prob = probability(prob, "prob", owner)
        self.scale, self.ratio = _rising(scale, "scale", False), _rising(ratio, "ratio", True)
        check_type(value, "value", owner, (int, list, tuple, str))
        values = [value] if isinstance(value, int) else [] if isinstance(value, str) else list(value)
        if (isinstance(value, str) and value != "random") or (isinstance(value, (list, tuple)) and len(value) != 3):
            raise ValueError(complaint("value", owner, "an int, three of them or 'random'", repr(value)))
        for v in values:
            check_int_range(v, "value", owner, 0, 255)
        self.value, self.inplace = value, check_bool(inplace, "inplace", owner)
        self.attempts = check_int_range(max_attempts, "max_attempts", owner, 1, LARGEST)

    def parameters(self, height: int, width: int) -> tuple[int, int, int, int] | None:
        """Draw a rectangle: top, left, height, width; None changes nothing."""
        draw = generator()
        if draw.random() >= self.prob:
            return None
        for _ in range(self.attempts):
            area = draw.uniform(*self.scale) * height * width
            ratio = draw.uniform(*self.ratio)
            w = round(math.sqrt(area * ratio))
            h = round(w / ratio)
            if h < height and w < width:
                return int(draw.integers(height - h + 1)), int(draw.integers(width - w + 1)), h, w
        return None

    def __call__(self, img: np.ndarray) -> np.ndarray:
        """Overwrite a part of one array."""
        if not isinstance(img, np.ndarray):
            raise TypeError(complaint("image", "RandomErasing", "a NumPy array", type(img).__name__))
        if img.ndim != 3:
            raise ValueError(complaint("image", "RandomErasing", "(C, H, W)", f"of shape {img.shape}"))
        found = self.parameters(*img.shape[1:])
        if found is None:
            return img
        top, left, height, width = found
        value = self.value
        if isinstance(value, str):
            value = generator().normal(0.0, 1.0, (img.shape[0], height, width))
        elif not isinstance(value, numbers.Number):
            value = np.asarray(value)[:, None, None]
        result = img if self.inplace else img.copy()
        result[:, top : top + height, left : left + width] = value
        return result

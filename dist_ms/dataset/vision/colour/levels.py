"""Fewer levels of values, and values turned round: posterized, solarized and inverted images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_number_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import probability
from dist_ms.dataset.vision.colour.factors import grey_or_rgb, looked_up, of_type
from dist_ms.dataset.vision.images import image, rgb
from dist_ms.dataset.vision.libraries import pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation


def inverted(array: np.ndarray) -> np.ndarray:
    """255 - x, kept in the type's range."""
    if array.dtype.kind == "f" or array.dtype == np.uint8:
        return 255 - array
    if array.dtype == np.bool_:
        return np.ones_like(array)
    bounds = np.iinfo(array.dtype)
    return np.clip(255 - array.astype(np.int64), bounds.min, bounds.max).astype(array.dtype)


def posterized(array: np.ndarray, bits: int, owner: str) -> np.ndarray:
    """The upper bits of each value, the others 0."""
    array = of_type(image(array, owner), ("uint8", "int8"), owner)
    mask = np.uint8(0xFF & ~((1 << (8 - bits)) - 1))
    return np.bitwise_and(array.view(np.uint8), mask)


def solarized(array: np.ndarray, low: float, high: float, owner: str) -> np.ndarray:
    """Values from `low` to `high` inverted; from `low` on, if the two are equal."""
    array = grey_or_rgb(array, owner)
    if array.dtype == np.uint8:
        return looked_up(array, _solarized(np.arange(256, dtype=np.uint8), low, high)[None], owner)
    return _solarized(array, low, high)


def _solarized(array: np.ndarray, low: float, high: float) -> np.ndarray:
    chosen = array >= low
    if low != high:
        chosen &= array <= high
    return np.where(chosen, inverted(array), array)


class Invert(ImageOperation, OnDevice):
    """255 - x, for each channel of an RGB image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Invert()(np.array([[[0, 55, 255]]], np.uint8)))
        [[[255 200   0]]]
    """

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return inverted(rgb(array, "Invert"))

    def on_pil(self, img: Any) -> Any:
        return pillow("Invert").ImageOps.invert(img)


class RandomInvert(RandomImageOperation):
    """Invert with probability `prob`, else the image as it is.

    Args:
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomInvert(1.0)(np.array([[[0, 55, 255]]], np.uint8)))
        [[[255 200   0]]]
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, "prob", "RandomInvert")

    def parameters(self, height: int, width: int) -> bool:
        """Draw whether to invert."""
        return bool(generator().random() < self.prob)

    def apply(self, array: np.ndarray, parameters: bool) -> np.ndarray:
        return inverted(rgb(array, "RandomInvert")) if parameters else array


class Posterize(ImageOperation, OnDevice):
    """The upper bits of each value, for images of uint8.

    Args:
        bits: how many to keep, from 0 to 8.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Posterize(1)(np.array([[100, 200]], np.uint8)))
        [[  0 128]]
    """

    def __init__(self, bits: int) -> None:
        self.bits = check_int_range(bits, "bits", "Posterize", 0, 8)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return posterized(array, self.bits, "Posterize")


class RandomPosterize(RandomImageOperation):
    """Posterize with a drawn number of bits.

    Args:
        bits: the number, or its limits (low, high), from 1 to 8.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomPosterize((1, 1))(np.array([[100, 200]], np.uint8)))
        [[  0 128]]
    """

    def __init__(self, bits: Any = (8, 8)) -> None:
        check_type(bits, "bits", "RandomPosterize", (int, list, tuple))
        pair = (bits, bits) if isinstance(bits, int) else tuple(bits)
        if len(pair) != 2:
            raise TypeError(complaint("bits", "RandomPosterize", "an int or (low, high)", repr(bits)))
        self.bits = tuple(check_int_range(value, "bits", "RandomPosterize", 1, 8) for value in pair)
        if self.bits[0] > self.bits[1]:
            raise ValueError(complaint("bits", "RandomPosterize", "(low, high)", repr(bits)))

    def parameters(self, height: int, width: int) -> int:
        """Draw the number of bits."""
        return int(generator().integers(self.bits[0], self.bits[1] + 1))

    def apply(self, array: np.ndarray, parameters: int) -> np.ndarray:
        return posterized(array, parameters, "RandomPosterize")


class Solarize(ImageOperation, OnDevice):
    """Values within a range inverted.

    Args:
        threshold: (low, high), or one number, from which on values are inverted; from 0 to 255.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Solarize(100)(np.array([[50, 100, 250]], np.uint8)))
        [[ 50 155   5]]
    """

    def __init__(self, threshold: Any) -> None:
        check_type(threshold, "threshold", "Solarize", (int, float, list, tuple))
        pair = (threshold, threshold) if isinstance(threshold, (int, float)) else tuple(threshold)
        if len(pair) != 2:
            raise TypeError(complaint("threshold", "Solarize", "a number or (low, high)", repr(threshold)))
        self.threshold = tuple(check_number_range(value, "threshold", "Solarize", 0, 255) for value in pair)
        if self.threshold[0] > self.threshold[1]:
            raise ValueError(complaint("threshold", "Solarize", "(low, high)", repr(threshold)))

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return solarized(array, *self.threshold, "Solarize")


class RandomSolarize(RandomImageOperation):
    """Values within a drawn range inverted.

    Args:
        threshold: (low, high), between which both ends of the range are drawn.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomSolarize((100, 100))(np.array([[50, 100, 250]], np.uint8)))
        [[ 50 155   5]]
    """

    def __init__(self, threshold: tuple[int, int] = (0, 255)) -> None:
        check_type(threshold, "threshold", "RandomSolarize", tuple)
        if len(threshold) != 2:
            raise ValueError(complaint("threshold", "RandomSolarize", "(low, high)", repr(threshold)))
        self.threshold = tuple(check_int_range(value, "threshold", "RandomSolarize", 0, 255) for value in threshold)
        if threshold[0] > threshold[1]:
            raise ValueError(complaint("threshold", "RandomSolarize", "(low, high)", repr(threshold)))

    def parameters(self, height: int, width: int) -> tuple[int, int]:
        """Draw the range: low, high."""
        low, high = self.threshold
        return tuple(sorted(int(value) for value in generator().integers(low, high + 1, 2)))

    def apply(self, array: np.ndarray, parameters: tuple[int, int]) -> np.ndarray:
        return solarized(array, *parameters, "RandomSolarize")

"""Transforms by an image's histogram: contrast stretched, and values spread evenly."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_number_range, check_type
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import probability
from dist_ms.dataset.vision.colour.factors import grey_or_rgb, looked_up, of_type
from dist_ms.dataset.vision.libraries import opencv, pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation


def ignored(ignore: Any, owner: str) -> list[int]:
    """Values of pixels that do not count, as a list."""
    check_type(ignore, "ignore", owner, (int, list, tuple, type(None)))
    values = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
    return [check_int_range(value, "ignore", owner, 0, 255) for value in values]


def limits_of_counts(counts: np.ndarray, percent: int) -> tuple[int, int]:
    """The lowest and the highest value that are left when `percent` of the pixels are cut off at each end."""
    counts, cut = counts.copy(), int(percent / 100.0 * counts.sum())
    for side in (counts, counts[::-1]):
        before = np.cumsum(side) - side
        side -= np.clip(cut - before, 0, side)
    found = np.flatnonzero(counts)
    return (int(found[0]), int(found[-1])) if len(found) else (255, -1)


def auto_contrast(array: np.ndarray, cutoff: float, ignore: list[int], owner: str) -> np.ndarray:
    """Each channel's values stretched to 0 to 255."""
    array = of_type(grey_or_rgb(array, owner), ("uint8",), owner)
    cv2 = opencv(owner)
    tables = np.empty((array.shape[2] if array.ndim == 3 else 1, 256), np.uint8)
    for channel, table in enumerate(tables):
        counts = cv2.calcHist([array], [channel], None, [256], [0, 256]).ravel().astype(np.int64)
        counts[ignore] = 0
        low, high = limits_of_counts(counts, int(cutoff))
        values = np.arange(256, dtype=np.float32)
        if high > low:
            scale = np.float32(255) / np.float32(high - low)
            values = np.clip((values * scale + np.float32(-low) * scale).astype(np.int32), 0, 255)
        table[:] = values
    return looked_up(array, tables, owner)


def equalize(array: np.ndarray, owner: str) -> np.ndarray:
    """Each channel's values spread evenly."""
    cv2, array = opencv(owner), of_type(grey_or_rgb(array, owner), ("uint8",), owner)
    if array.ndim == 2:
        return cv2.equalizeHist(array)
    return np.stack([cv2.equalizeHist(np.ascontiguousarray(array[:, :, c])) for c in range(array.shape[2])], axis=2)


class AutoContrast(ImageOperation, OnDevice):
    """Each channel's values stretched so that the darkest becomes 0 and the brightest 255.

    Args:
        cutoff: percent of the pixels, of each end, that do not count; below 50.
        ignore: a value, or several, whose pixels do not count.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AutoContrast()(np.array([[50, 100, 150]], np.uint8)))
        [[  0 127 255]]
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        self.cutoff = check_number_range(cutoff, "cutoff", type(self).__name__, 0, 50, "[)")
        self.ignore = ignored(ignore, type(self).__name__)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return auto_contrast(array, self.cutoff, self.ignore, "AutoContrast")

    def on_pil(self, img: Any) -> Any:
        return pillow("AutoContrast").ImageOps.autocontrast(img, self.cutoff, self.ignore)


class RandomAutoContrast(RandomImageOperation):
    """AutoContrast with probability `prob`, else the image as it is.

    Args:
        cutoff, ignore: as in AutoContrast.
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomAutoContrast(prob=1.0)(np.array([[50, 100, 150]], np.uint8)))
        [[  0 127 255]]
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        self.cutoff = check_number_range(cutoff, "cutoff", "RandomAutoContrast", 0, 50, "[)")
        self.ignore = ignored(ignore, "RandomAutoContrast")
        self.prob = probability(prob, "prob", "RandomAutoContrast")

    def parameters(self, height: int, width: int) -> bool:
        """Draw whether to change the image."""
        return bool(generator().random() < self.prob)

    def apply(self, array: np.ndarray, parameters: bool) -> np.ndarray:
        return auto_contrast(array, self.cutoff, self.ignore, "RandomAutoContrast") if parameters else array


class Equalize(ImageOperation, OnDevice):
    """Each channel's values spread so that their histogram is as even as can be.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Equalize()(np.array([[50, 51, 52, 53]], np.uint8)))
        [[  0  85 170 255]]
    """

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return equalize(array, "Equalize")

    def on_pil(self, img: Any) -> Any:
        return pillow("Equalize").ImageOps.equalize(img)


class RandomEqualize(RandomImageOperation):
    """Equalize with probability `prob`, else the image as it is.

    Args:
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomEqualize(1.0)(np.array([[50, 51, 52, 53]], np.uint8)))
        [[  0  85 170 255]]
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, "prob", "RandomEqualize")

    def parameters(self, height: int, width: int) -> bool:
        """Draw whether to change the image."""
        return bool(generator().random() < self.prob)

    def apply(self, array: np.ndarray, parameters: bool) -> np.ndarray:
        return equalize(array, "RandomEqualize") if parameters else array

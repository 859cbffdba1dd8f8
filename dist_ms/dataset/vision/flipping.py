"""Mirror images."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import probability
from dist_ms.dataset.vision.libraries import opencv
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation


def flipped(array: np.ndarray, axis: int) -> np.ndarray:
    """The mirror image, of rows (0) or of columns (1)."""
    pixels = array.ndim == 3 and array.shape[2] <= 4 and array.dtype in (np.uint8, np.float32)
    if axis == 1 and pixels and array.size:
        with contextlib.suppress(ImportError):  # OpenCV's is quicker, and no more than that
            return opencv("HorizontalFlip").flip(array, 1).reshape(array.shape)
    return np.flip(array, axis).copy()


class HorizontalFlip(ImageOperation, OnDevice):
    """Left and right exchanged.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.HorizontalFlip()(np.array([[1, 2]])))
        [[2 1]]
    """

    axis = 1

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return flipped(array, self.axis)


class VerticalFlip(HorizontalFlip):
    """Top and bottom exchanged.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.VerticalFlip()(np.array([[1], [2]])).ravel())
        [2 1]
    """

    axis = 0


class RandomHorizontalFlip(RandomImageOperation):
    """HorizontalFlip with probability `prob`, else the image as it is.

    Args:
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomHorizontalFlip(1.0)(np.array([[1, 2]])))
        [[2 1]]
    """

    axis = 1

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, "prob", type(self).__name__)

    def parameters(self, height: int, width: int) -> bool:
        """Draw whether to flip."""
        return bool(generator().random() < self.prob)

    def apply(self, array: np.ndarray, parameters: bool) -> np.ndarray:
        return flipped(array, self.axis) if parameters else array

    def apply_pil(self, image: Any, parameters: bool) -> Any:
        return image.transpose(1 - self.axis) if parameters else image  # Pillow: 0 is left and right


class RandomVerticalFlip(RandomHorizontalFlip):
    """VerticalFlip with probability `prob`, else the image as it is.

    Args:
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomVerticalFlip(1.0)(np.array([[1], [2]])).ravel())
        [2 1]
    """

    axis = 0

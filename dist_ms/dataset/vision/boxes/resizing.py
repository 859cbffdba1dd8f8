"""Images in another size, with their boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.vision.boxes.rows import boxes_resized, image_and_boxes
from dist_ms.dataset.vision.resizing import RandomResize, Resize


class ResizeWithBBox(Resize):
    """Resize of an image and its boxes.

    Args:
        size, interpolation: as in Resize.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> resize = vision.ResizeWithBBox((8, 4))
        >>> print(resize(np.zeros((4, 4, 3), np.uint8), np.array([[1, 1, 2, 2]], np.float32))[1])
        [[1. 2. 2. 4.]]
    """

    def __call__(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Resize one image with its boxes."""
        image, boxes = image_and_boxes(inputs, "ResizeWithBBox")
        result = self.on_array(image)
        return result, boxes_resized(boxes, image.shape[:2], result.shape[:2])


class RandomResizeWithBBox(RandomResize):
    """RandomResize of an image and its boxes.

    Args:
        size: as in RandomResize.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> resize = vision.RandomResizeWithBBox((8, 4))
        >>> print(resize(np.zeros((4, 4, 3), np.uint8), np.array([[1, 1, 2, 2]], np.float32))[1])
        [[1. 2. 2. 4.]]
    """

    def __call__(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Resize one image with its boxes."""
        image, boxes = image_and_boxes(inputs, "RandomResizeWithBBox")
        result = self.apply(image, self.parameters(*image.shape[:2]))
        return result, boxes_resized(boxes, image.shape[:2], result.shape[:2])

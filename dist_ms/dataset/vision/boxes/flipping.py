"""Mirror images, with their boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.vision.boxes.rows import image_and_boxes
from dist_ms.dataset.vision.flipping import RandomHorizontalFlip


class RandomHorizontalFlipWithBBox(RandomHorizontalFlip):
    """RandomHorizontalFlip of an image and its boxes.

    Args:
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> flip = vision.RandomHorizontalFlipWithBBox(1.0)
        >>> print(flip(np.zeros((4, 4, 3)), np.array([[0, 0, 1, 2]], np.float32))[1])
        [[3. 0. 1. 2.]]
    """

    def __call__(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Flip one image with its boxes, or not."""
        image, boxes = image_and_boxes(inputs, type(self).__name__)
        chosen = self.parameters(*image.shape[:2])
        if chosen:
            place = 1 - self.axis  # of x in a box when columns are turned round, of y when rows are
            boxes[:, place] = np.float32(image.shape[self.axis]) - (boxes[:, place] + boxes[:, place + 2])
        return self.apply(image, chosen), boxes


class RandomVerticalFlipWithBBox(RandomHorizontalFlipWithBBox):
    """RandomVerticalFlip of an image and its boxes.

    Args:
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> flip = vision.RandomVerticalFlipWithBBox(1.0)
        >>> print(flip(np.zeros((4, 4, 3)), np.array([[0, 0, 1, 2]], np.float32))[1])
        [[0. 2. 1. 2.]]
    """

    axis = 0

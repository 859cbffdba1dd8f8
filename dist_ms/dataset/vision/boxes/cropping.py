"""Parts of images, with the boxes that lie there."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.vision.boxes.rows import boxes_in_part, boxes_resized, image_and_boxes
from dist_ms.dataset.vision.cropping import RandomCrop
from dist_ms.dataset.vision.resizing import RandomResizedCrop


class RandomCropWithBBox(RandomCrop):
    """RandomCrop of an image and its boxes; those outside are left out, others cut off at the edges.

    Args:
        size, padding, pad_if_needed, fill_value, padding_mode: as in RandomCrop.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> image, boxes = vision.RandomCropWithBBox(4)(np.zeros((4, 4, 3)), np.array([[1, 1, 2, 2]], np.float32))
        >>> print(boxes)
        [[1. 1. 2. 2.]]
    """

    def __call__(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Crop one image with its boxes."""
        image, boxes = image_and_boxes(inputs, "RandomCropWithBBox")
        place = self.parameters(*image.shape[:2])
        left, top, _, _ = self.margins(*image.shape[:2])
        boxes[:, :2] += np.float32((left, top))
        return self.apply(image, place), boxes_in_part(boxes, *place, *self.size)


class RandomResizedCropWithBBox(RandomResizedCrop):
    """RandomResizedCrop of an image and its boxes; those outside are left out, others cut off at the edges.

    Args:
        size, scale, ratio, interpolation, max_attempts: as in RandomResizedCrop.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> cut = vision.RandomResizedCropWithBBox(8, scale=(1.0, 1.0), ratio=(1.0, 1.0))
        >>> print(cut(np.zeros((4, 4, 3), np.uint8), np.array([[1, 1, 2, 2]], np.float32))[1])
        [[2. 2. 4. 4.]]
    """

    def __call__(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Crop and resize one image with its boxes."""
        image, boxes = image_and_boxes(inputs, "RandomResizedCropWithBBox")
        part = self.parameters(*image.shape[:2])
        boxes = boxes_resized(boxes_in_part(boxes, *part), part[2:], self.size)
        return self.apply(image, part), boxes

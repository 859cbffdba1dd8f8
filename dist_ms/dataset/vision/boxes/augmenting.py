"""Transforms of what lies in bounding boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import probability
from dist_ms.dataset.vision.boxes.rows import image_and_boxes
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.resizing import resize


class BoundingBoxAugment:
    """A transform of what lies in some of an image's boxes; the boxes stay as they are.

    Args:
        transform: what takes and gives an image; a result of another size is resized to the box's.
        ratio: the probability of each box to be transformed.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> augment = vision.BoundingBoxAugment(vision.Invert(), ratio=1.0)
        >>> image, boxes = augment(np.zeros((1, 3, 3), np.uint8), np.array([[1, 0, 1, 1]], np.float32))
        >>> print(image[0, :, 0], boxes)
        [  0 255   0] [[1. 0. 1. 1.]]
    """

    random = True

    def __init__(self, transform: Callable, ratio: float = 0.3) -> None:
        if not callable(transform) or isinstance(transform, type):
            raise TypeError(complaint("transform", "BoundingBoxAugment", "a transform", repr(transform)))
        self.transform, self.ratio = transform, probability(ratio, "ratio", "BoundingBoxAugment")

    def __call__(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Transform one image in its boxes."""
        image, boxes = image_and_boxes(inputs, "BoundingBoxAugment")
        image, draw = image.copy(), generator()
        for left, top, width, height in boxes[:, :4].astype(np.int64).tolist():
            if draw.random() < self.ratio:
                part = np.asarray(self.transform(image[top : top + height, left : left + width].copy()))
                if part.shape[:2] != (height, width):
                    part = resize(part, height, width, Inter.LINEAR, "BoundingBoxAugment")
                image[top : top + height, left : left + width] = part
        return image, boxes

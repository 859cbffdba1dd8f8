"""Bounding boxes as rows (x, y, width, height, ...), and what they are in an image that was cut or resized."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.libraries import is_pil

_EPSILON = 1e-4  # boxes may lie that far outside by rounding


def image_and_boxes(inputs: tuple, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """The image, and a copy of the boxes, checked."""
    for value in inputs:
        if not isinstance(value, np.ndarray) and not is_pil(value):
            raise TypeError(complaint("image", owner, "a NumPy array or a PIL image", type(value).__name__))
    if len(inputs) != 2:
        raise RuntimeError(f"For '{owner}', the inputs must be an image and its boxes, but got {len(inputs)} of them.")
    image, boxes = np.asarray(inputs[0], order="C"), np.asarray(inputs[1])
    if image.ndim not in (2, 3):
        raise RuntimeError(complaint("image", owner, "(H, W) or (H, W, C)", f"of shape {image.shape}"))
    if boxes.ndim < 2 or boxes.shape[1] < 4:
        raise RuntimeError(complaint("bboxes", owner, "(N, 4) or wider", f"of shape {boxes.shape}"))
    if boxes.dtype != np.float32:
        raise RuntimeError(complaint("bboxes", owner, "float32", boxes.dtype))
    if len(boxes):
        ends = boxes[:, :2] + boxes[:, 2:4]
        if boxes[:, :2].min() < -_EPSILON or (ends - image.shape[1::-1]).max() > _EPSILON:
            raise RuntimeError(
                f"For '{owner}', 'bboxes' must lie in the image of height {image.shape[0]} and width {image.shape[1]}, "
                f"but got {boxes[:, :4].tolist()}."
            )
    return image, boxes.copy()


def boxes_in_part(boxes: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    """The boxes that touch a part of the image, as they are in it."""
    first, size = np.float32((left, top)), np.float32((width, height))
    low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:4]
    touching = (low <= first + size).all(axis=1) & (high >= first).all(axis=1)
    result = boxes[touching]
    low, high = (np.clip(corner[touching] - first, 0, size) for corner in (low, high))
    result[:, :2], result[:, 2:4] = low, high - low
    return result


def boxes_resized(boxes: np.ndarray, size: tuple[int, int], wanted: tuple[int, int]) -> np.ndarray:
    """The boxes of an image of (height, width) `size` when it is made `wanted`."""
    factors = np.float32((wanted[1], wanted[0])) / np.float32((size[1], size[0]))
    boxes[:, :4] *= np.tile(factors, 2)
    return boxes

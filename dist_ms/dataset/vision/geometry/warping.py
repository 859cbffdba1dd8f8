"""What turned and moved images share."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.images import image
from dist_ms.dataset.vision.libraries import opencv
from dist_ms.dataset.vision.resizing import cv_code

_ELEMENTS = ("uint8", "uint16", "int16", "float32", "float64")
_MOST = 4  # channels that OpenCV warps at once


def warping_code(kind: Inter, owner: str) -> int:
    """OpenCV's number of a way to interpolate between moved pixels."""
    if kind == Inter.PILCUBIC:
        raise RuntimeError(
            f"For '{owner}', the interpolation must be NEAREST, LINEAR, BICUBIC or AREA, but got PILCUBIC."
        )
    return cv_code(Inter.LINEAR if kind == Inter.AREA else kind, owner)


def warpable(array: np.ndarray, owner: str) -> np.ndarray:
    """An image that OpenCV moves."""
    array = image(array, owner)
    if array.dtype.name not in _ELEMENTS:
        raise RuntimeError(complaint("image", owner, "of type " + ", ".join(_ELEMENTS), array.dtype))
    if array.ndim == 3 and array.shape[2] > _MOST:
        raise RuntimeError(complaint("image", owner, f"of at most {_MOST} channels", array.shape[2]))
    return array


def warped(
    array: np.ndarray, matrix: np.ndarray, size: tuple[int, int], kind: Inter, fill: tuple[int, ...], owner: str
) -> np.ndarray:
    """The image moved by a matrix of 2 x 3, of (width, height) `size`."""
    element = array.dtype
    if kind == Inter.NEAREST and element in (np.int32, np.int8, np.bool_):  # copied, exactly
        array = array.astype(np.float64 if element == np.int32 else np.int16)
    array, code = warpable(array, owner), warping_code(kind, owner)
    cv2 = opencv(owner)
    result = cv2.warpAffine(array, matrix, size, flags=code, borderMode=cv2.BORDER_CONSTANT, borderValue=fill)
    return result.reshape(*result.shape[:2], *array.shape[2:]).astype(element, copy=False)


def pil_fill(img: Any, fill: tuple[int, int, int]) -> Any:
    """What Pillow takes to fill an image of this mode."""
    return tuple(fill) if len(img.getbands()) == 3 else fill[0]

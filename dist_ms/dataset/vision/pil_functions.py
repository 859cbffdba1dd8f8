"""Functions of images that scripts take from MindSpore's `vision.py_transforms_util`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.colour.factors import pil_enhanced, pil_hue
from dist_ms.dataset.vision.cropping import RandomCrop, center_of_pil
from dist_ms.dataset.vision.enums import Border
from dist_ms.dataset.vision.geometry.warping import pil_fill
from dist_ms.dataset.vision.libraries import is_pil
from dist_ms.dataset.vision.padding import Pad

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "augment_error_message",
    "center_crop",
    "crop",
    "horizontal_flip",
    "hwc_to_chw",
    "is_numpy",
    "is_pil",
    "pad",
    "random_crop",
    "rotate",
    "vertical_flip",
]

augment_error_message = "The image must be a PIL image, but got {}: Decode(to_pil=True) and ToPIL() make them."


def _required(img: Any) -> Any:
    if not is_pil(img):
        raise TypeError(augment_error_message.format(type(img)))
    return img


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Each value times the factor."""
    return pil_enhanced(_required(img), "Brightness", brightness_factor, "adjust_brightness")


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The distance from the grey image's mean times the factor."""
    return pil_enhanced(_required(img), "Contrast", contrast_factor, "adjust_contrast")


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """The distance from the grey image times the factor."""
    return pil_enhanced(_required(img), "Color", saturation_factor, "adjust_saturation")


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The hue moved on by a part of the circle, from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"For 'adjust_hue', 'hue_factor' must be from -0.5 to 0.5, but got {hue_factor}.")
    return pil_hue(_required(img), hue_factor, "adjust_hue")


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of the image."""
    return _required(img).crop((left, top, left + width, top + height))


def center_crop(img: Any, size: Any) -> Any:
    """The middle of the image, of (height, width) or an int for both."""
    return center_of_pil(_required(img), (size, size) if isinstance(size, int) else tuple(size))


def random_crop(img: Any, size: Any, padding: Any, pad_if_needed: bool, fill_value: Any, padding_mode: str) -> Any:
    """`RandomCrop` of a PIL image."""
    fill = tuple(fill_value) if isinstance(fill_value, list) else fill_value
    return RandomCrop(size, padding, pad_if_needed, fill, Border(padding_mode))(_required(img))


def pad(img: Any, padding: Any, fill_value: Any, padding_mode: str) -> Any:
    """`Pad` of a PIL image."""
    fill = tuple(fill_value) if isinstance(fill_value, list) else fill_value
    return Pad(padding, fill, Border(padding_mode))(_required(img))


def rotate(img: Any, angle: float, resample: int, expand: bool, center: Any, fill_value: Any) -> Any:
    """The image turned counter-clockwise; `resample` is Pillow's number."""
    fill = (fill_value,) * 3 if isinstance(fill_value, int) else tuple(fill_value)
    return _required(img).rotate(angle % 360.0, resample, expand, center, fillcolor=pil_fill(img, fill))


def horizontal_flip(img: Any) -> Any:
    """Left and right exchanged."""
    return _required(img).transpose(0)


def vertical_flip(img: Any) -> Any:
    """Top and bottom exchanged."""
    return _required(img).transpose(1)


def is_numpy(img: Any) -> bool:
    """Whether an image is an array."""
    return isinstance(img, np.ndarray)


def hwc_to_chw(img: np.ndarray) -> np.ndarray:
    """An image (H, W, C) as (C, H, W); one of two dimensions as it is.

    Raises:
        TypeError: if it is no array, or has other dimensions.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.vision.pil_functions import hwc_to_chw
        >>> hwc_to_chw(np.zeros((2, 3, 1))).shape
        (1, 2, 3)
    """
    if not is_numpy(img):
        raise TypeError(complaint("img", "hwc_to_chw", "a NumPy array", type(img).__name__))
    if img.ndim not in (2, 3):
        raise TypeError(complaint("img", "hwc_to_chw", "of 2 or 3 dimensions", img.ndim))
    return img.transpose(2, 0, 1).copy() if img.ndim == 3 else img

"""What brightness, contrast, saturation and hue do to arrays (as MindSpore's by OpenCV) and to PIL images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.images import image, rgb
from dist_ms.dataset.vision.libraries import opencv, pillow


def of_type(array: np.ndarray, types: tuple[str, ...], owner: str) -> np.ndarray:
    """An array whose elements are of one of the types."""
    if array.dtype.name not in types:
        raise RuntimeError(complaint("image", owner, "of type " + ", ".join(types), array.dtype))
    return array


def grey_or_rgb(array: np.ndarray, owner: str) -> np.ndarray:
    """An image of one or three channels."""
    array = image(array, owner)
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        raise RuntimeError(complaint("image", owner, "of 1 or 3 channels", array.shape[2]))
    return array


def blended(first: np.ndarray, second: np.ndarray, alpha: float, owner: str) -> np.ndarray:
    """first * (1 - alpha) + second * alpha, rounded and kept in the type's range."""
    return opencv(owner).addWeighted(first, 1.0 - alpha, second, alpha, 0)


def brightness(array: np.ndarray, factor: float, owner: str) -> np.ndarray:
    """Each value times the factor."""
    array = grey_or_rgb(array, owner)
    if array.dtype == np.uint8:
        result = opencv(owner).convertScaleAbs(array, alpha=float(np.float32(factor)))
        return result.reshape(array.shape)
    factor = np.float32(factor)
    if array.dtype.kind == "f":
        return (array.astype(np.float64) * float(factor)).astype(array.dtype)
    if array.dtype == np.bool_:
        return brightness(array.view(np.uint8), factor, owner).astype(np.bool_)
    bounds = np.iinfo(array.dtype)
    product = array.astype(np.float32 if array.itemsize < 4 else np.float64) * factor
    return np.clip(np.rint(product), bounds.min, bounds.max).astype(array.dtype)


def contrast(array: np.ndarray, factor: float, owner: str) -> np.ndarray:
    """Away from, or towards, the mean of the grey image."""
    cv2, array = opencv(owner), of_type(rgb(array, owner), ("uint8", "uint16", "float32"), owner)
    mean = cv2.mean(cv2.cvtColor(array, cv2.COLOR_RGB2GRAY))[0]
    mean = mean if array.dtype.kind == "f" else np.rint(mean)
    return blended(np.full_like(array, mean), array, float(np.float32(factor)), owner)


def saturation(array: np.ndarray, factor: float, owner: str) -> np.ndarray:
    """Away from, or towards, the grey image."""
    array = of_type(rgb(array, owner), ("uint8", "uint16", "float32"), owner)
    return blended(grey(array, owner), array, float(np.float32(factor)), owner)


def grey(array: np.ndarray, owner: str) -> np.ndarray:
    """The grey image in three channels."""
    cv2 = opencv(owner)
    return cv2.cvtColor(cv2.cvtColor(array, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def hue(array: np.ndarray, factor: float, owner: str) -> np.ndarray:
    """The hue moved on by a part of the circle."""
    cv2, array = opencv(owner), of_type(rgb(array, owner), ("uint8",), owner)
    hsv = cv2.cvtColor(array, cv2.COLOR_RGB2HSV_FULL)
    hsv[:, :, 0] += np.uint8(int(np.float32(factor) * np.float32(255)) % 256)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)


def pil_hue(img: Any, factor: float, owner: str) -> Any:
    """The hue of a PIL image moved on by a part of the circle; one without colours stays as it is."""
    if img.mode in {"L", "1", "I", "F"}:
        return img
    pil = pillow(owner).Image
    first, *others = img.convert("HSV").split()
    moved = np.array(first, np.uint8) + np.uint8(int(factor * 255) % 256)
    return pil.merge("HSV", (pil.fromarray(moved), *others)).convert(img.mode)


def pil_enhanced(img: Any, kind: str, factor: float, owner: str) -> Any:
    """Pillow's enhancer `kind` ("Brightness", "Contrast", "Color" or "Sharpness") at work."""
    return getattr(pillow(owner).ImageEnhance, kind)(img).enhance(factor)


def looked_up(array: np.ndarray, tables: np.ndarray, owner: str) -> np.ndarray:
    """Each pixel's entry in the table of 256, or in its channel's, of an array (1 or channels, 256)."""
    if len(tables) == 1:
        return opencv(owner).LUT(array.reshape(len(array), -1), tables[0]).reshape(array.shape)
    return opencv(owner).LUT(array, np.ascontiguousarray(tables.T)[None])

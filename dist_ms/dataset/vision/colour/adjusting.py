"""Brightness, contrast, saturation, hue and gamma by a given factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_number_range, complaint
from dist_ms.dataset.vision.arguments import LARGEST
from dist_ms.dataset.vision.colour.factors import (
    brightness,
    contrast,
    grey_or_rgb,
    hue,
    looked_up,
    pil_enhanced,
    pil_hue,
    saturation,
)
from dist_ms.dataset.vision.images import image
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice


class AdjustBrightness(ImageOperation, OnDevice):
    """Each value times a factor, kept in the type's range.

    Args:
        brightness_factor: 0 for black, 1 for no change, 2 for twice as bright.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AdjustBrightness(2.0)(np.array([[[10, 100, 200]]], np.uint8)))
        [[[ 20 200 255]]]
    """

    def __init__(self, brightness_factor: float) -> None:
        self.brightness_factor = check_number_range(
            brightness_factor, "brightness_factor", "AdjustBrightness", 0, LARGEST
        )

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return brightness(array, self.brightness_factor, "AdjustBrightness")

    def on_pil(self, img: Any) -> Any:
        return pil_enhanced(img, "Brightness", self.brightness_factor, "AdjustBrightness")


class AdjustContrast(ImageOperation, OnDevice):
    """The distance from the grey image's mean times a factor, for RGB images.

    Args:
        contrast_factor: 0 for a plain grey, 1 for no change.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AdjustContrast(0.0)(np.array([[[90, 90, 90], [110, 110, 110]]], np.uint8)))
        [[[100 100 100]
          [100 100 100]]]
    """

    def __init__(self, contrast_factor: float) -> None:
        self.contrast_factor = check_number_range(contrast_factor, "contrast_factor", "AdjustContrast", 0, LARGEST)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return contrast(array, self.contrast_factor, "AdjustContrast")

    def on_pil(self, img: Any) -> Any:
        return pil_enhanced(img, "Contrast", self.contrast_factor, "AdjustContrast")


class AdjustSaturation(ImageOperation, OnDevice):
    """The distance from the grey image times a factor, for RGB images.

    Args:
        saturation_factor: 0 for the grey image, 1 for no change.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AdjustSaturation(0.0)(np.array([[[255, 0, 0]]], np.uint8)))
        [[[76 76 76]]]
    """

    def __init__(self, saturation_factor: float) -> None:
        self.saturation_factor = check_number_range(
            saturation_factor, "saturation_factor", "AdjustSaturation", 0, LARGEST
        )

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return saturation(array, self.saturation_factor, "AdjustSaturation")

    def on_pil(self, img: Any) -> Any:
        return pil_enhanced(img, "Color", self.saturation_factor, "AdjustSaturation")


class AdjustHue(ImageOperation, OnDevice):
    """The hue moved on by a part of the circle of colours, for RGB images of uint8.

    Args:
        hue_factor: from -0.5 to 0.5.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AdjustHue(0.5)(np.array([[[255, 0, 0]]], np.uint8)))
        [[[  0 255 252]]]
    """

    def __init__(self, hue_factor: float) -> None:
        self.hue_factor = check_number_range(hue_factor, "hue_factor", "AdjustHue", -0.5, 0.5)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return hue(array, self.hue_factor, "AdjustHue")

    def on_pil(self, img: Any) -> Any:
        return pil_hue(img, self.hue_factor, "AdjustHue")


class AdjustGamma(ImageOperation):
    """gain * x ** gamma, where 1 is the largest value: 255 of integers, 1.0 of floats.

    Args:
        gamma: the exponent, 0 or more; above 1 shadows get darker.
        gain: the factor; of floats it is taken before the power.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AdjustGamma(2.0)(np.array([[0, 128, 255]], np.uint8)))
        [[  0  64 255]]
    """

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self.gamma = check_number_range(gamma, "gamma", "AdjustGamma", 0, LARGEST)
        self.gain = check_number_range(gain, "gain", "AdjustGamma", -LARGEST, LARGEST)

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Change each array; batches as a whole."""
        return [self.on_array(array) for array in arrays]

    def on_array(self, array: np.ndarray) -> np.ndarray:
        if array.ndim < 2:
            image(array, "AdjustGamma")
        if array.ndim <= 3:
            grey_or_rgb(array, "AdjustGamma")
        gamma, gain = np.float32(self.gamma), np.float32(self.gain)
        if array.dtype.kind == "f":
            result = np.power(array.astype(np.float32) * gain, gamma)
            return np.clip(result, 0, 1)
        if array.dtype != np.uint8:
            raise RuntimeError(complaint("image", "AdjustGamma", "of uint8 or floats", array.dtype))
        powers = np.power(np.arange(256, dtype=np.float32) / np.float32(255), gamma)
        table = np.floor(np.minimum(powers * (np.float32(255) + np.float32(1) - np.float32(1e-3)) * gain, 255))
        return looked_up(array, table.astype(np.int64).astype(np.uint8)[None], "AdjustGamma")

    def on_pil(self, img: Any) -> Any:
        channels = len(img.getbands())
        table = [int((255 + 1 - 0.001) * self.gain * pow(x / 255.0, self.gamma)) for x in range(256)]
        return img.point(table * channels) if channels in (1, 3) else img

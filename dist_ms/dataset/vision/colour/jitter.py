"""Colours changed by drawn factors."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from dist_ms.common.checks import check_number_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import LARGEST
from dist_ms.dataset.vision.colour.factors import (
    blended,
    brightness,
    contrast,
    grey,
    hue,
    looked_up,
    pil_enhanced,
    pil_hue,
    saturation,
)
from dist_ms.dataset.vision.colour.sharpness import degrees_of
from dist_ms.dataset.vision.images import rgb
from dist_ms.dataset.vision.libraries import pillow
from dist_ms.dataset.vision.operation import RandomImageOperation

_STEPS = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}
_PIL_STEPS = {"brightness": "Brightness", "contrast": "Contrast", "saturation": "Color"}


def _factor_limits(value: Any, name: str) -> tuple[float, float]:
    """(low, high) from these, or from the largest distance from the factor that changes nothing."""
    owner, is_hue = "RandomColorAdjust", name == "hue"
    low, high = (-0.5, 0.5) if is_hue else (0, LARGEST)
    check_type(value, name, owner, (numbers.Number, list, tuple))
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(complaint(name, owner, "0 or more", value))
        center = 0 if is_hue else 1
        value = (center - value if is_hue else max(0, center - value), center + value)
    if len(value) != 2:
        raise TypeError(complaint(name, owner, "a number or (low, high)", repr(value)))
    if not low <= value[0] <= value[1] <= high:
        raise ValueError(complaint(name, owner, f"(low, high) within [{low}, {high}]", repr(value)))
    return tuple(value)


class RandomColorAdjust(RandomImageOperation):
    """Brightness, contrast, saturation and hue changed by drawn factors, in a drawn order, for RGB images.

    Args:
        brightness, contrast, saturation: limits (low, high) of the factor, or a number d for (max(0, 1 - d), 1 + d).
        hue: limits of what is added to the hue, within [-0.5, 0.5], or a number d for (-d, d).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.1)(np.zeros((4, 4, 3), np.uint8)).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        brightness: Any = (1, 1),
        contrast: Any = (1, 1),
        saturation: Any = (1, 1),
        hue: Any = (0, 0),
    ) -> None:
        self.brightness = _factor_limits(brightness, "brightness")
        self.contrast = _factor_limits(contrast, "contrast")
        self.saturation = _factor_limits(saturation, "saturation")
        self.hue = _factor_limits(hue, "hue")

    def parameters(self, height: int, width: int) -> list[tuple[str, float]]:
        """Draw the order, then the factors: a name and a factor each."""
        draw = generator()
        names = [list(_STEPS)[place] for place in draw.permutation(len(_STEPS))]
        return [(name, float(draw.uniform(*getattr(self, name)))) for name in names]

    def apply(self, array: np.ndarray, parameters: list[tuple[str, float]]) -> np.ndarray:
        array = rgb(array, "RandomColorAdjust")
        for name, factor in parameters:
            if factor != (0 if name == "hue" else 1):
                array = _STEPS[name](array, factor, "RandomColorAdjust")
        return array

    def apply_pil(self, img: Any, parameters: list[tuple[str, float]]) -> Any:
        for name, factor in parameters:
            if name == "hue":
                img = pil_hue(img, factor, "RandomColorAdjust")
            else:
                img = pil_enhanced(img, _PIL_STEPS[name], factor, "RandomColorAdjust")
        return img


class RandomColor(RandomImageOperation):
    """The distance from the grey image times a drawn factor, for RGB images.

    Args:
        degrees: the factor's limits (low, high).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomColor((0, 0))(np.array([[[255, 0, 0]]], np.uint8)))
        [[[76 76 76]]]
    """

    def __init__(self, degrees: tuple[float, float] = (0.1, 1.9)) -> None:
        self.degrees = degrees_of(degrees, "RandomColor")

    def parameters(self, height: int, width: int) -> float:
        """Draw the factor."""
        return float(generator().uniform(*self.degrees))

    def apply(self, array: np.ndarray, parameters: float) -> np.ndarray:
        array = rgb(array, "RandomColor")
        share = 1.0 - float(np.float32(parameters))
        return blended(array, grey(array, "RandomColor"), share, "RandomColor")

    def apply_pil(self, img: Any, parameters: float) -> Any:
        return pil_enhanced(img, "Color", parameters, "RandomColor")


# Eigenvectors of RGB values over ImageNet, each times its eigenvalue (Krizhevsky et al. 2012).
_LIGHT = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
_LIGHT = _LIGHT * np.array([55.46, 4.794, 1.148])


class RandomLighting(RandomImageOperation):
    """A drawn light: what is added to R, G and B follows how they vary over ImageNet. For RGB images of uint8.

    Args:
        alpha: the standard deviation of the three drawn numbers, 0 or more.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomLighting(0.0)(np.array([[[1, 2, 3]]], np.uint8)))
        [[[1 2 3]]]
    """

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = check_number_range(alpha, "alpha", "RandomLighting", 0, LARGEST)

    def parameters(self, height: int, width: int) -> np.ndarray:
        """Draw what is added to R, G and B."""
        return _LIGHT @ generator().normal(0.0, self.alpha, 3)

    def apply(self, array: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        array = rgb(array, "RandomLighting")
        if array.dtype != np.uint8:
            raise RuntimeError(complaint("image", "RandomLighting", "of uint8", array.dtype))
        values = np.arange(256, dtype=np.float32) + parameters.astype(np.float32)[:, None]
        return looked_up(array, np.clip(np.rint(values), 0, 255).astype(np.uint8), "RandomLighting")

    def apply_pil(self, img: Any, parameters: np.ndarray) -> Any:
        pixels = np.asarray(img.convert("RGB"), np.float64) + parameters
        return pillow("RandomLighting").Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))

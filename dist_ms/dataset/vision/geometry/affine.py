"""Images turned, moved, scaled and sheared at once."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_number, check_number_range, check_positive_number, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import LARGEST, colour, interpolation_of
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.geometry.warping import pil_fill, warped
from dist_ms.dataset.vision.libraries import pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation
from dist_ms.dataset.vision.resizing import pil_code


def affine(
    array: np.ndarray,
    degrees: float,
    translation: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
    kind: Inter,
    fill: tuple[int, int, int],
    owner: str,
) -> np.ndarray:
    """The image turned, scaled and sheared about its middle, then moved by pixels."""
    angle, x, y = (np.float32(math.radians(v)) for v in (degrees, shear[0], -shear[1]))
    scale, move_x, move_y = np.float32(scale), np.float32(translation[0]), np.float32(translation[1])
    center_x, center_y = np.float32((array.shape[1] - 1) / 2), np.float32((array.shape[0] - 1) / 2)
    cosine, sine = np.cos(angle + y) / np.cos(y), np.sin(angle + y) / np.cos(y)
    matrix = np.zeros((2, 3), np.float32)
    matrix[:, :2] = scale * np.array(
        [[cosine, -cosine * np.tan(x) - np.sin(angle)], [sine, -sine * np.tan(x) + np.cos(angle)]]
    )
    matrix[0, 2] = (1 - matrix[0, 0]) * center_x - matrix[0, 1] * center_y + move_x
    matrix[1, 2] = (1 - matrix[1, 1]) * center_y - matrix[1, 0] * center_x + move_y
    return warped(array, matrix, (array.shape[1], array.shape[0]), kind, fill, owner)


class Affine(ImageOperation, OnDevice):
    """The image turned, scaled and sheared about its middle, and moved.

    Args:
        degrees: the angle, from -180 to 180, clockwise.
        translate: how far to move to the right and down, as parts of the width and the height, from -1 to 1.
        scale: the factor, above 0.
        shear: the angle along x, or (along x, along y), from -180 to 180.
        resample: the interpolation.
        fill_value: what is put around the image: an int from 0 to 255, or a tuple of three.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Affine(180.0, (0, 0), 1.0, 0.0)(np.array([[1, 2], [3, 4]], np.uint8)))
        [[4 3]
         [2 1]]
    """

    def __init__(
        self,
        degrees: float,
        translate: Sequence[float],
        scale: float,
        shear: Any,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = check_number_range(degrees, "degrees", "Affine", -180, 180)
        if len(check_type(translate, "translate", "Affine", (list, tuple))) != 2:
            raise TypeError(complaint("translate", "Affine", "two numbers", repr(translate)))
        self.translate = tuple(check_number_range(t, "translate", "Affine", -1, 1) for t in translate)
        self.scale = check_positive_number(scale, "scale", "Affine")
        check_type(shear, "shear", "Affine", (numbers.Number, list, tuple))
        shears = (shear, 0.0) if isinstance(shear, numbers.Number) else tuple(shear)
        if len(shears) != 2:
            raise TypeError(complaint("shear", "Affine", "a number or two", repr(shear)))
        self.shear = tuple(check_number_range(s, "shear", "Affine", -180, 180) for s in shears)
        self.kind = interpolation_of(resample, "resample", "Affine")
        self.fill = colour(fill_value, "Affine")

    def on_array(self, array: np.ndarray) -> np.ndarray:
        height, width = array.shape[:2]
        move = self.translate[0] * width, self.translate[1] * height
        return affine(array, self.degrees, move, self.scale, self.shear, self.kind, self.fill, "Affine")


class RandomAffine(RandomImageOperation):
    """Affine with drawn parameters.

    Args:
        degrees: limits of the angle, or a number d for (-d, d).
        translate: limits (low, high) of the part of the width to move by, or four with those of the height. Of PIL
            images, the largest parts of the width and of the height.
        scale: limits of the factor.
        shear: limits of the angle along x, or four with those along y, or a number s for (-s, s).
        resample: the interpolation.
        fill_value: what is put around the image: an int from 0 to 255, or a tuple of three.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomAffine(15, translate=(-0.1, 0.1), scale=(0.9, 1.1))(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        degrees: Any,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Any = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        owner = "RandomAffine"
        self.degrees = angles(degrees, owner)
        self.translate = _translations(translate)
        self.scale = _scales(scale)
        self.shear = _shears(shear)
        self.kind = interpolation_of(resample, "resample", owner)
        self.python_only = self.kind == Inter.ANTIALIAS
        self.fill = colour(fill_value, owner)

    def parameters(self, height: int, width: int) -> tuple[float, float, float, float, float, float]:
        """Draw the angle, where between their limits both moves lie (0 to 1), the factor, the shears."""
        draw = generator()
        limits = self.degrees, (0.0, 1.0), (0.0, 1.0), self.scale, self.shear[:2], self.shear[2:]
        return tuple(float(draw.uniform(*pair)) for pair in limits)

    def apply(self, array: np.ndarray, parameters: tuple) -> np.ndarray:
        degrees, *places, scale, shear_x, shear_y = parameters
        shear, limits = (shear_x, shear_y), (self.translate[:2], self.translate[2:])
        right, down = (low + place * (high - low) for place, (low, high) in zip(places, limits))
        move = right * array.shape[1], down * array.shape[0]
        return affine(array, math.fmod(degrees, 360), move, scale, shear, self.kind, self.fill, "RandomAffine")

    def apply_pil(self, img: Any, parameters: tuple) -> Any:
        degrees, right, down, scale, *shear = parameters
        code = pil_code(self.kind, "RandomAffine")
        width, height = img.size
        angle, x, y = (math.radians(v) for v in (degrees, *shear))
        move_x = np.round((2 * right - 1) * self.translate[0] * width)
        move_y = np.round((2 * down - 1) * self.translate[1] * height)
        center_x, center_y = width * 0.5 + 0.5, height * 0.5 + 0.5
        cosines = math.cos(angle + x), math.sin(angle + x), -math.sin(angle + y), math.cos(angle + y)
        factor = 1.0 / scale / (cosines[0] * cosines[3] - cosines[1] * cosines[2])
        a, b, d, e = (factor * c for c in cosines)
        c = center_x - a * (center_x + move_x) - b * (center_y + move_y)
        f = center_y - d * (center_x + move_x) - e * (center_y + move_y)
        pil = pillow("RandomAffine").Image
        fill = pil_fill(img, self.fill)
        return img.transform(img.size, pil.Transform.AFFINE, (a, b, c, d, e, f), code, fillcolor=fill)


def angles(degrees: Any, owner: str) -> tuple[float, float]:
    """Limits of an angle, from these or one number."""
    check_type(degrees, "degrees", owner, (int, float, list, tuple))
    if isinstance(degrees, (int, float)):
        check_number_range(degrees, "degrees", owner, 0, LARGEST)
        return -degrees, degrees
    if len(degrees) != 2:
        raise TypeError(complaint("degrees", owner, "a number or (low, high)", repr(degrees)))
    for value in degrees:
        check_number_range(value, "degrees", owner, -LARGEST, LARGEST)
    if degrees[0] > degrees[1]:
        raise ValueError(complaint("degrees", owner, "(low, high)", repr(degrees)))
    return tuple(degrees)


def _translations(translate: Any) -> tuple[float, float, float, float]:
    """Limits of both parts to move by."""
    owner = "RandomAffine"
    if translate is None:
        return 0.0, 0.0, 0.0, 0.0
    for value in check_type(translate, "translate", owner, (list, tuple)):
        check_number(value, "translate", owner)
    if len(translate) not in (2, 4):
        raise TypeError(complaint("translate", owner, "2 or 4 numbers", repr(translate)))
    for value in translate:
        check_number_range(value, "translate", owner, -1, 1)
    return (*translate, 0.0, 0.0)[:4]


def _scales(scale: Any) -> tuple[float, float]:
    """Limits of the factor."""
    owner = "RandomAffine"
    if scale is None:
        return 1.0, 1.0
    for value in check_type(scale, "scale", owner, (list, tuple)):
        check_number(value, "scale", owner)
    if len(scale) != 2:
        raise TypeError(complaint("scale", owner, "(low, high)", repr(scale)))
    if not (0 <= scale[0] <= scale[1] <= LARGEST and scale[1] > 0):
        raise ValueError(complaint("scale", owner, f"(low, high) within [0, {LARGEST}]", repr(scale)))
    return tuple(scale)


def _shears(shear: Any) -> tuple[float, float, float, float]:
    """Limits of both shears."""
    owner = "RandomAffine"
    if shear is None:
        return 0.0, 0.0, 0.0, 0.0
    check_type(shear, "shear", owner, (numbers.Number, list, tuple))
    if isinstance(shear, numbers.Number):
        check_positive_number(shear, "shear", owner)
        return -shear, shear, 0.0, 0.0
    for value in shear:
        check_number(value, "shear", owner)
    if len(shear) not in (2, 4):
        raise TypeError(complaint("shear", owner, "a number, 2 or 4 of them", repr(shear)))
    limits = (*shear, 0.0, 0.0)[:4]
    if limits[0] > limits[1] or limits[2] > limits[3]:
        raise ValueError(complaint("shear", owner, "(low, high) of each axis", repr(shear)))
    return limits

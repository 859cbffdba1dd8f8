"""Turned images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_number_range, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import INT32, LARGEST, colour, interpolation_of
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.geometry.affine import angles
from dist_ms.dataset.vision.geometry.warping import pil_fill, warped
from dist_ms.dataset.vision.libraries import opencv
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation
from dist_ms.dataset.vision.resizing import pil_code


def rotated(
    array: np.ndarray,
    degrees: float,
    kind: Inter,
    expand: bool,
    center: Sequence[float] | None,
    fill: tuple[int, int, int],
    owner: str,
) -> np.ndarray:
    """The image turned counter-clockwise; with `expand` as large as its corners need."""
    cv2 = opencv(owner)
    height, width = array.shape[:2]
    middle = np.float32(((width - 1) / 2, (height - 1) / 2) if center is None else center)
    middle = (float(middle[0]), float(middle[1]))
    degrees = float(np.float32(degrees))
    matrix, size = cv2.getRotationMatrix2D(middle, degrees, 1.0), (width, height)
    if expand:
        corners = cv2.boxPoints((middle, (width, height), degrees))
        extent = corners.max(axis=0) - corners.min(axis=0)
        matrix[:, 2] += extent / 2.0 - np.array(size) / 2.0
        size = tuple(int(n) for n in np.rint(extent))
    return warped(array, matrix, size, kind, fill[::-1], owner)


def _center(center: Any, owner: str) -> tuple[float, float] | None:
    if center is None:
        return None
    if not isinstance(center, tuple) or len(center) != 2:
        raise ValueError(complaint("center", owner, "a tuple (x, y)", repr(center)))
    return tuple(check_number_range(value, "center", owner, -INT32 - 1, INT32) for value in center)


class Rotate(ImageOperation, OnDevice):
    """The image turned counter-clockwise.

    Args:
        degrees: the angle.
        resample: the interpolation.
        expand: whether the result is large enough for all of the turned image.
        center: what to turn about, (x, y); None is the middle.
        fill_value: what is put around the image: an int from 0 to 255, or a tuple of three.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Rotate(90)(np.array([[1, 2], [3, 4]], np.uint8)))
        [[2 4]
         [1 3]]
    """

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: tuple[float, float] | None = None,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = check_number_range(degrees, "degrees", "Rotate", -LARGEST, LARGEST) % 360
        self.kind = interpolation_of(resample, "resample", "Rotate")
        self.expand, self.center = check_bool(expand, "expand", "Rotate"), _center(center, "Rotate")
        self.fill = colour(fill_value, "Rotate")

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return rotated(array, self.degrees, self.kind, self.expand, self.center, self.fill, "Rotate")


class RandomRotation(RandomImageOperation):
    """The image turned counter-clockwise by a drawn angle.

    Args:
        degrees: limits of the angle, or a number d for (-d, d).
        resample, expand, center, fill_value: as in Rotate.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RandomRotation((90, 90))(np.array([[1, 2], [3, 4]], np.uint8)))
        [[2 4]
         [1 3]]
    """

    def __init__(
        self,
        degrees: Any,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: tuple[float, float] | None = None,
        fill_value: Any = 0,
    ) -> None:
        owner = "RandomRotation"
        low, high = angles(degrees, owner)
        if isinstance(degrees, (int, float)):
            low, high = -(degrees % 360), degrees % 360
        elif high - low >= 360:
            low, high = -180, 180
        else:
            low, high = low % 360, high % 360
            high += 360 if low > high else 0
        self.degrees = low, high
        self.kind = interpolation_of(resample, "resample", owner)
        self.python_only = self.kind == Inter.ANTIALIAS
        self.expand, self.center = check_bool(expand, "expand", owner), _center(center, owner)
        self.fill = colour(fill_value, owner)

    def parameters(self, height: int, width: int) -> float:
        """Draw the angle."""
        return float(generator().uniform(*self.degrees))

    def apply(self, array: np.ndarray, parameters: float) -> np.ndarray:
        return rotated(array, parameters, self.kind, self.expand, self.center, self.fill, "RandomRotation")

    def apply_pil(self, img: Any, parameters: float) -> Any:
        degrees, code = parameters % 360.0, pil_code(self.kind, "RandomRotation")
        if self.kind == Inter.ANTIALIAS and (degrees not in (0, 90, 180, 270) or self.center):
            raise ValueError(
                f"For 'RandomRotation', 'resample' ANTIALIAS must be about the middle by 0, 90, 180 or 270 degrees, "
                f"but got {degrees} about {self.center}."
            )
        return img.rotate(degrees, code, self.expand, self.center, fillcolor=pil_fill(img, self.fill))

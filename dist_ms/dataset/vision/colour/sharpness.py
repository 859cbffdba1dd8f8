"""Sharper and smoother images."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_number_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import LARGEST, limits, probability
from dist_ms.dataset.vision.colour.factors import blended, pil_enhanced
from dist_ms.dataset.vision.images import image
from dist_ms.dataset.vision.libraries import opencv
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation

_SMOOTH = np.full((3, 3), 1.0 / 13.0, np.float32)
_SMOOTH[1, 1] = np.float32(5.0) / np.float32(13.0)


def sharpened(array: np.ndarray, factor: float, owner: str) -> np.ndarray:
    """Away from, or towards, the smoothed image; pixels at the edges count as smooth already."""
    array = image(array, owner)
    smooth = opencv(owner).filter2D(array, -1, _SMOOTH).reshape(array.shape)
    smooth[[0, -1]], smooth[:, [0, -1]] = array[[0, -1]], array[:, [0, -1]]
    return blended(array, smooth, 1.0 - float(np.float32(factor)), owner).reshape(array.shape)


class AdjustSharpness(ImageOperation, OnDevice):
    """The distance from the smoothed image times a factor.

    Args:
        sharpness_factor: 0 for the smoothed image, 1 for no change, 2 for a sharper one.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.AdjustSharpness(0.0)(np.array([[0, 0, 0], [0, 130, 0], [0, 0, 0]], np.uint8)))
        [[ 0  0  0]
         [ 0 50  0]
         [ 0  0  0]]
    """

    def __init__(self, sharpness_factor: float) -> None:
        self.sharpness_factor = check_number_range(sharpness_factor, "sharpness_factor", "AdjustSharpness", 0, LARGEST)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return sharpened(array, self.sharpness_factor, "AdjustSharpness")


class RandomAdjustSharpness(RandomImageOperation):
    """AdjustSharpness with probability `prob`, else the image as it is.

    Args:
        degree: the factor.
        prob: from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomAdjustSharpness(2.0)(np.zeros((4, 4, 3), np.uint8)).shape
        (4, 4, 3)
    """

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        self.degree = check_number_range(degree, "degree", "RandomAdjustSharpness", 0, LARGEST)
        self.prob = probability(prob, "prob", "RandomAdjustSharpness")

    def parameters(self, height: int, width: int) -> bool:
        """Draw whether to change the image."""
        return bool(generator().random() < self.prob)

    def apply(self, array: np.ndarray, parameters: bool) -> np.ndarray:
        return sharpened(array, self.degree, "RandomAdjustSharpness") if parameters else array


def degrees_of(degrees: Any, owner: str) -> tuple[float, float]:
    """The limits of a factor."""
    if len(check_type(degrees, "degrees", owner, (list, tuple))) != 2:
        raise ValueError(complaint("degrees", owner, "(low, high)", repr(degrees)))
    return limits(degrees, "degrees", owner, 0, LARGEST)


class RandomSharpness(RandomImageOperation):
    """AdjustSharpness with a drawn factor.

    Args:
        degrees: its limits (low, high).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomSharpness((0.5, 1.5))(np.zeros((4, 4, 3), np.uint8)).shape
        (4, 4, 3)
    """

    def __init__(self, degrees: tuple[float, float] = (0.1, 1.9)) -> None:
        self.degrees = degrees_of(degrees, "RandomSharpness")

    def parameters(self, height: int, width: int) -> float:
        """Draw the factor."""
        return float(generator().uniform(*self.degrees))

    def apply(self, array: np.ndarray, parameters: float) -> np.ndarray:
        return sharpened(array, parameters, "RandomSharpness")

    def apply_pil(self, img: Any, parameters: float) -> Any:
        return pil_enhanced(img, "Sharpness", parameters, "RandomSharpness")


class GaussianBlur(ImageOperation, OnDevice):
    """The image smoothed by a Gaussian.

    Args:
        kernel_size: its odd width, or (width, height), in pixels.
        sigma: its standard deviation, or (of x, of y), 0 being found from that side of the kernel. One 0 for both, or
            None, is found from the width.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.GaussianBlur(3)(np.array([[0, 0, 160, 0, 0]], np.uint8)))
        [[ 0 38 84 38  0]]
    """

    def __init__(self, kernel_size: Any, sigma: Any = None) -> None:
        owner = "GaussianBlur"
        check_type(kernel_size, "kernel_size", owner, (int, list, tuple))
        sizes = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
        if len(sizes) != 2:
            raise TypeError(complaint("kernel_size", owner, "an int or (width, height)", repr(kernel_size)))
        for value in sizes:
            if check_int_range(value, "kernel_size", owner, 1, LARGEST) % 2 != 1:
                raise ValueError(complaint("kernel_size", owner, "odd", value))
        check_type(sigma, "sigma", owner, (numbers.Number, list, tuple, type(None)))
        one = sigma is None or isinstance(sigma, numbers.Number)
        sigmas = (sigma or 0,) * 2 if one else tuple(sigma)
        if len(sigmas) != 2:
            raise TypeError(complaint("sigma", owner, "a number or (of x, of y)", repr(sigma)))
        self.kernel_size = sizes
        self.sigma = tuple(
            float(
                np.float32(check_number_range(value, "sigma", owner, 0, LARGEST) or ((size - 1) * 0.5 - 1) * 0.3 + 0.8)
            )
            for value, size in zip(sigmas, sizes[:1] * 2 if one else sizes)
        )

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return (
            opencv("GaussianBlur")
            .GaussianBlur(array, self.kernel_size, sigmaX=self.sigma[0], sigmaY=self.sigma[1])
            .reshape(array.shape)
        )

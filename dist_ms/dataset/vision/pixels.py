"""Files' bytes as pixels, transforms of pixel values and of the order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_number_range, check_type, complaint
from dist_ms.common.dtype import to_numpy
from dist_ms.dataset.vision.arguments import LARGEST
from dist_ms.dataset.vision.images import decode, decode_pil, image, rgb
from dist_ms.dataset.vision.libraries import pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice


class Decode(OnDevice):
    """An image file's bytes as an RGB image (H, W, 3) uint8, or a PIL image.

    Args:
        to_pil: whether to give a PIL image, which Pillow decodes, else an array, which OpenCV does.

    Raises:
        TypeError: when called, if it is not given bytes or a 1-D array.
        RuntimeError: when called, if the bytes are of no known kind of file; ValueError with `to_pil`.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> rows = dataset.map(vision.Decode())  # doctest: +SKIP
    """

    random = False

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = check_bool(to_pil, "to_pil", "Decode")

    def __call__(self, img: Any) -> Any:
        """Decode one file."""
        return decode_pil(img, "Decode") if self.to_pil else decode(img, "Decode")


class HWC2CHW(ImageOperation):
    """The channels first: (H, W, C) to (C, H, W).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.HWC2CHW()(np.zeros((4, 5, 3))).shape
        (3, 4, 5)
    """

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Change each array's order of axes."""
        return [self.on_array(image(array, "HWC2CHW")) for array in arrays]

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(array.transpose(2, 0, 1)) if array.ndim == 3 else array


class Rescale(ImageOperation):
    """x * rescale + shift, in float32.

    Args:
        rescale, shift: numbers.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Rescale(0.5, 1.0)(np.array([[2, 4]])))
        [[2. 3.]]
    """

    def __init__(self, rescale: float, shift: float) -> None:
        self.rescale, self.shift = (
            np.float32(check_number_range(v, n, "Rescale", -LARGEST, LARGEST))
            for v, n in ((rescale, "rescale"), (shift, "shift"))
        )

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Rescale each array, of any shape."""
        return [self._rescaled(array) for array in arrays]

    def _rescaled(self, array: np.ndarray) -> np.ndarray:
        if not self.shift:
            return array.astype(np.float32) * self.rescale
        # One rounding, as of a fused multiplication and addition.
        result = np.multiply(array, self.rescale, dtype=np.float64)
        return np.add(result, self.shift, out=result).astype(np.float32)


class Normalize(ImageOperation, OnDevice):
    """(x - mean) / std for each channel, in float32.

    Args:
        mean, std: one value for every channel, in the unit of the pixels; from 0 to 255, and `std` above 0.
        is_hwc: whether the channels are the last axis, else the first.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Normalize([1.0], [2.0])(np.full((1, 1, 1), 5)))
        [[[2.]]]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> None:
        self.mean, self.std = means_and_deviations(mean, std, "Normalize")
        self.is_hwc = check_bool(is_hwc, "is_hwc", "Normalize")

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return normalized(array, self.mean, self.std, self.is_hwc, "Normalize")


def means_and_deviations(mean: Any, std: Any, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """The channels' means and standard deviations, as float32."""
    for name, values in (("mean", mean), ("std", std)):
        for value in check_type(values, name, owner, (list, tuple)):
            check_number_range(value, name, owner, 0, 255, "[]" if name == "mean" else "(]")
    if len(mean) != len(std):
        raise ValueError(f"For '{owner}', 'mean' and 'std' must be as long, but got {len(mean)} and {len(std)}.")
    return np.asarray(mean, np.float32), np.asarray(std, np.float32)


def normalized(array: np.ndarray, mean: np.ndarray, std: np.ndarray, is_hwc: bool, owner: str) -> np.ndarray:
    """(x - mean) / std of an image."""
    channels = array.shape[-1 if is_hwc else 0] if array.ndim == 3 else 1
    if len(mean) not in (1, channels):
        raise RuntimeError(f"For '{owner}', 'mean' must have {channels} values, but got {len(mean)}.")
    shape = (-1, 1, 1) if array.ndim == 3 and not is_hwc else (-1,)
    result = np.subtract(array, mean.reshape(shape), dtype=np.float32)
    return np.divide(result, std.reshape(shape), out=result)


class ToTensor(ImageOperation):
    """Pixels of 0 to 255 as 0 to 1, channels first.

    Args:
        output_type: the dtype of the result.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.ToTensor()(np.full((1, 1, 3), 255, np.uint8)).ravel())
        [1. 1. 1.]
    """

    def __init__(self, output_type: Any = np.float32) -> None:
        self.dtype = element_type(output_type, "output_type", "ToTensor")

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Change each array."""
        return [self.on_array(image(array, "ToTensor")) for array in arrays]

    def on_array(self, array: np.ndarray) -> np.ndarray:
        array = array[:, :, None] if array.ndim == 2 else array
        scaled = array.transpose(2, 0, 1).astype(np.float32) * np.float32(1 / 255)
        return np.ascontiguousarray(scaled, dtype=self.dtype)

    def on_pil(self, image: Any) -> np.ndarray:
        pixels = np.asarray(image)
        pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
        return np.ascontiguousarray((pixels / 255.0).transpose(2, 0, 1), dtype=self.dtype)


def element_type(value: Any, name: str, owner: str) -> np.dtype:
    """NumPy's dtype of one of mindspore's or NumPy's."""
    if value is None:
        raise TypeError(complaint(name, owner, "a dtype", "None"))
    try:
        return np.dtype(to_numpy(value))
    except (TypeError, ValueError) as error:
        raise TypeError(complaint(name, owner, "a dtype", repr(value))) from error


class Invert(ImageOperation, OnDevice):
    """255 - x, for each channel of an RGB image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Invert()(np.array([[[0, 55, 255]]], np.uint8)))
        [[[255 200   0]]]
    """

    def on_array(self, array: np.ndarray) -> np.ndarray:
        array = rgb(array, "Invert")
        if array.dtype.kind not in "iu" or array.dtype == np.uint8:
            return np.subtract(255, array, dtype=None if array.dtype.kind != "b" else np.uint8).astype(array.dtype)
        bounds = np.iinfo(array.dtype)
        return np.clip(255 - array.astype(np.int64), bounds.min, bounds.max).astype(array.dtype)

    def on_pil(self, image: Any) -> Any:
        return pillow("Invert").ImageOps.invert(image)

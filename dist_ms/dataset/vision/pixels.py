"""Transforms of pixel values and of the order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_number
from dist_ms.common.dtype import to_numpy
from dist_ms.dataset.vision.images import decode, image


class Decode:
    """An image file's bytes as an RGB image (H, W, 3) uint8; needs the package Pillow.

    Args:
        to_pil: must be False.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> rows = dataset.map(vision.Decode())  # doctest: +SKIP
    """

    def __init__(self, to_pil: bool = False) -> None:
        if to_pil:
            raise ValueError("For 'Decode', 'to_pil' must be False, but got True: dist_ms' transforms use arrays.")

    def __call__(self, value: Any) -> np.ndarray:
        return decode(value, "Decode")


class HWC2CHW:
    """The channels first: (H, W, C) to (C, H, W).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.HWC2CHW()(np.zeros((4, 5, 3))).shape
        (3, 4, 5)
    """

    def __call__(self, value: Any) -> np.ndarray:
        array = image(value, "HWC2CHW")
        return np.ascontiguousarray(array.transpose(2, 0, 1)) if array.ndim == 3 else array


class Rescale:
    """x * rescale + shift, in float32.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> print(vision.Rescale(0.5, 1.0)([[2, 4]]))
        [[2. 3.]]
    """

    def __init__(self, rescale: float, shift: float) -> None:
        self.rescale, self.shift = (
            np.float32(check_number(v, n, "Rescale")) for v, n in ((rescale, "rescale"), (shift, "shift"))
        )

    def __call__(self, value: Any) -> np.ndarray:
        return np.asarray(value, np.float32) * self.rescale + self.shift


class Normalize:
    """(x - mean) / std for each channel, in float32.

    Args:
        mean, std: one value for every channel, in the unit of the pixels; `std` above 0.
        is_hwc: whether the channels are the last axis, else the first.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Normalize([1.0], [2.0])(np.full((1, 1, 1), 5)))
        [[[2.]]]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> None:
        if len(mean) != len(std):
            raise ValueError(f"For 'Normalize', 'mean' and 'std' must be as long, but got {len(mean)} and {len(std)}.")
        if not all(s > 0 for s in std):
            raise ValueError(f"For 'Normalize', 'std' must be above 0, but got {std}.")
        self.mean, self.std, self.is_hwc = np.asarray(mean, np.float32), np.asarray(std, np.float32), is_hwc

    def __call__(self, value: Any) -> np.ndarray:
        array = image(value, "Normalize").astype(np.float32)
        channels = array.shape[-1 if self.is_hwc else 0] if array.ndim == 3 else 1
        if len(self.mean) not in (1, channels):
            raise RuntimeError(f"For 'Normalize', 'mean' must have {channels} values, but got {len(self.mean)}.")
        shape = (-1, 1, 1) if array.ndim == 3 and not self.is_hwc else (-1,)
        return (array - self.mean.reshape(shape)) / self.std.reshape(shape)


class ToTensor:
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
        self.dtype = to_numpy(output_type)

    def __call__(self, value: Any) -> np.ndarray:
        array = image(value, "ToTensor")
        array = array[:, :, None] if array.ndim == 2 else array
        scaled = array.astype(np.float32) * np.float32(1 / 255) if array.dtype == np.uint8 else array
        return np.ascontiguousarray(scaled.transpose(2, 0, 1).astype(self.dtype))


class Invert:
    """255 - x.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.Invert()(np.array([[0, 55]], np.uint8)))
        [[255 200]]
    """

    def __call__(self, value: Any) -> np.ndarray:
        return 255 - image(value, "Invert")

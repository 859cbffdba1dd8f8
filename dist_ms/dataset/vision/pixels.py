"""Files' bytes as pixels, transforms of pixel values and of the order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_number_range, check_string, check_type, complaint
from dist_ms.common.dtype import to_numpy
from dist_ms.dataset.transforms.values import TypeCast
from dist_ms.dataset.vision.arguments import LARGEST
from dist_ms.dataset.vision.decoding import decode
from dist_ms.dataset.vision.images import decode_pil, image
from dist_ms.dataset.vision.libraries import is_pil, pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice


class Decode(OnDevice):
    """An image file's bytes as an RGB image (H, W, 3) uint8, or a PIL image.

    Args:
        to_pil: whether to give a PIL image, which Pillow decodes, else an array, which OpenCV does.

    Raises:
        TypeError: when called, if it is not given bytes or a 1-D array.
        RuntimeError: when called, if the bytes are of no known kind of file; ValueError with `to_pil`.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> data = vision.encode_png(np.zeros((4, 5, 3), np.uint8))
        >>> vision.Decode()(data).shape
        (4, 5, 3)
    """

    random = False

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = self.python_only = check_bool(to_pil, "to_pil", "Decode")

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
            return np.asarray(array.astype(np.float32) * self.rescale)
        # One rounding, as of a fused multiplication and addition.
        result = np.asarray(np.multiply(array, self.rescale, dtype=np.float64))
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
    result = array.astype(np.float32)
    if array.ndim == 3 and is_hwc:  # a row at once
        rows, times = result.reshape(len(result), -1), array.shape[1] * (channels if len(mean) == 1 else 1)
        mean, std = np.tile(mean, times), np.tile(std, times)
    else:
        shape = (-1, 1, 1) if array.ndim == 3 else (-1,)
        rows, mean, std = result, mean.reshape(shape), std.reshape(shape)
    np.subtract(rows, mean, out=rows)
    np.divide(rows, std, out=rows)
    return result


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


class NormalizePad(ImageOperation):
    """Normalize, and one more channel of zeros.

    MindSpore 2.10 puts the zeros behind all pixels when the channels are the last axis; here each pixel has its own,
    as its documentation has it.

    Args:
        mean, std, is_hwc: as in Normalize.
        dtype: "float32" or "float16".

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.NormalizePad([1.0], [2.0])(np.full((1, 1, 1), 5)))
        [[[2. 0.]]]
    """

    def __init__(
        self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
    ) -> None:
        self.mean, self.std = means_and_deviations(mean, std, "NormalizePad")
        self.is_hwc = check_bool(is_hwc, "is_hwc", "NormalizePad")
        check_string(dtype, "dtype", "NormalizePad")
        self.dtype = np.dtype(check_string(dtype, "dtype", "NormalizePad", ["float32", "float16"]))

    def on_array(self, array: np.ndarray) -> np.ndarray:
        array = array[:, :, None] if array.ndim == 2 else array
        result = normalized(array, self.mean, self.std, self.is_hwc, "NormalizePad").astype(self.dtype)
        widths = [(0, 0)] * 3
        widths[-1 if self.is_hwc else 0] = (0, 1)
        return np.pad(result, widths)


class LinearTransformation:
    """(x - mean) @ matrix of all of an array's values.

    Args:
        transformation_matrix: square, of as many rows as the array has values.
        mean_vector: as long.

    Raises:
        ValueError: when called, if the array has another number of values.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.LinearTransformation(2 * np.eye(2), np.array([1.0, 1.0]))(np.array([[[3.0, 4.0]]])))
        [[[4. 6.]]]
    """

    random = False
    python_only = True

    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray) -> None:
        owner = "LinearTransformation"
        for name, value in (("transformation_matrix", transformation_matrix), ("mean_vector", mean_vector)):
            check_type(value, name, owner, np.ndarray)
        if transformation_matrix.ndim != 2 or len(set(transformation_matrix.shape)) != 1:
            found = f"of shape {transformation_matrix.shape}"
            raise ValueError(complaint("transformation_matrix", owner, "square", found))
        if mean_vector.shape[0] != transformation_matrix.shape[0]:
            raise ValueError(complaint("mean_vector", owner, "as long as the matrix", len(mean_vector)))
        self.matrix, self.mean = transformation_matrix, mean_vector

    def __call__(self, img: np.ndarray) -> np.ndarray:
        """Transform one array."""
        if not isinstance(img, np.ndarray):
            raise TypeError(complaint("image", "LinearTransformation", "a NumPy array", type(img).__name__))
        if img.size != len(self.matrix):
            wanted = f"of {len(self.matrix)} values"
            raise ValueError(complaint("image", "LinearTransformation", wanted, f"of shape {img.shape}"))
        return ((img.reshape(1, -1) - self.mean) @ self.matrix).reshape(img.shape)


class ToNumpy:
    """A PIL image as an array.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.ToNumpy()(vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))).shape
        (4, 5, 3)
    """

    random = False

    def __call__(self, img: Any) -> np.ndarray:
        """Convert one image."""
        return np.array(img)


_OF_ONE_CHANNEL = "bool int8 int16 int32 uint8 uint16 uint32 float32 float64".split()


class ToPIL:
    """An array as a PIL image.

    Raises:
        TypeError: when called, if it is given something else, or an array of a type that images do not have.
        ValueError: when called, if the array has not two or three dimensions, or more than four channels.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.ToPIL()(np.zeros((4, 5, 3), np.uint8)).size
        (5, 4)
    """

    random = False
    python_only = True

    def __call__(self, img: Any) -> Any:
        """Convert one array."""
        if is_pil(img):
            return img
        if not isinstance(img, np.ndarray):
            raise TypeError(complaint("image", "ToPIL", "a NumPy array or a PIL image", type(img).__name__))
        if img.ndim not in (2, 3) or (img.ndim == 3 and img.shape[2] > 4):
            wanted = "(H, W) or (H, W, C) of at most 4 channels"
            raise ValueError(complaint("image", "ToPIL", wanted, f"of shape {img.shape}"))
        single = img.ndim == 2 or img.shape[2] == 1
        allowed = _OF_ONE_CHANNEL if single else ["uint8"]
        if img.dtype.name not in allowed:
            raise TypeError(complaint("image", "ToPIL", "of type " + ", ".join(allowed), img.dtype))
        return pillow("ToPIL").Image.fromarray(img[:, :, 0] if single and img.ndim == 3 else img)


class ToType(TypeCast):
    """The image's values in another type; another name of `transforms.TypeCast`.

    Args:
        data_type: a dtype of mindspore or NumPy.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.ToType(np.int32)(np.array([1.5])))
        [1]
    """

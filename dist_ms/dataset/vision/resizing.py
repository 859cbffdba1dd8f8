"""Images in another size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_number, check_positive_int, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import INT32, LARGEST, interpolation_of, limits, pair
from dist_ms.dataset.vision.decoding import decode
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.images import rgb
from dist_ms.dataset.vision.libraries import opencv, pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation

_CODES = {Inter.NEAREST: 0, Inter.LINEAR: 1, Inter.BICUBIC: 2, Inter.AREA: 3}  # OpenCV's
_PIL_CODES = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.LINEAR: 2, Inter.BICUBIC: 3}  # Pillow's
_ELEMENTS = ("uint8", "uint16", "int16", "float32", "float64")
_AS_FLOATS = {1: "uint8", 2: "uint16", 4: "float32", 8: "float64"}  # for copies, by the number of bytes
_CHANNELS = 512  # OpenCV's most


def cv_code(kind: Inter, owner: str) -> int:
    """OpenCV's number of a way to interpolate arrays."""
    if kind not in _CODES:
        raise TypeError(f"For '{owner}', 'interpolation' {kind.name} must be given PIL images, but got an array.")
    return _CODES[kind]


def pil_code(kind: Inter, owner: str) -> int:
    """Pillow's number of a way to interpolate PIL images."""
    if kind not in _PIL_CODES:
        raise TypeError(f"For '{owner}', 'interpolation' {kind.name} must be given arrays, but got a PIL image.")
    return _PIL_CODES[kind]


def resize(array: np.ndarray, height: int, width: int, kind: Inter, owner: str = "Resize") -> np.ndarray:
    """The image in another size, of the same type."""
    if kind == Inter.PILCUBIC:
        pixels = rgb(array, owner)
        if pixels.dtype != np.uint8:
            raise RuntimeError(complaint("image", owner, "uint8 for Inter.PILCUBIC", pixels.dtype))
        pil = pillow(owner).Image
        across = pil.fromarray(pixels).resize((width, pixels.shape[0]), pil.Resampling.BICUBIC)
        return np.array(across.resize((width, height), pil.Resampling.BICUBIC))
    code = cv_code(kind, owner)
    if array.shape[:2] == (height, width):
        return array.copy()
    if kind == Inter.NEAREST or array.dtype == np.bool_:
        array, element = array.view(_AS_FLOATS[array.itemsize]), array.dtype
        return _resized(array, height, width, code, owner).view(element)
    if array.dtype.name not in _ELEMENTS:
        raise RuntimeError(complaint("image", owner, "of type " + ", ".join(_ELEMENTS), array.dtype))
    return _resized(array, height, width, code, owner)


def _resized(array: np.ndarray, height: int, width: int, code: int, owner: str) -> np.ndarray:
    """The image in another size, by OpenCV."""
    if array.ndim == 3 and array.shape[2] > _CHANNELS:
        raise RuntimeError(complaint("image", owner, f"of at most {_CHANNELS} channels", array.shape[2]))
    result = opencv(owner).resize(array, (width, height), interpolation=code)
    return result.reshape(height, width, *array.shape[2:])


class Resize(ImageOperation, OnDevice):
    """The image in another size.

    Args:
        size: (height, width), or an int for the shorter side, the other keeping the ratio.
        interpolation: of arrays, Inter.NEAREST, LINEAR (default), BICUBIC, AREA or PILCUBIC (as Pillow does);
            of PIL images NEAREST, LINEAR, BICUBIC or ANTIALIAS.

    Raises:
        TypeError: when called, for an interpolation that an array, or a PIL image, cannot have.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.Resize(8)(np.zeros((16, 32, 3), np.uint8)).shape
        (8, 16, 3)
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        if interpolation is None:
            raise KeyError("For 'Resize', 'interpolation' must be an Inter, but got None.")
        self.size, self.shorter = size_or_shorter(size, "Resize")
        self.kind = interpolation_of(interpolation, "interpolation", "Resize")
        self.python_only = self.kind == Inter.ANTIALIAS

    def wanted(self, height: int, width: int) -> tuple[int, int]:
        """The size that an image of `height` and `width` gets."""
        return self.size or keep_ratio(height, width, self.shorter)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        return resize(array, *self.wanted(*array.shape[:2]), self.kind)

    def on_pil(self, image: Any) -> Any:
        code = pil_code(self.kind, "Resize")
        width, height = image.size
        if self.size is None and min(height, width) == self.shorter:
            return image
        size = self.size or pil_ratio(height, width, self.shorter)
        return image.resize(size[::-1], code)


def size_or_shorter(size: Any, owner: str) -> tuple[tuple[int, int] | None, int | None]:
    """(height, width) and None, or None and the length of the shorter side."""
    if isinstance(size, (int, list, tuple)) and not isinstance(size, bool):
        sizes = pair(size, "size", owner)
        return (None, sizes[0]) if isinstance(size, int) else (sizes, None)
    raise TypeError(complaint("size", owner, "an int or two ints", repr(size)))


def keep_ratio(height: int, width: int, shorter: int) -> tuple[int, int]:
    """The size whose shorter side is `shorter`; the other side, found in float32, may be short of it by rounding."""
    if height < width:
        return shorter, int(np.float32(width) / np.float32(height) * np.float32(shorter))
    return int(np.float32(height) / np.float32(width) * np.float32(shorter)), shorter


def pil_ratio(height: int, width: int, shorter: int) -> tuple[int, int]:
    """The same by way of the ratio, which rounds otherwise in places."""
    ratio = width / height
    return (int(shorter / ratio), shorter) if width < height else (shorter, int(shorter * ratio))


class RandomResizedCrop(RandomImageOperation):
    """A part of the image of drawn size and shape, in another size.

    Args:
        size: the result's (height, width), or an int for both.
        scale: the part's area, as limits of its share of the image's.
        ratio: limits of the part's width / height, drawn on a logarithmic scale.
        interpolation: as in Resize.
        max_attempts: how often to draw a part before the central one is taken.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomResizedCrop(4)(np.zeros((16, 32, 3), np.uint8)).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        owner = type(self).__name__
        self.size, self.kind = pair(size, "size", owner), interpolation_of(interpolation, "interpolation", owner)
        self.python_only = self.kind == Inter.ANTIALIAS
        self.scale = limits(scale, "scale", owner, 0, LARGEST)
        self.ratio = limits(ratio, "ratio", owner, 0, LARGEST)
        for name, value in (("scale", self.scale[1]), ("ratio", self.ratio[0])):
            if not check_number(value, name, owner) > 0:
                raise ValueError(complaint(name, owner, "above 0", repr(value)))
        self.attempts = check_positive_int(max_attempts, "max_attempts", owner)
        if self.attempts > INT32:
            raise ValueError(complaint("max_attempts", owner, f"at most {INT32}", max_attempts))

    def parameters(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Draw a part: top, left, height, width."""
        draw = generator()
        low, high = self.ratio
        for _ in range(self.attempts):
            area = height * width * draw.uniform(*self.scale)
            ratio = math.exp(draw.uniform(math.log(low), math.log(high)))
            w = round(math.sqrt(area * ratio))
            h = round(w / ratio)
            if 0 < w <= width and 0 < h <= height:
                return int(draw.integers(height - h + 1)), int(draw.integers(width - w + 1)), h, w
        w, h = min(width, round(height * high)), min(height, round(width / low))
        return round((height - h) / 2), round((width - w) / 2), h, w

    def apply(self, array: np.ndarray, parameters: tuple[int, int, int, int]) -> np.ndarray:
        top, left, height, width = parameters
        return resize(array[top : top + height, left : left + width], *self.size, self.kind, type(self).__name__)

    def apply_pil(self, image: Any, parameters: tuple[int, int, int, int]) -> Any:
        code = pil_code(self.kind, type(self).__name__)
        top, left, height, width = parameters
        return image.crop((left, top, left + width, top + height)).resize(self.size[::-1], code)


class RandomCropDecodeResize(RandomResizedCrop):
    """RandomResizedCrop of an image file's bytes.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> vision.RandomCropDecodeResize(224).size
        (224, 224)
    """

    def __call__(self, image: Any) -> np.ndarray:
        """Decode, crop and resize."""
        if isinstance(image, np.ndarray) and image.dtype != np.uint8 and image.dtype.kind != "S":
            raise TypeError(complaint("image", "RandomCropDecodeResize", "a file's bytes, uint8", image.dtype))
        return super().__call__(decode(image, "RandomCropDecodeResize"))


class ResizedCrop(ImageOperation, OnDevice):
    """A part of the image in another size.

    Args:
        top, left, height, width: the part.
        size: the result's (height, width), or an int for both.
        interpolation: as in Resize.

    Raises:
        RuntimeError: when called, if the image does not hold the part.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.ResizedCrop(0, 0, 4, 4, (8, 9))(np.zeros((5, 6, 3), np.uint8)).shape
        (8, 9, 3)
    """

    def __init__(
        self, top: int, left: int, height: int, width: int, size: Any, interpolation: Inter = Inter.BILINEAR
    ) -> None:
        owner = "ResizedCrop"
        self.top, self.left = (check_int_range(v, n, owner, 0, INT32) for v, n in ((top, "top"), (left, "left")))
        self.height, self.width = (
            check_int_range(v, n, owner, 1, INT32) for v, n in ((height, "height"), (width, "width"))
        )
        self.size, self.kind = pair(size, "size", owner), interpolation_of(interpolation, "interpolation", owner)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        bottom, right = self.top + self.height, self.left + self.width
        if bottom > array.shape[0] or right > array.shape[1]:
            part = self.top, self.left, self.height, self.width
            raise RuntimeError(f"For 'ResizedCrop', the part must lie in the image {array.shape}, but got {part}.")
        return resize(array[self.top : bottom, self.left : right], *self.size, self.kind, "ResizedCrop")


class RandomResize(RandomImageOperation):
    """The image in another size, by a drawn interpolation: NEAREST, LINEAR, BICUBIC or AREA.

    Args:
        size: (height, width), or an int for the shorter side, the other keeping the ratio.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandomResize(8)(np.zeros((16, 32, 3), np.uint8)).shape
        (8, 16, 3)
    """

    def __init__(self, size: Any) -> None:
        self.size, self.shorter = size_or_shorter(size, "RandomResize")

    def parameters(self, height: int, width: int) -> Inter:
        """Draw the interpolation."""
        return list(_CODES)[int(generator().integers(len(_CODES)))]

    def apply(self, array: np.ndarray, parameters: Inter) -> np.ndarray:
        size = self.size or keep_ratio(*array.shape[:2], self.shorter)
        return resize(array, *size, parameters, "RandomResize")

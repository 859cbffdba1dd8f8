"""Images in other spaces of colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import probability
from dist_ms.dataset.vision.enums import ConvertMode
from dist_ms.dataset.vision.libraries import is_pil, opencv, pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation

_OF_GREY = ConvertMode.COLOR_GRAY2BGR, ConvertMode.COLOR_GRAY2BGRA


class ConvertColor(ImageOperation, OnDevice):
    """The image with its channels in another order, with or without one for opacity, or grey.

    Args:
        convert_mode: a ConvertMode, such as ConvertMode.COLOR_BGR2RGB.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.ConvertColor(vision.ConvertMode.COLOR_BGR2RGB)(np.array([[[1, 2, 3]]], np.uint8)))
        [[[3 2 1]]]
    """

    def __init__(self, convert_mode: ConvertMode) -> None:
        self.convert_mode = check_type(convert_mode, "convert_mode", "ConvertColor", ConvertMode)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        found, is_grey = array.shape[2] if array.ndim == 3 else 1, self.convert_mode in _OF_GREY
        if found not in ((1,) if is_grey else (3, 4)):
            wanted = "grey" if is_grey else "of 3 or 4 channels"
            raise RuntimeError(complaint("image", "ConvertColor", wanted, f"of shape {array.shape}"))
        if array.dtype.name not in ("uint8", "uint16", "float32"):
            raise RuntimeError(complaint("image", "ConvertColor", "of uint8, uint16 or float32", array.dtype))
        return opencv("ConvertColor").cvtColor(np.ascontiguousarray(array), int(self.convert_mode))


def _channels_apart(images: Any, is_hwc: bool, owner: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The three channels of images, as float64, and which axis they were."""
    if not isinstance(images, np.ndarray):
        raise TypeError(complaint("image", owner, "a NumPy array", type(images).__name__))
    axis = -1 if is_hwc else -3
    if images.ndim not in (3, 4) or images.shape[axis] != 3:
        raise TypeError(complaint("image", owner, "one or a batch of 3 channels", f"of shape {images.shape}"))
    return (*np.moveaxis(images.astype(np.float64), axis, 0), axis)


class RgbToHsv:
    """RGB values of 0 to 1 as hue, saturation and value.

    Args:
        is_hwc: whether the channels are the last axis, else the first of an image.

    Raises:
        TypeError: when called, if it is not given one image, or a batch, of three channels.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.RgbToHsv(is_hwc=True)(np.array([[[0.0, 0.5, 0.0]]])).round(4))
        [[[0.3333 1.     0.5   ]]]
    """

    random = False
    python_only = True

    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = check_bool(is_hwc, "is_hwc", "RgbToHsv")

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """Convert one image or a batch."""
        r, g, b, axis = _channels_apart(images, self.is_hwc, "RgbToHsv")
        top, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
        width, grey = top - low, top == low
        with np.errstate(divide="ignore", invalid="ignore"):
            saturation = np.where(grey, 0.0, width / top)
            red, green, blue = (top - r) / width, (top - g) / width, (top - b) / width
            sixths = np.where(r == top, blue - green, np.where(g == top, 2.0 + red - blue, 4.0 + green - red))
            hue = np.where(grey, 0.0, (sixths / 6.0) % 1.0)
        return np.stack((hue, saturation, top), axis=axis)


class HsvToRgb:
    """Hue, saturation and value, each of 0 to 1, as RGB values.

    Args:
        is_hwc: whether the channels are the last axis, else the first of an image.

    Raises:
        TypeError: when called, if it is not given one image, or a batch, of three channels.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.HsvToRgb(is_hwc=True)(np.array([[[0.5, 1.0, 0.8]]])))
        [[[0.  0.8 0.8]]]
    """

    random = False
    python_only = True

    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = check_bool(is_hwc, "is_hwc", "HsvToRgb")

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """Convert one image or a batch."""
        hue, saturation, value, axis = _channels_apart(images, self.is_hwc, "HsvToRgb")
        sector = np.trunc(hue * 6.0)
        part = hue * 6.0 - sector
        p, q = value * (1.0 - saturation), value * (1.0 - saturation * part)
        t, sector = value * (1.0 - saturation * (1.0 - part)), sector.astype(np.int64) % 6
        choices = (value, t, p), (q, value, p), (p, value, t), (p, q, value), (t, p, value), (value, p, q)
        channels = [np.choose(sector, [choice[c] for choice in choices]) for c in range(3)]
        return np.stack([np.where(saturation == 0.0, value, channel) for channel in channels], axis=axis)


def required_pil(img: Any, owner: str) -> Any:
    """A PIL image."""
    if not is_pil(img):
        wanted = "a PIL image (Decode(to_pil=True) and ToPIL() make them)"
        raise TypeError(complaint("image", owner, wanted, type(img).__name__))
    return img


def grey_pil(img: Any, channels: int, owner: str) -> Any:
    """A PIL image in grey, of one or three channels."""
    grey = img.convert("L")
    return grey if channels == 1 else pillow(owner).Image.merge("RGB", (grey,) * 3)


class Grayscale:
    """A PIL image in grey.

    Args:
        num_output_channels: 1, or 3 alike.

    Raises:
        TypeError: when called, if it is not given a PIL image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import transforms, vision
        >>> grey = transforms.Compose([vision.ToPIL(), vision.Grayscale(3), vision.ToNumpy()])
        >>> print(grey(np.array([[[255, 0, 0]]], np.uint8))[0])
        [[[76 76 76]]]
    """

    random = False
    python_only = True

    def __init__(self, num_output_channels: int = 1) -> None:
        self.channels = check_int(num_output_channels, "num_output_channels", "Grayscale")
        if self.channels not in (1, 3):
            raise ValueError(complaint("num_output_channels", "Grayscale", "1 or 3", num_output_channels))

    def __call__(self, img: Any) -> Any:
        """Convert one image."""
        return grey_pil(required_pil(img, "Grayscale"), self.channels, "Grayscale")


class RandomGrayscale(RandomImageOperation):
    """A PIL image in grey, of as many channels as before, with probability `prob`, else as it is.

    Args:
        prob: from 0 to 1.

    Raises:
        TypeError: when called, if it is not given a PIL image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import transforms, vision
        >>> grey = transforms.Compose([vision.ToPIL(), vision.RandomGrayscale(1.0), vision.ToNumpy()])
        >>> print(grey(np.array([[[255, 0, 0]]], np.uint8))[0])
        [[[76 76 76]]]
    """

    python_only = True

    def __init__(self, prob: float = 0.1) -> None:
        self.prob = probability(prob, "prob", "RandomGrayscale")

    def parameters(self, height: int, width: int) -> bool:
        """Draw whether to convert."""
        return bool(generator().random() < self.prob)

    def __call__(self, img: Any) -> Any:
        """Convert one image, or not."""
        chosen = self.parameters(*required_pil(img, "RandomGrayscale").size[::-1])
        return grey_pil(img, 1 if img.mode == "L" else 3, "RandomGrayscale") if chosen else img

"""AdjustHue, RGBToHSV and their kin: colors of images changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_dimensions
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating
from dist_ms.ops.primitive import Undifferentiable

__all__ = ["AdjustHue", "AdjustSaturation", "HSVToRGB", "RGBToHSV"]


def _hue(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hue in sixths of the color circle, the chroma and the largest color of colors (..., 3)."""
    top = x.max(axis=-1)
    chroma = top - x.min(axis=-1)
    r, g, b = np.moveaxis(x, -1, 0)
    safe = np.where(chroma > 0, chroma, 1)
    # The hue is counted from the color that is largest.
    sixth = np.where(top == r, (g - b) / safe, np.where(top == g, 2 + (b - r) / safe, 4 + (r - g) / safe))
    return sixth, chroma, top


def _colored(sixth: np.ndarray, chroma: np.ndarray, top: np.ndarray) -> np.ndarray:
    """The colors (..., 3) with a hue, a chroma and a largest color."""
    turned = [(n + sixth) % 6 for n in (5, 3, 1)]
    return np.stack([top - chroma * np.clip(np.minimum(k, 4 - k), 0, 1) for k in turned], axis=-1)


class AdjustHue(Undifferentiable):
    """Images with their hues turned.

    Call:
        image (Tensor): floats (..., 3): red, green, blue.
        delta (Tensor): how far, in turns of the color circle.

    Raises:
        TypeError: if an argument holds no floats.
        ValueError: if `image` has no three colors, or `delta` is no single number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.AdjustHue()(ms.Tensor([[[1.0, 0.0, 0.0]]]), ms.Tensor(0.5)))
        [[[0. 1. 1.]]]
    """

    def forward(self, image: np.ndarray, delta: Any) -> np.ndarray:
        x = self.colors(image)
        sixth, chroma, top = _hue(x)
        sixth = sixth + x.dtype.type(6 * self.amount(delta, "delta"))
        return _colored(sixth, chroma, top).astype(x.dtype)

    def colors(self, image: Any) -> np.ndarray:
        """The image, checked."""
        x = floating(image, "image", self.name, complex_too=False)
        if x.ndim < 3 or x.shape[-1] != 3:
            raise ValueError(f"For '{self.name}', 'image' must be (..., H, W, 3), but got shape {x.shape}.")
        return x

    def amount(self, value: Any, argument: str) -> float:
        """The number of an argument, checked."""
        plain = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if plain.size != 1 or plain.dtype.kind not in "fV":
            raise ValueError(f"For '{self.name}', '{argument}' must be one float, but got {value!r}.")
        return float(plain.reshape(()))


class AdjustSaturation(AdjustHue):
    """Images with their saturations multiplied, up to full color.

    Call:
        image (Tensor): floats (..., 3): red, green, blue.
        scale (Tensor): the factor.

    Raises:
        TypeError: if an argument holds no floats.
        ValueError: if `image` has no three colors, or `scale` is no single number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.AdjustSaturation()(ms.Tensor([[[1.0, 0.5, 0.0]]]), ms.Tensor(0.0)))
        [[[1. 1. 1.]]]
    """

    def forward(self, image: np.ndarray, scale: Any) -> np.ndarray:
        x = self.colors(image)
        top = x.max(axis=-1, keepdims=True)
        chroma = top - x.min(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            full = np.where(chroma > 0, top / chroma, 1)
        factor = np.clip(x.dtype.type(self.amount(scale, "scale")), 0, full)
        return (top - factor * (top - x)).astype(x.dtype)


class RGBToHSV(AdjustHue):
    """Hue (in turns), saturation and value of colors in [0, 1].

    Call:
        images (Tensor): floats (N, H, W, 3): red, green, blue.

    Raises:
        TypeError: if `images` holds no floats.
        ValueError: if it has not 4 dimensions or not three colors.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.RGBToHSV()(ms.Tensor([[[[0.25, 0.5, 0.5]]]])))
        [[[[0.5 0.5 0.5]]]]
    """

    def forward(self, images: np.ndarray) -> np.ndarray:
        x = self.four(images)
        sixth, chroma, top = _hue(x)
        saturation = np.where(top > 0, chroma / np.where(top > 0, top, 1), 0)
        return np.stack([np.where(chroma > 0, sixth % 6 / 6, 0), saturation, top], axis=-1).astype(images.dtype)

    def four(self, images: Any) -> np.ndarray:
        """The images, checked, in float32 at least."""
        x = self.colors(images)
        check_dimensions(x, "images", self.name, 4)
        return x.astype(np.float32) if x.dtype.itemsize < 4 else x


class HSVToRGB(RGBToHSV):
    """Colors of hues (in turns), saturations and values in [0, 1]: the inverse of `RGBToHSV`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.HSVToRGB()(ms.Tensor([[[[0.5, 0.5, 0.5]]]])))
        [[[[0.25 0.5  0.5 ]]]]
    """

    def forward(self, images: np.ndarray) -> np.ndarray:
        hue, saturation, value = np.moveaxis(self.four(images), -1, 0)
        return _colored(6 * hue, saturation * value, value).astype(images.dtype)

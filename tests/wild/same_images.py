"""Random transforms of images that draw from the image itself, the same in both frameworks, for a comparison of losses.

Each framework draws crops, flips and colours from a generator of its own. Here each is the framework's own transform
without chance, whose arguments follow from the bytes of the image, whatever thread or process carries it out.
"""

from __future__ import annotations

import zlib

import numpy as np
from mindspore.dataset import vision
from PIL import Image


class Drawn:
    """A transform of an image, by numbers that follow from the image's bytes."""

    def __call__(self, image):
        pixels = np.asarray(image)
        drawn = self.transformed(pixels, np.random.RandomState(zlib.crc32(np.ascontiguousarray(pixels).tobytes())))
        return Image.fromarray(drawn) if isinstance(image, Image.Image) else drawn

    def transformed(self, image: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """The image's transform.

        Args:
            image: height, width and channels, or an encoded file.
            rng: to draw from.
        """
        raise NotImplementedError


class RandomResizedCrop(Drawn):
    """A part of the image with a drawn area and aspect, resized."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), interpolation=vision.Inter.BILINEAR, *_, **__):
        self.scale, self.ratio = scale, ratio
        self.resize = vision.Resize((size, size) if isinstance(size, int) else tuple(size), interpolation)

    def transformed(self, image, rng):
        height, width = image.shape[:2]
        area, aspect = height * width * rng.uniform(*self.scale), np.exp(rng.uniform(*np.log(self.ratio)))
        high = min(max(round(np.sqrt(area / aspect)), 1), height)
        wide = min(max(round(np.sqrt(area * aspect)), 1), width)
        corner = int(rng.randint(height - high + 1)), int(rng.randint(width - wide + 1))
        return self.resize(vision.Crop(corner, (high, wide))(image))


class RandomCropDecodeResize(RandomResizedCrop):
    """A part of an encoded image, resized."""

    def transformed(self, image, rng):
        return super().transformed(vision.Decode()(image), rng)


class RandomCrop(Drawn):
    """A part of the image with a given size."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=vision.Border.CONSTANT):
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.pad = vision.Pad(padding, fill_value, padding_mode) if padding else None

    def transformed(self, image, rng):
        image = self.pad(image) if self.pad else image
        corner = [int(rng.randint(length - part + 1)) for length, part in zip(image.shape, self.size, strict=False)]
        return vision.Crop(tuple(corner), self.size)(image)


class RandomHorizontalFlip(Drawn):
    """The image or its mirror image."""

    flip = vision.HorizontalFlip

    def __init__(self, prob=0.5):
        self.prob = prob

    def transformed(self, image, rng):
        return self.flip()(image) if rng.random_sample() < self.prob else image


class RandomVerticalFlip(RandomHorizontalFlip):
    """The image or itself upside down."""

    flip = vision.VerticalFlip


class RandomColorAdjust(Drawn):
    """The image with another brightness, contrast, saturation and hue."""

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        wanted = zip((brightness, contrast, saturation, hue), (1, 1, 1, 0), strict=True)
        self.ranges = [self.around(value, middle) for value, middle in wanted]

    @staticmethod
    def around(value, middle):
        """The range that a number stands for."""
        if isinstance(value, tuple | list):
            return tuple(value)
        return (max(middle - value, 0), middle + value) if middle else (-value, value)

    def transformed(self, image, rng):
        made = vision.AdjustBrightness, vision.AdjustContrast, vision.AdjustSaturation, vision.AdjustHue
        for adjust, (low, high) in zip(made, self.ranges, strict=True):
            image = adjust(float(rng.uniform(low, high)))(image) if low != high else image
        return image


def draw_from_images() -> None:
    """Put these transforms in the place of the frameworks' own."""
    flips = RandomHorizontalFlip, RandomVerticalFlip
    for made in (RandomResizedCrop, RandomCropDecodeResize, RandomCrop, *flips, RandomColorAdjust):
        setattr(vision, made.__name__, made)
        for older in ("c_transforms", "py_transforms"):
            if hasattr(getattr(vision, older, None), made.__name__):
                setattr(getattr(vision, older), made.__name__, made)

"""Transforms of images, arrays of (H, W, C) or (H, W), for `Dataset.map`."""

from dist_ms.dataset.vision.cropping import CenterCrop, Crop, RandomCrop
from dist_ms.dataset.vision.enums import Border, Inter
from dist_ms.dataset.vision.flipping import HorizontalFlip, RandomHorizontalFlip, RandomVerticalFlip, VerticalFlip
from dist_ms.dataset.vision.padding import Pad
from dist_ms.dataset.vision.pixels import HWC2CHW, Decode, Invert, Normalize, Rescale, ToTensor
from dist_ms.dataset.vision.refused import *
from dist_ms.dataset.vision.refused import __all__ as _refused
from dist_ms.dataset.vision.resizing import RandomCropDecodeResize, RandomResizedCrop, Resize

__all__ = [
    "HWC2CHW",
    "Border",
    "CenterCrop",
    "Crop",
    "Decode",
    "HorizontalFlip",
    "Inter",
    "Invert",
    "Normalize",
    "Pad",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
    "ToTensor",
    "VerticalFlip",
    *_refused,
]

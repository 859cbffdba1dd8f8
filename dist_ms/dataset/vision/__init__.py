"""Transforms of images, for `Dataset.map` or called by themselves.

Arrays of (H, W, C) or (H, W) go through OpenCV or NumPy, with the numbers of MindSpore's compiled operations; PIL
images through Pillow, as on MindSpore's PIL path.
"""

import typing as _typing

from dist_ms.common.late_names import declared as _declared
from dist_ms.common.late_names import late_names as _late_names
from dist_ms.dataset.transforms.purity import not_random

# What loads when it is first used.
if _typing.TYPE_CHECKING:
    from dist_ms.dataset.vision import transforms
    from dist_ms.dataset.vision.batches.mixing import CutMixBatch, MixUp, MixUpBatch
    from dist_ms.dataset.vision.boxes.augmenting import BoundingBoxAugment
    from dist_ms.dataset.vision.boxes.cropping import RandomCropWithBBox, RandomResizedCropWithBBox
    from dist_ms.dataset.vision.boxes.flipping import RandomHorizontalFlipWithBBox, RandomVerticalFlipWithBBox
    from dist_ms.dataset.vision.boxes.resizing import RandomResizeWithBBox, ResizeWithBBox
    from dist_ms.dataset.vision.colour.adjusting import (
        AdjustBrightness,
        AdjustContrast,
        AdjustGamma,
        AdjustHue,
        AdjustSaturation,
    )
    from dist_ms.dataset.vision.colour.histograms import AutoContrast, Equalize, RandomAutoContrast, RandomEqualize
    from dist_ms.dataset.vision.colour.jitter import RandomColor, RandomColorAdjust, RandomLighting
    from dist_ms.dataset.vision.colour.levels import (
        Invert,
        Posterize,
        RandomInvert,
        RandomPosterize,
        RandomSolarize,
        Solarize,
    )
    from dist_ms.dataset.vision.colour.sharpness import (
        AdjustSharpness,
        GaussianBlur,
        RandomAdjustSharpness,
        RandomSharpness,
    )
    from dist_ms.dataset.vision.colour.spaces import ConvertColor, Grayscale, HsvToRgb, RandomGrayscale, RgbToHsv
    from dist_ms.dataset.vision.cropping import CenterCrop, Crop, RandomCrop
    from dist_ms.dataset.vision.enums import (
        AutoAugmentPolicy,
        Border,
        ConvertMode,
        ImageBatchFormat,
        ImageReadMode,
        Inter,
        SliceMode,
    )
    from dist_ms.dataset.vision.files.images import encode_jpeg, encode_png, read_image, write_jpeg, write_png
    from dist_ms.dataset.vision.files.raw import get_image_num_channels, get_image_size, read_file, write_file
    from dist_ms.dataset.vision.flipping import HorizontalFlip, RandomHorizontalFlip, RandomVerticalFlip, VerticalFlip
    from dist_ms.dataset.vision.geometry.affine import Affine, RandomAffine
    from dist_ms.dataset.vision.geometry.erasing import CutOut, Erase, RandomErasing
    from dist_ms.dataset.vision.geometry.patches import FiveCrop, SlicePatches, TenCrop
    from dist_ms.dataset.vision.geometry.perspective import Perspective, RandomPerspective
    from dist_ms.dataset.vision.geometry.rotation import RandomRotation, Rotate
    from dist_ms.dataset.vision.padding import Pad, PadToSize
    from dist_ms.dataset.vision.pixels import (
        HWC2CHW,
        Decode,
        LinearTransformation,
        Normalize,
        NormalizePad,
        Rescale,
        ToNumpy,
        ToPIL,
        ToTensor,
        ToType,
    )
    from dist_ms.dataset.vision.policies.automatic import AutoAugment, RandAugment, TrivialAugmentWide
    from dist_ms.dataset.vision.policies.choosing import RandomSelectSubpolicy, UniformAugment
    from dist_ms.dataset.vision.refused import DecodeVideo, VideoDecoder, read_video, read_video_timestamps
    from dist_ms.dataset.vision.resizing import (
        RandomCropDecodeResize,
        RandomResize,
        RandomResizedCrop,
        Resize,
        ResizedCrop,
    )

__all__ = ["not_random", *sorted(set(_declared(__name__)) - {"transforms"})]

_late_names(__name__)

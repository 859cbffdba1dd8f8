"""Transforms of images, for `Dataset.map` or called by themselves.

Arrays of (H, W, C) or (H, W) go through OpenCV or NumPy, with the numbers of MindSpore's compiled operations; PIL
images through Pillow, as on MindSpore's PIL path.
"""

from dist_ms.dataset.declared import declared as _declared
from dist_ms.dataset.transforms.purity import not_random

__getattr__, __dir__, _LATER = _declared(
    __name__,
    {
        "enums": "AutoAugmentPolicy Border ConvertMode ImageBatchFormat ImageReadMode Inter SliceMode",
        "cropping": "CenterCrop Crop RandomCrop",
        "flipping": "HorizontalFlip RandomHorizontalFlip RandomVerticalFlip VerticalFlip",
        "padding": "Pad PadToSize",
        "pixels": "Decode HWC2CHW LinearTransformation Normalize NormalizePad Rescale ToNumpy ToPIL ToTensor ToType",
        "resizing": "RandomCropDecodeResize RandomResize RandomResizedCrop Resize ResizedCrop",
        "colour.adjusting": "AdjustBrightness AdjustContrast AdjustGamma AdjustHue AdjustSaturation",
        "colour.histograms": "AutoContrast Equalize RandomAutoContrast RandomEqualize",
        "colour.jitter": "RandomColor RandomColorAdjust RandomLighting",
        "colour.levels": "Invert Posterize RandomInvert RandomPosterize RandomSolarize Solarize",
        "colour.sharpness": "AdjustSharpness GaussianBlur RandomAdjustSharpness RandomSharpness",
        "colour.spaces": "ConvertColor Grayscale HsvToRgb RandomGrayscale RgbToHsv",
        "geometry.affine": "Affine RandomAffine",
        "geometry.perspective": "Perspective RandomPerspective",
        "geometry.rotation": "RandomRotation Rotate",
        "geometry.patches": "FiveCrop SlicePatches TenCrop",
        "geometry.erasing": "CutOut Erase RandomErasing",
        "boxes.augmenting": "BoundingBoxAugment",
        "boxes.cropping": "RandomCropWithBBox RandomResizedCropWithBBox",
        "boxes.flipping": "RandomHorizontalFlipWithBBox RandomVerticalFlipWithBBox",
        "boxes.resizing": "RandomResizeWithBBox ResizeWithBBox",
        "batches.mixing": "CutMixBatch MixUp MixUpBatch",
        "policies.automatic": "AutoAugment RandAugment TrivialAugmentWide",
        "policies.choosing": "RandomSelectSubpolicy UniformAugment",
        "files.images": "encode_jpeg encode_png read_image write_jpeg write_png",
        "files.raw": "get_image_num_channels get_image_size read_file write_file",
        "refused": "DecodeVideo VideoDecoder read_video read_video_timestamps",
    },
    modules="transforms",
)

__all__ = ["not_random", *_LATER]

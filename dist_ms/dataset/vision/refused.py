"""Image transforms that dist_ms has not built; making one of them raises an error."""

from dist_ms.common.refusing import refused

_NAMES = """
AdjustBrightness AdjustContrast AdjustGamma AdjustHue AdjustSaturation AdjustSharpness Affine AutoAugment AutoContrast
BoundingBoxAugment ConvertColor CutMixBatch CutOut DecodeVideo Equalize Erase FiveCrop GaussianBlur Grayscale HsvToRgb
LinearTransformation MixUp MixUpBatch NormalizePad PadToSize Perspective Posterize RandAugment RandomAdjustSharpness
RandomAffine RandomAutoContrast RandomColor RandomColorAdjust RandomCropWithBBox RandomEqualize RandomErasing
RandomGrayscale RandomHorizontalFlipWithBBox RandomInvert RandomLighting RandomPerspective RandomPosterize RandomResize
RandomResizeWithBBox RandomResizedCropWithBBox RandomRotation RandomSelectSubpolicy RandomSharpness RandomSolarize
RandomVerticalFlipWithBBox ResizeWithBBox ResizedCrop RgbToHsv Rotate SlicePatches Solarize TenCrop ToPIL
TrivialAugmentWide UniformAugment VideoDecoder
"""

_REFUSED = {
    name: refused(name, "has not built this image transform", "Give 'map' a Python function of the array instead.")
    for name in _NAMES.split()
}
globals().update(_REFUSED)

__all__ = sorted(_REFUSED)

"""Transforms without random numbers, or of one possible draw, and the images they are given.

What MindSpore 2.10 makes of them is in recorded.txt.
"""

import numpy as np

_RAMP = np.add.outer(np.arange(5) * 31, np.arange(6) * 17)[..., None] + [0, 40, 75]
IMAGE = np.where(np.arange(6)[:, None] % 4 == 3, 255 - _RAMP, _RAMP).astype(np.uint8)
BOXES = np.array([[1, 1, 3, 2], [0, 0, 6, 5], [4, 3, 1, 2]], np.float32)


def transforms_of_images(v):
    """By name, transforms of one image; `v` is the vision module."""
    inter, border, mode = v.Inter, v.Border, v.ConvertMode
    corners = [(0, 0), (5, 0), (5, 4), (0, 4)]
    moved = [(1, 0), (5, 1), (4, 4), (0, 3)]
    found = {
        "Resize": v.Resize((3, 4)),
        "Resize one size": v.Resize(4),
        "Resize nearest": v.Resize((7, 3), inter.NEAREST),
        "Resize area": v.Resize((2, 3), inter.AREA),
        "Resize cubic": v.Resize((8, 5), inter.BICUBIC),
        "Resize pilcubic": v.Resize((3, 8), inter.PILCUBIC),
        "RandomResizedCrop": v.RandomResizedCrop((3, 4), (1.0, 1.0), (6 / 5, 6 / 5)),
        "ResizedCrop": v.ResizedCrop(1, 2, 3, 4, (5, 3)),
        "Pad": v.Pad((1, 2, 0, 1), (1, 2, 3)),
        "Pad edge": v.Pad(1, 0, border.EDGE),
        "Pad reflect": v.Pad((1, 2), 0, border.REFLECT),
        "Pad symmetric": v.Pad((1, 2), 0, border.SYMMETRIC),
        "PadToSize": v.PadToSize((7, 9), None, 5),
        "PadToSize offset": v.PadToSize(8, (1, 2), (1, 2, 3)),
        "Crop": v.Crop((1, 2), (3, 2)),
        "CenterCrop": v.CenterCrop((3, 4)),
        "CenterCrop larger": v.CenterCrop((8, 3)),
        "HorizontalFlip": v.HorizontalFlip(),
        "VerticalFlip": v.VerticalFlip(),
        "RandomHorizontalFlip": v.RandomHorizontalFlip(1.0),
        "RandomVerticalFlip": v.RandomVerticalFlip(1.0),
        "Rescale": v.Rescale(1 / 127.5, -1.0),
        "Normalize": v.Normalize([121.0, 115.0, 100.0], [70.0, 68.0, 71.0]),
        "HWC2CHW": v.HWC2CHW(),
        "ToTensor": v.ToTensor(),
        "ToTensor float16": v.ToTensor(np.float16),
        "AdjustBrightness": v.AdjustBrightness(1.7),
        "AdjustContrast": v.AdjustContrast(0.4),
        "AdjustSaturation": v.AdjustSaturation(2.2),
        "AdjustHue": v.AdjustHue(0.2),
        "AdjustGamma": v.AdjustGamma(2.2, 1.5),
        "AdjustSharpness": v.AdjustSharpness(2.5),
        "AutoContrast": v.AutoContrast(10.0, [0, 40]),
        "Equalize": v.Equalize(),
        "Invert": v.Invert(),
        "Posterize": v.Posterize(3),
        "Solarize": v.Solarize((50.5, 180)),
        "Solarize one": v.Solarize(100),
        "GaussianBlur": v.GaussianBlur(3),
        "GaussianBlur sigma": v.GaussianBlur((3, 5), (1.5, 0.7)),
        "RandomAutoContrast": v.RandomAutoContrast(prob=1.0),
        "RandomEqualize": v.RandomEqualize(1.0),
        "RandomInvert": v.RandomInvert(1.0),
        "RandomPosterize": v.RandomPosterize((2, 2)),
        "RandomSolarize": v.RandomSolarize((90, 90)),
        "RandomSharpness": v.RandomSharpness((1.7, 1.7)),
        "RandomAdjustSharpness": v.RandomAdjustSharpness(0.3, 1.0),
        "RandomColor": v.RandomColor((0.4, 0.4)),
        "RandomColorAdjust": v.RandomColorAdjust(contrast=(0.6, 0.6)),
        "RandomLighting": v.RandomLighting(0.0),
        "Affine": v.Affine(15.5, (0.1, -0.2), 1.3, (10, -5), inter.BILINEAR, (10, 20, 30)),
        "Affine cubic": v.Affine(-40, (0, 0), 0.7, 3.0, inter.BICUBIC, 9),
        "RandomAffine": v.RandomAffine((20, 20), (0.2, 0.2, -0.3, -0.3), (1.2, 1.2), (5, 5)),
        "Rotate": v.Rotate(33.3, inter.BILINEAR, False, None, (10, 20, 30)),
        "Rotate expand": v.Rotate(-70, inter.BICUBIC, True, None, 7),
        "RandomRotation": v.RandomRotation((30, 30), inter.NEAREST, False, (1, 2)),
        "Perspective": v.Perspective(corners, moved),
        "SlicePatches": v.SlicePatches(2, 2),
        "SlicePatches drop": v.SlicePatches(2, 1, v.SliceMode.DROP),
        "Erase": v.Erase(1, 2, 3, 3, (1, 2.5, 3.5)),
        "RandAugment none": v.RandAugment(0),
        "RandomSelectSubpolicy": v.RandomSelectSubpolicy([[(v.Invert(), 1.0), (v.Posterize(2), 1.0)]]),
    }
    for name in ("BGR2RGB", "BGR2BGRA", "BGR2RGBA", "BGR2GRAY", "RGB2GRAY"):
        found[f"ConvertColor {name}"] = v.ConvertColor(mode[f"COLOR_{name}"])
    return found


def transforms_of_pil_images(v):
    """By name, transforms of one PIL image."""
    inter, border = v.Inter, v.Border
    return {
        "Resize": v.Resize((3, 4)),
        "Resize one size": v.Resize(4),
        "Resize antialias": v.Resize((3, 4), inter.ANTIALIAS),
        "Pad": v.Pad((1, 2, 0, 1), (1, 2, 3)),
        "Pad reflect": v.Pad((1, 2), 0, border.REFLECT),
        "CenterCrop": v.CenterCrop((3, 4)),
        "RandomResizedCrop": v.RandomResizedCrop((3, 4), (1.0, 1.0), (6 / 5, 6 / 5)),
        "RandomHorizontalFlip": v.RandomHorizontalFlip(1.0),
        "RandomVerticalFlip": v.RandomVerticalFlip(1.0),
        "ToTensor": v.ToTensor(),
        "AdjustBrightness": v.AdjustBrightness(1.7),
        "AdjustContrast": v.AdjustContrast(0.4),
        "AdjustSaturation": v.AdjustSaturation(2.2),
        "AdjustHue": v.AdjustHue(-0.2),
        "AdjustGamma": v.AdjustGamma(2.2, 1.5),
        "AutoContrast": v.AutoContrast(10.0, [0, 40]),
        "Equalize": v.Equalize(),
        "Invert": v.Invert(),
        "RandomColor": v.RandomColor((0.4, 0.4)),
        "RandomSharpness": v.RandomSharpness((1.7, 1.7)),
        "RandomLighting": v.RandomLighting(0.0),
        "RandomRotation": v.RandomRotation((30, 30), inter.BILINEAR, True, None, (1, 2, 3)),
        "Perspective": v.Perspective([(0, 0), (5, 0), (5, 4), (0, 4)], [(1, 0), (5, 1), (4, 4), (0, 3)]),
        "RandomPerspective": v.RandomPerspective(0.0, 1.0),
        "Grayscale": v.Grayscale(1),
        "Grayscale 3": v.Grayscale(3),
        "RandomGrayscale": v.RandomGrayscale(1.0),
        "FiveCrop": v.FiveCrop((2, 3)),
        "TenCrop": v.TenCrop(2, True),
    }


def transforms_with_boxes(v):
    """By name, transforms of one image and its boxes."""
    return {
        "RandomCropWithBBox": v.RandomCropWithBBox((9, 10), 2),
        "RandomResizedCropWithBBox": v.RandomResizedCropWithBBox((3, 4), (1.0, 1.0), (6 / 5, 6 / 5)),
        "RandomHorizontalFlipWithBBox": v.RandomHorizontalFlipWithBBox(1.0),
        "RandomVerticalFlipWithBBox": v.RandomVerticalFlipWithBBox(1.0),
        "ResizeWithBBox": v.ResizeWithBBox((3, 4)),
        "BoundingBoxAugment": v.BoundingBoxAugment(v.Invert(), 1.0),
        "BoundingBoxAugment resized": v.BoundingBoxAugment(v.Resize((5, 5)), 1.0),
    }


def flat(result):
    """The arrays of a result, PIL images as arrays."""
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return [np.asarray(part) for part in parts]

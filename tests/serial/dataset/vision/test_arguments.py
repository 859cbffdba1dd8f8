"""Wrong arguments are refused with the types of MindSpore's errors."""

import numpy as np
import pytest

from dist_ms.dataset import vision as v
from tests.serial.dataset.vision.cases import BOXES, IMAGE

pil = pytest.importorskip("PIL.Image")
pytest.importorskip("cv2")

WRONG_TYPES = [
    lambda: v.Crop((0, 0), (1, 2, 3)), lambda: v.CenterCrop(1.5), lambda: v.Pad(1.5), lambda: v.Pad(1, 0, "edge"),
    lambda: v.Pad(1, (1, 2)), lambda: v.RandomCrop(3, pad_if_needed=1), lambda: v.Resize(3, 0), lambda: v.Resize("a"),
    lambda: v.RandomResizedCrop(3, (1,)), lambda: v.Normalize(1.0, 1.0), lambda: v.Normalize([1.0], [1.0], 1),
    lambda: v.Rescale("a", 1), lambda: v.ToTensor(None), lambda: v.ToTensor("foo"), lambda: v.Decode(1),
    lambda: v.HorizontalFlip().device(1), lambda: v.AdjustBrightness("1"), lambda: v.AdjustContrast(True),
    lambda: v.AutoContrast(0, 1.5), lambda: v.Posterize(2.5), lambda: v.RandomPosterize((1, 2, 3)),
    lambda: v.Solarize((1, 2, 3)), lambda: v.RandomSolarize([1, 2]), lambda: v.RandomSharpness(1.0),
    lambda: v.GaussianBlur(3.0), lambda: v.GaussianBlur(3, (1, 2, 3)), lambda: v.RandomColorAdjust("a"),
    lambda: v.ConvertColor(4), lambda: v.RgbToHsv(1), lambda: v.Grayscale(1.0), lambda: v.LinearTransformation(1, 2),
    lambda: v.NormalizePad([1.0], [1.0], np.float32), lambda: v.Affine(0, (0, 0, 0), 1, 0), lambda: v.Rotate("a"),
    lambda: v.Affine(0, (0, 0), 1, 0, 0), lambda: v.RandomAffine((1, 2, 3)), lambda: v.RandomAffine(1, 0.5),
    lambda: v.RandomAffine(1, scale=(1, 2, 3)), lambda: v.Rotate(1, expand=1), lambda: v.Perspective(1, 2),
    lambda: v.Perspective([(0, 0)] * 3, [(0, 0)] * 4), lambda: v.RandomPerspective(1), lambda: v.TenCrop(3, 1),
    lambda: v.SlicePatches(1, 1, 0), lambda: v.PadToSize(3.5), lambda: v.Erase(0, 0, 1, 1, (1, 2)),
    lambda: v.CutOut(1.5), lambda: v.RandomErasing(inplace=1), lambda: v.MixUp(1, 1, 1), lambda: v.CutMixBatch(0),
    lambda: v.AutoAugment("imagenet"), lambda: v.RandomSelectSubpolicy(1), lambda: v.UniformAugment([1], 1),
    lambda: v.BoundingBoxAugment(1), lambda: v.ResizeWithBBox(3, 0), lambda: v.Resize(3)([[1]]),
    lambda: v.ToPIL()([1]), lambda: v.ToPIL()(np.zeros((3, 3, 3))), lambda: v.FiveCrop(2)(IMAGE),
    lambda: v.Grayscale()(IMAGE), lambda: v.RandomErasing(1.0)(pil.fromarray(IMAGE)), lambda: v.RgbToHsv()(IMAGE),
    lambda: v.RandomCropDecodeResize(3)(np.zeros(3, np.float32)), lambda: v.Resize(3, v.Inter.ANTIALIAS)(IMAGE),
    lambda: v.Resize(3, v.Inter.AREA)(pil.fromarray(IMAGE)), lambda: v.RandomGrayscale()(IMAGE),
]  # fmt: skip
WRONG_VALUES = [
    lambda: v.Crop((0, 0), 0), lambda: v.Crop((-1, 0), 2), lambda: v.Pad(-1), lambda: v.Pad((1, 2, 3)),
    lambda: v.Pad(1, 300), lambda: v.RandomHorizontalFlip(1.5), lambda: v.RandomResizedCrop(3, (2, 1)),
    lambda: v.RandomResizedCrop(3, ratio=(0, 1)), lambda: v.RandomResizedCrop(3, max_attempts=0),
    lambda: v.Normalize([1.0], [0.0]), lambda: v.Normalize([300.0], [1.0]), lambda: v.Normalize([1.0, 2.0], [1.0]),
    lambda: v.HorizontalFlip().device("GPU"), lambda: v.HorizontalFlip().device("Ascend"), lambda: v.AdjustHue(1),
    lambda: v.AdjustGamma(-1), lambda: v.AutoContrast(50), lambda: v.Posterize(9), lambda: v.RandomPosterize((5, 2)),
    lambda: v.Solarize(300), lambda: v.Solarize((3, 2)), lambda: v.RandomSolarize((2, 1)), lambda: v.GaussianBlur(2),
    lambda: v.RandomSharpness((2, 1)), lambda: v.RandomColorAdjust(-1), lambda: v.RandomColorAdjust(hue=0.6),
    lambda: v.Grayscale(2), lambda: v.NormalizePad([1.0], [1.0], "int8"), lambda: v.Affine(200, (0, 0), 1, 0),
    lambda: v.LinearTransformation(np.ones((2, 3)), np.ones(2)), lambda: v.Affine(0, (2, 0), 1, 0),
    lambda: v.Affine(0, (0, 0), 0, 0), lambda: v.RandomAffine(-1), lambda: v.RandomAffine(1, scale=(2, 1)),
    lambda: v.RandomAffine(1, shear=-1), lambda: v.Rotate(1, center=[1, 2]), lambda: v.RandomRotation((5, 2)),
    lambda: v.RandomPerspective(2.0), lambda: v.ResizedCrop(0, 0, 0, 1, 3), lambda: v.SlicePatches(0),
    lambda: v.PadToSize((1, 2, 3)), lambda: v.Erase(0, 0, 1, 1, 300), lambda: v.CutOut(0),
    lambda: v.RandomErasing(value="x"), lambda: v.RandomErasing(0.5, (2, 1)), lambda: v.MixUpBatch(0),
    lambda: v.MixUp(0, 1), lambda: v.RandAugment(1, 31), lambda: v.TrivialAugmentWide(1),
    lambda: v.RandomSelectSubpolicy([]), lambda: v.RandomSelectSubpolicy([[]]),
    lambda: v.RandomSelectSubpolicy([[(v.Invert(), 2)]]), lambda: v.UniformAugment([v.Invert()], 2),
    lambda: v.UniformAugment([v.Invert], 1), lambda: v.BoundingBoxAugment(v.Invert(), 2),
    lambda: v.ToPIL()(np.zeros((3, 3, 5), np.uint8)), lambda: v.FiveCrop(20)(pil.fromarray(IMAGE)),
    lambda: v.RandomCrop(20)(pil.fromarray(IMAGE)), lambda: v.LinearTransformation(np.eye(2), np.ones(2))(IMAGE),
]  # fmt: skip
WRONG_IMAGES = [
    lambda: v.Crop((3, 3), 9)(IMAGE), lambda: v.RandomCrop(20)(IMAGE), lambda: v.Resize(3)(IMAGE[0, 0]),
    lambda: v.Resize(3)(IMAGE.astype(np.int64)), lambda: v.Resize(3)(), lambda: v.Invert()(IMAGE[:, :, 0]),
    lambda: v.Resize(3, v.Inter.PILCUBIC)(IMAGE[:, :, 0]), lambda: v.AdjustHue(0.1)(IMAGE.astype(np.float32)),
    lambda: v.Normalize([1.0] * 2, [1.0] * 2)(IMAGE), lambda: v.Equalize()(IMAGE.astype(np.float32)),
    lambda: v.ConvertColor(v.ConvertMode.COLOR_BGR2RGB)(IMAGE[:, :, 0]), lambda: v.PadToSize(3)(IMAGE),
    lambda: v.PadToSize(8, 7)(IMAGE), lambda: v.Erase(0, 0, 20, 1)(IMAGE), lambda: v.CutOut(20)(IMAGE),
    lambda: v.SlicePatches(20)(IMAGE), lambda: v.AutoAugment()(IMAGE[:, :, 0]),
    lambda: v.ResizedCrop(3, 3, 9, 9, 2)(IMAGE),
    lambda: v.AdjustSharpness(2.0)(IMAGE.astype(np.int32)), lambda: v.Pad(1, (1, 2, 3))(IMAGE[:, :, [0, 1, 2, 0]]),
    lambda: v.ResizeWithBBox(3)(IMAGE), lambda: v.ResizeWithBBox(3)(IMAGE, BOXES + 9),
    lambda: v.ResizeWithBBox(3)(IMAGE, BOXES - 9), lambda: v.ResizeWithBBox(3)(IMAGE, BOXES.astype(np.float64)),
    lambda: v.ResizeWithBBox(3)(IMAGE, BOXES[:, :3]), lambda: v.HWC2CHW()(IMAGE[None]),
    lambda: v.ToTensor()(IMAGE[None]),
    lambda: v.Rotate(3, v.Inter.PILCUBIC)(IMAGE), lambda: v.Posterize(3)(IMAGE.astype(np.float32)),
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG_TYPES)
def test_types(call):
    with pytest.raises(TypeError, match="For '"):
        call()


@pytest.mark.parametrize("call", WRONG_VALUES)
def test_values(call):
    with pytest.raises(ValueError, match="For '"):
        call()


@pytest.mark.parametrize("call", WRONG_IMAGES)
def test_images(call):
    with pytest.raises(RuntimeError, match="For '"):
        call()


def test_a_missing_library_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"'opencv-python-headless' must be installed.*pip install dist_ms\[vision\]"):
        v.Resize(3)(IMAGE)
    np.testing.assert_array_equal(v.HorizontalFlip()(IMAGE), IMAGE[:, ::-1])


def test_none_is_no_interpolation():
    with pytest.raises(KeyError):
        v.Resize(3, None)

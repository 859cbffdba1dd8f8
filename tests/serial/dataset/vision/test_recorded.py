"""Every transform without random numbers gives what MindSpore 2.10 gives."""

from pathlib import Path

import numpy as np
import pytest

from dist_ms.dataset import vision
from tests.serial.dataset.vision.cases import (
    BOXES,
    IMAGE,
    flat,
    transforms_of_images,
    transforms_of_pil_images,
    transforms_with_boxes,
)

pytest.importorskip("cv2")
pil = pytest.importorskip("PIL.Image")

# How far these may be off: decoders and OpenCV's way from HSV to RGB round otherwise in some versions, and LAPACK's
# solution of a perspective's equations on some CPUs.
CLOSE = {"AdjustHue": 1, "Decode": 1, "Decode to_pil": 1, "RandomCropDecodeResize": 1, "RandomPerspective": 1}


def recorded():
    found = {}
    for line in Path(__file__).with_name("recorded.txt").read_text().splitlines():
        kind, name, element, shape, data = line.split("|")
        array = np.frombuffer(bytes.fromhex(data), element).reshape([int(n) for n in shape.split(",")])
        found.setdefault((kind, name), []).append(array)
    return found


RECORDED = recorded()


def check(kind, name, result):
    wanted, results = RECORDED[kind, name], flat(result)
    assert len(results) == len(wanted)
    for found, array in zip(results, wanted):
        assert found.dtype == array.dtype and found.shape == array.shape
        if array.dtype.kind in "iu":
            off = np.abs(found.astype(np.int64) - array.astype(np.int64)).max()
            assert off <= CLOSE.get(name, 0)
        else:
            np.testing.assert_allclose(found, array, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", [name for kind, name in RECORDED if kind == "array"])
def test_arrays(name):
    image = IMAGE.copy()
    check("array", name, transforms_of_images(vision)[name](image))
    np.testing.assert_array_equal(image, IMAGE)


@pytest.mark.parametrize("name", [name for kind, name in RECORDED if kind == "pil"])
def test_pil_images(name):
    check("pil", name, transforms_of_pil_images(vision)[name](pil.fromarray(IMAGE)))


@pytest.mark.parametrize("name", [name for kind, name in RECORDED if kind == "boxes"])
def test_images_with_boxes(name):
    image, boxes = IMAGE.copy(), BOXES.copy()
    check("boxes", name, transforms_with_boxes(vision)[name](image, boxes))
    np.testing.assert_array_equal(image, IMAGE)
    np.testing.assert_array_equal(boxes, BOXES)


def test_jpeg_files():
    data = RECORDED["file", "jpeg"][0]
    check("file", "Decode", vision.Decode()(data))
    check("file", "Decode", vision.Decode()(data.tobytes()))
    check("file", "Decode to_pil", vision.Decode(to_pil=True)(data))
    whole = vision.RandomCropDecodeResize((3, 4), (1.0, 1.0), (6 / 5, 6 / 5))
    check("file", "RandomCropDecodeResize", whole(data))


def test_all_cases_are_recorded():
    kinds = {"array": transforms_of_images, "pil": transforms_of_pil_images, "boxes": transforms_with_boxes}
    for kind, cases in kinds.items():
        assert set(cases(vision)) == {name for k, name in RECORDED if k == kind}


def test_batches_are_images_one_by_one():
    batch = np.stack([IMAGE, IMAGE[::-1]])
    for transform in (vision.Resize((3, 4)), vision.HorizontalFlip(), vision.CenterCrop(3), vision.AdjustContrast(0.5)):
        np.testing.assert_array_equal(transform(batch), np.stack([transform(image) for image in batch]))


@pytest.mark.parametrize("name", sorted(transforms_of_images(vision)))
def test_memory_layouts(name):
    transform = transforms_of_images(vision)[name]
    wanted = flat(transform(IMAGE))
    wide = np.repeat(np.repeat(IMAGE, 2, axis=0), 2, axis=1)[::2, ::2]
    backwards = IMAGE[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1]
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1)).transpose(1, 2, 0)
    sealed = IMAGE.copy()
    sealed.flags.writeable = False
    for image in (wide, backwards, planes, sealed):
        for a, b in zip(flat(transform(image)), wanted):
            np.testing.assert_array_equal(a, b)


def test_one_channel_stays():
    grey = IMAGE[:, :, :1].copy()
    for name, transform in transforms_of_images(vision).items():
        if name in ("Resize", "Resize area", "Rotate", "Rotate expand", "Affine", "GaussianBlur", "AutoContrast"):
            flat_result = transform(grey[:, :, 0])
            np.testing.assert_array_equal(transform(grey)[:, :, 0], flat_result)


def test_normalize_pad_has_a_zero_for_every_pixel():
    padded = vision.NormalizePad([1.0, 2, 3], [4.0, 5, 6])(IMAGE)
    np.testing.assert_array_equal(padded[:, :, :3], vision.Normalize([1.0, 2, 3], [4.0, 5, 6])(IMAGE))
    assert not padded[:, :, 3].any()
    first = vision.NormalizePad([1.0], [4.0], "float16", is_hwc=False)(IMAGE.transpose(2, 0, 1))
    assert first.shape == (4, 5, 6) and first.dtype == np.float16 and not first[3].any()


def test_spaces_of_colours():
    colours = np.random.default_rng(0).random((5, 6, 3))
    hsv = vision.RgbToHsv(is_hwc=True)(colours)
    np.testing.assert_allclose(vision.HsvToRgb(is_hwc=True)(hsv), colours, atol=1e-12)
    first = vision.RgbToHsv()(colours.transpose(2, 0, 1))
    np.testing.assert_array_equal(first.transpose(1, 2, 0), hsv)
    np.testing.assert_array_equal(vision.RgbToHsv(True)(np.stack([colours] * 2))[1], hsv)
    assert vision.RgbToHsv(True)(np.full((1, 1, 3), 0.5)).tolist() == [[[0, 0, 0.5]]]


def test_linear_transformation():
    matrix, mean = np.random.default_rng(0).random((90, 90)), np.arange(90.0)
    result = vision.LinearTransformation(matrix, mean)(IMAGE)
    np.testing.assert_allclose(result.ravel(), (IMAGE.ravel() - mean) @ matrix)


def test_erase_in_place():
    image = IMAGE.copy()
    assert vision.Erase(0, 0, 2, 2, 9, inplace=True)(image) is image and (image[:2, :2] == 9).all()

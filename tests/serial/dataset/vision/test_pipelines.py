"""Chains of transforms as training scripts write them, in a pipeline."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.dataset import GeneratorDataset, transforms, vision

pytest.importorskip("cv2")
pytest.importorskip("PIL.Image")


def files(count=8):
    draw = np.random.default_rng(0)
    images = draw.integers(0, 255, (count, 40, 50, 3), dtype=np.uint8)
    return GeneratorDataset([(vision.encode_jpeg(im), i % 4) for i, im in enumerate(images)], ["image", "label"])


def rows(data):
    return list(data.create_dict_iterator(output_numpy=True, num_epochs=1))


def test_of_imagenet():
    data = files().map([
        vision.RandomCropDecodeResize(32, scale=(0.08, 1.0), ratio=(0.75, 1.333), interpolation=vision.Inter.BILINEAR),
        vision.RandomHorizontalFlip(0.5),
        vision.RandomColorAdjust(0.4, 0.4, 0.4),
        vision.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
        vision.HWC2CHW(),
    ], "image")  # fmt: skip
    data = data.map([transforms.OneHot(4), transforms.TypeCast(ms.float32)], "label").batch(4)
    data = data.map(vision.CutMixBatch(vision.ImageBatchFormat.NCHW, 1.0, 0.5), ["image", "label"])
    batches = rows(data)
    assert [b["image"].shape for b in batches] == [(4, 3, 32, 32)] * 2
    assert all(b["image"].dtype == np.float32 and np.allclose(b["label"].sum(1), 1) for b in batches)


def unlike(boxes=(1, 2, 3, 4)):
    draw = np.random.default_rng(0)
    images = [draw.integers(0, 255, (40, 50 + 3 * k, 3), dtype=np.uint8) for k in range(len(boxes))]
    made = [(vision.encode_jpeg(im), np.ones((b, 5), np.float32)) for im, b in zip(images, boxes)]
    return GeneratorDataset(made, ["image", "boxes"], shuffle=False)


@pytest.mark.parametrize(
    "second",
    [vision.Resize((8, 9)), [vision.Resize((8, 9)), vision.HWC2CHW()], lambda image: image[:8, :9], vision.Decode()],
    ids=["transform", "transforms", "function", "none"],
)
def test_images_unlike_each_other_become_alike_in_a_later_map(second):
    data = unlike((2, 2, 2, 2)).map(vision.Decode(), "image")
    if isinstance(second, vision.Decode):
        with pytest.raises(RuntimeError, match="different shapes in column 'image'"):
            rows(data.batch(4))
        return
    data = data.map(second, "image")
    (batch,) = rows(data.batch(4))
    assert np.array_equal(batch["image"], np.stack([row["image"] for row in rows(data)]))


def test_columns_unlike_each_other_become_alike_in_a_later_map():
    points = [vision.Normalize([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]), vision.HWC2CHW()]
    data = unlike().map(vision.Decode(), "image")
    cut = data.map(lambda image, boxes: (image[:8, :9], boxes.sum()), ["image", "boxes"], ["image", "count"])
    (batch,) = rows(cut.map(points, "image").batch(4))
    assert batch["image"].shape == (4, 3, 8, 9) and batch["count"].tolist() == [5, 10, 15, 20]
    late = data.map([vision.Resize((8, 9)), *points], "image").map(lambda boxes: boxes.sum(), "boxes").batch(4)
    assert rows(late)[0]["boxes"].tolist() == [5, 10, 15, 20]
    with pytest.raises(RuntimeError, match="different shapes in column 'boxes'"):
        rows(data.map(vision.Resize((8, 9)), "image").batch(4))


def test_of_pil_images():
    chain = transforms.Compose([
        vision.Decode(to_pil=True),
        vision.Resize(36, vision.Inter.ANTIALIAS),
        vision.RandomCrop(32, 4),
        vision.RandomRotation(10, vision.Inter.BICUBIC),
        transforms.RandomApply([vision.RandomColor()], 0.8),
        vision.ToTensor(),
        vision.Normalize([0.5, 0.5, 0.5], [0.25, 0.25, 0.25], is_hwc=False),
        vision.RandomErasing(1.0),
    ])  # fmt: skip
    batch = rows(files().map(chain, "image").batch(8))[0]
    assert batch["image"].shape == (8, 3, 32, 32) and batch["image"].dtype == np.float32


def test_of_policies_and_mixed_batches():
    data = files().map([vision.Decode(), vision.RandAugment(), vision.Resize((32, 32)), vision.HWC2CHW()], "image")
    data = data.map([transforms.OneHot(4)], "label").batch(8)
    batch = rows(data.map(vision.MixUpBatch(0.2), ["image", "label"]))[0]
    assert batch["image"].shape == (8, 3, 32, 32) and batch["label"].dtype == np.float32


def test_of_boxes():
    image, boxes = np.zeros((40, 50, 3), np.uint8), np.array([[5, 5, 20, 20, 1]], np.float32)
    data = GeneratorDataset([(image, boxes)] * 4, ["image", "boxes"])
    data = data.map(vision.RandomHorizontalFlipWithBBox(1.0), ["image", "boxes"])
    data = data.map(vision.ResizeWithBBox((20, 25)), ["image", "boxes"])
    for row in rows(data):
        assert row["image"].shape == (20, 25, 3)
        np.testing.assert_allclose(row["boxes"], [[12.5, 2.5, 10, 10, 1]])

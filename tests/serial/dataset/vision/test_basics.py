"""Image transforms: values found with MindSpore 2.10, or by a plain computation."""

import io

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.dataset import GeneratorDataset, config, transforms, vision

IMAGE = (np.arange(60) * 4).astype(np.uint8).reshape(4, 5, 3)


def test_resize_matches_mindspore():
    out = vision.Resize((3, 3))(IMAGE)
    assert out.dtype == np.uint8
    assert out[0].ravel().tolist() == [14, 18, 22, 34, 38, 42, 54, 58, 62]
    assert vision.Resize((8, 10), vision.Inter.BICUBIC)(IMAGE).ravel()[:12].tolist() == [
        0, 0, 0, 0, 0, 4, 2, 6, 10, 9, 13, 17,
    ]  # fmt: skip
    assert vision.Resize((8, 10), vision.Inter.NEAREST)(IMAGE)[0, :4, 0].tolist() == [0, 0, 12, 12]


def test_resize_keeps_the_ratio_of_one_size():
    assert vision.Resize(2)(IMAGE).shape == (2, 2, 3)
    assert vision.Resize(2)(IMAGE.transpose(1, 0, 2)).shape == (2, 2, 3)


def test_values_match_mindspore():
    assert vision.Normalize([1.0, 2, 3], [2.0, 2, 2])(IMAGE).ravel()[:5].tolist() == [-0.5, 1.0, 2.5, 5.5, 7.0]
    chw = vision.Normalize([1.0, 2, 3], [2.0, 2, 2], is_hwc=False)(vision.HWC2CHW()(IMAGE))
    np.testing.assert_array_equal(chw.transpose(1, 2, 0), vision.Normalize([1.0, 2, 3], [2.0, 2, 2])(IMAGE))
    np.testing.assert_allclose(vision.ToTensor()(IMAGE)[0, 0], np.arange(5) * 12 / 255, rtol=1e-6)
    assert vision.Invert()(IMAGE)[0, 0].tolist() == [255, 251, 247]
    padded = vision.Pad((1, 2, 0, 1), padding_mode=vision.Border.REFLECT)(IMAGE)[..., 0]
    assert padded[0].tolist() == [132, 120, 132, 144, 156, 168]
    assert vision.Crop((0, 1), (2, 3))(IMAGE)[..., 0].tolist() == [[12, 24, 36], [72, 84, 96]]
    assert vision.CenterCrop(2)(IMAGE).ravel()[:3].tolist() == [72, 76, 80]
    assert vision.CenterCrop((7, 7))(IMAGE)[2:6, 1:6].tolist() == IMAGE.tolist()


def test_random_transforms_follow_the_seed_and_stay_inside():
    op = vision.RandomResizedCrop((4, 6))
    config.set_seed(3)
    first = [op(IMAGE) for _ in range(5)]
    config.set_seed(4)
    assert any((a != op(IMAGE)).any() for a in first)
    config.set_seed(3)
    for a in first:
        np.testing.assert_array_equal(a, op(IMAGE))
    crops = {vision.RandomCrop(4)(IMAGE)[0, 0, 0] for _ in range(40)}
    assert crops == {0, 12}
    flips = {vision.RandomHorizontalFlip(0.5)(IMAGE)[0, 0, 0] for _ in range(40)}
    assert flips == {0, 48}


def test_decode_reads_files():
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.fromarray(IMAGE).save(file, "PNG")
    data = np.frombuffer(file.getvalue(), np.uint8)
    np.testing.assert_array_equal(vision.Decode()(data), IMAGE)
    assert vision.RandomCropDecodeResize(3)(data).shape == (3, 3, 3)


def test_general_transforms_in_a_pipeline():
    data = GeneratorDataset([(1.5, 2), (2.5, 1)], ["x", "label"], shuffle=False)
    data = data.map(transforms.Compose([transforms.TypeCast(ms.int32), transforms.Fill(7)]), "x")
    data = data.map(transforms.OneHot(4, 0.1), "label")
    rows = list(data.create_tuple_iterator(output_numpy=True))
    assert rows[0][0] == 7 and rows[0][0].dtype == np.int32
    np.testing.assert_allclose(rows[1][1], [0.025, 0.925, 0.025, 0.025])
    assert transforms.RandomApply([abs], 0.0)(-3) == -3
    with pytest.raises(RuntimeError, match="labels must be ints from 0 to 3"):
        transforms.OneHot(4)(4)


@pytest.mark.parametrize("call", [
    lambda: vision.DecodeVideo(), lambda: transforms.Plugin("a", "b"), lambda: ms.dataset.OBSMindDataset("x"),
])  # fmt: skip
def test_what_is_not_built_says_so_when_used(call):
    with pytest.raises(NotImplementedError, match="is not"):
        call()

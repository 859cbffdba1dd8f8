"""Chains in one pass against the transforms called in turn: the same bits and the same random numbers."""

import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from dist_ms.dataset import draws, transforms, vision
from dist_ms.dataset.vision.fusing import fuse

PHOTO = np.fromfile(Path(__file__).parents[1] / "files" / "photo.jpg", np.uint8)
MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
POINTS = [vision.Rescale(1 / 255, 0.1), vision.Normalize([0.49, 0.48, 0.45], [0.2, 0.2, 0.3]), vision.HWC2CHW()]
CHAINS = {
    "cifar": [vision.RandomCrop(16, 4), vision.RandomHorizontalFlip(), *POINTS],
    "both flips": [vision.RandomHorizontalFlip(), vision.VerticalFlip(), vision.RandomVerticalFlip(0.3), *POINTS],
    "resize": [
        vision.RandomCrop(15, 2, fill_value=(1, 2, 3)),
        vision.RandomHorizontalFlip(),
        vision.Resize(21),
        *POINTS,
    ],
    "resize first": [vision.Resize((9, 31)), vision.RandomHorizontalFlip(), vision.ToTensor()],
    "centre": [vision.CenterCrop((30, 11)), vision.Normalize(MEAN, STD)],
    "crop": [vision.Crop((1, 2), (7, 9)), vision.HWC2CHW(), vision.Normalize(MEAN, STD, is_hwc=False)],
    "pad": [vision.Pad((1, 2, 3, 4), 7, vision.Border.REFLECT), vision.Invert(), vision.HWC2CHW()],
    "needed": [vision.RandomCrop(40, None, True, 3, vision.Border.EDGE), vision.HWC2CHW()],
    "narrow": [vision.HorizontalFlip(), *POINTS, transforms.TypeCast(ml_dtypes.bfloat16)],
}


def in_turn(operations, value, key):
    with draws.RowStream(key):
        for operation in operations:
            value = operation(value)
    return value


@pytest.mark.parametrize("name", CHAINS)
def test_rows_and_batches(name):
    rng = np.random.default_rng(5)
    operations = CHAINS[name]
    plan = pickle.loads(pickle.dumps(fuse(operations)))
    images = rng.integers(0, 256, (9, 18, 20, 3), dtype=np.uint8)
    rows = rng.integers(0, 9, 12)
    keys = rng.integers(0, 2**63, 12).astype(np.uint64)
    wanted = np.stack([in_turn(operations, images[row], int(key)) for row, key in zip(rows, keys)])
    assert plan.fused and not plan.rest and plan.takes_batches and plan.fits((18, 20, 3))
    found = plan.apply_many(images[rows], keys)
    assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
    slot = np.empty(wanted.shape[1:], wanted.dtype)
    for row, key, one in zip(rows, keys, wanted):
        with draws.RowStream(int(key)):
            assert plan.apply(images[row], slot) is slot
        assert slot.tobytes() == one.tobytes()


def test_memory_with_channels_last_and_other_types():
    plan = fuse(POINTS)
    image = np.random.default_rng(1).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    plain = plan.apply(image)
    for dtype in (np.float32, ml_dtypes.bfloat16, np.float16):
        memory = np.empty((16, 16, 3), dtype)
        plan.apply(image, memory.transpose(2, 0, 1))
        np.testing.assert_array_equal(memory.transpose(2, 0, 1), plain.astype(dtype))


@pytest.mark.parametrize(
    "operations",
    [
        [
            vision.RandomCropDecodeResize(12),
            vision.RandomHorizontalFlip(),
            vision.Normalize(MEAN, STD),
            vision.HWC2CHW(),
        ],
        [vision.Decode(), vision.RandomResizedCrop(12), vision.HWC2CHW()],
        [vision.Decode(), vision.RandomCrop(12), vision.RandomHorizontalFlip(), vision.ToTensor()],
        [vision.Decode(), vision.RandomCrop(24, 9), vision.ToTensor()],
        [vision.Decode(), vision.Resize(25), vision.CenterCrop(22), vision.Normalize(MEAN, STD), vision.HWC2CHW()],
        [vision.Decode(), vision.CenterCrop(9), vision.HWC2CHW(), lambda x: x + 1],
        [vision.Decode()],
    ],
)
def test_files(operations):
    plan = fuse(operations)
    for key in range(20):
        with draws.RowStream(key):
            found = plan.apply(PHOTO)
        wanted = in_turn(operations, PHOTO, key)
        assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


def test_files_in_columns_of_bytes():
    plan = fuse([vision.RandomCropDecodeResize(12), vision.HWC2CHW()])
    found = []
    for value in (PHOTO, np.array(PHOTO.tobytes())):
        with draws.RowStream(4):
            found.append(plan.apply(value))
    np.testing.assert_array_equal(*found)


def test_what_is_not_fused_runs_as_it_is():
    class Mine(vision.RandomHorizontalFlip):
        pass

    image = np.random.default_rng(1).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    plan = fuse([Mine(1.0), vision.HWC2CHW()])
    assert plan.leading and not plan.takes_batches
    np.testing.assert_array_equal(plan.apply(image), image[:, ::-1].transpose(2, 0, 1))
    floats = image.astype(np.float32)
    np.testing.assert_array_equal(fuse(POINTS).apply(floats), in_turn(POINTS, floats, 1))
    assert not fuse(POINTS, np.float32).fused
    with pytest.raises(RuntimeError, match="RandomCrop"):
        fuse(CHAINS["crop"][:0] + [vision.RandomCrop(30), vision.HWC2CHW()]).apply(image)
    assert not fuse([vision.Resize((9, 10)), *POINTS]).fits((18, 20, 3))  # halves
    with pytest.raises(ValueError, match="keys"):
        fuse(CHAINS["cifar"]).apply_many(image[None])
    with pytest.raises(ValueError, match="'out' must be"):
        fuse(POINTS).apply(image, np.empty((3, 8, 9), np.float32))

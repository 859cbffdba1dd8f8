"""MixUp, MixUpBatch and CutMixBatch: images and labels are mixed in the same proportion."""

import numpy as np
import pytest

from dist_ms.dataset import config, vision

IMAGES = np.arange(4, dtype=np.float32)[:, None, None, None] * np.ones((4, 8, 10, 3), np.float32)
LABELS = np.eye(4, dtype=np.int32)


def values(labels):
    """What a mixed image's mean is, by its label."""
    return labels @ np.arange(4, dtype=np.float32)


def test_mix_up_batch():
    config.set_seed(1)
    images, labels = vision.MixUpBatch(0.5)(IMAGES, LABELS)
    assert labels.dtype == np.float32 and images.dtype == np.float32
    np.testing.assert_allclose(images.mean(axis=(1, 2, 3)), values(labels), rtol=1e-5)
    np.testing.assert_allclose(labels.sum(axis=1), 1)
    bytes_too, _ = vision.MixUpBatch()(IMAGES.astype(np.uint8) * 50, LABELS)
    assert bytes_too.dtype == np.uint8
    shares = [vision.MixUpBatch(0.3).parameters(4)[0] for _ in range(2000)]
    assert abs(np.mean(shares) - 0.5) < 0.03 and np.var(shares) == pytest.approx(0.25 / 1.6, rel=0.1)


@pytest.mark.parametrize("layout", list(vision.ImageBatchFormat))
def test_cut_mix_batch(layout):
    config.set_seed(2)
    nchw = layout == vision.ImageBatchFormat.NCHW
    batch = IMAGES.transpose(0, 3, 1, 2) if nchw else IMAGES
    images, labels = vision.CutMixBatch(layout)(batch, LABELS)
    assert images.shape == batch.shape
    np.testing.assert_allclose(images.mean(axis=(1, 2, 3)), values(labels), rtol=1e-5)
    unchanged, same = vision.CutMixBatch(layout, prob=0.0)(batch, LABELS)
    np.testing.assert_array_equal(unchanged, batch)
    np.testing.assert_array_equal(same, LABELS)
    three = vision.CutMixBatch(layout)(batch, LABELS[:, None])[1]
    assert three.shape == (4, 1, 4)


def test_mix_up():
    config.set_seed(3)
    images, labels = vision.MixUp(4, 0.4)(IMAGES, LABELS)
    np.testing.assert_allclose(images.mean(axis=(1, 2, 3)), values(labels), rtol=1e-6)
    assert (labels[np.arange(4), (np.arange(4) + 1) % 4] > 0).all()
    chained = vision.MixUp(4, 0.4, is_single=False)
    first = chained(IMAGES, LABELS)
    np.testing.assert_array_equal(first[0], IMAGES)
    second = chained(IMAGES[::-1], LABELS[::-1])
    np.testing.assert_allclose(second[0].mean(axis=(1, 2, 3)), values(second[1]), rtol=1e-6)


@pytest.mark.parametrize("inputs", [
    (IMAGES[0], LABELS), (IMAGES, LABELS[:3]), (IMAGES, np.arange(4)), (IMAGES,), (IMAGES, LABELS.astype(str)),
    (np.zeros((4, 8, 10, 2), np.float32), LABELS),
])  # fmt: skip
def test_what_is_no_batch(inputs):
    for transform in (vision.MixUpBatch(), vision.CutMixBatch(vision.ImageBatchFormat.NHWC)):
        with pytest.raises(RuntimeError, match=f"For '{type(transform).__name__}'"):
            transform(*inputs)

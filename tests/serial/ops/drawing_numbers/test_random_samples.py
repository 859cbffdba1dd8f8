"""MultinomialWithReplacement and SampleDistortedBoundingBoxV2: MindSpore's numbers, frequencies, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.ops.images.box_samples import below

W = np.array([[5, 1, 3, 2, 4, 1.5, 2.5, 0.5], [1, 1, 0, 7, 2, 0, 3, 4]], np.float32)


def test_multinomial_draws_mindspores_numbers():
    two, five = Tensor(2), Tensor(5)
    draw = ops.MultinomialWithReplacement(4, False)
    assert draw(Tensor(W), two, five).asnumpy().tolist() == [[3, 4, 2, 0], [3, 0, 1, 6]]
    assert draw(Tensor(W), two, five).asnumpy().tolist() == [[4, 0, 5, 2], [3, 4, 6, 1]]
    assert ops.multinomial_with_replacement(Tensor(W), 2, 5, 1).asnumpy().tolist() == [[3], [4]]
    fine = Tensor(np.ones(100000))
    draw = ops.MultinomialWithReplacement(3, True)
    assert draw(fine, two, five).asnumpy().tolist() == [47397, 55186, 52303]
    assert draw(fine, two, five).asnumpy().tolist() == [36085, 26833, 736]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("seed", [0, 7])
def test_multinomial_frequencies(dtype, seed):
    x = Tensor(np.array([[1, 0, 3], [2, 2, 0]]).astype(dtype))
    out = ops.multinomial_with_replacement(x, seed, 0, 4000, True)
    assert out.dtype == ms.int64 and out.shape == (2, 4000)
    counts = np.stack([np.bincount(row, minlength=3) for row in out.asnumpy()]) / 4000
    np.testing.assert_allclose(counts, [[0.25, 0, 0.75], [0.5, 0.5, 0]], atol=0.04)


def test_multinomial_without_replacement_draws_each_place_once():
    out = ops.multinomial_with_replacement(Tensor(W), 0, 0, 6).asnumpy()
    assert all(len(set(row)) == 6 for row in out) and set(out[1]) == {0, 1, 3, 4, 6, 7}


@pytest.mark.parametrize(
    "x, count, replacement, error",
    [
        ([1.0, -1.0], 1, True, ValueError),
        ([0.0, 0.0], 1, True, ValueError),
        ([1.0, float("nan")], 1, True, ValueError),
        ([1.0, 0.0], 2, False, ValueError),
        ([[[1.0]]], 1, True, ValueError),
        ([1, 2], 1, True, TypeError),
        ([1.0, 2.0], 0, True, ValueError),
        ([1.0, 2.0], 1, 1, TypeError),
    ],
)
def test_multinomial_errors(x, count, replacement, error):
    with pytest.raises(error, match="MultinomialWithReplacement"):
        ops.multinomial_with_replacement(Tensor(x), 1, 1, count, replacement)


BOXES = [[[0.1, 0.2, 0.5, 0.9], [0.4, 0.1, 0.9, 0.3]]]


def sampled(size, boxes, share, *args, dtype=np.int32, **options):
    op = ops.SampleDistortedBoundingBoxV2(*args, **options)
    return op(Tensor(np.array([*size, 3], dtype)), Tensor(np.array(boxes, np.float32)), Tensor([float(share)]))


# What MindSpore 2.10 drew: height, width, share, options, seeds -> top, left, height, width.
DRAWN = [
    ((100, 80), 0.5, {}, (1, 0), (9, 7, 81, 64)),
    ((100, 80), 0.5, {}, (3, 9), (41, 13, 46, 56)),
    ((64, 300), 0.2, {"aspect_ratio_range": (0.5, 2.0), "area_range": (0.02, 0.5)}, (3, 9), (11, 57, 51, 88)),
    ((37, 41), 0.9, {"max_attempts": 300}, (3, 9), (10, 4, 23, 24)),
    ((500, 20), 0.1, {"aspect_ratio_range": (0.1, 0.4)}, (1, 0), (247, 2, 40, 14)),
    ((16, 16), 0.0, {}, (3, 9), (5, 7, 4, 5)),
    ((480, 640), 1.0, {"area_range": (0.3, 1.0)}, (1, 0), (1, 53, 477, 583)),
]


@pytest.mark.parametrize("size, share, options, seeds, want", DRAWN)
def test_boxes_are_mindspores(size, share, options, seeds, want):
    begin, extent, box = sampled(size, BOXES, share, *seeds, **options)
    assert (*begin.asnumpy()[:2], *extent.asnumpy()[:2]) == want
    assert begin.asnumpy()[2] == 0 and extent.asnumpy()[2] == -1 and begin.dtype == extent.dtype == ms.int32
    top, left, height, width = want
    part = np.array([top, left, top + height, left + width]) / [*size, *size]
    np.testing.assert_allclose(box.asnumpy(), part.reshape(1, 1, 4), rtol=1e-6)


def test_boxes_keep_the_ranges_and_cover_an_object():
    ms.set_seed(3)
    size, seen = (90, 120), set()
    for _ in range(60):
        begin, extent, _ = sampled(size, BOXES, 0.6, area_range=(0.2, 0.6), aspect_ratio_range=(0.5, 1.5))
        (top, left), (height, width) = begin.asnumpy()[:2], extent.asnumpy()[:2]
        assert 0.2 <= height * width / (90 * 120) <= 0.6 and 0.45 < width / height < 1.55
        shares = []
        for y0, x0, y1, x1 in np.array(BOXES[0]) * [*size, *size]:
            both = [min(y1, top + height) - max(y0, top), min(x1, left + width) - max(x0, left)]
            shares.append(max(both[0], 0) * max(both[1], 0) / ((y1 - y0) * (x1 - x0)))
        assert max(shares) > 0.57
        seen.add((top, left))
    assert len(seen) > 30


def test_without_a_part_or_a_box_it_is_the_image():
    begin, extent, box = sampled((50, 60), BOXES, 1.0, 1, area_range=(0.01, 0.02), max_attempts=5, dtype=np.int64)
    assert begin.asnumpy().tolist() == [0, 0, 0] and extent.asnumpy().tolist() == [50, 60, -1]
    assert box.asnumpy().ravel().tolist() == [0, 0, 1, 1] and begin.dtype == ms.int64
    none = np.zeros((1, 0, 4))
    begin, extent, _ = sampled((50, 60), none, 0.1, 4, 4, use_image_if_no_bounding_boxes=True)
    assert (*begin.asnumpy()[:2], *extent.asnumpy()[:2]) == (2, 5, 47, 48)
    with pytest.raises(ValueError, match="use_image_if_no_bounding_boxes=True"):
        sampled((50, 60), none, 0.1)


def test_whole_numbers_are_equally_likely():
    assert below(iter([5]), 4) == 1 and below(iter([0, 2**32 - 1]), 3) == (2**32 - 1) % 3


@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"aspect_ratio_range": (1.0,)}, ValueError, "'aspect_ratio_range'"),
        ({"aspect_ratio_range": (1.0, 0.5)}, ValueError, "'aspect_ratio_range'"),
        ({"aspect_ratio_range": (1, 2)}, TypeError, "'aspect_ratio_range'"),
        ({"area_range": (0.0, 1.0)}, ValueError, "'area_range'"),
        ({"area_range": (0.5, 2.0)}, ValueError, "at most 1.0"),
        ({"max_attempts": 0}, ValueError, "'max_attempts'"),
        ({"boxes": [[[0.5, 0.1, 0.2, 0.4]]]}, ValueError, "top < bottom"),
        ({"boxes": [[[0.5, 0.1, 1.2, 0.4]]]}, ValueError, r"in \[0, 1\]"),
        ({"boxes": [[0.5, 0.1, 0.2, 0.4]]}, ValueError, r"of shape \(batch, boxes, 4\)"),
        ({"share": 1.2}, ValueError, "'min_object_covered'"),
        ({"size": (-64, 48)}, ValueError, "'image_size'"),
        ({"dtype": np.float32}, TypeError, "'image_size'"),
    ],
)
def test_boxes_that_are_refused(changes, error, text):
    options = {"size": (64, 48), "boxes": BOXES, "share": 0.5, **changes}
    with pytest.raises(error, match=text):
        sampled(**options)

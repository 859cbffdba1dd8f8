"""Transforms of any column: values found with MindSpore 2.10."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.dataset import GeneratorDataset, config, text, vision
from dist_ms.dataset import transforms as t

R = t.Relational
SIX = np.arange(6) - 2
TABLE = np.arange(12).reshape(3, 4)
WORDS = np.array(["a", "bb", "c"])


@pytest.mark.parametrize(("transform", "column", "wanted"), [
    (t.Fill(2.7), SIX.astype(np.int32), [2] * 6), (t.Fill(-1), SIX.astype(np.uint8), [255] * 6),
    (t.Fill("z"), WORDS, ["z"] * 3), (t.Fill(True), np.zeros(2, np.float32), [1, 1]),
    (t.Concatenate(0, np.array([7, 8])), SIX, [7, 8, -2, -1, 0, 1, 2, 3]),
    (t.Concatenate(-1, None, np.array(["y"])), WORDS, ["a", "bb", "c", "y"]),
    (t.PadEnd([8]), SIX, [-2, -1, 0, 1, 2, 3, 0, 0]), (t.PadEnd([2]), SIX, [-2, -1]),
    (t.PadEnd([4, 5], 9), TABLE, [[0, 1, 2, 3, 9], [4, 5, 6, 7, 9], [8, 9, 10, 11, 9], [9] * 5]),
    (t.PadEnd([4, None], 9), TABLE, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [9] * 4]),
    (t.PadEnd([5], "zzz"), WORDS, ["a", "bb", "c", "zzz", "zzz"]), (t.PadEnd([4]), WORDS, ["a", "bb", "c", ""]),
    (t.Slice(1), SIX, [-1]), (t.Slice(-1), SIX, [3]), (t.Slice([0, -1]), SIX, [-2, 3]),
    (t.Slice(slice(1, 3)), SIX, [-1, 0]), (t.Slice(None, 1), TABLE, [[1], [5], [9]]),
    (t.Slice([0, 1], [1, 2]), TABLE, [[1, 2], [5, 6]]), (t.Slice(slice(2, 100)), WORDS, ["c"]),
    (t.Slice(...), SIX, SIX), (t.Slice(1, slice(0, 2)), TABLE, [[4, 5]]),
    (t.Mask(R.EQ, 2), SIX, [0, 0, 0, 0, 1, 0]), (t.Mask(R.NE, 1.5), SIX, [1, 1, 1, 0, 1, 1]),
    (t.Mask(R.GT, 2), SIX, [0, 0, 0, 0, 0, 1]), (t.Mask(R.GE, 2), SIX, [0, 0, 0, 0, 1, 1]),
    (t.Mask(R.LT, 2), SIX, [1, 1, 1, 1, 0, 0]), (t.Mask(R.LE, 2), SIX, [1, 1, 1, 1, 1, 0]),
    (t.Mask(R.GT, "a"), WORDS, [0, 1, 1]), (t.TypeCast(np.int8), [1.5, -1.5], [1, -1]),
    (t.TypeCast(ms.bool_), SIX, SIX != 0), (t.TypeCast(np.str_), WORDS, WORDS),
    (t.TypeCast(ms.int32), np.array(["12", "-3"]), [12, -3]),
])  # fmt: skip
def test_values(transform, column, wanted):
    result = transform(column)
    np.testing.assert_array_equal(result, wanted)
    if type(transform) not in (t.Mask, t.TypeCast) and result.dtype.kind not in "U":
        assert result.dtype == column.dtype


def test_several_columns_are_joined():
    joined = t.Concatenate(0, np.array([1.0]), np.array([2.0]))(np.zeros(2), np.ones(1))
    assert joined.tolist() == [1, 0, 0, 1, 2]


def test_unique_of_rows():
    values, places, counts = t.Unique()(np.array([[3.0, 1], [3, 2]]))
    assert values.tolist() == [3, 1, 2] and values.dtype == np.float64
    assert places.tolist() == [0, 1, 0, 2] and places.dtype == np.int32
    assert counts.tolist() == [2, 1, 1] and counts.dtype == np.int32


def test_mask_has_the_type_wanted():
    assert t.Mask(R.GE, 2, ms.float32)(SIX).dtype == np.float32
    assert t.Mask(R.GE, 2)(SIX).dtype == np.bool_


@pytest.mark.parametrize(("call", "error"), [
    (lambda: t.Compose((abs,)), TypeError), (lambda: t.Compose([]), ValueError), (lambda: t.Compose([1]), TypeError),
    (lambda: t.Compose([vision.Invert]), ValueError), (lambda: t.Compose([abs])(), TypeError),
    (lambda: t.RandomApply([abs], 2), ValueError), (lambda: t.RandomChoice(1), TypeError),
    (lambda: t.Fill([1]), TypeError), (lambda: t.Fill("a")(SIX), RuntimeError),
    (lambda: t.Fill(1)(WORDS), RuntimeError),
    (lambda: t.OneHot(0), ValueError), (lambda: t.OneHot(3, 2), ValueError), (lambda: t.OneHot(2)(SIX), RuntimeError),
    (lambda: t.Concatenate(1), ValueError), (lambda: t.Concatenate(0, [1]), TypeError),
    (lambda: t.Concatenate(0, np.ones((2, 2))), ValueError), (lambda: t.Concatenate()(TABLE), RuntimeError),
    (lambda: t.Concatenate()(SIX, WORDS), RuntimeError), (lambda: t.Concatenate()(SIX, SIX * 1.0), RuntimeError),
    (lambda: t.PadEnd((3,)), TypeError), (lambda: t.PadEnd([1.5]), TypeError), (lambda: t.PadEnd([0]), ValueError),
    (lambda: t.PadEnd([3], [1]), TypeError), (lambda: t.PadEnd([3])(TABLE), RuntimeError),
    (lambda: t.PadEnd([9], "a")(SIX), RuntimeError), (lambda: t.Slice(1.5), TypeError),
    (lambda: t.Slice([1, 1.5]), TypeError), (lambda: t.Slice(10)(SIX), RuntimeError),
    (lambda: t.Slice([0, 10])(SIX), RuntimeError), (lambda: t.Slice(0, 1)(SIX), RuntimeError),
    (lambda: t.Slice(False)(SIX), RuntimeError), (lambda: t.Slice(0)(3), RuntimeError),
    (lambda: t.Mask(0, 1), TypeError), (lambda: t.Mask(R.EQ, [1]), TypeError),
    (lambda: t.Mask(R.EQ, 1, np.int32), TypeError), (lambda: t.Mask(R.EQ, "a")(SIX), RuntimeError),
    (lambda: t.Mask(R.EQ, b"a")(WORDS), RuntimeError), (lambda: t.Unique()(WORDS), RuntimeError),
    (lambda: t.TypeCast(None), TypeError), (lambda: t.TypeCast(ms.int32)(WORDS), RuntimeError),
    (lambda: t.TypeCast(np.str_)(SIX), RuntimeError), (lambda: t.Plugin("lib.so", "f"), NotImplementedError),
])  # fmt: skip
def test_what_is_wrong(call, error):
    with pytest.raises(error, match="For '|is not available"):
        call()


def test_compose_gives_a_tuple_where_mindspore_does():
    pil = pytest.importorskip("PIL.Image")
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert isinstance(t.Compose([vision.HWC2CHW(), lambda x: x + 1])(image), np.ndarray)
    (result,) = t.Compose([vision.ToPIL(), vision.HorizontalFlip(), vision.ToTensor()])(pil.fromarray(image))
    assert result.shape == (3, 4, 5)
    assert len(t.Compose([vision.ToPIL(), vision.FiveCrop(2)])(image)) == 5
    data = GeneratorDataset([(image,)], ["image"]).map(t.Compose([vision.ToPIL(), vision.ToTensor()]), "image")
    assert next(data.create_tuple_iterator(output_numpy=True))[0].shape == (3, 4, 5)


def test_random_choices_of_functions():
    config.set_seed(7)
    assert {t.RandomChoice([lambda x: x + 1, lambda x: x + 2])(0) for _ in range(50)} == {1, 2}
    assert {t.RandomOrder([lambda x: x + 1, lambda x: x * 2])(3) for _ in range(50)} == {7, 8}
    assert np.mean([t.RandomApply([lambda x: x + 1], 0.2)(0) for _ in range(3000)]) == pytest.approx(0.2, abs=0.03)


def test_marked_functions():
    @t.not_random
    def double(x):
        return 2 * x

    assert double.random is False and vision.not_random is t.not_random and t.vision is vision


def test_longer_paths():
    from dist_ms.dataset.transforms import transforms as longer
    from dist_ms.dataset.vision import pil_functions
    from dist_ms.dataset.vision import transforms as of_images

    assert of_images.Resize is vision.Resize and longer.Mask is t.Mask and "Resize" in dir(of_images)
    with pytest.raises(AttributeError, match="has no attribute 'zzz'"):
        of_images.zzz  # noqa: B018
    assert not pil_functions.is_pil(SIX)
    with pytest.raises(TypeError, match="must be a PIL image"):
        pil_functions.adjust_brightness(SIX, 2.0)


def test_functions_of_pil_images():
    pil = pytest.importorskip("PIL.Image")
    from dist_ms.dataset.vision import pil_functions as f

    array = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    image = pil.fromarray(array)
    for function, transform in (
        (lambda i: f.adjust_brightness(i, 1.5), vision.AdjustBrightness(1.5)),
        (lambda i: f.adjust_contrast(i, 1.5), vision.AdjustContrast(1.5)),
        (lambda i: f.adjust_saturation(i, 1.5), vision.AdjustSaturation(1.5)),
        (lambda i: f.adjust_hue(i, 0.2), vision.AdjustHue(0.2)),
        (lambda i: f.center_crop(i, 2), vision.CenterCrop(2)),
        (lambda i: f.pad(i, 2, 1, "edge"), vision.Pad(2, 1, vision.Border.EDGE)),
        (lambda i: f.rotate(i, 90, 0, False, None, 0), vision.RandomRotation((90, 90))),
        (lambda i: f.random_crop(i, (4, 5), None, False, 0, "constant"), vision.RandomCrop((4, 5))),
        (f.horizontal_flip, vision.RandomHorizontalFlip(1.0)),
        (f.vertical_flip, vision.RandomVerticalFlip(1.0)),
    ):
        np.testing.assert_array_equal(np.asarray(function(image)), np.asarray(transform(image)))
    np.testing.assert_array_equal(np.asarray(f.crop(image, 1, 2, 2, 3)), array[1:3, 2:5])
    with pytest.raises(ValueError, match="'hue_factor' must be from"):
        f.adjust_hue(image, 0.7)


@pytest.mark.parametrize("shape, wanted", [((), (4,)), ((1,), (4,)), ((2,), (2, 4)), ((1, 1), (1, 1, 4))])
def test_a_label_of_one_number_is_one_row(shape, wanted):
    rows = t.OneHot(4, 0.4)(np.full(shape, 2, np.int32))
    assert rows.shape == wanted
    np.testing.assert_allclose(rows.reshape(-1, 4)[0], [0.1, 0.1, 0.7, 0.1])


def test_what_has_no_axes_and_python_types():
    assert t.PadEnd([3, 2], -1)(np.int32(7)) == 7
    assert t.TypeCast(float)(SIX).dtype == np.float64 and t.TypeCast(int)(SIX).dtype == np.int64
    with pytest.raises(RuntimeError, match="300 out of bounds"):
        t.TypeCast(np.int8)(np.array(["1", "300"]))


@pytest.mark.parametrize(
    "transform",
    [
        t.Duplicate(), t.Fill(1), t.OneHot(2), t.TypeCast(ms.int32), t.Mask(R.EQ, 1), t.Concatenate(), t.PadEnd([3]),
        t.Slice(0), t.Unique(), text.CaseFold(), text.WhitespaceTokenizer(), text.ToNumber(ms.int32),
    ],
)  # fmt: skip
def test_nothing_is_no_column(transform):
    with pytest.raises(TypeError, match=f"For '{type(transform).__name__}', .* but got None"):
        transform(None)

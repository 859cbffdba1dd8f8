"""Images resized, cropped and pooled with places, boxes left out: figures of MindSpore 2.10, NumPy, differences."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient

RNG = np.random.default_rng(0)
SQUARE = ms.Tensor(np.arange(4.0, dtype=np.float32).reshape(1, 1, 2, 2))


def close(x, wanted, tolerance=1e-5):
    np.testing.assert_allclose(x.asnumpy(), wanted, rtol=tolerance, atol=1e-6)


FIGURES = {
    "bilinear": (lambda: ops.ResizeBilinearV2()(SQUARE, (1, 4)), [0, 0.5, 1, 1]),
    "bilinear corners": (lambda: ops.ResizeBilinearV2(True)(SQUARE, (1, 3)), [0, 0.5, 1]),
    "bilinear half": (lambda: ops.ResizeBilinearV2(False, True)(SQUARE, (2, 1)), [0.5, 2.5]),
    "bicubic": (lambda: ops.ResizeBicubic()(SQUARE + 1, ms.Tensor([1, 4], ms.int32)), [1, 1.5, 2, 2.09375]),
    "nearest": (lambda: ops.ResizeNearestNeighbor((2, 4))(SQUARE), [0, 0, 1, 1, 2, 2, 3, 3]),
    "nearest corners": (lambda: ops.ResizeNearestNeighborV2(True)(SQUARE, (1, 3)), [0, 1, 1]),
    "linear": (lambda: ops.ResizeLinear1D()(SQUARE[0], (3,)), [0, 0.5, 1, 2, 2.5, 3]),
    "area": (lambda: ops.ResizeArea()(SQUARE.reshape(1, 2, 2, 1), ms.Tensor([1, 2], ms.int32)), [1, 2]),
    "upsample": (lambda: ops.UpsampleNearest3D()(SQUARE[None], None, [1.0, 1.0, 2.0]), [0, 0, 1, 1, 2, 2, 3, 3]),
    "trilinear": (lambda: ops.UpsampleTrilinear3D()(SQUARE[None] + 1, (1, 1, 4), None), [2, 2.25, 2.75, 3]),
    "roi": (
        lambda: ops.ROIAlign(2, 2, 0.5, 2)(SQUARE + 1, ms.Tensor([[0, 0.2, 0.3, 0.2, 0.3]])),
        [1.775, 2.025, 2.275, 2.525],
    ),
    "glimpse": (
        lambda: ops.ExtractGlimpse(False, False, False, "uniform")(
            ops.arange(9.0).reshape(1, 3, 3, 1), ms.Tensor([2, 2], ms.int32), ms.Tensor([[1.0, 1.0]])
        ),
        [0, 1, 3, 4],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name):
    make, wanted = FIGURES[name]
    close(make().reshape(-1), wanted)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.ResizeBilinearV2(True)(x, (5, 2)),
        lambda x: ops.ResizeBicubic()(x, (5, 2)),
        lambda x: ops.ResizeNearestNeighborV2(False, True)(x, (5, 2)),
        lambda x: ops.ROIAlign(2, 3, 0.5, 2)(x, ms.Tensor([[0, 1.0, 0.0, 5.0, 7.0], [1, -3.0, 2.0, 4.0, 6.0]])),
        lambda x: ops.Im2Col((2, 1), 1, 1, (1, 0))(x),
        lambda x: ops.MaxPoolWithArgmaxV2(2, 1)(x)[0],
        lambda x: ops.ChannelShuffle(2)(x),
    ],
)
def test_gradients(function):
    check_gradient(function, (RNG.permutation(2 * 2 * 3 * 4) * 0.3).reshape(2, 2, 3, 4))


def test_columns_are_unfolds():
    x = ms.Tensor(RNG.standard_normal((2, 3, 5, 6)).astype(np.float32))
    columns = ops.Im2Col((3, 2), 2, 1, 1)(x)
    close(columns.reshape(2, 18, -1), ops.unfold(x, (3, 2), 1, 1, 2).asnumpy())
    back = ops.col2im(columns, ms.Tensor([5, 6], ms.int32), [3, 2], [1, 1], [1, 1], [2, 2])
    close(back, ops.fold(columns.reshape(2, 18, -1), (5, 6), (3, 2), 1, 1, 2).asnumpy())


def test_places_of_maxima():
    x = ms.Tensor(RNG.standard_normal((2, 3, 6, 8)).astype(np.float32))
    out, places = ops.MaxPoolWithArgmaxV2((2, 4))(x)
    close(out, x.asnumpy().reshape(2, 3, 3, 2, 2, 4).max((3, 5)))
    flat = x.asnumpy().reshape(2, 3, 48)
    close(out.reshape(2, 3, -1), np.take_along_axis(flat, places.asnumpy().reshape(2, 3, -1), 2))
    back = ops.MaxUnpool2D((2, 4))(out, places).asnumpy()
    np.testing.assert_array_equal(back[back != 0], x.asnumpy()[back != 0])
    assert (back != 0).sum() == out.size
    volume = ops.arange(8.0).reshape(1, 1, 2, 2, 2)
    out, places = ops.MaxPool3DWithArgmax(2, 1, 1)(volume)
    assert out.shape == (1, 1, 3, 3, 3)
    assert places.asnumpy()[0, 0, 1].reshape(-1).tolist() == [4, 5, 5, 6, 7, 7, 6, 7, 7]
    assert ops.AdaptiveMaxPool3D()(volume[0], ms.Tensor([1, 1, 2], ms.int32))[1].asnumpy().ravel().tolist() == [6, 7]


def test_crops():
    image = ms.Tensor(RNG.standard_normal((2, 5, 6, 3)).astype(np.float32))
    whole = ms.Tensor([[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0]])
    out = ops.crop_and_resize(image, whole, ms.Tensor([1, 1], ms.int32), (5, 6)).asnumpy()
    np.testing.assert_allclose(out[0], image.asnumpy()[1], atol=1e-5)
    np.testing.assert_allclose(out[1], image.asnumpy()[1, ::-1], atol=1e-5)
    beyond = ops.CropAndResize("nearest", 7.0)(
        image, ms.Tensor([[0.0, 0.0, 2.0, 1.0]]), ms.Tensor([0], ms.int32), (3, 6)
    )
    np.testing.assert_allclose(beyond.asnumpy()[0, 2], 7.0)
    np.testing.assert_allclose(beyond.asnumpy()[0, 1], image.asnumpy()[0, 4])


def test_colors_there_and_back():
    x = RNG.random((2, 3, 4, 3)).astype(np.float32)
    hsv = ops.RGBToHSV()(ms.Tensor(x))
    close(ops.HSVToRGB()(hsv), x)
    close(hsv[..., 2], x.max(-1))
    assert ops.RGBToHSV()(ops.ones((1, 1, 1, 3))).asnumpy().ravel().tolist() == [0, 0, 1]


def test_suppression():
    boxes = np.array(
        [[100, 100, 150, 168, 0.63], [150, 75, 315, 190, 0.55], [12, 190, 300, 390, 0.9], [28, 130, 134, 302, 0.3]]
    )
    out, numbers, kept = ops.NMSWithMask(0.1)(ms.Tensor(boxes, ms.float32))
    assert numbers.asnumpy()[kept.asnumpy()].tolist() == [0, 1, 2]
    close(out[:, 4], [0.9, 0.63, 0.55, 0.3])
    places = ms.Tensor([[[[0, 0, 1, 1]], [[0, 0, 1, 0.9]], [[0, 0, 0.2, 0.2]]]], ms.float32)
    scores = ms.Tensor([[[0.9, 0.1], [0.8, 0.7], [0.6, 0.05]]], ms.float32)
    three, half, least = ms.Tensor(3, ms.int32), ms.Tensor(0.5), ms.Tensor(0.2)
    found, marks, labels, valid = ops.CombinedNonMaxSuppression()(places, scores, three, three, half, least)
    close(marks, [[0.9, 0.7, 0.6]])
    assert labels.asnumpy().tolist() == [[0, 1, 0]]
    assert valid.asnumpy().tolist() == [3]
    close(found[0, 1], [0, 0, 1, 0.9])


REFUSED = {
    "both": (ValueError, lambda: ops.ResizeBilinearV2(True, True)),
    "rank": (ValueError, lambda: ops.ResizeBicubic()(SQUARE[0], (2, 2))),
    "no tensor": (TypeError, lambda: ops.ResizeNearestNeighborV2()(3, (2, 2))),
    "size": (ValueError, lambda: ops.ResizeBilinearV2()(SQUARE, (0, 2))),
    "mode": (ValueError, lambda: ops.ResizeLinear1D("middle")),
    "neither": (ValueError, lambda: ops.UpsampleNearest3D()(SQUARE[None], None, None)),
    "rois": (ValueError, lambda: ops.ROIAlign(1, 1, 1.0)(SQUARE, ops.ones((1, 4)))),
    "image": (ValueError, lambda: ops.ROIAlign(1, 1, 1.0)(SQUARE, ops.ones((1, 5)))),
    "boxes": (TypeError, lambda: ops.CropAndResize()(SQUARE, ops.ones((1, 4), ms.int32), ms.Tensor([0]), (1, 1))),
    "method": (ValueError, lambda: ops.CropAndResize("cubic")),
    "columns": (ValueError, lambda: ops.col2im(SQUARE, ms.Tensor([1, 1]), [3, 3], 1, 0, 1)),
    "colors": (ValueError, lambda: ops.RGBToHSV()(SQUARE)),
    "argmax type": (TypeError, lambda: ops.MaxPoolWithArgmaxV2(2, argmax_type=ms.float32)),
    "nms": (ValueError, lambda: ops.NMSWithMask()(ops.ones((3, 4)))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    error, call = REFUSED[name]
    with pytest.raises(error, match="For '"):
        call()


def test_what_lies_outside_of_a_region_is_not_read():
    x = np.random.default_rng(0).normal(size=(1, 3, 20, 20)).astype(np.float32)
    far = x.copy()
    far[:, :, 0, 0], far[:, :, -1, 3] = np.inf, np.nan
    align, region = ops.ROIAlign(4, 3, 1.0, 2), ms.Tensor([[0, 5.5, 4, 12, 13]], ms.float32)
    assert (align(ms.Tensor(far), region).asnumpy() == align(ms.Tensor(x), region).asnumpy()).all()

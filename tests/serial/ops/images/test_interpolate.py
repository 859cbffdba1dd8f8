"""Interpolation, and rearranging of pixels and channels."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.ops.layout import is_channels_last
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor
from tests.serial.kernels.calls import channels_last

CASES = [
    ((2, 3, 5), {"size": 7, "mode": "linear"}),
    ((2, 3, 5), {"size": 3, "mode": "linear", "align_corners": True}),
    ((2, 3, 5), {"size": 3}),
    ((1, 2, 3, 4), {"size": (5, 6), "mode": "bilinear"}),
    ((1, 2, 3, 4), {"size": (5, 6), "mode": "bicubic"}),
    ((1, 2, 3, 4), {"size": (5, 6), "mode": "bicubic", "align_corners": True}),
    ((1, 2, 3, 4), {"size": (2, 6), "mode": "area"}),
    ((1, 2, 3, 4), {"scale_factor": 2.5, "mode": "nearest-exact"}),
    ((1, 2, 3, 4), {"scale_factor": (2, 1.5), "mode": "bilinear", "recompute_scale_factor": True}),
    ((1, 2, 2, 3, 2), {"size": (3, 3, 4), "mode": "trilinear"}),
]


@pytest.mark.parametrize("shape, options", CASES)
def test_gradients(shape, options):
    check_gradient(lambda x: ops.interpolate(x, **options), normal(*shape))
    check_precisions(lambda x: ops.interpolate(x, **options), normal(*shape))


@pytest.mark.parametrize(
    "options, wanted",
    [
        ({"size": (4, 4)}, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]),
        ({"size": (2, 4), "mode": "bilinear"}, [0, 0.25, 0.75, 1, 2, 2.25, 2.75, 3]),
        ({"size": (2, 4), "mode": "bilinear", "align_corners": True}, [0, 1 / 3, 2 / 3, 1, 2, 7 / 3, 8 / 3, 3]),
        ({"size": (3, 3), "mode": "area"}, [0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3]),
        ({"scale_factor": 2.0}, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]),
    ],
)
def test_values_of_mindspore(options, wanted):
    found = ops.interpolate(tensor(np.arange(4).reshape(1, 1, 2, 2)), **options).asnumpy().ravel()
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_cubic_values_of_mindspore():
    # MindSpore looks the weights up in a table, hence the tolerance.
    found = ops.interpolate(tensor(np.arange(16).reshape(1, 1, 4, 4)), size=(3, 3), mode="bicubic").asnumpy().ravel()
    np.testing.assert_allclose(found[:5], [0.5154, 1.9123, 3.3092, 6.1031, 7.5], atol=2e-3)


def test_constant_stays():
    for mode in ("nearest", "bilinear", "bicubic", "area", "nearest-exact"):
        found = ops.interpolate(tensor(np.ones((1, 1, 4, 5))), size=(7, 3), mode=mode).asnumpy()
        np.testing.assert_allclose(found, 1, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size": 4, "scale_factor": 2.0},
        {"size": (4, 4), "mode": "foo"},
        {"size": (4, 4), "mode": "linear"},
        {"size": (4, 4, 4)},
        {"size": 0},
        {"scale_factor": -1.0},
        {"scale_factor": 0.1},
        {"size": 4, "align_corners": True},
        {"size": 4, "recompute_scale_factor": True},
    ],
)
def test_errors(options):
    with pytest.raises(ValueError, match="For 'interpolate'"):
        ops.interpolate(tensor(np.ones((1, 1, 2, 2))), **options)


def test_pixel_shuffle():
    x = np.arange(2 * 8 * 3 * 2.0).reshape(2, 8, 3, 2)
    out = ops.pixel_shuffle(Tensor(x), 2).asnumpy()
    for n, c, h, w in np.ndindex(*out.shape):
        assert out[n, c, h, w] == x[n, c * 4 + h % 2 * 2 + w % 2, h // 2, w // 2]
    assert np.array_equal(ops.pixel_unshuffle(Tensor(out), 2).asnumpy(), x)
    check_gradient(lambda x: ops.pixel_shuffle(x, 2), x)
    check_gradient(lambda x: ops.pixel_unshuffle(x, 2), out)


def test_channel_shuffle():
    found = ops.channel_shuffle(Tensor(np.arange(6.0).reshape(1, 6, 1, 1)), 2).asnumpy().ravel().tolist()
    assert found == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.pixel_shuffle(x, 2),
        lambda x: ops.pixel_shuffle(x, 0),
        lambda x: ops.pixel_unshuffle(x, 2),
        lambda x: ops.pixel_shuffle(ops.reshape(x, (3, 9)), 1),
        lambda x: ops.channel_shuffle(x, 2),
    ],
)
def test_shuffle_errors(call):
    with pytest.raises(ValueError, match="For '"):
        call(tensor(normal(1, 3, 3, 3)))


def test_infinities_stay_where_they_are():
    x = Tensor(np.array([[[np.inf, 1, 2, -np.inf]]], np.float32))
    for mode, size, wanted in (
        ("nearest", 8, [np.inf, np.inf, 1, 1, 2, 2, -np.inf, -np.inf]),
        ("linear", 7, [np.inf, np.inf, np.inf, 1.5, -np.inf, -np.inf, -np.inf]),
        ("area", 2, [np.inf, -np.inf]),
    ):
        assert ops.interpolate(x, size=size, mode=mode).asnumpy().ravel().tolist() == wanted
    assert ops.interpolate(x[..., None], size=(2, 2)).asnumpy().ravel().tolist() == [np.inf, np.inf, 2, 2]


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16, ms.float16, ms.float64])
def test_pixels_in_memory_of_convolutions(mode, dtype):
    x = normal(2, 5, 6, 7)
    pixels = from_array(channels_last(x.astype(dtype.np)))
    wanted = ops.interpolate(Tensor(x).astype(dtype), size=(9, 4), mode=mode)
    found = ops.interpolate(pixels, size=(9, 4), mode=mode)
    assert found.dtype == dtype and is_channels_last(found.array())
    same = {ms.float64: 1e-14, ms.float32: 1e-6, ms.float16: 2.0**-10, ms.bfloat16: 2.0**-7}[dtype]
    wanted = wanted.astype(ms.float64).asnumpy()
    np.testing.assert_allclose(found.astype(ms.float64).asnumpy(), wanted, rtol=same, atol=same)

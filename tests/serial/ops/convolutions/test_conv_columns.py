"""Convolutions as matrix products beside oneDNN's own."""

import math

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import dnnl, threads
from dist_ms.ops.capabilities import Capabilities, capabilities
from dist_ms.ops.convolutions import conv_arrays, conv_columns, plan
from dist_ms.ops.convolutions.conv_geometry import Geometry
from tests.precisions import sums_bound
from tests.serial.kernels.calls import channels_last

BF16, F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
# x, w, stride, padding, dilation: all with so few pixels that products are chosen
CASES = [
    ((4, 64, 4, 4), (512, 64, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((2, 40, 8, 7), (512, 40, 3, 2), (2, 1), ((0, 1), (2, 0)), (1, 2)),
    ((3, 128, 5, 4), (520, 128, 1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ((3, 33, 5, 4), (512, 33, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((3, 33, 5, 4), (512, 33, 1, 1), (1, 1), ((1, 0), (0, 2)), (1, 1)),
    ((3, 48, 30), (512, 48, 5), (2,), ((2, 2),), (1,)),
]
# Plain products of the images as they lie: a window covers an image, or is a pixel with few outputs.
PLAIN_CASES = [
    ((8, 20, 11, 13), (7, 20, 11, 13), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((9, 3, 30, 30), (40, 3, 30, 30), (2, 3), ((0, 0), (0, 0)), (1, 1)),
    ((40, 7, 90), (3, 7, 90), (1,), ((0, 0),), (1,)),
    ((8, 5, 8, 8, 8), (9, 5, 8, 8, 8), (1, 1, 1), ((0, 0),) * 3, (1, 1, 1)),
    ((8, 64, 24, 25), (1, 64, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((5, 65, 33, 25), (3, 65, 1, 1), (1, 1), ((0, 0), (0, 0)), (2, 1)),
]


F16 = np.dtype(np.float16)
# What the one rounding of a float32 sum to the type is off by at most, of its value; and where that is subnormal.
ROUNDING = {F32: 0.0, BF16: 2.0**-8, F16: 2.0**-11}
OF_SUBNORMALS = {F32: 0.0, BF16: 0.0, F16: 2.0**-25}


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("turns_rows", (True, False))
@pytest.mark.parametrize("x_shape, w_shape, stride, padding, dilation", CASES)
def test_forward_and_gradients(x_shape, w_shape, stride, padding, dilation, turns_rows, layout, dtype, monkeypatch):
    at = Geometry(x_shape, w_shape, stride, padding, dilation)
    assert conv_columns.turns_rows(at) == (math.prod(w_shape[2:]) > 1)
    if not turns_rows:
        monkeypatch.setattr(conv_columns, "turns_rows", lambda at: False)
    if dtype != BF16 or capabilities().amx:
        assert plan.suits_columns(at, BF16 if dtype == BF16 else F32, capabilities())
    check_forward_and_gradients(at, layout, dtype)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("x_shape, w_shape, stride, padding, dilation", PLAIN_CASES)
def test_plain_products(x_shape, w_shape, stride, padding, dilation, layout, dtype):
    at = Geometry(x_shape, w_shape, stride, padding, dilation)
    assert plan.has_plain_product(at, F32, capabilities())
    check_forward_and_gradients(at, layout, dtype)


# Single channels with long rows, channels that are no power of two, and few outputs.
THIN_CASES = [
    ((9, 1, 31, 30), (5, 1, 4, 5), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((30, 1, 24, 33), (8, 1, 3, 3), (2, 1), ((2, 1), (0, 4)), (1, 2)),
    ((8, 1, 400), (9, 1, 40), (1,), ((3, 0),), (1,)),
    ((3, 1, 9, 12, 30), (4, 1, 3, 3, 3), (1, 2, 1), ((1, 1), (0, 2), (1, 1)), (2, 1, 1)),
    ((5, 5, 17, 20), (12, 5, 5, 3), (1, 1), ((1, 1), (0, 2)), (1, 1)),
    ((4, 64, 33, 34), (3, 64, 3, 3), (1, 1), ((1, 0), (2, 1)), (1, 1)),
    ((2, 48, 61, 60), (1, 48, 3, 2), (1, 1), ((0, 2), (1, 0)), (2, 3)),
    ((9, 70, 500), (4, 70, 5), (1,), ((4, 0),), (1,)),
]


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("x_shape, w_shape, stride, padding, dilation", THIN_CASES)
def test_thin_convolutions(x_shape, w_shape, stride, padding, dilation, layout, dtype):
    at = Geometry(x_shape, w_shape, stride, padding, dilation)
    assert plan.has_few_channels(at) != plan.has_few_outputs(at, F32, capabilities())
    check_forward_and_gradients(at, layout, dtype)


# Few channels, whose gradient is oneDNN's in bfloat16 tiles.
TILED_CASES = [
    ((9, 6, 12, 13), (16, 6, 5, 4), (1, 1), ((0, 0), (1, 2)), (1, 1)),
    ((5, 3, 20, 18), (40, 3, 7, 7), (2, 2), ((3, 3), (3, 2)), (1, 1)),
    ((3, 3, 5, 20, 24), (33, 3, 3, 7, 5), (1, 2, 2), ((1, 1), (3, 3), (2, 2)), (1, 1, 1)),
    ((4, 1, 7, 16, 33), (16, 1, 3, 3, 3), (1, 1, 1), ((1, 1),) * 3, (1, 1, 1)),
    ((6, 5, 300), (24, 5, 9), (1,), ((4, 4),), (2,)),
]


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("x_shape, w_shape, stride, padding, dilation", TILED_CASES)
def test_few_channels_in_tiles(x_shape, w_shape, stride, padding, dilation, layout, dtype):
    at = Geometry(x_shape, w_shape, stride, padding, dilation)
    assert plan.has_few_channels(at)
    assert plan.suits_tiles(at, BF16, Capabilities(amx=True, bfloat16=True))
    check_forward_and_gradients(at, layout, dtype)


# Rows of windows as channels.
ROWS_CASES = [
    ((4, 8, 30, 31), (32, 8, 12, 9), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((3, 5, 19, 40), (33, 5, 9, 10), (1, 2), ((4, 3), (5, 0)), (1, 1)),
    ((2, 3, 20, 25), (7, 3, 4, 5), (1, 3), ((1, 6), (0, 2)), (3, 2)),
    ((1, 1, 5, 6), (2, 1, 5, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
]


@pytest.mark.parametrize("with_bias", (False, True))
@pytest.mark.parametrize("dtypes", ((F32, F32), (BF16, BF16), (BF16, F32)), ids=str)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("x_shape, w_shape, stride, padding, dilation", ROWS_CASES)
def test_rows_of_windows_as_channels(x_shape, w_shape, stride, padding, dilation, layout, dtypes, with_bias):
    at = Geometry(x_shape, w_shape, stride, padding, dilation)
    rng = np.random.default_rng(0)
    x, w = (layout(rng.standard_normal(shape)).astype(dtypes[0]) for shape in (at.x, at.w))
    bias = rng.standard_normal(at.w[0]).astype(dtypes[1]) if with_bias else None
    out = channels_last(np.full(at.y, np.nan)).astype(dtypes[1])
    conv_columns.convolve_rows(x, w, bias, at, out)
    wide = None if bias is None else bias.astype(np.float64)
    wanted = conv_arrays.convolve(x.astype(np.float64), w.astype(np.float64), wide, at)
    np.testing.assert_allclose(
        out.astype(np.float64), wanted, rtol=max(1e-5, ROUNDING[dtypes[1]]), atol=1e-5 * abs(wanted).max()
    )


def check_forward_and_gradients(at, layout, dtype):
    rng = np.random.default_rng(0)
    x_shape, w_shape, y_shape = at.x, at.w, at.y
    x, w, dy = (layout(rng.standard_normal(shape)).astype(dtype) for shape in (x_shape, w_shape, y_shape))
    bias = rng.standard_normal(w_shape[0]).astype(dtype)

    def results(x, w, bias, dy):
        return (
            conv_arrays.convolve(x, w, bias, at),
            conv_arrays.convolve_transposed(dy, w, at),
            *conv_arrays.convolution_weights(x, dy, at, True),
        )

    wide = [array.astype(np.float64) for array in (x, w, bias, dy)]
    squares = results(*map(np.square, wide))
    places, pixels = math.prod(w_shape[2:]), y_shape[0] * math.prod(y_shape[2:])
    terms = (w_shape[1] * places + 1, w_shape[0] * places, pixels, pixels)
    for found, wanted, count, square in zip(results(x, w, bias, dy), results(*wide), terms, squares, strict=True):
        assert found.dtype == dtype and found.shape == wanted.shape
        of_sums = sums_bound(count, square, wanted)
        allowed = of_sums + ROUNDING[dtype] * (np.abs(wanted) + of_sums) + OF_SUBNORMALS[dtype]
        assert (np.abs(found.astype(np.float64) - wanted) <= allowed).all()


@pytest.mark.skipif(not dnnl.has_bfloat16(), reason="this CPU, or its owner, has no bfloat16 products to give")
def test_results_may_be_wider_than_the_factors():
    rng = np.random.default_rng(1)
    at = Geometry(*CASES[0])
    x, w = (channels_last(rng.standard_normal(shape)).astype(BF16) for shape in (at.x, at.w))
    dy = channels_last(rng.standard_normal(at.y)).astype(BF16)
    y, dx, dw = channels_last(np.empty(at.y, F32)), channels_last(np.empty(at.x, F32)), np.empty(at.w, F32)
    conv_columns.convolve(x, w, None, at, y)
    conv_columns.convolve_transposed(dy, w, at, dx)
    conv_columns.convolution_weights(x, dy, dw, at)
    wide_x, wide_w, wide_dy = (array.astype(F32) for array in (x, w, dy))
    pairs = (
        (y, conv_arrays.convolve(wide_x, wide_w, None, at)),
        (dx, conv_arrays.convolve_transposed(wide_dy, wide_w, at)),
        (dw, conv_arrays.convolution_weights(wide_x, wide_dy, at, False)[0]),
    )
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("count", [1, 2, 3, 16])
@pytest.mark.parametrize("side", [30, 35])
@pytest.mark.parametrize("amx", [False, True])
def test_threads_share_the_sums_of_windows_over_images(amx, side, count, dtype, monkeypatch):
    monkeypatch.setattr(conv_columns, "capabilities", lambda: Capabilities(amx=amx))
    if dtype == BF16 and not dnnl.has_bfloat16():
        pytest.skip("this CPU, or its owner, has no bfloat16 products to give")
    rng = np.random.default_rng(side)
    x, w = (rng.standard_normal((n, 3, side, side)).astype(dtype) for n in (32, 9))
    out, before = np.empty((32, 9, 1, 1), dtype), threads.get_num_threads()
    try:
        threads.set_num_threads(count)
        conv_columns.convolve_whole(x, w, None, out)
    finally:
        threads.set_num_threads(before)
    wide = [array.astype(np.float64).reshape(len(array), -1) for array in (x, w)]
    wanted = wide[0] @ wide[1].T
    allowed = sums_bound(3 * side * side, wide[0] ** 2 @ wide[1].T ** 2, wanted)
    allowed += ROUNDING[dtype] * (np.abs(wanted) + allowed) + OF_SUBNORMALS[dtype]
    assert (np.abs(out[..., 0, 0].astype(np.float64) - wanted) <= allowed).all()

"""Convolutions as matrix products beside oneDNN's own, and where they are chosen."""

import math

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import amx, dnnl
from dist_ms.ops.convolutions import conv_arrays, conv_columns
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


# What the one rounding of a float32 sum to the type is off by at most, of its value.
ROUNDING = {F32: 0.0, BF16: 2.0**-8, np.dtype(np.float16): 2.0**-11}


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("x_shape, w_shape, stride, padding, dilation", CASES)
def test_forward_and_gradients(x_shape, w_shape, stride, padding, dilation, layout, dtype):
    rng = np.random.default_rng(0)
    numbers = (stride, padding, dilation, 1)
    y_shape = (x_shape[0], w_shape[0], *conv_arrays.output_sizes(x_shape[2:], w_shape[2:], *numbers[:3]))
    x, w, dy = (layout(rng.standard_normal(shape)).astype(dtype) for shape in (x_shape, w_shape, y_shape))
    bias = rng.standard_normal(w_shape[0]).astype(dtype)
    if dtype != BF16 or dnnl.has_bfloat16():
        assert conv_columns.suits(BF16 if dtype == BF16 else F32, y_shape, w_shape, 1)

    def results(x, w, bias, dy):
        return (
            conv_arrays.convolve(x, w, bias, *numbers),
            conv_arrays.convolve_transposed(dy, w, x_shape, *numbers),
            *conv_arrays.convolution_weights(x, dy, w_shape, True, *numbers),
        )

    wide = [array.astype(np.float64) for array in (x, w, bias, dy)]
    squares = results(*map(np.square, wide))
    places, pixels = math.prod(w_shape[2:]), y_shape[0] * math.prod(y_shape[2:])
    terms = (w_shape[1] * places + 1, w_shape[0] * places, pixels, pixels)
    for found, wanted, count, square in zip(results(x, w, bias, dy), results(*wide), terms, squares, strict=True):
        assert found.dtype == dtype and found.shape == wanted.shape
        of_sums = sums_bound(count, square, wanted)
        allowed = of_sums + ROUNDING[dtype] * (np.abs(wanted) + of_sums)
        assert (np.abs(found.astype(np.float64) - wanted) <= allowed).all()


@pytest.mark.skipif(not dnnl.has_bfloat16(), reason="this CPU, or its owner, has no bfloat16 products to give")
def test_results_may_be_wider_than_the_factors():
    rng = np.random.default_rng(1)
    x_shape, w_shape, *numbers = CASES[0]
    x, w = (channels_last(rng.standard_normal(shape)).astype(BF16) for shape in (x_shape, w_shape))
    dy = channels_last(rng.standard_normal((4, 512, 4, 4))).astype(BF16)
    y, dx = (channels_last(np.empty(shape, F32)) for shape in (dy.shape, x_shape))
    dw = conv_columns.convolution_weights(x, dy, np.empty(w_shape, F32), *numbers)
    wide = [array.astype(F32) for array in (x, w, dy)]
    pairs = (
        (conv_columns.convolve(x, w, None, *numbers, y), conv_arrays.convolve(*wide[:2], None, *numbers, 1)),
        (
            conv_columns.convolve_transposed(dy, w, *numbers, dx),
            conv_arrays.convolve_transposed(wide[2], wide[1], x_shape, *numbers, 1),
        ),
        (dw, conv_arrays.convolution_weights(wide[0], wide[2], w_shape, False, *numbers, 1)[0]),
    )
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


def test_where_products_are_chosen():
    few, many = (2, 512, 8, 8), (64, 512, 16, 16)
    assert conv_columns.suits(F32, few, (512, 64, 3, 3), 1)
    assert not conv_columns.suits(F32, few, (512, 64, 3, 3), 2), "groups"
    assert not conv_columns.suits(F32, few, (64, 64, 3, 3), 1), "few outputs"
    assert not conv_columns.suits(F32, (0, 512, 8, 8), (512, 64, 3, 3), 1), "no pixels"
    assert not conv_columns.suits(F32, (2, 512, 4, 4, 4), (512, 64, 3, 3, 3), 1), "three dimensions"
    assert not conv_columns.suits(F32, many, (512, 512, 3, 3), 1), "columns of 300 MB"
    assert conv_columns.suits(F32, many, (512, 64, 1, 1), 1) == amx.available()
    assert not conv_columns.suits(BF16, many, (512, 64, 1, 1), 1, of_weight=True)
    middle = (8, 512, 8, 16)
    assert conv_columns.suits(BF16, middle, (512, 128, 1, 1), 1, of_weight=True) == dnnl.has_bfloat16()
    assert not conv_columns.suits(BF16, middle, (512, 128, 1, 1), 1)

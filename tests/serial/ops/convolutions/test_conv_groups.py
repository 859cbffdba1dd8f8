"""Groups of few channels taken together, beside the same convolution in float64."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import dnnl
from dist_ms.ops.convolutions import conv_arrays, conv_groups
from tests.serial.kernels.calls import channels_last

BF16, F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)


@pytest.mark.parametrize(
    "shape, group, at_once",
    [
        ((128, 8, 3, 3), 16, 2),
        ((24, 4, 3, 3), 6, 3),  # not 4, which does not divide the groups
        ((20, 3, 3, 3), 5, 1),
        ((12, 5, 3), 2, 2),
        ((64, 2, 3, 3), 8, 2),  # 8 outputs of 2 channels
        ((64, 1, 3, 3), 64, 1),  # depthwise
        ((64, 64, 3, 3), 1, 1),
        ((64, 16, 3, 3), 4, 1),
    ],
)
def test_how_many_are_merged(shape, group, at_once):
    assert conv_groups.merged(BF16, shape, group) == (at_once if dnnl.has_bfloat16() else 1)
    assert conv_groups.merged(F32, shape, group) == 1


@pytest.mark.parametrize("group, at_once, shape", [(6, 3, (12, 4, 3, 2)), (4, 4, (8, 2, 5)), (4, 2, (12, 1, 1, 1, 1))])
def test_weights_there_and_back(group, at_once, shape):
    w = np.random.default_rng(0).standard_normal(shape).astype(F32)
    wide = conv_groups.spread(w, group, at_once)
    assert wide.shape == (shape[0], at_once * shape[1], *shape[2:]) and np.count_nonzero(wide) == w.size
    outputs = shape[0] // group
    for o in range(shape[0]):
        first = o // outputs % at_once * shape[1]
        np.testing.assert_array_equal(wide[o, first : first + shape[1]], w[o])
    back = np.empty_like(w)
    conv_groups.gathered(wide + (wide == 0), group, at_once, back)
    np.testing.assert_array_equal(back, w)


@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize(
    "channels, outputs, group, kernel", [(32, 32, 4, (3, 3)), (12, 24, 6, (1, 3)), (10, 15, 5, (3,))]
)
def test_forward_and_gradients(channels, outputs, group, kernel, layout):
    rng = np.random.default_rng(1)
    rank = len(kernel)
    numbers = ((2,) * rank, ((1, 1),) * rank, (1,) * rank)
    x_shape, w_shape = (3, channels, *(9, 8)[:rank]), (outputs, channels // group, *kernel)
    y_shape = (3, outputs, *conv_arrays.output_sizes(x_shape[2:], kernel, *numbers))
    x, w, dy = (layout(rng.standard_normal(shape)).astype(BF16) for shape in (x_shape, w_shape, y_shape))
    bias = rng.standard_normal(outputs).astype(BF16)

    def results(x, w, bias, dy):
        return (
            conv_arrays.convolve(x, w, bias, *numbers, group),
            conv_arrays.convolve_transposed(dy, w, x_shape, *numbers, group),
            *conv_arrays.convolution_weights(x, dy, w_shape, True, *numbers, group),
        )

    exact = results(*(array.astype(np.float64) for array in (x, w, bias, dy)))
    for found, wanted in zip(results(x, w, bias, dy), exact):
        assert found.dtype == BF16 and found.shape == wanted.shape
        assert np.abs(found.astype(np.float64) - wanted).max() <= 2.0**-8 * np.abs(wanted).max()

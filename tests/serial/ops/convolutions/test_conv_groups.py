"""Groups of few channels taken together, beside the same convolution in float64."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.convolutions import conv_arrays, conv_groups
from dist_ms.ops.convolutions.conv_geometry import Geometry
from tests.serial.kernels.calls import channels_last

BF16, F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)


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
    x_shape, w_shape = (3, channels, *(9, 8)[:rank]), (outputs, channels // group, *kernel)
    at = Geometry(x_shape, w_shape, (2,) * rank, ((1, 1),) * rank, (1,) * rank, group)
    x, w, dy = (layout(rng.standard_normal(shape)).astype(BF16) for shape in (x_shape, w_shape, at.y))
    bias = rng.standard_normal(outputs).astype(BF16)

    def results(x, w, bias, dy):
        return (
            conv_arrays.convolve(x, w, bias, at),
            conv_arrays.convolve_transposed(dy, w, at),
            *conv_arrays.convolution_weights(x, dy, at, True),
        )

    exact = results(*(array.astype(np.float64) for array in (x, w, bias, dy)))
    for found, wanted in zip(results(x, w, bias, dy), exact):
        assert found.dtype == BF16 and found.shape == wanted.shape
        assert np.abs(found.astype(np.float64) - wanted).max() <= 2.0**-8 * np.abs(wanted).max()

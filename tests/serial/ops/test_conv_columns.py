"""The weight gradient of bfloat16 convolutions with few pixels, as matrix products."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import dnnl, interleave
from dist_ms.ops import conv_arrays, conv_columns
from tests.serial.kernels.calls import call, channels_last

BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    "x_shape, w_shape, stride, padding, dilation",
    [
        ((4, 256, 4, 4), (256, 256, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
        ((2, 256, 8, 7), (512, 256, 3, 2), (2, 1), ((0, 1), (2, 0)), (1, 2)),
        ((3, 512, 5, 4), (256, 512, 1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ],
)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
def test_gradients(x_shape, w_shape, stride, padding, dilation, layout):
    rng = np.random.default_rng(0)
    x = layout(rng.standard_normal(x_shape)).astype(BF16)
    sizes = conv_arrays.output_sizes(x_shape[2:], w_shape[2:], stride, padding, dilation)
    dy = layout(rng.standard_normal((x_shape[0], w_shape[0], *sizes))).astype(BF16)
    assert conv_columns.suits(dy.shape, w_shape, 1)
    numbers = (stride, padding, dilation)
    wanted = np.empty(w_shape, np.float32)
    dnnl.conv_backward_weights(x.astype(np.float32), dy.astype(np.float32), wanted, None, *numbers, 1)
    found = conv_columns.convolution_weights(x, dy, w_shape, *numbers)
    assert found.dtype == BF16
    assert np.abs(found.astype(np.float32) - wanted).max() <= 2**-8 * np.abs(wanted).max()
    wide = conv_columns.convolution_weights(x, dy, w_shape, *numbers, np.dtype(np.float32))
    assert wide.dtype == np.float32 and np.abs(wide - wanted).max() <= 1e-5 * np.abs(wanted).max()
    dw, db = conv_arrays.convolution_weights(x, dy, w_shape, True, *numbers, 1)
    assert np.abs(dw.astype(np.float32) - wanted).max() <= 2**-8 * np.abs(wanted).max()
    total = dy.astype(np.float32).sum(axis=(0, 2, 3))
    np.testing.assert_allclose(db.astype(np.float32), total, rtol=2**-7, atol=2**-7 * np.abs(total).max())


@pytest.mark.parametrize("dtype", (np.uint16, np.float32, BF16))
@pytest.mark.parametrize("shape", [(2, 3), (9, 70, 90), (1, 5), (4, 0), (3, 20_001)])
def test_interleave(shape, dtype):
    planes = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    out = np.zeros((*shape[1:], shape[0]), dtype)
    call(interleave.interleave, (planes, out), [out])
    np.testing.assert_array_equal(out, np.moveaxis(planes, 0, -1))


def test_interleave_refuses():
    planes = np.zeros((2, 3), np.float32)
    with pytest.raises(TypeError, match="must have one type of 2 or 4 bytes, but got float32 and float64"):
        interleave.interleave(planes, np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"'out' must have the shape of 'planes' \(2, 3\) with its first dimension"):
        interleave.interleave(planes, planes)
    with pytest.raises(ValueError, match="must be C-contiguous"):
        interleave.interleave(planes, planes.copy().T)

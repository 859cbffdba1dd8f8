"""A vector added along the channels, in every order of memory."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops.layers.bias_add import with_row
from tests.serial.kernels.calls import channels_last

TYPES = (np.float32, ml_dtypes.bfloat16, np.float16, np.float64, np.int32, np.complex64)
SHAPES = (
    (5, 7),
    (3, 7, 5),
    (2, 32, 17, 19),
    (4, 5, 9, 1000),
    (3, 4, 6, 5, 40),
    (1, 5000, 3, 3),
    (2, 3, 0, 4),
    (0, 4096, 2),
)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_are_those_of_numpy_in_the_input_s_memory(shape, dtype):
    rng = np.random.default_rng(0)
    x, bias = ((10 * rng.standard_normal(s)).astype(dtype) for s in (shape, shape[1]))
    wanted = x + bias.reshape(-1, *(1,) * (len(shape) - 2))
    for given in (x, channels_last(x), np.asfortranarray(x), x.repeat(2, 0)[::2]):
        found = with_row(given, bias)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    if wanted.size > 1 and len(shape) > 2 and shape[1] > 1:
        assert with_row(channels_last(x), bias).strides == channels_last(x).strides


def test_as_an_operation():
    x = np.arange(2 * 40 * 15 * 5, dtype=np.float32).reshape(2, 40, 15, 5)
    bias = np.arange(40, dtype=np.float32)
    found = ms.ops.bias_add(ms.Tensor(channels_last(x)), ms.Tensor(bias))
    np.testing.assert_array_equal(found.asnumpy(), x + bias[:, None, None])

"""The sign of bfloat16 numbers, taken off and turned in their bits: every number, in every memory."""

import ml_dtypes
import numpy as np

from dist_ms import Tensor, ops

EVERY = np.arange(1 << 16).astype(np.uint16)


def bits(tensor):
    return tensor.asnumpy().view(np.uint16)


def test_every_number():
    x = Tensor(EVERY.view(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(bits(ops.abs(x)), EVERY & 0x7FFF)
    np.testing.assert_array_equal(bits(ops.neg(x)), EVERY ^ 0x8000)


def test_views_and_small_shapes():
    numbers = EVERY.view(ml_dtypes.bfloat16).reshape(64, 32, 32)
    for view in (numbers.T, numbers[::2, 1:, ::-3], numbers[:, :1, :1], numbers[:0], numbers[3, 4, 5].reshape(())):
        wanted = np.ascontiguousarray(view).view(np.uint16).reshape(view.shape)
        np.testing.assert_array_equal(bits(ops.abs(Tensor(view))), wanted & 0x7FFF)
        np.testing.assert_array_equal(bits(ops.neg(Tensor(view))), wanted ^ 0x8000)

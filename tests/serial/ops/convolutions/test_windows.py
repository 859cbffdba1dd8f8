"""Window geometry and memory layout."""

import numpy as np
import pytest

from dist_ms.ops import layout
from dist_ms.ops.convolutions import windows


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_padding(size, kernel, stride, dilation):
    pairs = windows.same_padding((size,), (kernel,), (stride,), (dilation,))
    assert windows.output_sizes((size,), (kernel,), (stride,), pairs, (dilation,)) == (-(-size // stride),)
    before, after = pairs[0]
    assert 0 <= after - before <= 1


@pytest.mark.parametrize(
    "size, kernel, stride, pads, count",
    [(5, 2, 2, (0, 0), 3), (6, 3, 2, (1, 1), 4), (5, 3, 2, (0, 0), 2), (4, 2, 3, (0, 0), 2), (4, 1, 3, (1, 1), 2)],
)
def test_ceil_padding(size, kernel, stride, pads, count):
    pairs = windows.ceil_padding((size,), (kernel,), (stride,), (pads,), (1,))
    assert windows.output_sizes((size,), (kernel,), (stride,), pairs, (1,)) == (count,)
    assert (count - 1) * stride < size + pads[0]


def test_add_windows_is_the_transpose():
    rng = np.random.default_rng(0)
    geometry = (3, 2), (2, 1), ((1, 2), (0, 1)), (1, 2)
    x = rng.standard_normal((2, 3, 6, 5))
    view = windows.windows(x, *geometry)
    parts = rng.standard_normal(view.shape)
    assert (view * parts).sum() == pytest.approx((x * windows.add_windows(parts, x.shape, *geometry)).sum())


class TestLayout:
    x = np.arange(120.0).reshape(2, 3, 4, 5)

    def test_dense(self):
        last = np.moveaxis(self.x.copy(), 1, -1)
        for view in (self.x, last, self.x.T, np.asfortranarray(self.x), np.zeros((0, 3)), np.zeros((1, 5))[:, :1]):
            assert layout.is_dense(view)
            assert layout.dense(view) is view
        for view in (self.x[:, ::2], self.x[..., ::-1], np.broadcast_to(self.x[:1], (2, 3, 4, 5)), self.x[..., 1:]):
            assert not layout.is_dense(view)
            copy = layout.dense(view)
            assert copy.flags.c_contiguous and np.array_equal(copy, view)

    def test_channels_last(self):
        out = layout.channels_last((2, 3, 4, 5), np.dtype(np.float32))
        assert out.shape == (2, 3, 4, 5) and layout.is_channels_last(out) and not out.flags.c_contiguous
        assert not layout.is_channels_last(self.x)
        assert layout.is_channels_last(self.x[:, :1].copy()) and layout.is_channels_last(self.x[..., :1, :1].copy())

    def test_laid_out_like(self):
        last = layout.channels_last(self.x.shape, self.x.dtype)
        found = layout.laid_out_like(self.x, last)
        assert found.strides == last.strides and np.array_equal(found, self.x)
        assert layout.laid_out_like(found, last) is found

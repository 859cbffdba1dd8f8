"""Operations that move elements, on arrays large enough for the kernel, in any layout, against NumPy."""

import numpy as np
import pytest

import dist_ms as ms

ops = ms.ops
_whole = np.random.default_rng(3).standard_normal((40, 30, 50)).astype(np.float32)
ARRAYS = [_whole, _whole.transpose(1, 2, 0), _whole[:, ::-1, ::2], _whole.transpose(2, 0, 1)[1:]]


def same(found, wanted):
    np.testing.assert_array_equal(found.asnumpy(), wanted)


@pytest.mark.parametrize("x", ARRAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.bool_])
def test_moves(x, dtype):
    x = x.astype(dtype, order="K")
    t = ms.Tensor(x)
    for axis in range(3):
        same(ops.stack((t, t[::-1], t), axis), np.stack((x, x[::-1], x), axis))
        same(ops.roll(t, 7, axis), np.roll(x, 7, axis))
        same(ops.flip(t, (axis, (axis + 1) % 3)), np.flip(x, (axis, (axis + 1) % 3)))
        same(ops.repeat_interleave(t, 3, axis), np.repeat(x, 3, axis))
    same(ops.roll(t, (3, -60), (0, 2)), np.roll(x, (3, -60), (0, 2)))
    same(ops.roll(t, 1001), np.roll(x, 1001))
    same(ops.tile(t, (2, 1, 3)), np.tile(x, (2, 1, 3)))
    same(ops.tile(t, (2, 3)), np.tile(x, (2, 3)))
    same(ops.tile(t, (2, 1, 1, 2)), np.tile(x, (2, 1, 1, 2)))
    same(t.swapaxes(0, 2).contiguous(), x.swapaxes(0, 2))


@pytest.mark.parametrize("x", ARRAYS)
@pytest.mark.parametrize("mode, named", [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_borders(x, mode, named):
    t = ms.Tensor(x)
    for widths in ((3, 4), (0, 5, 2, 0), (1, 1, 20, 3)):
        pairs = [(0, 0)] * (3 - len(widths) // 2) + [widths[i : i + 2] for i in range(len(widths) - 2, -1, -2)]
        same(ops.pad(t, widths, mode), np.pad(x, pairs, named))
    same(ops.pad(t, (1, 2, 0, 3, 4, 5), value=7), np.pad(x, ((4, 5), (0, 3), (1, 2)), constant_values=7))
    same(ops.pad(t, (-1, 2, 3, -2)), np.pad(x[:, :-2, 1:], ((0, 0), (3, 0), (0, 2))))


def test_symmetric_border():
    widths = np.array([[3, 0], [2, 30], [0, 1]])
    same(ops.mirror_pad(ms.Tensor(_whole), ms.Tensor(widths), "SYMMETRIC"), np.pad(_whole, widths, "symmetric"))


def test_no_elements_to_mirror():
    with pytest.raises(ValueError, match="length 0"):
        ops.pad(ms.Tensor(np.zeros((2, 0), np.float32)), (1, 1), "replicate")
    assert ops.pad(ms.Tensor(np.zeros((2, 0), np.float32)), (1, 1)).shape == (2, 2)

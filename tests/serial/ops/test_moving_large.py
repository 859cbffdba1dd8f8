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


@pytest.mark.parametrize("shape", [(3, 200, 150), (150, 200), (2, 1), (0, 3), (130, 130)])
@pytest.mark.parametrize("diagonal", [-300, -70, -1, 0, 1, 64, 100, 300])
def test_triangles(shape, diagonal):
    x = np.random.default_rng(1).standard_normal(shape)
    same(ops.tril(ms.Tensor(x), diagonal), np.tril(x, diagonal))
    same(ops.triu(ms.Tensor(x), diagonal), np.triu(x, diagonal))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_hot(axis):
    places = np.random.default_rng(1).integers(-2, 60, (70, 80))
    wanted = np.moveaxis(np.where(places[..., None] == np.arange(50), 3, -1), -1, axis)
    same(ops.one_hot(ms.Tensor(places), 50, ms.Tensor(3), ms.Tensor(-1), axis), wanted)
    assert ops.one_hot(ms.Tensor(places), 0, ms.Tensor(3), ms.Tensor(-1), axis).size == 0


@pytest.mark.parametrize("x", ARRAYS)
def test_picking(x):
    rng, t = np.random.default_rng(1), ms.Tensor(x)
    for axis in range(3):
        index = rng.integers(-x.shape[axis], x.shape[axis], (4, 33))
        same(ops.gather(t, ms.Tensor(index), axis), np.take(x, index, axis))
        index = rng.integers(0, x.shape[axis], (*x.shape[:axis], 77, *x.shape[axis + 1 :]))
        same(ops.gather_elements(t, axis, ms.Tensor(index)), np.take_along_axis(x, index, axis))
        shorter = index[:3, :4, :5]
        wanted = np.take_along_axis(
            x[tuple(slice(None if d == axis else n) for d, n in enumerate((3, 4, 5)))], shorter, axis
        )
        same(ops.gather_elements(t, axis, ms.Tensor(shorter)), wanted)
        sums, values = x.copy(), rng.standard_normal(index.shape).astype(np.float32)
        grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
        grid[axis] = index
        np.add.at(sums, tuple(grid), values)
        same(ops.tensor_scatter_elements(t, ms.Tensor(index), ms.Tensor(values), axis, "add"), sums)
        line = rng.integers(0, x.shape[axis], 77)
        sums = x.copy()
        np.add.at(sums, (slice(None),) * axis + (line,), values)
        same(ms.mint.index_add(t, axis, ms.Tensor(line), ms.Tensor(values)), sums)


def test_gradient_of_slices():
    x = _whole
    for index in (slice(3, 20), (slice(None), slice(-5, None)), (slice(2, 30), slice(0, 0), slice(1, 9)), slice(30, 5)):
        dout = np.random.default_rng(1).standard_normal(x[index].shape).astype(np.float32)
        wanted = np.zeros_like(x)
        wanted[index] = dout
        found = ops.GradOperation(sens_param=True)(lambda t, index=index: t[index])(ms.Tensor(x), ms.Tensor(dout))
        same(found, wanted)


@pytest.mark.parametrize("x", ARRAYS)
def test_reshape(x):
    t = ms.Tensor(x)
    for shape in ((-1,), (x.shape[0], -1), (-1, x.shape[2]), (2, -1)):
        if x.size % 2 == 0:
            same(t.reshape(shape), x.reshape(shape))
    with pytest.raises(ValueError, match="must hold"):
        t.reshape((7, 11))
    assert np.shares_memory(t.asnumpy(), ops.Reshape().forward(t.asnumpy(), (1, *x.shape)))

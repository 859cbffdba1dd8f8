"""Sums at indices in 16-bit types: made in float32 and rounded once, with the same result wherever they are made."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, ops
from dist_ms.ops.picking import along

NARROW = {"bfloat16": np.dtype(ml_dtypes.bfloat16), "float16": np.dtype(np.float16)}


def added(out, index, values):
    """NumPy's sums in float32, rounded once."""
    wide = out.astype(np.float32)
    np.add.at(wide, index, values.astype(np.float32))
    return wide.astype(out.dtype)


@pytest.mark.parametrize("dtype", NARROW.values(), ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_add_at_places(seed, dtype):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 5)))
    named = int(rng.integers(1, len(shape) + 1))
    count = int(rng.integers(1, 200))
    index = tuple(rng.integers(-n, n, count) for n in shape[:named])
    out, values = (rng.standard_normal(s).astype(dtype) for s in (shape, (count, *shape[named:])))
    wanted = added(out, index, values)
    along.add_at_places(out, index, values)
    np.testing.assert_array_equal(out, wanted)


def test_add_at_places_in_other_memory_and_types():
    rng = np.random.default_rng(0)
    index = (rng.integers(0, 5, (7, 1)), rng.integers(-4, 4, 3))
    values = rng.integers(0, 9, (7, 3, 6))
    for dtype in (np.float32, np.float64, np.int32, *NARROW.values()):
        for out in (np.zeros((5, 4, 6), dtype), np.zeros((6, 4, 5), dtype).T, np.zeros((5, 4, 12), dtype)[..., ::2]):
            along.add_at_places(out, index, values.astype(dtype))
            wanted = np.zeros(out.shape)
            np.add.at(wanted, index, values)
            np.testing.assert_array_equal(out.astype(float), wanted)
    with pytest.raises(IndexError):
        along.add_at_places(np.zeros((5, 4), np.float32), (np.array([5]), np.array([0])), np.ones(1, np.float32))
    empty = np.zeros(0, np.int64)
    along.add_at_places(np.zeros((0, 4), np.float32), (empty, empty), np.zeros(0, np.float32))


@pytest.mark.parametrize("name", NARROW)
def test_operations_sum_in_float32(name):
    """A thousand ones beside a large number: sums in the narrow type would stop growing at 256 or 2048."""
    kind = getattr(ms, name)
    index, one = ms.Tensor(np.zeros(3000, np.int64)), ops.ones((3000, 4), kind)
    start = ops.zeros((2, 4), kind)
    for found in (
        mint.index_add(start, 0, index, one),
        mint.scatter_add(start, 0, ops.tile(index.reshape(-1, 1), (1, 4)), one),
        ms.grad(lambda x: mint.index_select(x, 0, index).sum())(start),
        ms.grad(lambda x: x[index].sum())(start),
        ms.grad(lambda x: mint.nn.functional.embedding(index, x).sum())(start),
    ):
        assert found.dtype == kind
        wanted = np.array([[3000] * 4, [0] * 4]).astype(NARROW[name])
        np.testing.assert_array_equal(found.asnumpy().astype(float), wanted.astype(float))


def test_gradient_of_picked_labels():
    x = ms.Tensor(np.zeros((3, 4)), ms.bfloat16)
    labels = ms.Tensor([1, -100, 3])
    found = ms.grad(lambda x: mint.nn.functional.nll_loss(x, labels, reduction="sum"))(x)
    np.testing.assert_array_equal(found.asnumpy().astype(float), [[0, -1, 0, 0], [0] * 4, [0, 0, 0, -1]])

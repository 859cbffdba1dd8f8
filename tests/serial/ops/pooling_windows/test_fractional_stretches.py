"""FractionalAvgPool and FractionalMaxPool: stretches, values by loops, gradients, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.ops.pooling_windows.fractional_stretches import pseudo_random_starts, random_starts
from tests.gradcheck import check_gradient

RATIO = [1.0, 1.4, 1.5, 1.0]
POOLS = [(ops.FractionalAvgPool, np.mean), (ops.FractionalMaxPool, np.max)]


def looped(x, rows, columns, overlapping, combine):
    """The pooled array, one window at a time."""
    out = np.zeros((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]))
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            part = x[:, rows[i] : rows[i + 1] + overlapping, columns[j] : columns[j + 1] + overlapping]
            out[:, i, j] = combine(part, axis=(1, 2))
    return out


def test_random_stretches_have_two_lengths():
    rng = np.random.default_rng(0)
    for length, count in [(7, 5), (9, 6), (4, 4), (10, 3), (5, 1)]:
        sizes = np.diff(random_starts(rng, length, count))
        assert sizes.sum() == length and len(sizes) == count and set(sizes) <= {length // count, length // count + 1}


def test_one_number_fixes_pseudo_random_stretches():
    # Starts that MindSpore's operation gave for 7 elements in 5 stretches and 9 in 6.
    assert pseudo_random_starts(0.01, 7, 5).tolist() == [0, 1, 2, 4, 5, 7]
    for length, count in [(7, 5), (9, 6), (10, 7), (20, 11), (4, 4), (5, 1)]:
        for u in np.linspace(0, 1, 20, endpoint=False):
            starts = pseudo_random_starts(u, length, count)
            assert starts[0] == 0 and starts[-1] == length and len(starts) == count + 1
            assert set(np.diff(starts)) <= {length // count, length // count + 1}


@pytest.mark.parametrize("pool, combine", POOLS)
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_values(pool, combine, overlapping, pseudo_random, dtype):
    x = (np.random.default_rng(0).random((2, 7, 9, 3)) * 90 - 45).astype(dtype)
    out, rows, columns = pool(RATIO, pseudo_random, overlapping)(Tensor(x))
    assert rows.dtype == columns.dtype == ms.int64 and rows.shape == (6,) and columns.shape == (7,)
    want = looped(x.astype(np.float64), rows.asnumpy(), columns.asnumpy(), overlapping, combine)
    assert out.asnumpy().dtype == dtype
    np.testing.assert_allclose(out.asnumpy(), want if dtype[0] == "f" else np.trunc(want), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pool, combine", POOLS)
@pytest.mark.parametrize("overlapping", [False, True])
def test_gradients(pool, combine, overlapping):
    x = np.random.default_rng(1).permutation(2 * 5 * 6 * 2).reshape(2, 5, 6, 2) / 7.0
    op = pool(RATIO, overlapping=overlapping, deterministic=True)
    check_gradient(lambda x: op(x)[0], x, order=2, step=1e-3)


def test_seeds_and_determinism():
    x = ops.ones((1, 40, 40, 1))

    def starts(op):
        return [tuple(op(x)[i].asnumpy()) for i in (1, 2)]

    seeded = ops.FractionalAvgPool(RATIO, seed=5, seed2=7)
    assert starts(seeded) == starts(seeded) == starts(ops.FractionalMaxPool(RATIO, seed=5, seed2=7))
    assert starts(seeded) != starts(ops.FractionalAvgPool(RATIO, seed=6))
    fixed, free = ops.FractionalAvgPool(RATIO, deterministic=True), ops.FractionalAvgPool(RATIO)
    assert starts(fixed) == starts(fixed) and starts(free) != starts(free)


@pytest.mark.parametrize(
    "ratio, error, text",
    [
        ((1.0, 1.4, 1.4, 1.0), TypeError, "must be a list, but got tuple"),
        ([1, 1.4, 1.4, 1.0], TypeError, "a list of floats"),
        ([1.0, 1.4], ValueError, r"\[1.0, height, width, 1.0\]"),
        ([2.0, 1.4, 1.4, 1.0], ValueError, r"\[1.0, height, width, 1.0\]"),
        ([1.0, 0.5, 1.0, 1.0], ValueError, "at least 1.0"),
    ],
)
def test_ratios_that_are_refused(ratio, error, text):
    with pytest.raises(error, match=text):
        ops.FractionalMaxPool(ratio)


def test_inputs_that_are_refused():
    op = ops.FractionalAvgPool(RATIO)
    with pytest.raises(TypeError, match="of float32, float64, int32 or int64, but got Float16"):
        op(ops.ones((1, 4, 4, 1), ms.float16))
    with pytest.raises(ValueError, match="of 4 dimensions, NHWC"):
        op(ops.ones((4, 4, 1)))
    with pytest.raises(ValueError, match="must not be above the input's size"):
        ops.FractionalAvgPool([1.0, 5.0, 1.0, 1.0])(ops.ones((1, 4, 4, 1)))
    with pytest.raises(TypeError, match="'overlapping' must be a bool"):
        ops.FractionalAvgPool(RATIO, overlapping=1)


def test_an_infinity_stays_in_its_stretch():
    x = np.random.default_rng(0).normal(size=(1, 9, 9, 2)).astype(np.float32)
    pool = ops.FractionalAvgPool([1.0, 1.5, 1.5, 1.0], deterministic=True, seed=1)
    wanted = pool(Tensor(x))[0].asnumpy()
    x[0, 0, 0, 0] = np.inf
    found = pool(Tensor(x))[0].asnumpy()
    assert found[0, 0, 0, 0] == np.inf
    found[0, 0, 0, 0] = wanted[0, 0, 0, 0]
    assert (found == wanted).all()

"""Weighted sums along a dimension, against a product with the dense matrix."""

import numpy as np
import pytest

from dist_ms._ext import resampling
from dist_ms.ops.images.resampling import SparseRows
from tests.serial.kernels.calls import DTYPES, call

# outer, length, count, inner: elements of a line apart and side by side, few and many of each, long lines, empty ones
SIZES = [(2, 5, 9, 8), (3, 7, 4, 300), (1, 3, 2, 20000), (40, 6, 13, 1), (17, 9, 5, 3), (1, 1, 1, 1), (2, 1500, 90, 1)]
SIZES += [(1, 1100, 1300, 7), (300, 40, 80, 2), (0, 3, 4, 5), (2, 0, 4, 9), (2, 0, 4, 1), (2, 3, 0, 9), (2, 3, 4, 0)]


def sums(x, rows, out):
    call(resampling.weighted_sums, (x, rows.starts, rows.columns, rows.weights.astype(x.dtype), out), [out])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("terms", [0.02, 0.3, 1])
def test_sums(size, terms, dtype):
    outer, length, count, inner = size
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(count, length)).astype(dtype) * (rng.random((count, length)) < terms)
    x, out = rng.normal(size=(outer, length, inner)).astype(dtype), np.empty((outer, count, inner), dtype)
    sums(x, SparseRows(matrix), out)
    exact = [a.astype(np.float64) for a in (matrix, x)]
    most = (length + 1) * np.finfo(dtype).eps
    assert (abs(out - exact[0] @ exact[1]) <= most * (abs(exact[0]) @ abs(exact[1]))).all()


@pytest.mark.parametrize("inner", [1, 9])
def test_what_has_no_weight_is_not_read(inner):
    x, out = np.full((2, 3, inner), np.nan), np.empty((2, 4, inner))
    x[:, 1] = 5
    sums(x, SparseRows(np.array([[0, 1, 0], [0, 0, 0], [0, 0.5, 0], [1, 0, 0]])), out)
    assert (out[:, :3] == np.array([5, 0, 2.5])[:, None]).all() and np.isnan(out[:, 3]).all()


def test_transposed():
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    rows = SparseRows(matrix).transposed
    assert (rows.count, rows.length, len(rows.weights)) == (3, 5, 15)
    out = np.empty((1, 3, 1))
    sums(np.ones((1, 5, 1)), rows, out)
    np.testing.assert_allclose(out.ravel(), matrix.sum(0), rtol=1e-13)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"starts": np.array([1, 1, 2])}, "'starts' must rise from 0 to the 2 terms"),
        ({"starts": np.array([0, 3, 2])}, "'starts' must rise"),
        ({"starts": np.array([0, 1, 3])}, "'starts' must rise"),
        ({"starts": np.array([], np.int64), "out": np.empty((1, 0, 1))}, "must"),
        ({"columns": np.array([0, 3])}, "'columns' must be from 0 to 2"),
        ({"columns": np.array([-1, 0])}, "'columns' must be from 0 to 2"),
        ({"columns": np.array([0])}, "'starts' must rise from 0 to the 1 terms"),
        ({"weights": np.ones(3)}, "each have a weight"),
        ({"out": np.empty((1, 3, 1))}, r"'out' must have the shape \(1, 2, 1\)"),
        ({"x": np.ones((1, 3))}, "3 dimensions"),
    ],
)
def test_bad_arguments(change, words):
    given = {
        "x": np.ones((1, 3, 1)),
        "starts": np.array([0, 1, 2]),
        "columns": np.array([0, 2]),
        "weights": np.ones(2),
        "out": np.empty((1, 2, 1)),
    }
    with pytest.raises(ValueError, match=words):
        resampling.weighted_sums(*(given | change).values())


def test_bad_types():
    starts, columns, x = np.array([0, 1]), np.array([0]), np.ones((1, 1, 1), np.float32)
    for weights, where in ((np.ones(1), starts), (np.ones(1, np.float32), starts.astype(np.int32))):
        with pytest.raises(TypeError, match="For 'weighted_sums'"):
            resampling.weighted_sums(x, where, columns, weights, x.copy())

"""The small steps of blocked factorisations against NumPy in float64."""

import numpy as np
import pytest

from dist_ms._ext import matrix_panels
from tests.serial.kernels.calls import DTYPES, TOLERANCE, call, random, wide


def part(rows, columns, dtype, seed=1):
    """A part of a larger matrix."""
    return random((rows + 2, columns + 3), dtype, seed)[1 : rows + 1, 2 : columns + 2]


def assert_near(found, wanted, dtype, factor=1):
    scale = np.abs(wanted).max(initial=1)
    np.testing.assert_allclose(wide(found), wanted, rtol=0, atol=factor * TOLERANCE[np.dtype(dtype)] * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", [(0, 0), (1, 1), (5, 1), (5, 5), (33, 32), (64, 64), (1000, 32)])
def test_lu_panel(dtype, rows, columns):
    a, pivots = part(rows, columns, dtype), np.empty(columns, np.int64)
    before, around = wide(a).copy(), a.base.copy()
    matrix_panels.lu_panel(a, pivots)
    low = np.tril(wide(a), -1) + np.eye(rows, columns)
    swapped = before.copy()
    for i, j in enumerate(pivots):
        swapped[[i, j]] = swapped[[j, i]]
    assert_near(low @ np.triu(wide(a)[:columns]), swapped, dtype, 10)
    assert (np.abs(low) <= 1).all()
    around[1 : rows + 1, 2 : columns + 2] = a
    np.testing.assert_array_equal(a.base, around)


def test_lu_panel_of_zeros_and_nan():
    a, pivots = np.zeros((3, 2)), np.empty(2, np.int64)
    matrix_panels.lu_panel(a, pivots)
    np.testing.assert_array_equal(a, 0)
    np.testing.assert_array_equal(pivots, [0, 1])
    a[:] = np.nan
    matrix_panels.lu_panel(a, pivots)
    assert np.isnan(a).all()
    np.testing.assert_array_equal(pivots, [0, 1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", [(0, 0), (1, 1), (5, 3), (300, 700)])
def test_swap_rows(dtype, rows, columns):
    start = random((rows, columns), dtype)
    pivots = np.random.default_rng(1).integers(np.arange(rows), rows) if rows else np.zeros(0, np.int64)
    wanted = start.copy()
    for i, j in enumerate(pivots):
        wanted[[i, j]] = wanted[[j, i]]
    out = start.copy()

    def swap():
        out[...] = start
        matrix_panels.swap_rows(out, pivots)

    np.testing.assert_array_equal(call(swap, (), [out]), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 31, 64])
@pytest.mark.parametrize("unit", [False, True])
def test_invert_lower(dtype, n, unit):
    a, out = part(n, n, dtype), part(n, n, dtype, 2)
    a /= 8
    a[np.arange(n), np.arange(n)] += 2
    matrix_panels.invert_lower(a, out, unit)
    low = np.tril(wide(a), -1) + (np.eye(n) if unit else np.diag(wide(a).diagonal()))
    assert_near(out, np.linalg.inv(low), dtype, 10)
    np.testing.assert_array_equal(np.triu(out, 1), 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 31, 64])
def test_cholesky_square(dtype, n):
    x = part(n, n, np.float64)
    a = part(n, n, dtype)
    a[...] = x @ x.T + np.eye(n)
    before = a.copy()
    assert matrix_panels.cholesky_square(a)
    assert_near(np.tril(a), np.linalg.cholesky(wide(before)), dtype, 10)
    np.testing.assert_array_equal(np.triu(a, 1), np.triu(before, 1))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_cholesky_square_of_what_is_not_positive(value):
    a = np.eye(5)
    a[3, 3] = value
    assert not matrix_panels.cholesky_square(a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", [(0, 0), (1, 1), (5, 1), (3, 7), (32, 32), (1000, 32), (100, 64)])
def test_qr_panel(dtype, rows, columns):
    a, k = part(rows, columns, dtype), min(rows, columns)
    before, v, t = wide(a).copy(), np.empty((rows, k), dtype), np.empty((k, k), dtype)
    matrix_panels.qr_panel(a, v, t)
    q = np.eye(rows) - wide(v) @ wide(t) @ wide(v).T
    assert_near(q.T @ q, np.eye(rows), dtype, 4)
    assert_near(q @ wide(a), before, dtype, 10)
    np.testing.assert_array_equal(np.tril(a, -1), 0)
    np.testing.assert_array_equal(v, np.tril(v, -1) + np.eye(rows, k, dtype=dtype))
    np.testing.assert_array_equal(t, np.triu(t))
    if rows:
        assert_near(a, np.linalg.qr(before, "complete")[1], dtype, 20)


def test_qr_panel_of_a_column_that_is_done():
    a, v, t = np.array([[2.0], [0.0]]), np.empty((2, 1)), np.empty((1, 1))
    matrix_panels.qr_panel(a, v, t)
    np.testing.assert_array_equal(a, [[2], [0]])
    np.testing.assert_array_equal(t, 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", [(0, 3), (1, 1), (5, 3), (300, 700)])
def test_subtract_and_take_columns(dtype, rows, columns):
    a, b = part(rows, columns, dtype), part(rows, columns, dtype, 2)
    start, wanted = a.copy(), a - b

    def subtract():
        a[...] = start
        matrix_panels.subtract(a, b)

    np.testing.assert_array_equal(call(subtract, (), [a]), wanted)
    places = np.random.default_rng(1).integers(0, columns, columns + 2)
    out = np.empty((rows, columns + 2), dtype)
    np.testing.assert_array_equal(call(matrix_panels.take_columns, (a, places, out), [out]), a[:, places])


def test_refusals():
    with pytest.raises(ValueError, match="at most 64 columns"):
        matrix_panels.lu_panel(np.ones((70, 65)), np.empty(65, np.int64))
    with pytest.raises(ValueError, match="no more columns than rows"):
        matrix_panels.lu_panel(np.ones((2, 3)), np.empty(3, np.int64))
    with pytest.raises(ValueError, match="rows of 'a' must be contiguous"):
        matrix_panels.cholesky_square(np.ones((4, 8))[:, ::2])
    with pytest.raises(ValueError, match="square"):
        matrix_panels.cholesky_square(np.ones((4, 3)))
    with pytest.raises(ValueError, match="'pivots' must be rows of 'a', below 2, but got 2"):
        matrix_panels.swap_rows(np.ones((2, 2)), np.array([2]))
    with pytest.raises(ValueError, match="'places' must be columns of 'a', below 2, but got -1"):
        matrix_panels.take_columns(np.ones((2, 2)), np.array([-1]), np.empty((2, 1)))
    with pytest.raises(TypeError, match="'b' must be float64"):
        matrix_panels.subtract(np.ones((2, 2)), np.ones((2, 2), np.float32))
    with pytest.raises(ValueError, match="equally large"):
        matrix_panels.invert_lower(np.ones((2, 2)), np.ones((3, 3)), True)

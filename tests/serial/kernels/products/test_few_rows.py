"""A product whose first factor has few rows, against NumPy in float64."""

import numpy as np
import pytest

from dist_ms._ext import few_rows
from tests.serial.kernels.calls import call, random

LEAST = few_rows.LEAST_COLUMNS
F32 = np.float32


def second_factor(depth, columns, layout):
    """A matrix whose rows or columns are contiguous, with gaps between them or none."""
    if layout == "rows":
        return random((depth, columns), F32, 2)
    if layout == "columns":
        return random((columns, depth), F32, 2).T
    if layout == "rows apart":
        return random((depth, columns + 5), F32, 2)[:, :columns]
    return random((columns, depth + 5), F32, 2)[:, :depth].T


@pytest.mark.parametrize("layout", ["rows", "columns", "rows apart", "columns apart"])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("depth", [1, 3, 16, 37, 300])
def test_products(layout, with_bias, depth):
    for rows in range(18):
        for columns in (LEAST, LEAST + 1, 2 * LEAST + 7):
            a, b = random((rows, depth + rows % 2), F32)[:, :depth], second_factor(depth, columns, layout)
            bias = random((columns,), F32, 3) if with_bias else None
            out = np.empty((rows, columns), F32)
            call(few_rows.multiply, (a, b, out, bias), [out])
            wanted = a.astype(np.float64) @ b.astype(np.float64)
            scale = np.abs(a).astype(np.float64) @ np.abs(b)
            if with_bias:
                wanted, scale = wanted + bias, scale + np.abs(bias)
            assert (np.abs(out - wanted) <= (depth + 2) * np.finfo(F32).eps * scale).all()


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_a_row_has_the_same_bits_among_any_others(layout):
    a, b = random((8, 100), F32), second_factor(100, LEAST + 13, layout)
    out = np.empty((8, b.shape[1]), F32)
    few_rows.multiply(a, b, out)
    for rows in range(1, 8):
        some = np.empty((rows, b.shape[1]), F32)
        few_rows.multiply(a[:rows], b, some)
        assert some.tobytes() == out[:rows].tobytes()


def test_special_values_pass():
    a, b = np.array([[np.inf, 0.0], [1.0, np.nan]], F32), np.ones((2, LEAST), F32)
    for factor in (b, b.copy("F")):
        out = np.empty((2, LEAST), F32)
        few_rows.multiply(a, factor, out)
        assert np.isposinf(out[0]).all() and np.isnan(out[1]).all()


def test_refusals():
    a, b, out = np.ones((2, 4), F32), np.ones((4, LEAST), F32), np.empty((2, LEAST), F32)
    with pytest.raises(TypeError, match="'a' must be float32"):
        few_rows.multiply(a.astype(float), b, out)
    with pytest.raises(ValueError, match="the rows of 'a' must be contiguous"):
        few_rows.multiply(a.copy("F"), b, out)
    with pytest.raises(ValueError, match="rows or columns of 'b' must be contiguous"):
        few_rows.multiply(a, np.ones((4, 2 * LEAST), F32)[:, ::2], out)
    with pytest.raises(ValueError, match="rows or columns of 'b' must be contiguous"):
        few_rows.multiply(a, np.broadcast_to(b[0], b.shape), out)
    with pytest.raises(ValueError, match=f"at least {LEAST} columns"):
        few_rows.multiply(a, b[:, 1:], out)
    with pytest.raises(ValueError, match="'b' must have 4 rows"):
        few_rows.multiply(a, b[1:], out)
    with pytest.raises(ValueError, match="'out' must have the shape"):
        few_rows.multiply(a, b, out[:1])
    with pytest.raises(ValueError, match="'bias' must have length"):
        few_rows.multiply(a, b, out, np.ones(3, F32))

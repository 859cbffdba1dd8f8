"""A matrix times a vector, and the outer product, against NumPy in float64."""

import numpy as np
import pytest

from dist_ms._ext import vector_product
from tests.serial.kernels.calls import DTYPES, NARROW, TOLERANCE, call, random, wide

SHAPES = [
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 5),
    (5, 1),
    (7, 3),
    (129, 300),
    (2, 40_000),
    (40_000, 2),
    (300, 2049),
    (1, 70_000),
]


def lying(shape, dtype, layout):
    """A matrix whose rows or columns are contiguous, with gaps between them or none."""
    rows, columns = shape
    if layout == "rows":
        return random(shape, dtype)
    if layout == "columns":
        return random((columns, rows), dtype).T
    if layout == "rows apart":
        return random((rows, columns + 5), dtype)[:, :columns]
    return random((columns, rows + 5), dtype)[:, :rows].T


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "rows apart", "columns apart"])
def test_matrix_vector(dtype, shape, layout):
    a, x = lying(shape, dtype, layout), random(shape[1:], dtype, 2)
    out = np.empty(shape[0], dtype)
    call(vector_product.matrix_vector, (a, x, out), [out])
    scale = np.abs(wide(a)) @ np.abs(wide(x))
    error = np.abs(out - wide(a) @ wide(x))
    assert (error <= TOLERANCE[np.dtype(dtype)] * scale).all()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "rows apart", "columns apart"])
def test_a_narrow_matrix_gives_the_bits_of_a_wide_one(dtype, shape, layout):
    a, same, x = lying(shape, dtype, layout), lying(shape, np.float32, layout), random(shape[1:], np.float32, 2)
    same[...] = a
    out, wanted = np.empty(shape[0], np.float32), np.empty(shape[0], np.float32)
    call(vector_product.matrix_vector, (a, x, out), [out])
    vector_product.matrix_vector(same, x, wanted)
    assert out.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", [(0, 3), (1, 1), (3, 5), (1, 70_000), (70_000, 1), (200, 1001)])
def test_outer(dtype, rows, columns):
    x, y = random((rows,), dtype), random((columns,), dtype, 2)
    out = np.empty((rows, columns), dtype)
    np.testing.assert_array_equal(call(vector_product.outer, (x, y, out), [out]), np.outer(x, y))


def test_special_values_pass():
    a = np.array([[np.inf, 1.0], [np.nan, 1.0], [-0.0, -0.0]])
    out = np.empty(3)
    vector_product.matrix_vector(a, np.ones(2), out)
    np.testing.assert_array_equal(out, [np.inf, np.nan, 0.0])
    whole = np.empty((3, 2))
    vector_product.outer(np.array([0.0, np.inf, np.nan]), np.array([-1.0, 0.0]), whole)
    np.testing.assert_array_equal(np.signbit(whole[0]), [True, False])
    np.testing.assert_array_equal(whole, [[-0.0, 0.0], [-np.inf, np.nan], [np.nan, np.nan]])


def test_refusals():
    a, x, out = np.ones((3, 4)), np.ones(4), np.empty(3)
    with pytest.raises(ValueError, match="'x' must have length 4, but got 3"):
        vector_product.matrix_vector(a, np.ones(3), out)
    with pytest.raises(ValueError, match="contiguous and not overlap"):
        vector_product.matrix_vector(np.ones((3, 8))[:, ::2], x, out)
    with pytest.raises(ValueError, match="contiguous and not overlap"):
        vector_product.matrix_vector(np.broadcast_to(x, (3, 4)), x, out)
    with pytest.raises(ValueError, match="contiguous and not overlap"):
        vector_product.matrix_vector(a[::-1], x, out)
    with pytest.raises(TypeError, match="'a' must be float32, float64, bfloat16 or float16"):
        vector_product.matrix_vector(a.astype(int), x, out)
    with pytest.raises(TypeError, match="'x' must be float64"):
        vector_product.matrix_vector(a, x.astype(np.float32), out)
    with pytest.raises(TypeError, match="'x' must be float32"):
        vector_product.matrix_vector(a.astype(np.float16), x.astype(np.float16), out)
    with pytest.raises(ValueError, match=r"'out' must have the shape \(4, 3\)"):
        vector_product.outer(x, np.ones(3), np.empty((3, 4)))

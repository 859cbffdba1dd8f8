"""Functions of bfloat16 that are computed without scratch: the float32 result, rounded once."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import pointwise
from tests.serial.kernels.elementwise.test_ufunc_loops import by_numpy, run

BF16 = np.dtype(ml_dtypes.bfloat16)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -2.5, 1e-40, 3e38, -3e38, 129.5])
LENGTHS = (0, 1, 7, 8, 15, 16, 17, 33, 20_011)
OF_NUMPY = {
    "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "maximum": 2, "minimum": 2, "sqrt": 1, "square": 1,
    "reciprocal": 1, "floor": 1, "ceil": 1, "trunc": 1, "rint": 1,
}  # fmt: skip
OWN = {
    "sqrt": 1, "square": 1, "reciprocal": 1, "rsqrt": 1, "clamp": 3, "lerp": 3, "multiply_add": 3, "divide_add": 3,
    "sign": 1, "finite": 3, "squared_difference": 2, "absolute_difference": 2, "parametric_relu": 2,
    "parametric_relu_gradient": 3,
}  # fmt: skip
FUNCTIONS = [(getattr(np, name), count) for name, count in OF_NUMPY.items()]
FUNCTIONS += [(getattr(pointwise, name), count) for name, count in OWN.items()]


def operands(function, count):
    """Lists of operands: of many lengths, some of one number, in rows that lie apart, and the special numbers."""
    rng = np.random.default_rng(0)
    low, high = np.asarray(-0.5, BF16), np.asarray(2, BF16)
    for length in LENGTHS:
        given = [(4 * rng.standard_normal(length)).astype(BF16) for _ in range(count)]
        if function is pointwise.finite:
            given[2] = abs(given[2])
        yield [given[0], low, high] if function is pointwise.clamp else given
        for fixed in range(1, count):
            yield [high if i >= fixed else x for i, x in enumerate(given)]
    apart = [(4 * rng.standard_normal((9, 50))).astype(BF16)[:, 3:40] for _ in range(count)]
    limited = function in (pointwise.clamp, pointwise.finite)
    yield [apart[0], low, high] if limited else apart
    special = [x.ravel().astype(BF16) for x in np.meshgrid(*[SPECIAL] * count)]
    yield [special[0], low, high] if limited else special


@pytest.mark.parametrize(("function", "count"), FUNCTIONS, ids=lambda value: getattr(value, "__name__", None))
def test_the_result_in_float32_is_rounded_once(function, count):
    for given in operands(function, count):
        found = run(function, *given)
        wanted = by_numpy(function, *[x.astype(np.float32) for x in given])
        with np.errstate(all="ignore"):
            wanted = wanted.astype(BF16)
        assert found.dtype == BF16
        assert found.shape == wanted.shape
        np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


@pytest.mark.parametrize("name", ["sqrt", "square", "reciprocal", "rsqrt"])
def test_bits_are_those_of_the_numbers(name):
    x = np.concatenate([SPECIAL, np.random.default_rng(1).standard_normal(1000) ** 2]).astype(BF16)
    for given in (x, x[1:], x[::3]):
        bits = run(getattr(pointwise, f"bits_{name}"), given.view(np.uint16))
        wanted = run(getattr(pointwise, name), np.ascontiguousarray(given))
        np.testing.assert_array_equal(bits.view(BF16).astype(np.float32), wanted.astype(np.float32))

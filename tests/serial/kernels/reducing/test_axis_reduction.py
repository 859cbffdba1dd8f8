"""Reductions over any axes of arrays in any layout against NumPy's in float64."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import axis_reduction, threads

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("f4", "f8", "f2")] + [BFLOAT16]
WHOLE = [np.dtype(t) for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")]
ROUNDING = {np.dtype("f4"): 1e-6, np.dtype("f8"): 1e-13, np.dtype("f2"): 2e-3, BFLOAT16: 1e-2}
TWINS = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "mean": lambda x, axis, keepdims: x.mean(axis, keepdims=keepdims),
    "square_sum": lambda x, axis, keepdims: (x * x).sum(axis, keepdims=keepdims),
    "length": lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims)),
    "absolute_sum": lambda x, axis, keepdims: abs(x).sum(axis, keepdims=keepdims),
    "number_sum": np.nansum,
}


def reduced(x, axes, op, keep_dims=False):
    """The kernel's result, the same on 1 and 2 threads."""
    before, found = threads.get_num_threads(), []
    for number in (1, 2):
        threads.set_num_threads(number)
        try:
            found.append(axis_reduction.reduce_axes(x, axes, op, keep_dims))
        finally:
            threads.set_num_threads(before)
    assert (found[0] is None) == (found[1] is None)
    assert found[0] is None or found[0].tobytes() == found[1].tobytes()
    return found[0]


def random_case(rng, dtype):
    """An array of random shape, order of axes and gaps, and axes of it."""
    lengths = [1, 2, 3, 5, 8, 17, 33, 64, 130]
    shape = tuple(int(n) for n in rng.choice(lengths, rng.integers(1, 5)))
    if rng.random() < 0.2:
        shape = (int(rng.integers(1, 60000)), int(rng.choice([1, 3, 20])))
    while np.prod(shape) > 400000:
        shape = shape[1:]
    if dtype in FLOATS:
        x = rng.standard_normal(shape).astype(dtype)
    else:
        x = rng.integers(0, 100, shape).astype(dtype)
    x = x.transpose(rng.permutation(len(shape)))
    if rng.random() < 0.2 and x.shape[0] > 2:
        x = x[1::2]
    axes = rng.permutation(x.ndim)[: rng.integers(1, x.ndim + 1)]
    return x, tuple(sorted(int(a) for a in axes))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", TWINS)
def test_floats(dtype, op):
    rng, taken = np.random.default_rng(list(TWINS).index(op)), 0
    for _ in range(30):
        x, axes = random_case(rng, dtype)
        if op == "prod":
            x = np.exp(x.astype(np.float32) * 0.01).astype(dtype)
        keep = bool(rng.random() < 0.5)
        found = reduced(x, axes, op, keep)
        if found is None:
            continue
        taken += 1
        wanted = TWINS[op](x.astype(np.float64), axis=axes, keepdims=keep)
        with np.errstate(over="ignore"):
            wanted = np.asarray(wanted).astype(dtype).astype(np.float64)
        scale = 1 if op in ("max", "min", "prod", "mean") else x.size**0.5
        assert found.dtype == dtype and found.shape == wanted.shape
        np.testing.assert_allclose(
            found.astype(np.float64), wanted, rtol=4 * ROUNDING[dtype], atol=ROUNDING[dtype] * scale
        )
    assert taken > 10


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_whole_numbers_wrap_around(dtype, op):
    rng, taken = np.random.default_rng(5), 0
    for _ in range(20):
        x, axes = random_case(rng, dtype)
        found = reduced(x, axes, op)
        if found is None:
            continue
        taken += 1
        wanted = TWINS[op](x, axis=axes, dtype=dtype) if op in ("sum", "prod") else TWINS[op](x, axis=axes)
        assert found.dtype == dtype and np.array_equal(found, wanted)
    assert taken > 5


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", ["max", "min", "sum", "mean", "length"])
def test_a_nan_stays_in_its_result(dtype, op):
    for place in (0, 3, 700, 2999):
        x = np.ones((3, 3000), dtype)
        x[1, place] = np.nan
        assert np.isnan(reduced(x, (1,), op).astype(np.float64)).tolist() == [False, True, False]
        columns = np.isnan(reduced(np.ascontiguousarray(x.T), (0,), op).astype(np.float64))
        assert columns.tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sums_without_nans_have_the_bits_of_sums_with_zeros(dtype):
    rng = np.random.default_rng(8)
    for _ in range(30):
        x, axes = random_case(rng, dtype)
        x[rng.random(x.shape) < 0.1] = np.nan
        found = reduced(x, axes, "number_sum")
        wanted = reduced(np.where(np.isnan(x), dtype.type(0), x), axes, "sum")
        if found is not None and wanted is not None:
            np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


def test_infinities_and_signed_zeros():
    x = np.float32([[np.inf, 1], [-np.inf, 2], [-0.0, -0.0]])
    assert np.array_equal(reduced(x, (1,), "max"), np.float32([np.inf, 2, -0.0]))
    assert np.array_equal(reduced(x, (1,), "sum"), np.float32([np.inf, -np.inf, 0]))
    assert np.signbit(reduced(x[2:], (1,), "sum"))[0]


def test_a_sum_is_rounded_once():
    x = np.full((1 << 20) + 1, 0.1, np.float32)
    assert reduced(x, (0,), "sum") == np.float32(x.astype(np.float64).sum())


@pytest.mark.parametrize("dtype", [np.dtype("f4"), BFLOAT16], ids=str)
@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1e-22, 1e-17, 1e-13, 1.0, 1e16, 1e30], ids=str)
def test_squares_beyond_float32(dtype, scale):
    """Lengths of numbers whose squares have no float32, among zeros too."""
    rng = np.random.default_rng(10)
    for length in (2, 100, 127, 128, 129, 1000, 1024, 1025, 5000):
        x = (rng.standard_normal((4, length)) * scale).astype(dtype)
        x[1, rng.random(length) < 0.95] = 0
        x[2, 0] = scale * 1e4
        x[3] = 0
        wanted = np.sqrt(np.square(x.astype(np.float64)).sum(1))
        np.testing.assert_allclose(reduced(x, (1,), "length").astype(np.float64), wanted, rtol=2.0**-8)
        columns = reduced(np.ascontiguousarray(x.T), (0,), "length").astype(np.float64)
        np.testing.assert_allclose(columns, wanted, rtol=2.0**-8)
    x[0, :2] = np.inf, -np.inf
    assert np.isinf(reduced(x, (1,), "length").astype(np.float64)).tolist() == [True, False, False, False]


@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f8"), BFLOAT16], ids=str)
def test_rows_of_every_length(dtype):
    """Four neighbours are added in the type itself, bfloat16's in float32, before the sum is rounded."""
    rng = np.random.default_rng(9)
    for length in range(2, 300):
        x = rng.standard_normal((5, length)).astype(dtype)
        found, wide = reduced(x, (1,), "sum"), x.astype(np.longdouble)
        each = 3 * np.finfo(np.float64 if dtype == np.float64 else np.float32).eps / 2
        added = np.float64(length * 2.0**-53) if dtype == np.float64 else 0
        last = {4: 2.0**-24, 8: 2.0**-53, 2: 2.0**-8}[dtype.itemsize] * abs(wide.sum(1))
        assert (abs(found.astype(np.longdouble) - wide.sum(1)) <= (each + added) * abs(wide).sum(1) + last).all()


def test_memory_order_is_kept():
    x = np.empty((2, 5, 6, 3), np.float32).transpose(0, 3, 1, 2)
    assert reduced(x, (0,), "sum").strides == np.add.reduce(x, 0).strides
    assert reduced(x, (0,), "sum", True).transpose(0, 2, 3, 1).flags.c_contiguous


@pytest.mark.parametrize(
    ("x", "axes"),
    [
        (np.ones((4, 6), np.float32)[:, ::2], (1,)),
        (np.ones(6, np.float32)[::-1], (0,)),
        (np.broadcast_to(np.float32(1), (4, 4)), (0,)),
        (np.ones((0, 3), np.float32), (0,)),
        (np.ones((1, 3), np.float32), (0,)),
        (np.ones(3, np.complex64), (0,)),
        (np.array(1.0), ()),
        (np.ones(4, ">f4"), (0,)),
    ],
)
def test_what_it_does_not_take(x, axes):
    assert reduced(x, axes, "sum") is None


def test_wrong_arguments():
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"'op' must be one of sum, .*, but got 'median'"):
        axis_reduction.reduce_axes(x, (0,), "median")
    with pytest.raises(ValueError, match=r"'axes' must be in the range \[0, 2\), but got \(2,\)"):
        axis_reduction.reduce_axes(x, (2,))
    with pytest.raises(ValueError, match=r"'op' must be sum, prod, max or min for int32, but got 'mean'"):
        axis_reduction.reduce_axes(x.astype(np.int32), (0,), "mean")

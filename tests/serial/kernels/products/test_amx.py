"""Products of float32 on AMX: as accurate as float32's own, for every layout and thread count."""

import numpy as np
import pytest

from dist_ms._ext import amx, dnnl, threads

pytestmark = pytest.mark.skipif(not amx.available(), reason="this CPU, or its owner, has no AMX to give")

F32 = np.float32


def operand(rng, shape, transposed, scale=1.0):
    if transposed:
        return operand(rng, (*shape[:-2], shape[-1], shape[-2]), False, scale).swapaxes(-1, -2)
    return (rng.standard_normal(shape) * scale).astype(F32)


def error(out, a, b, bias=0.0):
    """The largest error, relative to what rounding may cost: the product of the magnitudes."""
    wide_a, wide_b = a.astype(float), b.astype(float)
    return np.max(np.abs(out - (wide_a @ wide_b + bias)) / (np.abs(wide_a) @ np.abs(wide_b) + np.abs(bias)))


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (5, 7, 3), (32, 32, 32), (33, 300, 65), (129, 31, 17), (600, 513, 40), (64, 1000, 70), (40, 260, 4200)],
)
def test_error_is_that_of_float32(shape, transposed):
    rng = np.random.default_rng(sum(shape))
    m, k, n = shape
    a, b = operand(rng, (m, k), transposed[0]), operand(rng, (k, n), transposed[1])
    bias = rng.standard_normal(n).astype(F32)
    out, plain = np.empty((m, n), F32), np.empty((m, n), F32)
    assert amx.matmul(a, b, out, bias)
    dnnl.matmul(a, b, plain, bias)
    assert error(out, a, b, bias) <= max(1.5 * error(plain, a, b, bias), 2.0**-23)


def test_rows_of_very_different_size_keep_their_digits():
    rng = np.random.default_rng(0)
    a = operand(rng, (64, 200), False) * np.logspace(-15, 15, 64, dtype=F32)[:, None]
    b = operand(rng, (200, 64), False) * np.logspace(-12, 12, 64, dtype=F32)
    out = np.empty((64, 64), F32)
    assert amx.matmul(a, b, out)
    assert error(out, a, b) < 2.0**-22


@pytest.mark.parametrize("transposed", [False, True])
def test_numbers_whose_rest_is_subnormal_do_not_touch_their_neighbours(transposed):
    rng = np.random.default_rng(2)
    a, b = operand(rng, (64, 96), transposed), operand(rng, (96, 32), transposed)
    a[:, 48:64] *= np.float32(1e-36)  # paired with 32:48
    b[16:32] *= np.float32(1e-35)
    out = np.empty((64, 32), np.float32)
    assert amx.matmul(a, b, out)
    assert error(out, a, b) < 4e-7


def test_integers_are_exact():
    rng = np.random.default_rng(1)
    a = rng.integers(-2000, 2000, (70, 90)).astype(F32)
    b = rng.integers(-20, 20, (90, 50)).astype(F32)
    out = np.empty((70, 50), F32)
    assert amx.matmul(a, b, out)
    np.testing.assert_array_equal(out, a @ b)


@pytest.mark.parametrize("lead", [((3,), (3,)), ((2, 4), (2, 4)), ((2, 1), (4,)), ((), (5,)), ((2, 3), ())])
@pytest.mark.parametrize("transposed", [(False, True), (True, False)])
def test_batches_broadcast(lead, transposed):
    rng = np.random.default_rng(2)
    a = operand(rng, (*lead[0], 40, 33), transposed[0])
    b = operand(rng, (*lead[1], 33, 37), transposed[1])
    wanted = a.astype(float) @ b.astype(float)
    out = np.empty(wanted.shape, F32)
    assert amx.matmul(a, b, out)
    np.testing.assert_allclose(out, wanted, atol=1e-5)


def test_views_of_heads_and_results_with_contiguous_columns():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((2, 48, 3 * 64)).astype(F32)
    q, k = (rows[..., i : i + 64].reshape(2, 48, 2, 32).swapaxes(1, 2) for i in (0, 64))
    out = np.empty((48, 2, 2, 48), F32).transpose(1, 2, 3, 0)
    assert amx.matmul(q, k.swapaxes(2, 3), out)
    np.testing.assert_allclose(out, q @ k.swapaxes(2, 3), atol=1e-4)


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(4)
    before = threads.get_num_threads()
    for shape_a, shape_b in (((700, 300), (300, 90)), ((40, 600), (600, 900)), ((5, 64, 48), (5, 48, 64))):
        a, b = operand(rng, shape_a, False), operand(rng, shape_b, False)
        results = []
        try:
            for count in (1, 2, 3):
                threads.set_num_threads(count)
                out = np.empty((a @ b).shape, F32)
                assert amx.matmul(a, b, out)
                results.append(out)
        finally:
            threads.set_num_threads(before)
        for out in results[1:]:
            np.testing.assert_array_equal(out, results[0])


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3.4e38])
def test_values_that_cannot_be_split_are_refused(value):
    a = np.ones((40, 40), F32)
    a[3, 4] = value
    assert not amx.matmul(a, np.ones((40, 40), F32), np.empty((40, 40), F32))
    assert not amx.matmul(np.ones((40, 40), F32), a, np.empty((40, 40), F32))


def test_operands_too_small_for_three_parts_are_refused():
    tiny = np.full((40, 40), 1e-30, F32)
    assert not amx.matmul(tiny, np.ones((40, 40), F32), np.empty((40, 40), F32))
    assert amx.matmul(np.zeros((40, 40), F32), np.ones((40, 40), F32), np.empty((40, 40), F32))


def test_empty_products():
    assert amx.matmul(np.ones((0, 4), F32), np.ones((4, 3), F32), np.empty((0, 3), F32))
    out = np.empty((2, 3), F32)
    assert amx.matmul(np.ones((2, 0), F32), np.ones((0, 3), F32), out, np.arange(3, dtype=F32))
    np.testing.assert_array_equal(out, [[0, 1, 2]] * 2)


def test_wrong_arguments():
    a, out = np.ones((4, 4), F32), np.empty((4, 4), F32)
    with pytest.raises(TypeError, match="'a' must be float32"):
        amx.matmul(a.astype(float), a, out)
    with pytest.raises(ValueError, match="must equal the last but one of 'b'"):
        amx.matmul(a, np.ones((3, 4), F32), out)
    with pytest.raises(ValueError, match="'out' must have shape"):
        amx.matmul(a, a, np.empty((4, 5), F32))
    with pytest.raises(ValueError, match="rows or columns of 'b'"):
        amx.matmul(a, np.ones((8, 8), F32)[::2, ::2], out)
    with pytest.raises(ValueError, match="must have length 4"):
        amx.matmul(a, a, out, np.ones(3, F32))
    with pytest.raises(ValueError, match="2 to 8 dimensions"):
        amx.matmul(a[0], a, out)

"""Products of factors rounded to 16 bits on AMX: against the float32 twin, for every type, layout and thread count."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import amx, threads

pytestmark = pytest.mark.skipif(not amx.available(), reason="this CPU, or its owner, has no AMX to give")

BF16, F16, F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.float32)
needs_float16 = pytest.mark.skipif(not amx.has_float16(), reason="this CPU, or its owner, has no float16 tiles to give")
LOW = pytest.mark.parametrize("low", (BF16, pytest.param(F16, marks=needs_float16)), ids=str)
SHAPES = [
    *((1, 1, 1), (5, 7, 3), (1, 40, 50), (50, 1, 40), (40, 50, 1), (32, 32, 32), (33, 300, 65)),
    *((129, 31, 17), (600, 513, 40), (64, 1000, 70), (40, 260, 1100), (2100, 64, 33)),
]


def matrix(rng, rows, columns, dtype, turned):
    return matrix(rng, columns, rows, dtype, False).T if turned else rng.standard_normal((rows, columns)).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("turned", list(itertools.product((False, True), repeat=2)), ids=str)
@pytest.mark.parametrize("wide", list(itertools.product((False, True), repeat=3)), ids=str)
@LOW
def test_values_sums_and_bits(shape, turned, wide, low):
    rng = np.random.default_rng(sum(shape))
    m, k, n = shape
    types = [F32 if w else low for w in wide]
    a, b = matrix(rng, m, k, types[0], turned[0]), matrix(rng, k, n, types[1], turned[1])
    bias = rng.standard_normal(n).astype(F32) if m % 2 else None
    low_a, low_b = (x.astype(low).astype(float) for x in (a, b))
    wanted = low_a @ low_b + (0 if bias is None else bias)
    scale = np.abs(low_a) @ np.abs(low_b) + (0 if bias is None else np.abs(bias))
    before, found = threads.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            threads.set_num_threads(count)
            memory = np.full((m, n + 5), np.nan, types[2])  # rows with room between them
            sums = np.full(m, np.nan, F32) if turned[0] or 1 in (m, k) else None
            amx.matmul_rounded(a, b, memory[:, :n], bias, sums if a.strides[0] == a.itemsize else None, low)
            found.append((memory, sums))
    finally:
        threads.set_num_threads(before)
    out = memory[:, :n].astype(float)
    assert np.isnan(memory[:, n:].astype(F32)).all()
    assert (np.abs(out - wanted) <= (2**-18 if wide[2] else ml_dtypes.finfo(low).eps) * scale + 1e-30).all()
    if sums is not None and a.strides[0] == a.itemsize:
        assert np.allclose(sums, a.astype(float).sum(1), rtol=1e-5, atol=1e-5 * np.sqrt(k))
    for memory_of, sums_of in found:
        assert memory_of.tobytes() == memory.tobytes()
        assert sums is None or sums_of.tobytes() == sums.tobytes()


@pytest.mark.parametrize(
    "lead", [((3,), (3,)), ((2, 4), (2, 4)), ((2, 1), (4,)), ((), (5,)), ((2, 3), ()), ((0,), (0,))]
)
@pytest.mark.parametrize("turned", [(False, True), (True, False)], ids=str)
def test_batches_broadcast(lead, turned):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((*lead[0], 40, 300)).astype(F32), rng.standard_normal((*lead[1], 300, 37)).astype(BF16)
    a, b = (np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2) if t else x for x, t in zip((a, b), turned))
    wanted = a.astype(BF16).astype(float) @ b.astype(float)
    out = np.empty(wanted.shape, BF16)
    amx.matmul_rounded(a, b, out)
    np.testing.assert_allclose(out.astype(float), wanted, rtol=2**-8, atol=1e-4)


def test_views_of_heads():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((2, 48, 3 * 64)).astype(F32)
    q, k = (rows[..., i : i + 64].reshape(2, 48, 2, 32).swapaxes(1, 2) for i in (0, 64))
    low = [x.astype(BF16).astype(float) for x in (q, k)]
    scores, out = np.empty((2, 2, 48, 48), F32), np.empty((2, 48, 2, 32), F32).swapaxes(1, 2)
    amx.matmul_rounded(q, k.swapaxes(2, 3), scores)
    np.testing.assert_allclose(scores, low[0] @ low[1].swapaxes(2, 3), atol=1e-4)
    amx.matmul_rounded(scores, k, out)
    np.testing.assert_allclose(out, scores.astype(BF16).astype(float) @ low[1], atol=1e-3)


@LOW
def test_float32_is_rounded_as_a_cast_rounds(low):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(F32) for shape in ((64, 96), (96, 32)))
    a[:, :3] = 2.0**-24, 3 * 2.0**-26, 2.0**-15  # below float16's normal numbers
    found = []
    for x, y in itertools.product((a, a.astype(low)), (b, b.astype(low))):
        out = np.empty((64, 32), F32)
        amx.matmul_rounded(x, y, out, low=low)
        found.append(out.tobytes())
    assert len(set(found)) == 1


@needs_float16
def test_float16_keeps_small_numbers_and_too_large_ones_become_infinite():
    a, b = np.full((32, 64), 2.0**-24, F16), np.ones((64, 32), F16)
    for out in (np.empty((32, 32), F32), np.empty((32, 32), F16)):
        amx.matmul_rounded(a, b, out, low=F16)
        assert (out == 2.0**-18).all()
    out = np.empty((32, 32), F16)
    amx.matmul_rounded(np.full((32, 64), 1024, F16), b, out, low=F16)
    assert np.isinf(out).all()
    out = np.empty((32, 32), F32)
    amx.matmul_rounded(np.full((32, 64), 65519, F32), b, out, low=F16)
    assert (out == 64 * 65504).all()
    amx.matmul_rounded(np.full((32, 64), 65520, F32), b, out, low=F16)
    assert np.isinf(out).all()


def test_infinities_and_nans_stay_in_their_rows():
    a, b = np.ones((40, 40), F32), np.ones((40, 33), F32)
    a[3, 5], a[7, 0] = np.inf, np.nan
    out = np.empty((40, 33), F32)
    amx.matmul_rounded(a, b, out)
    assert np.isinf(out[3]).all() and np.isnan(out[7]).all()
    assert (np.delete(out, (3, 7), 0) == 40).all()


def test_no_inner_index_leaves_the_bias():
    out, bias, sums = np.empty((2, 3), F32), np.arange(3, dtype=F32), np.ones(2, F32)
    amx.matmul_rounded(np.empty((0, 2), F32).T, np.empty((0, 3), F32), out, bias, sums)
    assert (out == bias).all() and (sums == 0).all()
    empty = np.empty((0, 3), F32)
    amx.matmul_rounded(np.empty((0, 4), F32), np.empty((4, 3), F32), empty)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((np.ones((2, 2)), np.ones((2, 2), F32), np.ones((2, 2), F32)), TypeError, "'a' must be float32 or bfloat16"),
        ((np.ones((2, 3), F32), np.ones((2, 2), F32), np.ones((2, 2), F32)), ValueError, "last but one of 'b'"),
        ((np.ones((2, 2), F32), np.ones((2, 2), F32), np.ones((2, 3), F32)), ValueError, "'out' must have shape"),
        ((np.ones((4, 8), F32)[::2, ::2], np.ones((4, 2), F32), np.ones((2, 2), F32)), ValueError, "contiguous"),
        ((np.ones((2, 2), F32), np.ones((2, 2), F32), np.ones((2, 2), F32).T), ValueError, "rows of 'out'"),
        ((np.ones((2, 2), F32), np.ones((2, 2), F32), np.ones((2, 2), F32), np.ones(3, F32)), ValueError, "'bias'"),
        (
            (np.ones((3, 2), F32), np.ones((2, 2), F32), np.ones((3, 2), F32), None, np.ones(3, F32)),
            ValueError,
            "'row_sums'",
        ),
    ],
)
def test_errors_name_what_is_wrong(arguments, error, text):
    with pytest.raises(error, match=text):
        amx.matmul_rounded(*arguments)


def test_one_type_of_16_bits_per_call():
    a, b, out = np.ones((2, 2), F32), np.ones((2, 2), F16), np.ones((2, 2), F32)
    with pytest.raises(TypeError, match="'b' must be float32 or bfloat16, but got float16"):
        amx.matmul_rounded(a, b, out)
    with pytest.raises(TypeError, match="'low' must be bfloat16 or float16, but got int16"):
        amx.matmul_rounded(a, a, out, low=np.int16)
    if not amx.has_float16():
        with pytest.raises(RuntimeError, match="has_float16"):
            amx.matmul_rounded(a, b, out, low=F16)

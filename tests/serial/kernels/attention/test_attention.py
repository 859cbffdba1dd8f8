"""Attention by blocks against the formula in float64; threads, types, layouts, masks, dropped weights, memory."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import attention, threads

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
BF16, F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
# Batch, heads, groups, queries, keys, length: odd ones, whole blocks, several blocks of both.
SIZES = [
    (2, 4, 2, 7, 5, 3),
    (1, 2, 1, 200, 300, 64),
    (1, 1, 1, 100, 513, 16),
    (2, 2, 2, 97, 256, 40),
    (1, 3, 3, 1, 1, 1),
    (2, 1, 1, 96, 512, 33),
]
TOLERANCE = {F32: 2e-5, F64: 1e-12, F16: 5e-3, BF16: 4e-2}


def formula(q, k, v, dout, scale, bias, hidden, factors):
    """The output, dq, dk, dv and the scores' gradient with all scores at once."""
    q, k, v, dout = (x.astype(F64) for x in (q, k, v, dout))
    share = q.shape[1] // k.shape[1]
    wide_k, wide_v = np.repeat(k, share, 1), np.repeat(v, share, 1)
    scores = np.where(hidden, -np.inf, scale * q @ wide_k.swapaxes(-1, -2) + bias)
    largest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total > 0, total, 1)
    out = (weights * factors) @ wide_v
    dscores = weights * (dout @ wide_v.swapaxes(-1, -2) * factors - (dout * out).sum(-1, keepdims=True))

    def summed(x):
        return x.reshape(x.shape[0], k.shape[1], share, *x.shape[2:]).sum(2)

    dk = summed(scale * dscores.swapaxes(-1, -2) @ q)
    dv = summed((weights * factors).swapaxes(-1, -2) @ dout)
    return out, scale * dscores @ wide_k, dk, dv, dscores


def run(q, k, v, dout, dbias=None, **options):
    """The kernel's output, dq, dk and dv; `dbias` is added to."""
    work = F64 if q.dtype == F64 else F32
    out, dq, dk, dv = (np.empty_like(x) for x in (q, q, k, v))
    sums = np.empty((2, *q.shape[:3]), work)
    attention.forward(q, k, v, out, *sums, **options)
    options.pop("empty", None)
    attention.backward(dout, q, k, v, out, *sums, dq, dk, dv, dbias=dbias, **options)
    return out, dq, dk, dv


def operands(sizes, dtype, seed=0):
    batch, heads, groups, queries, keys, length = sizes
    rng = np.random.default_rng(seed)
    q, dout = (
        rng.standard_normal((batch, queries, heads, length)).astype(dtype).transpose(0, 2, 1, 3) for _ in range(2)
    )
    k, v = (rng.standard_normal((batch, groups, keys, length)).astype(dtype) for _ in range(2))
    return rng, q, k, v, dout


@pytest.fixture
def both_threads():
    """Run a function with 1 and 2 threads; its arrays must have the same bits."""
    before = threads.get_num_threads()

    def run_twice(function):
        results = []
        for number in (1, 2):
            threads.set_num_threads(number)
            results.append(function())
        for one, two in zip(*results):
            assert one.tobytes() == two.tobytes()
        return results[0]

    yield run_twice
    threads.set_num_threads(before)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_formula(sizes, dtype, both_threads):
    batch, heads, _, queries, keys, _ = sizes
    rng, q, k, v, dout = operands(sizes, dtype)
    full = (batch, heads, queries, keys)
    bias = rng.standard_normal((1, heads, queries, keys)).astype(F64 if dtype == F64 else F32)
    hidden = (rng.random((batch, 1, 1, keys)) < 0.3).astype(np.uint8)
    low, high = -50, keys - queries + 3
    apart = np.arange(keys) - np.arange(queries)[:, None]

    def call():
        dbias = np.zeros_like(bias)
        spread = np.lib.stride_tricks.as_strided(dbias, full, (0, *dbias.strides[1:]))
        options = {"bias": np.broadcast_to(bias, full), "hidden": np.broadcast_to(hidden, full)}
        return *run(q, k, v, dout, spread, scale=0.3, low=low, high=high, **options), dbias

    found = both_threads(call)
    *wanted, dscores = formula(q, k, v, dout, 0.3, bias, (hidden != 0) | (apart < low) | (apart > high), 1)
    for x, y in zip(found, (*wanted, dscores.sum(0, keepdims=True))):
        np.testing.assert_allclose(x.astype(F64), y, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("low", [None, 300])
@pytest.mark.parametrize("dtype", [F32, BF16, F16], ids=str)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 250, 1100, 64), (1, 4, 2, 33, 770, 20)], ids=str)
def test_keys_cut_into_parts(sizes, dtype, low, both_threads):
    _, q, k, v, dout = operands(sizes, dtype)
    _, heads, _, queries, keys, _ = sizes
    dbias, full = np.zeros((1, 1, queries, keys), F32), (1, heads, queries, keys)

    def call():
        dbias[...] = 0
        spread = np.lib.stride_tricks.as_strided(dbias, full, (0, 0, *dbias.strides[2:]))
        return *run(q, k, v, dout, spread, scale=0.2, low=low, high=keys - queries), dbias.copy()

    found = both_threads(call)
    apart = np.arange(keys) - np.arange(queries)[:, None]
    hidden = (apart > keys - queries) | (apart < (-keys if low is None else low))
    *wanted, dscores = formula(q, k, v, dout, 0.2, 0, hidden, 1)
    for x, y in zip(found, (*wanted, dscores.sum(1, keepdims=True))):
        np.testing.assert_allclose(x.astype(F64), y, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("steps", ["batch", "head", "none"])
def test_gradient_of_a_bias_that_repeats(steps, both_threads):
    rng, q, k, v, dout = operands((3, 2, 2, 5, 9, 4), F64)
    shape = {"batch": (3, 1, 5, 9), "head": (1, 2, 1, 9), "none": (1, 1, 5, 9)}[steps]
    bias, full = rng.standard_normal(shape), (3, 2, 5, 9)

    def call():
        dbias = np.zeros(shape)
        strides = [step if length > 1 else 0 for step, length in zip(dbias.strides, shape)]
        spread = np.lib.stride_tricks.as_strided(dbias, full, strides)
        run(q, k, v, dout, spread, scale=1.0, bias=np.broadcast_to(bias, full))
        return (dbias,)

    axes = tuple(axis for axis in range(4) if shape[axis] == 1)
    wanted = formula(q, k, v, dout, 1.0, bias, False, 1)[4].sum(axes, keepdims=True)
    np.testing.assert_allclose(both_threads(call)[0], wanted, atol=1e-12)


def test_prefix_counts_above_the_band():
    _, q, k, v, dout = operands((2, 1, 1, 130, 290, 8), F64)
    prefix = np.array([270, 0])
    hidden = np.arange(290) > np.arange(130)[:, None] + 5
    hidden = hidden & (np.arange(290) >= prefix[:, None, None, None])
    found = run(q, k, v, dout, scale=1.0, high=5, prefix=prefix)
    for x, y in zip(found, formula(q, k, v, dout, 1.0, 0, hidden, 1)):
        np.testing.assert_allclose(x, y, atol=1e-12)


@pytest.mark.parametrize("keys", [24, 300])
def test_given_bits_drop_weights(keys, both_threads):
    rng, q, k, v, dout = operands((2, 2, 1, 100, keys, 8), F64)
    bits = rng.random((2, 2, 100, keys)) < 0.7
    kept = np.packbits(bits, -1, bitorder="little")
    found = both_threads(lambda: run(q, k, v, dout, scale=0.5, keep_prob=0.7, kept=kept))
    for x, y in zip(found, formula(q, k, v, dout, 0.5, 0, False, bits / 0.7)):
        np.testing.assert_allclose(x, y, atol=1e-11)


def drawn(keys, keep_prob, seed):
    """The factors of the weights of one head, seen in values that show one key each."""
    nothing = np.zeros((1, 1, 50, keys))
    values = np.eye(keys)[None, None] * keys
    out = np.empty_like(nothing)
    options = {"keep_prob": keep_prob, "seed": seed}
    attention.forward(nothing, 0 * values, values, out, *np.empty((2, 1, 1, 50)), 1.0, **options)
    return out


def test_drawn_weights(both_threads):
    factors = drawn(300, 0.75, 5)
    assert set(np.unique(factors.round(9))) == {0, round(1 / 0.75, 9)}
    assert abs((factors > 0).mean() - 0.75) < 0.02
    assert (drawn(300, 0.75, 6) != factors).any() and (factors[0, 0, 0] != factors[0, 0, 1]).any()
    _, q, k, v, dout = operands((1, 1, 1, 50, 300, 4), F64)
    found = both_threads(lambda: run(q, k, v, dout, scale=0.5, keep_prob=0.75, seed=5))
    for x, y in zip(found, formula(q, k, v, dout, 0.5, 0, False, factors)):
        np.testing.assert_allclose(x, y, atol=1e-11)


def test_queries_without_keys():
    _, q, k, v, dout = operands((1, 1, 1, 4, 3, 2), F32)
    hidden = np.zeros((1, 1, 4, 3), np.uint8)
    hidden[0, 0, 1] = 1
    found = run(q, k, v, dout, scale=1.0, hidden=hidden)
    assert all(np.isfinite(x).all() for x in found)
    assert not found[0][0, 0, 1].any() and not found[1][0, 0, 1].any() and found[0][0, 0, 0].all()
    assert np.isnan(run(q, k, v, dout, scale=1.0, hidden=hidden, empty=np.nan)[0][0, 0, 1]).all()


@pytest.mark.parametrize("sizes", [(0, 2, 1, 3, 4, 5), (1, 2, 1, 0, 4, 5), (1, 2, 2, 3, 0, 5), (1, 2, 2, 3, 4, 0)])
def test_empty(sizes):
    _, q, k, v, dout = operands(sizes, F32)
    for x in run(q, k, v, dout, scale=1.0):
        assert not x.any()


def test_nan_and_large_scores():
    _, q, k, v, dout = operands((1, 1, 1, 3, 4, 2), F32)
    q = q.copy()
    q[0, 0, 1, 0] = np.nan
    out = run(q, k, v, dout, scale=1.0)[0]
    assert np.isnan(out[0, 0, 1]).all() and np.isfinite(out[0, 0, [0, 2]]).all()
    q[...] = 1e4
    assert np.isfinite(run(q, k, v, dout, scale=1.0)[0]).all()


def test_refused():
    _, q, k, v, _ = operands((2, 4, 2, 3, 5, 2), F32)
    out, sums = np.empty_like(q), np.empty((2, 2, 4, 3), F32)
    for change, error in [
        ({"k": k.astype(F64)}, TypeError),
        ({"v": v[:, :, :4]}, ValueError),
        ({"q": q[0]}, ValueError),
        ({"q": q[:, :3]}, ValueError),
        ({"k": np.ascontiguousarray(k.swapaxes(2, 3)).swapaxes(2, 3)}, ValueError),
        ({"q": np.ones(q.shape, np.int32)}, TypeError),
        ({"bias": np.zeros((2, 4, 3, 5), F64)}, TypeError),
        ({"hidden": np.zeros((2, 4, 3, 5), bool)}, TypeError),
        ({"hidden": np.zeros((2, 4, 3, 4), np.uint8)}, ValueError),
        ({"prefix": np.zeros(3, np.int64)}, ValueError),
        ({"keep_prob": 0.0}, ValueError),
        ({"low": 0.5}, TypeError),
        ({"seed": -1}, ValueError),
        ({"maxima": np.empty((2, 4, 2), F32)}, ValueError),
    ]:
        call = {"q": q, "k": k, "v": v, "out": out, "maxima": sums[0], "factors": sums[1], "scale": 1.0, **change}
        with pytest.raises(error, match="For 'attention', "):
            attention.forward(**call)

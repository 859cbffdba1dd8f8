"""The 16-bit wire formats against NumPy and ml_dtypes, bit for bit."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import threads, wire

KINDS = {True: np.float16, False: ml_dtypes.bfloat16}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519, 65520, 1e-8, 6e-8, 3.3e38, 1.00390625, 1.01171875]


@pytest.fixture(params=[1, 2])
def thread_count(request):
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(before)


@pytest.mark.parametrize("size", [0, 1, 7, 16384, 100_003])
@pytest.mark.parametrize("half", KINDS)
def test_rounding(half, size, thread_count):
    x = (np.random.default_rng(size).standard_normal(size) * 10.0 ** np.linspace(-9, 6, size)).astype(np.float32)
    x = np.concatenate([x, np.float32(SPECIAL)])
    out = np.empty(x.size, np.uint16)
    wire.narrow(x, out, half)
    with np.errstate(over="ignore"):
        want = x.astype(KINDS[half])
    number = ~np.isnan(x)
    assert (out[number] == want.view(np.uint16)[number]).all()
    assert np.isnan(out.view(KINDS[half])[~number].astype(np.float32)).all()


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, 33, 70_001])
@pytest.mark.parametrize("half", KINDS)
def test_sums(half, size, rows, thread_count):
    parts = np.random.default_rng(rows).standard_normal((rows, size)).astype(np.float32).astype(KINDS[half])
    out = np.empty(size, np.float32)
    wire.add(parts.view(np.uint16), out, half)
    want = np.zeros(size, np.float32)
    for row in parts:
        want += row.astype(np.float32)
    assert (out == want).all()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: wire.narrow(np.ones(3), np.empty(3, np.uint16), True), "'x' must be float32"),
        (lambda: wire.narrow(np.ones(3, np.float32), np.empty(2, np.uint16), True), "'out' must have 3 elements"),
        (lambda: wire.narrow(np.ones(6, np.float32)[::2], np.empty(3, np.uint16), True), "contiguous"),
        (lambda: wire.add(np.ones((2, 3), np.uint16), np.empty(2, np.float32), True), "rows of 2 elements"),
        (lambda: wire.add(np.ones((0, 2), np.uint16), np.empty(2, np.float32), True), "1 or more rows"),
        (lambda: wire.add(np.ones(2, np.uint16), np.empty(2, np.float32), True), "2 dimensions"),
    ],
)
def test_wrong_arrays(call, error):
    with pytest.raises((TypeError, ValueError), match=error):
        call()

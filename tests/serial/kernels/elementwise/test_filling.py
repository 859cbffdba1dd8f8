"""Arrays of one number and of numbers at equal distances against NumPy's, bit by bit."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms import ops
from dist_ms._ext import filling, threads

TYPES = [np.dtype(t) for t in ("?", "i1", "u2", "f2", ml_dtypes.bfloat16, "i4", "f4", "i8", "f8", "c8", "c16")]
SHAPES = [(), (0,), (1,), (3, 5), (7, 0), (40_001,), (300, 211), (131_072,)]


def by_threads(function):
    """The array that a function makes with 1 and 2 threads: the bits must be the same."""
    before, found = threads.get_num_threads(), []
    for number in (1, 2):
        threads.set_num_threads(number)
        try:
            found.append(function())
        finally:
            threads.set_num_threads(before)
    assert found[0].tobytes() == found[1].tobytes()
    return found[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_fill(dtype, shape):
    for number in (0, 1, -0.0, 0.3):
        value = np.asarray(number).astype(dtype)

        def made(value=value):
            out = np.empty(shape, dtype)
            filling.fill(out, value)
            return out

        assert by_threads(made).tobytes() == np.full(shape, value, dtype).tobytes()


def test_fill_keeps_to_its_array():
    memory = np.zeros(60_000, np.int16)
    filling.fill(memory[1:-3], np.asarray(-2, np.int16))
    assert memory[0] == 0
    assert (memory[-3:] == 0).all()
    assert (memory[1:-3] == -2).all()
    turned = np.zeros((200, 300), np.float32).T
    filling.fill(turned, np.asarray(3, np.float32))
    assert (turned == 3).all()


def test_fill_refuses():
    out = np.empty((4, 4), np.float32)
    with pytest.raises(TypeError, match="'value' must be float32"):
        filling.fill(out, np.zeros((), np.float64))
    with pytest.raises(ValueError, match="one element"):
        filling.fill(out, np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="gaps"):
        filling.fill(out[:, ::2], np.zeros((), np.float32))
    with pytest.raises(TypeError, match="numbers"):
        filling.fill(np.empty(2, object), np.asarray(None, object))


@pytest.mark.parametrize("size", [0, 1, 5000, 16_384, 100_001])
@pytest.mark.parametrize("start, step", [(0, 1), (3, -2), (0.1, 0.3), (-1e30, 1e25), (1e-3, -1e-9)])
def test_progression(size, start, step):
    for dtype in (np.float32, np.float64, np.int64) if isinstance(start, int) else (np.float32, np.float64):

        def made(dtype=dtype):
            out = np.empty(size, dtype)
            filling.progression(out, start, step)
            return out

        assert by_threads(made).tobytes() == (start + step * np.arange(size)).astype(dtype).tobytes()


def test_progression_refuses():
    with pytest.raises(TypeError, match="float32, float64 or int64"):
        filling.progression(np.empty(3, np.int32), 0, 1)
    with pytest.raises(ValueError, match="C-contiguous"):
        filling.progression(np.empty(6, np.float32)[::2], 0, 1)


@pytest.mark.parametrize("start, end", [(0, 1), (1, 1), (5, -3), (0.1, 1e20), (-0.25, 0.75)])
def test_large_ranges(start, end):
    found = ops.linspace(start, end, 10_001).asnumpy()
    assert found.tobytes() == np.linspace(start, end, 10_001, dtype=np.float32).tobytes()
    assert ops.arange(0, 9001, 0.5).asnumpy().tobytes() == np.arange(0, 9001, 0.5, np.float32).tobytes()
    assert ops.arange(9001, 0, -1).asnumpy().tobytes() == np.arange(9001, 0, -1).tobytes()


@pytest.mark.parametrize("rows, columns", [(300, 400), (400, 300), (1, 5), (5, 1), (0, 3), (3, 0), (4, 4)])
def test_eye(rows, columns):
    np.testing.assert_array_equal(ops.eye(rows, columns).asnumpy(), np.eye(rows, columns, dtype=np.float32))

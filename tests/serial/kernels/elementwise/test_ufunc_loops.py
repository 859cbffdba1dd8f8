"""NumPy's functions on all threads against NumPy's own calls, bit by bit."""

import os
import subprocess
import sys
import warnings

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import pointwise, threads
from dist_ms._ext.ufunc_loops import apply
from tests.serial.kernels.calls import channels_last, layouts

BF16 = np.dtype(ml_dtypes.bfloat16)
UNARY = (np.exp, np.log1p, np.sqrt, np.sin, np.floor, np.negative, np.absolute, np.isnan, np.reciprocal)
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.arctan2, np.power, np.less, np.not_equal)
SHAPES = [(), (0,), (1,), (5,), (3, 0, 2), (7, 13), (2, 3, 4, 5), (300, 211), (70_001,)]


def random(shape, dtype, seed=0):
    return np.asarray(3 * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def run(function, *arrays):
    """Apply with 1 and 2 threads: the bits must be the same."""
    before, results = threads.get_num_threads(), []
    for number in (1, 2):
        threads.set_num_threads(number)
        try:
            results.append(apply(function, *arrays))
        finally:
            threads.set_num_threads(before)
    assert_same(*results)
    return results[0]


def assert_same(found, wanted):
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.shape) == (wanted.dtype, np.shape(wanted))
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes()


def by_numpy(function, *arrays):
    with np.errstate(all="ignore"):
        return np.asarray(function(*arrays))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.complex64])
def test_types(shape, dtype):
    for x, y in zip(layouts(random(shape, dtype)), layouts(random(shape, dtype, 1)), strict=True):
        for function in UNARY[2 if dtype is np.complex64 else 0 :]:
            try:
                wanted = by_numpy(function, x)
            except TypeError:
                with pytest.raises(TypeError):
                    apply(function, x)
                continue
            assert_same(run(function, x), wanted)
        for function in BINARY:
            if function is np.power and np.dtype(dtype).kind != "f":
                continue
            try:
                wanted = by_numpy(function, x, y)
            except TypeError:
                with pytest.raises(TypeError):
                    apply(function, x, y)
                continue
            assert_same(run(function, x, y), wanted)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [BF16, np.dtype(np.float16)])
def test_16_bit_floats_are_computed_with_in_float32(shape, dtype):
    for x, y in zip(layouts(random(shape, dtype)), layouts(random(shape, dtype, 1)), strict=True):
        for function in (np.exp, np.sqrt, np.floor, np.negative, np.isnan):
            wanted = by_numpy(function, x.astype(np.float32))
            if wanted.dtype != bool:
                with np.errstate(over="ignore"):
                    wanted = wanted.astype(dtype)
            assert_same(run(function, x), wanted)
        for function in (np.add, np.divide, np.maximum, np.less):
            assert_same(run(function, x, y), by_numpy(function, x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, BF16])
@pytest.mark.parametrize(
    ("shape", "other"),
    [
        ((300, 211), (211,)),
        ((300, 211), (300, 1)),
        ((211,), (300, 1)),
        ((300, 1), (1, 211)),
        ((300, 211), ()),
        ((1, 1), (300, 211)),
        ((200, 3, 211), (3, 1)),
        ((2, 3, 4, 5), (3, 1, 5)),
        ((1,), (1, 1, 1)),
        ((0, 4), (1, 4)),
        ((4, 64, 30, 30), (64, 1, 1)),
        ((3, 40_000), (3, 1)),
    ],
)
def test_operands_broadcast(dtype, shape, other):
    x, y = random(shape, dtype), random(other, dtype, 1)
    for first in layouts(x):
        assert_same(run(np.multiply, first, y), by_numpy(np.multiply, first, y))
        assert_same(run(np.less, y, first), by_numpy(np.less, y, first))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, BF16, np.float16])
def test_strided_operands(dtype):
    x = random((300, 211), dtype)
    for a, b in ((x[::2, ::3], x[1::2, ::3]), (x[:211, :], x[:211, :].T), (x[::-1], x), (x[:, ::-1], x[0])):
        assert_same(run(np.add, a, b), by_numpy(np.add, a, b))
        assert_same(run(np.negative, a), by_numpy(np.negative, a))


def test_results_lie_as_the_operand_does():
    x = channels_last(random((2, 3, 40, 50), np.float32))
    assert apply(np.exp, x).strides == x.strides
    assert apply(np.isnan, x).strides == tuple(s // 4 for s in x.strides)
    assert apply(np.add, x, np.ones((3, 1, 1), np.float32)).strides == x.strides
    assert apply(np.add, np.ones((), np.float32), x).strides == x.strides


def test_mixed_types_and_other_classes_go_to_numpy():
    x = random((50,), np.float32)
    assert_same(apply(np.add, x, x.astype(np.float64)), x + x.astype(np.float64))
    assert_same(apply(np.logical_and, x, x > 0), np.logical_and(x, x > 0))
    assert_same(apply(np.add, x, 1.0), x + np.float32(1))
    assert_same(apply(np.add, x.astype(">f4"), x), x + x)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32)
    assert_same(apply(np.add, unaligned, x), x + x)
    deep = np.ones((1,) * 13 + (2,), np.float32)
    assert_same(apply(np.add, deep, deep), deep + deep)


def test_wrong_operands_are_errors():
    x = np.ones((3, 4), np.float32)
    with pytest.raises(ValueError, match="could not be broadcast"):
        apply(np.add, x, np.ones(3, np.float32))
    with pytest.raises(TypeError):
        apply(np.add, x)
    with pytest.raises(ValueError, match="up to three inputs and one result, but got divmod"):
        apply(np.divmod, x, x)


def test_no_element_warns_nor_leaves_a_warning_behind():
    before = threads.get_num_threads()
    threads.set_num_threads(2)
    try:
        with warnings.catch_warnings(), np.errstate(all="warn"):
            warnings.simplefilter("error")
            for size in (4, 5000, 200_000):
                x = np.zeros(size, np.float32)
                apply(np.divide, x, x)
                apply(np.log, x - 1)
                apply(np.exp, x + 1000)
                apply(np.divide, x.astype(np.int32), x.astype(np.int32))
                apply(pointwise.fmod, x, x)
                assert np.add(x, x).sum() == 0  # a flag that stayed up would be seen here
    finally:
        threads.set_num_threads(before)


def test_integer_powers_raise_in_the_thread_that_asked():
    x = np.full(100_000, 2)
    with pytest.raises(ValueError, match="negative integer powers"):
        apply(np.power, x, -x)


def test_a_thread_of_its_own_may_call():
    code = (
        "import threading, numpy as np\n"
        "from dist_ms._ext.ufunc_loops import apply\n"
        "x, found = np.ones(100_000, np.float32), []\n"
        "threads = [threading.Thread(target=lambda: found.append(apply(np.add, x, x).sum())) for _ in range(4)]\n"
        "[t.start() for t in threads], [t.join() for t in threads]\n"
        "assert found == [200_000] * 4, found\n"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "OMP_NUM_THREADS": "2"}, check=True, timeout=60)


SHAPE = (40, 30, 50)
FORMS = {
    "alike": lambda x: x,
    "one number, broadcast": lambda x: np.broadcast_to(x.reshape(-1)[0], x.shape),
    "one number": lambda x: x[:1, :1, :1].copy(),
    "the last axis": lambda x: x[0, 0].copy(),
    "the channels": lambda x: x[:1, :, :1].copy(),
    "channels last": channels_last,
    "every second": lambda x: np.repeat(x, 2, axis=2)[:, :, ::2],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, BF16, np.float16], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_operands(form, dtype):
    first, second = random(SHAPE, dtype), random(SHAPE, dtype, 1)
    other, number = FORMS[form](second), FORMS["one number, broadcast"](first)
    for x, y in ((first, other), (other, first), (channels_last(first), other), (other, number)):
        for function in (np.add, np.subtract, np.multiply):
            assert_same(run(function, x, y), by_numpy(function, x, y))

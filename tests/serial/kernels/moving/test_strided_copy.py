"""Copies between any strides against NumPy's assignment."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import strided_copy
from tests.serial.kernels.calls import call

DTYPES = (np.bool_, np.uint8, np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128)


def view(rng, shape, dtype):
    """A view of this shape into an array of its own: axes in some order, steps, reversed axes, an offset."""
    order = rng.permutation(len(shape))
    steps = rng.choice([1, 1, 1, 2, 3], len(shape))
    memory = [shape[axis] * steps[axis] + rng.integers(0, 2) for axis in order]
    x = rng.integers(0, 2 if dtype is np.bool_ else 100, memory).astype(dtype).transpose(np.argsort(order))
    x = x[tuple(slice(m - n * step, None, step) for m, n, step in zip(x.shape, shape, steps))]
    return np.flip(x, [axis for axis in range(len(shape)) if rng.random() < 0.2])


def shapes(rng):
    """Some shapes, small and large, with dimensions of 0 and 1 among them."""
    yield from [(), (1,), (0, 3), (5, 0), (1, 1, 1), (70_000,), (300, 257), (2, 3, 130, 131), (5, 66, 7, 64)]
    for _ in range(40):
        yield tuple(int(n) for n in rng.choice([1, 2, 3, 4, 7, 16, 17, 33, 64], rng.integers(1, 6)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_strides(dtype):
    rng = np.random.default_rng(1)
    for shape in shapes(rng):
        if np.prod(shape) > 2_000_000:
            continue
        source, target = np.asarray(view(rng, shape, dtype)), np.asarray(view(rng, shape, dtype))
        call(strided_copy.copy, (source, target), [target])
        np.testing.assert_array_equal(target, source)


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_broadcast(axes, dtype):
    rng = np.random.default_rng(2)
    for shape in ((3, 5, 7), (40, 50, 60), (70, 3, 513)):
        few = tuple(1 if axis in axes else n for axis, n in enumerate(shape))
        source = np.broadcast_to(view(rng, few, dtype), shape)
        for target in (np.empty(shape, dtype), np.empty(shape[::-1], dtype).T):
            call(strided_copy.copy, (source, target), [target])
            np.testing.assert_array_equal(target, source)


def test_the_rest_of_memory_stays():
    whole = np.arange(10_000.0).reshape(100, 100)
    before = whole.copy()
    strided_copy.copy(np.zeros((40, 30)).T, whole[10:40, 20:60])
    changed = whole != before
    assert changed[10:40, 20:60].all() and changed.sum() == 30 * 40


@pytest.mark.parametrize(
    "source, target, error, match",
    [
        (np.zeros(3), np.zeros(4), ValueError, "shape"),
        (np.zeros(3), np.zeros(3, np.float32), TypeError, "one type"),
        (np.zeros(3, object), np.zeros(3, object), TypeError, "without Python objects"),
        (np.zeros(3, ">f4"), np.zeros(3, ">f4"), TypeError, "byte order"),
        (np.zeros(3), np.broadcast_to(np.zeros(1), 3), ValueError, "writeable"),
    ],
)
def test_errors(source, target, error, match):
    with pytest.raises(error, match=match):
        strided_copy.copy(source, target)

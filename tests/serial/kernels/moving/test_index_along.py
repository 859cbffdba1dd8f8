"""Elements taken, put and added along an axis, against NumPy."""

import numpy as np
import pytest

from dist_ms._ext import index_along
from tests.serial.kernels.calls import call

# outer, length, count, inner
SIZES = [(1, 1, 1, 1), (0, 3, 2, 2), (2, 3, 0, 4), (3, 4, 5, 0), (4, 7, 30, 1), (1, 50, 300, 1), (2, 9, 11, 2500),
         (70, 5, 12, 64), (1, 40, 3000, 33), (900, 30, 60, 1)]  # fmt: skip
MOVED = (np.bool_, np.int16, np.float32, np.complex64, np.float64)
ADDED = (np.float32, np.float64, np.int32, np.int64)


def changed(kernel, array, indices, others):
    """The array after a call, the same for 1 and 2 threads."""
    out = np.empty_like(array)

    def run(start, *rest):
        out[...] = start
        kernel(out, *rest)

    return call(run, (array, indices, others), [out])


def cases(dtype, shape):
    """Indices for single elements and for whole rows, of either type, some negative."""
    outer, length, count, inner = shape
    rng = np.random.default_rng(1)
    array = (rng.standard_normal((outer, length, inner)) * 10).astype(dtype)
    others = (rng.standard_normal((outer, count, inner)) * 10).astype(dtype)
    for index_dtype in (np.int32, np.int64):
        own = rng.integers(-length, length, (outer, count, inner)).astype(index_dtype)
        yield array, own, others
        yield array, np.asfortranarray(own), others
        yield array, np.broadcast_to(own[:1, :, :1], own.shape) if own.size else own, others
        yield array, np.broadcast_to(own[:1, :, :1] % max(length, 1), own.shape) if own.size else own, others
        yield array, np.broadcast_to(own[:, :, :1], own.shape) if own.size else own, others


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("dtype", MOVED)
def test_take_and_put(dtype, shape):
    for array, indices, others in cases(dtype, shape):
        out = others.copy()
        call(index_along.take, (array, indices, out), [out])
        np.testing.assert_array_equal(out, np.take_along_axis(array, indices.astype(np.int64), 1))
        wanted = array.copy()
        for row in range(shape[2]):
            np.put_along_axis(wanted, indices[:, row : row + 1].astype(np.int64), others[:, row : row + 1], 1)
        np.testing.assert_array_equal(changed(index_along.put, array, indices, others), wanted)


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("dtype", ADDED)
def test_add(dtype, shape):
    for array, indices, others in cases(dtype, shape):
        wanted = array.copy()
        o, i = np.ogrid[: shape[0], : shape[3]]
        for row in range(shape[2]):
            wanted[o, indices[:, row], i] += others[:, row]
        np.testing.assert_array_equal(changed(index_along.add, array, indices, others), wanted)


@pytest.mark.parametrize("kernel", [index_along.take, index_along.put, index_along.add])
@pytest.mark.parametrize("wrong", [3, -4])
def test_out_of_range(kernel, wrong):
    for inner in (1, 5):
        indices = np.zeros((2, 4, inner), np.int64)
        indices[1, 2, inner - 1] = wrong
        with pytest.raises(IndexError, match=r"\[-3, 3\)"):
            kernel(np.zeros((2, 3, inner)), indices, np.zeros((2, 4, inner)))
        line = np.broadcast_to(np.array([0, wrong, 1, 2])[:, None], indices.shape)
        with pytest.raises(IndexError, match=r"\[-3, 3\)"):
            kernel(np.zeros((2, 3, inner)), line, np.zeros((2, 4, inner)))


@pytest.mark.parametrize(
    "array, indices, others, error",
    [
        (np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), TypeError),
        (np.zeros((1, 2, 3)), np.zeros((1, 2, 3), np.int16), np.zeros((1, 2, 3)), TypeError),
        (np.zeros((1, 2, 3)), np.zeros((1, 2, 2), np.int64), np.zeros((1, 2, 3)), ValueError),
        (np.zeros((1, 2, 3)), np.zeros((1, 2, 3), np.int64), np.zeros((2, 2, 3)), ValueError),
        (np.zeros((1, 2, 3)), np.zeros((1, 2, 3), np.int64), np.zeros((1, 2, 3), np.float32), TypeError),
        (np.zeros((1, 2, 3), complex), np.zeros((1, 2, 3), np.int64), np.zeros((1, 2, 3), complex), TypeError),
    ],
)
def test_errors(array, indices, others, error):
    for kernel in (index_along.take, index_along.put, index_along.add):
        with pytest.raises(error, match="For '"):
            kernel(array, indices, others)


def test_halves_are_not_added():
    half = np.zeros((1, 2, 1), np.float16)
    with pytest.raises(TypeError, match="float16"):
        index_along.add(half, np.zeros((1, 2, 1), np.int64), half.copy())

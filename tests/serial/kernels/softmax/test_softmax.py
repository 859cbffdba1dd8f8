"""Softmax and cross entropy kernels against their twins."""

import numpy as np
import pytest

from dist_ms._ext import softmax
from tests import reference
from tests.serial.kernels.calls import DTYPES, NARROW, STORED, assert_close, call, random, wide

SHAPES = [(0, 3), (3, 0), (0, 0), (1, 1), (5, 1), (1, 9), (7, 10), (5, 31), (5, 32), (3, 65), (4, 2500), (700, 70)]
FORWARD = {
    softmax.softmax_forward: reference.softmax,
    softmax.log_softmax_forward: reference.log_softmax,
}
BACKWARD = {
    softmax.softmax_backward: (reference.softmax_gradient, reference.softmax),
    softmax.log_softmax_backward: (reference.log_softmax_gradient, reference.log_softmax),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", FORWARD)
def test_forward(kernel, dtype, shape):
    x = 5 * random(shape, dtype)
    out = np.empty_like(x)
    wanted = FORWARD[kernel](wide(x)) if x.size else wide(x)
    assert_close(call(kernel, (x, out), [out]), wanted)
    kernel(x, x)
    assert x.tobytes() == out.tobytes()


@pytest.mark.parametrize("shape", [*SHAPES, (3, 70_000)])
def test_stepwise_softmax_rounds_as_numpy_does_on_float16(shape):
    x = (5 * random(shape, np.float32)).astype(np.float16)
    out = np.empty_like(x)
    found = call(softmax.stepwise_softmax_forward, (x, out), [out])
    if x.size:
        with np.errstate(over="ignore"):
            powers = np.exp(x - x.max(1, keepdims=True))
            wanted = powers / powers.sum(1, np.float32, keepdims=True).astype(np.float16)
        # An exponential or a sum that lies between two float16 may fall to either.
        assert np.mean(found != wanted) < 0.01
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-7)
    softmax.stepwise_softmax_forward(x, x)
    assert x.tobytes() == out.tobytes()


def test_stepwise_softmax_of_special_values():
    x = np.array([[0, -np.inf], [np.nan, 0], [np.inf, 0], [65504, -65504]], np.float16)
    out = np.empty_like(x)
    softmax.stepwise_softmax_forward(x, out)
    np.testing.assert_array_equal(out, [[1, 0], [np.nan, np.nan], [np.nan, np.nan], [1, 0]])
    with pytest.raises(TypeError, match="'x' and 'out' must be float16, but got float32 and float16"):
        softmax.stepwise_softmax_forward(x.astype(np.float32), out)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", BACKWARD)
def test_backward(kernel, dtype, shape):
    twin, forward = BACKWARD[kernel]
    dy, x = random(shape, dtype, 2), random(shape, dtype, 3)
    y = forward(wide(x)).astype(dtype) if x.size else x
    dx = np.empty_like(dy)
    wanted = twin(wide(dy), wide(y))
    assert_close(call(kernel, (dy, y, dx), [dx]), wanted, scale=np.abs(wanted).max(initial=1))


@pytest.mark.parametrize("source", STORED)
@pytest.mark.parametrize("target", STORED)
@pytest.mark.parametrize("shape", SHAPES)
def test_narrow_numbers_are_those_of_float32_between_casts(source, target, shape):
    for kernel in FORWARD:
        x = (5 * random(shape, np.float32)).astype(source)
        out, plain = np.empty(shape, target), np.empty(shape, np.float32)
        call(kernel, (x, out), [out])
        kernel(x.astype(np.float32), plain)
        assert out.tobytes() == plain.astype(target).tobytes()
    for kernel, (_, forward) in BACKWARD.items():
        dy, x = random(shape, np.float32, 2).astype(source), random(shape, np.float32, 3)
        y = forward(wide(x)).astype(target) if x.size else x.astype(target)
        for dx in (np.empty(shape, source), np.empty(shape, target)):
            call(kernel, (dy, y, dx), [dx])
            kernel(dy.astype(np.float32), y.astype(np.float32), plain)
            assert dx.tobytes() == plain.astype(dx.dtype).tobytes()


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_numbers_in_place(dtype):
    for kernel in FORWARD:
        x = random((7, 300), np.float32).astype(dtype)
        out = np.empty_like(x)
        kernel(x, out)
        kernel(x, x)
        assert x.tobytes() == out.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", FORWARD)
def test_large_and_infinite_numbers(kernel, dtype):
    special = np.array(
        [
            [1e30, 0, -1e30],
            [-1000, -1001, -1002],
            [0, -np.inf, 3],
            [np.nan, 0, 0],
            [0, 0, np.nan],
            [np.inf, 0, 0],
            [-np.inf, -np.inf, -np.inf],
        ],
        dtype,
    )
    for width in (3, 31, 32, 40, 70):
        x = np.full((len(special), width), -np.inf, dtype)
        x[:, :2], x[:, -1] = special[:, :2], special[:, 2]
        out = np.empty_like(x)
        kernel(x, out)
        with np.errstate(all="ignore"):
            assert_close(out, FORWARD[kernel](wide(x)))


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("width", [5, 32, 50])
def test_a_nan_anywhere_makes_its_row_nan(width, negative):
    for place in range(width):
        x = random((2, width), np.float32)
        x[1, place] = np.copysign(np.nan, -1 if negative else 1)
        for kernel in FORWARD:
            out = np.empty_like(x)
            kernel(x, out)
            assert np.isfinite(out[0]).all() and np.isnan(out[1]).all()


def test_small_probabilities_lose_their_bits_gradually():
    x = np.zeros((1, 200), np.float32)
    x[0, 1:] = -np.linspace(80, 110, 199)
    out = np.empty_like(x)
    softmax.softmax_forward(x, out)
    # Below the normal range an error counts in units of the smallest number.
    np.testing.assert_allclose(wide(out), reference.softmax(wide(x)), rtol=1e-5, atol=2.0**-149)
    assert out[0, -1] == 0


def test_wrong_arguments():
    x, out = np.zeros((4, 6), np.float32), np.zeros((4, 6), np.float32)
    with pytest.raises(ValueError, match=r"'x' must have 2 dimensions, but got shape \(24,\)"):
        softmax.softmax_forward(x.ravel(), out)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        softmax.softmax_forward(np.asfortranarray(x), out)
    with pytest.raises(TypeError, match="'out' must be float32, bfloat16 or float16, as 'x' is float32, but got"):
        softmax.log_softmax_forward(x, out.astype(np.float64))
    with pytest.raises(TypeError, match="'dx' must be float64, as 'dy' is float64, but got float16"):
        softmax.softmax_backward(wide(x), wide(x), out.astype(np.float16))
    with pytest.raises(TypeError, match="'x' must be float32, float64, bfloat16 or float16, but got int64"):
        softmax.softmax_forward(x.astype(np.int64), out)
    with pytest.raises(ValueError, match="For 'softmax_backward', 'y' must have the shape"):
        softmax.softmax_backward(x, x[:3], out)

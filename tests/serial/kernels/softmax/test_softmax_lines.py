"""Softmax and its kin along a middle axis against NumPy's in float64."""

import numpy as np
import pytest

from dist_ms._ext import softmax_lines as kernels
from tests.serial.kernels.calls import DTYPES, STORED, assert_close, call, random, wide

SHAPES = [(1, 1, 1), (3, 5, 1), (2, 70, 1), (2, 3, 7), (3, 9, 32), (2, 130, 45), (1, 1000, 100), (2, 2, 1025)]


def softmax(x):
    """The softmax along axis 1."""
    terms = np.exp(x - x.max(1, keepdims=True))
    return terms / terms.sum(1, keepdims=True)


def log_sum(x):
    """log(sum(exp(x))) along axis 1."""
    largest = x.max(1, keepdims=True)
    return (np.log(np.exp(x - largest).sum(1, keepdims=True)) + largest)[:, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3, 2), (2, 3, 0)])
def test_against_numpy(dtype, shape):
    x, dy, out = random(shape, dtype) * 4, random(shape, dtype, 2), np.empty(shape, dtype)
    y = softmax(wide(x)) if x.size else wide(x)
    assert_close(call(kernels.softmax_forward, (x, out), [out]), y)
    result = y * (dy - (dy * y).sum(1, keepdims=True))
    assert_close(call(kernels.softmax_backward, (dy, y.astype(dtype), out), [out]), result, 2)
    with np.errstate(divide="ignore"):
        logs = np.log(y)
    assert_close(call(kernels.log_softmax_forward, (x, out), [out]), logs, 8)
    result = dy - y * wide(dy).sum(1, keepdims=True)
    assert_close(call(kernels.log_softmax_backward, (dy, logs.astype(dtype), out), [out]), result, 20)


@pytest.mark.parametrize("source", STORED)
@pytest.mark.parametrize("target", STORED)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3, 2), (2, 3, 0), (1, 3000, 20)])
def test_narrow_numbers_are_those_of_float32_between_casts(source, target, shape):
    for name in ("softmax", "log_softmax"):
        x = (5 * random(shape, np.float32)).astype(source)
        out, plain = np.empty(shape, target), np.empty(shape, np.float32)
        kernel = getattr(kernels, f"{name}_forward")
        call(kernel, (x, out), [out])
        kernel(x.astype(np.float32), plain)
        assert out.tobytes() == plain.astype(target).tobytes()
        dy, y = random(shape, source, 2), plain.astype(target)
        kernel = getattr(kernels, f"{name}_backward")
        call(kernel, (dy, y, out), [out])
        kernel(dy.astype(np.float32), y.astype(np.float32), plain)
        assert out.tobytes() == plain.astype(target).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3, 2), (2, 3, 0)])
def test_log_sums(dtype, shape):
    x, dx = random(shape, dtype) * 4, np.empty(shape, dtype)
    out, dy = np.empty((shape[0], shape[2]), dtype), random((shape[0], shape[2]), dtype, 2)
    y = log_sum(wide(x)) if x.size else wide(out)
    assert_close(call(kernels.log_sum_forward, (x, out), [out]), y, 2)
    y = y.astype(dtype)
    assert_close(call(kernels.log_sum_backward, (dy, x, y, dx), [dx]), dy[:, None] * np.exp(x - wide(y)[:, None]), 2)


@pytest.mark.parametrize("inner", [1, 40])
def test_special_values(inner):
    x = np.zeros((1, 5, inner), np.float32)
    x[0, 0, 0] = -np.inf
    out, sums = np.empty_like(x), np.empty((1, inner), np.float32)
    kernels.softmax_forward(x, out)
    assert np.array_equal(out[0, :, 0], np.float32([0, 0.25, 0.25, 0.25, 0.25]))
    cases = [([-np.inf] * 5, -np.inf), ([np.inf, 1, -np.inf, 0, 0], np.inf), ([np.nan] + [0] * 4, np.nan)]
    for values, wanted in cases:
        x[0, :, 0] = values
        kernels.log_sum_forward(x, sums)
        assert np.array_equal(sums[0, 0], wanted, equal_nan=True)
        assert np.allclose(sums[0, 1:], np.log(5))
    x[0, :, 0] = [0, np.inf, 0, np.nan, 0]
    kernels.log_sum_forward(x, sums)
    assert np.isnan(sums[0, 0])
    kernels.softmax_forward(x, out)
    assert np.isnan(out[0, :, 0]).all() and np.allclose(out[0, :, 1:], 0.2)


def test_large_numbers_do_not_overflow():
    x = np.float32([1e4, 1e4, -1e4]).reshape(1, 3, 1).repeat(20, 2)
    out, sums = np.empty_like(x), np.empty((1, 20), np.float32)
    kernels.softmax_forward(x, out)
    assert np.array_equal(out[0, :, 3], np.float32([0.5, 0.5, 0]))
    kernels.log_sum_forward(x, sums)
    assert np.allclose(sums, 1e4 + np.log(2))


def test_an_output_may_be_the_input():
    for name in ("softmax_forward", "log_softmax_forward"):
        x = random((2, 30, 40), np.float32)
        out = np.empty_like(x)
        getattr(kernels, name)(x, out)
        getattr(kernels, name)(x, x)
        assert np.array_equal(x, out)


def test_wrong_arguments():
    x = np.ones((2, 3, 4), np.float32)
    with pytest.raises(TypeError, match="'x' must be float32, float64, bfloat16 or float16, but got int32"):
        kernels.softmax_forward(x.astype(np.int32), x)
    with pytest.raises(ValueError, match="'out' must have the shape"):
        kernels.log_softmax_forward(x, x[:1].copy())
    with pytest.raises(ValueError, match=r"'out' must have the shape \(2, 4\), but got \(2, 3\)"):
        kernels.log_sum_forward(x, np.empty((2, 3), np.float32))
    with pytest.raises(ValueError, match="the middle axis of 'x' must not be empty"):
        kernels.log_sum_forward(x[:, :0].copy(), np.empty((2, 4), np.float32))
    with pytest.raises(TypeError, match="'y' must be float32"):
        kernels.softmax_backward(x, x.astype(np.float64), x)

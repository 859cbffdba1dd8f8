"""Optimizer kernels against their twins."""

import numpy as np
import pytest

from dist_ms._ext import optimizer, threads
from tests import reference
from tests.serial.kernels.calls import DTYPES, assert_close, wide

SIZES = [0, 1, 37, 50_001]


def random(size, dtype, number):
    """Return `number` vectors; the last is positive, to serve as a second moment."""
    values = np.random.default_rng(1).standard_normal((number, size)).astype(dtype)
    values[-1] **= 2
    return [value.copy() for value in values]


def step(kernel, arrays, *numbers):
    """Call an optimizer with 1 and 2 threads on copies and return what it made of the arrays."""
    results = []
    before = threads.get_num_threads()
    for count in (1, 2):
        threads.set_num_threads(count)
        copies = [None if array is None else array.copy() for array in arrays]
        kernel(*copies, *numbers)
        results.append(copies)
    threads.set_num_threads(before)
    for one, two in zip(*results, strict=True):
        assert one is two or one.tobytes() == two.tobytes()
    np.testing.assert_array_equal(results[0][1], arrays[1])
    return results[0]


def sgd(p, g, accum, lr, momentum, dampening, weight_decay, nesterov, first, scale=1.0):
    numbers = (lr, weight_decay, scale, momentum, 1 - dampening, nesterov, first)
    optimizer.update("sgd", [(p, g) if accum is None else (p, g, accum)], [numbers])


def adam(p, g, m, v, lr, beta1, beta2, eps, weight_decay, nesterov, scale):
    numbers = (lr, weight_decay, scale, beta1, 1 - beta1, 1 - beta2, eps, nesterov)
    optimizer.update("adam", [(p, g, m, v)], [numbers])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("dampening, weight_decay, scale", [(0.0, 0.0, 1.0), (0.3, 0.1, 0.25)])
def test_sgd(dtype, size, nesterov, first, dampening, weight_decay, scale):
    p, g, accum = random(size, dtype, 3)
    numbers = (0.1, 0.9, dampening, weight_decay, nesterov, first, scale)
    new_p, _, new_accum = step(sgd, (p, g, accum), *numbers)
    wanted = reference.sgd(wide(p), wide(g), wide(accum), *numbers)
    assert_close(new_p, wanted[0])
    assert_close(new_accum, wanted[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first", [False, True])
def test_sgd_without_momentum(dtype, first):
    p, g = random(5000, dtype, 2)
    numbers = (0.1, 0.0, 0.0, 0.01, False, first)
    new_p, _, _ = step(sgd, (p, g, None), *numbers)
    assert_close(new_p, reference.sgd(wide(p), wide(g), None, *numbers, 1.0)[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("nesterov", [False, True])
def test_adam(dtype, size, nesterov):
    arrays = random(size, dtype, 4)
    numbers = (0.01, 0.9, 0.999, 1e-3, 0.1, nesterov, 0.5)
    p, _, m, v = step(adam, arrays, *numbers)
    wanted = reference.adam(*map(wide, arrays), *numbers)
    for found, exact in zip((p, m, v), wanted, strict=True):
        assert_close(found, exact)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_adam_weight_decay(dtype, size):
    arrays = random(size, dtype, 4)
    numbers = (0.01, 0.9, 0.999, 1e-3, 0.1, 0.5)
    lr, beta1, beta2, eps, decay, scale = numbers
    rule = (lr, decay, scale, beta1, 1 - beta1, 1 - beta2, eps)
    p, _, m, v = step(lambda *copies: optimizer.update("adam_weight_decay", [copies], [rule]), arrays)
    wanted = reference.adam_weight_decay(*map(wide, arrays), *numbers)
    for found, exact in zip((p, m, v), wanted, strict=True):
        assert_close(found, exact)


def test_arrays_of_several_axes_are_fine():
    p, g, accum = (array.reshape(5, 4, 3) for array in random(60, np.float32, 3))
    flat = p.copy().ravel(), g.ravel(), accum.copy().ravel()
    sgd(p, g, accum, 0.1, 0.9, 0.0, 0.0, False, False)
    sgd(*flat, 0.1, 0.9, 0.0, 0.0, False, False)
    np.testing.assert_array_equal(p.ravel(), flat[0])


def test_wrong_arguments():
    p, g, m, v = random(6, np.float32, 4)
    with pytest.raises(ValueError, match=r"For 'update', 'g' must have the shape \(6,\) of 'p'"):
        sgd(p, g[:5], m, 0.1, 0.9, 0.0, 0.0, False, False)
    with pytest.raises(TypeError, match="For 'update', 'v' must be float32, but got float64"):
        adam(p, g, m, wide(v), 0.1, 0.9, 0.9, 1e-8, 0.0, False, 1.0)
    with pytest.raises(ValueError, match="For 'update', 'g' must be C-contiguous"):
        adam(p, g[::-1], m, v, 0.1, 0.9, 0.9, 1e-8, 0.0, False, 1.0)
    with pytest.raises(TypeError, match="'p' must be float32 or float64, but got float16"):
        adam(p.astype("f2"), g, m, v, 0.1, 0.9, 0.9, 1e-8, 0.0, False, 1.0)
    p.flags.writeable = False
    with pytest.raises(ValueError, match="For 'update', 'p' must be writeable"):
        adam(p, g, m, v, 0.1, 0.9, 0.9, 1e-8, 0.0, False, 1.0)

"""Batch normalisation with what follows it, and in 16-bit numbers, against its parts."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import batch_norm
from tests import reference
from tests.serial.kernels.calls import assert_close, call, channels_last, wide

BF16 = ml_dtypes.bfloat16
SHAPES = [
    (1, 1),
    (5, 3),
    (70, 40),
    (3, 5, 1, 1),
    (4, 17, 9, 7),
    (9, 64, 14, 15),
    (2, 3, 2, 3, 4),
    (41, 8, 3, 3),
    (2, 9, 48, 50),
    (3, 2, 47, 48),
    (13, 32, 5, 3),
    (6, 70, 8, 9),
    (9, 64, 2, 2),
]
DTYPES = pytest.mark.parametrize("dtype", (np.float32, np.float64, BF16, np.float16))
HALVES = pytest.mark.parametrize("half", (BF16, np.float16))
LAYOUTS = pytest.mark.parametrize("layout", (np.ascontiguousarray, channels_last))
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES)


def arrays(shape, dtype, layout, count):
    """Return `count` arrays of a shape, then gamma and beta."""
    rng = np.random.default_rng(1)
    large = [layout(rng.standard_normal(shape)).astype(dtype) for _ in range(count)]
    return [*large, *rng.standard_normal((2, shape[1])).astype(vectors(dtype))]


def vectors(dtype):
    """The type of the statistics of arrays of a type."""
    return np.float64 if dtype == np.float64 else np.float32


def statistics(x):
    """The mean and 1 / sqrt(variance + eps) that the kernel finds."""
    mean, rstd = np.empty((2, x.shape[1]), vectors(x.dtype))
    return call(batch_norm.statistics, (x, 1e-5, mean, rstd), [mean, rstd])


def column(vector, x):
    """A vector (C,) in float64, shaped to be combined with x."""
    return wide(vector).reshape(-1, *[1] * (x.ndim - 2))


def other_axes(x):
    return (0, *range(2, x.ndim))


def compare(found, wanted, scale=1.0):
    """Compare as exactly as the type of `found` can hold it."""
    if found.dtype.itemsize == 2:
        rtol = 2**-8 if found.dtype == BF16 else 2**-11
        np.testing.assert_allclose(wide(found), wanted, rtol=rtol, atol=1e-5 * scale)
    else:
        assert_close(found, wanted, scale)


@DTYPES
@LAYOUTS
@EACH_SHAPE
def test_statistics(shape, layout, dtype):
    x, *_ = arrays(shape, dtype, layout, 1)
    mean, rstd = statistics(x)
    wanted_mean, wanted_rstd = reference.statistics(wide(x), other_axes(x), 1e-5)
    assert_close(mean, wanted_mean.ravel())
    assert_close(rstd, wanted_rstd.ravel())


@pytest.mark.parametrize("relu", (True, False))
@pytest.mark.parametrize("adds", (True, False))
@DTYPES
@LAYOUTS
@EACH_SHAPE
def test_inference(shape, layout, dtype, adds, relu):
    x, addend, gamma, beta = arrays(shape, dtype, layout, 2)
    mean, variance = beta[::-1].copy(), gamma[::-1] ** 2 + gamma.dtype.type(0.5)
    out = np.empty_like(x)
    call(batch_norm.forward_eval, (x, gamma, beta, mean, variance, 1e-3, out, addend if adds else None, relu), [out])
    rstd = 1 / np.sqrt(column(variance, x) + 1e-3)
    wanted = reference.normalise(wide(x), column(mean, x), rstd, column(gamma, x), column(beta, x)) + adds * wide(
        addend
    )
    compare(out, np.maximum(wanted, 0) if relu else wanted, scale=4)


@pytest.mark.parametrize("relu", (True, False))
@pytest.mark.parametrize("adds", (True, False))
@DTYPES
@LAYOUTS
@EACH_SHAPE
def test_normalised(shape, layout, dtype, adds, relu):
    x, addend, gamma, beta = arrays(shape, dtype, layout, 2)
    mean, rstd = statistics(x)
    out = np.empty_like(x)
    call(batch_norm.normalised, (x, gamma, beta, mean, rstd, addend if adds else None, relu, out), [out])
    vectors_of = [column(v, x) for v in (mean, rstd, gamma, beta)]
    wanted = reference.normalise(wide(x), *vectors_of) + adds * wide(addend)
    compare(out, np.maximum(wanted, 0) if relu else wanted, scale=4)


@DTYPES
@LAYOUTS
@EACH_SHAPE
def test_gradients_of_relu(shape, layout, dtype):
    x, dy, gamma, beta = arrays(shape, dtype, layout, 2)
    mean, rstd = statistics(x)
    y = np.empty_like(x)
    batch_norm.normalised(x, gamma, beta, mean, rstd, None, True, y)
    masked = np.where(wide(y) > 0, dy, np.zeros((), dtype))
    outputs = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
    parts = [np.empty_like(array) for array in outputs]
    batch_norm.backward(masked, x, gamma, mean, rstd, *parts)
    call(batch_norm.backward_of_relu, (dy, x, gamma, beta, mean, rstd, *outputs), outputs)
    for found, wanted in zip(outputs, parts):
        assert found.tobytes() == wanted.tobytes()


@DTYPES
@LAYOUTS
@EACH_SHAPE
def test_gradients_of_a_sum(shape, layout, dtype):
    x, dy, addend, gamma, beta = arrays(shape, dtype, layout, 3)
    mean, rstd = statistics(x)
    y = np.empty_like(x)
    batch_norm.normalised(x, gamma, beta, mean, rstd, addend, True, y)
    masked = np.where(wide(y) > 0, dy, np.zeros((), dtype))
    outputs = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma), np.empty_like(x)
    parts = [np.empty_like(array) for array in outputs[:3]]
    batch_norm.backward(masked, x, gamma, mean, rstd, *parts)
    call(batch_norm.backward_of_sum, (dy, x, gamma, mean, rstd, y, *outputs), outputs)
    for found, wanted in zip(outputs, [*parts, masked]):
        np.testing.assert_array_equal(found, wanted)


@HALVES
@LAYOUTS
def test_forward_and_backward_of_halves(layout, half):
    x, dy, gamma, beta = arrays((9, 20, 14, 15), half, layout, 2)
    out, dx, (mean, rstd, dgamma, dbeta) = np.empty_like(x), np.empty_like(x), np.empty((4, 20), np.float32)
    call(batch_norm.forward_train, (x, gamma, beta, 1e-5, out, mean, rstd), [out, mean, rstd])
    kept = [column(v, x) for v in (mean, rstd, gamma)]
    compare(out, reference.normalise(wide(x), *kept, column(beta, x)), scale=4)
    call(batch_norm.backward, (dy, x, gamma, mean, rstd, dx, dgamma, dbeta), [dx, dgamma, dbeta])
    axes = other_axes(x)
    for found, wanted in zip((dx, dgamma, dbeta), reference.normalise_gradient(wide(dy), wide(x), *kept, axes, axes)):
        compare(found, wanted, scale=50)
    variance = gamma**2 + np.float32(0.5)
    call(batch_norm.forward_eval, (x, gamma, beta, beta, variance, 1e-3, out), [out])
    rstd = 1 / np.sqrt(column(variance, x) + 1e-3)
    compare(out, reference.normalise(wide(x), column(beta, x), rstd, column(gamma, x), column(beta, x)), scale=4)


@pytest.mark.parametrize("relu", (True, False))
@pytest.mark.parametrize("adds", (True, False))
@HALVES
@LAYOUTS
@EACH_SHAPE
def test_what_follows_halves_may_be_float32(shape, layout, half, adds, relu):
    x, dy, addend, gamma, beta = arrays(shape, half, layout, 3)
    dy, addend, wider = (array.astype(np.float32) for array in (dy, addend, x))
    mean, rstd = statistics(x)
    vectors_of = gamma, beta, mean, rstd
    out, wanted = np.empty_like(wider), np.empty_like(wider)
    batch_norm.normalised(wider, *vectors_of, addend if adds else None, relu, wanted)
    call(batch_norm.normalised, (x, *vectors_of, addend if adds else None, relu, out), [out])
    assert out.tobytes() == wanted.tobytes()
    found, wanted = (
        [np.empty_like(array), np.empty_like(gamma), np.empty_like(gamma), *([np.empty_like(dy)] if adds else [])]
        for array in (x, wider)
    )
    for array, into in ((x, found), (wider, wanted)):
        if adds and relu:
            batch_norm.backward_of_sum(dy, array, gamma, mean, rstd, out, *into)
        elif relu:
            batch_norm.backward_of_relu(dy, array, gamma, beta, mean, rstd, *into[:3])
        else:
            batch_norm.backward(dy, array, gamma, mean, rstd, *into[:3])
    for one, other in zip(found[: 4 if adds and relu else 3], wanted):
        assert one.tobytes() == other.astype(one.dtype).tobytes()


@HALVES
@LAYOUTS
def test_forward_to_float32(layout, half):
    x, _, gamma, beta = arrays((4, 7, 5, 6), half, layout, 2)
    wider = x.astype(np.float32)
    out, wanted = np.empty_like(wider), np.empty_like(wider)
    figures = np.empty((2, 7), np.float32)
    batch_norm.forward_train(x, gamma, beta, 1e-5, out, *figures)
    batch_norm.forward_train(wider, gamma, beta, 1e-5, wanted, *figures)
    assert out.tobytes() == wanted.tobytes()
    batch_norm.forward_eval(x, gamma, beta, beta, gamma**2, 1e-5, out)
    batch_norm.forward_eval(wider, gamma, beta, beta, gamma**2, 1e-5, wanted)
    assert out.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("bits", (1, 2**-14, 2**-24))
@LAYOUTS
def test_a_gradient_passes_where_the_stored_result_is_positive(layout, bits):
    # Results of all sizes around what float16 stores as 0; gamma makes them of numbers of size 1.
    x, dy, gamma, beta = arrays((6, 9, 7, 5), np.float16, layout, 2)
    gamma, beta = gamma * np.float32(bits), beta * 0
    mean, rstd = statistics(x)
    y, masked = np.empty_like(x), np.empty_like(x)
    batch_norm.normalised(x, gamma, beta, mean, rstd, None, True, y)
    masked[...] = np.where(y > 0, dy, np.float16(0))
    outputs = np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
    parts = [np.empty_like(array) for array in outputs]
    batch_norm.backward(masked, x, gamma, mean, rstd, *parts)
    batch_norm.backward_of_relu(dy, x, gamma, beta, mean, rstd, *outputs)
    for found, wanted in zip(outputs, parts):
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("odd", (0, 1))
@LAYOUTS
def test_a_nan_of_all_ones_stays_a_nan_in_bfloat16(layout, odd):
    # Rounding it as a number would carry into its sign and leave 0.
    x, dy, addend, gamma, beta = arrays((6, 32 + odd, 3, 5), BF16, layout, 3)
    mean, rstd = statistics(x)
    all_ones = np.array([0x7FFFFFFF], np.uint32).view(np.float32)[0]
    out, dx, figures = np.empty_like(x), np.empty_like(x), np.empty_like(gamma)
    for spoilt in (gamma, beta, mean, rstd):
        kept, spoilt[3] = spoilt[3], all_ones
        batch_norm.normalised(x, gamma, beta, mean, rstd, addend, True, out)
        assert np.isnan(wide(out)).any((0, 2, 3)).tolist() == [c == 3 for c in range(32 + odd)]
        if spoilt is not beta:
            batch_norm.backward(dy, x, gamma, mean, rstd, dx, figures, figures.copy())
            assert np.isnan(wide(dx[:, 3])).all()
            assert np.isfinite(wide(dx[:, 4])).all()
        spoilt[3] = kept


@LAYOUTS
def test_statistics_of_bfloat16_are_those_of_float32(layout):
    for shape in ((19, 64, 9, 9), (33, 40, 24, 24)):
        x = arrays(shape, BF16, layout, 1)[0] + BF16(100)
        wanted = reference.statistics(wide(x), other_axes(x), 1e-5)
        for found in (statistics(x), statistics(x.astype(np.float32))):
            np.testing.assert_allclose(found[0], wanted[0].ravel(), rtol=1.2e-7)
            np.testing.assert_allclose(found[1], wanted[1].ravel(), rtol=5e-7)


def test_arrays_after_bfloat16_agree():
    x, addend, gamma, beta = arrays((4, 3, 5, 6), BF16, channels_last, 2)
    mean, rstd = statistics(x)
    out = np.empty_like(x, np.float32)
    with pytest.raises(TypeError, match="'addend' must be float32, but got bfloat16"):
        batch_norm.normalised(x, gamma, beta, mean, rstd, addend, True, out)
    with pytest.raises(ValueError, match="'out' must have its channels last in memory, as 'x'"):
        batch_norm.normalised(x, gamma, beta, mean, rstd, None, True, np.ascontiguousarray(out))
    with pytest.raises(ValueError, match="'out'"):
        batch_norm.normalised(x, gamma, beta, mean, rstd, None, True, out[:2])


def test_wrong_arguments():
    x, dy, gamma, beta = arrays((4, 3, 5, 6), np.float32, channels_last, 2)
    mean, rstd = statistics(x)
    with pytest.raises(TypeError, match="For 'batch_norm.normalised', 'addend' must be float32, but got bfloat16"):
        batch_norm.normalised(x, gamma, beta, mean, rstd, dy.astype(BF16), True, x.copy())
    with pytest.raises(TypeError, match="'gamma' must be float32, but got bfloat16"):
        batch_norm.normalised(x.astype(BF16), gamma.astype(BF16), beta, mean, rstd, None, True, x.astype(BF16))
    with pytest.raises(ValueError, match="For 'batch_norm.backward_of_sum', 'y' must have the strides"):
        y = np.ascontiguousarray(x)
        batch_norm.backward_of_sum(dy, x, gamma, mean, rstd, y, dy, gamma, beta, dy)
    with pytest.raises(ValueError, match="For 'batch_norm.backward_of_relu', 'beta' must have length 3, but got 2"):
        batch_norm.backward_of_relu(dy, x, gamma, beta[:2], mean, rstd, x, gamma, beta)
    with pytest.raises(ValueError, match="For 'batch_norm.statistics', 'mean' must have length 3"):
        batch_norm.statistics(x, 1e-5, mean[:1], rstd)

"""Activation kernels against their twins."""

import math

import numpy as np
import pytest

from dist_ms._ext import activation
from tests import reference
from tests.serial.kernels.calls import DTYPES, NARROW, assert_close, call, layouts, wide

SHAPES = [(), (0,), (1,), (5,), (3, 0, 2), (7, 13), (2, 3, 4, 5), (1, 1, 17), (50_001,)]
FORWARD = {
    "relu": (activation.relu_forward, reference.relu),
    "gelu": (activation.gelu_forward, lambda x: reference.gelu(x, False)),
    "gelu_tanh": (activation.gelu_forward, lambda x: reference.gelu(x, True)),
    "sigmoid": (activation.sigmoid_forward, reference.sigmoid),
    "silu": (activation.silu_forward, reference.silu),
    "tanh": (activation.tanh_forward, np.tanh),
}
BACKWARD = {
    "relu": (activation.relu_backward, reference.relu_gradient),
    "gelu": (activation.gelu_backward, lambda dy, x: reference.gelu_gradient(dy, x, False)),
    "gelu_tanh": (activation.gelu_backward, lambda dy, x: reference.gelu_gradient(dy, x, True)),
    "sigmoid": (activation.sigmoid_backward, reference.sigmoid_gradient),
    "silu": (activation.silu_backward, reference.silu_gradient),
    "tanh": (activation.tanh_backward, reference.tanh_gradient),
}
# The functions that are known by name, each with options.
NAMED = [
    ("fast_gelu", 1.702),
    ("mish",),
    ("softplus", 1, 20),
    ("softplus", -2, 3),
    ("log_sigmoid",),
    ("exponential_linear", 1.05, 1.76, 1),
    ("exponential_linear", 1, -0.5, -2),
    ("softsign",),
    ("leaky_relu", 0.2),
    ("leaky_relu", -2),
    ("hard_sigmoid",),
    ("hard_swish",),
    ("clip", 0, 6, 0, 1),
    ("clip", -1, 0.5, 0.5, 0.5),
    ("hard_shrink", 0.5),
    ("soft_shrink", 0.5),
    ("threshold", 0.25, 20),
]
CORNERS = [-6, -3, -1, -0.5, -0.25, -0.0, 0.0, 0.25, 0.5, 1, 3, 6]
SPECIAL = [-np.inf, -200, -90, -1e-30, 1e-30, 90, 200, np.inf, np.nan]


def flag(name):
    return {"gelu": (False,), "gelu_tanh": (True,)}.get(name, ())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FORWARD)
@pytest.mark.parametrize("shape", SHAPES)
def test_forward(name, dtype, shape):
    kernel, twin = FORWARD[name]
    values = (4 * np.random.default_rng(1).standard_normal(shape)).astype(dtype)
    for x in layouts(values):
        out = np.empty_like(x)
        assert_close(call(kernel, (x, out, *flag(name)), [out]), twin(wide(x)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BACKWARD)
@pytest.mark.parametrize("shape", SHAPES)
def test_backward(name, dtype, shape):
    kernel, twin = BACKWARD[name]
    rng = np.random.default_rng(2)
    gradient = rng.standard_normal(shape).astype(dtype)
    values = np.tanh(rng.standard_normal(shape)).astype(dtype)
    for dy, kept in zip(layouts(gradient), layouts(values), strict=True):
        dx = np.empty_like(dy)
        result = call(kernel, (dy, kept, dx, *flag(name)), [dx])
        assert_close(result, twin(wide(dy), wide(kept)))


@pytest.mark.parametrize("name", FORWARD)
def test_special_values(name):
    kernel, twin = FORWARD[name]
    x = np.array([-np.inf, -200, -90, -1e-30, -0.0, 0.0, 1e-30, 90, 200, np.inf, np.nan], "f4")
    out = np.empty_like(x)
    kernel(x, out, *flag(name))
    with np.errstate(all="ignore"):
        expected = twin(wide(x))
    assert_close(out, expected)


@pytest.mark.parametrize("name", FORWARD)
def test_output_may_be_the_input(name):
    kernel = FORWARD[name][0]
    x = np.random.default_rng(3).standard_normal(40_000).astype(np.float32)
    out = np.empty_like(x)
    kernel(x, out, *flag(name))
    kernel(x, x, *flag(name))
    assert_close(x, wide(out))


@pytest.mark.parametrize("kernel", [activation.sigmoid_forward, activation.tanh_forward])
def test_float32_functions_are_right_to_two_units_in_the_last_place(kernel):
    x = np.linspace(-30, 30, 200_001, dtype=np.float32)
    out = np.empty_like(x)
    kernel(x, out)
    exact = FORWARD[kernel.__name__.removesuffix("_forward")][1](wide(x))
    assert np.max(np.abs(out - exact) / np.spacing(np.abs(exact).astype(np.float32))) < 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("named", NAMED, ids=str)
@pytest.mark.parametrize("shape", [*SHAPES, None])
def test_named_functions(named, dtype, shape):
    rng = np.random.default_rng(4)
    values = 4 * rng.standard_normal(shape) if shape is not None else np.array(CORNERS)
    gradient = rng.standard_normal(values.shape).astype(dtype)
    value, slope = reference.ELEMENTWISE[named[0]]
    for x, dy in zip(layouts(values.astype(dtype)), layouts(gradient), strict=True):
        out, dx = np.empty_like(x), np.empty_like(x)
        with np.errstate(over="ignore", invalid="ignore"):
            wanted, wanted_dx = value(wide(x), *named[1:]), wide(dy) * slope(wide(x), *named[1:])
        assert_close(call(activation.forward, (x, out, *named), [out]), wanted)
        assert_close(call(activation.backward, (dy, x, dx, *named), [dx]), wanted_dx)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("named", NAMED, ids=str)
def test_special_values_of_named_functions(named, dtype):
    x = np.array(SPECIAL, dtype)
    value, slope = reference.ELEMENTWISE[named[0]]
    out, dx = np.empty_like(x), np.empty_like(x)
    activation.forward(x, out, *named)
    activation.backward(np.ones_like(x), x, dx, *named)
    with np.errstate(all="ignore"):
        wanted, wanted_dx = value(wide(x), *named[1:]).astype(dtype), slope(wide(x), *named[1:]).astype(dtype)
    assert_close(out, wanted)
    # Far out, and for NaN, the twin's quotients of infinities may leave no number where a limit exists.
    finite = np.isfinite(wanted_dx)
    assert_close(dx[finite], wanted_dx[finite])


@pytest.mark.parametrize("named", NAMED, ids=str)
def test_the_output_of_named_functions_may_be_the_input(named):
    x = np.random.default_rng(5).standard_normal(40_000).astype(np.float32)
    out = np.empty_like(x)
    activation.forward(x, out, *named)
    activation.forward(x, x, *named)
    assert x.tobytes() == out.tobytes()


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("size", [0, 1, 7, 1024, 5000, 40_001])
@pytest.mark.parametrize("name", ["gelu", "tanh", *{named[0]: named for named in NAMED}.values()], ids=str)
def test_16_bit_numbers_give_what_float32_between_casts_gives(name, dtype, size):
    rng = np.random.default_rng(6)
    x, dy = (4 * rng.standard_normal(size)).astype(dtype), rng.standard_normal(size).astype(dtype)
    if isinstance(name, str):
        forward, backward, options = FORWARD[name][0], BACKWARD[name][0], flag(name)
    else:
        forward, backward, options = activation.forward, activation.backward, name
    out, dx, wide_out, wide_dx = x.copy(), x.copy(), x.astype(np.float32), x.astype(np.float32)
    forward(x.astype(np.float32), wide_out, *options)
    backward(dy.astype(np.float32), x.astype(np.float32), wide_dx, *options)
    with np.errstate(over="ignore"):
        wanted, wanted_dx = wide_out.astype(dtype), wide_dx.astype(dtype)
    assert call(forward, (x, out, *options), [out]).tobytes() == wanted.tobytes()
    assert call(backward, (dy, x, dx, *options), [dx]).tobytes() == wanted_dx.tobytes()
    forward(x, x, *options)
    assert x.tobytes() == out.tobytes()


def test_gelu_is_right_to_three_ten_millionths():
    x = np.concatenate([np.linspace(-10, 10, 200_001), [-1e-40, 1e-40, 1e-30, -1e-30]]).astype(np.float32)
    tail = np.array([0.5 * math.erfc(-v * math.sqrt(0.5)) for v in x.tolist()])
    slope = tail + x * np.exp(-0.5 * wide(x) ** 2) / math.sqrt(2 * math.pi)
    out, dx = np.empty_like(x), np.empty_like(x)
    activation.gelu_forward(x, out, False)
    activation.gelu_backward(np.ones_like(x), x, dx, False)
    # A unit of the last place near 4 has 4.8e-7.
    assert np.max(np.abs(out - x * tail)) < 4e-7
    assert np.max(np.abs(dx - slope)) < 2e-7
    near = (x > -3) & (x != 0)
    assert np.max(np.abs(out[near] / (x * tail)[near] - 1)) < 1e-6


def test_gelu_of_special_values():
    x = np.array([-np.inf, np.inf, np.nan, -0.0, 0.0, 3e38, -3e38], np.float32)
    out, dx = np.empty_like(x), np.empty_like(x)
    activation.gelu_forward(x, out, False)
    activation.gelu_backward(np.ones_like(x), x, dx, False)
    # -inf times 0 is NaN, as in PyTorch and MindSpore.
    np.testing.assert_array_equal(out, np.array([np.nan, np.inf, np.nan, 0, 0, 3e38, 0], np.float32))
    assert np.signbit(out[3]) and not np.signbit(out[4])
    np.testing.assert_array_equal(dx, np.array([np.nan, np.nan, np.nan, 0.5, 0.5, 1, 0], np.float32))


def test_wrong_functions():
    x, out = np.ones(3, np.float32), np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="'function' must be one of fast_gelu, mish, .*but got 'swish'"):
        activation.forward(x, out, "swish")
    with pytest.raises(TypeError, match=r"'leaky_relu' must have 1 options, but got 0: \(\)"):
        activation.forward(x, out, "leaky_relu")
    with pytest.raises(TypeError, match=r"For 'backward', 'mish' must have 0 options, but got 1: \(2,\)"):
        activation.backward(x, x, out, "mish", 2)
    with pytest.raises(TypeError, match="'out' must be float32, but got float64"):
        activation.forward(x, out.astype(np.float64), "mish")
    with pytest.raises(TypeError, match="'x' must be float32, but got float16"):
        activation.backward(x, x.astype(np.float16), out, "mish")


def test_wrong_arguments():
    x, out = np.ones((4, 6), np.float32), np.zeros((4, 6), np.float32)
    relu = activation.relu_forward
    with pytest.raises(TypeError, match="For 'relu_forward', 'x' must be float32, float64, bfloat16 or float16, but"):
        relu(x.astype(np.int32), out)
    with pytest.raises(TypeError, match="'out' must be float32, but got float64"):
        relu(x, out.astype(np.float64))
    with pytest.raises(TypeError, match="native byte order"):
        relu(x.astype(">f4"), out)
    with pytest.raises(ValueError, match=r"'out' must have the shape \(4, 6\) of 'x', but got"):
        relu(x, out[:3])
    with pytest.raises(ValueError, match=r"'out' must have the strides \(24, 4\) of 'x', but"):
        relu(x, np.asfortranarray(out))
    with pytest.raises(ValueError, match="'x' must fill one piece of memory"):
        relu(x[:, ::2], out[:, :3])
    with pytest.raises(ValueError, match="'x' must fill one piece of memory"):
        relu(x[::-1], out)
    with pytest.raises(ValueError, match="'x' must fill one piece of memory"):
        relu(np.broadcast_to(x[0], (4, 6)), out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="'out' must be writeable"):
        relu(x, out)
    with pytest.raises(TypeError, match="'x' has incorrect type"):
        relu([1.0], out)
    with pytest.raises(TypeError, match="'out' has incorrect type"):
        relu(x, None)
    with pytest.raises(ValueError, match="For 'tanh_backward', 'y' must have the shape"):
        activation.tanh_backward(x, x[:2], np.zeros_like(x))
    unaligned = np.frombuffer(bytearray(4 * 6 * 4 + 1), np.uint8)[1:].view(np.float32)
    with pytest.raises(ValueError, match="'x' must be aligned"):
        relu(unaligned.reshape(4, 6), np.zeros((4, 6), np.float32))

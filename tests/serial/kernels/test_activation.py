"""Activation kernels against their twins."""

import numpy as np
import pytest

from dist_ms._ext import activation
from tests import reference
from tests.serial.kernels.calls import DTYPES, assert_close, call, layouts, wide

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


def test_wrong_arguments():
    x, out = np.ones((4, 6), np.float32), np.zeros((4, 6), np.float32)
    relu = activation.relu_forward
    with pytest.raises(TypeError, match="For 'relu_forward', 'x' must be float32 or float64, but"):
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

"""Activation functions: formulas, gradients, types, errors."""

import math

import numpy as np
import pytest

from dist_ms import grad, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


erf = np.vectorize(math.erf)
FORMULAS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "softplus": softplus,
    "softsign": lambda x: x / (1 + abs(x)),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "fast_gelu": lambda x: x * sigmoid(1.702 * x),
    "logsigmoid": lambda x: -softplus(-x),
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "hardshrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    "tanhshrink": lambda x: x - np.tanh(x),
}
OPTIONS = {
    "gelu, tanh": (
        lambda x: ops.gelu(x, approximate="tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "elu 0.5": (lambda x: ops.elu(x, 0.5), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    "celu 2": (lambda x: ops.celu(x, 2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    "softplus 2, 3": (lambda x: ops.softplus(x, 2, 3), lambda x: np.where(2 * x > 3, x, softplus(2 * x) / 2)),
    "threshold": (lambda x: ops.threshold(x, 0.3, 20), lambda x: np.where(x > 0.3, x, 20)),
    "hardtanh -2, 0.5": (lambda x: ops.hardtanh(x, -2, 0.5), lambda x: np.clip(x, -2, 0.5)),
    "glu": (ops.glu, lambda x: x[..., :2] * sigmoid(x[..., 2:])),
    "glu 0": (lambda x: ops.glu(x, 0), lambda x: x[:2] * sigmoid(x[2:])),
    **{name: (getattr(ops, name), formula) for name, formula in FORMULAS.items()},
}
X = normal(4, 5, 4) * 3


@pytest.mark.parametrize("name", OPTIONS)
def test_values_and_gradients(name):
    function, formula = OPTIONS[name]
    np.testing.assert_allclose(function(Tensor(X)).asnumpy(), formula(X), atol=1e-12)
    check_gradient(function, X)
    check_precisions(function, X, tolerance=2e-5)


@pytest.mark.parametrize("name", FORMULAS)
def test_shapes_and_types(name):
    function = getattr(ops, name)
    assert function(tensor(np.zeros((0, 4)))).shape == (0, 4)
    assert function(tensor(1.5)).shape == ()
    half = function(tensor(X, np.float16)).asnumpy()
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, FORMULAS[name](X), atol=2e-2)
    with pytest.raises(TypeError, match="must be a Tensor"):
        function(3)


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "gelu", "elu", "celu", "softplus", "silu", "mish", "hardshrink"])
def test_integers_are_refused(name):
    with pytest.raises(TypeError, match="float"):
        getattr(ops, name)(Tensor([1, 2]))


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "hardtanh"])
def test_integers_stay(name):
    found = getattr(ops, name)(tensor([-5, 0, 3], np.int32)).asnumpy()
    assert found.dtype == np.int32


def test_relu_of_any_layout():
    x = normal(2, 3, 4, 5).astype(np.float32)
    for view in (np.moveaxis(x, 1, -1), x[:, ::2], np.broadcast_to(x[:, :1], x.shape), x[..., ::-1]):
        given = tensor(0)
        given._data = view
        assert np.array_equal(ops.relu(given).asnumpy(), np.maximum(view, 0))


def test_relu_in_place():
    x = tensor([-1, 2])
    assert ops.relu(x, inplace=True) is x
    assert x.asnumpy().tolist() == [0, 2]
    found = grad(lambda x: ops.relu(x * 2, inplace=True).sum())(tensor([-1, 2]))
    assert found.asnumpy().tolist() == [0, 2]


@pytest.mark.parametrize(
    "function, at, slopes",
    [
        (ops.relu, [-1, 0, 1], [0, 0, 1]),
        (ops.relu6, [0, 6, 7], [0, 1, 0]),
        (ops.leaky_relu, [-1, 0, 1], [0.2, 0.6, 1]),
        (ops.hardtanh, [-1, 0, 1, 2], [0.5, 1, 0.5, 0]),
        (ops.hardswish, [-3, 3], [-0.5, 1.5]),
        (ops.hardsigmoid, [-3, 0, 3], [0, 1 / 6, 0]),
        (ops.elu, [0], [1]),
    ],
)
def test_slopes_at_kinks_are_mindspores(function, at, slopes):
    np.testing.assert_allclose(grad(function)(tensor(at)).asnumpy(), slopes, rtol=1e-6)


def test_prelu():
    def function(x, w):
        return ops.prelu(x, w)

    x = normal(3, 4, 2)
    for w in (normal(4, seed=1), normal(1, seed=1)):
        wanted = np.where(x > 0, x, w.reshape(-1, 1) * x)
        np.testing.assert_allclose(function(Tensor(x), Tensor(w)).asnumpy(), wanted)
        check_gradient(function, x, w)
    with pytest.raises(ValueError, match="'weight' must have 1 or 4 elements"):
        function(tensor(x), tensor([1, 2, 3]))


def test_rrelu_slopes():
    x = tensor(-np.ones(1000))
    found = -ops.rrelu(x, 0.2, 0.4).asnumpy()
    assert 0.2 <= found.min() < 0.21 and 0.39 < found.max() <= 0.4
    assert ops.rrelu(tensor([2, 0])).asnumpy().tolist() == [2, 0]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.gelu(x, approximate="foo"), ValueError),
        (lambda x: ops.elu(x, 2), TypeError),
        (lambda x: ops.celu(x, 0.0), ValueError),
        (lambda x: ops.celu(x, 1), TypeError),
        (lambda x: ops.leaky_relu(x, "a"), TypeError),
        (lambda x: ops.softshrink(x, -1), RuntimeError),
        (lambda x: ops.threshold(x, "a", 1), TypeError),
        (lambda x: ops.rrelu(x, 0.5, 0.1), ValueError),
        (lambda x: ops.glu(x), ValueError),
        (lambda x: ops.glu(x, 3), ValueError),
        (lambda x: ops.relu(Tensor(np.ones(2, np.complex64))), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call(tensor([1, 2, 3]))

"""Activation layers against the functions they wrap."""

import numpy as np
import pytest

from dist_ms import nn, ops
from tests.precisions import normal, tensor

X = tensor(normal(2, 4, 3) * 2)
PAIRS = [
    (nn.ReLU(), ops.relu),
    (nn.ReLU6(), ops.relu6),
    (nn.LeakyReLU(0.3), lambda x: ops.leaky_relu(x, 0.3)),
    (nn.ELU(0.5), lambda x: ops.elu(x, 0.5)),
    (nn.CELU(2.0), lambda x: ops.celu(x, 2.0)),
    (nn.SeLU(), ops.selu),
    (nn.GELU(), lambda x: ops.gelu(x, approximate="tanh")),
    (nn.GELU(False), ops.gelu),
    (nn.FastGelu(), ops.fast_gelu),
    (nn.Sigmoid(), ops.sigmoid),
    (nn.Tanh(), ops.tanh),
    (nn.Tanhshrink(), ops.tanhshrink),
    (nn.Hardtanh(-2, 0.5), lambda x: ops.hardtanh(x, -2, 0.5)),
    (nn.HSigmoid(), ops.hardsigmoid),
    (nn.HSwish(), ops.hardswish),
    (nn.HShrink(0.3), lambda x: ops.hardshrink(x, 0.3)),
    (nn.SoftShrink(0.3), lambda x: ops.softshrink(x, 0.3)),
    (nn.SiLU(), ops.silu),
    (nn.Mish(), ops.mish),
    (nn.Softsign(), ops.softsign),
    (nn.LogSigmoid(), ops.logsigmoid),
    (nn.Threshold(0.1, 20), lambda x: ops.threshold(x, 0.1, 20)),
    (nn.Softmax(1), lambda x: ops.softmax(x, 1)),
    (nn.Softmax(), ops.softmax),
    (nn.LogSoftmax(1), lambda x: ops.log_softmax(x, 1)),
    (nn.Softmin(1), lambda x: ops.softmin(x, 1)),
    (nn.Softmax2d(), lambda x: ops.softmax(x, -3)),
    (nn.GLU(1), lambda x: ops.glu(x, 1)),
    (nn.PReLU(4, 0.3), lambda x: ops.prelu(x, tensor(np.full(4, 0.3)))),
    (nn.RReLU(0.5, 0.5), lambda x: ops.leaky_relu(x, 0.5)),
]


@pytest.mark.parametrize("layer, function", PAIRS, ids=lambda p: type(p).__name__)
def test_values(layer, function):
    assert np.array_equal(layer(X).asnumpy(), function(X).asnumpy())
    assert repr(layer) == f"{type(layer).__name__}()"


def test_lrn():
    x = tensor(normal(1, 6, 2, 2))
    assert np.array_equal(nn.LRN(2)(x).asnumpy(), ops.lrn(x, 2).asnumpy())


def test_prelu_parameter():
    assert [(p.name, p.asnumpy().tolist()) for p in nn.PReLU().get_parameters()] == [("a", [0.25])]
    assert nn.PReLU(2, [0.5, 0.25]).w.asnumpy().tolist() == [0.5, 0.25]
    assert nn.PReLU(2, tensor([0.5, 0.25])).w.asnumpy().tolist() == [0.5, 0.25]


def test_get_activation():
    for name in (
        "relu",
        "relu6",
        "softmax",
        "logsoftmax",
        "leakyrelu",
        "tanh",
        "gelu",
        "sigmoid",
        "prelu",
        "elu",
        "silu",
        "mish",
        "hswish",
        "hsigmoid",
        "hshrink",
        "softshrink",
        "logsigmoid",
        "softsign",
        "fast_gelu",
    ):
        assert type(nn.get_activation(name)).__name__.lower() == name.replace("fast_gelu", "fastgelu")
    assert nn.get_activation(None) is None
    for name in ("foo", 1):
        with pytest.raises(KeyError, match="must be in"):
            nn.get_activation(name)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: nn.GELU(1), TypeError),
        (lambda: nn.Hardtanh(1, 0), ValueError),
        (lambda: nn.HShrink("a"), TypeError),
        (lambda: nn.LeakyReLU("a")(X), TypeError),
        (lambda: nn.ELU("a"), TypeError),
        (lambda: nn.PReLU(0), ValueError),
        (lambda: nn.PReLU(2, "a"), TypeError),
        (lambda: nn.PReLU(2, [0.1]), ValueError),
        (lambda: nn.RReLU(0.5, 0.1), ValueError),
        (lambda: nn.RReLU("a"), TypeError),
        (lambda: nn.Softmax("a"), TypeError),
        (lambda: nn.Softmax(5)(X), ValueError),
        (lambda: nn.Softmax2d()(tensor(normal(3, 4))), ValueError),
        (lambda: nn.Threshold("a", 1), TypeError),
        (lambda: nn.SoftShrink(-1.0)(X), RuntimeError),
        (lambda: nn.GLU()(X), ValueError),
        (lambda: nn.CELU(0.0)(X), ValueError),
        (lambda: nn.ReLU()(3), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call()

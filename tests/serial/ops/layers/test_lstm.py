"""ops.LSTM against the layer with the same weights, and MindSpore's order of weights."""

import numpy as np
import pytest

from dist_ms import Tensor, grad, ops
from dist_ms.nn.layer.recurrent.rnn import LSTM as Layer
from dist_ms.ops.layers.lstm import LSTM

F = np.float32


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


@pytest.mark.parametrize("layers, has_bias, both", [(1, True, False), (2, True, True), (2, False, False)])
def test_is_the_layer(layers, has_bias, both):
    net = Layer(3, 2, layers, has_bias=has_bias, bidirectional=both)
    weights = [p.asnumpy().ravel() for p in (*net.w_ih_list, *net.w_hh_list)]
    weights += [(a + b).asnumpy() for a, b in zip(net.b_ih_list, net.b_hh_list)]
    w = Tensor(np.concatenate(weights).reshape(-1, 1, 1))
    x, runs = rand(4, 2, 3), layers * (1 + both)
    h, c = rand(runs, 2, 2), rand(runs, 2, 2) * 2
    op = LSTM(3, 2, layers, has_bias, both, 0.0)
    output, h_n, c_n, _, _ = op(x, h, c, w)
    wanted, (h_end, c_end) = net(x, (h, c))
    for a, b in ((output, wanted), (h_n, h_end), (c_n, c_end)):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=1e-6)
    dw = grad(lambda w: ops.sum(op(x, h, c, w)[0]))(w)
    dlast = grad(lambda: ops.sum(net(x, (h, c))[0]), None, list(net.w_hh_list))()
    start = sum(p.size for p in net.w_ih_list)
    np.testing.assert_allclose(
        dw.asnumpy().ravel()[start : start + dlast[0].size], dlast[0].asnumpy().ravel(), atol=1e-5
    )


def test_errors():
    op, x, h = LSTM(3, 2, 1, True, False, 0.0), rand(4, 2, 3), rand(1, 2, 2)
    w = Tensor(np.ones((8 * 3 + 8 * 2 + 8, 1, 1), F))
    assert (op(x, h, h, w)[0] == op(x, h, h, ops.concat([w, w]))[0]).all()
    for inputs in [(x[0], h, h, w), (x, h[:, :1], h, w), (x, h, h[0], w), (x, h, h, w[:-1])]:
        with pytest.raises(ValueError, match="For 'LSTM', "):
            op(*inputs)
    with pytest.raises(TypeError, match="For 'LSTM', 'w'"):
        op(x, h, h, 1)
    for error, arguments in [
        (ValueError, (0, 2, 1, True, False, 0.0)),
        (TypeError, (3, 2.0, 1, True, False, 0.0)),
        (TypeError, (3, 2, 1, 1, False, 0.0)),
        (ValueError, (3, 2, 1, True, False, 1.5)),
        (ValueError, (3, 2, 1, True, False, 0.0, 1)),
    ]:
        with pytest.raises(error):
            LSTM(*arguments)

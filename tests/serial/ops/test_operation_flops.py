"""What operations are said to compute: the forward pass by hand, the backward pass as a multiple of it."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.ops.operation_flops import operation_flops
from dist_ms.train.flops import counting


def ones(*shape):
    return ms.Tensor(np.ones(shape, np.float32))


def counted(run):
    with counting() as total:
        run()
    return total[0]


class Attended(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(8, 2, batch_first=True)

    def construct(self, x):
        return self.layer(x, x, x, need_weights=False)[0]


@pytest.mark.parametrize(
    ("make", "shape", "flops"),
    [
        (lambda: nn.Dense(5, 7), (3, 5), 2 * 3 * 5 * 7),
        (lambda: nn.Conv2d(2, 6, 3, pad_mode="valid", group=2), (4, 2, 8, 9), 2 * (4 * 6 * 6 * 7) * 9),
        (lambda: nn.Conv2dTranspose(2, 6, 3, pad_mode="valid"), (4, 2, 8, 9), 2 * (4 * 2 * 8 * 9) * 6 * 9),
    ],
)
def test_layers_and_their_gradients(make, shape, flops):
    net, x = make(), ones(*shape)
    assert counted(lambda: net(x)) == flops
    gradient = ms.grad(lambda *args: net(*args).sum(), 0, net.trainable_params())
    assert counted(lambda: gradient(x)) == 3 * flops


@pytest.mark.parametrize("transposed", [False, True])
def test_products(transposed):
    x, y = (ones(2, 5, 3) if transposed else ones(2, 3, 5)), ones(2, 5, 7)
    assert counted(lambda: ops.BatchMatMul(transpose_a=transposed)(x, y)) == 2 * 2 * 3 * 5 * 7


def test_a_matrix_times_a_vector():
    x, y = ones(40, 30), ones(30)
    assert counted(lambda: ops.mv(x, y)) == 2 * 40 * 30
    gradient = ms.grad(lambda x, y: ops.mv(x, y).sum(), (0, 1))
    assert counted(lambda: gradient(x, y)) == 3 * 2 * 40 * 30


def test_attention():
    net, x = Attended(), ones(2, 4, 8)
    products, scores = 2 * (2 * 4) * 8 * (24 + 8), 2 * 2 * (2 * 2 * 4 * 4 * 4)
    assert counted(lambda: net(x)) == products + scores
    gradient = ms.grad(lambda x: net(x).sum(), 0, net.trainable_params())
    assert counted(lambda: gradient(x)) == 3 * products + (1 + 2.5) * scores


def test_recurrent_layers():
    net, x = nn.LSTM(4, 6), ones(3, 2, 4)
    gates, steps = 2 * (3 * 2) * 4 * 24, 2 * (3 * 2) * 6 * 24
    assert counted(lambda: net(x)) == gates + steps
    gradient = ms.grad(lambda x: net(x)[0].sum(), 0, net.trainable_params())
    assert counted(lambda: gradient(x)) == 3 * (gates + steps)


def test_other_operations_count_nothing():
    x = np.ones((2, 2))
    assert operation_flops(ops.Exp(), (x,), x) == 0

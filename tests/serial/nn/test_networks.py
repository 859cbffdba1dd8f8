"""Small networks of the five families: float32 against float64, a few steps of training, layouts."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from tests.precisions import normal


class Perceptron(nn.Cell):
    def __init__(self, dtype):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(6, 16, dtype=dtype), nn.ReLU(), nn.Dense(16, 3, dtype=dtype))

    def construct(self, x):
        return self.body(x)


class LeNet(nn.Cell):
    def __init__(self, dtype):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 5, pad_mode="valid", has_bias=True, dtype=dtype)
        self.conv2 = nn.Conv2d(4, 6, 3, pad_mode="same", dtype=dtype)
        self.pool, self.relu, self.flatten = nn.MaxPool2d(2, 2), nn.ReLU(), nn.Flatten()
        self.fc = nn.Dense(6 * 2 * 2, 3, dtype=dtype)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc(self.flatten(x))


class Residual(nn.Cell):
    def __init__(self, dtype):
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, pad_mode="pad", padding=1, dtype=dtype)
        self.bn1, self.bn2 = nn.BatchNorm2d(4, dtype=dtype), nn.BatchNorm2d(8, dtype=dtype)
        self.conv = nn.Conv2d(4, 8, 3, 2, pad_mode="pad", padding=1, dtype=dtype)
        shortcut = nn.Conv2d(4, 8, 1, 2, pad_mode="valid", dtype=dtype)
        self.down = nn.SequentialCell(shortcut, nn.BatchNorm2d(8, dtype=dtype))
        self.relu, self.head = nn.ReLU(), nn.Dense(8, 3, dtype=dtype)

    def construct(self, x):
        x = self.relu(self.bn1(self.stem(x)))
        y = self.relu(self.bn2(self.conv(x)) + self.down(x))
        return self.head(ops.mean(y, (2, 3)))


class Block(nn.Cell):
    def __init__(self, dtype):
        super().__init__()
        self.embed = nn.Embedding(7, 8, dtype=dtype, embedding_table="uniform")
        self.norm1, self.norm2 = nn.LayerNorm((8,), dtype=dtype), nn.LayerNorm((8,), dtype=dtype)
        self.qkv = nn.Dense(8, 24, dtype=dtype)
        self.up, self.gelu, self.down = nn.Dense(8, 16, dtype=dtype), nn.GELU(), nn.Dense(16, 8, dtype=dtype)
        self.head = nn.Dense(8, 3, dtype=dtype)

    def construct(self, ids):
        x = self.embed(ids)
        q, k, v = ops.split(self.qkv(self.norm1(x)), 8, axis=2)
        x = x + ops.matmul(ops.softmax(ops.matmul(q, k.swapaxes(1, 2)) * 0.35, -1), v)
        x = x + self.down(self.gelu(self.up(self.norm2(x))))
        return self.head(x.mean(1))


class WideDeep(nn.Cell):
    def __init__(self, dtype):
        super().__init__()
        self.table, self.wide = nn.Embedding(7, 4, dtype=dtype, embedding_table="uniform"), nn.Dense(5, 3, dtype=dtype)
        self.deep = nn.SequentialCell(nn.Dense(20, 8, dtype=dtype), nn.ReLU(), nn.Dense(8, 3, dtype=dtype))

    def construct(self, ids):
        rows = self.table(ids)
        return self.deep(rows.reshape(-1, 20)) + self.wide(rows.mean(2))


IDS = np.random.default_rng(0).integers(0, 7, (8, 5), np.int32)
NETWORKS = {
    "perceptron": (Perceptron, normal(8, 6)),
    "lenet": (LeNet, normal(8, 1, 12, 12)),
    "residual": (Residual, normal(8, 2, 6, 6)),
    "block": (Block, IDS),
    "wide and deep": (WideDeep, IDS),
}
LABELS = np.arange(8, dtype=np.int32) % 3


def made(name, dtype):
    """A network with the same weights in either type, its input and the gradient of its loss."""
    network, data = NETWORKS[name]
    net = network(dtype).set_train()
    for i, p in enumerate(net.trainable_params()):
        values = normal(*p.shape, seed=i + 1) / np.sqrt(max(np.prod(p.shape[1:]), 1))
        p.set_data(ms.Tensor(values + (1 if "gamma" in p.name else 0), dtype))
    x = ms.Tensor(data, None if data.dtype == np.int32 else dtype)
    loss = nn.CrossEntropyLoss()
    return net, x, ms.value_and_grad(lambda x: loss(net(x), ms.Tensor(LABELS)), None, net.trainable_params())


@pytest.mark.parametrize("name", NETWORKS)
class TestNetworks:
    def test_float32_kernels_agree_with_float64(self, name):
        (net, x, gradient), (wide, wide_x, wide_gradient) = made(name, ms.float32), made(name, ms.float64)
        (loss, grads), (wanted, wide_grads) = gradient(x), wide_gradient(wide_x)
        assert loss.dtype == ms.float32 and wanted.dtype == ms.float64
        assert loss.asnumpy() == pytest.approx(wanted.asnumpy(), rel=1e-5)
        for p, a, b in zip(net.trainable_params(), grads, wide_grads):
            scale = np.abs(b.asnumpy()).max() + 1e-3
            assert a.shape == p.shape and np.abs(a.asnumpy() - b.asnumpy()).max() <= 2e-5 * scale, p.name
        for a, b in zip(net.untrainable_params(), wide.untrainable_params()):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=1e-5)

    def test_the_loss_falls(self, name):
        net, x, gradient = made(name, ms.float32)
        first = gradient(x)[0].asnumpy()
        for _ in range(60):
            for p, g in zip(net.trainable_params(), gradient(x)[1]):
                p.set_data(p - 0.1 * g)
        assert gradient(x)[0].asnumpy() < 0.5 * first

    def test_empty_batch(self, name):
        net, x, _ = made(name, ms.float32)
        assert net.set_train(False)(x[:0]).shape == (0, 3)


def test_activations_stay_channels_last():
    net = Residual(ms.float32).set_train()
    x = net.relu(net.bn1(net.stem(ms.Tensor(normal(2, 2, 6, 6), ms.float32))))
    pooled = nn.AvgPool2d(2, 2)(nn.MaxPool2d(2)(net.conv(x) + net.down(x)))
    for t in (x, pooled):
        assert np.moveaxis(t.asnumpy(), 1, -1).flags.c_contiguous

"""Layers under the level "auto" in 16 bits: one operation, float32 results, gradients of the plain form."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms._ext import dnnl
from dist_ms.ops.linear_algebra.mixed_precision import mixed_products

needs_float16 = pytest.mark.skipif(not dnnl.has_float16(), reason="this CPU, or its owner, has no float16 products")
LOW = pytest.mark.parametrize("low_type", (ms.bfloat16, pytest.param(ms.float16, marks=needs_float16)), ids=str)

LAYERS = {
    "dense": (lambda: nn.Dense(24, 10), (6, 24)),
    "dense 3-D": (lambda: nn.Dense(24, 10), (2, 3, 24)),
    "dense of few rows": (lambda: nn.Dense(40, 48), (20, 40)),
    "dense of many rows": (lambda: nn.Dense(40, 300), (4, 50, 40)),
    "conv2d": (lambda: nn.Conv2d(3, 8, 3, stride=2, pad_mode="same", has_bias=True), (2, 3, 9, 7)),
    "conv2d groups": (lambda: nn.Conv2d(4, 8, 3, pad_mode="pad", padding=1, group=2, has_bias=True), (2, 4, 6, 6)),
    "conv1d": (lambda: nn.Conv1d(3, 5, 3, has_bias=True), (2, 3, 11)),
}
WITHOUT_BIAS = {
    "dense": (lambda: nn.Dense(24, 10, has_bias=False), (6, 24)),
    "dense 3-D": (lambda: nn.Dense(24, 10, has_bias=False), (2, 3, 24)),
    "dense of few rows": (lambda: nn.Dense(40, 48, has_bias=False), (20, 40)),
    "conv2d": (lambda: nn.Conv2d(3, 8, 3, stride=2, pad_mode="same"), (2, 3, 9, 7)),
    "conv2d of many channels": (lambda: nn.Conv2d(256, 256, 3, pad_mode="pad", padding=1), (2, 256, 4, 4)),
    "conv1d": (lambda: nn.Conv1d(3, 5, 3), (2, 3, 11)),
}


def rounded(x, low_type):
    return x.astype(low_type.np).astype(np.float32)


@LOW
@pytest.mark.parametrize("name", LAYERS)
def test_values_and_gradients(name, low_type):
    ms.set_seed(1)
    make, shape = LAYERS[name]
    layer = make()
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    mixed = ms.amp.auto_mixed_precision(layer, "auto", low_type)

    def outcome(net, x, weights):
        run = ms.value_and_grad(lambda x: (net(x) * ops.cos(net(x))).sum(), 0, weights)
        return net(Tensor(x)), run(Tensor(x))

    weights = layer.trainable_params()
    out, (_, (dx, grads)) = outcome(mixed, x, weights)
    assert out.dtype == ms.float32 and dx.dtype == ms.float32 and all(g.dtype == ms.float32 for g in grads)
    # The same layer in float32 on the rounded factors: only the gradient that comes in is rounded besides.
    other = make()
    for p, q in zip(other.trainable_params(), weights):
        p.set_data(Tensor(rounded(q.asnumpy(), low_type) if q.ndim > 1 else q.asnumpy()))
    plain, (_, (dx32, grads32)) = outcome(other, rounded(x, low_type), other.trainable_params())
    assert np.allclose(out.asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-5)
    for found, wanted in zip((dx, *grads), (dx32, *grads32)):
        found, wanted = found.asnumpy(), wanted.asnumpy()
        assert np.abs(found - wanted).max() <= 2e-2 * np.abs(wanted).max()


def test_it_is_one_operation(monkeypatch):
    seen = []
    forward = mixed_products.MixedDense.forward
    monkeypatch.setattr(
        mixed_products.MixedDense, "forward", lambda self, *a: seen.append([x.dtype for x in a]) or forward(self, *a)
    )
    for low_type, count in ((ms.bfloat16, 1), (ms.float16, 1 + dnnl.has_float16())):
        net = ms.amp.auto_mixed_precision(nn.Dense(4, 3), "auto", low_type)
        net(Tensor(np.ones((2, 4), np.float32)))
        assert seen == [[np.float32] * 3] * count


@LOW
@pytest.mark.parametrize("name", WITHOUT_BIAS)
def test_without_bias(name, low_type):
    ms.set_seed(1)
    make, shape = WITHOUT_BIAS[name]
    layer = make()
    mixed = ms.amp.auto_mixed_precision(layer, "auto", low_type)
    x = Tensor(np.random.default_rng(2).standard_normal(shape).astype(np.float32))

    low = make()
    low.to_float(low_type)  # casts before the same operation, and casts of its gradients
    low.trainable_params()[0].set_data(layer.trainable_params()[0])
    found, wanted = mixed(x), low(x)
    assert found.dtype == low_type and np.array_equal(found.asnumpy(), wanted.asnumpy())
    scale = Tensor(np.random.default_rng(3).standard_normal(found.shape).astype(np.float32)).astype(low_type)
    gradients = [
        ms.grad(lambda x, net=net: (net(x) * scale).astype(ms.float32).sum(), 0, net.trainable_params())(x)
        for net in (mixed, low)
    ]
    for one, other in zip(*[(dx, *dw) for dx, dw in gradients]):
        one, other = one.asnumpy(), other.asnumpy()
        assert one.dtype == np.float32
        assert np.abs(one - other).max() <= 2**-8 * np.abs(other).max(), "float32 until it is rounded once"


def test_second_order_gradients():
    layer = ms.amp.auto_mixed_precision(nn.Dense(3, 2, weight_init="ones", bias_init="zeros"), "auto", ms.bfloat16)
    x = Tensor(np.array([[0.5, -1.0, 2.0]], np.float32))
    found = ms.grad(lambda x: ms.grad(lambda x: (layer(x) ** 3).sum())(x).sum())(x)
    total = 1.5 * np.ones(3)  # y = sum x in both outputs; d/dx sum_i (6 y) * 3
    assert np.allclose(found.asnumpy()[0], 2 * 3 * 6 * total, rtol=2e-2)


def test_weights_written_between_forward_and_backward():
    layer = nn.Dense(4, 3, has_bias=True)
    mixed = ms.amp.auto_mixed_precision(layer, "auto", ms.bfloat16)
    x = Tensor(np.ones((2, 4), np.float32))
    before = rounded(layer.weight.asnumpy(), ms.bfloat16).copy()

    def run(x):
        y = mixed(x)
        layer.weight.set_data(Tensor(np.zeros((3, 4), np.float32)))
        return y.sum()

    assert np.allclose(ms.grad(run)(x).asnumpy(), before.sum(0)[None], rtol=1e-2)


@pytest.mark.parametrize("training", (True, False))
def test_batch_norm_reads_bfloat16(training):
    layer = nn.BatchNorm2d(3, gamma_init="uniform", beta_init="uniform").set_train(training)
    x = Tensor(np.random.default_rng(4).standard_normal((4, 3, 5, 6)).astype(np.float32)).astype(ms.bfloat16)
    mixed = ms.amp.auto_mixed_precision(lambda x: layer(x), "auto", ms.bfloat16)

    def outcome(net):
        def loss(x):
            y = net(x)
            return (y * ops.cos(y)).sum()

        dx, weights = ms.grad(loss, 0, layer.trainable_params())(x)
        twice = ms.grad(lambda x: (ms.grad(loss)(x).astype(ms.float32) ** 2).sum())(x)
        return net(x), dx, *weights, twice

    with_casts = outcome(lambda x: layer(x.astype(ms.float32)))
    found = outcome(mixed)
    assert [t.dtype for t in found] == [ms.float32, ms.bfloat16, ms.float32, ms.float32, ms.bfloat16]
    for one, other in zip(found[:4], with_casts):
        assert np.array_equal(one.asnumpy(), other.asnumpy())
    one, other = (t[-1].asnumpy().astype(np.float32) for t in (found, with_casts))
    assert np.abs(one - other).max() <= 1e-2 * np.abs(other).max()


def test_errors_are_those_of_the_plain_form():
    net = ms.amp.auto_mixed_precision(nn.Dense(4, 3), "auto", ms.bfloat16)
    with pytest.raises(ValueError):
        net(Tensor(np.ones((2, 5), np.float32)))
    conv = ms.amp.auto_mixed_precision(nn.Conv2d(4, 3, 3, has_bias=True), "auto", ms.bfloat16)
    with pytest.raises((RuntimeError, ValueError)):
        conv(Tensor(np.ones((2, 5, 8, 8), np.float32)))

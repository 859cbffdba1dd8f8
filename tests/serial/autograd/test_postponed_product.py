"""Results of convolutions and dense layers that ReLU writes: the bits are those of separate operations."""

import copy
import pickle

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.ops.kernels import amx
from dist_ms.ops.layers import postponed_product

needs_amx = pytest.mark.skipif(not amx.available(), reason="these products are oneDNN's without AMX")


def convolution(has_bias=True, channels=64):
    return nn.Conv2d(64, channels, 3, has_bias=has_bias), (8, 64, 16, 18)


def columns(has_bias=True):
    return nn.Conv2d(64, 256, 1, has_bias=has_bias), (8, 64, 8, 8)


def rows(has_bias=True):
    return nn.Dense(128, 96, has_bias=has_bias), (4, 128, 128)


LAYERS = [pytest.param(convolution, id="winograd"), *[pytest.param(f, marks=needs_amx) for f in (columns, rows)]]


class Network(nn.Cell):
    """A layer, and what a case does with its result."""

    def __init__(self, layer, after):
        super().__init__()
        self.layer, self.after = layer, after

    def construct(self, x):
        return self.after(self.layer(x))


def made(layer, after, monkeypatch, waits, derive=True, steps=1, has_bias=True):
    """Results and gradients of each step, and how the layer's results were written: "relu" or "plain"."""
    written, write = [], postponed_product.ProductLater.__init__

    def seen(later, make, *args):
        def noted(*operands):
            written.append("relu" if operands[-1] else "plain")
            return make(*operands)

        write(later, noted, *args)

    monkeypatch.setattr(postponed_product.ProductLater, "__init__", seen)
    monkeypatch.setattr(postponed_product, "LEAST", 1 if waits else 10**12)
    ms.set_seed(1)
    layer, shape = layer(has_bias)
    network = Network(layer, after).set_train()
    x = ms.Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))
    arrays = []
    for _ in range(steps):
        if derive:
            gradient = ms.value_and_grad(lambda x: (network(x) ** 2).sum(), 0, network.trainable_params())
            value, (dx, dw) = gradient(x)
            arrays += [value, dx, *dw]
        else:
            arrays.append(network(x))
    monkeypatch.undo()
    return [a.asnumpy().tobytes() for a in arrays], written


def check(layer, after, monkeypatch, wanted, **options):
    found, how = made(layer, after, monkeypatch, True, **options)
    apart, nothing = made(layer, after, monkeypatch, False, **options)
    assert nothing == [] and found == apart
    assert how == wanted


def hooked_before(y):
    y.register_hook(lambda g: g * 2)
    return ops.relu(y)


def named(y):
    z = ops.relu(y)
    return z + 1.0


def written_to(y):
    y.asnumpy()[...] = 1
    return ops.relu(y)


FUSED = {
    "relu": lambda y: ops.relu(y),
    "layer": lambda y: nn.ReLU()(y),
    "primitive": lambda y: ops.ReLU()(y),
    "form read": lambda y: ops.relu(y) if y.dtype == ms.float32 and y.ndim > 2 else y,
    "hook": hooked_before,
    "in place": lambda y: ops.relu(y, True),
    "jit": lambda y: ms.jit(lambda a: ops.relu(a))(y),
}
# Written at the first read, and once only from the second step on.
ESCAPES = {
    "returned": (lambda y: y, ["plain"]),
    "other operation": (lambda y: ops.tanh(y), ["plain"]),
    "read": (lambda y: ops.relu(ms.Tensor(y.asnumpy())) + y, ["plain"]),
    "written": (written_to, ["plain"]),
    "reshaped": (lambda y: ops.relu(y.reshape(-1)), ["plain"]),
    "two consumers": (lambda y: ops.relu(y) * y, ["relu", "plain"]),
    "twice": (lambda y: ops.relu(y) * ops.relu(y), ["relu", "plain"]),
    "kept": (named, ["relu", "plain"]),
    "printed": (lambda y: ops.relu(y) if str(y) else y, ["plain"]),
    "no gradient": (lambda y: ops.relu(ops.stop_gradient(y)) + y, ["plain"]),
    "copied": (lambda y: ops.relu(copy.deepcopy(y)) + y, ["plain"]),
    "pickled": (lambda y: ops.relu(pickle.loads(pickle.dumps(y))) + y, ["plain"]),
    "recomputed": (lambda y: ms.recompute(lambda a: ops.relu(a), y, use_reentrant=False), ["plain"]),
}


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("case", FUSED)
def test_fused(case, layer, has_bias, monkeypatch):
    check(layer, FUSED[case], monkeypatch, ["relu"] * 3, steps=3, has_bias=has_bias)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("case", ESCAPES)
def test_what_others_read_is_made_once_more_at_most(case, layer, monkeypatch):
    after, wanted = ESCAPES[case]
    check(layer, after, monkeypatch, wanted, steps=3)


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("layer", LAYERS)
def test_inference(layer, has_bias, monkeypatch):
    check(layer, lambda y: ops.relu(y), monkeypatch, ["relu"] * 2, steps=2, derive=False, has_bias=has_bias)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("which", ["input", "weight", "bias"])
def test_who_holds_an_operand_may_write_to_it(which, layer, monkeypatch):
    monkeypatch.setattr(postponed_product, "LEAST", 1)
    layer, shape = layer()
    x = ms.Tensor(np.ones(shape, np.float32))
    assert layer(x)._later is not None
    held = {"input": x, "weight": layer.weight, "bias": layer.bias}[which].asnumpy()
    result = layer(x)
    assert result._later is None
    held[...] = np.nan
    assert not np.isnan(result.asnumpy()).any()


@pytest.mark.parametrize("layer", LAYERS)
def test_an_operand_written_through_its_tensor(layer, monkeypatch):
    monkeypatch.setattr(postponed_product, "LEAST", 1)
    layer, shape = layer()
    for write in (lambda x: x.add_(np.nan), lambda x: layer.weight.set_data(layer.weight * np.nan)):
        x = ms.Tensor(np.ones(shape, np.float32))
        result = layer(x)
        write(x)
        assert not np.isnan(ops.relu(result).asnumpy()).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("layer", LAYERS)
def test_not_finite(layer, value, monkeypatch):
    def spoilt(has_bias):
        layer_, shape = layer(has_bias)
        array = layer_.weight.asnumpy().copy()
        array.flat[::7] = value
        layer_.weight.set_data(ms.Tensor(array))
        return layer_, shape

    check(spoilt, lambda y: ops.relu(y), monkeypatch, ["relu"], derive=False)


def both(layer, run, monkeypatch):
    """What `run(network, x)` returns with and without waiting is the same."""
    found = []
    for least in (1, 10**12):
        monkeypatch.setattr(postponed_product, "LEAST", least)
        ms.set_seed(1)
        cell, shape = layer()
        network = Network(cell, lambda y: ops.relu(y)).set_train()
        x = ms.Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))
        found.append([a.asnumpy().tobytes() for a in run(network, x)])
    assert found[0] == found[1]


@pytest.mark.parametrize("layer", LAYERS)
def test_orders_and_directions(layer, monkeypatch):
    def run(network, x):
        twice = ms.grad(lambda x: (ms.grad(lambda x: (network(x) ** 2).sum())(x) ** 2).sum())(x)
        return twice, *ms.jvp(network, (x,), (ops.ones_like(x),)), ms.vmap(network)(ops.stack([x, x + 1.0]))

    both(layer, run, monkeypatch)


@pytest.mark.parametrize("layer", LAYERS)
def test_cell_hooks_and_saved_tensors(layer, monkeypatch):
    def run(network, x):
        seen = []
        network.layer.register_forward_hook(lambda cell, given, result: seen.append(result.asnumpy().copy()))
        network.layer.register_backward_hook(lambda cell, dx, dy: seen.append(dy[0].asnumpy().copy()))

        def loss(x):
            with ms.saved_tensors_hooks(lambda t: t.asnumpy().copy(), ms.Tensor):
                return (network(x) ** 2).sum()

        return ms.grad(loss)(x), *map(ms.Tensor, seen)

    both(layer, run, monkeypatch)


@pytest.mark.parametrize("layer", LAYERS)
def test_mixed_precision(layer, monkeypatch):
    def run(network, x):
        network = ms.amp.auto_mixed_precision(network, "auto", ms.bfloat16)
        return (ms.grad(lambda x: network(x).astype(ms.float32).sum())(x),)

    both(layer, run, monkeypatch)


def test_others_do_not_wait(monkeypatch):
    """Small results, float64, and kernels that are not ours."""
    layer, shape = convolution()
    x = ms.Tensor(np.ones(shape, np.float32))
    monkeypatch.setattr(postponed_product, "LEAST", 10**9)
    assert layer(x)._later is None
    monkeypatch.setattr(postponed_product, "LEAST", 1)
    assert layer(x)._later is not None
    assert ops.conv2d(x.astype(ms.float64), layer.weight.astype(ms.float64))._later is None
    assert nn.Conv2d(64, 24, 5)(x)._later is None
    assert nn.Dense(64, 4)(ops.ones((4, 64)))._later is None

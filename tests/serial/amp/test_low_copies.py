"""The 16-bit copy of a weight that the optimizer writes: the bits of a cast, and never out of date."""

import copy

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms._ext import dnnl
from dist_ms._ext.tape import low_copy
from dist_ms.ops.linear_algebra.mixed_precision import mixed_products
from dist_ms.train import load_param_into_net

X = Tensor(np.random.default_rng(0).standard_normal((6, 2, 5, 5)).astype(np.float32))
Y = Tensor(np.array([0, 1, 2, 0, 1, 2], np.int32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, has_bias=True)
        self.flatten = nn.Flatten()
        self.fc1, self.fc2 = nn.Dense(100, 16), nn.Dense(16, 3, has_bias=False)

    def construct(self, x):
        return self.fc2(ops.tanh(self.fc1(self.flatten(self.conv(x)))))


def made(optimizer, low_type=ms.bfloat16):
    ms.set_seed(4)
    net = Net()
    network = ms.amp.auto_mixed_precision(nn.WithLossCell(net, nn.CrossEntropyLoss()), "auto", low_type)
    return net, nn.TrainOneStepCell(network, optimizer(net.trainable_params()))


@pytest.fixture
def casts(monkeypatch):
    """The shapes of the float32 weights that are cast."""
    found, before = [], mixed_products.converted

    def counting(array, dtype):
        if dtype.itemsize == 2 and array.dtype == np.float32 and array.shape in ((4, 2, 3, 3), (16, 100), (3, 16)):
            found.append(array.shape)
        return before(array, dtype)

    monkeypatch.setattr(mixed_products, "converted", counting)
    return found


OPTIMIZERS = {
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9),
    "Adam": lambda p: nn.Adam(p, 0.01),
    "Lamb": lambda p: nn.Lamb(p, 0.01),
    "Adadelta, a rule in NumPy": lambda p: nn.Adadelta(p, 0.5),
}


@pytest.mark.parametrize("low_type", (ms.bfloat16, ms.float16), ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_have_the_bits_of_casts(name, low_type, casts, monkeypatch):
    if low_type is ms.float16 and not dnnl.has_float16():
        pytest.skip("this CPU, or its owner, has no float16 products")
    net, step = made(OPTIMIZERS[name], low_type)
    for _ in range(5):
        step(X, Y)
    assert len(casts) == (3 * 5 if "NumPy" in name else 3)
    other, plain = made(OPTIMIZERS[name], low_type)
    monkeypatch.setattr(mixed_products, "low_copy", lambda weight: None)
    for _ in range(5):
        plain(X, Y)
    for a, b in zip(net.get_parameters(), other.get_parameters()):
        assert a.asnumpy().tobytes() == b.asnumpy().tobytes()


def overwrite_by_set_data(weight, values):
    weight.set_data(Tensor(values))


def load(weight, values):
    cell = nn.Cell()
    cell.weight = weight
    load_param_into_net(cell, {weight.name: ms.Parameter(Tensor(values), name=weight.name)})


def through_a_view(weight, values):
    ops.reshape(weight, (-1,)).asnumpy()[...] = values.reshape(-1)


def through_another_tensor(weight, values):
    Tensor(weight).asnumpy()[...] = values


def through_a_memoryview(weight, values):
    np.frombuffer(memoryview(weight.asnumpy()).cast("B"), np.float32)[...] = values.reshape(-1)


WRITERS = {
    "set_data": overwrite_by_set_data,
    "assign_value": lambda w, v: w.assign_value(Tensor(v)),
    "ops.assign": lambda w, v: ops.assign(w, Tensor(v)),
    "asnumpy": lambda w, v: np.copyto(w.asnumpy(), v),
    "numpy": lambda w, v: np.copyto(w.numpy(), v),
    "np.asarray": lambda w, v: np.copyto(np.asarray(w), v),
    "an index": lambda w, v: w.__setitem__(slice(None), Tensor(v)),
    "in place": lambda w, v: w.mul_(0).add_(Tensor(v)),
    "data": lambda w, v: setattr(w, "data", Tensor(v)),
    "a checkpoint": load,
    "a view": through_a_view,
    "another tensor": through_another_tensor,
    "a memoryview": through_a_memoryview,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_who_writes_the_weight_makes_the_copy_out_of_date(writer):
    net, step = made(OPTIMIZERS["Momentum"])
    for _ in range(2):
        step(X, Y)
    weight = net.fc1.weight
    assert low_copy(weight) is not None
    values = np.random.default_rng(5).standard_normal(weight.shape).astype(np.float32)
    WRITERS[writer](weight, values)
    np.testing.assert_array_equal(weight.asnumpy(), values)
    found = step.network(X, Y).asnumpy()
    other, plain = made(OPTIMIZERS["Momentum"])
    for a, b in zip(other.get_parameters(), net.get_parameters()):
        a.set_data(Tensor(b.asnumpy()))
    assert plain.network(X, Y).asnumpy().tobytes() == found.tobytes()


def test_an_array_held_since_before_the_step_may_be_written():
    net, step = made(OPTIMIZERS["Momentum"])
    step(X, Y)
    for held in (net.fc1.weight.asnumpy(), net.fc1.weight.asnumpy().reshape(-1)[3:], Tensor(net.fc1.weight)):
        step(X, Y)
        step(X, Y)
        before = step.network(X, Y).asnumpy()
        (held.asnumpy() if isinstance(held, Tensor) else held)[...] = 0.25
        assert step.network(X, Y).asnumpy() != before


def test_the_old_copy_stays_for_a_sweep_that_comes_after_the_update(casts):
    from dist_ms.autograd.differentiate import Graph

    grads = []
    for update in (False, True):
        net, step = made(OPTIMIZERS["Momentum"])
        step(X, Y)
        graph = Graph(step.network, (X, Y), weights=net.trainable_params())
        first = graph.sweep(graph.outputs, keep=True)[1]
        if update:
            step.optimizer(tuple(first))
        grads.append([g.asnumpy().tobytes() for g in graph.sweep(graph.outputs)[1]])
    assert grads[0] == grads[1]


def test_a_copy_that_nobody_asks_for_is_dropped():
    net, step = made(OPTIMIZERS["Momentum"])
    for _ in range(2):
        step(X, Y)
    grads = tuple(Tensor(np.ones(p.shape, np.float32)) for p in step.weights)
    assert low_copy(net.fc1.weight) is not None
    step.optimizer(grads)  # asked for by the line above
    step.optimizer(grads)
    step.optimizer(grads)
    assert low_copy(net.fc1.weight) is None


def test_copies_of_a_network_have_no_copy():
    net, step = made(OPTIMIZERS["Momentum"])
    step(X, Y)
    twin = copy.deepcopy(net)
    assert low_copy(twin.fc1.weight) is None
    np.testing.assert_array_equal(twin.fc1.weight.asnumpy(), net.fc1.weight.asnumpy())

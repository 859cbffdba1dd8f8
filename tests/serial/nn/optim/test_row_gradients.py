"""Optimizers on gradients by rows: who leaves rows alone, who does not, and what a step keeps by rows."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.autograd import tape
from dist_ms.common.tensor.sparse_tensor import RowTensor

IDS = [Tensor(np.array(ids, np.int32)) for ids in ([1, 1, 3], [0, 3])]


class Lookup(nn.Cell):
    """The sum of some rows of a table of ones."""

    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingLookup(6, 2, param_init="ones")

    def construct(self, ids):
        return self.table(ids).sum()


def after_two_steps(make):
    """Column 0 of the table after steps on the rows 1, 1, 3 and then 0, 3."""
    net = Lookup()
    step = nn.TrainOneStepCell(net, make(net.trainable_params()))
    for ids in IDS:
        step(ids)
    return net.table.embedding_table.asnumpy()[:, 0]


# MindSpore 2.10 in graph mode, but for row 1, which comes twice: MindSpore adds up the squares of its
# gradients, or runs the rule twice (0.7638, 0.8, 0.8, 0.5341); here it has one gradient, their sum. The values of
# FTRL's row 1 and of ProximalAdagrad are those of the rules, worked out by hand: sums of squares start at 0.1, so
# row 1, whose gradient is 2, becomes (sqrt(4.1) - sqrt(0.1) - 0.2) / sqrt(4.1), and 1 - 0.2 / sqrt(4.1).
PINNED = {
    "Adam": (lambda p: nn.Adam(p, 0.1), [0.92558658, 0.83299446, 1, 0.80000037, 1, 1]),
    "LazyAdam": (lambda p: nn.LazyAdam(p, 0.1), [0.92558658, 0.9, 1, 0.80000037, 1, 1]),
    "Adam use_lazy": (lambda p: nn.Adam(p, 0.1, use_lazy=True), [0.92558658, 0.9, 1, 0.80000037, 1, 1]),
    "FTRL": (lambda p: nn.FTRL(p, learning_rate=0.1), [0.60314238, 0.74505328, 1, 0.53413582, 1, 1]),
    "SGD": (lambda p: nn.SGD(p, 0.25), [0.75, 0.5, 1, 0.5, 1, 1]),
    "ProximalAdagrad": (
        lambda p: nn.ProximalAdagrad(p, learning_rate=0.1),
        [0.90465374, 0.90122704, 1, 0.83564719, 1, 1],
    ),
}


@pytest.mark.parametrize("name", PINNED)
def test_two_steps_on_rows(name):
    make, wanted = PINNED[name]
    found = after_two_steps(make)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ["LazyAdam", "FTRL", "ProximalAdagrad", "SGD"])
def test_the_rows_are_updated_as_a_table_of_them_alone(name):
    make = PINNED[name][0]
    rows = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
    table, small = np.ones((5, 2), np.float32), np.ones((2, 2), np.float32)
    whole, part = ms.Parameter(Tensor(table), name="w"), ms.Parameter(Tensor(small), name="w")
    of_whole, of_part = make([whole]), make([part])
    for _ in range(3):
        halves = Tensor(np.concatenate([rows, rows]) / 2)  # each row twice, in any order
        of_whole((RowTensor(Tensor(np.array([3, 1, 3, 1])), halves, (5, 2)),))
        of_part((Tensor(rows[::-1].copy()),))
    assert np.array_equal(whole.asnumpy()[[1, 3]], part.asnumpy())
    assert np.array_equal(whole.asnumpy()[[0, 2, 4]], table[[0, 2, 4]])


def test_weight_decay_is_for_the_rows_that_are_there():
    for make in (lambda p: nn.Adam(p, 0.1, weight_decay=0.5), lambda p: nn.LazyAdam(p, 0.1, weight_decay=0.5)):
        weight = ms.Parameter(Tensor(np.ones((4, 1), np.float32)), name="w")
        optimizer = make([weight])
        optimizer((RowTensor(Tensor([2]), Tensor([[1.0]]), (4, 1)),))
        assert np.allclose(optimizer.moment1[0].asnumpy()[:, 0], [0, 0, 0.15, 0])  # as MindSpore's Adam


OPTIMIZERS = {
    "SGD": lambda p: nn.SGD(p, 0.1),
    "SGD decay": lambda p: nn.SGD(p, 0.1, weight_decay=0.1),
    "SGD momentum": lambda p: nn.SGD(p, 0.1, momentum=0.9),
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.01, use_nesterov=True),
    "Adam": lambda p: nn.Adam(p, 0.1, weight_decay=0.01, loss_scale=2.0),
    "Adam amsgrad": lambda p: nn.Adam(p, 0.1, use_amsgrad=True),
    "LazyAdam": lambda p: nn.LazyAdam(p, 0.1),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.01),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.1),
    "ProximalAdagrad": lambda p: nn.ProximalAdagrad(p, learning_rate=0.1, l1=0.01),
    "RMSProp": lambda p: nn.RMSProp(p, 0.1, centered=True, epsilon=1e-3),
    "FTRL": lambda p: nn.FTRL(p, learning_rate=0.1, l1=0.01),
    "Lamb": lambda p: nn.Lamb(p, 0.1),
    "AdaMax": lambda p: nn.AdaMax(p, 0.1),
    "centralized": lambda p: nn.Momentum([{"params": list(p), "grad_centralization": True}], 0.1, 0.9),
}


class Words(nn.Cell):
    """An embedding, whose gradient is dense to its users, and a layer."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(50, 4), nn.Dense(4, 3)

    def construct(self, ids):
        return self.out(self.table(ids).mean(1))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_that_keeps_rows_has_the_bits_of_one_that_does_not(name, monkeypatch):
    results = []
    for by_rows in (True, False):
        if not by_rows:
            monkeypatch.setattr("dist_ms.nn.wrap.train_step.takes_rows", lambda optimizer: False)
        ms.set_seed(3)
        net = Words()
        step = nn.TrainOneStepCell(
            nn.WithLossCell(net, nn.CrossEntropyLoss()), OPTIMIZERS[name](net.trainable_params())
        )
        random = np.random.default_rng(0)
        for _ in range(3):
            ids, labels = random.integers(-50, 50, (8, 3)), random.integers(0, 3, 8)
            step(Tensor(ids.astype(np.int32)), Tensor(labels.astype(np.int32)))
        results.append([p.asnumpy().tobytes() for p in net.get_parameters()])
        assert tape.recording.rows is False
    assert results[0] == results[1]


def test_a_subclass_with_its_own_rule_gets_dense_gradients():
    seen = []

    class Mine(nn.SGD):
        def update_one(self, index, param, grad, lr, weight_decay):
            seen.append(type(grad))
            super().update_one(index, param, grad, lr, weight_decay)

    assert np.allclose(after_two_steps(lambda p: Mine(p, 0.25)), [0.75, 0.5, 1, 0.5, 1, 1])
    assert seen == [Tensor, Tensor]


def test_returned_gradients_are_dense():
    net = Words()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), 0.1), return_grad=True
    )
    _, grads = step(Tensor(np.array([[1, 2]], np.int32)), Tensor(np.array([1], np.int32)))
    assert all(type(g) is Tensor for g in grads.values())


def test_weights_in_other_memory_orders_and_types():
    for dtype in (np.float16, np.float64):
        weight = ms.Parameter(Tensor(np.ones((4, 2), dtype)), name="w")
        nn.SGD([weight], 0.5)((RowTensor(Tensor([1]), Tensor(np.ones((1, 2), dtype)), (4, 2)),))
        assert weight.asnumpy()[:, 0].tolist() == [1, 0.5, 1, 1]
    turned = ms.Parameter(Tensor(np.ones((4, 2), np.float32)), name="w")
    turned._data = np.asfortranarray(turned._data)
    nn.Momentum([turned], 0.5, 0.9)((Tensor(np.arange(8, dtype=np.float32).reshape(4, 2)),))
    assert np.array_equal(turned.asnumpy(), 1 - np.arange(8).reshape(4, 2) / 2)

"""Gradients of tables by rows: where they come from, how they add up, who gets them dense."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.common.tensor.sparse_tensor import RowTensor

IDS = Tensor(np.array([[4, 1], [1, 0]], np.int32))
WEIGHT = np.arange(12, dtype=np.float32).reshape(6, 2) - 3


def table():
    return ms.Parameter(Tensor(WEIGHT), name="table")


def factor():
    return Tensor(np.random.default_rng(5).standard_normal((2, 2, 2)).astype(np.float32))


LOOKUPS = {
    "EmbeddingLookup": lambda t, ids: ops.EmbeddingLookup()(t, ids, 0),
    "SparseGatherV2": lambda t, ids: ops.SparseGatherV2()(t, ids, 0),
}


def dense_gradient(ids=IDS):
    """What np.add.at makes of the factor."""
    out = np.zeros((6, 2), np.float32)
    np.add.at(out, ids.asnumpy().reshape(-1), factor().asnumpy().reshape(-1, 2))
    return out


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_a_parameter_that_is_looked_up_has_a_row_gradient(lookup):
    weight = table()
    found = ms.grad(lambda: (LOOKUPS[lookup](weight, IDS) * factor()).sum(), None, weight)()
    assert type(found) is RowTensor and not found.whole
    assert found.indices.asnumpy().tolist() == [4, 1, 1, 0] and found.dense_shape == (6, 2)
    assert np.array_equal(found.values.asnumpy(), factor().asnumpy().reshape(4, 2))
    assert np.array_equal(found.to_dense().asnumpy(), dense_gradient())


def test_layers():
    layer = nn.EmbeddingLookup(6, 2, param_init=Tensor(WEIGHT))
    found = ms.grad(lambda i: layer(i).sum(), None, layer.embedding_table)(Tensor(np.array([5, 9, -1, 5])))
    assert type(found) is RowTensor and found.indices.asnumpy().tolist() == [5, 5], "rows outside have no gradient"
    plain = nn.EmbeddingLookup(6, 2, target="DEVICE", sparse=False)
    assert type(ms.grad(lambda i: plain(i).sum(), None, plain.embedding_table)(IDS)) is Tensor
    dense = nn.Embedding(6, 2)
    assert type(ms.grad(lambda i: dense(i).sum(), None, dense.embedding_table)(IDS)) is Tensor


def test_rows_add_up():
    weight = table()
    lookup, gather = LOOKUPS.values()

    def twice():
        return (lookup(weight, IDS) * factor()).sum() + (gather(weight, IDS) * factor()).sum()

    found = ms.grad(twice, None, weight)()
    assert type(found) is RowTensor and found.values.shape == (8, 2)
    assert np.allclose(found.to_dense().asnumpy(), 2 * dense_gradient(), rtol=1e-6)
    once = found.summed()
    assert once.indices.asnumpy().tolist() == [0, 1, 4]
    assert np.allclose(once.values.asnumpy(), 2 * dense_gradient()[[0, 1, 4]], rtol=1e-6)
    assert once.summed() is once


@pytest.mark.parametrize("parts", ["rows, dense", "dense, rows", "dense, dense, rows", "rows, rows, dense"])
def test_rows_and_dense_gradients_add_up_to_a_dense_one(parts):
    weight = table()
    parts = parts.split(", ")
    lookup = LOOKUPS["EmbeddingLookup"]

    def total():
        return sum((lookup(weight, IDS) * factor()).sum() if p == "rows" else (weight * weight).sum() for p in parts)

    found = ms.grad(total, None, weight)()
    assert type(found) is Tensor
    wanted = parts.count("rows") * dense_gradient() + parts.count("dense") * 2 * WEIGHT
    assert np.allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_dense_where_rows_make_no_sense():
    lookup = LOOKUPS["EmbeddingLookup"]
    weight = table()
    assert type(ms.grad(lambda t: lookup(t, IDS).sum())(Tensor(WEIGHT))) is Tensor  # an argument
    found = ms.grad(lambda: (lookup(weight * 2, IDS) * factor()).sum(), None, weight)()  # not the weight itself
    assert np.array_equal(found.asnumpy(), 2 * dense_gradient())
    seen = []
    weight.register_hook(lambda g: seen.append(g.asnumpy().copy()))
    found = ms.grad(lambda: (lookup(weight, IDS) * factor()).sum(), None, weight)()
    assert np.array_equal(seen[0], dense_gradient()) and type(found) is Tensor


def test_second_order_gradients_go_through():
    weight, lookup = table(), LOOKUPS["EmbeddingLookup"]

    def inner(x):
        grad = ms.grad(lambda: ((lookup(weight, IDS) * x) ** 2).sum(), None, weight)()
        return (grad * grad).sum()

    found = ms.grad(inner)(factor())
    step, x = 1e-3, factor().asnumpy()

    def value(x):
        out = np.zeros((6, 2))
        np.add.at(out, IDS.asnumpy().reshape(-1), (2 * WEIGHT[IDS.asnumpy()] * x * x).reshape(-1, 2))
        return (out * out).sum()

    up, down = x.astype(np.float64), x.astype(np.float64)
    up[0, 1, 0] += step
    down[0, 1, 0] -= step
    assert np.isclose(found.asnumpy()[0, 1, 0], (value(up) - value(down)) / (2 * step), rtol=1e-4)


def test_an_empty_batch():
    weight = table()
    none = Tensor(np.zeros((0,), np.int64))
    found = ms.grad(lambda: LOOKUPS["EmbeddingLookup"](weight, none).sum(), None, weight)()
    assert found.values.shape == (0, 2) and not found.to_dense().asnumpy().any()


@pytest.mark.parametrize("make", [lambda p: nn.SGD(p, 0.1), lambda p: nn.Momentum(p, 0.1, 0.9), lambda p: nn.Adam(p)])
def test_optimizers_take_rows(make):
    weight, other = table(), table()
    rows, dense = make([weight]), make([other])
    for _ in range(3):
        grad = ms.grad(lambda: (LOOKUPS["EmbeddingLookup"](weight, IDS) * factor()).sum(), None, weight)()
        rows((grad,))
        dense((grad.to_dense(),))
    assert np.array_equal(weight.asnumpy(), other.asnumpy())


def test_finiteness_and_loss_scale():
    bad = RowTensor(Tensor([1]), Tensor([[np.inf, 1.0]]), (6, 2))
    assert not ms.amp.all_finite([bad]) and ms.amp.all_finite((RowTensor(Tensor([1]), Tensor([[1.0]]), (3, 1)),))
    layer = nn.EmbeddingLookup(6, 2, param_init=Tensor(WEIGHT))
    step = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(layer, nn.MSELoss()), nn.SGD(layer.trainable_params(), 1.0), Tensor(np.float32(1024))
    )
    _, overflow, _ = step(IDS, Tensor(np.zeros((2, 2, 2), np.float32)))
    wanted = WEIGHT.copy()
    np.add.at(wanted, IDS.asnumpy().reshape(-1), -WEIGHT[IDS.asnumpy()].reshape(-1, 2) / 4)
    assert not overflow and np.allclose(layer.embedding_table.asnumpy(), wanted, rtol=1e-6)

"""Gradients written to the place where a sink wants them, against those of a sink that has none."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.places import sum_at, taken
from dist_ms.autograd.sink import StoreSink
from dist_ms.autograd.tape import recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor


class PlacingSink(StoreSink):
    """Wants every gradient in memory of its own; tells which came there."""

    def __init__(self, weights):
        super().__init__(len(weights))
        self.memory = [np.full(w.shape, np.nan, w.dtype.np) for w in weights]
        self.placed = [False] * len(weights)

    def place(self, index):
        return self.memory[index]

    def ready(self, index, grad):
        super().ready(index, grad)
        self.placed[index] = grad is not None and grad.array() is self.memory[index]


def numbers(*shape, dtype=np.float32):
    rng = np.random.default_rng(sum(shape))
    return rng.standard_normal(shape).astype(dtype)


def weight(*shape, name="w", dtype=np.float32):
    return Parameter(Tensor(numbers(*shape, dtype=dtype)), name=name)


def both(fn, weights, *args):
    """The gradients with and without places, and which were placed."""
    plain = Graph(fn, args, weights=weights)
    _, expected = plain.sweep(plain.outputs)
    sink = PlacingSink(weights)
    graph = Graph(fn, args, weights=weights)
    _, found = graph.sweep(graph.outputs, None, sink)
    assert not recording.places
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    return sink.placed


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("leading", [(), (2,)])
def test_a_dense_layer_writes_its_gradients_there(dtype, rows, leading):
    w, b = weight(50, 40, dtype=dtype), weight(50, name="b", dtype=dtype)
    x = Tensor(numbers(*leading, rows, 40, dtype=dtype))
    assert both(lambda x: ops.dense(x, w, b).sum(), [w, b], x) == [True, True]
    assert both(lambda x: (ops.dense(x, w) ** 2).sum(), [w], x) == [True]


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
@pytest.mark.parametrize("length", [3, 64])
def test_a_product_writes_its_gradients_there(ta, tb, length):
    a = weight(*((length, 33) if ta else (33, length)), name="a")
    b = weight(*((40, length) if tb else (length, 40)), name="b")
    product = ops.MatMul(ta, tb)
    assert both(lambda: (product(a, b) ** 2).sum(), [a, b]) == [True, True]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("channels", "kernel", "size"), [(8, 3, 9), (64, 3, 24), (6, 5, 8)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_convolution_writes_its_gradients_there(bias, channels, kernel, size, dtype):
    w, b = weight(channels, channels, kernel, kernel, dtype=dtype), weight(channels, name="b", dtype=dtype)
    x = Tensor(numbers(2, channels, size, size, dtype=dtype))
    weights = [w, b] if bias else [w]

    def loss(x):
        return (ops.conv2d(x, *weights) ** 2).sum()

    assert both(loss, weights, x)[0]


def test_a_table_writes_its_gradient_there():
    table, ids = weight(30, 5), Tensor(np.array([[3, 29, 3], [0, -1, 7]], np.int32))
    assert both(lambda: (ops.embedding(ids, table) ** 2).sum(), [table]) == [True]


def test_mixed_precision_writes_float32_gradients_there():
    net = nn.SequentialCell(nn.Dense(40, 64), nn.ReLU(), nn.Dense(64, 3))
    net = ms.amp.auto_mixed_precision(net, "auto", ms.bfloat16)
    weights = net.trainable_params()
    assert both(lambda x: net(x).astype(ms.float32).sum(), weights, Tensor(numbers(8, 40))) == [True] * 4


def test_gradients_that_are_added_up_are_added_there():
    w, x = weight(40, 40), Tensor(numbers(33, 40))
    assert both(lambda x: ops.dense(ops.dense(x, w), w).sum(), [w], x) == [True]
    assert both(lambda x: (ops.dense(ops.dense(x, w), w) * w[:33]).sum(), [w], x) == [True]
    assert both(lambda x: (ops.dense(x, w) * w[:33]).sum() + (w * w).sum(), [w], x) == [True]
    assert both(lambda: ops.matmul(w, w).sum(), [w]) == [True]
    assert both(lambda: (ops.matmul(w, w) * w).sum(), [w]) == [True]
    # The place holds a contribution that is still to come while two others are added.
    assert both(lambda: (ops.dense(w, w) * w).sum(), [w]) == [False]


def test_other_gradients_lie_where_they_were_made():
    w, x = weight(40, 40), Tensor(numbers(33, 40))
    assert both(lambda x: ops.matmul(x, w.T).sum(), [w], x) == [False]
    assert both(lambda x: (x * w[:33]).sum(), [w], x) == [False]


def test_a_hook_replaces_the_gradient_and_keeps_its_own():
    w, x, seen = weight(40, 40), Tensor(numbers(33, 40)), []

    def hook(grad):
        seen.append(grad)
        return grad * 2

    handle = w.register_hook(hook)
    assert both(lambda x: ops.dense(x, w).sum(), [w], x) == [False]
    handle.remove()
    w.register_hook(seen.append)
    sink = PlacingSink([w])
    graph = Graph(lambda x: ops.dense(x, w).sum(), (x,), weights=[w])
    graph.sweep(graph.outputs, None, sink)
    assert sink.placed == [True]
    before = seen[-1].asnumpy().copy()
    sink.memory[0][...] = 0
    np.testing.assert_array_equal(seen[-1].asnumpy(), before)


def test_no_place_for_a_gradient_that_is_returned_too():
    w, x = weight(40, 40), Tensor(numbers(33, 40))
    sink = PlacingSink([w])
    graph = Graph(lambda x: ops.dense(x, w).sum(), (x,), weights=[w], targets=[w])
    (target,), (found,) = graph.sweep(graph.outputs, None, sink)
    assert sink.placed == [False]
    np.testing.assert_array_equal(target.asnumpy(), found.asnumpy())


def test_recorded_gradients_are_not_written_over():
    w, x = weight(40, 40), Tensor(numbers(33, 40))
    sink = PlacingSink([w])

    def loss(x):
        inner = Graph(lambda x: (ops.dense(x, w) ** 2).sum(), (x,), weights=[w])
        _, (grad,) = inner.sweep(inner.outputs, None, sink)
        return (grad * grad).sum()

    def plain(x):
        return (ms.grad(lambda x: (ops.dense(x, w) ** 2).sum(), None, [w])(x)[0] ** 2).sum()

    np.testing.assert_allclose(ms.grad(loss)(x).asnumpy(), ms.grad(plain)(x).asnumpy(), rtol=1e-5)
    assert sink.placed == [False]


@pytest.mark.parametrize("reentrant", [True, False])
def test_recomputed_layers(reentrant):
    cell = nn.Dense(40, 40)
    x, weights = Tensor(numbers(33, 40)), cell.trainable_params()

    def again(x):
        return ms.recompute(cell, x, use_reentrant=reentrant)

    assert both(lambda x: (again(x) ** 2).sum(), weights, x) == [True, True]
    # Contributions from two runs, from the outside, and from within another run.
    assert both(lambda x: again(again(x)).sum(), weights, x) == [True, True]
    assert both(lambda x: (cell(again(x)) * cell.bias).sum(), weights, x) == [True, True]
    outer = nn.SequentialCell(nn.Dense(40, 40), nn.ReLU(), nn.Dense(40, 40))
    outer[0].recompute()
    outer.recompute()
    assert both(lambda x: (outer(x) ** 2).sum(), outer.trainable_params(), x) == [True] * 4
    handle = weights[0].register_hook(lambda grad: grad * 2)
    assert both(lambda x: again(x).sum(), weights, x) == [False, True]
    handle.remove()


def test_a_cell_with_a_bprop():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(40, 40)

        def construct(self, x):
            return self.dense(x)

        def bprop(self, x, out, dout):
            return (ms.grad(lambda x: (self.dense(x) * dout).sum())(x) * 2,)

    cell, before = Twice(), nn.Dense(40, 40)
    weights = [*before.trainable_params(), *cell.trainable_params()]
    for i, w in enumerate(weights):
        w.name = f"w{i}"
    placed = both(lambda x: cell(before(x)).sum(), weights, Tensor(numbers(33, 40)))
    assert placed == [True, True, False, False]


def test_a_graph_swept_again_has_its_places_again():
    w, x = weight(40, 40), Tensor(numbers(33, 40))
    graph = Graph(lambda x: ops.dense(x, w).sum(), (x,), weights=[w])
    found = []
    for _ in range(2):
        sink = PlacingSink([w])
        found.append(graph.sweep(graph.outputs, None, sink, keep=True)[1][0].asnumpy())
        assert sink.placed == [True]
    np.testing.assert_array_equal(*found)


def test_an_error_leaves_no_places():
    w = weight(3, 3)

    def broken(grad):
        raise RuntimeError("broken")

    w.register_hook(broken)
    graph = Graph(lambda: ops.matmul(w, w).sum(), weights=[w])
    with pytest.raises(RuntimeError, match="broken"):
        graph.sweep(graph.outputs, None, PlacingSink([w]))
    assert not recording.places


def test_a_place_of_another_type_is_not_taken():
    w = weight(3, 3)
    graph = Graph(lambda: w * 1, weights=[w])
    assert taken(w, np.dtype(np.float32)) is None
    assert sum_at(graph.starts[id(w)], numbers(3, 3), numbers(3, 3)) is None
    half = Parameter(Tensor(numbers(40, 40).astype(np.float16)), name="half")
    sink = PlacingSink([half])
    sink.memory = [np.empty((40, 40), np.float32)]
    graph = Graph(lambda x: ops.dense(x, half).sum(), (Tensor(numbers(33, 40).astype(np.float16)),), weights=[half])
    graph.sweep(graph.outputs, None, sink)
    assert sink.placed == [False]

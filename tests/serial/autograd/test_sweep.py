"""The order of the reverse sweep, the sink protocol, and what is freed when."""

import gc
import weakref

import numpy as np
import pytest

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.grad import grad, value_and_grad
from dist_ms.autograd.sink import StoreSink
from dist_ms.autograd.tape import recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.flow import hooks  # noqa: F401  (attaches Tensor.register_hook)
from dist_ms.ops.primitive import Primitive


class Named(Primitive):
    """x * y that writes down when its gradient runs."""

    def __init__(self, label, log):
        super().__init__()
        self.label = label
        self.log = log

    def forward(self, x, y):
        return x * y

    def gradient(self, inputs, output, dout):
        self.log.append(self.label)
        return dout * inputs[1], dout * inputs[0]


class LoggingSink(StoreSink):
    def __init__(self, count, log):
        super().__init__(count)
        self.log = log

    def begin(self):
        super().begin()
        self.log.append("begin")

    def ready(self, index, grad):
        super().ready(index, grad)
        self.log.append((index, None if grad is None else grad.asnumpy().tolist()))

    def progress(self):
        self.log.append("progress")

    def finish(self):
        self.log.append("finish")
        return super().finish()


def weights(*values, **flags):
    return [Parameter(Tensor([v]), name=f"w{i}", **flags) for i, v in enumerate(values)]


def differentiate(fn, args, weights, sink):
    graph = Graph(fn, args, weights=weights)
    return graph.outputs, graph.sweep(graph.outputs, None, sink)[1]


def test_sink_protocol():
    log = []
    ws = weights(2.0, 3.0, 5.0, 7.0)
    ws[3].requires_grad = False

    def f(x):
        y = Named("first", log)(x, ws[2])
        z = Named("second", log)(y, ws[0])
        return Named("third", log)(z, ws[2])

    x = Tensor([1.0])
    _, grads = differentiate(f, (x,), weights=ws, sink=LoggingSink(4, log))
    assert log == [
        "begin",
        (1, None),
        (3, None),
        "third",
        "progress",
        "second",
        (0, [25.0]),
        "progress",
        "first",
        (2, [20.0]),
        "progress",
        "finish",
    ]
    assert [g.asnumpy().tolist() for g in grads] == [[25.0], [0.0], [20.0], [0.0]]


def test_a_weight_listed_twice_is_ready_twice():
    log = []
    (w,) = weights(3.0)
    _, grads = differentiate(lambda x: x * w, (Tensor([2.0]),), weights=[w, w], sink=LoggingSink(2, log))
    assert log == ["begin", (0, [2.0]), (1, [2.0]), "progress", "finish"]
    assert [g.asnumpy().tolist() for g in grads] == [[2.0], [2.0]]


def test_without_any_path_all_weights_are_announced():
    log = []
    ws = weights(1.0, 2.0)
    differentiate(lambda x: x * 2, (Tensor([2.0]),), weights=ws, sink=LoggingSink(2, log))
    assert log == ["begin", (0, None), (1, None), "finish"]


def test_only_nodes_between_outputs_and_targets_run():
    log = []

    def f(x, y):
        Named("dead end", log)(x, y)
        side = Named("no target", log)(y, y)
        return Named("used", log)(x, side)

    grad(f)(Tensor([2.0]), Tensor([3.0]))
    assert log == ["used"]


def test_the_last_made_node_runs_first():
    log = []

    def f(x):
        y = Named("a", log)(x, x)
        z = Named("b", log)(y, x)
        u = Named("c", log)(y, y)
        return z + u

    # y = x^2, z = x^3, u = x^4
    assert grad(f)(Tensor([2.0])).asnumpy().tolist() == [12 + 32]
    assert log == ["c", "b", "a"]


def test_many_contributions_add_up():
    def f(x):
        y = x * 1
        total = y * 1.0
        for k in range(2, 8):
            total = total + y * float(k)
        return total

    x = Tensor([1.0, 2.0])
    assert grad(f)(x).asnumpy().tolist() == [28, 28]
    assert grad(lambda x: grad(f)(x) * x)(x).asnumpy().tolist() == [28, 28]


def test_summing_does_not_write_into_shared_gradients():
    """The same gradient tensor reaches several places; sums must not be made inside it."""
    seen = []

    def f(x):
        y = x * 1
        z = y + y + y + y
        z.register_hook(lambda g: seen.append(g))
        return z + x

    assert grad(f)(Tensor([1.0])).asnumpy().tolist() == [5]
    assert seen[0].asnumpy().tolist() == [1]


def test_an_output_that_is_a_weight_or_an_input():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    x = Tensor([3.0, 4.0])
    value, (dx, dw) = value_and_grad(lambda x: (w, x, w), 0, w)(x)
    assert value[0] is w
    assert value[1] is x
    assert dx.asnumpy().tolist() == [1, 1]
    assert dw.asnumpy().tolist() == [2, 2]
    assert w._node is None
    assert x._node is None


def test_given_output_gradients():
    def f(x):
        return x * 2, [x * 3]

    graph = Graph(f, (Tensor([1.0]),), positions=(0,))
    douts = (Tensor([10.0]), [Tensor([100.0])])
    assert graph.sweep(graph.outputs, douts, keep=True)[0][0].asnumpy().tolist() == [320]
    assert graph.sweep(graph.outputs, [None, Tensor([1.0])])[0][0].asnumpy().tolist() == [3]


def test_gradients_share_no_memory():
    w = Parameter(Tensor([1.0]), name="w")
    sens = Tensor([1.0])
    graph = Graph(lambda x, y: x + y + w, (Tensor([1.0]), Tensor([2.0])), None, (0, 1), [w, w])
    (dx, dy), (dw, again) = graph.sweep(graph.outputs, sens)
    arrays = [g.asnumpy() for g in (dx, dy, dw, again, sens)]
    for i, array in enumerate(arrays):
        array[0] = i
    assert [a[0] for a in arrays] == [0, 1, 2, 3, 4]


def test_output_gradients_in_lists():
    graph = Graph(lambda x: [x * 2, (x * 3,)], (Tensor([1.0]),), positions=(0,))
    douts = [Tensor([10.0]), (Tensor([100.0]),)]
    assert graph.sweep(graph.outputs, douts)[0][0].asnumpy().tolist() == [320]


# ---- memory
def live_arrays(refs):
    return [r() is not None for r in refs]


class Tracked(np.ndarray):
    """An array that can be referred to weakly."""


class Keep(Primitive):
    """x + 1 whose node keeps an array, in the list it is called with; `refs` watches the array."""

    def __init__(self, refs):
        super().__init__()
        self.refs = refs

    def forward(self, x, box):
        array = np.zeros(3).view(Tracked)
        self.refs.append(weakref.ref(array))
        box.append(array)
        return x + 1

    def gradient(self, inputs, output, dout):
        return dout, None


@pytest.fixture
def no_gc():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def chain(refs, length, seen=None):
    def f(x):
        for _ in range(length):
            x = Keep(refs)(x, [])
            if seen is not None:
                seen.append(x)
        return x

    return f


def test_saved_values_are_freed_as_the_sweep_goes(no_gc):
    refs, alive = [], []

    class Count(Primitive):
        keeps = ()

        def forward(self, x):
            return x + 1

        def gradient(self, inputs, output, dout):
            alive.append(sum(live_arrays(refs)))
            return dout

    def f(x):
        for _ in range(4):
            x = Count()(Keep(refs)(x, []))
        return x

    grad(f)(Tensor([1.0]))
    assert alive == [4, 3, 2, 1]
    assert sum(live_arrays(refs)) == 0


def test_kept_outputs_keep_no_history(no_gc):
    refs = []
    value, _ = value_and_grad(chain(refs, 5))(Tensor([1.0]))
    assert value._node is None
    assert sum(live_arrays(refs)) == 0


def test_kept_auxiliary_outputs_keep_no_history(no_gc):
    refs = []
    f = chain(refs, 5)
    value = value_and_grad(lambda x: (x * 2, {"aux": f(x)}), has_aux=True)(Tensor([1.0]))[0]
    assert value[1]["aux"]._node is None
    assert sum(live_arrays(refs)) == 0


def test_stashed_tensors_keep_no_history_of_what_was_swept(no_gc):
    refs, seen = [], []
    grad(chain(refs, 5, seen))(Tensor([1.0]))
    assert seen[2]._node is not None
    assert sum(live_arrays(refs)) == 0


def test_a_graph_that_is_not_swept_is_freed_with_its_outputs(no_gc):
    refs = []
    graph = Graph(chain(refs, 5), (Tensor([1.0]),), positions=(0,))
    assert sum(live_arrays(refs)) == 5
    outputs = graph.outputs
    del graph
    assert sum(live_arrays(refs)) == 0
    del outputs


def test_an_exception_frees_what_was_recorded(no_gc):
    refs = []
    f = chain(refs, 3)

    def broken(x):
        f(x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(broken)(Tensor([1.0]))
    assert sum(live_arrays(refs)) == 0


def test_tensors_of_an_old_gradient_are_constants(no_gc):
    seen = []

    def keep(x):
        y = x * x
        seen.append(y)
        return y * x

    grad(keep)(Tensor([2.0]))
    (old,) = seen
    assert old._node is not None
    graph = Graph(lambda x: (old * 3, x * old), (Tensor([5.0]),), positions=(0,))
    constant, traced = graph.outputs
    assert id(constant) not in graph.places
    node, _ = graph.places[id(traced)]
    assert node.live == (0,)
    assert node.inputs[1]._node is None
    assert graph.sweep(graph.outputs)[0][0].asnumpy().tolist() == [4]


def test_a_recurrent_state_does_not_grow_a_history(no_gc):
    refs, state = [], [Tensor([1.0])]

    def step(x):
        state[0] = Keep(refs)(state[0] * x, [])
        return state[0] * 2

    for _ in range(20):
        grad(step)(Tensor([1.0]))
    assert sum(live_arrays(refs)) == 0


def test_a_long_chain_is_swept_and_freed_without_recursion():
    def f(x):
        for _ in range(20000):
            x = x + 1
        return x

    assert grad(f)(Tensor([1.0])).asnumpy().tolist() == [1]
    graph = Graph(f, (Tensor([1.0]),), positions=(0,))
    del graph


# ---- state
def test_state_is_restored_after_exceptions():
    w = Parameter(Tensor([1.0]), name="w")
    x = Tensor([2.0])

    def broken(x):
        assert x._node is not None
        assert w._node is not None
        assert recording.depth == 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(broken, 0, w)(x)
    assert not recording.on
    assert recording.depth == 0
    assert x._node is None
    assert w._node is None

    class Broken(Primitive):
        def forward(self, x):
            return x + 1

        def gradient(self, inputs, output, dout):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(lambda x: Broken()(x * w), 0, w)(x)
    assert not recording.on
    assert grad(lambda x: x * w, 0, w)(x)[1].asnumpy().tolist() == [2]


def test_an_inner_exception_leaves_the_outer_gradient_alone():
    def f(x):
        with pytest.raises(ZeroDivisionError):
            grad(lambda y: 1 / 0)(x)
        return x * x

    assert grad(f)(Tensor([3.0])).asnumpy().tolist() == [6]


def test_in_place_changes_of_an_input_outlive_an_inner_gradient():
    def f(x):
        y = x * 1

        def inner(y):
            from dist_ms.autograd.tape import overwrite

            overwrite(y, y * x)
            return y * 2

        grad(inner)(y)
        return y

    assert grad(f)(Tensor([3.0])).asnumpy().tolist() == [6]


def test_a_long_recording_drops_what_no_node_needs_of_parameters():
    weight = Parameter(Tensor([2.0]))
    lengths = []

    def fn(x):
        held = [x * weight for _ in range(300)]  # in use: must stay
        for _ in range(2000):
            _ = x * weight  # its node is gone with the next
            lengths.append(len(recording.tape.kept))
        weight.set_data(Tensor([5.0]))  # the values saved by `held` stay those of the time they were saved
        return sum(held[1:], held[0])

    assert grad(fn)(Tensor([1.0])).asnumpy() == 600
    assert 300 <= max(lengths) <= 900

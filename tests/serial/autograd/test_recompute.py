"""Recomputation gives the gradients it would give without."""

import gc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest

from dist_ms import nn
from dist_ms.autograd.grad import grad, value_and_grad
from dist_ms.autograd.recompute import recompute
from dist_ms.autograd.saved import saved_tensors_hooks
from dist_ms.autograd.tape import recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.random.random_state import get_random_state
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.serial.autograd.shapes import plain

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([5.0, 6.0]), name="w")
        self.runs = 0

    def construct(self, a, *rest, **named):
        self.runs += 1
        return a * self.w


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = Net()
        self.b = Net()

    def construct(self, x):
        return self.b(self.a(x))


def function(fn, *args, **kwargs):
    return recompute(fn, *args, use_reentrant=False, **kwargs)


@pytest.mark.parametrize(
    "call",
    [
        lambda net, a: recompute(net, a),
        lambda net, a: recompute(net, a, 3, None, (1, 2), k=a),
        lambda net, a: recompute(net, a, use_reentrant=False),
        lambda net, a: recompute(net, a, output_recompute=True),
        lambda net, a: recompute(net, a, use_reentrant=False, early_stop=False),
    ],
)
def test_gradients_and_runs(call):
    net = Net()
    assert plain(grad(lambda a: call(net, a), 0, net.w)(X)) == ([5, 6], [1, 2])
    assert net.runs == 2
    assert plain(call(net, X)) == [5, 12]
    assert net.runs == 3


def test_gradients_reach_everything_the_call_reads():
    net, w = Net(), Parameter(Tensor([7.0, 8.0]), name="v")
    assert plain(grad(lambda a: recompute(net, Y) * a, 0, net.w)(X)) == ([15, 24], [3, 8])

    def f(a):
        b = a * 2

        def block(c):
            return b * c * w

        return function(block, a * 3)

    # 6 a^2 w
    assert plain(grad(f, 0, w)(X)) == ([84, 192], [6, 24])


def test_nested_arguments_and_results():
    class Nested(nn.Cell):
        def construct(self, pair, named):
            return pair[0] * pair[1], {"k": [pair[0] + named["z"], None]}

    net = Nested()
    f = lambda a, b: recompute(net, (a, b), {"z": b})  # noqa: E731
    assert plain(f(X, Y)) == ([3, 8], {"k": ["list", [4, 6], None]})
    assert plain(grad(f, (0, 1))(X, Y)) == ([4, 5], [2, 3])
    assert plain(grad(lambda a, b: f(a, b)[1]["k"][0], (0, 1))(X, Y)) == ([1, 1], [1, 1])


def test_a_result_that_is_an_argument_or_a_constant():
    assert plain(grad(lambda a: function(lambda b: (b, Y), a)[0] * a)(X)) == [2, 4]
    assert plain(grad(lambda a: function(lambda b: (b, Y), a)[1] * a)(X)) == [3, 4]
    assert plain(grad(lambda a: function(lambda b: None, a) or a)(X)) == [1, 1]


def test_higher_orders():
    def block(a, b):
        return a * a * b

    check_gradient(lambda a, b: function(block, a * b, b), [1.0, 2.0], [3.0, -1.0], order=3)
    net = Net()
    f = lambda a: recompute(net, a * a * a)  # noqa: E731
    assert plain(grad(grad(f))(X)) == [30, 72]
    assert plain(grad(grad(f), None, net.w)(X)) == [3, 12]


def test_nested_recomputation():
    def inner(a):
        return a * a

    def outer(a):
        return function(inner, a) * function(inner, a * 2)

    # 4 a^4
    assert plain(grad(lambda a: function(outer, a))(X)) == [16, 128]


def test_a_gradient_inside():
    def block(a):
        return grad(lambda b: b * b * b)(a) * a

    assert plain(grad(lambda a: function(block, a))(X)) == [9, 36]


def test_a_gradient_of_a_surrounding_tensor_inside():
    def f(a):
        b = a * 1

        def block(c):
            return grad(lambda d: d * d * d)(b) * c

        return function(block, a)

    assert plain(grad(f)(X)) == [9, 36]


def test_nothing_but_inputs_is_kept():
    class Array(np.ndarray):
        """An array that can be referred to weakly."""

    refs = []

    def block(a):
        for _ in range(3):
            a = a * 2
            array = np.asarray(a.asnumpy()).view(Array)
            a = Tensor(0.0) + a
            a._data = array
            refs.append(weakref.ref(array))
        return a * 3

    gc.collect()
    gc.disable()
    try:
        alive = []

        def f(a):
            b = function(block, a)
            alive.append(sum(r() is not None for r in refs))
            return b

        assert plain(grad(f)(X)) == [24, 24]
        assert alive == [0]
        assert sum(r() is not None for r in refs) == 0
    finally:
        gc.enable()


def test_the_second_run_sees_the_values_of_the_first():
    """What the call or its surroundings change in between does not count."""
    w = Parameter(Tensor([5.0, 6.0]), name="w")

    def block(a):
        b = a * w
        w.set_data(w + 1)
        return b * w

    def f(a):
        b = function(block, a)
        w.set_data(w * 100)
        return b

    plain_w = Parameter(Tensor([5.0, 6.0]), name="w")

    def without(a):
        b = a * plain_w
        plain_w.set_data(plain_w + 1)
        return b * plain_w

    assert plain(grad(f, 0, w)(X)) == plain(grad(without, 0, plain_w)(X))
    assert plain(w) == [600, 700]


def test_what_the_second_run_writes_into_parameters_is_undone():
    mean = Parameter(Tensor([1.0, 1.0]), name="mean", requires_grad=False)
    array = mean.asnumpy()

    def block(a):
        mean.set_data(mean * 10)
        mean.set_data(mean + a)
        return a * a

    assert plain(grad(lambda a: function(block, a))(X)) == [2, 4]
    assert plain(mean) == [11, 12]
    assert mean.asnumpy() is array
    plain_run = Parameter(Tensor([1.0, 1.0]), name="mean", requires_grad=False)
    plain_run.set_data(plain_run * 10)
    plain_run.set_data(plain_run + X)
    assert plain(mean) == plain(plain_run)


def test_random_numbers_are_the_same_in_both_runs():
    def block(a):
        return a * Tensor(np.random.rand(4))

    x = Tensor(np.ones(4))
    np.random.seed(3)
    value, found = value_and_grad(lambda a: function(block, a))(x)
    after = np.random.rand()
    np.testing.assert_array_equal(value.asnumpy(), found.asnumpy())
    np.random.seed(3)
    np.testing.assert_array_equal(np.random.rand(4), value.asnumpy())
    assert np.random.rand() == after


def test_the_second_run_is_marked():
    seen = []

    def block(a):
        seen.append(recording.rerunning)
        return a * 2

    grad(lambda a: function(block, a))(X)
    assert seen == [False, True]
    assert not recording.rerunning


def test_contexts():
    log = []

    @contextmanager
    def context(name):
        log.append(name)
        yield

    net = Net()
    contexts = lambda: (context("first"), context("second"))  # noqa: E731
    grad(lambda a: function(net, a, context_fn=contexts))(X)
    assert log == ["first", "second"]


def test_exceptions_restore_everything():
    class Broken(nn.Cell):
        def __init__(self, when):
            super().__init__()
            self.runs = 0
            self.when = when

        def construct(self, a):
            self.runs += 1
            if self.runs == self.when:
                raise ZeroDivisionError
            return a * a

    state = get_random_state()[0][1].tolist()
    for when in (1, 2):
        x = Tensor([1.0])
        net = Broken(when)
        with pytest.raises(ZeroDivisionError):
            grad(lambda a, net=net: recompute(net, a))(x)
        assert not recording.on
        assert not recording.rerunning
        assert x._node is None
    assert get_random_state()[0][1].tolist() == state


def test_another_number_of_results_is_an_error():
    runs = []

    def block(a):
        runs.append(1)
        return (a * 2,) * len(runs)

    with pytest.raises(RuntimeError, match="the second run must return what the first did, 1 tensors"):
        grad(lambda a: function(block, a))(X)


# ---- marked cells
def test_marked_cells():
    net = Two()
    net.recompute()
    assert plain(grad(net, 0, net.trainable_params())(X)) == ([25, 36], ([5, 12], [5, 12]))
    assert (net.a.runs, net.b.runs) == (2, 2)
    net.a.recompute()
    assert plain(grad(net)(X)) == [25, 36]
    assert (net.a.runs, net.b.runs) == (4, 4)


def test_hooks_and_marked_cells():
    net = Two()
    net.recompute()
    log = []
    net.a.register_backward_hook(lambda cell, g, o: log.append(("inner", plain(g), plain(o))))
    net.register_backward_hook(lambda cell, g, o: (log.append(("outer", plain(o))), g[0] * 2)[1])
    net.register_forward_hook(lambda cell, args, out: log.append("forward"))
    assert plain(grad(net)(X)) == [50, 72]
    assert log == ["forward", ("inner", ([25, 36],), ([5, 6],)), ("outer", ([1, 1],))]


def test_hooks_on_parameters_run_once():
    net = Net()
    seen = []
    net.w.register_hook(lambda g: seen.append(plain(g)))
    assert plain(grad(lambda a: recompute(net, a) + a * net.w, None, net.w)(X)) == [2, 4]
    assert seen == [[2, 4]]


def test_bprop_inside():
    class Own(nn.Cell):
        def construct(self, a):
            return a * a

        def bprop(self, a, out, dout):
            return dout * 100

    own = Own()
    assert plain(grad(lambda a: function(lambda b: own(b) * 2, a))(X)) == [200, 200]
    own.recompute()
    assert plain(grad(own)(X)) == [100, 100]


def test_with_saved_tensors_hooks():
    packed = []

    def f(a):
        with saved_tensors_hooks(lambda t: packed.append(plain(t)) or t, lambda t: t):
            return function(lambda b: b * b * b, a)

    assert plain(grad(f)(X)) == [3, 12]
    assert packed == [[1, 2]]


def test_wrong_blocks():
    for wrong in (lambda a: a, 3):
        with pytest.raises(TypeError, match="only support block which inherited from Cell"):
            recompute(wrong, X)
    with pytest.raises(TypeError, match="'block' must be callable, but got int"):
        function(3, X)

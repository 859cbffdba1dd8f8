"""Cells with a gradient of their own (bprop)."""

from collections import namedtuple

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.autograd.grad import grad
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def cell(construct, bprop, *names, internal=False):
    """A cell with parameters [5, 6] of these names; `seen` gets what bprop is called with."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for name in names:
                setattr(self, name, Parameter(Tensor([5.0, 6.0]), name=name))
            if internal:
                self.internal_params = [getattr(self, name) for name in names]
            self.seen = []

        def bprop(self, *args):
            self.seen.append(plain(args))
            return bprop(self, *args)

    Net.construct = construct
    return Net()


def times(self, a, b):
    return a * b


def test_bprop_gets_inputs_output_and_gradient():
    net = cell(times, lambda self, a, b, out, dout: (a, b * 10))
    assert plain(grad(net, (0, 1))(X, Y)) == ([1, 2], [30, 40])
    assert net.seen == [([1, 2], [3, 4], [3, 8], [1, 1])]
    assert plain(net(X, Y)) == [3, 8]


@pytest.mark.parametrize(
    "construct, outputs, expected",
    [
        (lambda self, a: (a * 2, a * 3), (([2, 4], [3, 6]), ([1, 1], [1, 1])), [1, 1]),
        (lambda self, a: [a * 2, a * 3], (([2, 4], [3, 6]), ([1, 1], [1, 1])), [1, 1]),
        (lambda self, a: (a * 2, 4, None), (([2, 4], 4, None), ([1, 1],)), [1, 1]),
        (lambda self, a: (a * 2,), (([2, 4],), ([1, 1],)), [1, 1]),
        (lambda self, a: (a, (a,)), (([1, 2], ([1, 2],)), ([1, 1], ([1, 1],))), [1, 1]),
        (lambda self, a: {"r": a * 2}, ({"r": [2, 4]}, {"r": [1, 1]}), [1, 1]),
    ],
)
def test_nested_outputs(construct, outputs, expected):
    def bprop(self, a, out, dout):
        return dout[0] if isinstance(dout, tuple) else dout["r"]

    net = cell(construct, bprop)
    assert plain(grad(net)(X)) == expected
    assert net.seen == [([1, 2], *outputs)]


def test_missing_output_gradients_are_zeros():
    net = cell(lambda self, a: (a * 2, a * 3), lambda self, a, out, dout: dout[0] * 10)
    assert plain(grad(lambda a: net(a)[0])(X)) == [10, 10]
    assert net.seen[0][2] == ([1, 1], [0, 0])


def test_named_outputs_stay_named():
    Pair = namedtuple("Pair", "first second")
    net = cell(lambda self, a: Pair(a * 2, a * 3), lambda self, a, out, dout: dout[1] * 10)
    assert plain(grad(lambda a: net(a).second)(X)) == [10, 10]


def test_an_output_that_is_the_input():
    net = cell(lambda self, a: a, lambda self, a, out, dout: dout * 5)
    assert plain(grad(net)(X)) == [5, 5]
    assert plain(grad(lambda a: net(a) + a)(X)) == [6, 6]


@pytest.mark.parametrize(
    "construct, args, bprop, position, expected",
    [
        (times, (X, 2.0), lambda self, a, k, out, dout: (dout, 7.0), (0, 1), [1, 1]),
        (lambda self, a, b: b * 2, (None, Y), lambda s, *a: (None, a[-1] * 9), (0, 1), [9, 9]),
        (times, (X, Y), lambda self, *a: (a[0], None), (0, 1), ([1, 2], [0, 0])),
        (times, (X, Y), lambda self, *a: [a[0], a[1]], (0, 1), ([1, 2], [3, 4])),
        (times, (X, Y), lambda self, *a: (a[0], a[1], 3), (0, 1), ([1, 2], [3, 4])),
        (lambda self, a: a * 2, (X,), lambda self, *a: Y, 0, [3, 4]),
    ],
)
def test_forms_of_gradients(construct, args, bprop, position, expected):
    assert plain(grad(cell(construct, bprop), position)(*args)) == expected


def test_gradients_are_fitted_to_their_inputs():
    wide = cell(times, lambda self, *a: (Tensor([[1.0, 2.0], [1.0, 1.0]]), Y))
    assert plain(grad(wide, (0, 1))(X, Y)) == ([2, 3], [3, 4])
    kept = cell(times, lambda self, *a: (Tensor([[1.0, 2.0]]), Y))
    assert plain(grad(kept)(Tensor([[3.0]]), Y)) == [[3]]
    other_type = cell(times, lambda self, *a: (Tensor([1, 2]), Y))
    found = grad(other_type)(X, Y)
    assert (found.dtype, plain(found)) == (ms.float32, [1, 2])


def test_keyword_arguments_and_defaults_are_inputs():
    def construct(self, a, b=None, k=3.0):
        return a * b * k

    net = cell(construct, lambda self, a, b, k, out, dout: (dout * 10, dout * 20, None))
    assert plain(grad(lambda a, b: net(a, b=b), (0, 1))(X, Y)) == ([10, 10], [20, 20])
    assert net.seen == [([1, 2], [3, 4], 3.0, [9, 24], [1, 1])]


def test_tensors_in_nested_inputs():
    def construct(self, pair, named):
        return pair[0] * pair[1] * named["k"]

    def bprop(self, pair, named, out, dout):
        return (dout * 10, dout * 20), {"k": dout * 30}

    net = cell(construct, bprop)
    f = lambda a, b: net((a * 1, b * 1), {"k": a * 1})  # noqa: E731
    assert plain(grad(f, (0, 1))(X, Y)) == ([40, 40], [20, 20])


# ---- parameters
def test_parameters_inside_get_no_gradient():
    net = cell(lambda self, a: a * self.w, lambda self, a, out, dout: dout * self.w, "w")
    assert plain(grad(net, 0, net.w)(X)) == ([5, 6], [0, 0])
    assert plain(grad(lambda a: net(Y) * a, 0, net.w)(X)) == ([15, 24], [0, 0])
    assert len(net.seen) == 1


def test_internal_parameters():
    def bprop(self, *args):
        return (self.w * args[-1],), {self.w: args[0] * args[-1]}

    net = cell(lambda self, a: a * self.w, bprop, "w", internal=True)
    assert plain(grad(net, 0, net.w)(X)) == ([5, 6], [1, 2])
    assert plain(grad(net, None, net.w)(X)) == [1, 2]
    assert plain(grad(lambda a: net(net(a)), 0, net.w)(X)) == ([25, 36], [10, 24])
    assert plain(grad(lambda a: net(Y), None, net.w)(X)) == [3, 4]
    net.w.requires_grad = False
    assert plain(grad(net, 0, net.w)(X)) == ([5, 6], [0, 0])


def test_forms_of_internal_gradients():
    def net(weights, internal=True):
        return cell(
            lambda self, a: a * self.w,
            lambda self, *args: ((args[-1],), weights(self)),
            "w",
            internal=internal,
        )

    by_name = net(lambda self: {"w": X})
    assert plain(grad(by_name, 0, by_name.w)(X)) == ([1, 1], [1, 2])
    none = net(lambda self: {self.w: None})
    assert plain(grad(none, 0, none.w)(X)) == ([1, 1], [0, 0])
    not_internal = net(lambda self: {self.w: X}, internal=False)
    assert plain(grad(not_internal, 0, not_internal.w)(X)) == ([1, 1], [0, 0])


# ---- nesting
def test_the_outermost_bprop_counts():
    inner = cell(lambda self, a: a * a, lambda self, a, out, dout: dout * 100)
    outer = cell(lambda self, a: inner(a) * 2, lambda self, a, out, dout: dout * 7)
    assert plain(grad(outer)(X)) == [7, 7]
    assert inner.seen == []
    assert plain(grad(lambda a: inner(a) * 2)(X)) == [200, 200]


def test_bprop_is_differentiated_for_the_second_order():
    net = cell(lambda self, a: a * a * a, lambda self, a, out, dout: a * a * dout)
    assert plain(grad(grad(net))(X)) == [2, 4]
    by_output = cell(lambda self, a: a * a, lambda self, a, out, dout: out * dout)
    assert plain(grad(grad(by_output))(X)) == [1, 4]


def test_a_gradient_inside_bprop():
    def bprop(self, a, out, dout):
        return grad(lambda q: q * q * q)(a) * dout

    net = cell(lambda self, a: a * a, bprop)
    assert plain(grad(net)(X)) == [3, 12]
    assert plain(grad(grad(net))(X)) == [6, 12]


def test_backward_hooks_around_bprop():
    net = cell(lambda self, a: a * 2, lambda self, a, out, dout: dout * 3)
    order = []
    net.register_backward_pre_hook(lambda cell, g: order.append(("pre", plain(g))))
    net.register_backward_hook(lambda cell, g, o: order.append(("hook", plain(g), plain(o))))
    assert plain(grad(net)(X)) == [3, 3]
    assert order == [("pre", ([1, 1],)), ("hook", ([3, 3],), ([1, 1],))]


def test_bprop_debug_may_be_set():
    net = cell(times, lambda self, a, b, out, dout: (a, b))
    net.bprop_debug = True
    assert plain(grad(net)(X, Y)) == [1, 2]


# ---- errors
@pytest.mark.parametrize(
    "result, error, match",
    [
        ((X,), RuntimeError, "Grad size should lager than forward inputs, but got 1 vs 2"),
        (X, RuntimeError, "but got 1 vs 2: the bprop of 'Net' must return one gradient per input"),
        ((), RuntimeError, "but got 0 vs 2"),
        (None, TypeError, "The python function output is none"),
        ((Tensor([1.0, 2.0, 3.0]), Y), RuntimeError, r"expected shape, but got \[3\] vs \[2\]"),
        ((Tensor([1.0]), Y), RuntimeError, "should be broadcast to expected shape"),
        ((3, Y), RuntimeError, "should be broadcast to expected shape"),
        ((np.ones(2), Y), TypeError, "Unreasonable data type.*ndarray"),
        (("s", Y), TypeError, "Unreasonable data type.*str"),
    ],
)
def test_wrong_gradients(result, error, match):
    with pytest.raises(error, match=match):
        grad(cell(times, lambda self, *args: result))(X, Y)


def test_wrong_internal_gradients():
    def net(*weights):
        return cell(lambda self, a: a * self.w * self.v, lambda *a: (X, *weights), "w", "v", internal=True)

    with pytest.raises(RuntimeError, match="but got 1 vs 3.*internal parameter 'w'"):
        grad(net())(X)
    with pytest.raises(RuntimeError, match="but got 2 vs 3.*internal parameter 'v'"):
        grad(net({"w": X}))(X)
    with pytest.raises(RuntimeError, match="should be broadcast to expected shape"):
        grad(net({"w": X, "v": Tensor([1.0, 2.0, 3.0])}))(X)


def test_exceptions_pass_through():
    with pytest.raises(ZeroDivisionError):
        grad(cell(times, lambda self, *args: 1 / 0))(X, Y)
    with pytest.raises(TypeError, match="takes 3 positional arguments but 5 were given"):
        grad(cell(times, lambda self, a, dout: a))(X, Y)

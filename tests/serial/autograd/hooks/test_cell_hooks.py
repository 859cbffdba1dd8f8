"""Hooks of cells: what they see and change, their order, their errors."""

import pytest

from dist_ms import nn
from dist_ms.autograd.grad import grad, value_and_grad
from dist_ms.autograd.tape import no_grad, stop_gradient
from dist_ms.common.jit import jit
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.w = Parameter(Tensor([5.0, 6.0]), name="w")
        self.function = function

    def construct(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


class Hooked(Net):
    """A cell whose hooks note what they get."""

    def __init__(self, function, log, change=None, pre_change=None):
        super().__init__(function)

        def hook(cell, grad_input, grad_output):
            assert cell is self
            log.append(("hook", plain(grad_input), plain(grad_output)))
            return None if change is None else change(grad_input)

        def pre_hook(cell, grad_output):
            assert cell is self
            log.append(("pre", plain(grad_output)))
            return None if pre_change is None else pre_change(grad_output)

        self.register_backward_hook(hook)
        self.register_backward_pre_hook(pre_hook)


def times(self, a, b):
    return a * b


def test_hooks_see_tuples_of_gradients(x, y, log):
    net = Hooked(times, log)
    assert plain(grad(net, (0, 1))(x, y)) == ([3, 4], [1, 2])
    assert log == [("pre", ([1, 1],)), ("hook", ([3, 4], [1, 2]), ([1, 1],))]


def test_nothing_is_called_without_a_gradient(x, y, log):
    Hooked(times, log)(x, y)
    assert log == []


@pytest.mark.parametrize("wrapped", [False, True])
def test_hooks_change_gradients(x, y, log, wrapped):
    pre = (lambda g: (g[0] * 3,)) if wrapped else (lambda g: g[0] * 3)
    net = Hooked(times, log, lambda g: tuple(v * 2 for v in g), pre)
    assert plain(grad(net, (0, 1))(x, y)) == ([18, 24], [6, 12])
    assert log == [("pre", ([1, 1],)), ("hook", ([9, 12], [3, 6]), ([3, 3],))]


@pytest.mark.parametrize(
    "function, call, expected",
    [
        # one entry per tensor argument; what needs no gradient has None
        (times, lambda net, a, b: net(a, Tensor([7.0, 7.0])), ([7, 7], None)),
        (lambda self, a, k: a * k, lambda net, a, b: net(a, 3), ([3, 3],)),
        (lambda self, a, b: a * 2, lambda net, a, b: net(a, b), ([2, 2], None)),
        (lambda self, a, b=None: a * b, lambda net, a, b: net(a, b=b), ([3, 4],)),
        (lambda self, a=None: a * 2, lambda net, a, b: net(a=a), (None,)),
        (lambda self, p: p[0] * 2, lambda net, a, b: net((a, b)), (None,)),
        (times, lambda net, a, b: net(a, a), ([1, 2], [1, 2])),
        (lambda self, a: a, lambda net, a, b: net(a), ([1, 1],)),
    ],
)
def test_gradients_of_inputs(x, y, log, function, call, expected):
    net = Hooked(function, log)
    grad(lambda a, b: call(net, a, b), (0, 1))(x, y)
    assert log == [("pre", ([1, 1],)), ("hook", expected, ([1, 1],))]


@pytest.mark.parametrize(
    "function, take, expected",
    [
        (lambda self, a: (a * 2, a * 3), lambda r: r[0], ([1, 1], None)),
        (lambda self, a: (a * 2, 3, None), lambda r: r[0], ([1, 1],)),
        (lambda self, a: (a * 2, (a, a)), lambda r: r[0], ([1, 1],)),
        (lambda self, a: [a * 2, a], lambda r: r[0], ([1, 1], None)),
        (lambda self, a: {"k": a * 2, "z": a}, lambda r: r["k"], ([1, 1], None)),
    ],
)
def test_gradients_of_outputs(x, log, function, take, expected):
    net = Hooked(function, log)
    found = grad(lambda a: take(net(a)))(x)
    assert plain(found) == [2, 2]
    assert log == [("pre", expected), ("hook", ([2, 2],), expected)]


def test_the_nesting_of_outputs_stays(x, log):
    for result in (lambda a: ((a,),), lambda a: (a, 3, "s", [a]), lambda a: {"k": (a, None)}):
        net = Hooked(lambda self, a, result=result: result(a * 2), log)
        value, _ = value_and_grad(net)(x)
        assert plain(value) == plain(result(x * 2))


def test_hooks_fire_for_the_sake_of_parameters(x, log):
    net = Hooked(lambda self, a: a * self.w, log, pre_change=lambda g: g[0] * 10)
    assert plain(grad(net, None, net.w)(x)) == [10, 20]
    assert log == [("pre", ([1, 1],)), ("hook", (None,), ([10, 10],))]
    log.clear()
    cut = Hooked(lambda self, a: stop_gradient(a) * self.w, log)
    assert plain(grad(cut, 0, cut.w)(x)) == ([0, 0], [1, 2])
    assert log == [("pre", ([1, 1],)), ("hook", (None,), ([1, 1],))]
    log.clear()
    no_input = Hooked(lambda self: self.w * 1, log)
    assert plain(grad(no_input, None, no_input.w)()) == [1, 1]
    assert log == [("pre", ([1, 1],)), ("hook", (None,), ([1, 1],))]


def test_hooks_without_a_gradient_through_the_cell(x, y, log):
    net = Hooked(lambda self, a: stop_gradient(a) * 2, log)
    grad(lambda a: net(a) * a)(x)
    net = Hooked(lambda self, a: a * self.w, log)
    grad(lambda a, b: net(y) * a)(x, x)
    grad(lambda a: (net(a), a)[1])(x)

    def without(a):
        with no_grad():
            z = net(a)
        return z * a

    grad(without)(x)
    assert log == []


def test_order_of_nested_cells(x):
    order = []

    def named(name, function):
        net = Net(function)
        net.register_backward_pre_hook(lambda cell, g: order.append(name + " pre"))
        net.register_backward_hook(lambda cell, g, o: order.append(name + " hook"))
        return net

    child = named("child", lambda self, a: a * self.w)
    parent = named("parent", lambda self, a: child(a) * 3)
    expected = ["parent pre", "child pre", "child hook", "parent hook"]
    grad(parent)(x)
    assert order == expected
    order.clear()
    grad(parent, None, child.w)(x)
    assert order == expected
    order.clear()
    grad(lambda a: child(child(a)))(x)
    assert order == ["child pre", "child hook"] * 2


def test_several_hooks_chain(x):
    net = Net(lambda self, a: a * 2)
    for _ in range(2):
        net.register_backward_hook(lambda cell, g, o: g[0] * 4)
        handle = net.register_backward_pre_hook(lambda cell, g: g[0] * 3)
    assert plain(grad(net)(x)) == [288, 288]
    handle.remove()
    handle.remove()
    assert plain(grad(net)(x)) == [96, 96]


def test_second_order_through_hooks(x):
    net = Net(lambda self, a: a * a * a)
    net.register_backward_hook(lambda cell, g, o: g[0] * 2)
    assert plain(grad(grad(net))(x)) == [2 * 2 * 6, 2 * 2 * 12]


@pytest.mark.parametrize(
    "change, error, match",
    [
        (lambda g: g[0], TypeError, "backward hook return value size is 1 not equal to expect grad input size 2"),
        (lambda g: list(g), TypeError, "backward hook return value size is 1"),
        (lambda g: (3, 3), TypeError, "should be a tensor but got int"),
        (lambda g: (None, g[1]), TypeError, "should be a tensor but got NoneType"),
        (lambda g: (Tensor([1.0]), g[1]), ValueError, r"the shape must be \(2,\), but got \(1,\)"),
        (lambda g: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_backward_hook_errors(x, y, log, change, error, match):
    with pytest.raises(error, match=match):
        grad(Hooked(times, log, change), (0, 1))(x, y)


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda g: (g[0], g[0]), "backward pre hook return value size is 2 not equal to expect output size 1"),
        (lambda g: 3, "should be a tensor but got int"),
        (lambda g: [g[0]], "should be a tensor but got list"),
        (lambda g: (None,), "should be a tensor but got NoneType"),
    ],
)
def test_backward_pre_hook_errors(x, y, log, change, match):
    with pytest.raises(TypeError, match=match):
        grad(Hooked(times, log, None, change))(x, y)


def test_jit_functions_are_no_hooks(x):
    with pytest.raises(TypeError, match="Decorating hook function <lambda> with '@jit' is not supported"):
        Net(times).register_backward_hook(jit(lambda *args: None))
    with pytest.raises(TypeError, match="with '@jit' is not supported"):
        x.register_hook(jit(lambda g: g))

"""Cells with their own gradient, `bprop`."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn, ops
from tests.gradcheck import check_gradient
from tests.serial.nn.cell.cells import Double, numbers, tensor


class Product(nn.Cell):
    """x * y, with the gradient that a function gives."""

    def __init__(self, gradient):
        super().__init__()
        self.gradient = gradient

    def construct(self, x, y):
        return x * y

    def bprop(self, x, y, out, dout):
        return self.gradient(x, y, out, dout)


class Linear(nn.Cell):
    """w * x, whose bprop also gives the gradient of w."""

    def __init__(self, gradient=None):
        super().__init__()
        self.w = Parameter(tensor(3), name="w")
        self.internal_params = [self.w]
        self.gradient = gradient or (lambda w, x, dout: ((dout * w,), {w: dout * x}))

    def construct(self, x):
        return x * self.w

    def bprop(self, x, out, dout):
        return self.gradient(self.w, x, dout)


class Softplus(nn.Cell):
    """log(1 + exp(x)), without overflow, and its gradient in closed form."""

    def construct(self, x):
        return ops.maximum(x, Tensor(0.0, x.dtype)) + ops.log1p(ops.exp(-ops.abs(x)))

    def bprop(self, x, out, dout):
        return (dout * ops.sigmoid(x),)


def test_bprop_replaces_the_gradient():
    net = Product(lambda x, y, out, dout: (dout * 10, dout * 20))
    assert numbers(net(tensor(2), tensor(3))) == [6.0]
    assert numbers(ms.grad(net, (0, 1))(tensor(2), tensor(3))) == ([10.0], [20.0])


def test_a_closed_form_agrees_with_finite_differences():
    check_gradient(Softplus(), np.array([-3.0, -0.5, 0.7, 4.0]), order=2)


def test_bprop_inside_a_network_and_its_training():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 2, weight_init="ones")
            self.act = Softplus()

        def construct(self, x):
            return self.act(self.dense(x)).sum()

    net = Net()
    x = Tensor(np.array([[0.1, 0.2, -0.3]], np.float32))
    own = ms.grad(net, None, net.trainable_params())(x)
    net.act = Reference()
    plain = ms.grad(net, None, net.trainable_params())(x)
    for a, b in zip(own, plain):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)


class Reference(nn.Cell):
    """The same function with the gradient of its operations."""

    def construct(self, x):
        return ops.log(1 + ops.exp(x))


@pytest.mark.parametrize(
    "gradient, expected",
    [
        (lambda x, y, out, dout: (dout, None), ([1.0], [0.0])),
        (lambda x, y, out, dout: [dout, dout], ([1.0], [1.0])),
        (lambda x, y, out, dout: (dout, dout, dout), ([1.0], [1.0])),
        (lambda x, y, out, dout: (Tensor([[5.0]]), dout), ([5.0], [1.0])),
        (lambda x, y, out, dout: (tensor(1, 2), dout), ([3.0], [1.0])),
        (lambda x, y, out, dout: (Tensor([5], ms.int32), dout), ([5.0], [1.0])),
        (lambda x, y, out, dout: (out, y), ([6.0], [3.0])),
    ],
)
def test_what_bprop_may_return(gradient, expected):
    grads = ms.grad(Product(gradient), (0, 1))(tensor(2), tensor(3))
    assert numbers(grads) == expected and {g.dtype for g in grads} == {ms.float32}


@pytest.mark.parametrize(
    "gradient, error, match",
    [
        (lambda x, y, out, dout: (dout,), RuntimeError, "Grad size should lager than forward inputs, but got 1 vs 2"),
        (lambda x, y, out, dout: dout, RuntimeError, "Grad size should lager than forward inputs, but got 1 vs 2"),
        (lambda x, y, out, dout: None, TypeError, "The python function output is none"),
        (lambda x, y, out, dout: (Tensor(5.0), dout), RuntimeError, "should be broadcast to expected shape"),
        (lambda x, y, out, dout: ("s", dout), TypeError, "Unreasonable data type"),
        (lambda x, y, out, dout: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_what_bprop_must_not_return(gradient, error, match):
    with pytest.raises(error, match=match):
        ms.grad(Product(gradient), (0, 1))(tensor(2), tensor(3))


def test_bprop_is_called_with_all_arguments_in_order():
    seen = []

    class Many(nn.Cell):
        def construct(self, x, k=3, *, m=4):
            return x * k, x + 1

        def bprop(self, *args):
            seen.append(numbers(list(args)))
            return args[0], None, None

    net = Many()
    assert numbers(ms.grad(lambda x: net(x)[0])(tensor(2))) == [2.0]
    assert numbers(ms.grad(lambda x: net(x, m=5)[1])(tensor(2))) == [2.0]
    assert numbers(ms.grad(lambda x: net(x=x, k=7)[1])(tensor(2))) == [2.0]
    out = ([6.0], [3.0])
    assert seen == [
        [[2.0], 3, 4, out, ([1.0], [0.0])],
        [[2.0], 3, 5, out, ([0.0], [1.0])],
        [[2.0], 7, 4, ([14.0], [3.0]), ([0.0], [1.0])],
    ]


def test_bprop_with_any_number_of_inputs():
    class All(nn.Cell):
        def construct(self, *xs):
            return xs[0] * xs[1]

        def bprop(self, *args):
            *xs, _, dout = args
            return tuple(dout * i for i, _ in enumerate(xs, 2))

    assert numbers(ms.grad(All(), (0, 1))(tensor(2), tensor(3))) == ([2.0], [3.0])


def test_parameters_inside_have_no_gradient_unless_bprop_gives_it():
    class Plain(Linear):
        def __init__(self):
            super().__init__(lambda w, x, dout: (dout * 100,))
            self.internal_params = []

    net = Plain()
    assert numbers(ms.grad(net, 0, net.trainable_params())(tensor(2))) == ([100.0], ([0.0],))
    net = Linear()
    assert numbers(ms.grad(net, 0, net.trainable_params())(tensor(2))) == ([3.0], ([2.0],))


def test_internal_parameters_are_trained():
    net = Linear()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.25))
    assert numbers(step(tensor(2))) == [6.0]
    assert numbers(net.w) == [2.5]


def test_a_cell_with_internal_parameters_used_twice():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.part = Linear()

        def construct(self, x):
            return self.part(x) * 2 + self.part(x * x)

    net = Twice()
    assert numbers(ms.grad(net, 0, net.trainable_params())(tensor(2))) == ([18.0], ([8.0],))


def test_internal_gradients_must_be_complete():
    net = Linear(lambda w, x, dout: ((dout,), {}))
    with pytest.raises(RuntimeError, match="no gradient of the internal parameter 'w'"):
        ms.grad(net, 0, net.trainable_params())(tensor(2))
    net = Linear(lambda w, x, dout: ((dout,), {w: None}))
    assert numbers(ms.grad(net, 0, net.trainable_params())(tensor(2))) == ([1.0], ([0.0],))


def test_the_outer_bprop_counts():
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Product(lambda x, y, out, dout: (dout * 7, dout * 8))

        def construct(self, x, y):
            return self.inner(x, y) * x

    class Own(Outer):
        def bprop(self, x, y, out, dout):
            return ms.grad(self.inner, (0, 1))(x, y)

    assert numbers(ms.grad(Outer(), (0, 1))(tensor(2), tensor(3))) == ([20.0], [16.0])  # 7 x + x y, 8 x
    assert numbers(ms.grad(Own(), (0, 1))(tensor(2), tensor(3))) == ([7.0], [8.0])


def test_bprop_of_bprop():
    class Cube(nn.Cell):
        def construct(self, x):
            return x * x * x

        def bprop(self, x, out, dout):
            return (3 * x * x * dout,)

    net = Cube()
    assert numbers(ms.grad(ms.grad(net))(tensor(2))) == [12.0]
    assert numbers(ms.grad(ms.grad(ms.grad(net)))(tensor(2))) == [6.0]


def test_outputs_in_a_dict():
    class Named(nn.Cell):
        def construct(self, x):
            return {"double": x * 2, "self": x}

        def bprop(self, x, out, dout):
            return (out["double"] * 10 + dout["self"],)

    assert numbers(ms.grad(lambda x: Named()(x)["self"])(tensor(2))) == [41.0]


def test_hooks_around_bprop():
    net, seen = Product(lambda x, y, out, dout: (dout * 10, dout * 20)), []
    net.register_forward_pre_hook(lambda cell, args: seen.append("pre"))
    net.register_forward_hook(lambda cell, args, out: seen.append("forward"))
    net.register_backward_pre_hook(lambda cell, grads: grads[0] * 2)
    net.register_backward_hook(lambda cell, into, out: (into[0] * 3, into[1]))
    assert numbers(ms.grad(net, (0, 1))(tensor(2), tensor(3))) == ([60.0], [40.0])
    assert seen == ["pre", "forward"]


def test_writes_inside_construct_stay():
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = Parameter(Tensor(0.0), name="calls", requires_grad=False)

        def construct(self, x):
            ops.assign(self.calls, self.calls + 1)
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 9,)

    net = Counter()
    net(tensor(1))
    assert numbers(ms.grad(net)(tensor(1))) == [9.0] and numbers(net.calls) == 2.0


def test_the_debug_flag():
    net = Product(lambda x, y, out, dout: (dout, dout))
    assert net.bprop_debug is False and net.has_bprop is True and Double().has_bprop is False
    net.bprop_debug = True
    assert net.bprop_debug is True
    assert numbers(ms.grad(net)(tensor(2), tensor(3))) == [1.0]
    with pytest.raises(TypeError, match="'bprop_debug' must be bool type, but got type <class 'int'>"):
        net.bprop_debug = 1

"""GradOperation: what it returns and refuses, as MindSpore 2.10 does."""

import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.autograd.grad_operation import GradOperation
from dist_ms.common.mutables import mutable
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def mul(a, b):
    return a * b


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 2.0]), name="w")
        self.v = Parameter(Tensor([3.0, 3.0]), name="v", requires_grad=False)

    def construct(self, a):
        return a * self.w * self.v


def test_first_input():
    assert plain(GradOperation()(mul)(X, Y)) == [3, 4]
    assert GradOperation()(lambda: X)() == ()
    assert GradOperation()(mul)(2.0, X) == ()


def test_get_all():
    get_all = GradOperation(get_all=True)
    assert plain(get_all(mul)(X, Y)) == ([3, 4], [1, 2])
    assert plain(get_all(lambda a: a * 2)(X)) == ([2, 2],)
    assert plain(get_all(lambda a, b, c: a * b)(X, 2.0, Y)) == ([2, 2], [0, 0])
    assert get_all(lambda: X)() == ()
    assert plain(get_all(lambda a, b: a[0] * b)((X, X), Y)) == ([1, 2],)
    found = get_all(lambda a, b: a[0] * b)(mutable((X, X)), Y)
    assert plain(found) == (([3, 4], [0, 0]), [1, 2])
    assert plain(get_all(lambda a, b=None: a * b)(X, b=Y)) == ([3, 4], [1, 2])


def test_get_by_list():
    w = Parameter(Tensor([5.0, 6.0]), name="w")
    u = Parameter(Tensor([7.0, 8.0]), name="u")

    def f(a, b):
        return a * b * w

    by_list = GradOperation(get_by_list=True)
    assert plain(by_list(f, w)(X, Y)) == [3, 8]
    assert plain(by_list(f, [w])(X, Y)) == ([3, 8],)
    assert plain(by_list(f, ParameterTuple([w, u]))(X, Y)) == ([3, 8], [0, 0])
    both = GradOperation(True, True)
    assert plain(both(f, [w, u])(X, Y)) == (([15, 24], [5, 12]), ([3, 8], [0, 0]))
    assert plain(both(f, w)(X, Y)) == (([15, 24], [5, 12]), [3, 8])
    assert plain(GradOperation()(f, [w])(X, Y)) == [15, 24]


def test_a_cell_has_weights_of_its_own():
    net = Net()
    gradient = GradOperation(get_by_list=True)(net)
    assert plain(gradient(X)) == ([3, 6],)
    net.v.requires_grad = True
    assert plain(gradient(X)) == ([3, 6], [2, 4])


def test_sens():
    s = Tensor([10.0, 100.0])
    assert plain(GradOperation(sens_param=True)(mul)(X, Y, s)) == [30, 400]
    assert plain(GradOperation(sens_param=True)(mul)(X, Y, sens=s)) == [30, 400]
    assert plain(GradOperation(True, sens_param=True)(mul)(X, Y, s)) == ([30, 400], [10, 200])
    with pytest.raises(ValueError, match="shape of the sens gradient"):
        GradOperation(sens_param=True)(mul)(X, Y, Tensor([[10.0]]))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        GradOperation(sens_param=True)(mul)(X, Y)


class Step(nn.Cell):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.gradient = GradOperation(sens_param=True)

    def construct(self, a, s):
        return self.gradient(lambda a: a * a if self.shape == (2,) else (a * a).sum().reshape(self.shape))(a, s)


@pytest.mark.parametrize(
    ("shape", "sens", "compiled", "eager"),
    [
        ((1,), 5.0, [10, 20], None),
        ((), [5.0], [10, 20], [10, 20]),
        ((1,), [[5.0]], [10, 20], None),
        ((1, 1), 5.0, [10, 20], None),
        ((2,), 5.0, [10, 20], None),
        ((2,), [5.0], [10, 20], None),
        ((2,), [5.0, 1.0, 1.0], None, None),
        ((1,), [5.0, 1.0], None, None),
    ],
)
def test_sens_broadcasts_where_mindspore_compiles(shape, sens, compiled, eager):
    mode = ms.get_context("mode")
    try:
        for wanted, chosen in ((compiled, ms.GRAPH_MODE), (eager, ms.PYNATIVE_MODE)):
            ms.set_context(mode=chosen)
            if wanted is None:
                with pytest.raises(ValueError, match="shape of the sens gradient"):
                    Step(shape)(X, Tensor(sens, ms.float32))
            else:
                assert plain(Step(shape)(X, Tensor(sens, ms.float32))) == wanted
    finally:
        ms.set_context(mode=mode)


def test_second_order():
    twice = GradOperation()(GradOperation()(lambda a: a * a * a))
    assert plain(twice(X)) == [6, 12]


@pytest.mark.parametrize("flag", ["get_all", "get_by_list", "sens_param"])
def test_flags_are_bools(flag):
    with pytest.raises(TypeError, match=f"the '{flag}' should be bool, but got int"):
        GradOperation(**{flag: 1})


def test_wrong_arguments():
    with pytest.raises(TypeError, match="'fn' must be a Cell or a function, but got int"):
        GradOperation()(3)
    with pytest.raises(TypeError, match="'weights' must be given"):
        GradOperation(get_by_list=True)(mul)
    with pytest.raises(TypeError, match="expected to be a Parameter"):
        GradOperation(get_by_list=True)(mul, "w")

"""grad, value_and_grad, get_grad: what they return and refuse, as MindSpore 2.10 does."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.autograd.grad import get_grad, grad, value_and_grad
from dist_ms.autograd.tape import recording
from dist_ms.common.mutables import mutable
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.serial.autograd.shapes import plain

X, Y = [1.0, 2.0], [3.0, 4.0]
DX, DY = [3.0, 4.0], [1.0, 2.0]  # gradients of x * y


@pytest.fixture
def x():
    return Tensor(X)


@pytest.fixture
def y():
    return Tensor(Y)


@pytest.fixture
def w():
    return Parameter(Tensor([5.0, 6.0]), name="w")


@pytest.fixture
def u():
    return Parameter(Tensor([7.0, 8.0]), name="u")


@pytest.fixture
def frozen():
    return Parameter(Tensor([9.0, 9.0]), name="frozen", requires_grad=False)


def mul(a, b):
    return a * b


# ---- positions
@pytest.mark.parametrize(
    "position, expected",
    [(0, DX), (1, DY), ((0,), DX), ((1, 0), (DY, DX)), ((0, 1), (DX, DY)), (True, DY)],
)
def test_positions(x, y, position, expected):
    assert plain(grad(mul, position)(x, y)) == expected


@pytest.mark.parametrize(
    "fn, position, args, expected",
    [
        (lambda a: a * 2, 0, (3.0,), ()),
        (mul, (0, 1), (2.0, Tensor(X)), [2.0, 2.0]),
        (mul, 0, (2.0, Tensor(X)), ()),
        (lambda a, b: a[0] * b, (0, 1), ((Tensor(X), 1), Tensor(Y)), X),
        (lambda a, b: a[0] * b, 0, ((Tensor(X), 1), Tensor(Y)), ()),
        (lambda a, b: a[0] * b, 0, ([Tensor(X)], Tensor(Y)), ()),
        (lambda a, b: a["k"] * b, 0, ({"k": Tensor(X)}, Tensor(Y)), ()),
        (lambda a, b: b * 2, 0, (None, Tensor(Y)), ()),
        (lambda a, b: b * 2, (0, 1), (None, Tensor(Y)), [2.0, 2.0]),
        (lambda: Tensor(X) * 2, 0, (), ()),
    ],
)
def test_arguments_that_are_no_tensors_have_no_gradient(fn, position, args, expected):
    assert plain(grad(fn, position)(*args)) == expected


def test_keyword_arguments_follow_the_positional_ones_as_given(x, y):
    def f(a, b=None):
        return a * b * b

    assert plain(grad(f)(x, b=y)) == [9, 16]
    assert plain(grad(f, (0, 1))(x, b=y)) == ([9, 16], [6, 16])
    assert plain(grad(f)(b=y, a=x)) == [6, 16]


@pytest.mark.parametrize(
    "fn, expected",
    [
        (lambda a: (a * 2, a * 3, 3, "s", None, slice(0, 1)), [5, 5]),
        (lambda a: (a * 2, (a * 3, [a * 4])), [9, 9]),
        (lambda a: {"a": a * 2, "b": a * 5}, [7, 7]),
        (lambda a: [a * 2, a * 5], [7, 7]),
        (lambda a: a, [1, 1]),
        (lambda a: 3, [0, 0]),
        (lambda a: None, [0, 0]),
        (lambda a: Tensor(3.0), [0, 0]),
    ],
)
def test_all_outputs_count(x, fn, expected):
    assert plain(grad(fn)(x)) == expected


def test_types_of_gradients_are_those_of_the_inputs(y):
    i = Tensor([2, 3], ms.int32)
    found = grad(lambda a: a * a)(i)
    assert (found.dtype, plain(found)) == (ms.int32, [4, 6])
    found = grad(mul, (0, 1))(i, y)
    assert [g.dtype for g in found] == [ms.int32, ms.float32]
    assert plain(found) == ([3, 4], [2, 3])
    found = grad(lambda a: a)(Tensor([True]))
    assert (found.dtype, plain(found)) == (ms.bool_, [True])


def test_unused_inputs_have_zero_gradients():
    a, b = Tensor([[1.0, 2.0]], ms.float16), Tensor(3.0)
    found = grad(lambda a, b: b * 2, (0, 1))(a, b)
    assert (found[0].dtype, plain(found)) == (ms.float16, ([[0, 0]], 2))


def test_the_gradient_is_with_respect_to_the_tensor_object(x):
    assert plain(grad(mul, (0, 1))(x, x)) == ([2, 4], [2, 4])
    assert plain(grad(lambda a: a * x)(x)) == [2, 4]
    assert plain(grad(lambda a: grad(lambda b: b * b * a)(a))(x)) == [6, 12]
    assert plain(grad(lambda a: grad(lambda b: b * b * a)(a * 1))(x)) == [4, 8]


# ---- mutable
def test_mutable_containers_are_differentiated(x, y):
    assert plain(grad(lambda a, b: a[0] * b)(mutable((x, y)), Tensor(Y))) == (DX, [0, 0])
    assert plain(grad(lambda a, b: a[0] * b)(mutable([x, y]), Tensor(Y))) == ["list", DX, [0, 0]]
    found = grad(lambda a, b: a["k"] * b, (0, 1))(mutable({"k": x, "z": y}), Tensor(Y))
    assert plain(found) == ({"k": DX, "z": [0, 0]}, DY)
    found = grad(lambda a, b: a[0][1] * b)(mutable(((x, y), 3.0, y)), x)
    assert plain(found) == (([0, 0], X), 0.0, [0, 0])


def test_a_tensor_in_a_mutable_container_is_apart(x):
    assert plain(grad(lambda a, b: a[0] * b, (0, 1))(mutable((x, x)), x)) == ((X, [0, 0]), X)


def test_mutable_numbers_have_the_gradient_zero(y):
    assert grad(mul)(mutable(2.0), y) == 0.0
    found = grad(mul, (0, 1))(mutable(2), y)
    assert (found[0], plain(found[1])) == (0, [2, 2])


# ---- weights
def test_forms_of_weights(x, y, w, u, frozen):
    def f(a, b):
        return a * b * w

    assert plain(grad(f, None, w)(x, y)) == [3, 8]
    assert plain(grad(f, None, [w])(x, y)) == ([3, 8],)
    both = ([3, 8], [0, 0], [0, 0])
    assert plain(grad(f, None, ParameterTuple([w, u, frozen]))(x, y)) == both
    assert plain(grad(f, 0, (w, u))(x, y)) == ([15, 24], ([3, 8], [0, 0]))
    assert plain(grad(f, (0, 1), [w])(x, y)) == (([15, 24], [5, 12]), ([3, 8],))
    assert plain(grad(f, (0,), w)(x, y)) == ([15, 24], [3, 8])
    assert plain(grad(f, 0, [])(x, y)) == ([15, 24], ())
    assert plain(grad(f, None, [])(x, y)) == ()
    assert plain(grad(f, None, [w, w])(x, y)) == ([3, 8], [3, 8])


def test_a_parameter_as_argument(w, frozen):
    assert plain(grad(lambda a: a * a)(w)) == [10, 12]
    assert plain(grad(lambda a: a * a)(frozen)) == [0, 0]
    assert plain(grad(lambda a: a * a, 0, w)(w)) == ([10, 12], [10, 12])


def test_requires_grad_may_change_between_calls(x, w):
    f = grad(lambda a: a * w, None, w)
    assert plain(f(x)) == X
    w.requires_grad = False
    assert plain(f(x)) == [0, 0]
    w.requires_grad = True
    assert plain(f(x)) == X


def test_value_and_grad(x, y, w):
    value, grads = value_and_grad(lambda a, b: (a * b, a), (0, 1), [w])(x, y)
    assert plain(value) == ([3, 8], X)
    assert value[1] is x
    assert plain(grads) == (([4, 5], DY), ([0, 0],))


# ---- auxiliary outputs
def test_has_aux(x, y, w):
    f = lambda a, b: (a * b, a, 3)  # noqa: E731
    assert plain(grad(f, has_aux=True)(x, y)) == (DX, (X, 3))
    assert plain(value_and_grad(f, has_aux=True)(x, y)) == (([3, 8], X, 3), DX)
    nested = grad(lambda a, b: ((a * b, a), a), has_aux=True)(x, y)
    assert plain(nested) == ([4, 5], (X,))
    assert plain(grad(lambda a, b: (a * b * w, a), None, w, has_aux=True)(x, y)) == ([3, 8], (X,))


@pytest.mark.parametrize("fn", [lambda a: a * 2, lambda a: (a * 2,), lambda a: [a, a]])
def test_has_aux_needs_a_tuple(x, fn):
    with pytest.raises(ValueError, match="When has_aux is True, origin fn requires more than one"):
        grad(fn, has_aux=True)(x)
    assert not recording.on


# ---- ids
def test_return_ids(x, y, w, u):
    def f(a, b):
        return a * b * w

    def ids(position, weights=None):
        return grad(f, position, weights, False, True)(x, y)

    assert plain(ids(0)) == (0, [15, 24])
    assert plain(ids((1, 0))) == ((1, [5, 12]), (0, [15, 24]))
    assert plain(ids(None, w)) == ("w", [3, 8])
    assert plain(ids(None, [w, u])) == (("w", [3, 8]), ("u", [0, 0]))
    everything = ids((0, 1), [w, u])
    assert plain(everything) == (
        ((0, [15, 24]), (1, [5, 12])),
        (("w", [3, 8]), ("u", [0, 0])),
    )
    assert plain(get_grad(everything, 0)) == [15, 24]
    assert plain(get_grad(everything, 1)) == [5, 12]
    assert plain(get_grad(everything, u)) == [0, 0]
    assert plain(get_grad(ids(0), 0)) == [15, 24]
    assert plain(get_grad(ids(None, w), w)) == [3, 8]


def test_get_grad_errors(x, y, w):
    ids = grad(mul, (0, 1), None, False, True)(x, y)
    for missing in (2, w):
        with pytest.raises(RuntimeError, match="Can not find the gradient for position or Parameter"):
            get_grad(ids, missing)
    with pytest.raises(RuntimeError, match="Can not find the gradient"):
        get_grad(grad(mul)(x, y), 0)
    with pytest.raises(TypeError, match="should be an integer or a Parameter, but got w"):
        get_grad(ids, "w")


# ---- output gradients
def test_sens_param(x, y):
    s = Tensor([10.0, 100.0])
    assert plain(grad(mul, sens_param=True)(x, y, s)) == [30, 400]
    assert plain(grad(mul, sens_param=True)(x, y, sens=s)) == [30, 400]
    f = lambda a: (a, (a * 2, a * 3))  # noqa: E731
    assert plain(grad(f, sens_param=True)(x, (x, (y, y)))) == [16, 22]
    f = lambda a: (a * 2, a)  # noqa: E731
    assert plain(grad(f, has_aux=True, sens_param=True)(x, y)) == ([6, 8], (X,))
    assert plain(value_and_grad(mul, sens_param=True)(x, y, sens=x)) == ([3, 8], [3, 8])


def test_sens_param_errors(x, y):
    f = grad(mul, sens_param=True)
    with pytest.raises(ValueError, match=r"shape of the sens gradient .* \(2,\), but got \(1,\)"):
        f(x, y, Tensor([1.0]))
    with pytest.raises(TypeError, match="dtype of the sens gradient .* Float32, but got Float16"):
        f(x, y, Tensor([1.0, 1.0], ms.float16))
    with pytest.raises(RuntimeError, match="should be same as out of network: 1 tensors, but got 0"):
        f(x, y, 2.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f(x, y)
    with pytest.raises(TypeError, match="must be the last argument"):
        grad(lambda: x, sens_param=True)()


# ---- errors
@pytest.mark.parametrize(
    "error, kwargs, match",
    [
        (ValueError, {"grad_position": None}, "can not be None at the same time"),
        (ValueError, {"grad_position": -1}, "grad_position must be >= 0, but got -1"),
        (ValueError, {"grad_position": (0, 0)}, "duplicate positions"),
        (RuntimeError, {"grad_position": ()}, "should not be empty"),
        (TypeError, {"grad_position": "0"}, "must be int or tuple, but got str"),
        (TypeError, {"grad_position": 1.0}, "must be int or tuple, but got float"),
        (TypeError, {"grad_position": [0, 1]}, "must be int or tuple, but got list"),
        (TypeError, {"grad_position": (0, "1")}, "element in 'grad_position' must be int"),
        (TypeError, {"weights": 3}, "expected to be a Parameter.*got int: 3"),
        (TypeError, {"weights": "w"}, "expected to be a Parameter"),
        (TypeError, {"weights": ["w"]}, "list or tuple of Parameters, but it has a str"),
        (TypeError, {"has_aux": 1}, "the 'has_aux' should be bool, but got int"),
        (TypeError, {"return_ids": 1}, "the 'return_ids' should be bool, but got int"),
        (TypeError, {"sens_param": 1}, "the 'sens_param' should be bool, but got int"),
    ],
)
def test_wrong_arguments(error, kwargs, match):
    for function in (grad, value_and_grad):
        with pytest.raises(error, match=match):
            function(mul, **kwargs)


def test_wrong_calls(x, y):
    with pytest.raises(TypeError, match="'fn' must be a Cell or a function, but got int"):
        grad(3)
    with pytest.raises(RuntimeError, match="Position index 2 is exceed input size"):
        grad(mul, 2)(x, y)


# ---- values
def test_against_finite_differences():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 4)), rng.standard_normal((1, 4))
    check_gradient(lambda a, b: (a * b - a * a * b, -(a + b) * b), a, b, order=3)


def test_higher_orders(x, y, w):
    cube = lambda a: a * a * a  # noqa: E731
    assert plain(grad(grad(cube))(x)) == [6, 12]
    assert plain(grad(grad(grad(cube)))(x)) == [6, 6]
    f = lambda a, b: a * a * b  # noqa: E731
    assert plain(grad(grad(f, 0), 1)(x, y)) == [2, 4]
    assert plain(grad(grad(f, (0, 1)), (0, 1))(x, y)) == ([8, 12], [2, 4])
    assert plain(grad(value_and_grad(cube))(x)) == [9, 24]
    f = lambda a: a * w * w * w  # noqa: E731
    assert plain(grad(grad(f, None, w), None, w)(x)) == [30, 72]
    assert plain(grad(grad(f, None, w), 0)(x)) == [75, 108]
    assert plain(grad(grad(f, 0), None, w)(x)) == [75, 108]


def test_inside_control_flow(x):
    def f(a):
        total = a
        while total.asnumpy().sum() < 100:
            total = total * a * 3 if total.asnumpy()[0] < 50 else total + a
        return total

    # 1, 3 a^2, 9 a^3 ... until the sum passes 100
    first = f(x)
    step = 1e-3
    moved = f(Tensor([1.0 + step, 2.0])).asnumpy()[0], f(Tensor([1.0 - step, 2.0])).asnumpy()[0]
    found = grad(f)(x).asnumpy()[0]
    assert first.asnumpy().sum() >= 100
    np.testing.assert_allclose(found, (moved[0] - moved[1]) / (2 * step), rtol=1e-3)


def test_of_a_cell(x):
    from dist_ms import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0, 2.0]), name="w")
            self.v = Parameter(Tensor([3.0, 3.0]), name="v", requires_grad=False)

        def construct(self, a):
            return a * self.w * self.v

    net = Net()
    assert plain(grad(net)(x)) == [6, 6]
    assert plain(grad(net, None, net.trainable_params())(x)) == ([3, 6],)
    assert plain(grad(net, None, list(net.get_parameters()))(x)) == ([3, 6], [0, 0])
    assert plain(grad(net.construct)(x)) == [6, 6]

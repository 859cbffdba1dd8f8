"""jvp, vjp, linearize, jacrev, jacfwd."""

import numpy as np
import pytest

from dist_ms.autograd.grad import grad
from dist_ms.autograd.jacobian import jacfwd, jacrev, jvp, linearize, vjp
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain

X, Y, ONE = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([1.0, 1.0])


def f(a, b):
    return a * a * b


def two(a, b):
    return a * a * b, a + b


def cube(a):
    return a * a * a


# ---- jvp
def test_jvp():
    assert plain(jvp(f, (X, Y), (ONE, ONE))) == ([3, 16], [7, 20])
    assert plain(jvp(f, [X, Y], [ONE, ONE])) == ([3, 16], [7, 20])
    assert plain(jvp(cube, X, Tensor([1.0, 10.0]))) == ([1, 8], [3, 120])
    assert plain(jvp(two, (X, Y), (ONE, ONE))) == (([3, 16], [4, 6]), ([7, 20], [2, 2]))
    nested = jvp(lambda a: (a, [a * 2, 3]), X, ONE)
    assert plain(nested) == (([1, 2], ["list", [2, 4], 3]), ([1, 1], ["list", [2, 2], 3]))


def test_jvp_with_auxiliary_outputs():
    found = jvp(two, (X, Y), (ONE, ONE), has_aux=True)
    assert plain(found) == ([3, 16], [7, 20], [4, 6])
    found = jvp(lambda a: (a * a, a, a * 3), X, ONE, True)
    assert plain(found) == ([1, 4], [2, 4], ([1, 2], [3, 6]))
    with pytest.raises(ValueError, match="requires more than one outputs"):
        jvp(cube, X, ONE, True)


def test_jvp_where_nothing_depends():
    assert plain(jvp(lambda a: Tensor([1.0]), X, ONE)) == ([1], [0])
    assert plain(jvp(lambda a, b: a * 2, (X, Y), (ONE, ONE))) == ([2, 4], [2, 2])


@pytest.mark.parametrize(
    "error, inputs, v, match",
    [
        (ValueError, (X, Y), (ONE,), "v has invalid length: should be 2, but got 1"),
        (ValueError, X, Tensor([1.0]), r"shape of the vector 'v' .* input, \(2,\), but got \(1,\)"),
        (TypeError, X, Tensor([1, 1]), "dtype of the vector 'v'"),
        (TypeError, X, 2.0, "must be a Tensor, tuple or list of Tensors, but got float"),
        (TypeError, "a", ONE, "must be a Tensor, tuple or list of Tensors, but got str"),
    ],
)
def test_jvp_errors(error, inputs, v, match):
    fn = f if isinstance(inputs, tuple) else cube
    with pytest.raises(error, match=match):
        jvp(fn, inputs, v)


def test_wrong_functions_and_flags():
    for function in (jvp, linearize, vjp, jacrev, jacfwd):
        args = (X, ONE) if function is jvp else (X,) if function in (linearize, vjp) else ()
        with pytest.raises(TypeError, match=f"For '{function.__name__}', 'fn' must be"):
            function(3, *args)
        if function is not linearize:
            with pytest.raises(TypeError, match="'has_aux' must be bool type, but got int"):
                function(cube, *args, has_aux=1)


# ---- linearize
def test_linearize_runs_the_function_once():
    calls = []

    def counted(a, b):
        calls.append(1)
        return two(a, b)

    out, tangent = linearize(counted, (X, Y))
    assert plain(out) == ([3, 16], [4, 6])
    assert plain(tangent((ONE, ONE))) == ([7, 20], [2, 2])
    assert plain(tangent((ONE, Y * 0))) == ([6, 16], [1, 1])
    assert calls == [1]


# ---- vjp
def test_vjp():
    out, back = vjp(f, X, Y)
    assert plain(out) == [3, 16]
    assert plain(back(ONE)) == ([6, 16], [1, 4])
    assert plain(back(Tensor([0.0, 10.0]))) == ([0, 160], [0, 40])
    assert plain(vjp(cube, X)[1](ONE)) == ([3, 12],)
    back = vjp(two, X, Y)[1]
    assert plain(back(ONE, ONE)) == plain(back((ONE, ONE))) == ([7, 17], [2, 5])


def test_vjp_with_weights():
    w = Parameter(Tensor([5.0, 6.0]), name="w")
    g = lambda a: a * w  # noqa: E731
    assert plain(vjp(g, X, weights=w)[1](ONE)) == (([5, 6],), [1, 2])
    assert plain(vjp(g, X, weights=[w])[1](ONE)) == (([5, 6],), ([1, 2],))


def test_vjp_with_auxiliary_outputs():
    out, back, aux = vjp(two, X, Y, has_aux=True)
    assert (plain(out), plain(aux)) == ([3, 16], [4, 6])
    assert plain(back(ONE)) == ([6, 16], [1, 4])


def test_vjp_errors():
    back = vjp(f, X, Y)[1]
    with pytest.raises(ValueError, match=r"shape of the vector 'v' .* output, \(2,\), but got \(1,\)"):
        back(Tensor([1.0]))
    with pytest.raises(TypeError, match="dtype of the vector 'v'"):
        back(Tensor([1, 1]))
    with pytest.raises(TypeError, match="must be called with the vector"):
        back()
    with pytest.raises(TypeError, match="the inputs type must be Tensor, but got float"):
        vjp(f, X, 2.0)


def test_a_vjp_is_linear_in_the_vector_under_an_outer_gradient():
    _, back = vjp(cube, X)
    assert plain(grad(lambda v: back(v)[0])(ONE)) == [3, 12]


# ---- Jacobians
@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
class TestJacobian:
    def test_structures(self, jacobian):
        a, b = [[6, 0], [0, 16]], [[1, 0], [0, 4]]
        eye = [[1, 0], [0, 1]]
        assert plain(jacobian(f)(X, Y)) == a
        assert plain(jacobian(f, (0,))(X, Y)) == a
        assert plain(jacobian(f, (1, 0))(X, Y)) == (b, a)
        assert plain(jacobian(two)(X, Y)) == (a, eye)
        assert plain(jacobian(two, (0, 1))(X, Y)) == ((a, b), (eye, eye))
        assert plain(jacobian(two, 0, True)(X, Y)) == (a, [4, 6])

    def test_shapes(self, jacobian):
        wide = Tensor(np.arange(6.0).reshape(2, 3))
        found = jacobian(lambda a: a * a)(wide)
        assert found.shape == (2, 3, 2, 3)
        matrix = found.asnumpy().reshape(6, 6)
        np.testing.assert_array_equal(matrix, np.diag(2 * np.arange(6.0)))
        assert plain(jacobian(cube)(Tensor(2.0))) == 12
        assert plain(jacobian(lambda a: a * X)(Tensor(2.0))) == [1, 2]
        assert jacobian(lambda a: a * 2)(Tensor(np.zeros((0, 2)))).shape == (0, 2, 0, 2)

    def test_where_nothing_depends(self, jacobian):
        assert plain(jacobian(lambda a: Tensor([1.0]))(X)) == [[0, 0]]
        assert plain(jacobian(lambda a, b: a * 2, 1)(X, Y)) == [[0, 0], [0, 0]]

    def test_higher_orders(self, jacobian):
        assert plain(jacobian(jacobian(cube))(X)) == [[[6, 0], [0, 0]], [[0, 0], [0, 12]]]
        assert plain(jacobian(grad(cube))(X)) == [[6, 0], [0, 12]]
        assert plain(grad(jacobian(cube))(X)) == [6, 12]

    def test_errors(self, jacobian):
        with pytest.raises(ValueError, match=r"must belong to \[0, args_num\)"):
            jacobian(f, 2)(X, Y)
        with pytest.raises(ValueError, match="grad_position must be >= 0"):
            jacobian(f, -1)
        with pytest.raises(ValueError, match="duplicate positions"):
            jacobian(f, (0, 0))
        with pytest.raises(TypeError, match="must be int or tuple, but got NoneType"):
            jacobian(f, None)
        with pytest.raises(TypeError, match="position 1 must be a Tensor, but got float"):
            jacobian(f, (0, 1))(X, 3.0)


def test_mixed_directions():
    hessian = [[[6, 0], [0, 0]], [[0, 0], [0, 12]]]
    assert plain(jacfwd(jacrev(cube))(X)) == plain(jacrev(jacfwd(cube))(X)) == hessian
    tangent = lambda a: jvp(cube, a, ONE)[1]  # noqa: E731
    assert plain(grad(tangent)(X)) == [6, 12]
    assert plain(jvp(grad(cube), X, ONE)) == ([3, 12], [6, 12])
    assert plain(jvp(tangent, X, ONE)) == ([3, 12], [6, 12])
    assert plain(grad(lambda a: vjp(cube, a)[1](ONE)[0])(X)) == [6, 12]
    assert plain(grad(lambda a: linearize(cube, a)[1](ONE))(X)) == [6, 12]


def test_one_tensor_given_twice_is_two_inputs():
    """MindSpore's jvp, jacfwd and jacrev tell them apart; its grad and vjp do not."""
    x, v, w = Tensor([1.0, 2.0]), Tensor([1.0, 1.0]), Tensor([5.0, 5.0])

    def fn(a, b):
        return a * a * b

    np.testing.assert_array_equal(jvp(fn, (x, x), (v, w))[1].asnumpy(), [2 + 5, 8 + 20])
    _, tangent = linearize(fn, (x, x))
    np.testing.assert_array_equal(tangent((v, w)).asnumpy(), [2 + 5, 8 + 20])
    for jacobian in (jacfwd, jacrev):
        first, second = jacobian(fn, grad_position=(0, 1))(x, x)
        np.testing.assert_array_equal(first.asnumpy(), np.diag([2.0, 8.0]))
        np.testing.assert_array_equal(second.asnumpy(), np.diag([1.0, 4.0]))
    # Through both of them, where the product is differentiated itself: of 3 x^2.
    slope = grad(lambda t: jvp(fn, (t, t), (v, v))[1].sum())
    np.testing.assert_array_equal(slope(x).asnumpy(), [6, 12])

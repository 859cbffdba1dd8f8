"""Hooks of tensors, and operations that are hooks."""

import pytest

from dist_ms.autograd.grad import grad
from dist_ms.autograd.tape import no_grad, overwrite
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.flow.hooks import HookBackward, InsertGradientOf, StopGradient
from tests.serial.autograd.shapes import plain


# ---- Tensor.register_hook
def test_a_hook_sees_the_complete_gradient(x, log):
    def f(a):
        z = a * 2
        z.register_hook(log.hook("z"))
        return z * z + z

    assert plain(grad(f)(x)) == [10, 18]
    assert log == [("z", [5, 9])]


def test_a_hook_changes_what_flows_on(x, y):
    def f(a, b):
        z = a * b
        z.register_hook(lambda g: g * 2)
        z.register_hook(lambda g: g * 5)
        return z * b

    assert plain(grad(f, (0, 1))(x, y)) == ([90, 160], [33, 88])


def test_a_hook_may_write_into_the_gradient(x, y):
    def f(a, b):
        z = a * 1
        z.register_hook(lambda g: g.asnumpy().fill(7))
        return z + b

    assert plain(grad(f, (0, 1))(x, y)) == ([1, 1], [1, 1])

    def returned(a, b):
        z = a * 1

        def fill(g):
            g.asnumpy().fill(7)
            return g

        z.register_hook(fill)
        return z + b

    assert plain(grad(returned, (0, 1))(x, y)) == ([7, 7], [1, 1])


def test_a_hook_registered_after_the_use(x):
    def f(a):
        z = a * a
        u = z * 2
        z.register_hook(lambda g: g * 10)
        return u

    assert plain(grad(f)(x)) == [40, 80]


def test_hooks_run_as_the_sweep_reaches_them(x, log):
    def f(a):
        z = a * 2
        z.register_hook(log.hook("first"))
        u = z * 3
        u.register_hook(log.hook("second"))
        return u

    grad(f)(x)
    assert log == [("second", [1, 1]), ("first", [3, 3])]


def test_a_hook_on_an_output(x):
    def f(a):
        z = a * a
        z.register_hook(lambda g: g * 7)
        return z

    assert plain(grad(f)(x)) == [14, 28]


def test_hooks_off_the_path_are_not_called(x, y, log):
    def f(a, b):
        unused = a * 2
        unused.register_hook(log.hook("unused"))
        other = b * 2
        other.register_hook(log.hook("no target"))
        with no_grad():
            constant = a * a
            constant.register_hook(log.hook("no grad"))
        return a * other * constant

    grad(f)(x, y)
    assert log == []


def test_a_hook_on_an_input_stays(x):
    handle = x.register_hook(lambda g: g * 10)
    square = grad(lambda a: a * a)
    assert plain(square(x)) == [20, 40]
    assert plain(square(x)) == [20, 40]
    handle.remove()
    handle.remove()
    assert plain(square(x)) == [2, 4]
    assert x.hooks() == []


def test_a_hook_registered_on_an_input_inside_stays(x):
    def f(a):
        a.register_hook(lambda g: g * 10)
        return a * a

    assert plain(grad(f)(x)) == [20, 40]
    assert plain(grad(f)(x)) == [200, 400]
    assert len(x.hooks()) == 2


def test_hooks_on_parameters(x, log):
    w = Parameter(Tensor([5.0, 6.0]), name="w")
    first = w.register_hook(log.hook("first", lambda g: g * 2))
    w.register_hook(log.hook("second", lambda g: g * 3))
    assert len(w.hooks()) == 2
    dx, dw = grad(lambda a: a * w + a * w, 0, w)(x)
    assert (plain(dx), plain(dw)) == ([10, 12], [12, 24])
    assert log == [("first", [2, 4]), ("second", [4, 8])]
    log.clear()
    grad(lambda a: a * w, 0)(x)
    grad(lambda a: a * a, None, w)(x)
    assert log == []
    first.remove()
    assert plain(grad(lambda a: a * w, None, w)(x)) == [3, 6]


def test_in_place_operations_leave_hooks_to_the_old_value(x, log):
    def f(a):
        z = a * 2
        z.register_hook(log.hook("old"))
        overwrite(z, z * 3)
        z.register_hook(log.hook("new"))
        return z

    grad(f)(x)
    assert log == [("new", [1, 1]), ("old", [3, 3])]


def test_removal_inside_the_hook(x):
    def f(a):
        z = a * a
        handles = []

        def once(g):
            handles[0].remove()
            return g * 5

        handles.append(z.register_hook(once))
        return z

    assert plain(grad(f)(x)) == [10, 20]


def test_hooks_in_second_order(x):
    def f(a):
        z = a * a * a
        z.register_hook(lambda g: g * 2)
        return z

    assert plain(grad(grad(f))(x)) == [12, 24]


def test_tensor_hook_errors(x):
    with pytest.raises(TypeError, match="Expected a callable hook function, but got str"):
        x.register_hook("s")
    frozen = Parameter(x, name="p", requires_grad=False)
    with pytest.raises(RuntimeError, match="tensor requires grad is false.*'p'"):
        frozen.register_hook(lambda g: g)

    def f(a):
        z = a * a
        z.register_hook(lambda g: 3)
        return z

    with pytest.raises(RuntimeError, match="Tensor hook should be return Tensor, but get type: int"):
        grad(f)(x)

    def broken(a):
        z = a * a
        z.register_hook(lambda g: 1 / 0)
        return z

    with pytest.raises(ZeroDivisionError):
        grad(broken)(x)
    assert plain(grad(lambda a: a * a)(x)) == [2, 4]


# ---- HookBackward and InsertGradientOf
@pytest.mark.parametrize(
    "change, expected",
    [
        (None, ([9, 16], [6, 16])),
        (lambda g: g[0] * 2, ([18, 32], [9, 24])),
        (lambda g: (g[0] * 2,), ([18, 32], [9, 24])),
        (lambda g: Tensor([9.0, 9.0]), ([27, 36], [12, 26])),
    ],
)
def test_hook_backward(x, y, log, change, expected):
    hook = HookBackward(log.hook("h", change))
    assert plain(grad(lambda a, b: hook(a * b) * b, (0, 1))(x, y)) == expected
    assert log == [("h", ([3, 4],))]


def test_hook_backward_on_several_inputs(x, y, log):
    hook = HookBackward(log.hook("h", lambda g: (g[0] * 2, g[1] * 3)))

    def f(a, b):
        z, u = hook(a * b, b)
        return z * u

    assert plain(hook(x, y)) == ([1, 2], [3, 4])
    assert plain(grad(f, (0, 1))(x, y)) == ([18, 32], [15, 40])
    assert plain(grad(lambda a, b: hook(a, b)[0] * 2, (0, 1))(x, y)) == ([4, 4], [0, 0])
    assert log == [("h", ([3, 4], [3, 8])), ("h", ([2, 2], [0, 0]))]


@pytest.mark.parametrize(
    "count, change, error, match",
    [
        (1, lambda g: 3, TypeError, "function: hook should be a tensor but got int"),
        (1, lambda g: (g[0], g[0]), TypeError, "should be a tensor but got tuple"),
        (1, lambda g: Tensor([1.0]), ValueError, r"the shape should be \(2,\), but got \(1,\)"),
        (2, lambda g: g[0], TypeError, "should be a tuple, but got Tensor"),
        (2, lambda g: g[:1], TypeError, "should return 2 gradients, but got 1"),
    ],
)
def test_hook_backward_checks_what_hooks_return(x, log, count, change, error, match):
    hook = HookBackward(log.hook("h", change))
    with pytest.raises(error, match=match):
        grad(lambda a: hook(*[a * 2] * count))(x)


def test_hook_backward_errors(x):
    with pytest.raises(TypeError, match="Expected a callable hook function, but got int"):
        HookBackward(3)
    for wrong in (3, (x, x)):
        with pytest.raises(TypeError, match="For 'HookBackward', each input must be a Tensor"):
            HookBackward(print)(wrong)


def test_insert_gradient_of(x, y, log):
    def with_function(f):
        op = InsertGradientOf(f)
        return plain(grad(lambda a, b: op(a * b) * b, (0, 1))(x, y))

    assert with_function(log.hook("f")) == ([9, 16], [6, 16])
    assert log == [("f", [3, 4])]
    assert with_function(lambda g: g * 2) == ([18, 32], [9, 24])
    assert with_function(lambda g: 3) == ([9, 12], [6, 14])
    assert InsertGradientOf(print)(3) == 3
    with pytest.raises(TypeError, match="For 'InsertGradientOf', 'f' must be a function"):
        InsertGradientOf(3)
    with pytest.raises(RuntimeError, match="should be broadcast to expected shape"):
        with_function(lambda g: Tensor([1.0, 2.0, 3.0]))


def test_stop_gradient_operation(x):
    assert plain(grad(lambda a: a * StopGradient()(a))(x)) == [1, 2]

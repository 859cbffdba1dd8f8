"""Hooks of cells: what they are called with, in which order, and what their results do."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.nn.cell.hook_handle import HookHandle
from tests.serial.nn.cell.cells import Double, Scale, numbers, tensor

KINDS = ("forward_pre", "forward", "backward_pre", "backward")


def register(cell, kind, hook, **options):
    return getattr(cell, f"register_{kind}_hook")(hook, **options)


class Sum(nn.Cell):
    def construct(self, x, factor=2, *, other=None):
        y = x * factor
        return y if other is None else y + other


class Pair(nn.Cell):
    def construct(self, x, y):
        return x * y, x + y


class Nested(nn.Cell):
    """A child between two operations."""

    def __init__(self):
        super().__init__()
        self.child = Scale(3)

    def construct(self, x):
        return self.child(x) * 2


def test_order_of_hooks_of_nested_cells():
    net, seen = Nested(), []
    for cell, label in ((net, "P"), (net.child, "C")):
        for kind in KINDS:
            register(cell, kind, lambda c, *rest, at=f"{label}.{kind}": seen.append((at, *map(numbers, rest[-2:]))))
    net(tensor(2))
    assert [s[0] for s in seen] == ["P.forward_pre", "C.forward_pre", "C.forward", "P.forward"]
    seen.clear()
    assert numbers(ms.grad(net)(tensor(2))) == [6.0]
    assert seen[4:] == [
        ("P.backward_pre", ([1.0],)),
        ("C.backward_pre", ([2.0],)),
        ("C.backward", ([6.0],), ([2.0],)),
        ("P.backward", ([6.0],), ([1.0],)),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_of_one_kind_run_in_the_order_of_registration(kind):
    net, seen = Double(), []
    handles = [register(net, kind, lambda *a, at=i: seen.append(at)) for i in range(3)]
    ms.grad(net)(tensor(1))
    assert seen == [0, 1, 2]
    handles[1].remove()
    handles[1].remove()
    ms.grad(net)(tensor(1))
    assert seen == [0, 1, 2, 0, 2]
    handles[0].remove()
    handles[2].remove()
    ms.grad(net)(tensor(1))
    assert seen == [0, 1, 2, 0, 2]


def test_forward_hooks_may_go_first():
    net, seen = Double(), []
    for kind in ("forward_pre", "forward"):
        register(net, kind, lambda *a, at=kind: seen.append(at))
        register(net, kind, lambda *a, at=kind: seen.append(f"first {at}"), prepend=True)
    net(tensor(1))
    assert seen == ["first forward_pre", "forward_pre", "first forward", "forward"]


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_of_a_wrong_kind(kind):
    net = Double()
    with pytest.raises(TypeError, match="Expected a callable hook function, but got str."):
        register(net, kind, "x")

    @ms.jit
    def hook(*args):
        return None

    with pytest.raises(TypeError, match="Decorating hook function hook with '@jit' is not supported."):
        register(net, kind, hook)
    assert type(register(net, kind, lambda *a: None)) is HookHandle


@pytest.mark.parametrize(
    "result, expected",
    [
        (lambda x: None, [4.0]),
        (lambda x: x + 1, [6.0]),
        (lambda x: (x + 1,), [6.0]),
        (lambda x: (x, 5), [10.0]),
        (lambda x: (), TypeError),
        (lambda x: (x, x, x), TypeError),
    ],
)
def test_what_forward_pre_hooks_return(result, expected):
    net = Sum()
    net.register_forward_pre_hook(lambda cell, args: result(args[0]))
    if expected is TypeError:
        with pytest.raises(TypeError, match="construct"):
            net(tensor(2))
    else:
        assert numbers(net(tensor(2))) == expected


def test_forward_pre_hooks_with_keyword_arguments():
    net, seen = Sum(), []
    net.register_forward_pre_hook(lambda cell, args: seen.append(len(args)))
    net.register_forward_pre_hook(lambda cell, args, kwargs: seen.append(sorted(kwargs)), with_kwargs=True)
    handle = net.register_forward_pre_hook(
        lambda cell, args, kwargs: (args, {"other": kwargs["other"] * 10}), with_kwargs=True
    )
    assert numbers(net(tensor(1), other=tensor(1))) == [12.0] and seen == [1, ["other"]]
    handle.remove()
    assert numbers(net(x=tensor(1))) == [2.0] and seen[2:] == [0, ["x"]]
    for wrong in (3, (1,), [(), {}]):
        handle = net.register_forward_pre_hook(lambda cell, args, kwargs, r=wrong: r, with_kwargs=True)
        with pytest.raises(
            RuntimeError, match=r"must return None, or a tuple of positional and of keyword arguments, but got"
        ):
            net(tensor(1))
        handle.remove()


def test_what_forward_hooks_see_and_return():
    net, seen = Sum(), []
    net.register_forward_hook(lambda cell, args, out: seen.append((cell is net, numbers(args), numbers(out))))
    net.register_forward_hook(lambda cell, args, kwargs, out: out + kwargs["other"], with_kwargs=True)
    net.register_forward_hook(lambda cell, args, out: (out, out * 10))
    assert numbers(net(tensor(1), 3, other=tensor(1))) == ([5.0], [50.0])
    assert seen == [(True, ([1.0], 3), [4.0])]


def test_forward_hooks_that_are_always_called():
    class Broken(nn.Cell):
        def construct(self, x):
            raise ZeroDivisionError("in construct")

    net, seen = Broken(), []
    net.register_forward_hook(lambda cell, args, out: seen.append("plain"))
    net.register_forward_hook(lambda cell, args, out: seen.append((len(args), out)), always_call=True)
    net.register_forward_hook(
        lambda cell, args, kwargs, out: seen.append((kwargs, out)), always_call=True, with_kwargs=True
    )
    with pytest.raises(ZeroDivisionError, match="in construct"):
        net(tensor(1))
    assert seen == [(1, None), ({}, None)]
    net.register_forward_hook(lambda cell, args, out: 1 / 0, always_call=True)
    with (
        pytest.warns(UserWarning, match="A forward hook of 'Broken' with always_call=True raised ZeroDivision"),
        pytest.raises(ZeroDivisionError, match="in construct"),
    ):
        net(tensor(1))


def test_an_always_called_hook_runs_once_and_knows_the_output():
    net, seen = Double(), []
    net.register_forward_hook(lambda cell, args, out: seen.append(numbers(out)), always_call=True)

    def broken(cell, args, out):
        raise ValueError("hook")

    net.register_forward_hook(broken)
    net.register_forward_hook(lambda cell, args, out: seen.append("late"), always_call=True)
    with pytest.raises(ValueError, match="hook"):
        net(tensor(1))
    assert seen == [[2.0], "late"]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_in_hooks_pass_through(kind):
    net = Double()
    register(net, kind, lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ms.grad(net)(tensor(1))


def test_the_hook_may_change_the_cell():
    net = Scale()
    net.register_forward_pre_hook(lambda cell, args: setattr(cell, "seen", numbers(args[0])))
    net(tensor(4))
    assert net.seen == [4.0]


# ---- gradients
def test_what_forward_hooks_compute_is_differentiated():
    net = Double()
    net.register_forward_pre_hook(lambda cell, args: args[0] * args[0])
    net.register_forward_hook(lambda cell, args, out: ops.log(out))
    x = tensor(3)
    np.testing.assert_allclose(ms.grad(net)(x).asnumpy(), 2 / 3, rtol=1e-6)  # of log(2 x^2)


@pytest.mark.parametrize("kind", ["forward_pre", "forward"])
def test_fresh_data_cuts_the_gradient(kind):
    net = Scale(3)
    register(net, kind, lambda *args: tensor(5))
    grads = ms.grad(net, 0, net.trainable_params())(tensor(2))
    assert numbers(grads) == (([0.0], ([5.0],)) if kind == "forward_pre" else ([0.0], ([0.0],)))


def test_forward_hooks_run_inside_the_backward_hooks():
    net, seen = Double(), []
    net.register_forward_hook(lambda cell, args, out: out * 10)
    net.register_backward_pre_hook(lambda cell, grad_output: seen.append(numbers(grad_output)))
    net.register_backward_hook(lambda cell, grad_input, grad_output: seen.append(numbers(grad_input)))
    assert numbers(ms.grad(net)(tensor(1))) == [20.0]
    assert seen == [([1.0],), ([20.0],)]


@pytest.mark.parametrize("change", [lambda g: g[0] * 10, lambda g: (g[0] * 10,)])
@pytest.mark.parametrize("kind", ["backward_pre", "backward"])
def test_backward_hooks_replace_gradients(kind, change):
    net = Scale(3)
    register(net, kind, lambda cell, grads, *rest: change(grads))
    grads = ms.grad(net, 0, net.trainable_params())(tensor(2))
    assert numbers(grads) == ([30.0], ([20.0],) if kind == "backward_pre" else ([2.0],))


def test_several_backward_hooks_chain():
    net = Double()
    for _ in range(2):
        net.register_backward_pre_hook(lambda cell, grads: grads[0] * 3)
        net.register_backward_hook(lambda cell, grads, out: grads[0] * 4)
    assert numbers(ms.grad(net)(tensor(1))) == [2.0 * 9 * 16]


@pytest.mark.parametrize(
    "kind, change, error, match",
    [
        ("backward_pre", lambda g: (g[0], g[0]), TypeError, "return value size is 2 not equal to expect output size 1"),
        ("backward_pre", lambda g: 3, TypeError, "should be a tensor but got int"),
        ("backward_pre", lambda g: [g[0]], TypeError, "should be a tensor but got list"),
        ("backward", lambda g: (), TypeError, "return value size is 0 not equal to expect grad input size 1"),
        ("backward", lambda g: tensor(1, 2), ValueError, r"the shape must be \(1,\), but got \(2,\)"),
        ("backward", lambda g: Tensor([3], ms.int32), ValueError, "the type must be Float32, but got Int32"),
    ],
)
def test_what_backward_hooks_must_return(kind, change, error, match):
    net = Double()
    register(net, kind, lambda cell, grads, *rest: change(grads))
    with pytest.raises(error, match=match):
        ms.grad(net)(tensor(1))


def test_gradients_come_in_tuples_one_for_each_tensor():
    net, seen = Pair(), []
    net.register_backward_hook(lambda cell, into, out: seen.append(numbers((into, out))))
    ms.grad(net, (0, 1))(tensor(2), tensor(5))
    assert seen == [(([6.0], [3.0]), ([1.0], [1.0]))]
    seen.clear()
    ms.grad(lambda x: net(x, tensor(5))[0])(tensor(2))
    assert seen == [(([5.0], None), ([1.0], None))]


def test_plain_arguments_have_no_gradient():
    net, seen = Sum(), []
    net.register_backward_hook(lambda cell, into, out: seen.append(numbers((into, out))))
    assert numbers(ms.grad(lambda x: net(x, 3))(tensor(2))) == [3.0]
    assert numbers(ms.grad(lambda x: net(x, other=x))(tensor(2))) == [3.0]
    assert seen == [(([3.0],), ([1.0],)), (([2.0],), ([1.0],))]


def test_integer_inputs_have_integer_gradients():
    class Times(nn.Cell):
        def construct(self, x, n):
            return x * n

    net, seen = Times(), []
    net.register_backward_hook(lambda cell, into, out: seen.append(into))
    ms.grad(net, (0, 1))(tensor(2), Tensor([3], ms.int32))
    assert numbers(seen[0]) == ([3.0], [2]) and seen[0][1].dtype is ms.int32


def test_hooks_run_for_the_sake_of_the_parameters():
    net, seen = Scale(3), []
    net.register_backward_hook(lambda cell, into, out: seen.append(numbers((into, out))))
    constant = tensor(5)
    grads = ms.grad(lambda x: net(constant) * x, 0, net.trainable_params())(tensor(2))
    assert numbers(grads) == ([15.0], ([10.0],)) and seen == [((None,), ([2.0],))]


def test_a_cell_called_twice_calls_its_hooks_twice():
    net, seen = Scale(3), []
    net.register_backward_hook(lambda cell, into, out: seen.append(numbers(out[0])))
    assert numbers(ms.grad(lambda x: net(net(x)))(tensor(2))) == [9.0]
    assert seen == [[1.0], [3.0]]


def test_the_nesting_of_outputs_stays():
    class Many(nn.Cell):
        def construct(self, x):
            return {"a": x * 2, "b": (x, (x * 3, None)), "c": "text"}

    net = Many()
    net.register_backward_hook(lambda cell, into, out: into[0] * 10)
    assert numbers(net(tensor(1))) == {"a": [2.0], "b": ([1.0], ([3.0], None)), "c": "text"}
    assert numbers(ms.grad(lambda x: net(x)["a"] + net(x)["b"][1][0])(tensor(1))) == [50.0]


def test_hooks_registered_while_the_cell_runs():
    class Within(nn.Cell):
        def __init__(self, remove):
            super().__init__()
            self.child, self.remove = Double(), remove

        def construct(self, x):
            handle = self.child.register_backward_hook(lambda cell, into, out: into[0] * 10)
            y = self.child(x)
            if self.remove:
                handle.remove()
            return y

    net = Within(remove=False)
    assert [numbers(ms.grad(net)(tensor(1))) for _ in range(2)] == [[20.0], [200.0]]


def test_second_order_through_hooks():
    net = Double()
    net.register_backward_pre_hook(lambda cell, grads: grads[0] * 2)
    cubed = lambda x: net(x) ** 3  # noqa: E731
    assert numbers(ms.grad(ms.grad(cubed))(tensor(2))) == [384.0]  # each gradient doubles: 4 * 48 * 2


def test_backward_hooks_in_a_training_step():
    net, seen = Scale(3), []
    net.register_backward_pre_hook(lambda cell, grads: grads[0] * 2)
    net.register_backward_hook(lambda cell, into, out: seen.append(numbers(out)))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
    assert numbers(step(tensor(2))) == [6.0] and seen == [([2.0],)]
    assert numbers(net.w) == [1.0]


# ---- saved tensors, and parameters as compiled runs read them
def test_hooks_on_saved_tensors():
    class Square(nn.Cell):
        def construct(self, x):
            return x * x

    net, seen = Square(), []
    net.register_saved_tensors_hooks(lambda t: (seen.append("pack"), t * 2)[1], lambda t: (seen.append("unpack"), t)[1])
    net(tensor(3))
    assert seen == []
    assert numbers(ms.grad(net)(tensor(3))) == [12.0]
    assert set(seen) == {"pack", "unpack"}
    assert numbers(ms.grad(lambda x: x * x)(tensor(3))) == [6.0]
    with pytest.raises(TypeError, match="'pack_hook' must be callable, but got int"):
        net.register_saved_tensors_hooks(3, 4)


def test_hooks_on_the_parameters_of_compiled_runs():
    net = Nested()
    net.register_parameter_forward_hook([{"params": [net.child.w], "hook": lambda p: p * 10}])
    run = ms.jit(net)
    assert numbers(net(tensor(1))) == [6.0] and numbers(run(tensor(1))) == [60.0]
    value, grads = ms.jit(ms.value_and_grad(net, 0, net.trainable_params()))(tensor(1))
    assert numbers((value, grads)) == ([60.0], ([60.0], ([20.0],)))
    assert numbers(net.child.w) == [3.0]
    net.register_parameter_forward_hook(lambda p: p * 100)
    assert numbers(run(tensor(1))) == [600.0]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert numbers(net(tensor(1))) == [600.0]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize(
    "hook, error, match",
    [
        (3, TypeError, "must be a callable function or a list of dictionaries, but got"),
        ([3], TypeError, "must be a dictionary"),
        ([{"params": []}], ValueError, "must contain both params and hook keys"),
        ([{"params": [3], "hook": abs}], TypeError, "must be of type 'Parameter'"),
        ([{"params": [], "hook": 3}], TypeError, "must be callable"),
    ],
)
def test_wrong_hooks_on_parameters(hook, error, match):
    with pytest.raises(error, match=match):
        Scale().register_parameter_forward_hook(hook)

"""A `jit` function reads a module's variable before it assigns a local one of that name."""

import traceback

import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.common.jit_globals import globals_first

count, scale = 3, 2
ONE = ms.Tensor(1.0)


@ms.jit
def read_then_assigned(x):
    y = x + count
    count = 5
    return y + count


@ms.jit
def assigned_in_one_branch(x):
    if x > 0:
        count = 7
    return x + count


@ms.jit
def assigned_in_a_loop(x):
    for _ in range(2):
        count += 1
    return x * count


@ms.jit
def read_by_an_inner_function(x):
    def inner(z):
        return z + count

    count = count + 1
    return inner(x)


@ms.jit
def a_builtin(x):
    y = max(1, 2)
    max = 3
    return x + y + max


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (read_then_assigned, 9),
        (assigned_in_a_loop, 5),
        (read_by_an_inner_function, 5),
        (a_builtin, 6),
        (assigned_in_one_branch, 8),
    ],
)
def test_the_global_is_read_and_stays(function, wanted):
    assert float(function(ONE)) == wanted
    assert float(function(ONE)) == wanted
    assert count == 3


def test_the_branch_not_taken():
    assert float(assigned_in_one_branch(-ONE)) == 2


def test_gradients_defaults_and_a_global_that_changes(monkeypatch):
    @ms.jit
    def scaled(x, power=2, *, shift=0.0):
        y = x**power * scale + shift
        scale = None
        return y if scale is None else x

    assert float(ms.grad(scaled)(ms.Tensor(3.0))) == 12
    assert float(scaled(ms.Tensor(3.0), 1, shift=1.0)) == 7
    monkeypatch.setitem(globals(), "scale", 5)
    assert float(scaled(ms.Tensor(3.0), 1)) == 15


class Base(nn.Cell):
    def construct(self, x):
        return x + 1


class Net(Base):
    def __init__(self):
        super().__init__()
        self.__hidden = 10

    @ms.jit
    def construct(self, x):
        y = super().construct(x) * scale + self.__hidden
        scale = 1
        return y + scale


def test_a_method_with_super_and_private_names():
    assert float(Net()(ONE)) == 15


def test_free_variables_keep_their_cells():
    offset = 1

    @ms.jit
    def function(x):
        nonlocal offset
        offset += 1
        y = x + offset + count
        count = 0
        return y + count

    assert [float(function(ONE)) for _ in range(2)] == [6, 7] and offset == 3


def test_a_name_that_is_nowhere():
    @ms.jit
    def function(x):
        y = x + nothing + scale
        nothing = scale = 2
        return y + nothing

    with pytest.raises(NameError, match="nothing") as error:
        function(ONE)
    last = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (last.filename, last.line) == (__file__, "y = x + nothing + scale")


@pytest.mark.parametrize("mode", ["bytecode", "trace"])
def test_modes_that_run_python_do_as_python(mode):
    def function(x):
        y = x + count
        count = 5
        return y + count

    with pytest.raises(UnboundLocalError):
        ms.jit(function, capture_mode=mode)(ONE)


def test_functions_without_source_or_such_names_stay():
    def plain(x):
        own_name_of_this_test = x + 1
        return own_name_of_this_test * 2

    assert globals_first(plain) is plain
    scope = {"count": 1}
    exec("def f(x):\n    count = x\n    return count", scope)
    assert globals_first(scope["f"]) is scope["f"]
    assert ms.jit(scope["f"])(4) == 4

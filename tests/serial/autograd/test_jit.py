"""jit and the decorators around it: checks, and results equal to the plain function's."""

import functools

import pytest

from dist_ms import nn
from dist_ms.autograd.grad import grad
from dist_ms.common.api import _cell_graph_executor, _pynative_executor
from dist_ms.common.jit import (
    JitConfig,
    constexpr,
    jit,
    jit_class,
    lazy_inline,
    no_inline,
    set_recursion_limit,
)
from dist_ms.common.mutables import is_mutable, mutable
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([5.0, 6.0]), name="w")

    @jit
    def construct(self, a):
        self.w = self.w + a
        return a * self.w

    @jit(jit_level="O1")
    def other(self, a):
        return a + 1


# ---- jit
def test_call_forms():
    @jit
    def double(a, *, k=2.0):
        """Twice."""
        return a * k

    @jit(capture_mode="trace", jit_level="O1", backend="ms_backend", fullgraph=True, dynamic=1)
    def triple(a):
        return a * 3

    assert plain(double(X)) == [2, 4]
    assert plain(double(X, k=3.0)) == [3, 6]
    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert plain(triple(X)) == [3, 6]
    assert plain(jit(lambda a: a * 4)(X)) == [4, 8]
    assert plain(jit(jit(lambda a: a * 4), jit_level="O0")(X)) == [4, 8]
    assert plain(jit(functools.partial(lambda a, b: a * b, Y))(X)) == [3, 8]
    assert jit(len)((1, 2)) == 2
    assert jit(Net) is Net


def test_methods_and_cells():
    net = Net()
    assert plain(net(X)) == [6, 16]
    assert plain(net.w) == [6, 8]
    assert plain(net.other(X)) == [2, 3]
    assert plain(jit(net)(X)) == [7, 20]
    assert plain(jit(net.construct)(X)) == [8, 24]
    assert plain(grad(net, 0, net.w)(X)) == ([9, 14], [1, 2])
    assert plain(jit(grad(net))(X)) == [10, 16]

    class Plain:
        k = 3.0

        @jit
        def method(self, a):
            return a * self.k

        @staticmethod
        @jit
        def static(a):
            return a * 2

    assert plain(Plain().method(X)) == [3, 6]
    assert plain(Plain.static(X)) == [2, 4]


def test_side_effects_and_exceptions_keep_their_order():
    log = []

    @jit
    def f(a):
        log.append("before")
        if a.asnumpy()[0] > 0:
            raise ValueError("positive")
        log.append("after")

    with pytest.raises(ValueError, match="positive"):
        f(X)
    f(X * -1)
    assert log == ["before", "before", "after"]


@pytest.mark.parametrize(
    "error, kwargs, match",
    [
        (ValueError, {"capture_mode": "x"}, r"'capture_mode' must be str .*'ast', 'bytecode', 'trace'"),
        (ValueError, {"capture_mode": 3}, "'capture_mode' must be str"),
        (ValueError, {"jit_level": "O2"}, r"'jit_level' must be str .*'O0', 'O1'.* got 'O2'"),
        (ValueError, {"jit_level": 1}, "'jit_level' must be str"),
        (RuntimeError, {"backend": "zz"}, "Invalid backend name: zz"),
        (TypeError, {"backend": 3}, "'backend' must be a str, but got int"),
        (ValueError, {"dynamic": 2}, r"'dynamic' must be in range of \[0, 1\], but got 2"),
        (TypeError, {"dynamic": "a"}, "'dynamic' must be 'int', but got 'str'"),
        (TypeError, {"dynamic": True}, "'dynamic' must be 'int', but got 'bool'"),
        (TypeError, {"fullgraph": 1}, "'fullgraph' must be a bool, but got int"),
        (TypeError, {"disable_format_transform": 1}, "'disable_format_transform' must be bool"),
        (ValueError, {"exec_order": "q"}, "'exec_order' must be one of"),
        (ValueError, {"infer_boost": "z"}, "'infer_boost' must be one of"),
        (ValueError, {"auto_offload": "z"}, "'auto_offload' must be one of"),
        (TypeError, {"ge_options": 3}, "'ge_options' must be dict"),
    ],
)
def test_jit_errors(error, kwargs, match):
    with pytest.raises(error, match=match):
        jit(lambda a: a, **kwargs)
    with pytest.raises(error, match=match):
        jit(**kwargs)


def test_jit_of_no_function():
    with pytest.raises(TypeError, match="'function' must be a function, a method or a Cell"):
        jit(3)
    with pytest.raises(TypeError, match="positional argument"):
        jit(len, "ast")


# ---- JitConfig, jit_class
def test_jit_config():
    assert JitConfig().jit_config_dict == {
        "jit_level": "",
        "exc_mode": "auto",
        "jit_syntax_level": "",
        "debug_level": "RELEASE",
        "infer_boost": "off",
    }
    made = JitConfig("O1", foo="a").jit_config_dict
    assert (made["jit_level"], made["foo"], made["backend"]) == ("O1", "a", "ms_backend")
    for key in ("jit_level", "exc_mode", "jit_syntax_level", "debug_level", "infer_boost"):
        with pytest.raises(ValueError, match=f"For 'JitConfig', '{key}' must be one of"):
            JitConfig(**{key: "zz"})


def test_jit_class():
    @jit_class
    class Scale:
        def run(self, a):
            return a * 3

    assert plain(Scale().run(X)) == [3, 6]
    for wrong in (3, lambda a: a):
        with pytest.raises(TypeError, match="can only be used for class type"):
            jit_class(wrong)
    with pytest.raises(TypeError, match="'cls' must not be a Cell"):
        jit_class(Net)


# ---- the other decorators
def test_lazy_inline():
    class Lazy(nn.Cell):
        @lazy_inline(attrs=["k"], policy="front")
        def __init__(self, k):
            super().__init__()
            self.k = k

        def construct(self, a):
            return a * self.k

    assert plain(Lazy(3.0)(X)) == [3, 6]
    with pytest.raises(ValueError, match="should decorate the __init__ function, not the function: f"):

        @lazy_inline
        def f(self):
            pass

    with pytest.raises(ValueError, match="'policy' must be None or 'front', but got 'zz'"):
        lazy_inline(policy="zz")
    with pytest.raises(TypeError, match="'attrs' must be a string or a list of strings, but got 3"):
        lazy_inline(attrs=3)


def test_no_inline():
    assert plain(no_inline(lambda a: a * 3)(X)) == [3, 6]
    assert plain(no_inline()(lambda a: a * 3)(X)) == [3, 6]
    with pytest.raises(TypeError, match="'fn' must be a function, but got int"):
        no_inline(3)


def test_constexpr():
    calls = []

    @constexpr
    def total(n):
        calls.append(n)
        return sum(range(n))

    assert total(5) == total(n=5) == 10
    assert calls == [5, 5]

    @constexpr(get_instance=False, name="Total", reuse_result=False, check=False)
    def other(n):
        return n + 1

    assert other.__name__ == "Total"
    assert other()(3) == 4


def test_set_recursion_limit():
    set_recursion_limit(10)
    with pytest.raises(TypeError, match="must be int, but got 'str'"):
        set_recursion_limit("a")
    with pytest.raises(ValueError, match="must be > 0, but got '-1'"):
        set_recursion_limit(-1)


# ---- mutable
@pytest.mark.parametrize("value", [3, 2.5, (X, Y), [X, 3], {"a": X}, (1, (2, 3))])
def test_mutable_values_are_equal_and_marked(value):
    made = mutable(value)
    assert made == value
    assert isinstance(made, type(value))
    assert is_mutable(made)
    assert repr(made) == repr(value)
    assert not is_mutable(value)


def test_mutable_special_values():
    assert mutable(X) is X
    assert repr(mutable(True)) == "True"
    assert mutable((X, Y), True) == (X, Y)
    for wrong in ("s", None, (1, "s"), [None]):
        with pytest.raises(TypeError, match="'input_data' must be a number, a bool"):
            mutable(wrong)
    with pytest.raises(TypeError, match="'dynamic_len' is True, the first input should be list or"):
        mutable(3, True)
    with pytest.raises(TypeError, match="'dynamic_len' should be bool, but got: int"):
        mutable((1,), 3)


# ---- executors
def test_sync():
    assert _pynative_executor.sync() is None


def test_compile_runs_the_network_and_leaves_no_trace():
    net = Net()
    array = net.w.asnumpy()
    phase, ok = _cell_graph_executor.compile(net, X, phase="train")
    assert (phase.split(".")[0], ok) == ("train", True)
    assert net.w.asnumpy() is array
    assert plain(net.w) == [5, 6]
    with pytest.raises(TypeError):
        _cell_graph_executor.compile(net, X, Y)
    with pytest.raises(AttributeError, match="does not have method construct"):
        _cell_graph_executor.compile(len, X)


def test_compile_checks_names():
    class Double(nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.a = Parameter(X, name="w")
            self.b = Parameter(X, name="w")

        def construct(self, a):
            return a

    with pytest.raises(ValueError, match="but 'w' of b already exists"):
        _cell_graph_executor.compile(Double(), X)

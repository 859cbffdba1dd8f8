"""Hooks on what operations save."""

import pytest

from dist_ms.autograd.grad import grad
from dist_ms.autograd.saved import register_saved_tensors_hooks, saved_tensors_hooks
from dist_ms.autograd.tape import recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def logged(log, factor=10):
    def pack(t):
        assert not recording.on
        log.append(("pack", plain(t)))
        return t.asnumpy() * factor

    def unpack(a):
        log.append(("unpack", a.tolist()))
        return Tensor(a)

    return saved_tensors_hooks(pack, unpack)


def test_saved_values_are_packed_and_unpacked():
    log = []

    def f(a, b):
        with logged(log):
            out = a * b
        log.append("end")
        return out

    assert plain(grad(f, (0, 1))(X, Y)) == ([30, 40], [10, 20])
    packed = [("pack", [1, 2]), ("pack", [3, 4]), "end"]
    assert log == [*packed, ("unpack", [10, 20]), ("unpack", [30, 40])]


def test_nothing_is_packed_without_a_gradient():
    log = []
    with logged(log):
        assert plain(X * Y) == [3, 8]
    assert log == []


def test_what_saves_nothing_packs_nothing():
    log = []

    def f(a):
        with logged(log):
            return a + a

    assert plain(grad(f)(X)) == [2, 2]
    assert log == []


def test_the_innermost_region_counts():
    inner, outer = [], []

    def f(a):
        with logged(outer, 1):
            with logged(inner):
                b = a * a
            return b * a

    assert plain(grad(f)(X)) == [1 + 20, 4 + 80]
    assert inner == [("pack", [1, 2])] * 2 + [("unpack", [10, 20])] * 2
    assert [kind for kind, _ in outer] == ["pack", "pack", "unpack", "unpack"]


def test_parameters_are_packed_too():
    w = Parameter(Tensor([5.0, 6.0]), name="w")
    log = []

    def f(a):
        with logged(log):
            return a * w

    assert plain(grad(f, 0, w)(X)) == ([50, 60], [10, 20])


def test_second_order():
    def f(a):
        with logged([], 1):
            return a * a * a

    assert plain(grad(grad(f))(X)) == [6, 12]


def test_as_decorator():
    log = []
    hooks = logged(log)

    @register_saved_tensors_hooks(hooks.pack_hook, hooks.unpack_hook)
    def f(a):
        return a * a

    assert plain(grad(f)(X)) == [20, 40]
    assert f.__name__ == "f"


def test_errors():
    with pytest.raises(TypeError, match="'pack_hook' must be callable, but got int"):
        saved_tensors_hooks(3, print)
    with pytest.raises(TypeError, match="'unpack_hook' must be callable, but got int"):
        saved_tensors_hooks(print, 3)

    def f(a):
        with saved_tensors_hooks(lambda t: t, lambda t: 3):
            return a * a

    with pytest.raises(RuntimeError, match="'unpack_hook' must return a Tensor, but got int"):
        grad(f)(X)

    def broken(a):
        with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
            return a * a

    with pytest.raises(ZeroDivisionError):
        grad(broken)(X)
    assert not recording.on

"""How Cells find attributes and run `construct`: compiled, and as classes of the user's change it."""

import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.common.parameter import Parameter


class Net(nn.Cell):
    """A layer with one of everything that is registered."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(ms.Tensor([2.0]))
        self.child = nn.ReLU()
        self.register_buffer("state", ms.Tensor([3.0]))
        self.plain = 4

    def construct(self, x, scale=1):
        return x * self.weight * scale


X = ms.Tensor([1.0])


def test_what_is_registered_and_what_is_not():
    net = Net()
    assert net.weight is net._params["weight"] and net.child is net._cells["child"]
    assert net.state is net._buffers["state"] and net.plain == 4 and net.training is False
    with pytest.raises(AttributeError, match="The 'Net' object has no attribute 'other'"):
        _ = net.other
    assert not hasattr(net, "other") and getattr(net, "other", 5) == 5
    net.weight = None
    assert net.weight is None


def test_own_ways_of_finding_attributes():
    class Falls(Net):
        def __getattr__(self, name):
            return 7 if name == "made" else super().__getattr__(name)

    class Below(Falls):
        pass

    for net in (Falls(), Below()):
        assert net.made == 7 and net.child is net._cells["child"] and net.plain == 4
        with pytest.raises(AttributeError, match="has no attribute 'other'"):
            _ = net.other

    class Sees(Net):
        def __getattribute__(self, name):
            return 8 if name == "seen" else super().__getattribute__(name)

    assert Sees().seen == 8 and Sees().child is not None


def test_a_way_that_is_told_later():
    class Late(Net):
        pass

    class Below(Late):
        pass

    nets = Late(), Below()
    assert all(net.child is net._cells["child"] for net in nets)
    Late.__getattr__ = lambda self, name: name
    assert [net.unknown for net in nets] == ["unknown"] * 2
    del Late.__getattr__
    assert all(net.child is net._cells["child"] for net in nets)
    with pytest.raises(AttributeError, match="has no attribute 'unknown'"):
        _ = nets[0].unknown


def test_properties():
    class Bounded(Net):
        @property
        def doubled(self):
            return 2 * self.plain

        @property
        def wrong(self):
            return self.missing

        @property
        def failing(self):
            raise ValueError("mine")

    net = Bounded()
    assert net.doubled == 8
    with pytest.raises(AttributeError, match="has no attribute 'wrong'"):
        _ = net.wrong
    with pytest.raises(ValueError, match="mine"):
        _ = net.failing


def test_a_class_that_does_not_tell_its_base_of_subclasses():
    class Silent(Net):
        def __init_subclass__(cls, **kwargs):
            pass

    class Below(Silent):
        pass

    assert Below().child is not None and Below()(X).asnumpy() == 2


def test_construct_is_found_anew_at_every_call():
    net = Net()
    assert net(X).asnumpy() == 2 and net(X, scale=3).asnumpy() == 6 and net(X, 4).asnumpy() == 8
    net.construct = lambda x: x - 1
    assert net(X).asnumpy() == 0
    del net.construct
    assert net(X).asnumpy() == 2
    with pytest.raises(TypeError, match="construct"):
        net()
    with pytest.raises(TypeError, match="construct"):
        net(X, wrong=1)


def test_own_calls():
    class Counts(Net):
        calls = 0

        def __call__(self, *args, **kwargs):
            self.calls += 1
            return super().__call__(*args, **kwargs)

    net = Counts()
    assert net(X).asnumpy() == 2 and net(X, scale=2).asnumpy() == 4 and net.calls == 2


def test_a_cell_beside_another_base():
    class Named:
        def __init__(self):
            self.name = "n"

        def greet(self):
            return f"{self.name} {self.plain}"

    class Both(Net, Named):
        def __init__(self):
            Net.__init__(self)
            Named.__init__(self)

    assert Both().greet() == "n 4" and Both()(X).asnumpy() == 2


def test_a_hook_after_the_first_call_is_called():
    net = Net()
    net(X)
    handle = net.register_forward_hook(lambda cell, args, output: output + 10)
    assert net(X).asnumpy() == 12
    handle.remove()
    assert net(X).asnumpy() == 2

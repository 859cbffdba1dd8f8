"""Cell: registration, names, iteration, attribute rules, state, calls."""

import copy
from collections import OrderedDict

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.v = Parameter(Tensor([1.0]), name="other")
        self.u = Parameter(Tensor([1.0, 2.0]), requires_grad=False)

    def construct(self, x):
        return x * self.v


class Outer(nn.Cell):
    def __init__(self, auto_prefix=True):
        super().__init__(auto_prefix=auto_prefix)
        self.w = Parameter(Tensor([3.0]), name="explicit")
        self.a = Inner()
        self.b = Inner()

    def construct(self, x):
        return self.b(self.a(x)) * self.w


def names(cell):
    return [p.name for p in cell.get_parameters()]


def test_names_own_first_then_children_by_attribute():
    net = Outer()
    assert names(net) == ["explicit", "a.v", "a.u", "b.v", "b.u"]
    assert [n for n, _ in net.parameters_and_names()] == ["w", "a.v", "a.u", "b.v", "b.u"]
    assert list(net.parameters_dict()) == names(net)
    assert [p.name for p in net.trainable_params()] == ["explicit", "a.v", "b.v"]
    assert [p.name for p in net.untrainable_params()] == ["a.u", "b.u"]


def test_without_auto_prefix_names_stay():
    assert names(Outer(auto_prefix=False)) == ["explicit", "other", "u", "other", "u"]


def test_duplicate_names_are_found():
    with pytest.raises(ValueError, match="its name 'other' already exists"):
        Outer(auto_prefix=False).check_names()
    Outer().check_names()


def test_shared_child_is_listed_once_with_the_last_prefix():
    net = nn.Cell()
    net.x = net.y = Inner()
    assert [n for n, _ in net.cells_and_names()] == ["", "y"] or [n for n, _ in net.cells_and_names()] == ["", "x"]
    assert len(names(net)) == 2


def test_shared_child_as_mindspore_names_it():
    class Shared(nn.Cell):
        def __init__(self):
            super().__init__()
            child = Inner()
            self.x = child
            self.y = child

    net = Shared()
    assert [n for n, _ in net.cells_and_names()] == ["", "x"]
    assert names(net) == ["y.v", "y.u"]


def test_tied_parameter_is_listed_once_under_the_first_path():
    net = Outer()
    net.b.v = net.a.v
    assert names(net) == ["explicit", "a.v", "a.u", "b.u"]
    assert net.b.v is net.a.v


def test_update_parameters_name():
    net = Outer()
    net.update_parameters_name("pre.")
    assert names(net)[:2] == ["pre.w", "pre.a.v"]
    with pytest.raises(TypeError):
        net.update_parameters_name(3)
    with pytest.raises(ValueError, match="prefix"):
        net.update_parameters_name("a b.")


def test_insert_child_rules():
    net = Outer()
    for name, value, error in (
        ("w", Inner(), KeyError),
        ("x.y", Inner(), KeyError),
        ("", Inner(), KeyError),
        ("q", 3, TypeError),
        (3, Inner(), TypeError),
    ):
        with pytest.raises(error):
            net.insert_child_to_cell(name, value)
    net.insert_child_to_cell("none", None)
    assert net.none is None
    net.insert_child_to_cell("a", Inner())
    assert [n for n, _ in net.cells_and_names()] == ["", "a", "b"]


def test_insert_param_rules():
    net = Outer()
    p = Parameter(Tensor([1.0]))
    for name, value, error in (("x.y", p, KeyError), ("", p, KeyError), ("a", p, KeyError), ("z", 3, TypeError)):
        with pytest.raises(error):
            net.insert_param_to_cell(name, value)
    net.insert_param_to_cell("x.y", p, check_name_contain_dot=False)
    assert p.name == "x.y"


def test_attribute_rules():
    net = Outer()
    kept = net.w
    net.w = Tensor([9.0])
    assert net.w is kept and net.w.asnumpy() == 9.0
    with pytest.raises(TypeError, match="Parameter 'w' already exists"):
        net.w = 3
    with pytest.raises(TypeError, match="Sub cell 'a' already exists"):
        net.a = Tensor([1.0])
    with pytest.raises(KeyError):
        net.a = Parameter(Tensor([1.0]))
    with pytest.raises(KeyError):
        net.w = Inner()
    net.w = None
    assert net.w is None
    net.a = None
    assert [n for n, _ in net.cells_and_names()] == ["", "b"]
    del net.b
    assert names(net) == []
    with pytest.raises(AttributeError):
        del net.b
    with pytest.raises(AttributeError, match="The 'Outer' object has no attribute 'zz'"):
        _ = net.zz


def test_missing_super_init():
    class Bad(nn.Cell):
        def __init__(self, value=None):
            self.x = value

    with pytest.raises(AttributeError, match="__init__"):
        Bad(Parameter(Tensor([1.0])))
    with pytest.raises(AttributeError, match="__init__"):
        Bad(Inner())
    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Bad(3)(Tensor([1.0]))


def test_construct_is_required_and_takes_any_arguments():
    with pytest.raises(AttributeError, match="'construct' is not defined"):
        nn.Cell()(Tensor([1.0]))

    class Any(nn.Cell):
        def construct(self, x, *args, scale=1, **kwargs):
            return x * scale, args, kwargs

    x = Tensor([2.0])
    y, args, kwargs = Any()(x, None, "s", scale=3, other=(1, 2))
    assert y.asnumpy() == 6.0 and args == (None, "s") and kwargs == {"other": (1, 2)}
    with pytest.raises(TypeError, match="construct"):
        Outer()(x, x)


def test_train_state():
    net = Outer()
    assert net.training is False and net.phase == "train"
    assert net.set_train() is net and net.a.training and net.phase == "train"
    net.set_train(False)
    assert not net.b.training and net.phase == "predict" and net.a.phase == "train"
    net.a.training = True
    assert not net.training
    assert net.set_grad() is net and net.requires_grad and not net.a.requires_grad


def test_apply_children_first():
    seen = []
    net = Outer()
    assert net.apply(seen.append) is net
    assert seen == [net.a, net.b, net]


def test_broadcast_dict_leaves_layerwise_parameters_out():
    net = Outer()
    net.a.v.layerwise_parallel = True
    assert list(net.parameters_broadcast_dict()) == ["explicit", "a.u", "b.v", "b.u"]
    assert nn.Cell().parameters_broadcast_dict() is None


def test_flags_and_fusion():
    net = Outer()
    assert net.add_flags(xx=3).xx == 3 and net.get_flags()["xx"] == 3
    net.add_flags_recursive(yy=True)
    assert net.a.yy is True
    net.set_comm_fusion(2)
    assert {p.comm_fusion for p in net.trainable_params()} == {2}
    with pytest.raises(ValueError):
        net.set_comm_fusion(-1)
    with pytest.raises(TypeError):
        net.set_comm_fusion("a")
    net.set_param_ps()
    assert net.w.is_param_ps and not net.a.u.is_param_ps


def test_to_float_casts_inside_and_keeps_parameters():
    net = Outer().to_float(ms.float16)
    y = net(Tensor([2.0]))
    assert y.dtype is ms.float16 and net.w.dtype is ms.float32 and net.a.fp16
    grads = ms.grad(net, None, net.trainable_params())(Tensor([2.0]))
    assert [g.dtype for g in grads] == [ms.float32] * 3
    np.testing.assert_allclose([g.asnumpy()[0] for g in grads], [2.0, 6.0, 6.0])
    with pytest.raises(ValueError, match="dst_type"):
        net.to_float(ms.int32)


def test_repr():
    class Empty(nn.Cell):
        pass

    net = nn.Cell()
    net.x = Empty()
    net.y = net.x
    assert repr(net) == "Cell(\n  (x): Empty()\n  (y): Empty()\n)"
    assert str(Empty()) == "Empty()"


def test_buffers():
    net = Outer()
    net.register_buffer("b1", Tensor([1.0]))
    net.a.register_buffer("b2", Tensor([2.0]), persistent=False)
    assert [n for n, _ in net.named_buffers()] == ["b1", "a.b2"]
    assert [float(b.asnumpy()[0]) for b in net.buffers()] == [1.0, 2.0]
    assert net.get_buffer("a.b2").asnumpy() == 2.0 and net.b1.asnumpy() == 1.0
    with pytest.raises(TypeError, match="buffer name should be a string"):
        net.register_buffer(3, Tensor([1.0]))
    with pytest.raises(KeyError, match='contain \\\\?"'):
        net.register_buffer("x.y", Tensor([1.0]))
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("w", Tensor([1.0]))
    with pytest.raises(TypeError):
        net.register_buffer("c", 3)
    with pytest.raises(AttributeError, match="has no attribute"):
        net.get_buffer("nope")
    with pytest.raises(TypeError, match="Buffer 'b1' already exists"):
        net.b1 = 3


def test_state_dict_round_trip():
    net = Outer()
    net.register_buffer("b1", Tensor([1.0]))
    net.register_buffer("b2", Tensor([1.0]), persistent=False)
    state = net.state_dict()
    assert list(state) == ["w", "b1", "a.v", "a.u", "b.v", "b.u"]
    other = Outer()
    other.register_buffer("b1", Tensor([5.0]))
    state = OrderedDict((k, Tensor(v.asnumpy() + 1)) for k, v in state.items())
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.w.asnumpy() == 4.0 and other.b1.asnumpy() == 2.0
    result = other.load_state_dict({"w": Tensor([7.0]), "zz": Tensor([1.0])}, strict=False)
    assert result.unexpected_keys == ["zz"] and "a.v" in result.missing_keys
    with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict for Outer:"):
        other.load_state_dict({"w": Tensor([7.0])})
    with pytest.raises(RuntimeError, match="size mismatch for w"):
        other.load_state_dict({"w": Tensor([7.0, 8.0])}, strict=False)


def test_state_dict_hooks_run_in_order_and_can_be_removed():
    net = Outer()
    seen = []
    handles = [
        net.register_state_dict_pre_hook(lambda *a: seen.append("pre")),
        net.register_state_dict_post_hook(lambda cell, state, prefix, meta: seen.append(len(state))),
        net.register_load_state_dict_pre_hook(lambda *a: seen.append("load pre")),
        net.register_load_state_dict_post_hook(lambda cell, keys: seen.append(keys.missing_keys)),
    ]
    net.load_state_dict(net.state_dict())
    assert seen == ["pre", 5, "load pre", []]
    for handle in handles:
        handle.remove()
        handle.remove()
    net.load_state_dict(net.state_dict())
    assert len(seen) == 4


def test_deepcopy_is_independent():
    net = Outer()
    twin = copy.deepcopy(net)
    twin.w.set_data(Tensor([8.0]))
    assert net.w.asnumpy() == 3.0 and names(twin) == names(net)
    assert twin.a is not net.a


def test_forward_hooks():
    net = Inner()
    seen = []

    def pre(cell, args):
        seen.append(("pre", cell is net, len(args)))
        return args[0] + 1

    def post(cell, args, output):
        seen.append(("post", float(args[0].asnumpy()[0])))
        return output * 10

    handles = [net.register_forward_pre_hook(pre), net.register_forward_hook(post)]
    assert net(Tensor([2.0])).asnumpy() == 30.0
    assert seen == [("pre", True, 1), ("post", 3.0)]
    assert ms.grad(net)(Tensor([2.0])).asnumpy() == 10.0
    for handle in handles:
        handle.remove()
    assert net(Tensor([2.0])).asnumpy() == 2.0
    with pytest.raises(TypeError, match="Expected a callable hook function, but got str."):
        net.register_forward_hook("x")


def test_forward_hooks_with_kwargs():
    class Scaled(nn.Cell):
        def construct(self, x, scale=1):
            return x * scale

    net = Scaled()
    net.register_forward_pre_hook(lambda cell, args, kwargs: (args, {"scale": kwargs["scale"] * 2}), with_kwargs=True)
    net.register_forward_hook(lambda cell, args, kwargs, out: out + kwargs["scale"], with_kwargs=True)
    assert net(Tensor([1.0]), scale=3).asnumpy() == 12.0
    net.register_forward_pre_hook(lambda cell, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre hook with kwargs must return None or a tuple"):
        net(Tensor([1.0]), scale=3)

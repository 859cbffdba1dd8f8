"""Buffers, state dictionaries, and the conversion of all parameters and buffers."""

import copy
from collections import OrderedDict

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.common.parameter import _Buffer
from dist_ms.nn.cell import register_cell_buffer_registration_hook
from tests.serial.nn.cell.cells import Outer, Scale, names, numbers, tensor


class Buffered(nn.Cell):
    """A parameter, a child, and one buffer of each kind."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(tensor(1), name="w")
        self.a = Scale(2)
        self.register_buffer("kept", tensor(3))
        self.register_buffer("dropped", tensor(4), persistent=False)
        self.register_buffer("empty", None)

    def construct(self, x):
        return self.a(x) * self.w + self.kept


# ---- buffers
def test_buffers_are_state_but_no_parameters():
    net = nn.SequentialCell(Buffered())
    assert [n for n, _ in net.named_buffers()] == ["0.kept", "0.dropped"]
    assert [n for n, _ in net.named_buffers("p")] == ["p.0.kept", "p.0.dropped"]
    assert list(net.named_buffers(recurse=False)) == []
    assert numbers(list(net.buffers())) == [[3.0], [4.0]]
    assert numbers(net.get_buffer("0.kept")) == [3.0] and net.get_buffer("0.empty") is None
    assert names(net) == ["0.w", "0.a.w"]
    assert numbers(ms.grad(net)(tensor(1))) == [2.0]


def test_a_tensor_registered_twice():
    net, shared = nn.Cell(), tensor(1)
    net.register_buffer("x", shared)
    net.y = shared
    assert net.x is net.y is shared
    assert [n for n, _ in net.named_buffers()] == ["x"]
    assert [n for n, _ in net.named_buffers(remove_duplicate=False)] == ["x", "y"]


@pytest.mark.parametrize(
    "name, value, error, match",
    [
        (3, tensor(1), TypeError, "buffer name should be a string"),
        ("a.b", tensor(1), KeyError, 'can\\\\\'t contain "."'),
        ("", tensor(1), KeyError, "empty string"),
        ("w", tensor(1), KeyError, "attribute 'w' already exists"),
        ("a", tensor(1), KeyError, "attribute 'a' already exists"),
        ("construct", tensor(1), KeyError, "attribute 'construct' already exists"),
        ("c", 3, TypeError, "cannot assign '<class 'int'>' object to buffer 'c'"),
    ],
)
def test_wrong_buffers(name, value, error, match):
    with pytest.raises(error, match=match):
        Buffered().register_buffer(name, value)


def test_buffers_that_are_not_there():
    net = Buffered()
    for path, match in (
        ("zz", "Buffered has no attribute `zz`"),
        ("w", "`w` is not a buffer"),
        ("a.z", "Scale has"),
    ):
        with pytest.raises(AttributeError, match=match):
            net.get_buffer(path)


def test_assigning_to_buffers():
    net = Buffered()
    for wrong in (3, tensor(9)):
        with pytest.raises(TypeError, match="Buffer 'kept' already exists in network"):
            net.kept = wrong
    net.kept = _Buffer(tensor(9))
    assert numbers(net.kept) == [9.0]
    net.kept = None
    assert net.kept is None and [n for n, _ in net.named_buffers()] == ["dropped"]
    for value, match in ((Parameter(tensor(1)), "'param_name' must be new"), (Scale(), "'child_name' must be new")):
        with pytest.raises(KeyError, match=match):
            net.kept = value
    del net.dropped
    assert not hasattr(net, "dropped")
    with pytest.raises(AttributeError, match=r"__init__\(\) before assigning a buffer"):
        nn.Cell.__new__(nn.Cell).register_buffer("x", tensor(1))


def test_marked_tensors_become_buffers():
    net = nn.Cell()
    net.plain = 3
    net.plain = _Buffer(tensor(1))
    net.kept, net.dropped = _Buffer(tensor(2)), _Buffer(tensor(3), persistent=False)
    assert [n for n, _ in net.named_buffers()] == ["plain", "kept", "dropped"]
    assert list(net.state_dict()) == ["plain", "kept"]
    net.w = Parameter(tensor(1), name="w")
    with pytest.raises(KeyError, match="attribute 'w' already exists"):
        net.w = _Buffer(tensor(1))


def test_hooks_on_the_registration_of_buffers():
    seen = []
    handle = register_cell_buffer_registration_hook(lambda cell, name, buffer: seen.append((cell.cls_name, name)))
    double = register_cell_buffer_registration_hook(lambda cell, name, buffer: buffer * 2)
    net = nn.Cell()
    net.register_buffer("x", tensor(1))
    handle.remove()
    double.remove()
    net.register_buffer("y", tensor(1))
    assert seen == [("Cell", "x")] and numbers((net.x, net.y)) == ([2.0], [1.0])


# ---- state dictionaries
def test_state_dict():
    net = Buffered()
    state = net.state_dict()
    assert type(state) is OrderedDict and list(state) == ["w", "kept", "a.w"]
    assert state["w"] is net.w and state["kept"] is net.kept and list(state._metadata) == ["", "a"]
    assert list(net.state_dict(prefix="net.")) == ["net.w", "net.kept", "net.a.w"]
    mine = {}
    assert net.state_dict(destination=mine) is mine and list(mine) == list(state)
    assert list(net.state_dict(OrderedDict(), "p.")) == ["p.w", "p.kept", "p.a.w"]
    for wrong in ({"destination": 3}, {"prefix": 3}, {"keep_vars": 3}):
        with pytest.raises(TypeError, match=f"The type of {next(iter(wrong))} must be"):
            net.state_dict(**wrong)


def test_loading():
    net, other = Buffered(), Buffered()
    kept = other.w, other.kept
    state = OrderedDict((k, Tensor(v.asnumpy() + 1)) for k, v in net.state_dict().items())
    result = other.load_state_dict(state)
    assert repr(result) == str(result) == "<All keys matched successfully>"
    assert (result.missing_keys, result.unexpected_keys) == ([], [])
    assert numbers((other.w, other.kept, other.a.w)) == ([2.0], [4.0], [3.0])
    assert (other.w, other.kept) == kept


def test_values_are_cast_to_the_types_there_are():
    net = Buffered()
    net.register_buffer("steps", Tensor([1], ms.int32))
    net.load_state_dict({"w": Tensor([7]), "steps": Tensor([2.9]), "kept": Tensor([0.1], ms.float64)}, strict=False)
    assert numbers((net.w, net.steps)) == ([7.0], [2]) and net.steps.dtype is ms.int32
    assert net.kept.dtype is ms.float32 and net.w.dtype is ms.float32


@pytest.mark.parametrize(
    "entries, missing, unexpected",
    [
        ({}, ["w", "kept", "a.w"], []),
        ({"w": tensor(1), "zz": tensor(1)}, ["kept", "a.w"], ["zz"]),
        ({"a.zz": tensor(1)}, ["w", "kept", "a.w"], ["a.zz"]),
        ({"b.w": tensor(1)}, ["w", "kept", "a.w"], ["b.w"]),
        ({"a.w.q": tensor(1)}, ["w", "kept", "a.w"], ["a.w.q"]),
        ({"dropped": tensor(1), "empty": tensor(1)}, ["w", "kept", "a.w"], ["dropped", "empty"]),
    ],
)
def test_names_that_do_not_match(entries, missing, unexpected):
    result = Buffered().load_state_dict(entries, strict=False)
    assert result == (missing, unexpected)
    assert repr(result) == f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"
    with pytest.raises(RuntimeError, match=r"in loading state_dict for Buffered:\n\tMissing key\(s\)") as error:
        Buffered().load_state_dict(entries)
    assert ("Unexpected key(s)" in str(error.value)) == bool(unexpected)


def test_values_that_do_not_fit():
    net = Buffered()
    with pytest.raises(RuntimeError, match=r"size mismatch for w: .* but got \(2,\)"):
        net.load_state_dict({"w": tensor(1, 2)}, strict=False)
    for wrong in (3, np.ones(1)):
        with pytest.raises(RuntimeError, match='For "w", a state dictionary must hold a Tensor'):
            net.load_state_dict({"w": wrong}, strict=False)
    for wrong in (3, [("w", tensor(1))]):
        with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
            net.load_state_dict(wrong)


def test_extra_state():
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.steps = 0

        def get_extra_state(self):
            return {"steps": self.steps}

        def set_extra_state(self, state):
            self.steps = state["steps"]

    net = nn.SequentialCell(Counter(), Scale())
    net[0].steps = 5
    state = net.state_dict()
    assert list(state) == ["0._extra_state", "1.w"]
    other = nn.SequentialCell(Counter(), Scale())
    other.load_state_dict(state)
    assert other[0].steps == 5
    assert other.load_state_dict({"1.w": tensor(1)}, strict=False).missing_keys == ["0._extra_state"]
    plain = nn.SequentialCell(Scale(), Scale())
    state = {**plain.state_dict(), "0._extra_state": 3}
    assert plain.load_state_dict(state, strict=False).unexpected_keys == ["0._extra_state"]
    for call in (Scale().get_extra_state, lambda: Scale().set_extra_state(3)):
        with pytest.raises(RuntimeError, match="override it to have extra state"):
            call()


def test_hooks_run_in_order_and_can_be_removed():
    net, seen = Outer(), []
    handles = [
        net.register_state_dict_pre_hook(lambda cell, prefix, keep: seen.append(("save", cell is net, prefix, keep))),
        net.register_state_dict_post_hook(lambda cell, state, prefix, meta: seen.append(("saved", len(state), meta))),
        net.register_load_state_dict_pre_hook(lambda cell, state, *rest: seen.append(("load", len(state), *rest))),
        net.register_load_state_dict_post_hook(lambda cell, keys: seen.append(("loaded", keys.missing_keys))),
    ]
    net.load_state_dict(net.state_dict())
    assert seen == [
        ("save", True, "", False),
        ("saved", 5, {}),
        ("load", 5, "", {}, True, [], [], []),
        ("loaded", []),
    ]
    for handle in handles * 2:
        handle.remove()
    net.load_state_dict(net.state_dict())
    assert len(seen) == 4
    with pytest.raises(TypeError, match="Expected a callable hook function"):
        net.register_state_dict_pre_hook(3)


def test_hooks_may_change_names_and_results():
    net = Scale()
    rename = net.register_load_state_dict_pre_hook(lambda cell, state, *rest: state.update(w=state.pop("old")))
    given = {"old": tensor(9)}
    net.load_state_dict(given)
    assert numbers(net.w) == [9.0] and list(given) == ["old"]
    rename.remove()
    forgive = net.register_load_state_dict_post_hook(lambda cell, keys: keys.missing_keys.clear())
    assert net.load_state_dict({}).missing_keys == []
    forgive.remove()
    net.register_load_state_dict_post_hook(lambda cell, keys: keys)
    with pytest.raises(RuntimeError, match="not expected to return new values"):
        net.load_state_dict({"w": tensor(1)})
    net.register_state_dict_post_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        net.state_dict()


def test_checkpoints_hold_buffers(tmp_path):
    net, other = Buffered(), Buffered()
    other.load_state_dict({k: Tensor(v.asnumpy() * 0) for k, v in other.state_dict().items()})
    ms.save_checkpoint(net.state_dict(), str(tmp_path / "net.ckpt"))
    other.load_state_dict(ms.load_checkpoint(str(tmp_path / "net.ckpt")))
    assert numbers(list(other.state_dict().values())) == numbers(list(net.state_dict().values()))


# ---- conversion
def test_to_another_type():
    net = Buffered()
    net.register_buffer("steps", Tensor([1]))
    net.insert_param_to_cell("index", Parameter(Tensor([1]), name="index"))
    w = net.w
    assert net.to(ms.float16) is net
    assert [p.dtype for p in net.get_parameters()] == [ms.float16, ms.int64, ms.float16]
    assert [b.dtype for b in net.buffers()] == [ms.float16, ms.float16, ms.int64]
    assert net.w is w and numbers(net.kept) == [3.0]
    assert list(net.state_dict()) == ["w", "index", "kept", "steps", "a.w"]
    for call in (
        lambda: net.to(device="CPU", dtype=ms.float32),
        lambda: net.to("CPU", ms.float32, False),
        lambda: net.to(ms.float32, True),
        lambda: net.to(Tensor([1.0])),
        lambda: net.to(tensor=Tensor([1.0])),
    ):
        net.to(ms.float64)
        assert net.w.dtype is ms.float64
        call()
        assert net.w.dtype is net.kept.dtype is ms.float32
    assert net.to("CPU") is net.to() is net.to(None) is net and net.w.dtype is ms.float32
    assert numbers(net(tensor(1))) == [5.0]
    assert net.to(ms.complex64).w.dtype is ms.complex64


def test_training_goes_on_after_to():
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False).to(ms.float64)
    grads = ms.grad(net, None, net.trainable_params())(Tensor([[1.0, 2.0]], ms.float64))
    assert grads[0].dtype is ms.float64


@pytest.mark.parametrize(
    "args, kwargs, error, match",
    [
        ((ms.int32,), {}, TypeError, "only accepts floating point or complex dtypes, but got desired dtype=Int32"),
        ((ms.bool_,), {}, TypeError, "only accepts floating point or complex dtypes"),
        ((3,), {}, TypeError, r'Failed calling Cell.to with "Cell.to\(int\)"'),
        ((), {"zz": 1}, TypeError, "The valid calling should be"),
        ((), {"dtype": "float32"}, TypeError, r"Cell.to\(dtype=str\)"),
        ((ms.float16,), {"dtype": ms.float32}, TypeError, "Failed calling"),
        (("CPU", ms.float16, False, 3), {}, TypeError, "Failed calling"),
        (("Ascend",), {}, RuntimeError, "'device' must be None or 'CPU', but got 'Ascend'"),
        (("zz",), {}, ValueError, "'device' must be None or 'CPU', but got 'zz'"),
    ],
)
def test_wrong_conversions(args, kwargs, error, match):
    with pytest.raises(error, match=match):
        Scale().to(*args, **kwargs)


def test_to_empty():
    net = Buffered()
    w = net.w
    assert net.to_empty() is net and net.to_empty(device="CPU", recurse=False) is net
    assert net.w is w and net.w.shape == (1,) and net.w.dtype is ms.float32
    net.load_state_dict(Buffered().state_dict())
    assert numbers(net(tensor(1))) == [5.0]
    with pytest.raises(RuntimeError, match="'device' must be None or 'CPU', but got 'GPU'"):
        net.to_empty(device="GPU")
    with pytest.raises(ValueError, match="it is unknown"):
        net.to_empty(device="zz")


def test_copies_keep_buffers_apart():
    net = Buffered()
    twin = copy.deepcopy(net)
    twin.load_state_dict({"kept": tensor(9)}, strict=False)
    assert numbers((net.kept, twin.kept)) == ([3.0], [9.0])
    assert [n for n, _ in twin.named_buffers()] == ["kept", "dropped"]

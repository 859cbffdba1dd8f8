"""Cell: registration, names, iteration, attribute rules, calls, printed form, copies."""

import copy
import pickle

import pytest

import dist_ms as ms
from dist_ms import Parameter, ParameterTuple, Tensor, nn, ops
from tests.serial.nn.cell.cells import Double, Inner, Outer, Scale, names, numbers, tensor


# ---- names and iteration
def test_names_own_first_then_children_by_attribute():
    net = Outer()
    assert names(net) == ["explicit", "a.v", "a.u", "b.v", "b.u"]
    assert [n for n, _ in net.parameters_and_names()] == ["w", "a.v", "a.u", "b.v", "b.u"]
    assert list(net.parameters_dict()) == names(net)
    assert [p.name for p in net.trainable_params()] == ["explicit", "a.v", "b.v"]
    assert [p.name for p in net.untrainable_params()] == ["a.u", "b.u"]
    assert [p.name for p in net.trainable_params(recurse=False)] == ["explicit"]
    assert [n for n, _ in net.parameters_and_names("net", expand=False)] == ["net.w"]


def test_names_of_deeper_levels():
    class Deep(nn.Cell):
        def __init__(self):
            super().__init__()
            self.out = Outer()

    net = nn.Cell()
    net.deep = Deep()
    assert names(net) == ["deep.out.w", "deep.out.a.v", "deep.out.a.u", "deep.out.b.v", "deep.out.b.u"]
    net.deep.out.a.late = Parameter(tensor(1))  # names of later ones start where they are set, as in MindSpore
    net.deep.out.child = Inner()
    assert names(net)[3:4] == ["late"] and names(net)[-2:] == ["child.v", "child.u"]
    net.deep.out.a.v = Parameter(tensor(1), name="fresh")
    assert names(net)[1] == "fresh"


def test_without_auto_prefix_names_stay():
    assert names(Outer(auto_prefix=False)) == ["explicit", "other", "u", "other", "u"]


def test_duplicate_names_are_found():
    net = Outer(auto_prefix=False)
    with pytest.raises(ValueError, match="a name of its own, but 'other' of b.v already exists"):
        net.check_names()
    assert len(net.parameters_dict()) == 3
    Outer().check_names()


def test_the_first_call_makes_names_unique():
    net = Outer(auto_prefix=False)
    net(tensor(1))
    assert names(net) == ["w", "a.v", "a.u", "b.v", "b.u"]
    net = Outer()
    net(tensor(1))
    assert names(net)[0] == "explicit"


def test_shared_child_as_mindspore_names_it():
    net, child = nn.Cell(), Inner()
    net.x = child
    net.y = child
    assert [n for n, _ in net.cells_and_names()] == ["", "x"]
    assert list(net.name_cells()) == ["x"] and len(net.cells()) == 1
    assert names(net) == ["y.v", "y.u"]
    assert repr(net) == "Cell(\n  (x): Inner()\n  (y): Inner()\n)"


def test_tied_parameter_is_listed_once_under_the_first_path():
    net = Outer()
    net.b.v = net.a.v
    assert names(net) == ["explicit", "a.v", "a.u", "b.u"]
    assert net.b.v is net.a.v
    assert list(net.state_dict()) == ["w", "a.v", "a.u", "b.v", "b.u"]
    grads = ms.grad(net, None, net.trainable_params())(tensor(2))
    assert numbers(grads) == ([2.0], [12.0])  # of w v v x


def test_update_parameters_name():
    net = Outer()
    net.update_parameters_name("pre-1.")
    assert names(net)[:2] == ["pre-1.w", "pre-1.a.v"]
    net.update_parameters_name("own.", recurse=False)
    assert names(net)[:2] == ["own.w", "pre-1.a.v"]
    with pytest.raises(TypeError, match="'prefix' must be a str"):
        net.update_parameters_name(3)
    with pytest.raises(ValueError, match="'prefix' must hold only"):
        net.update_parameters_name("a b.")


def test_paths_of_cells():
    net = nn.SequentialCell(Outer())
    assert [n for n, _ in net.cells_and_names(name_prefix="net")] == ["net", "net.0", "net.0.a", "net.0.b"]
    assert net.get_sub_cell("0.a") is net[0].a and net.get_sub_cell("") is net
    for path, match in (("0.zz", "Outer has no attribute `zz`"), ("0.w", "`w` is not an nn.Cell")):
        with pytest.raises(AttributeError, match=match):
            net.get_sub_cell(path)
    assert net[0].a.param_prefix == ""
    net.update_cell_prefix()
    assert net[0].a.param_prefix == "0.a"


def test_apply_children_first():
    seen = []
    net = Outer()
    assert net.apply(seen.append) is net
    assert seen == [net.a, net.b, net]


def test_broadcast_dict_leaves_layerwise_parameters_out():
    net = Outer()
    net.a.v.layerwise_parallel = True
    assert list(net.parameters_broadcast_dict()) == ["explicit", "a.u", "b.v", "b.u"]
    assert list(net.parameters_broadcast_dict(recurse=False)) == ["explicit"]
    assert nn.Cell().parameters_broadcast_dict() is None


# ---- registration
def test_insert_child_rules():
    net = Outer()
    for name, value, error in (
        ("w", Inner(), KeyError),
        ("x.y", Inner(), KeyError),
        ("", Inner(), KeyError),
        ("construct", Inner(), KeyError),
        ("training", Inner(), KeyError),
        ("q", 3, TypeError),
        (3, Inner(), TypeError),
        (None, Inner(), TypeError),
    ):
        with pytest.raises(error, match="insert_child_to_cell"):
            net.insert_child_to_cell(name, value)
    net.insert_child_to_cell("none", None)
    assert net.none is None
    net.insert_child_to_cell("a", Inner())
    assert [n for n, _ in net.cells_and_names()] == ["", "a", "b"]
    assert names(net)[1] == "other"  # an inserted child keeps its names


def test_insert_param_rules():
    net = Outer()
    p = Parameter(tensor(1))
    for name, value, error in (
        ("x.y", p, KeyError),
        ("", p, KeyError),
        (None, p, KeyError),
        ("a", p, KeyError),
        ("phase", p, KeyError),
        ("z", 3, TypeError),
        (3, p, TypeError),
    ):
        with pytest.raises(error, match="insert_param_to_cell"):
            net.insert_param_to_cell(name, value)
    net.insert_param_to_cell("none", None)
    assert net.none is None
    net.insert_param_to_cell("x.y", p, check_name_contain_dot=False)
    assert p.name == "x.y" and names(net)[1] == "x.y"


def test_attribute_rules():
    net = Outer()
    kept = net.w
    net.w = tensor(9)
    assert net.w is kept and numbers(net.w) == [9.0]
    for name, value, error, match in (
        ("w", 3, TypeError, "Parameter 'w' already exists"),
        ("w", "s", TypeError, "Parameter 'w' already exists"),
        ("w", Inner(), KeyError, "'child_name' must be new to the Cell, but w already exists"),
        ("a", tensor(1), TypeError, "Sub cell 'a' already exists"),
        ("a", 3, TypeError, "Sub cell 'a' already exists"),
        ("a", Parameter(tensor(1)), KeyError, "'param_name' must be new to the Cell, but a already exists"),
    ):
        with pytest.raises(error, match=match):
            setattr(net, name, value)
    net.w = None
    assert net.w is None and names(net) == ["a.v", "a.u", "b.v", "b.u"]
    net.w = Parameter(tensor(1), name="back")
    assert names(net)[0] == "back"
    net.a = None
    assert [n for n, _ in net.cells_and_names()] == ["", "b"]
    assert repr(net) == "Outer(\n  (a): None\n  (b): Inner()\n)"
    net.a = Inner()
    assert names(net)[1] == "a.v"


def test_plain_attributes_give_way():
    net = Outer()
    net.x, net.y = 3, 4
    net.x, net.y = Inner(), Parameter(tensor(5))
    assert isinstance(net.x, Inner) and net.y.name == "y"
    del net.x
    with pytest.raises(AttributeError, match="no attribute 'x'"):
        net.x  # noqa: B018


def test_deletion():
    net = Outer()
    del net.b
    assert names(net) == ["explicit", "a.v", "a.u"]
    del net.w, net.a.v
    assert names(net) == ["a.u"]
    with pytest.raises(AttributeError):
        del net.b
    with pytest.raises(AttributeError, match="The 'Outer' object has no attribute 'zz'"):
        net.zz  # noqa: B018


def test_lists_of_cells_are_not_registered():
    net = nn.Cell()
    net.layers = [Inner(), Inner()]
    assert names(net) == [] and len(net.cells()) == 0


def test_lists_of_parameters_are_not_registered_but_their_names_differ():
    net = nn.Cell()
    p = Parameter(tensor(1), name="p")
    net.pair = (p, p)
    net.list = [p, Parameter(tensor(1), name="q")]
    assert names(net) == [] and net.pair[1] is p
    with pytest.raises(ValueError, match="but 'q' already exists"):
        net.more = [Parameter(tensor(1), name="q")]


def test_parameter_tuples_are_registered():
    net = nn.Cell()
    net.pair = ParameterTuple([Parameter(tensor(1), name="x"), Parameter(tensor(2), name="y")])
    net.unnamed = ParameterTuple([Parameter(tensor(3)), Parameter(tensor(4))])
    assert names(net) == ["x", "y", "Parameter$1", "Parameter$2"]
    assert isinstance(net.pair, ParameterTuple) and net.x is net.pair[0]
    del net.pair
    assert not hasattr(net, "pair") and names(net)[:2] == ["x", "y"]


def test_private_attributes():
    class Private(nn.Cell):
        def __init__(self):
            super().__init__()
            self.__factor = 3
            self.__w = Parameter(tensor(2), name="w")

        def construct(self, x):
            return x * self.__factor * self.__w

    net = Private()
    assert numbers(net(tensor(1))) == [6.0] and [k for k, _ in net.parameters_and_names()] == ["_Private__w"]


def test_missing_super_init():
    class Bad(nn.Cell):
        def __init__(self, value=None):
            self.x = value

        def construct(self, x):
            return x

    for value in (Parameter(tensor(1)), Inner(), ParameterTuple([Parameter(tensor(1))])):
        with pytest.raises(AttributeError, match="__init__"):
            Bad(value)
    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Bad(3)(tensor(1))
    with pytest.raises(AttributeError, match="The 'Bad' object has no attribute 'zz'"):
        Bad(3).zz  # noqa: B018


# ---- calls
def test_construct_is_required():
    for call in (lambda: nn.Cell()(tensor(1)), lambda: nn.Cell().construct()):
        with pytest.raises(AttributeError, match="the method 'construct' is not defined"):
            call()

    class Misspelt(nn.Cell):
        def constructt(self, x):
            return x

    with pytest.raises(AttributeError, match="For 'Misspelt', the method 'construct' is not defined"):
        Misspelt()(tensor(1))

    class NoSelf(nn.Cell):
        def construct(x):
            return x

    class Nothing(nn.Cell):
        def construct():
            return 3

    for net in (NoSelf(), Nothing()):
        with pytest.raises(TypeError, match="'construct' must have parameter 'self'"):
            net(tensor(1))

    class Renamed(nn.Cell):
        def construct(this, x):
            return x * 2

    assert numbers(Renamed()(tensor(1))) == [2.0]


def test_construct_takes_any_arguments():
    class Free(nn.Cell):
        def construct(self, x, *args, scale=1, **kwargs):
            return x * scale, args, kwargs

    y, args, kwargs = Free()(tensor(2), None, "s", scale=3, other=(1, 2))
    assert numbers(y) == [6.0] and args == (None, "s") and kwargs == {"other": (1, 2)}
    for wrong in ((tensor(1), tensor(1)), ()):
        with pytest.raises(TypeError, match="construct"):
            Outer()(*wrong)


def test_parameters_as_arguments_and_assignments_inside():
    class Writes(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(tensor(1), name="w")

        def construct(self, p, x):
            ops.assign(p, x)
            self.w = self.w + x
            return self.w * p

    net, p = Writes(), Parameter(tensor(0), name="p")
    w = net.w
    assert numbers(net(p, tensor(5))) == [30.0]
    assert numbers(p) == [5.0] and net.w is w and numbers(w) == [6.0]


def test_cells_are_true_and_compare_by_identity():
    class Empty(nn.Cell):
        def __len__(self):
            return 0

    net = Empty()
    assert net and net == net and net != Empty() and len({net, net}) == 1


def test_dir_shows_parameters_children_and_buffers():
    net = Outer()
    net.register_buffer("mean", tensor(0))
    assert {"w", "a", "mean", "construct"} <= set(dir(net))


# ---- printed form
def test_repr():
    class Layer(nn.Cell):
        def __init__(self, text, *children):
            super().__init__()
            self.text = text
            for i, child in enumerate(children):
                self.insert_child_to_cell(f"c{i}", child)

        def extend_repr(self):
            return self.text

    assert repr(Double()) == str(Double()) == "Double()"
    assert repr(Layer("size=3")) == "Layer(size=3)"
    assert repr(Layer("size=3", Double())) == "Layer(\n  size=3\n  (c0): Double()\n)"
    assert repr(Layer("one\ntwo")) == "Layer(\n  one\n  two\n)"
    assert repr(Layer("", Layer("", Double()))) == "Layer(\n  (c0): Layer(\n    (c0): Double()\n  )\n)"


# ---- copies
def test_deepcopy_is_independent_and_keeps_everything():
    net = Outer()
    net.w.layerwise_parallel, net.w.comm_fusion, net.w.requires_grad = True, 3, False
    net.a.set_train()
    net.register_buffer("mean", tensor(1), persistent=False)
    net.register_forward_hook(lambda cell, args, out: out * 10)
    net.to_float(ms.float16)
    twin = copy.deepcopy(net)
    twin.w.set_data(tensor(8))
    assert numbers(net.w) == [3.0] and names(twin) == names(net)
    assert twin.a is not net.a and twin.a.v is not net.a.v and twin.mean is not net.mean
    assert (twin.w.layerwise_parallel, twin.w.comm_fusion, twin.w.requires_grad) == (True, 3, False)
    assert twin.a.training and not twin.training and twin.fp16 and "mean" not in twin.state_dict()
    assert twin(tensor(1)).dtype is ms.float16 and numbers(twin(tensor(1))) == [80.0]


def test_tied_parameters_stay_tied_in_copies():
    net = Outer()
    net.b.v = net.a.v
    twin = copy.deepcopy(net)
    assert twin.b.v is twin.a.v is not net.a.v


def test_pickle():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1)).set_train()
    net[0].weight.layerwise_parallel = True
    net.register_buffer("mean", tensor(1))
    twin = pickle.loads(pickle.dumps(net))
    x = Tensor([[1.0, -2.0]])
    assert numbers(twin(x)) == numbers(net(x)) and names(twin) == names(net)
    assert twin.training and twin[0].weight.layerwise_parallel and numbers(twin.mean) == [1.0]
    assert repr(twin) == repr(net)


def test_many_cells_share_nothing():
    one, other = Scale(1), Scale(2)
    one.register_buffer("b", tensor(1))
    one.add_flags(x=1)
    one.register_forward_hook(lambda *a: None)
    assert other.get_flags() == {} and list(other.buffers()) == [] and other._cell_hooks is None

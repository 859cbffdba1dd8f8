"""load_param_into_net: by name, with conversions, prefixes, and all or nothing."""

import numpy as np
import pytest

from dist_ms.common import dtype as mstype
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter, ParameterTuple, no_init_parameters
from dist_ms.common.settings.parallel_context import reset_auto_parallel_context, set_auto_parallel_context
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.train.serialization import load_param_into_net
from tests.serial.train.checkpoint.checkpoint_cases import Net, net_values, parameter

ORDER = ["scale", "count", "fc.weight", "fc.bias"]


class One(Cell):
    """A network with one parameter `p`."""

    def __init__(self, values, dtype=np.float32):
        super().__init__()
        self.p = parameter("p", values, dtype)

    def construct(self, x):
        return x


def state(net):
    return [p.asnumpy().tolist() for p in net.get_parameters()]


def test_values_are_copied_into_the_parameters_memory():
    net, values = Net(), net_values()
    objects = list(net.get_parameters())
    memory = [p.asnumpy() for p in objects]
    assert load_param_into_net(net, values) == ([], [])
    assert all(a is b for a, b in zip(net.get_parameters(), objects, strict=True))
    assert [a.tolist() for a in memory] == state(net) == [v.asnumpy().tolist() for v in values.values()]
    values["scale"].asnumpy()[:] = 99
    assert net.scale.asnumpy().tolist() == [5]
    assert net.count.requires_grad is False


def test_a_network_without_values_gets_the_loaded_ones():
    net = One([0, 0])
    with no_init_parameters():
        net.p = Parameter(initializer("ones", [2]), name="p")
    assert load_param_into_net(net, {"p": parameter("p", [3, 4], np.float16)}) == ([], [])
    assert not net.p.has_init and net.p.asnumpy().tolist() == [3, 4]
    assert net.p.dtype == mstype.float32


def test_what_is_missing_is_returned_in_order_and_logged(caplog):
    net = Net()
    assert load_param_into_net(net, {}) == (ORDER, [])
    assert "keep their values" in caplog.text
    values = {
        "other": parameter("other", [1]),
        "fc.bias": parameter("fc.bias", [1, 2, 3]),
        "note": "t",
    }
    assert load_param_into_net(net, values, strict_load=True) == (ORDER[:3], ["other", "note"])


def test_a_text_with_a_parameters_name_is_not_loaded():
    assert load_param_into_net(Net(), {"scale": "text"}) == (ORDER, ["scale"])


@pytest.mark.parametrize(
    ("net", "values", "options", "error", "text"),
    [
        (3, {}, {}, TypeError, "argument 'net' should be a Cell, but got int"),
        (None, [1], {}, TypeError, "'parameter_dict' should be a dict, but got list"),
        (None, {"scale": 1}, {}, TypeError, "must map str to Parameter, but got str to int"),
        (None, {"scale": Tensor([1.0])}, {}, TypeError, "but got str to Tensor"),
        (None, {"scale": None}, {}, TypeError, "NoneType"),
        (None, {1: parameter("scale", [1])}, {}, TypeError, "but got int to Parameter"),
        (None, {"p": ParameterTuple([parameter("p", [1])])}, {}, TypeError, "ParameterTuple"),
        (None, {}, {"strict_load": 1}, TypeError, "'strict_load' must be a bool"),
        (None, {}, {"remove_redundancy": 1}, ValueError, "'remove_redundancy' must be a bool"),
        (
            None,
            {},
            {"remove_redundancy": True},
            TypeError,
            "but got the parallel mode 'stand_alone'",
        ),
    ],
)
def test_arguments(net, values, options, error, text):
    with pytest.raises(error, match=text):
        load_param_into_net(Net() if net is None else net, values, **options)


@pytest.mark.parametrize(
    ("own", "loaded"),
    [((3, 2), (2, 3)), ((3, 2), (1, 3, 2)), ((3, 2), (3, 2, 2)), ((3, 2), (6,)),
     ((3, 2), (3, 1, 2)), ((3, 2), (3,)), ((1,), ()), ((1, 1), (1,)), ((2, 1), (2,)),
     ((), (2,)), ((2,), (3,))],
)  # fmt: skip
@pytest.mark.parametrize("strict", [False, True])
def test_other_shapes_are_refused(own, loaded, strict):
    with pytest.raises(RuntimeError, match="p of 'parameter_dict' must have the shape .* of p in 'net'"):
        load_param_into_net(One(np.zeros(own)), {"p": parameter("p", np.ones(loaded))}, strict_load=strict)


@pytest.mark.parametrize(("own", "loaded"), [((), (1,)), ((), (1, 1)), ((3,), (3, 1)), ((3, 2), (3, 2, 1, 1))])
def test_lengths_of_one_at_the_end_are_dropped(own, loaded):
    net = One(np.zeros(own))
    assert load_param_into_net(net, {"p": parameter("p", np.ones(loaded))}) == ([], [])
    assert net.p.shape == own and (net.p.asnumpy() == 1).all()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("own", mstype.all_types, ids=str)
@pytest.mark.parametrize("loaded", mstype.all_types, ids=str)
def test_which_types_convert(own, loaded, strict):
    families = [
        {"Float16", "BFloat16", "Float32", "Float64"},
        {"Int8", "Int16", "Int32", "Int64"},
    ]
    net = One(np.zeros(2), own.np)
    values = {"p": parameter("p", [1, 0], loaded.np)}
    if own is loaded or (not strict and any({str(own), str(loaded)} <= family for family in families)):
        assert load_param_into_net(net, values, strict_load=strict) == ([], [])
        assert net.p.dtype is own and net.p.asnumpy().tolist() == [1, 0]
    else:
        with pytest.raises(RuntimeError, match=f"must have the dtype {own} of p in 'net', but got {loaded}"):
            load_param_into_net(net, values, strict_load=strict)


def test_integers_that_do_not_fit_are_refused():
    net = One([0, 0], np.int8)
    load_param_into_net(net, {"p": parameter("p", [127, -128], np.int64)})
    assert net.p.asnumpy().tolist() == [127, -128]
    with pytest.raises(RuntimeError, match="should fit into Int8, .* range from -1 to 128"):
        load_param_into_net(net, {"p": parameter("p", [128, -1], np.int64)})


@pytest.mark.parametrize("bad", [parameter("x", np.ones((3, 2))), parameter("x", [1, 2, 3], np.int32)])
def test_an_error_leaves_the_network_unchanged(bad):
    net, values = Net(), net_values()
    before = state(net)
    with pytest.raises(RuntimeError):
        load_param_into_net(net, {**values, "fc.bias": bad})
    assert state(net) == before


def test_parameters_of_the_network_can_trade_their_values():
    net = Net()
    net.scale.asnumpy()[:] = 3
    net.insert_param_to_cell("other", Parameter(Tensor([4.0]), name="other"))
    load_param_into_net(net, {"scale": net.other, "other": net.scale, "count": net.count})
    assert (net.scale.asnumpy()[0], net.other.asnumpy()[0]) == (4, 3)


@pytest.mark.parametrize(
    ("names", "missing", "loaded_from"),
    [
        (
            ["net.fc.weight", "net.fc.bias", "other"],
            ["scale", "count"],
            {"fc.weight": 0, "fc.bias": 1},
        ),
        (
            ["a.fc.weight", "b.fc.bias", "b.scale"],
            ["count"],
            {"fc.weight": 0, "fc.bias": 1, "scale": 2},
        ),
        (["xfc.weight", "xfc.bias"], ["scale", "count"], {"fc.weight": 0, "fc.bias": 1}),
        (["a.scale", "b.scale"], ["count", "fc.weight", "fc.bias"], {"scale": 0}),
        (["b.scale", "a.fc.weight", "a.scale"], ["count", "fc.bias"], {"scale": 0, "fc.weight": 1}),
        (["a.fc.weight", "a.scale", "b.scale"], ["count", "fc.bias"], {"fc.weight": 0, "scale": 1}),
        (
            ["scale", "net.fc.weight", "net.fc.bias"],
            ["count"],
            {"scale": 0, "fc.weight": 1, "fc.bias": 2},
        ),
        (["weight", "bias"], ORDER, {}),
    ],
)
def test_prefixes_in_the_dict(names, missing, loaded_from):
    """What MindSpore 2.10 answered to the same dicts."""
    net = Net()
    shapes = {"weight": (3, 2), "bias": (3,), "scale": (1,), "other": (1,)}
    values = {n: parameter(n, np.full(shapes[n.split(".")[-1]], i + 10)) for i, n in enumerate(names)}
    exact = [n for n in names if n in ORDER]
    assert load_param_into_net(net, values) == (missing, [n for n in names if n not in exact])
    for name, p in net.parameters_dict().items():
        if name in loaded_from:
            assert (p.asnumpy() == loaded_from[name] + 10).all()
    strict = load_param_into_net(Net(), values, strict_load=True)
    assert strict == ([n for n in ORDER if n not in exact], [n for n in names if n not in exact])


def test_a_text_behind_a_prefix_is_passed_over():
    assert load_param_into_net(Net(), {"net.scale": "text"}) == (ORDER, ["net.scale"])


def test_redundancy_removed_needs_all_parameters():
    set_auto_parallel_context(parallel_mode="data_parallel")
    try:
        assert load_param_into_net(Net(), net_values(), remove_redundancy=True) == ([], [])
        net, before = Net(), state(Net())
        values = {"scale": parameter("scale", [5])}
        with pytest.raises(RuntimeError, match=r"\['count', 'fc.weight', 'fc.bias'\] are missing: load the"):
            load_param_into_net(net, values, remove_redundancy=True)
        assert state(net) == before
    finally:
        reset_auto_parallel_context()

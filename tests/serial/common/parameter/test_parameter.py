"""Parameter: construction, flags, names, set_data, copies."""

import copy
import pickle

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.initializer import Normal, initializer
from dist_ms.common.parameter import _is_parameter_generated


def make(**flags):
    p = ms.Parameter(ms.Tensor(np.arange(6).reshape(2, 3), ms.float32), name="w")
    for flag, value in flags.items():
        setattr(p, flag, value)
    return p


FLAGS = {
    "requires_grad": False,
    "layerwise_parallel": True,
    "parallel_optimizer": False,
    "parallel_optimizer_comm_recompute": True,
    "comm_fusion": 3,
    "sliced": True,
    "is_init": True,
    "unique": True,
    "cache_shape": [1, 2],
    "key": 4,
    "requires_aggr": False,
    "is_param_ps": True,
    "init_in_server": True,
    "const_arg": True,
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "(), dtype=Int32"),
        (1.5, "(), dtype=Float32"),
        (np.float64(1.5), "(), dtype=Float32"),
        ([1, 2], "(2,), dtype=Int64"),
        ([1.0, 2], "(2,), dtype=Float32"),
        ([], "(0,), dtype=Float32"),
        ([True, False], "(2,), dtype=Bool"),
        (np.ones(2), "(2,), dtype=Float64"),
        (np.array(3), "(), dtype=Int64"),
        (ms.Tensor(True), "(), dtype=Bool"),
        (initializer("ones", [2, 3], ms.float16), "(2, 3), dtype=Float16"),
    ],
)
def test_what_a_parameter_is_made_of(value, text):
    p = ms.Parameter(value, name="x")
    assert repr(p) == str(p) == f"Parameter (name=x, shape={text}, requires_grad=True)"
    assert isinstance(p, ms.Tensor)


def test_a_large_int_keeps_its_low_32_bits():
    assert ms.Parameter(2**40 + 7).asnumpy() == 7
    assert ms.Parameter(-(2**31)).asnumpy() == -(2**31)


@pytest.mark.parametrize("value", ["s", None, (1, 2), 1j, np.float32(1), ["s"], [[1, 2], [3]]])
def test_other_inputs_are_type_errors(value):
    with pytest.raises(TypeError):
        ms.Parameter(value)


def test_a_bool_is_a_value_error():
    with pytest.raises(ValueError, match="must not be a bool"):
        ms.Parameter(True)


def test_a_shape_with_unknown_lengths_is_a_value_error():
    with pytest.raises(ValueError, match="shape"):
        ms.Parameter(ms.Tensor(shape=(2, -1), dtype=ms.float32))


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="device"):
        ms.Parameter(1, device="GPU")
    with pytest.raises(TypeError, match="storage_format"):
        ms.Parameter(1, storage_format=3)
    assert ms.Parameter(1, device="CPU").asnumpy() == 1


@pytest.mark.parametrize("flag", ["requires_grad", "layerwise_parallel", "parallel_optimizer"])
@pytest.mark.parametrize("value", [1, 0, None, "True", np.True_])
def test_bool_flags_take_bools_only(flag, value):
    with pytest.raises(TypeError, match=f"'{flag}' must be a bool"):
        ms.Parameter(1, **{flag: value})
    p = make()
    with pytest.raises(TypeError, match=f"'{flag}' must be a bool"):
        setattr(p, flag, value)


@pytest.mark.parametrize(
    ("flag", "value", "error"),
    [
        ("comm_fusion", -1, ValueError),
        ("comm_fusion", "a", TypeError),
        ("comm_fusion", True, TypeError),
        ("parallel_optimizer_comm_recompute", 1, TypeError),
        ("cache_enable", 1, TypeError),
        ("cache_shape", 3, TypeError),
        ("key", 1.5, TypeError),
        ("inited_param", 3, AttributeError),
    ],
)
def test_flags_are_checked(flag, value, error):
    p = make()
    before = getattr(p, flag)
    with pytest.raises(error):
        setattr(p, flag, value)
    assert getattr(p, flag) == before


def test_defaults_of_the_flags():
    p = make()
    wanted = {
        "requires_grad": True,
        "layerwise_parallel": False,
        "parallel_optimizer": True,
        "parallel_optimizer_comm_recompute": False,
        "comm_fusion": 1,
        "sliced": False,
        "is_init": False,
        "inited_param": None,
        "is_in_parallel": False,
        "init_mode": None,
        "has_init": False,
        "unique": False,
        "cache_enable": False,
        "cache_shape": [],
        "key": -1,
        "requires_aggr": True,
        "push_weight_to_server": False,
        "pull_weight_from_server": False,
        "is_param_ps": False,
        "init_in_server": False,
    }
    assert {flag: getattr(p, flag) for flag in wanted} == wanted
    p.cache_shape = (1, 2)
    assert p.cache_shape == [1, 2]
    assert p.param_info.comm_fusion == 1


def test_generated_names_count_on():
    first, second = ms.Parameter(1), ms.Parameter(1, name="  ")
    prefix, number = first.name.split("#")
    assert prefix == "Parameter"
    assert second.name == f"Parameter#{int(number) + 1}"
    assert _is_parameter_generated(first.name)
    assert not any(map(_is_parameter_generated, ["Parameter", "Parameter$1", "a.Parameter#1", None]))


def test_names_are_stripped_and_may_hold_blanks():
    assert ms.Parameter(1, name=" a b ").name == "a b"
    p = make()
    p.name = " v "
    assert p.name == "v"
    for nothing in ("", None):
        p.name = nothing
        assert _is_parameter_generated(p.name)
    assert len(ms.Parameter(1, name="x" * 1024).name) == 1024


@pytest.mark.parametrize("name", [3, True, ["a"], ("a",), ms.Tensor(1), np.ones(1), "x" * 1025])
def test_bad_names_are_value_errors(name):
    with pytest.raises(ValueError, match="'name' must"):
        ms.Parameter(1, name=name)
    p = make()
    with pytest.raises(ValueError, match="'name' must"):
        p.name = name
    assert p.name == "w"


def test_the_source_is_copied():
    a = np.ones(2, np.float32)
    t = ms.Tensor(a)
    from_tensor, from_array, from_parameter = ms.Parameter(t), ms.Parameter(a), None
    from_parameter = ms.Parameter(from_array, name="other")
    t.asnumpy()[0] = a[0] = 5
    from_array.asnumpy()[1] = 7
    assert from_tensor.asnumpy().tolist() == [1, 1]
    assert from_parameter.asnumpy().tolist() == [1, 1]
    assert from_parameter.name == "other"


def test_parameters_of_one_initializer_tensor_are_equal():
    t = initializer("normal", [3])
    a, b = ms.Parameter(t), ms.Parameter(t)
    assert not t.has_init
    np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    np.testing.assert_array_equal(a.asnumpy(), t.asnumpy())
    a.asnumpy()[0] = 9
    assert t.asnumpy()[0] != 9
    assert b.asnumpy()[0] != 9


def test_making_a_parameter_again_leaves_the_random_stream_alone():
    ms.set_seed(3)
    t = initializer("normal", [3])
    ms.Parameter(t)
    first = initializer("normal", [3]).asnumpy()
    ms.set_seed(3)
    t = initializer("normal", [3])
    ms.Parameter(t)
    t.asnumpy()
    ms.Parameter(t)
    np.testing.assert_array_equal(initializer("normal", [3]).asnumpy(), first)


def test_value_is_a_snapshot_and_data_the_memory_itself():
    p = make()
    value, data = p.value(), p.data
    assert type(value) is ms.Tensor and repr(data) == repr(p) and data is not p
    p.asnumpy()[0, 0] = 9
    assert value.asnumpy()[0, 0] == 0 and data.asnumpy()[0, 0] == 9
    p.data[0] = 5
    ms.ops.assign_add(p.data, ms.ops.ones_like(p))
    assert (p.asnumpy()[0] == 6).all()
    p.data.set_data(ms.ops.zeros_like(p))
    assert (p.asnumpy() == 0).all()


def test_no_gradient_flows_through_data():
    p = ms.Parameter(ms.Tensor([1.0, 2.0]))
    (gradient,) = ms.grad(lambda x: (p * p.data * x).sum(), None, [p])(ms.Tensor([3.0, 4.0]))
    assert gradient.asnumpy().tolist() == [3.0, 8.0]


def test_assigning_data_takes_shape_and_type():
    p = make()
    p.data = ms.Tensor([1, 2, 3])
    assert repr(p) == "Parameter (name=w, shape=(3,), dtype=Int64, requires_grad=True)"


def test_set_data_writes_into_the_existing_memory():
    p = make(layerwise_parallel=True)
    view = p.asnumpy()
    source = ms.Tensor(np.full((2, 3), 7.9), ms.float64)
    assert p.set_data(source) is p
    assert p.asnumpy() is view
    assert p.dtype is ms.float32
    np.testing.assert_array_equal(view, np.full((2, 3), 7.9, np.float32))
    source.asnumpy()[0] = 0
    assert view.min() > 7
    assert p.layerwise_parallel


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float64, bool, np.complex64, np.int64])
def test_set_data_keeps_the_type(dtype):
    p = make().set_data(ms.Tensor(np.ones((2, 3), dtype)))
    assert p.dtype is ms.float32
    assert p.asnumpy().tolist() == [[1] * 3] * 2
    n = ms.Parameter(ms.Tensor([1, 2], ms.int32)).set_data(ms.Tensor([1.7, np.nan]))
    assert n.dtype is ms.int32
    assert n.asnumpy()[0] == 1


def test_set_data_with_numbers_and_initializers():
    p = ms.Parameter(2.0)
    assert p.set_data(3).asnumpy() == 3
    assert p.set_data(True).asnumpy() == 1
    assert make().set_data(initializer("ones", [2, 3])).asnumpy().tolist() == [[1] * 3] * 2
    n = ms.Parameter(1)
    with pytest.raises(TypeError, match="must not be a float, but got 1.2"):
        n.set_data(1.2)
    assert n.set_data(5).asnumpy() == 5


@pytest.mark.parametrize("data", [np.ones((2, 3)), [1.0], "a", None, (1,)])
def test_set_data_of_other_types(data):
    with pytest.raises(TypeError, match="'data' must be a Tensor, int or float"):
        make().set_data(data)


def test_set_data_changes_the_shape_of_slices_only():
    p = make()
    for other in (ms.Tensor(np.ones((4, 3))), 1.0):
        with pytest.raises(ValueError, match=r"the parameter 'w', \(2, 3\), but got"):
            p.set_data(other)
    assert p.asnumpy()[0].tolist() == [0, 1, 2]
    assert not p.sliced
    p.set_data(ms.Tensor(np.ones((1, 3))), slice_shape=True)
    assert p.sliced
    assert p.shape == (1, 3)
    p.set_data(ms.Tensor(np.zeros((1, 3))))
    assert not p.sliced


def test_overwrite_and_assign_value_keep_every_flag():
    p = make(sliced=True, layerwise_parallel=True)
    view = p.asnumpy()
    p.overwrite(np.full((2, 3), 4, np.int64))
    assert p.asnumpy() is view
    p.assign_value(ms.Tensor(np.full((2, 3), 5.0), ms.float32))
    assert p.asnumpy() is view
    assert view.tolist() == [[5] * 3] * 2
    p.assign_value(ms.Tensor([1, 2]))
    assert (p.shape, p.dtype) == ((2,), ms.int64)
    assert p.sliced
    assert p.layerwise_parallel


def test_a_write_does_not_reach_values_saved_for_a_gradient():
    p = ms.Parameter(ms.Tensor([2.0]), name="p")

    def f(x):
        y = x * p
        p.set_data(ms.Tensor([100.0]))
        return y

    assert ms.grad(f)(ms.Tensor([1.0])).asnumpy().tolist() == [2]
    assert p.asnumpy().tolist() == [100]


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_keep_every_flag(twin_of):
    p = make(**FLAGS, note=["mine"])
    twin = twin_of(p)
    assert type(twin) is ms.Parameter
    assert {flag: getattr(twin, flag) for flag in FLAGS} == FLAGS
    assert (twin.name, twin.note) == ("w", ["mine"])
    twin.asnumpy()[0] = 9
    assert p.asnumpy()[0].tolist() == [0, 1, 2]


def test_a_deep_copy_keeps_sharing():
    p = make()
    first, second = copy.deepcopy([p, p])
    assert first is second


@pytest.mark.parametrize("twin_of", [ms.Parameter.clone, ms.Parameter.copy])
def test_clone_keeps_flags_but_is_init(twin_of):
    p = make(**FLAGS)
    twin = twin_of(p)
    kept = {**FLAGS, "is_init": False}
    assert {flag: getattr(twin, flag) for flag in kept} == kept
    assert twin.name == "w"
    twin.asnumpy()[0] = 9
    assert p.asnumpy()[0].tolist() == [0, 1, 2]


def test_clones_of_a_cached_parameter_get_keys_of_their_own():
    p = make(cache_enable=True, key=-1)
    assert len({p.key, p.clone().key, p.clone().key}) == 3


@pytest.mark.parametrize(
    ("init", "wanted"),
    [("ones", 1), ("Zeros", 0), (3, 3), (2.5, 2.5), (True, 1), (ms.Tensor(np.full((2, 3), 4)), 4)],
)
def test_clone_with_other_values(init, wanted):
    twin = make(requires_grad=False).clone(init)
    assert twin.asnumpy().tolist() == [[wanted] * 3] * 2
    assert (twin.dtype, twin.requires_grad) == (ms.float32, False)


def test_clone_errors():
    p = make()
    assert p.clone(Normal()).shape == (2, 3)
    for wrong in (None, [1], np.ones((2, 3))):
        with pytest.raises(TypeError):
            p.clone(wrong)
    for wrong in ("zzz", ms.Tensor([1, 2, 3])):
        with pytest.raises(ValueError, match="For 'initializer'"):
            p.clone(wrong)


def test_set_param_ps_is_remembered():
    p = make()
    assert p.set_param_ps() is None
    assert (p.is_param_ps, p.init_in_server) == (True, False)
    p.set_param_ps(init_in_server=True)
    assert p.init_in_server
    with pytest.raises(TypeError, match="init_in_server"):
        p.set_param_ps(1)


def test_the_gradient_of_value_reaches_the_parameter():
    p = ms.Parameter(ms.Tensor(3.0), name="p")
    assert ms.grad(lambda x: x * p.value(), None, weights=p)(ms.Tensor(2.0)).asnumpy() == 2

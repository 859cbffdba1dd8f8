"""Layout, merge_sliced_parameter and the settings of a strategy's search."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor
from dist_ms.parallel import Layout


def test_axes_are_counted_from_the_last():
    grid = Layout((2, 3, 4), ("a", "b", "c"))
    assert grid.to_dict() == {
        "device_matrix": (2, 3, 4),
        "tensor_map": (),
        "interleaved_parallel": False,
        "alias_name": ("a", "b", "c"),
        "rank_list": list(range(24)),
    }
    assert grid("c", "None", ("a", "b")).to_dict()["tensor_map"] == (0, -1, (2, 1))
    assert grid.to_dict()["tensor_map"] == ()
    assert Layout((2, 2), ("a", "b"), [3, 1, 2, 0])("a").to_dict()["rank_list"] == [3, 1, 2, 0]
    assert Layout((2, 2), ("a", "interleaved_parallel")).to_dict()["interleaved_parallel"] is True


@pytest.mark.parametrize(
    "args, error, text",
    [
        (([2, 2], ("a", "b")), TypeError, "'device_matrix' must be a tuple of int, but got list"),
        (((2, 2.0), ("a", "b")), TypeError, "'device_matrix'"),
        (((2, 2), "ab"), TypeError, "'alias_name' must be a tuple of str"),
        (((2, 2), ("a",)), ValueError, "'alias_name' must be 2 names"),
        (((2, 0), ("a", "b")), ValueError, "positive lengths"),
        (((2, 2), ("a", "a")), ValueError, "names that differ"),
        (((2, 2), ("a", "None")), ValueError, "not 'None'"),
        (((2, 2), ("interleaved_parallel", "b")), ValueError, "'interleaved_parallel' last"),
        (((2, 2), ("a", "b"), (0, 1, 2, 3)), TypeError, "'rank_list' must be a list"),
        (((2, 2), ("a", "b"), [0, 1, 2, 2]), ValueError, "4 ranks that differ"),
    ],
)
def test_layouts_that_are_refused(args, error, text):
    with pytest.raises(error, match=text):
        Layout(*args)


def test_axes_that_are_refused():
    with pytest.raises(ValueError, match="of the axes"):
        Layout((2,), ("a",))("b")
    with pytest.raises(ValueError, match="each axis once"):
        Layout((2,), ("a",))("a", "a")


def slices(*lengths, name="w", **flags):
    rng = np.random.default_rng(0)
    return [Parameter(Tensor(rng.random((n, 3)).astype(np.float32)), name=name, **flags) for n in lengths]


def test_slices_are_joined_along_the_first_dimension():
    parts = slices(2, 0, 3, requires_grad=False)
    whole = ms.merge_sliced_parameter(parts)
    assert np.array_equal(whole.asnumpy(), np.concatenate([p.asnumpy() for p in parts]))
    assert (whole.name, whole.requires_grad, whole.sliced, whole.dtype) == ("w", False, False, ms.float32)
    assert parts[0].shape == (2, 3)


def test_slices_that_do_not_fit():
    with pytest.raises(ValueError, match="slices of 'w'"):
        ms.merge_sliced_parameter([*slices(1), *slices(1, name="v")])
    with pytest.raises(ValueError, match=r"with \(3,\)"):
        ms.merge_sliced_parameter([*slices(1), Parameter(Tensor(np.zeros(3, np.float32)), name="w")])
    with pytest.raises(ValueError, match="at least one"):
        ms.merge_sliced_parameter([])
    with pytest.raises(TypeError, match="must be a list, but got int"):
        ms.merge_sliced_parameter(3)
    with pytest.raises(TypeError, match="a list of Parameters, but got int"):
        ms.merge_sliced_parameter([3])
    with pytest.raises(ValueError, match="'strategy' must be None"):
        ms.merge_sliced_parameter(slices(1), {})


def test_search_settings_are_kept():
    try:
        ms.set_algo_parameters(fully_use_devices=True, algo_approxi_epsilon=0.3, tensor_slice_align_size=32)
        assert ms.get_algo_parameters("fully_use_devices") is True
        assert ms.get_algo_parameters("algo_approxi_epsilon") == 0.3
        assert ms.get_algo_parameters("tensor_slice_align_size") == 32
        with pytest.raises(TypeError, match="of type bool, but got int"):
            ms.set_algo_parameters(enable_algo_approxi=1)
        for values in ({"algo_approxi_epsilon": 0.0}, {"tensor_slice_align_size": 1025}, {"other": 1}):
            with pytest.raises(ValueError, match=next(iter(values))):
                ms.set_algo_parameters(**values)
        with pytest.raises(ValueError, match="other"):
            ms.get_algo_parameters("other")
    finally:
        ms.reset_algo_parameters()
    assert ms.get_algo_parameters("fully_use_devices") is False


def test_an_operation_is_placed_in_its_own_process():
    assert ms.ops.Add().place("MS_WORKER", 0) is None
    for role, rank in (("MS_WORKER", 1), ("MS_PSERVER", 0)):
        with pytest.raises(ValueError, match="must name this process, 'MS_WORKER' 0"):
            ms.ops.Add().place(role, rank)
    with pytest.raises(TypeError, match="'rank_id' must be an int"):
        ms.ops.Add().place("MS_WORKER", "0")


def test_symbols_say_what_is_known_of_a_length():
    assert str(ms.Symbol()) == "{}" and ms.Symbol(max=8, min=2).to_dict() == {"max": 8, "min": 2}
    assert ms.Symbol(max=2, min=3).to_dict() == {"min": 3} and ms.Symbol(min=2, divisor=4).to_dict() == {"divisor": 4}
    assert ms.Symbol(min=5, divisor=4).to_dict() == {"min": 5, "divisor": 4}
    same = ms.Symbol(divisor=4, remainder=1, unique=True)
    assert same.to_dict() == {"divisor": 4, "remainder": 1, "id": id(same)}
    assert ms.Tensor(shape=(None, same, 3), dtype=ms.float32).shape == (-1, -1, 3)
    for wrong in ({"min": 0}, {"divisor": 0}, {"remainder": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ms.Symbol(**wrong)
    for wrong in ({"max": "a"}, {"unique": 1}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            ms.Symbol(**wrong)

"""Names of `ops` that floors above give to it, and those that are refused."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, ops
from dist_ms.collectives.offered import FROM_ABOVE
from dist_ms.ops.flow import refused

PLAIN = [
    ("bool_and", (True, False), False),
    ("bool_or", (True, False), True),
    ("bool_not", (True,), False),
    ("bool_eq", (True, True), True),
    ("broadcast_gradient_args", ((2, 3), (3,)), ((), (0,))),
    ("dict_getitem", ({"a": 1}, "a"), 1),
    ("dict_setitem", ({"a": 1}, "b", 2), {"a": 1, "b": 2}),
    ("in_dict", ("a", {"a": 1}), True),
    ("not_in_dict", ("a", {"a": 1}), False),
    ("is_", (None, None), True),
    ("is_not", (None, 1), True),
    ("isconstant", (3,), True),
    ("list_equal", ([1], [1]), True),
    ("list_getitem", ([1, 2], 1), 2),
    ("list_len", ([1, 2],), 2),
    ("list_setitem", ([1, 2], 0, 5), [5, 2]),
    ("make_dict", (("a", "b"), (1, 2)), {"a": 1, "b": 2}),
    ("make_list", (1, 2), [1, 2]),
    ("make_range", (1, 7, 2), (1, 3, 5)),
    ("make_slice", (1, 7, 2), slice(1, 7, 2)),
    ("make_tuple", (1, 2), (1, 2)),
    ("reduced_shape", ((2, 3), (1,)), (2, 1)),
    ("scalar_add", (2, 3), 5),
    ("scalar_div", (3, 2), 1.5),
    ("scalar_eq", (2, 3), False),
    ("scalar_floordiv", (7, 2), 3),
    ("scalar_ge", (2, 3), False),
    ("scalar_gt", (2, 3), False),
    ("scalar_le", (2, 3), True),
    ("scalar_log", (1.0,), 0.0),
    ("scalar_lt", (2, 3), True),
    ("scalar_max", (2, 3), 3),
    ("scalar_min", (2, 3), 2),
    ("scalar_mod", (7, 4), 3),
    ("scalar_mul", (2, 3), 6),
    ("scalar_ne", (2, 3), True),
    ("scalar_pow", (2, 3), 8),
    ("scalar_sub", (2, 3), -1),
    ("scalar_uadd", (2,), 2),
    ("scalar_usub", (2,), -2),
    ("shape_mul", ((2, 3),), 6),
    ("string_concat", ("a", "b"), "ab"),
    ("string_eq", ("a", "b"), False),
    ("switch", (True, 1, 2), 1),
    ("tuple_div", ((6, 8), (3, 2)), (2, 4)),
    ("tuple_equal", ((1,), (1,)), True),
    ("tuple_getitem", ((1, 2), 1), 2),
    ("tuple_len", ((1, 2),), 2),
    ("tuple_reversed", ((1, 2),), (2, 1)),
    ("tuple_setitem", ((1, 2), 0, 5), (5, 2)),
]


@pytest.mark.parametrize("name, args, wanted", PLAIN)
def test_plain_values(name, args, wanted):
    found = getattr(ops, name)(*args)
    assert found == wanted and type(found) is type(wanted)


def test_values_of_tensors():
    assert ops.array_to_scalar(ms.Tensor([2.5])) == 2.5
    assert ops.mixed_precision_cast(ms.float16, ms.Tensor([1.5])).dtype == ms.float16
    assert float(ms.grad(lambda x: ops.stop_gradient_(x * 2) * x)(ms.Tensor(3.0))) == 6.0
    assert ops.add_flags(lambda x: x, has_effect=True)._func_graph_flags == {"has_effect": True}


def test_functions_of_groups_are_those_of_mint():
    for name in FROM_ABOVE["dist_ms.mint.distributed"]:
        assert getattr(ops, name) is getattr(mint.distributed, name)
    # MindSpore has array operations under these two.
    assert ops.gather is not mint.distributed.gather and ops.scatter is not mint.distributed.scatter
    x = ms.Tensor([1.0, 2.0])
    if not ops.is_initialized():
        ops.init_process_group()
    assert ops.is_available() and ops.get_rank() == 0 and ops.get_world_size() == 1
    ops.all_reduce(x)
    np.testing.assert_array_equal(x.asnumpy(), [1.0, 2.0])


@pytest.mark.parametrize("name", refused.__all__)
def test_refused_names_say_why(name):
    with pytest.raises(NotImplementedError, match=f"'{name}' is not available: dist_ms "):
        getattr(ops, name)()

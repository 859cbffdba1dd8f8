"""What a cell tells of itself and of all cells."""

import copy
import gc
import typing

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, nn
from dist_ms.common import dtype as mstype
from dist_ms.nn.cell.precision import MixedPrecisionType
from tests.serial.nn.cell.cells import Outer


def test_living_cells_are_counted():
    gc.collect()
    before = nn.Cell.total_instance_count
    kept = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
    assert nn.Cell.total_instance_count == kept.total_instance_count == before + 3
    other = copy.deepcopy(kept)
    assert other.total_instance_count == nn.SGD.total_instance_count == before + 6
    del kept, other
    gc.collect()
    assert nn.Cell.total_instance_count == before


def test_parameters_in_lists():
    net = nn.Cell()
    assert net.exist_names == net.exist_objs == set()
    a, b = (Parameter(Tensor([1.0]), name=n) for n in "ab")
    net.pair, net.alone = [a, b], Parameter(Tensor([1.0]), name="alone")
    assert net.exist_names == {"a", "b"}
    assert {id(p) for p in net.exist_objs} == {id(a), id(b)}


def test_nothing_is_compiled():
    net = Outer()
    net.compile(Tensor([1.0]))
    assert net.compile_cache == set() and net.phase_cache == {}
    net.phase_cache["train"] = "a"
    assert net.phase_cache == {"train": "a"} and Outer().phase_cache == {}


def test_backward_hooks_are_told_of():
    net = nn.Dense(1, 1)
    assert net.enable_backward_hook is False
    net.register_forward_hook(lambda *_: None)
    assert net.enable_backward_hook is False
    handle = net.register_backward_hook(lambda *_: None)
    assert net.enable_backward_hook is True
    handle.remove()
    assert net.enable_backward_hook is False
    net.register_backward_pre_hook(lambda *_: None)
    assert net.enable_backward_hook is True


def test_names_of_a_cells_own():
    own = set(nn.Cell.IGNORE_LIST)
    assert {"_params", "_cells", "_buffers", "_auto_prefix", "_cell_hooks"} <= own
    assert set(nn.Dense(1, 1).__dict__) & own >= {"_params", "_cells"}
    assert not own & {"weight", "construct", "_cell_register_tuple", "training"}
    assert (
        isinstance(nn.Cell.T_destination, typing.TypeVar) and nn.Cell.T_destination.__bound__ == dict[str, typing.Any]
    )


def test_the_type_of_operations():
    x = Tensor(np.ones((1, 2), np.float32))
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2).to_float(mstype.float16))
    assert net.get_mixed_precision_type() is MixedPrecisionType.NOTSET
    assert net[1].get_mixed_precision_type() is MixedPrecisionType.FP16
    net[0].set_mixed_precision_type(MixedPrecisionType.BF16)
    assert net[0].get_mixed_precision_type() is MixedPrecisionType.BF16
    assert net[0](x).dtype is mstype.bfloat16 and net(x).dtype is mstype.float16
    net[0].set_mixed_precision_type(MixedPrecisionType.NOTSET)
    assert net[0].get_mixed_precision_type() is MixedPrecisionType.NOTSET and net[0](x).dtype is mstype.float32
    with pytest.raises(TypeError, match="'mixed_type' must be a MixedPrecisionType, but got int"):
        net.set_mixed_precision_type(1)

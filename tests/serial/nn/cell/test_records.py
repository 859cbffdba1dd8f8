"""What a Cell records of itself, against what MindSpore 2.10 answers on a CPU without a compiled graph."""

import gc
import typing

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.nn.cell.records import MixedPrecisionType


def test_the_time_of_making_grows():
    inner = nn.Dense(2, 3)
    outer = nn.SequentialCell(inner, nn.ReLU())
    optimizer = nn.SGD(outer.trainable_params(), 0.1)
    assert inner.create_time < outer.create_time < optimizer.create_time
    assert isinstance(inner.create_time, int)


def test_living_cells_are_counted():
    gc.collect()
    before = nn.Cell.total_instance_count
    kept = nn.SequentialCell(nn.ReLU(), nn.ReLU())
    assert kept.total_instance_count == before + 3
    del kept
    gc.collect()
    assert nn.Cell.total_instance_count == before


@pytest.mark.parametrize("make", [nn.ReLU, lambda: nn.SGD(nn.Dense(2, 3).trainable_params(), 0.1)])
def test_nothing_is_compiled(make):
    cell = make()
    assert cell.phase_cache == {} and cell.compile_cache == cell.exist_names == cell.exist_objs == set()
    assert cell.phase_cache is cell.phase_cache
    assert len(nn.Cell.global_cells) == 0
    for name in ("create_time", "phase_cache", "compile_cache", "exist_names", "exist_objs", "enable_backward_hook"):
        assert isinstance(getattr(nn.Cell, name), property)
        with pytest.raises(AttributeError):
            setattr(cell, name, 3)
    with pytest.raises(AttributeError, match=f"The '{type(cell).__name__}' object has no attribute"):
        _ = cell.enable_backward_hook
    assert isinstance(nn.Cell.T_destination, typing.TypeVar) and nn.Cell.T_destination.__name__ == "T_destination"


@pytest.mark.parametrize(("dtype", "name"), [("float16", "FP16"), ("float32", "FP32"), ("bfloat16", "BF16")])
def test_the_precision_is_that_of_to_float(dtype, name):
    net = nn.SequentialCell(nn.Dense(2, 3))
    assert net.get_mixed_precision_type() is MixedPrecisionType.NOTSET
    net.to_float(getattr(ms, dtype))
    assert net.get_mixed_precision_type().name == net[0].get_mixed_precision_type().name == name


def test_a_precision_that_is_set_changes_no_result():
    net, x = nn.Dense(2, 3), ms.Tensor(np.ones((1, 2), np.float32))
    net.set_mixed_precision_type(MixedPrecisionType.FP16)
    assert net.get_mixed_precision_type() == MixedPrecisionType.FP16 == 1
    assert net(x).dtype == ms.float32
    net.to_float(ms.bfloat16)
    assert net.get_mixed_precision_type().name == "BF16"
    with pytest.raises(TypeError):
        net.set_mixed_precision_type(1)

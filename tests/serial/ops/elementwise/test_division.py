"""Div, FloorDiv, FloorMod and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

X, Y = [-7, 7, -7, 7], [2, 2, -2, -2]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64"])
def test_quotients_and_remainders(dtype):
    x, y = tensor(X, dtype), tensor(Y, dtype)
    equal(ops.floor_div(x, y), [-4, 3, 3, -4])
    equal(ops.truncate_div(x, y), [-3, 3, 3, -3])
    equal(ops.floor_mod(x, y), [1, 1, -1, -1])
    equal(ops.fmod(x, y), [-1, 1, -1, 1])
    assert ops.floor_div(x, y).asnumpy().dtype == dtype
    wanted = "float32" if dtype.startswith("int") else dtype
    same(x / y, np.array([-3.5, 3.5, 3.5, -3.5], wanted))


def test_rounding_modes():
    x = tensor([-7, 7])
    equal(ops.div(x, 2), [-3.5, 3.5])
    equal(ops.div(x, 2, rounding_mode="floor"), [-4, 3])
    equal(ops.div(x, 2, rounding_mode="trunc"), [-3, 3])
    with pytest.raises(ValueError, match="For 'div', 'rounding_mode' must be one of .* but got 'up'"):
        ops.div(x, 2, rounding_mode="up")


def test_division_by_zero_is_silent():
    equal(tensor([-1.0, 1.0]) / 0, [-np.inf, np.inf])
    assert np.isnan(ops.floor_mod(tensor([1.0]), 0.0).asnumpy())
    equal(ops.DivNoNan()(tensor([1.0, 4.0]), tensor([0.0, 2.0])), [0, 2])
    equal(ops.DivNoNan()(tensor([1, 5]), tensor([0, 2])), [0, 2])
    equal(ops.xdivy(tensor([0.0, 4.0]), tensor([0.0, 2.0])), [0, 2])


def test_real_div_keeps_integers():
    same(ops.RealDiv()(tensor([-7], "int32"), tensor([2], "int32")), np.array([-3], "int32"))
    same(ops.Div()(tensor([3], "int32"), tensor([2], "int32")), np.array([1.5], "float32"))


def test_no_remainder_of_bools_and_complex_numbers():
    for bad in (tensor([True]), tensor([1j])):
        with pytest.raises(TypeError, match="For 'FloorMod'"):
            bad % bad


def test_operators_reflected():
    x = ms.Tensor([1, 3])
    equal(2 // x, [2, 0])
    equal(2 % x, [0, 2])
    same(3 / x, np.array([3, 1], "float32"))

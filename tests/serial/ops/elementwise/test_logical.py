"""LogicalAnd, BitwiseAnd, LeftShift and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import INTEGERS, equal, same, tensor


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_logic(dtype):
    x, y = np.array([0, 0, 1, 1], dtype), np.array([0, 1, 0, 1], dtype)
    for name in ("logical_and", "logical_or", "logical_xor"):
        equal(getattr(ops, name)(ms.Tensor(x), ms.Tensor(y)), getattr(np, name)(x, y))
    equal(ops.logical_not(ms.Tensor(x)), np.logical_not(x))
    equal(~ms.Tensor(x), np.logical_not(x))
    equal(ops.logical_and(ms.Tensor(x), True), x.astype(bool))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits(dtype):
    x, y = np.array([6, 1, 12], dtype), np.array([3, 2, 4], dtype)
    a, b = ms.Tensor(x), ms.Tensor(y)
    for found, wanted in (
        (a & b, x & y),
        (a | b, x | y),
        (a ^ b, x ^ y),
        (a << b, x << y),
        (a >> b, x >> y),
        (ops.invert(a), ~x),
    ):
        same(found, wanted)
    equal(ops.population_count(a), [2, 1, 2])
    assert ops.population_count(a).dtype == ms.uint8


def test_population_count_of_negative_numbers():
    equal(ops.population_count(tensor([-1, -2], "int32")), [32, 31])


def test_bits_with_numbers_and_bools():
    equal(tensor([6]) & 3, [2])
    equal(3 | tensor([4]), [7])
    equal(tensor([True, False]) & True, [True, False])
    equal(tensor([True, False]) ^ tensor([True, True]), [False, True])
    equal(ops.invert(tensor([True])), [False])


def test_floats_have_no_bits():
    for fn in (lambda: tensor([1.0]) & 1, lambda: tensor([1]) | 1.5, lambda: tensor([1]) ^ tensor([1.0])):
        with pytest.raises(TypeError, match="For 'Bitwise(And|Or|Xor)', the operands must be integers or bools"):
            fn()
    with pytest.raises(
        TypeError, match="For 'LeftShift', .* one integer dtype, or one of them an int, but got .'Bool', 'Bool'."
    ):
        ops.bitwise_left_shift(tensor([True]), tensor([True]))
    with pytest.raises(TypeError, match="For 'Invert'"):
        ops.invert(tensor([1.0]))

"""Add, Sub, Mul, Neg and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import FLOATS, INTEGERS, equal, same, tensor

rng = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (2,))])
def test_values_and_dtypes(dtype, shapes):
    x, y = (rng.integers(1, 6, s).astype(dtype) for s in shapes)
    for op, numpy_op in ((ops.add, np.add), (ops.sub, np.subtract), (ops.mul, np.multiply)):
        same(op(ms.Tensor(x), ms.Tensor(y)), numpy_op(x, y))
    same(ops.neg(ms.Tensor(x)), np.negative(x))
    same(ops.square(ms.Tensor(x)), np.square(x))
    same(ops.abs(ms.Tensor(x)), np.abs(x))
    same(ops.sign(ms.Tensor(x)), np.sign(x))


def test_bools_are_logic():
    x, y = tensor([True, False]), tensor([True, True])
    equal(x + y, [True, True])
    equal(x - y, [False, True])
    equal(x * y, [True, False])


def test_bool_is_no_number():
    for op in (ops.neg, ops.sign, ops.square):
        with pytest.raises(TypeError, match=f"For '{op.name}', .* but got Bool"):
            op(tensor([True]))


def test_operands_that_are_not_tensors():
    assert ops.add(1, 2).asnumpy() == 3
    equal([1, 2] + tensor([3, 4]), [4, 6])
    equal(tensor([3, 4]).add([1, 2]), [4, 6])
    equal(tensor([1.0, 2.0]) + np.float64(1), [2, 3])
    for bad in (None, "a", {}, object(), [1.0], (1.0,), np.ones(1)):
        with pytest.raises(TypeError, match="For 'Add', 'other' must be a Tensor or a number"):
            ops.add(tensor([1.0]), bad)
    with pytest.raises(TypeError, match="For 'Add', 'input'"):
        ops.add("a", tensor([1.0]))


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"For 'Mul', the shapes .* but got \(2,\) and \(3,\)"):
        ops.mul(tensor([1, 2]), tensor([1, 2, 3]))


def test_channels_last_memory_is_kept():
    x = np.moveaxis(np.ones((2, 3, 4, 5), np.float32), -1, 1)
    out = ops.mul(ms.Tensor.from_numpy(x), ms.Tensor.from_numpy(x)).asnumpy()
    assert out.strides == x.strides


def test_overflow_is_silent():
    assert np.isinf(ops.mul(tensor([3e38], "float32"), 10).asnumpy())
    assert np.isinf(ops.add(tensor([60000], "float16"), tensor([60000], "float16")).asnumpy())


def test_add_n():
    x = tensor([1.0, 2.0], "float32")
    equal(ops.AddN()((x, x, x)), [3, 6])
    equal(x, [1, 2])
    equal(ops.addn([x]), [1, 2])
    with pytest.raises(TypeError, match="For 'AddN'"):
        ops.addn(x)
    for bad in ((), (x, tensor([1.0]))):
        with pytest.raises(ValueError, match="For 'AddN'"):
            ops.addn(bad)


def test_the_rest():
    equal(ops.squared_difference(tensor([1.0, 5.0]), tensor([3.0, 4.0])), [4, 1])
    equal(ops.MulNoNan()(tensor([np.inf, 2.0]), tensor([0.0, 3.0])), [0, 6])
    equal(ops.subtract(tensor([5.0]), tensor([1.0]), alpha=2), [3])
    same(ops.sign(tensor([3 + 4j], "complex64")), np.array([0.6 + 0.8j], "complex64"))
    same(ops.abs(tensor([3 + 4j], "complex64")), np.array([5], "complex64"))
    with pytest.raises(TypeError):
        ops.positive(3)

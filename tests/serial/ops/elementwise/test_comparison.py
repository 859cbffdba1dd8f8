"""Equal, Less, IsNan and their kin."""

import operator

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, tensor

COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32", "float64"])
def test_comparisons(name, dtype):
    x, y = np.array([[0, 1, 1]], dtype), np.array([[1], [0]], dtype)
    wanted = COMPARISONS[name](x, y)
    equal(getattr(ops, name)(ms.Tensor(x), ms.Tensor(y)), wanted)
    equal(COMPARISONS[name](ms.Tensor(x), ms.Tensor(y)), wanted)
    equal(COMPARISONS[name](ms.Tensor(x), 1), COMPARISONS[name](x, 1))
    assert getattr(ops, name)(ms.Tensor(x), ms.Tensor(y)).dtype == ms.bool_


def test_bfloat16_compares():
    x = ms.Tensor([1.0, 2.0]).astype(ms.bfloat16)
    equal(x > 1, [False, True])
    equal(x == x, [True, True])


def test_equality_with_other_things():
    x = tensor([1, 2])
    for other in (None, "a", [1, 2], (1, 2), object()):
        assert (x == other) is False
        assert (x != other) is True
    assert hash(x) != hash(tensor([1, 2]))
    for other in (None, "a"):
        with pytest.raises(TypeError):
            x < other  # noqa: B015


def test_complex_numbers_have_no_order():
    with pytest.raises(TypeError, match="For 'Less', the operands must be real, but got Complex"):
        tensor([1j]) < 1  # noqa: B015
    equal(tensor([1j]) == tensor([1j]), [True])


def test_one_operand_must_be_a_tensor():
    with pytest.raises(TypeError, match="For 'Equal', 'input' must be a Tensor, but got int"):
        ops.equal(1, tensor(1))
    with pytest.raises(TypeError, match="For 'IsClose', 'input' or 'other' must be a Tensor, but got int and int"):
        ops.isclose(1, 1)


def test_questions():
    x = tensor([1.0, np.nan, np.inf, -np.inf, -2.0])
    equal(ops.isnan(x), [0, 1, 0, 0, 0])
    equal(ops.isinf(x), [0, 0, 1, 1, 0])
    equal(ops.isfinite(x), [1, 0, 0, 0, 1])
    equal(ops.isposinf(x), [0, 0, 1, 0, 0])
    equal(ops.isneginf(x), [0, 0, 0, 1, 0])
    equal(ops.signbit(x), [0, 0, 0, 1, 1])
    equal(ops.isreal(tensor([1, 1j])), [True, False])
    equal(ops.isnan(tensor([1, 2])), [False, False])


def test_closeness():
    x, y = tensor([1.0, 2.0, np.nan]), tensor([1.0, 2.1, np.nan])
    equal(ops.isclose(x, y), [True, False, False])
    equal(ops.isclose(x, y, rtol=0.1, equal_nan=True), [True, True, True])
    assert x.allclose(y, atol=0.2, equal_nan=True) is True
    assert x.allclose(y) is False
    equal(ops.approximate_equal(tensor([1.0, 2.0]), tensor([1.2, 3.0]), 0.5), [True, False])
    equal(ops.EqualCount()(tensor([1, 2, 3]), tensor([1, 2, 4])), [2])
    with pytest.raises(TypeError, match="must have one dtype, but got Float64 and Float32"):
        ops.isclose(x, tensor([1.0], "float32"))

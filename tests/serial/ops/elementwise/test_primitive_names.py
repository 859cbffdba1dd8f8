"""Primitives of elementwise functions, by their names, against NumPy and SciPy in float64."""

import numpy as np
import pytest
from scipy import special

import dist_ms as ms
from dist_ms import ops

ANY = np.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 3.0]], np.float32)
PART = np.array([[-0.9, 0.1], [0.6, -0.2]], np.float32)
ABOVE = np.array([[0.3, 1.5, 2.25], [7.0, 0.75, 1.0]], np.float32)
OTHER = np.array([[1.0, 0.25, -2.0], [0.5, 2.0, 3.0]], np.float32)
WHOLE, OTHERS = np.array([[12, 5, 255], [0, 7, 1]], np.int32), np.array([[2, 3, 4], [1, 0, 5]], np.int32)
TRUTHS, OTHER_TRUTHS = np.array([True, True, False, False]), np.array([True, False, True, False])
HOLES = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)

OF_ONE = {
    "ACos": (np.arccos, PART),
    "Acosh": (np.arccosh, 1 + ABOVE),
    "Asin": (np.arcsin, PART),
    "Asinh": (np.arcsinh, ANY),
    "Atan": (np.arctan, ANY),
    "Atanh": (np.arctanh, PART),
    "BesselI0": (special.i0, ANY),
    "BesselI0e": (special.i0e, ANY),
    "BesselI1": (special.i1, ANY),
    "BesselI1e": (special.i1e, ANY),
    "BesselJ0": (special.j0, ANY),
    "BesselJ1": (special.j1, ANY),
    "BesselK0": (special.k0, ABOVE),
    "BesselK0e": (special.k0e, ABOVE),
    "BesselK1": (special.k1, ABOVE),
    "BesselK1e": (special.k1e, ABOVE),
    "BesselY0": (special.y0, ABOVE),
    "BesselY1": (special.y1, ABOVE),
    "Cos": (np.cos, ANY),
    "Cosh": (np.cosh, ANY),
    "Digamma": (special.digamma, ABOVE),
    "Erfc": (special.erfc, ANY),
    "Expm1": (np.expm1, ANY),
    "IsFinite": (np.isfinite, HOLES),
    "IsInf": (np.isinf, HOLES),
    "Log1p": (np.log1p, ABOVE),
    "LogicalNot": (np.logical_not, TRUTHS),
    "Sin": (np.sin, ANY),
    "Sinc": (np.sinc, ANY),
    "Sinh": (np.sinh, ANY),
    "Tan": (np.tan, ANY),
    "Trunc": (np.trunc, ANY),
}
OF_TWO = {
    "Atan2": (np.arctan2, ANY, OTHER),
    "BitwiseOr": (np.bitwise_or, WHOLE, OTHERS),
    "BitwiseXor": (np.bitwise_xor, WHOLE, OTHERS),
    "Fmax": (np.fmax, np.where(ANY > 2, np.nan, ANY).astype(np.float32), OTHER),
    "Fmin": (np.fmin, np.where(ANY > 2, np.nan, ANY).astype(np.float32), OTHER),
    "Greater": (np.greater, ANY, OTHER),
    "GreaterEqual": (np.greater_equal, ANY, OTHER),
    "Heaviside": (np.heaviside, np.where(ANY > 2, 0, ANY).astype(np.float32), OTHER),
    "Hypot": (np.hypot, ANY, OTHER),
    "Igamma": (special.gammainc, ABOVE, 2 * ABOVE),
    "Lcm": (np.lcm, WHOLE, OTHERS),
    "LessEqual": (np.less_equal, ANY, OTHER),
    "LogicalOr": (np.logical_or, TRUTHS, OTHER_TRUTHS),
    "LogicalXor": (np.logical_xor, TRUTHS, OTHER_TRUTHS),
    "NotEqual": (np.not_equal, ANY, OTHER),
    "Polar": (lambda r, angle: r * np.exp(1j * angle), ABOVE, ANY),
    "RightShift": (np.right_shift, WHOLE, OTHERS),
    "Xdivy": (lambda x, y: np.where(x == 0, 0, x / y), np.where(ANY > 2, 0, ANY).astype(np.float32), OTHER),
    "Zeta": (special.zeta, 1 + ABOVE, ABOVE),
}


def check(found, wanted):
    assert found.shape == wanted.shape
    if wanted.dtype.kind in "bi":
        np.testing.assert_array_equal(found.asnumpy(), wanted)
    else:  # functions of float32 in float32, of numbers below 100: some units in the last place
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("name", OF_ONE)
def test_of_one_tensor(name):
    function, x = OF_ONE[name]
    check(getattr(ops, name)()(ms.Tensor(x)), function(x.astype(np.float64) if x.dtype == np.float32 else x))


@pytest.mark.parametrize("name", OF_TWO)
def test_of_two_tensors(name):
    function, *inputs = OF_TWO[name]
    exact = [x.astype(np.float64) if x.dtype == np.float32 else x for x in inputs]
    check(getattr(ops, name)()(*map(ms.Tensor, inputs)), function(*exact))


def test_the_next_number():
    x = ms.Tensor(np.array([1.0, -1.0, 0.0], np.float32))
    found = ops.NextAfter()(x, ms.Tensor(np.array([2.0, -2.0, 0.0], np.float32)))
    assert found.asnumpy().tolist() == [1 + 2.0**-23, -1 - 2.0**-23, 0]


def test_counted_bits():
    numbers = np.array([0, 1, 255, 7, -1], np.int16)
    assert ops.PopulationCount()(ms.Tensor(numbers)).asnumpy().tolist() == [0, 1, 8, 3, 16]


ALIASES = {
    "tensor_add": np.add,
    "tensor_sub": np.subtract,
    "tensor_mul": np.multiply,
    "tensor_div": np.divide,
    "true_divide": np.divide,
    "tensor_floordiv": np.floor_divide,
    "floordiv": np.floor_divide,
    "tensor_mod": np.mod,
    "floormod": np.mod,
    "tensor_pow": np.power,
    "pows": np.power,
    "tensor_ge": np.greater_equal,
    "tensor_gt": np.greater,
    "tensor_le": np.less_equal,
    "tensor_lt": np.less,
}


@pytest.mark.parametrize("name", ALIASES)
def test_older_names_of_operators(name):
    x, y = ABOVE, abs(OTHER)
    check(getattr(ops, name)(ms.Tensor(x), ms.Tensor(y)), ALIASES[name](x.astype(np.float64), y))


@pytest.mark.parametrize(
    ("name", "function"), [("tensor_exp", np.exp), ("tensor_expm1", np.expm1), ("sgn", np.sign)], ids=lambda v: str(v)
)
def test_older_names_of_functions(name, function):
    check(getattr(ops, name)(ms.Tensor(ANY)), function(ANY.astype(np.float64)))


def test_a_sum_of_several():
    check(ops.accumulate_n([ms.Tensor(ANY), ms.Tensor(OTHER), ms.Tensor(ANY)]), 2 * ANY.astype(np.float64) + OTHER)


BY_NAME = {
    "floor_mod": ({"x": ABOVE, "y": OTHER}, np.remainder),
    "fmod": ({"input": ABOVE, "other": OTHER}, np.fmod),
    "remainder": ({"input": ABOVE, "other": OTHER}, np.remainder),
    "truncate_mod": ({"x": ABOVE, "y": OTHER}, np.fmod),
    "copysign": ({"x": ABOVE, "other": OTHER}, np.copysign),
    "arcsin": ({"x": OTHER / 100}, np.arcsin),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_operands_by_the_names_that_mindspore_has_for_them(name):
    operands, function = BY_NAME[name]
    found = getattr(ops, name)(**{key: ms.Tensor(value) for key, value in operands.items()})
    np.testing.assert_allclose(found.asnumpy(), function(*operands.values()), rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match=f"For '.*', .*'{next(iter(operands))}'"):
        getattr(ops, name)(unknown=ms.Tensor(ABOVE))


def test_inputs_of_primitives_by_name():
    x = ms.Tensor(np.eye(2, dtype=np.float32)[None])
    np.testing.assert_array_equal(ops.BatchMatMul()(x=x, y=x).asnumpy(), x.asnumpy())
    np.testing.assert_array_equal(ops.ReLU6()(x=10 * x).asnumpy(), 6 * x.asnumpy())
    assert ops.heaviside(input=x, values=x)[0, 0, 1] == 0 and ops.Cast()(input_x=x, dtype=ms.int32).dtype == ms.int32
    assert ops.unsorted_segment_max(x=x[0, 0], segment_ids=ms.Tensor([0, 0]), num_segments=1)[0] == 1
    assert ops.clamp_(input=3 * x, max=2.0).max() == 2

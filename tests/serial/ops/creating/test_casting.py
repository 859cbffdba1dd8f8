"""Cast, astype and the other conversions."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import FLOATS, INTEGERS, equal, same, tensor


@pytest.mark.parametrize("source", INTEGERS + FLOATS + ("bool",))
@pytest.mark.parametrize("target", INTEGERS + FLOATS + ("bool", "complex64"))
def test_all_pairs(source, target):
    x = np.array([0, 1, 3], source)
    same(ops.cast(ms.Tensor(x), getattr(ms, target if target != "bool" else "bool_")), x.astype(target))


def test_bfloat16_rounds_to_even():
    x = ops.cast(tensor([1 + 2**-8, 1 + 3 * 2**-8], "float32"), ms.bfloat16)
    equal(x.float(), [1, 1 + 2**-6])


def test_same_type_shares_memory():
    x = tensor([1.0, 2.0])
    x.astype(ms.float64)[0] = 9
    equal(x, [9, 2])


def test_numbers_and_silence():
    equal(ops.cast(1.7, ms.int32), 1)
    equal(ops.cast(tensor([1.7, -1.7]), ms.int32), [1, -1])
    ops.cast(tensor([np.nan, np.inf, 1e30]), ms.int32)
    equal(ops.cast(tensor([1e6], "float32"), ms.float16), [np.inf])
    equal(ops.cast(tensor([1 + 2j]), ms.float32), [1])


def test_errors():
    for bad in (int, "int32", None, np.float32):
        with pytest.raises(TypeError, match="For 'Cast', 'dtype' must be a dist_ms dtype"):
            ops.cast(tensor([1.0]), bad)
    with pytest.raises(TypeError, match="For 'Cast', 'input_x' must be a Tensor or a number, but got list"):
        ops.cast([1], ms.int32)


@pytest.mark.parametrize(
    "dtype, wanted",
    [
        (ms.int32, "int32"),
        ("float16", "float16"),
        (np.int64, "int64"),
        (int, "int64"),
        (float, "float64"),
        (bool, "bool"),
    ],
)
def test_astype_takes_any_name(dtype, wanted):
    assert tensor([1.7], "float32").astype(dtype).asnumpy().dtype == wanted


def test_methods():
    x = tensor([1.7], "float32")
    for name, wanted in {
        "bool": "Bool",
        "byte": "UInt8",
        "short": "Int16",
        "int": "Int32",
        "long": "Int64",
        "half": "Float16",
        "bfloat16": "BFloat16",
        "float": "Float32",
        "double": "Float64",
    }.items():
        assert str(getattr(x, name)().dtype) == wanted
    assert x.type() == "Float32"
    assert x.to(ms.float16).dtype == x.type(ms.float16).dtype == ms.float16
    assert x.to(tensor([1])).dtype == x.type_as(tensor([1])).dtype == ms.int64
    assert x.to("CPU", ms.int32).dtype == ms.int32
    with pytest.raises(TypeError):
        x.astype("abc")
    with pytest.raises(ValueError, match="dist_ms runs on CPUs"):
        x.to("Ascend")


def test_gradient_comes_back_in_the_input_type():
    grad = ms.grad(lambda x: ops.sum(x.astype(ms.float16) * 3))(tensor([1.0], "float32"))
    same(grad, np.array([3], "float32"))

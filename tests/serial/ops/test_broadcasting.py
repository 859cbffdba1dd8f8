"""Type promotion: tensors with tensors, and with Python numbers."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops.broadcasting import promote_types, reduce_to
from tests.serial.ops.compare import equal, tensor

BF16 = ms.bfloat16.np


@pytest.mark.parametrize(
    "a, b, wanted",
    [
        ("int8", "uint8", "int16"),
        ("int32", "uint8", "int32"),
        ("int64", "uint64", "int64"),
        ("uint8", "uint16", "uint16"),
        ("int64", "float16", "float16"),
        ("int64", "float32", "float32"),
        ("float16", "float32", "float32"),
        ("float32", "float64", "float64"),
        ("bool", "int8", "int8"),
        ("bool", "float16", "float16"),
        ("float32", "complex64", "complex64"),
        ("float64", "complex64", "complex128"),
        ("int64", "complex64", "complex64"),
        (BF16, "float16", "float32"),
        (BF16, "float32", "float32"),
        (BF16, "int64", BF16),
        (BF16, BF16, BF16),
    ],
)
def test_two_tensors(a, b, wanted):
    a, b = np.dtype(a), np.dtype(b)
    assert promote_types(a, b) == promote_types(b, a) == np.dtype(wanted)
    x = ms.Tensor(np.ones(2, np.float32)).astype(ms.common.dtype.from_numpy(a))
    y = ms.Tensor(np.ones(2, np.float32)).astype(ms.common.dtype.from_numpy(b))
    assert (x + y).asnumpy().dtype == np.dtype(wanted)


@pytest.mark.parametrize(
    "dtype, number, wanted",
    [
        ("int32", 2, "int32"),
        ("int32", 2.5, "float32"),
        ("int64", 2.5, "float32"),
        ("float16", 2.5, "float16"),
        ("float64", 2, "float64"),
        ("bool", True, "bool"),
        ("bool", 2, "int64"),
        ("bool", 2.5, "float32"),
        ("uint8", True, "uint8"),
        (BF16, 2.5, BF16),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
    ],
)
def test_a_tensor_and_a_number(dtype, number, wanted):
    x = ms.Tensor(np.ones(2, np.float32)).astype(ms.common.dtype.from_numpy(np.dtype(dtype)))
    assert (x + number).asnumpy().dtype == np.dtype(wanted)
    assert (number * x).asnumpy().dtype == np.dtype(wanted)


def test_numbers_wrap_around_in_narrow_types():
    equal(tensor([200], "uint8") + 300, [244])
    equal(tensor([200], "uint8") * -1, [56])
    equal(tensor([100], "int8") * 2, [-56])


def test_reduce_to_sums_and_casts():
    x = tensor(np.ones((1, 3)), "float16")
    out = reduce_to(tensor(np.ones((4, 2, 3)), "float32"), x)
    assert out.shape == (1, 3)
    assert out.dtype == ms.float16
    equal(out, [[8, 8, 8]])
    assert reduce_to(out, 2.0) is None

"""Sums, differences and products of two arrays have NumPy's bits, whichever way they are computed."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.elementwise.combining import combine

UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
SHAPE = (40, 30, 50)


def one_number(x):
    return np.broadcast_to(x.reshape(-1)[0], x.shape)


def channels_last(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)).transpose(0, 2, 1)


FORMS = {
    "alike": lambda x: x,
    "one number, broadcast": one_number,
    "one number": lambda x: x[:1, :1, :1].copy(),
    "the last axis": lambda x: x[0, 0].copy(),
    "the channels": lambda x: x[:1, :, :1].copy(),
    "channels last": channels_last,
    "every second": lambda x: np.repeat(x, 2, axis=2)[:, :, ::2],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.float16], ids=str)
@pytest.mark.parametrize("operation", UFUNCS)
@pytest.mark.parametrize("form", FORMS)
def test_bits_are_those_of_numpy(form, operation, dtype):
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal(SHAPE).astype(dtype) for _ in range(2))
    other = FORMS[form](second)
    for x, y in ((first, other), (other, first), (channels_last(first), other), (other, one_number(first))):
        found, wanted = combine(operation, x, y), UFUNCS[operation](x, y)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes()


def test_float16_overflows_quietly():
    big = np.full((64, 64), 60000, np.float16)
    assert np.isinf(combine("add", big, big)).all()

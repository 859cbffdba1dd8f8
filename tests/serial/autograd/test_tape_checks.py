"""What operations ask of tensors before they run, against the same asked of NumPy's shapes and types."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from dist_ms import Parameter, Tensor
from dist_ms._ext.tape import Later, agree, formless, holds_floats, postponed
from dist_ms.autograd.tape import recording

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
OTHERS = [np.int32, np.bool_, np.complex64]


class Ones(Later):
    def array(self):
        return np.ones(self.shape, self.dtype)


def tensors(shape, dtype):
    """A tensor, a Parameter, one without data and one whose array is made later."""
    x = np.ones(shape, dtype)
    return [Tensor(x), Parameter(Tensor(x)), formless(shape, np.dtype(dtype)), postponed(Ones(shape, np.dtype(dtype)))]


@pytest.mark.parametrize("dtype", FLOATS + OTHERS)
def test_floats(dtype):
    assert holds_floats(np.ones(2, dtype)) == (dtype in FLOATS)
    for x in tensors((2, 3), dtype):
        assert holds_floats(x) == (dtype in FLOATS)
        assert agree(x, 0, 9, 0, 0, ()) == (dtype in FLOATS)
    for wrong in (1.0, np.float32(1), None, "x", [1.0]):
        assert not holds_floats(wrong) and not agree(wrong, 0, 9, 0, 0)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (4, 3, 2), (2, 3, 3, 2)])
def test_lengths(shape):
    n = len(shape)
    for x, first, last in itertools.product(tensors(shape, np.float32), range(-5, 5), (-1, *range(5), 64)):
        start = first + n if first < 0 else first
        wanted = 0 <= start <= min(last, n) and 0 not in shape
        part = shape[start : min(last, n)] if start >= 0 else ()
        for other in (part, *tensors(part, np.int32)):
            assert agree(x, 0, 9, first, last, other, part) == wanted
            assert not agree(x, n + 1, 9, first, last, other)
            assert not agree(x, 0, n - 1, first, last, other)
            assert not agree(x, 0, 9, first, last, other, (*part, 1))
            assert not agree(x, 0, 9, first, last, (*part, 1), other)
            assert not part or not agree(x, 0, 9, first, last, other, (part[0] + 1, *part[1:]))


def test_what_is_no_shape_agrees_with_nothing():
    x = Tensor(np.ones((2, 3), np.float32))
    for wrong in ([3], (3.0,), (True,), 3, None, np.ones(3, np.float32), (np.int64(3),), (1,) * 70):
        assert not agree(x, 0, 9, 1, 2, wrong)
    assert agree(x, 0, 9, 1, 2, (3,)) and agree(x, 0, 9, 1, 2)


def test_asking_makes_nothing():
    waiting = postponed(Ones((2, 3), np.dtype(np.float32)))
    assert holds_floats(waiting) and agree(waiting, 2, 2, 1, 2, (3,)) and waiting._later is not None
    assert recording.tape is None

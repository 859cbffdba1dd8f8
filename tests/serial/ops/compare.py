"""Comparing operations with NumPy: values, dtypes, and the errors they raise."""

import numpy as np

import dist_ms as ms

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def tensor(values, dtype=None):
    """A Tensor of an array with a NumPy dtype given by name."""
    return ms.Tensor(np.array(values, dtype))


def same(found, wanted, tolerance=1e-6):
    """Require the shape, the dtype and, within a tolerance, the values of an array."""
    wanted = np.asarray(wanted)
    array = found.asnumpy()
    assert array.shape == wanted.shape
    assert array.dtype == wanted.dtype, (array.dtype, wanted.dtype)
    np.testing.assert_allclose(array, wanted, rtol=tolerance, atol=tolerance)


def equal(found, wanted):
    """Require exactly the elements of an array, whatever its dtype."""
    np.testing.assert_array_equal(found.asnumpy(), wanted)

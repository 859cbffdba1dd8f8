"""Calls of kernels as the tests make them: in two thread counts, against a twin in float64."""

import ml_dtypes
import numpy as np

from dist_ms._ext import threads

TOLERANCE = {np.dtype(np.float32): 4e-6, np.dtype(np.float64): 1e-13}
DTYPES = (np.float32, np.float64)
NARROW = (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
# What is computed with in float32.
STORED = (np.dtype(np.float32), *NARROW)


def call(kernel, arguments, outputs):
    """Call `kernel(*arguments)` with 1 and 2 threads and return the outputs.

    `outputs` are those arguments that the kernel writes; they hold a foreign number before each
    call, and both calls must give the same bits.
    """
    results = []
    before = threads.get_num_threads()
    for number in (1, 2):
        for output in outputs:
            output[...] = 77
        threads.set_num_threads(number)
        try:
            kernel(*arguments)
        finally:
            threads.set_num_threads(before)
        results.append([output.copy() for output in outputs])
    for one, two in zip(*results, strict=True):
        assert one.tobytes() == two.tobytes()
    return outputs[0] if len(outputs) == 1 else outputs


def assert_close(found, wanted, scale=1.0):
    """Assert that `found` is the twin's result up to the rounding of its type.

    `scale` is the size of the numbers that were added, where they are larger than the result.
    """
    tolerance = TOLERANCE[found.dtype]
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def layouts(array):
    """Yield the array in dense layouts: C order, Fortran order and, with 3 axes, channels last."""
    yield np.ascontiguousarray(array)
    yield np.asfortranarray(array)
    if array.ndim >= 3:
        yield channels_last(array)


def channels_last(array):
    """Return a copy whose second axis is innermost in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def random(shape, dtype, seed=1):
    """Return normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def wide(array):
    """Return the array as float64, for a twin."""
    return np.asarray(array, np.float64)

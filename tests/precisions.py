"""The float32 kernels against the float64 path: outputs and gradients of the same function."""

import numpy as np

from dist_ms.autograd.tree import tensors
from dist_ms.common.tensor import Tensor
from tests.gradcheck import values, weighted_gradient


def check_precisions(fn, *inputs, tolerance=1e-5, gradient=True):
    """Check that float32 gives what float64 gives, for outputs and for gradients of all inputs.

    Args:
        fn: takes Tensors and returns a Tensor or a nesting of them.
        inputs: float64 arrays.
        tolerance: allowed difference, relative to the largest value.
        gradient: compare the gradients as well.
    """
    inputs = [np.asarray(x, np.float64) for x in inputs]
    narrow = [x.astype(np.float32) for x in inputs]
    wide_outputs = values(fn, inputs)
    compare(values(fn, narrow), wide_outputs, tolerance)
    if gradient:
        rng = np.random.default_rng(0)
        weights = [rng.standard_normal(y.shape) for y in wide_outputs]
        wide = values(weighted_gradient(fn, weights), inputs)
        found = values(weighted_gradient(fn, [w.astype(np.float32) for w in weights]), narrow)
        compare(found, wide, tolerance)


def compare(found, wanted, tolerance):
    assert [y.shape for y in found] == [y.shape for y in wanted]
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == np.float32
        assert np.abs(a - b).max(initial=0) <= tolerance * (1 + np.abs(b).max(initial=0))


def sums_bound(terms, squares, sums):
    """How far float32's sums of so many terms in no order may lie from exact ones, on any CPU and in any order.

    A sum is rounded once per term, each time by at most u = 2^-24 of the partial sum, and the square of that is
    about squares + sums^2 at most, as a partial sum is a share of the sum and a random walk over the rest. What is
    independent adds up in squares: u sqrt(terms (squares + sums^2)). Roundings are spread evenly, so a standard
    deviation is at most 1 / sqrt(3) of it; seven of these, four times the whole, are met once in 10^11 numbers.
    AMX's sums of three parts are rounded no more often where it counts: it adds the small parts first.

    Args:
        terms: their number.
        squares: array of the sums of the terms' squares.
        sums: array of the exact sums.
    """
    return 4 * 2.0**-24 * np.sqrt(terms * (squares + np.square(sums)))


def tensor(array, dtype=np.float32):
    """A Tensor of an array in a type."""
    return Tensor(np.asarray(array, dtype))


def normal(*shape, seed=0):
    """Normal float64 numbers."""
    return np.random.default_rng(seed).standard_normal(shape)


def outputs(result):
    """The arrays of a nesting of Tensors."""
    return [t.asnumpy() for t in tensors(result)]

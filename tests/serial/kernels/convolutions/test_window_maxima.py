"""The maxima of windows and their places against NumPy's windows, and the way back against sums by index."""

import itertools

import numpy as np
import pytest

from dist_ms._ext import window_maxima
from dist_ms.ops.convolutions.windows import output_sizes, windows
from tests.serial.kernels.calls import DTYPES, call, random

# Sizes, kernel, stride, padding, dilation.
GEOMETRIES = [
    ((9,), (3,), (1,), ((0, 0),), (1,)),
    ((9,), (2,), (3,), ((1, 1),), (4,)),
    ((11, 9), (2, 3), (2, 1), ((1, 1), (1, 0)), (2, 3)),
    ((32, 40), (3, 3), (2, 2), ((0, 0), (0, 0)), (2, 2)),
    ((32, 40), (3, 2), (1, 1), ((2, 0), (1, 1)), (1, 1)),
    ((5, 6, 7), (2, 1, 3), (1, 2, 2), ((1, 0), (0, 0), (1, 2)), (3, 1, 2)),
    ((1, 1), (2, 2), (1, 1), ((1, 1), (1, 1)), (2, 2)),
    ((6, 10), (3, 10), (1, 1), ((1, 0), (0, 0)), (1, 1)),  # few windows, long rows
    ((6, 10), (2, 7), (2, 3), ((0, 0), (3, 2)), (1, 1)),
    ((4, 17), (2, 6), (1, 4), ((0, 1), (4, 0)), (2, 3)),
    ((3,), (4,), (5,), ((2, 3),), (1,)),
]


def maxima(x, kernel, stride, padding, dilation):
    """Each window's maximum and its place within the plane."""
    view = windows(x[:, None], kernel, stride, padding, dilation, fill=-np.inf)[:, 0]
    flat = np.arange(np.prod(x.shape[1:])).reshape(1, 1, *x.shape[1:])
    index = windows(flat, kernel, stride, padding, dilation, fill=-1)[0, 0]
    rank = len(kernel)
    first, *others = itertools.product(*map(range, kernel))
    best = view[(..., *first)].copy()
    chosen = np.broadcast_to(index[(..., *first)], best.shape).copy()
    for place in others:
        values = view[(..., *place)]
        better = (values > best) | (np.isnan(values) & ~np.isnan(best))
        best, chosen = np.where(better, values, best), np.where(better, index[(..., *place)], chosen)
    return best, np.where(chosen < 0, index.max(tuple(range(rank, 2 * rank))), chosen)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("planes", [0, 1, 70])
@pytest.mark.parametrize("special", [None, np.nan, -np.inf])
def test_against_numpy(dtype, geometry, planes, special):
    sizes, kernel, stride, padding, dilation = geometry
    x = random((planes, *sizes), dtype).round(1)
    if special is not None:
        x[random(x.shape, dtype, 2) > -0.3] = special
    counts = output_sizes(sizes, kernel, stride, padding, dilation)
    out, places = np.empty((planes, *counts), dtype), np.empty((planes, *counts), np.int64)
    before = tuple(pair[0] for pair in padding)
    call(window_maxima.forward, (x, out, places, kernel, stride, before, dilation), [out, places])
    wanted, wanted_places = maxima(x, kernel, stride, padding, dilation)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(places, wanted_places)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("planes, count, size", [(0, 3, 4), (3, 0, 4), (1, 1, 1), (300, 200, 50)])
def test_spread(dtype, planes, count, size):
    dy = random((planes, count), dtype)
    places = np.random.default_rng(1).integers(-1, size, (planes, count))
    dx, wanted = np.empty((planes, size), dtype), np.zeros((planes, size))
    call(window_maxima.spread, (dy, places, dx), [dx])
    plane, column = np.nonzero(places >= 0)
    np.add.at(wanted, (plane, places[plane, column]), dy[plane, column])
    np.testing.assert_array_equal(dx, wanted.astype(dtype))


def test_refusals():
    x, out, places = np.ones((2, 5)), np.empty((2, 4)), np.empty((2, 4), np.int64)
    with pytest.raises(TypeError, match="'x' must be float32 or float64"):
        window_maxima.forward(x.astype(int), out, places, (2,), (1,), (0,), (1,))
    with pytest.raises(ValueError, match="'kernel' must be 1 numbers of 1 or more"):
        window_maxima.forward(x, out, places, (2, 2), (1,), (0,), (1,))
    with pytest.raises(ValueError, match="'before' must be 1 numbers of 0 or more"):
        window_maxima.forward(x, out, places, (2,), (1,), (-1,), (1,))
    with pytest.raises(ValueError, match="'out' and 'places' must have one shape and the planes of 'x'"):
        window_maxima.forward(x, out[:1].copy(), places, (2,), (1,), (0,), (1,))
    with pytest.raises(ValueError, match="'dy' and 'places' must have one shape and 'dx' their planes"):
        window_maxima.spread(out, places[:, :3].copy(), x)

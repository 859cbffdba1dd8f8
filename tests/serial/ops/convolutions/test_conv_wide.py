"""Convolutions of wide windows and of few channels as products, against NumPy in float64."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import dnnl, threads
from dist_ms.ops.convolutions import conv_arrays, conv_columns, plan
from dist_ms.ops.convolutions.conv_geometry import Geometry
from tests.serial.kernels.calls import channels_last

BF16, F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
# Half a unit in the last place: what one rounding of a result to its type makes of it.
HALF_UNIT = {F32: 2.0**-24, BF16: 2.0**-8, np.dtype(np.float16): 2.0**-11}
# The least normal number, below which steps are absolute.
LEAST = 2.0**-14
# x, w, stride, padding, dilation: as TextCNN has them, patches, stems, signals, volumes
CASES = [
    ((16, 1, 50, 40), (96, 1, 3, 40), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((8, 5, 20, 12), (64, 5, 3, 12), (1, 1), ((2, 1), (0, 1)), (2, 1)),
    ((2, 3, 64, 64), (32, 3, 8, 8), (8, 8), ((0, 0), (0, 0)), (1, 1)),
    ((5, 3, 40, 33), (24, 3, 7, 5), (2, 3), ((3, 3), (2, 1)), (1, 2)),
    ((9, 2, 180), (32, 2, 11), (1,), ((5, 5),), (3,)),
    ((40, 4, 13), (64, 4, 13), (1,), ((0, 0),), (1,)),
    ((2, 1, 9, 12, 15), (8, 1, 3, 2, 5), (1, 2, 1), ((1, 1), (0, 1), (2, 0)), (2, 1, 2)),
    ((700, 1, 2, 17), (3, 1, 2, 17), (1, 1), ((0, 0), (1, 1)), (1, 1)),
    ((80, 1, 40, 40), (8, 1, 9, 9), (1, 1), ((4, 4), (4, 4)), (1, 1)),
]


def random_case(rng):
    """Return shapes and numbers of one to three dimensions for which columns are chosen for the input's gradient."""
    while True:
        rank = int(rng.integers(1, 4))
        kernel, stride, dilation = (tuple(map(int, rng.integers(1, top, rank))) for top in (8, 4, 3))
        padding = tuple(tuple(map(int, pair)) for pair in rng.integers(0, 3, (rank, 2)))
        sizes = tuple(int(n) for n in rng.integers(1, (0, 400, 40, 12)[rank], rank))
        channels = int(rng.integers(1, 5))
        x, w = (int(rng.integers(1, 9)), channels, *sizes), (int(rng.integers(8, 70)), channels, *kernel)
        at = Geometry(x, w, stride, padding, dilation)
        if min(at.y) > 0 and plan.has_few_channels(at):
            return at


# Signals whose channels have a kernel each.
SIGNALS = [
    ((4, 24, 50), (24, 1, 9), (1,), ((4, 4),), (1,)),
    ((3, 33, 41), (33, 1, 5), (2,), ((3, 0),), (3,)),
    ((2, 16, 7), (16, 1, 7), (1,), ((0, 0),), (1,)),
    ((1, 2, 1), (2, 1, 1), (1,), ((0, 0),), (1,)),
]


def results(x, w, bias, dy, at):
    """The convolution, and the gradients of its input, weight and bias."""
    return (
        conv_arrays.convolve(x, w, bias, at),
        conv_arrays.convolve_transposed(dy, w, at),
        *conv_arrays.convolution_weights(x, dy, at, True),
    )


def check(case, layout, dtype, group=1):
    """Compare with float64, with 1 and 2 threads, by the bound of sums in any order.

    That is half a unit of the sum of absolute terms per term; oneDNN's order may depend on the threads.
    """
    at = Geometry(*case[:5], group)
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(shape).astype(dtype) for shape in (at.x, at.w, at.w[:1], at.y)]
    arrays = [layout(a) if a.ndim > 1 else a for a in given]
    before, found = threads.get_num_threads(), []
    try:
        for number in (1, 2):
            threads.set_num_threads(number)
            found.append(results(*arrays, at))
    finally:
        threads.set_num_threads(before)
    exact = results(*(a.astype(np.float64) for a in given), at)
    sizes = results(*(np.abs(a.astype(np.float64)) for a in given), at)
    elements, pixels = np.prod(at.w[1:]), np.prod(at.y) // at.w[0]
    terms = (elements + 1, at.w[0] // group * np.prod(at.w[2:]), pixels, pixels)
    for one, two, wanted, size, count in zip(*found, exact, sizes, terms, strict=True):
        bound = 1.01 * (count * HALF_UNIT[F32] * size + HALF_UNIT[dtype] * (np.abs(wanted) + LEAST))
        for array in (one, two):
            assert array.dtype == dtype and array.shape == wanted.shape
            assert (np.abs(array.astype(np.float64) - wanted) <= bound).all()


@pytest.mark.parametrize("dtype", HALF_UNIT, ids=str)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("case", CASES)
def test_forward_and_gradients(case, layout, dtype):
    check(case, layout, dtype)


@pytest.mark.parametrize("dtype", HALF_UNIT, ids=str)
@pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray))
@pytest.mark.parametrize("case", SIGNALS)
def test_a_kernel_per_channel_of_signals(case, layout, dtype):
    check(case, layout, dtype, group=case[1][0])


@pytest.mark.parametrize("dtype", (F32, BF16), ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_random_shapes(seed, dtype):
    check(random_case(np.random.default_rng(seed)), channels_last, dtype)


def test_images_go_part_by_part(monkeypatch):
    case = CASES[0]
    monkeypatch.setattr(conv_columns, "_IN_CACHE", 1 << 14)  # Three images at a time, and one at the end.
    check(case, channels_last, F32)


@pytest.mark.parametrize("dtype", (F32, BF16), ids=str)
@pytest.mark.parametrize("layout", [np.asarray, channels_last])
@pytest.mark.parametrize("batch, outputs", [(3, 5), (5, 3), (1, 1), (8, 9), (16, 18)])
def test_a_window_over_the_whole_image(batch, outputs, layout, dtype):
    rng = np.random.default_rng(0)
    shapes = ((batch, 16, 32, 33), (outputs, 16, 32, 33), (outputs,), (batch, outputs, 1, 1))
    x, w, bias, dy = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    at = Geometry(x.shape, w.shape, (1, 1), ((0, 0), (0, 0)), (1, 1))
    exact = [a.astype(np.float64) for a in (x, w, bias, dy)]
    all_wanted, sizes = results(*exact, at), results(*map(np.abs, exact), at)
    # n terms added one by one, which is how oneDNN makes one output on AVX2, err by at most half a unit of their sizes'
    # sum n times; by 0.64 times in standard deviation if they are normal, and six of these are allowed. Without FMA
    # products are rounded, too, which raises the variance by 2 / n of it.
    rounded = 2 if dnnl.isa() in ("SSE41", "AVX") else 0
    bounds = [
        1.01 * HALF_UNIT[F32] * min(n, 4 * (1 + rounded / n) ** 0.5) * s
        for n, s in zip((16 * 32 * 33 + 1, outputs, batch, batch), sizes, strict=True)
    ]
    for found, wanted, bound in zip(results(layout(x), w, bias, dy, at), all_wanted, bounds, strict=True):
        assert found.dtype == dtype
        assert (abs(found.astype(np.float64) - wanted) <= bound + HALF_UNIT[dtype] * abs(wanted)).all()
    wide = np.moveaxis(np.empty((batch, 32, 33, 16), np.float32), -1, 1)
    conv_arrays.convolve_transposed(dy, w, at, wide)
    assert (abs(wide - all_wanted[1]) <= bounds[1] + HALF_UNIT[F32] * abs(all_wanted[1])).all()

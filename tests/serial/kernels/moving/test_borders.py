"""Borders and the sums of their copies against numpy.pad and its transpose."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import borders
from tests.serial.kernels.calls import call

MODES = {"reflect": "reflect", "symmetric": "symmetric", "replicate": "edge", "circular": "wrap"}
DTYPES = (np.bool_, np.int8, np.float16, ml_dtypes.bfloat16, np.float32, np.int64, np.complex64, np.complex128)
SHAPES = ((5,), (1,), (1, 1), (3, 40_000), (2, 3, 7), (4, 1, 5, 6), (16, 8, 32, 32), (2, 3, 4, 5, 6), (0, 3))


def widths_for(rng, shape, spare):
    """Random widths for some of the dimensions that a mirror image of them can fill."""
    most = [min(max(n - spare, 0), 3) * (rng.random() < 0.7) for n in shape]
    return tuple((int(rng.integers(n + 1)), int(rng.integers(n + 1))) for n in most)


def view(rng, shape, dtype):
    """An array of this shape: C-contiguous, a part of a larger one, or with its axes turned."""
    if np.dtype(dtype).kind == "c":
        return rng.normal(size=shape).astype(dtype) * (1 + 2j)
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(-3, 4, shape).astype(dtype)
    if kind == 1:
        whole = rng.integers(-3, 4, tuple(n + 2 for n in shape)).astype(dtype)
        return whole[tuple(slice(1, n + 1) for n in shape)]
    return rng.integers(-3, 4, shape[::-1]).astype(dtype).T


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rule", ["constant", *MODES])
def test_borders(rule, dtype):
    rng = np.random.default_rng(3)
    for shape in SHAPES * 3:
        x = view(rng, shape, dtype)
        widths = widths_for(rng, shape, rule == "reflect")
        value = np.array(1).astype(dtype)
        words = np.dtype(f"V{x.itemsize}")
        how = {"mode": MODES[rule]} if rule != "constant" else {"constant_values": value}
        wanted = np.pad(x, widths, **how) if rule == "constant" or x.size else x
        out = np.empty(wanted.shape, dtype)
        if not (rule != "constant" and x.size == 0):
            call(borders.surround, (x, out, widths, rule, value), [out])
            np.testing.assert_array_equal(out.view(words), np.ascontiguousarray(wanted).view(words))


def test_negative_widths_cut_off():
    x = np.arange(42).reshape(6, 7)
    out = np.empty((4, 7), int)
    borders.surround(x, out, ((-1, -1), (-2, 2)), "constant", np.array(9))
    np.testing.assert_array_equal(out, np.pad(x[1:-1, 2:], ((0, 0), (0, 2)), constant_values=9))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("last", [(0, 0), (2, 1), (-2, -1), (-3, 0), (17, 3), (-1, 40)])
@pytest.mark.parametrize("rows", [(0, 0), (1, 2), (-1, -2), (2, -3), (-2, 1)])
def test_runs_of_rows_begin_and_end_with_the_array(dtype, last, rows):
    rng = np.random.default_rng(6)
    for shape in ((3, 8, 70), (2, 5, 9)):
        x, widths, value = view(rng, shape, dtype), ((0, 0), rows, last), np.array(1).astype(dtype)
        wide = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in widths], constant_values=value)
        cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, wide.shape, strict=True))
        out = np.empty(wide[cut].shape, dtype)
        call(borders.surround, (x, out, widths, "constant", value), [out])
        words = np.dtype(f"V{x.itemsize}")
        np.testing.assert_array_equal(out.view(words), np.ascontiguousarray(wide[cut]).view(words))


@pytest.mark.parametrize("dtype", DTYPES)
def test_circular_widths_roll(dtype):
    rng = np.random.default_rng(5)
    for shape in ((7,), (3, 40_000), (5, 1, 6), (300, 130)):
        for axis, n in enumerate(shape):
            x, shift = view(rng, shape, dtype), int(rng.integers(n))
            out = np.empty(shape, dtype)
            for before in (shift, shift - n):
                widths = tuple((before, -before) if i == axis else (0, 0) for i in range(len(shape)))
                call(borders.surround, (x, out, widths, "circular"), [out])
                np.testing.assert_array_equal(out, np.roll(x, shift, axis))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("rule", MODES)
def test_sums_of_copies(rule, dtype):
    rng = np.random.default_rng(4)
    for shape in SHAPES[:-1] * 3:
        widths = widths_for(rng, shape, rule == "reflect")
        places = np.pad(np.arange(np.prod(shape)).reshape(shape), widths, MODES[rule])
        # Small whole numbers: their sums are exact in every type.
        d_out = rng.integers(-3, 4, places.shape).astype(dtype)
        wanted = np.zeros(np.prod(shape))
        np.add.at(wanted, places.ravel(), d_out.ravel().astype(np.float64))
        d_x = np.empty(shape, dtype)
        call(borders.sum_copies, (d_out, d_x, widths, rule), [d_x])
        np.testing.assert_array_equal(d_x.astype(np.float64), wanted.reshape(shape))


def test_arguments():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="'rule'"):
        borders.surround(x, x.copy(), ((0, 0), (0, 0)), "mirror")
    with pytest.raises(ValueError, match="length 4"):
        borders.surround(x, x.copy(), ((1, 1), (0, 0)), "reflect")
    with pytest.raises(ValueError, match="'widths' must be in"):
        borders.surround(x, np.zeros((6, 3), np.float32), ((2, 2), (0, 0)), "reflect")
    with pytest.raises(TypeError, match="'value'"):
        borders.surround(x, np.zeros((4, 3), np.float32), ((1, 1), (0, 0)), "constant", np.array(1))
    with pytest.raises(ValueError, match="'widths' must not"):
        borders.sum_copies(x, x.copy(), ((0, 0), (1, -1)), "circular")
    with pytest.raises(ValueError, match="'constant'"):
        borders.sum_copies(x, x.copy(), ((0, 0), (0, 0)), "constant")
    with pytest.raises(TypeError, match="'d_x'"):
        borders.sum_copies(x.astype(int), x.astype(int), ((0, 0), (0, 0)), "reflect")

"""Casts between float32 and bfloat16 against ml_dtypes' own, in any dense layout."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import cast
from dist_ms.ops.layout import converted
from tests.serial.kernels.calls import call, layouts

BF16 = np.dtype(ml_dtypes.bfloat16)
SHAPES = [(0,), (), (1,), (33,), (3, 5, 7), (300, 211), (2, 0, 3)]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-40, -1e-45, 3.4e38, 65280.0, 1.00390625, 1.01171875]


def values(shape):
    random = np.random.default_rng(3)
    bits = random.integers(0, 2**32, shape, np.uint32)  # every exponent, NaNs among them
    return np.asarray(bits).view(np.float32) if shape else np.float32(1.7)


@pytest.mark.parametrize("shape", SHAPES)
def test_both_ways(shape):
    for x in layouts(np.asarray(values(shape), np.float32)):
        low = call(cast.to_bfloat16, (x, out := np.empty_like(x, np.uint16)), (out,))
        with np.errstate(all="ignore"):
            wanted = x.astype(BF16)
        number = ~np.isnan(x)
        assert np.array_equal(low[number], wanted.view(np.uint16)[number])
        assert np.isnan(low.view(BF16)[~number].astype(np.float32)).all()
        back = call(cast.from_bfloat16, (low, out := np.empty_like(x)), (out,))
        assert np.array_equal(back, low.view(BF16).astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_float16_both_ways(shape):
    for x in layouts(np.asarray(values(shape) if shape else np.float32(1.7), np.float32)):
        if x.ndim == 2:  # more numbers that float16 can hold
            with np.errstate(all="ignore"):
                x = np.sign(x) * np.exp2(np.log2(np.abs(x)) / 8)
        low = call(cast.to_float16, (x, out := np.empty_like(x, np.float16)), (out,))
        with np.errstate(all="ignore"):
            wanted = x.astype(np.float16)
        assert np.array_equal(low, wanted, equal_nan=True)
        assert np.array_equal(np.signbit(low), np.signbit(wanted))
        back = call(cast.from_float16, (low, out := np.empty_like(x)), (out,))
        assert np.array_equal(back, low.astype(np.float32), equal_nan=True)


def test_every_float16_comes_back():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    wide, back = np.empty(2**16, np.float32), np.empty_like(every)
    cast.from_float16(every, wide)
    assert np.array_equal(wide, every.astype(np.float32), equal_nan=True)
    cast.to_float16(wide, back)
    number = ~np.isnan(every)
    assert np.array_equal(back.view(np.uint16)[number], every.view(np.uint16)[number]) and np.isnan(back[~number]).all()
    # Halfway between two neighbours, and a hair beside it: to the even one, or the nearer.
    finite = wide[:0x7C00].astype(np.float64)
    middle = ((finite[:-1] + finite[1:]) / 2).astype(np.float32)
    for x in (middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(0)), -middle):
        out = np.empty(x.shape, np.float16)
        cast.to_float16(x, out)
        assert np.array_equal(out, x.astype(np.float16))


def test_special_values():
    x = np.array(SPECIAL, np.float32)
    out = np.empty(x.shape, BF16)
    cast.to_bfloat16(x, out)
    with np.errstate(all="ignore"):
        wanted = x.astype(BF16)
    assert np.array_equal(out.astype(np.float32), wanted.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.signbit(out.astype(np.float32)), np.signbit(wanted.astype(np.float32)))


@pytest.mark.parametrize("low", [BF16, np.dtype(np.float16)])
def test_converted_takes_any_strides(low):
    x = np.asarray(values((16, 8, 20)), np.float32)
    for view in (x, x.T, x[::2], x[:, ::-1], x[..., 1:9], np.broadcast_to(x[0], (6, 8, 20)), x[:0], x[0, 0]):
        with np.errstate(all="ignore"):
            found, wanted = converted(view, low), view.astype(low)
        assert found.dtype == low and found.shape == view.shape
        assert np.array_equal(found.astype(np.float32), wanted.astype(np.float32), equal_nan=True)
        assert np.array_equal(converted(found, np.dtype(np.float32)), found.astype(np.float32), equal_nan=True)
    assert converted(x, np.dtype(np.float32)) is x
    assert converted(np.asfortranarray(x), low).flags.f_contiguous


def test_wrong_arguments():
    x = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match="'x' must be float32"):
        cast.to_bfloat16(x.astype(np.float64), np.empty(4, BF16))
    with pytest.raises(TypeError, match="'out' must be bfloat16"):
        cast.to_bfloat16(x, np.empty(4, np.float16))
    with pytest.raises(TypeError, match="'x' must be float16, but got uint16"):
        cast.from_float16(np.empty(4, np.uint16), x)
    with pytest.raises(ValueError, match="'out' must have the shape"):
        cast.to_bfloat16(x, np.empty(3, BF16))
    with pytest.raises(ValueError, match="one piece of memory"):
        cast.to_bfloat16(x, np.empty(8, BF16)[::2])
    with pytest.raises(ValueError, match="order of axes"):
        cast.from_bfloat16(np.empty((2, 3), BF16), np.empty((3, 2), np.float32).T)


@pytest.mark.parametrize("source", [np.float32, BF16])
@pytest.mark.parametrize("target", [np.float32, BF16])
def test_copy_rows_takes_views(source, target):
    random = np.random.default_rng(5)
    for shape in ((1,), (0,), (9,), (4, 1), (7, 40), (3, 0, 2), (2, 5, 3, 33), (300, 4, 70)):
        whole = random.standard_normal((*shape[:-1], shape[-1] + 3)).astype(source)
        for view in (whole[..., 1:-2], whole[::-1, ..., 1:-2] if len(shape) > 1 else whole[2:-1]):
            view = view.swapaxes(0, 1) if len(shape) > 2 else view
            room = np.zeros((*view.shape[:-1], view.shape[-1] + 2), target)
            call(cast.copy_rows, (view, room[..., 2:]), [room[..., 2:]])
            assert np.array_equal(room[..., 2:].astype(np.float64), view.astype(target).astype(np.float64))
            assert not room[..., :2].any()


def test_copy_rows_repeats_a_broadcast_row():
    out = np.empty((5, 8), BF16)
    cast.copy_rows(np.broadcast_to(np.arange(8, dtype=np.float32), (5, 8)), out)
    assert (out.astype(np.float32) == np.arange(8)).all()


def test_converted_keeps_views_of_transposed_matrices():
    heads = np.asarray(values((4, 6, 3, 16)), np.float32)[..., :8].swapaxes(1, 2)
    found = converted(heads.swapaxes(-1, -2), BF16)
    assert found.swapaxes(-1, -2).flags.c_contiguous
    with np.errstate(all="ignore"):
        wanted = heads.astype(BF16).astype(np.float32)
    assert np.array_equal(found.astype(np.float32), wanted.swapaxes(-1, -2), equal_nan=True)


def test_wrong_arguments_of_copy_rows():
    x = np.zeros((4, 6), np.float32)
    with pytest.raises(TypeError, match="'x' must be float32 or bfloat16, but got float64"):
        cast.copy_rows(x.astype(np.float64), x)
    with pytest.raises(TypeError, match="'out' must be float32 or bfloat16, but got float16"):
        cast.copy_rows(x, x.astype(np.float16))
    with pytest.raises(ValueError, match="'out' must have the shape"):
        cast.copy_rows(x, x[:3])
    with pytest.raises(ValueError, match="rows of 'x' must be contiguous"):
        cast.copy_rows(x.T, np.zeros((6, 4), np.float32))
    with pytest.raises(ValueError, match="must have 1 to 16 dimensions"):
        cast.copy_rows(x[0, 0:1].reshape(()), x)

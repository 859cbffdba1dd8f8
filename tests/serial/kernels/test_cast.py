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


def test_special_values():
    x = np.array(SPECIAL, np.float32)
    out = np.empty(x.shape, BF16)
    cast.to_bfloat16(x, out)
    with np.errstate(all="ignore"):
        wanted = x.astype(BF16)
    assert np.array_equal(out.astype(np.float32), wanted.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.signbit(out.astype(np.float32)), np.signbit(wanted.astype(np.float32)))


def test_converted_takes_any_strides():
    x = np.asarray(values((6, 8, 10)), np.float32)
    for view in (x, x.T, x[::2], x[:, ::-1], x[..., 1:4], np.broadcast_to(x[0], (3, 8, 10)), x[:0]):
        found = converted(view, BF16)
        with np.errstate(all="ignore"):
            wanted = view.astype(BF16)
        assert found.dtype == BF16 and found.shape == view.shape
        assert np.array_equal(found.astype(np.float32), wanted.astype(np.float32), equal_nan=True)
        assert np.array_equal(converted(found, np.dtype(np.float32)), found.astype(np.float32), equal_nan=True)
    assert converted(x, np.dtype(np.float32)) is x
    assert converted(np.asfortranarray(x), BF16).flags.f_contiguous


def test_wrong_arguments():
    x = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match="'x' must be float32"):
        cast.to_bfloat16(x.astype(np.float64), np.empty(4, BF16))
    with pytest.raises(TypeError, match="'out' must be bfloat16"):
        cast.to_bfloat16(x, np.empty(4, np.float16))
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

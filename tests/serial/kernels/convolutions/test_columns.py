"""Windows as rows of a matrix and back, against NumPy's sliding windows."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import columns, interleave
from dist_ms.ops.convolutions import windows
from tests.serial.kernels.calls import call

BF16 = np.dtype(ml_dtypes.bfloat16)
# x (N, *sizes, C), kernel, stride, padding, dilation
CASES = [
    ((2, 8, 7, 5), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((3, 9, 8, 16), (3, 2), (2, 1), ((0, 2), (2, 0)), (1, 2)),
    ((1, 1, 40, 3), (1, 5), (1, 3), ((0, 0), (2, 2)), (1, 2)),
    ((4, 16, 16, 40), (1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    ((2, 3, 3, 1), (2, 2), (1, 1), ((3, 3), (3, 3)), (1, 1)),
    ((8, 16, 16, 32), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    ((3, 50, 7), (4,), (3,), ((2, 3),), (2,)),
    ((40, 90, 1), (90,), (1,), ((1, 1),), (1,)),
    ((2, 6, 5, 9, 3), (3, 2, 4), (2, 1, 1), ((1, 0), (1, 1), (5, 2)), (1, 2, 1)),
    ((4, 5, 9, 16, 8), (2, 3, 3), (1, 2, 3), ((0, 0), (2, 1), (0, 1)), (2, 1, 2)),
    ((0, 4, 4, 2), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((2, 4, 4, 0), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
]


def shape_of(x, kernel, stride, padding, dilation):
    return (x[0], *windows.output_sizes(x[1:-1], kernel, stride, padding, dilation), *kernel, x[-1])


def before(padding):
    return tuple(pair[0] for pair in padding)


@pytest.mark.parametrize("dtype", (np.float32, BF16, np.float64))
@pytest.mark.parametrize("x_shape, kernel, stride, padding, dilation", CASES)
def test_unfold(x_shape, kernel, stride, padding, dilation, dtype):
    x = np.random.default_rng(0).standard_normal(x_shape).astype(dtype)
    view = windows.windows(np.moveaxis(x, -1, 1), kernel, stride, padding, dilation)
    out = np.empty(shape_of(x_shape, kernel, stride, padding, dilation), dtype)
    found = call(columns.unfold, (x, out, stride, before(padding), dilation), [out])
    np.testing.assert_array_equal(found, np.moveaxis(view, 1, -1))


@pytest.mark.parametrize("x_shape, kernel, stride, padding, dilation", CASES)
def test_fold(x_shape, kernel, stride, padding, dilation):
    shape = shape_of(x_shape, kernel, stride, padding, dilation)
    parts = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    channels_first = (x_shape[0], x_shape[-1], *x_shape[1:-1])
    wanted = windows.add_windows(
        np.moveaxis(parts, -1, 1).astype(np.float64), channels_first, kernel, stride, padding, dilation
    )
    x = np.empty(x_shape, np.float32)
    found = call(columns.fold, (parts, x, stride, before(padding), dilation), [x])
    np.testing.assert_allclose(found, np.moveaxis(wanted, 1, -1), atol=1e-5)


@pytest.mark.parametrize("rows_apart", (False, True))
@pytest.mark.parametrize("x_shape, kernel, stride, padding, dilation", CASES)
def test_fold_planes(x_shape, kernel, stride, padding, dilation, rows_apart):
    rank = len(kernel)
    count, *sizes, channels = x_shape
    shape = shape_of(x_shape, kernel, stride, padding, dilation)
    parts = np.random.default_rng(2).standard_normal((count, channels, *kernel, *shape[1 : rank + 1]))
    parts = parts.astype(np.float32)
    if rows_apart:  # the kernel's places first
        parts = np.moveaxis(
            np.ascontiguousarray(np.moveaxis(parts, range(2, rank + 2), range(rank))), range(rank), range(2, rank + 2)
        )
    moved = np.moveaxis(parts, range(2, rank + 2), range(rank + 2, 2 * rank + 2))
    wanted = windows.add_windows(moved, (count, channels, *sizes), kernel, stride, padding, dilation)
    x = np.empty((count, channels, *sizes), np.float32)
    found = call(columns.fold_planes, (parts, x, stride, before(padding), dilation), [x])
    np.testing.assert_array_equal(found, wanted)  # in the same order


def test_fold_planes_refuses():
    x, parts = np.zeros((1, 2, 4, 4), np.float32), np.zeros((1, 2, 3, 3, 2, 2), np.float32)
    ones, none = (1, 1), (0, 0)
    with pytest.raises(TypeError, match="'windows' must be float32, but got float64"):
        columns.fold_planes(parts.astype(float), x, ones, none, ones)
    with pytest.raises(ValueError, match="'x' must have 3 to 5 dimensions, and 'windows' twice as many less 2"):
        columns.fold_planes(parts[0], x, ones, none, ones)
    with pytest.raises(ValueError, match="and contiguous rows, but got shape"):
        columns.fold_planes(np.zeros((1, 2, 3, 3, 2, 4), np.float32)[..., ::2], x, ones, none, ones)
    with pytest.raises(ValueError, match=r"images and channels of 'x' \(1, 2, 4, 4\) first"):
        columns.fold_planes(np.zeros((1, 3, 3, 3, 2, 2), np.float32), x, ones, none, ones)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        columns.fold_planes(parts, x.transpose(0, 1, 3, 2), ones, none, ones)


def test_columns_refuse():
    x, out = np.zeros((1, 4, 4, 2), np.float32), np.zeros((1, 2, 2, 3, 3, 2), np.float32)
    ones, none = (1, 1), (0, 0)
    with pytest.raises(TypeError, match="'windows' must be float32, but got float64"):
        columns.unfold(x, out.astype(float), ones, none, ones)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        columns.unfold(x.transpose(0, 2, 1, 3), out, ones, none, ones)
    with pytest.raises(ValueError, match=r"'x' must have 3 to 5 dimensions, but got shape \(4, 2\)"):
        columns.unfold(np.zeros((4, 2), np.float32), out, ones, none, ones)
    with pytest.raises(ValueError, match=r"images and channels of 'x' \(1, 4, 4, 2\) first and last"):
        columns.unfold(x, np.zeros((1, 2, 2, 3, 3, 3), np.float32), ones, none, ones)
    with pytest.raises(ValueError, match=r"'stride' must be 2 numbers of 1 or more, but got \(0, 1\)"):
        columns.unfold(x, out, (0, 1), none, ones)
    with pytest.raises(ValueError, match=r"'before' must be 2 numbers of 0 or more, but got \(-1, 1\)"):
        columns.fold(out, x, ones, (-1, 1), ones)
    with pytest.raises(TypeError, match="'x' must be float32, but got float64"):
        columns.fold(out.astype(float), x.astype(float), ones, none, ones)


@pytest.mark.parametrize("dtype", (np.uint16, np.float32, BF16))
@pytest.mark.parametrize("shape", [(1, 2, 3), (1, 9, 6300), (70, 90, 9), (20, 1, 5), (3, 4, 0), (1, 3, 20_001)])
def test_interleave(shape, dtype):
    planes = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    out = np.zeros((shape[0], shape[2], shape[1]), dtype)
    call(interleave.interleave, (planes, out), [out])
    np.testing.assert_array_equal(out, planes.swapaxes(1, 2))


def test_interleave_refuses():
    planes = np.zeros((1, 2, 3), np.float32)
    with pytest.raises(TypeError, match="must have one type of 2 or 4 bytes, but got float32 and float64"):
        interleave.interleave(planes, np.zeros((1, 3, 2)))
    with pytest.raises(ValueError, match=r"'out' must have shape \(1, 3, 2\)"):
        interleave.interleave(planes, planes)
    with pytest.raises(ValueError, match="must be C-contiguous"):
        interleave.interleave(planes, planes.copy().swapaxes(1, 2))

"""Sampling at the points of a grid, and its gradients, against the same in plain operations."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms._ext import grid_sampling
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.images.grid_sampling import Sampled
from tests.serial.kernels.calls import call

SHAPES = (((2, 3, 4, 6), (5, 7)), ((1, 40, 9, 1), (30, 20)), ((3, 1, 1, 1), (2, 2)), ((2, 5, 3, 4, 5), (6, 5, 4)))
SHAPES += (((9, 16, 12, 12), (17, 19)), ((1, 2, 2, 2, 1), (1, 1, 300)))
SHAPES += (((2, 19, 3, 4, 5), (6, 5, 4)), ((1, 9, 7), (150,)))


def arrays(rng, shape, size, dtype):
    """Images, a grid with points outside, on the edges and nowhere, and a gradient."""
    x, dy = (rng.normal(size=s).astype(dtype) for s in (shape, (*shape[:2], *size)))
    grid = rng.uniform(-2.5, 2.5, (shape[0], *size, len(size)))
    grid[rng.random(grid.shape) < 0.1] = 1
    grid[rng.random(grid.shape) < 0.03] = np.nan
    grid[rng.random(grid.shape) < 0.03] = rng.choice([-np.inf, 1e30])
    return x, grid.astype(dtype), dy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("nearest", [True, False])
def test_samples_and_gradients(nearest, padding, align, dtype):
    rng = np.random.default_rng(7)
    close = {"rtol": 1e-3, "atol": 1e-4} if dtype is np.float32 else {"rtol": 1e-9, "atol": 1e-11}
    for inside in (False, True):
        for shape, size in SHAPES:
            x, grid, dy = arrays(rng, shape, size, dtype)
            if inside:
                grid = np.clip(np.nan_to_num(grid), -0.6, 0.6)
            sampled = Sampled(nearest, padding, align)
            inputs = (ms.Tensor(x), ms.Tensor(grid))
            wanted = sampled.formula(*inputs).asnumpy()
            dx, dgrid = (t.asnumpy() for t in formula_gradient(sampled.formula, inputs, ms.Tensor(dy)))
            rows, d_out = grid.reshape(shape[0], -1, len(size)), dy.reshape(*shape[:2], -1)
            out, d_x, d_rows = np.empty_like(d_out), np.empty_like(x), np.empty_like(rows)
            call(grid_sampling.sample, (x, rows, out, nearest, padding, align), [out])
            np.testing.assert_allclose(out.reshape(wanted.shape), wanted, rtol=1e-6, atol=1e-6)
            call(grid_sampling.sample_gradient, (d_x, rows, d_out, nearest, padding, align), [d_x])
            np.testing.assert_allclose(d_x, dx, **close)
            if not nearest:
                call(grid_sampling.grid_gradient, (x, rows, d_out, d_rows, padding, align), [d_rows])
                np.testing.assert_allclose(d_rows.reshape(grid.shape), dgrid, **close)


def test_what_is_not_read_makes_no_difference():
    x = np.full((1, 1, 2, 2), np.nan, np.float32)
    out = np.empty((1, 1, 1), np.float32)
    grid_sampling.sample(x, np.full((1, 1, 2), 3, np.float32), out, False, "zeros", False)
    assert out.item() == 0


def test_gradients_of_gradients():
    rng = np.random.default_rng(8)
    x, grid, dy = arrays(rng, (1, 2, 4, 5), (3, 2), np.float64)
    grid = np.clip(np.nan_to_num(grid), -0.7, 0.7)
    sampled = Sampled(False, "zeros", False)

    def slopes(function):
        def total(a, b):
            da, db = ms.grad(lambda a, b: (function(a, b) * ms.Tensor(dy)).sum(), (0, 1))(a, b)
            return (da * da).sum() + (db * db).sum()

        return ms.grad(total, (0, 1))(ms.Tensor(x), ms.Tensor(grid))

    for found, wanted in zip(slopes(sampled), slopes(sampled.formula), strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-9, atol=1e-10)


def test_arguments():
    x, grid, out = np.zeros((1, 1, 2, 2)), np.zeros((1, 3, 2)), np.zeros((1, 1, 3))
    with pytest.raises(ValueError, match="'padding'"):
        grid_sampling.sample(x, grid, out, False, "wrap", True)
    with pytest.raises(ValueError, match="'grid'"):
        grid_sampling.sample(x, grid[..., :1].copy(), out, False, "zeros", True)
    with pytest.raises(ValueError, match="result"):
        grid_sampling.sample(x, grid, out[..., :2].copy(), False, "zeros", True)
    with pytest.raises(TypeError, match="'grid'"):
        grid_sampling.sample(x, grid.astype(np.float32), out, False, "zeros", True)
    with pytest.raises(ValueError, match="pixels"):
        grid_sampling.sample(x[:, :, :0], grid, out, False, "zeros", True)

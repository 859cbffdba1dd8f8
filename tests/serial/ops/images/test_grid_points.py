"""grid_sample and affine_grid point by point: loops in NumPy, values of MindSpore 2.10, gradients, errors."""

import itertools

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.ops.images.grid_sampling import AffineGrid, GridSampler2D, GridSampler3D, affine_grid, grid_sample
from tests.gradcheck import check_gradient

F = np.float32
PADDINGS = ["zeros", "border", "reflection"]


def reflected(x, low, high):
    """The coordinate in [low, high], mirrored at the ends as often as needed."""
    while x < low or x > high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def read(image, point, mode, padding, align):
    """A pixel of (*spatial) at a point (x, y[, z]), by the definition."""
    places = []
    for g, n in zip(point[::-1], image.shape):
        x = (g + 1) / 2 * (n - 1) if align else ((g + 1) * n - 1) / 2
        if padding == "reflection":
            x = reflected(x, *((0, n - 1) if align else (-0.5, n - 0.5)))
        if padding != "zeros":
            x = min(max(x, 0), n - 1)
        low = int(np.floor(x))
        places.append(
            [(int(np.floor(x + 0.5)), 1.0)] if mode == "nearest" else [(low, low + 1 - x), (low + 1, x - low)]
        )
    total = 0.0
    for corner in itertools.product(*places):
        if all(0 <= p < n for (p, _), n in zip(corner, image.shape)):
            total += image[tuple(p for p, _ in corner)] * np.prod([w for _, w in corner])
    return total


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("sizes", [(4, 5), (2, 3, 4)], ids=["2d", "3d"])
def test_is_the_loop(sizes, mode, padding, align):
    rng, rank = np.random.RandomState(len(sizes)), len(sizes)
    x, grid = rng.randn(2, 2, *sizes), rng.rand(2, *(3,) * rank, rank) * 5 - 2.5
    found = grid_sample(Tensor(x), Tensor(grid), mode, padding, align).asnumpy()
    wanted = np.zeros((2, 2, *(3,) * rank))
    for index in itertools.product(range(2), range(2), *(range(3),) * rank):
        wanted[index] = read(x[index[:2]], grid[(index[0], *index[2:])], mode, padding, align)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", PADDINGS)
def test_gradients(padding, align):
    rng = np.random.RandomState(4)
    inputs = rng.randn(1, 2, 3, 4), rng.rand(1, 2, 3, 2) * 4 - 2
    check_gradient(lambda x, g: grid_sample(x, g, "bilinear", padding, align), *inputs, step=1e-6)


def test_the_nearest_pixel_has_a_gradient_and_the_grid_none():
    x, grid = np.random.RandomState(5).randn(1, 2, 3, 3), np.random.RandomState(6).rand(1, 4, 2, 2) * 2 - 1
    check_gradient(lambda x: grid_sample(x, Tensor(grid), "nearest"), x)
    dgrid = ms.grad(lambda g: ops.sum(grid_sample(Tensor(x), g, "nearest")))(Tensor(grid))
    assert dgrid.shape == grid.shape and (dgrid == 0).all()


def test_values_of_mindspore():
    x = Tensor(np.arange(16).reshape(1, 1, 4, 4).astype(F))
    grid = Tensor((np.random.RandomState(1).rand(1, 3, 2, 2) * 3 - 1.5).astype(F))
    for (mode, padding, align), wanted in {
        ("bilinear", "zeros", False): [12.2899, 0, 0, 1.4164, 7.8122, 11.4604],
        ("bilinear", "border", True): [11.0924, 2.442, 0, 3.3083, 7.7342, 10.4703],
        ("bilinear", "reflection", True): [11.0924, 3.1915, 1.4275, 3.3083, 7.7342, 10.4703],
        ("nearest", "reflection", True): [9, 5, 0, 4, 9, 9],
    }.items():
        np.testing.assert_allclose(grid_sample(x, grid, mode, padding, align).asnumpy().ravel(), wanted, atol=1e-4)
    # Halves go away from 0; NaN and infinities are outside, or at the border.
    half = Tensor(np.array([[[[-0.75, -0.25], [0.25, 0], [0.5, 0.75]]]], F))
    assert grid_sample(x, half, "nearest").asnumpy().ravel().tolist() == [4, 10, 15]
    odd = Tensor(np.array([[[[np.nan, 0], [np.inf, 0], [-1e10, 0.75]]]], F))
    assert grid_sample(x, odd).asnumpy().ravel().tolist() == [0, 0, 0]
    assert grid_sample(x, odd, padding_mode="border").asnumpy().ravel().tolist() == [9, 9, 12]


def test_a_point_on_a_pixel_takes_the_slope_after_it():
    x, grid = Tensor(np.array([0.0, 1.0, 5.0]).reshape(1, 1, 1, 3)), Tensor(np.zeros((1, 1, 1, 2)))
    dgrid = ms.grad(lambda g: ops.sum(grid_sample(x, g, align_corners=True)))(grid)
    assert dgrid.asnumpy().ravel().tolist() == [4.0, 0.0]


def test_types_and_sizes():
    x, grid = np.ones((1, 2, 3, 3)), np.zeros((1, 2, 2, 2))
    half = grid_sample(Tensor(x, ms.float16), Tensor(grid, ms.float16))
    assert half.dtype == ms.float16 and (half == 1).all()
    assert grid_sample(Tensor(x), Tensor(grid), align_corners=None).shape == (1, 2, 2, 2)
    assert (grid_sample(Tensor(np.ones((1, 1, 0, 4))), Tensor(grid)) == 0).all()
    assert grid_sample(Tensor(x), Tensor(np.zeros((1, 0, 2, 2)))).shape == (1, 2, 0, 2)
    volume = Tensor(np.ones((1, 2, 3, 3, 3)))
    assert GridSampler3D("nearest")(volume, Tensor(np.zeros((1, 1, 2, 2, 3)))).shape == (1, 2, 1, 2, 2)


def test_errors():
    x, grid = Tensor(np.ones((1, 1, 4, 4), F)), Tensor(np.ones((1, 3, 2, 2), F))
    for error, inputs in [
        (ValueError, (x, grid, "bicubic")),
        (ValueError, (x, grid, "nearest", "q")),
        (TypeError, (x, grid, "nearest", "zeros", 1)),
        (TypeError, (x, ops.cast(grid, ms.float64))),
        (TypeError, (ops.cast(x, ms.int32), grid)),
        (AttributeError, (1, grid)),
        (ValueError, (x, Tensor(np.ones((2, 3, 2, 2), F)))),
        (ValueError, (x, Tensor(np.ones((1, 3, 2, 3), F)))),
        (ValueError, (x[0], grid)),
        (ValueError, (x, Tensor(np.ones((1, 3, 2, 2, 3), F)))),
    ]:
        with pytest.raises(error):
            grid_sample(*inputs)
    with pytest.raises(ValueError, match="4 dimensions"):
        GridSampler2D()(Tensor(np.ones((1, 1, 2, 2, 2))), Tensor(np.ones((1, 1, 1, 1, 3))))


@pytest.mark.parametrize("align", [False, True])
def test_affine_grid(align):
    for sizes in [(4, 5), (1, 3), (1, 1), (2, 3, 4)]:
        rank = len(sizes)
        theta = np.random.RandomState(rank).randn(2, rank, rank + 1).astype(F)
        found = affine_grid(Tensor(theta), (2, 3, *sizes), align).asnumpy()
        assert found.shape == (2, *sizes, rank)
        for index in itertools.product(range(2), *(range(n) for n in sizes)):
            point = [
                0.0 if n == 1 else (2 * i / (n - 1) - 1 if align else (2 * i + 1) / n - 1)
                for i, n in zip(index[1:], sizes)
            ]
            np.testing.assert_allclose(found[index], theta[index[0]] @ np.array([*point[::-1], 1]), atol=2e-6)
    theta = Tensor(np.random.RandomState(0).randn(1, 2, 3).astype(F))
    dtheta = ms.grad(lambda t: ops.sum(affine_grid(t, (1, 1, 2, 3), align)))(theta).asnumpy()
    np.testing.assert_allclose(dtheta, [[[0, 0, 6]] * 2], atol=1e-6)
    assert (affine_grid(theta, Tensor([1, 1, 2, 2]), align) == AffineGrid(align)(theta, (1, 1, 2, 2))).all()


def test_affine_grid_errors():
    theta, theta3 = Tensor(np.ones((2, 2, 3), F)), Tensor(np.ones((2, 3, 4), F))
    for error, inputs in [
        (TypeError, (theta, [2, 3, 2, 3])),
        (TypeError, (ops.cast(theta, ms.float64), (2, 3, 2, 3))),
        (TypeError, (ops.cast(theta, ms.int32), (2, 3, 2, 3))),
        (TypeError, (3, (1, 3, 1, 1))),
        (TypeError, (theta, (2, 3, 2, 3), 1)),
        (ValueError, (theta, (1, 3, 2, 3))),
        (ValueError, (theta, (2, 3, 2))),
        (ValueError, (theta[0], (1, 3, 2, 3))),
        (ValueError, (theta3, (2, 3, 2, 3))),
        (ValueError, (theta, (2, 3, -2, 3))),
    ]:
        with pytest.raises(error):
            affine_grid(*inputs)

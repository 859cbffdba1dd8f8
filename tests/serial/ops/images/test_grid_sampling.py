"""affine_grid, grid_sample, blocks of pixels, boxes and loops, against what they must do."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops

RNG = np.random.RandomState(5)
X = RNG.rand(2, 3, 4, 6).astype(np.float32)
IDENTITY = np.array([[[1, 0, 0], [0, 1, 0]]] * 2, np.float32)


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_sampling_at_the_identity_gives_the_image(mode, padding, align):
    grid = ops.affine_grid(ms.Tensor(IDENTITY), X.shape, align)
    np.testing.assert_allclose(ops.grid_sample(ms.Tensor(X), grid, mode, padding, align).asnumpy(), X, atol=2e-6)


def test_padding_modes_outside():
    x = ms.Tensor(np.array([[[[1, 2, 3]]]], np.float32))
    grid = ms.Tensor(np.array([[[[2.0, 0.0]]]], np.float32))  # pixel 3 of 0..2
    found = [ops.grid_sample(x, grid, "bilinear", p, True).asnumpy().item() for p in ("zeros", "border", "reflection")]
    assert found == [0, 3, 2]


def test_gradients_of_sampling_against_differences():
    grid = (RNG.rand(2, 3, 2, 2) * 1.6 - 0.8).astype(np.float64)
    x = X.astype(np.float64)
    dx, dg = ms.grad(lambda a, b: ops.grid_sample(a, b).square().sum(), (0, 1))(ms.Tensor(x), ms.Tensor(grid))
    for array, found in ((x, dx), (grid, dg)):
        step = RNG.randn(*array.shape)

        def at(t, array=array, step=step):
            moved = array + t * step
            a, b = (moved, grid) if array is x else (x, moved)
            return ops.grid_sample(ms.Tensor(a), ms.Tensor(b)).square().sum().asnumpy().item()

        slope = (at(1e-7) - at(-1e-7)) / 2e-7
        np.testing.assert_allclose((found.asnumpy() * step).sum(), slope, rtol=1e-4)


def test_volumes():
    theta = np.eye(3, 4, dtype=np.float32)[None]
    x = RNG.rand(1, 2, 3, 4, 5).astype(np.float32)
    grid = ops.AffineGrid(True)(ms.Tensor(theta), x.shape)
    np.testing.assert_allclose(ops.GridSampler3D(align_corners=True)(ms.Tensor(x), grid).asnumpy(), x, atol=2e-6)


def test_sampling_checks_its_arguments():
    with pytest.raises(ValueError, match="'grid'"):
        ops.grid_sample(ms.Tensor(X), ms.Tensor(X[..., :3]))
    with pytest.raises(ValueError, match="padding_mode"):
        ops.GridSampler2D(padding_mode="wrap")


def test_blocks_go_there_and_back():
    x = ms.Tensor(X)
    deep = ops.SpaceToDepth(2)(x)
    np.testing.assert_array_equal(deep.asnumpy()[:, :3], X[:, :, ::2, ::2])
    np.testing.assert_array_equal(ops.DepthToSpace(2)(deep).asnumpy(), X)
    parts = ops.space_to_batch_nd(x, [2, 3], [[1, 1], [2, 1]])
    assert parts.shape == (12, 3, 3, 3)
    np.testing.assert_array_equal(ops.batch_to_space_nd(parts, [2, 3], [[1, 1], [2, 1]]).asnumpy(), X)
    with pytest.raises(ValueError, match="block_size"):
        ops.SpaceToDepth(1)
    with pytest.raises(RuntimeError, match="block_shape"):
        ops.space_to_batch_nd(x, [3, 3], [[0, 0], [0, 0]])


def test_boxes_decode_to_what_was_encoded():
    anchors = (RNG.rand(5, 4) * 20).astype(np.float32)
    anchors[:, 2:] += anchors[:, :2]
    truth, extra = anchors + RNG.rand(5, 4).astype(np.float32), ((0.1,) * 4, (1.0, 2.0, 1.0, 2.0))
    deltas = ops.bounding_box_encode(ms.Tensor(anchors), ms.Tensor(truth), *extra)
    back = ops.bounding_box_decode(ms.Tensor(anchors), deltas, (1000, 1000), *extra)
    np.testing.assert_allclose(back.asnumpy(), truth, rtol=1e-4)
    cut = ops.BoundingBoxDecode((5, 4))(ms.Tensor(anchors), deltas).asnumpy()
    assert (cut >= 0).all() and (cut.max(0) == [4, 5, 4, 5]).all()  # x up to the width, y up to the height


def test_suppression_stops_at_the_size_and_the_score():
    t, op = ms.Tensor, ops.NonMaxSuppressionWithOverlaps()
    overlaps, scores = t(np.eye(3, dtype=np.float32)), t([0.3, 0.2, 0.1])
    assert op(overlaps, scores, t(2), t(0.5), t(0.0)).asnumpy().tolist() == [0, 1]
    assert op(overlaps, scores, t(3), t(0.5), t(0.25)).asnumpy().tolist() == [0]


def test_loops():
    assert ops.ForiLoop()(0, 4, lambda i, v: v + i, 0) == 6
    assert ops.WhileLoop()(lambda v: v < 5, lambda v: v + 2, 0) == 6
    assert ops.Scan()(lambda c, x: (c + 1, x), 0, None, 3) == (3, [None] * 3)
    with pytest.raises(TypeError, match="loop_func"):
        ops.ForiLoop()(0, 1, 3, 0)
    with pytest.raises(ValueError, match="length"):
        ops.Scan()(lambda c, x: (c, x), 0, [1, 2], 3)

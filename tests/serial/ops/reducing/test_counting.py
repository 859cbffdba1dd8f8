"""Counts, norms, views, scaled tensors and summed norms: against NumPy twins."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

X = np.array([[1.0, 0, -2], [3, 4, 0.5]], np.float32)
rng = np.random.default_rng(5)


def same(found, wanted, tolerance=0.0):
    assert found.dtype == Tensor(wanted).dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dims, axis", [(None, None), ([1], 1), ([-1, 0], (-1, 0)), (0, 0)])
def test_count_non_zero(dims, axis):
    same(ops.CountNonZero(dims)(Tensor(X)), np.asarray(np.count_nonzero(X, axis), np.int64))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("axes", [[1], [0, 1], [-1]])
def test_euclidean_norm(dtype, axes):
    x = X.astype(dtype)
    wanted = np.sqrt(np.square(x).sum(tuple(axes)))
    same(ops.EuclideanNorm()(Tensor(x), Tensor(axes)), wanted, 2e-3)
    assert ops.EuclideanNorm(True)(Tensor(x), Tensor(axes)).ndim == 2
    with pytest.raises(TypeError, match="'keep_dims' must be bool"):
        ops.EuclideanNorm(1)


def test_confusion_matrix():
    labels, taken = Tensor([0, 1, 1, 2], ms.int32), Tensor([0, 2, 1, 2], ms.int32)
    same(ops.ConfusionMatrix(3)(labels, taken), np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]], np.int32))
    weights = Tensor([1.0, 2, 3, 4])
    wanted = np.array([[1, 0, 0], [0, 3, 2], [0, 0, 4]], np.float32)
    same(ops.ConfusionMatrix(3, "float32")(labels, taken, weights), wanted)
    with pytest.raises(ValueError, match="'labels' must be from 0 and below 'num_classes' 2"):
        ops.ConfusionMatrix(2)(labels, taken)
    with pytest.raises(ValueError, match="must have one shape"):
        ops.ConfusionMatrix(3)(labels, taken[:2])


def test_histogram_fixed_width():
    x = rng.uniform(-2, 7, (4, 50)).astype(np.float32)
    wanted = np.histogram(np.clip(x, 0, 5), 10, (0, 5))[0].astype(np.int32)
    same(ops.HistogramFixedWidth(10)(Tensor(x), Tensor([0.0, 5.0])), wanted)
    for bad in (lambda: ops.HistogramFixedWidth(0), lambda: ops.HistogramFixedWidth(3, "float32")):
        with pytest.raises(ValueError, match="For 'HistogramFixedWidth'"):
            bad()
    with pytest.raises(ValueError, match="two rising numbers"):
        ops.HistogramFixedWidth(3)(Tensor(x), Tensor([5.0, 0.0]))


def test_views():
    x = Tensor(X)
    same(ops.TransposeView()(x, (1, 0)), X.T)
    same(ops.TransposeExtView()(x, 0, 1), X.T)
    same(ops.SelectView()(x, 1, 0), X[1])
    same(ops.SelectView()(x, -1, 1), X[:, -1])
    same(ops.reshape_(x, (3, 2)), X.reshape(3, 2))
    for index, axis, name in ((2, 0, "index"), (0, 2, "axis")):
        with pytest.raises(ValueError, match=f"'{name}' must be"):
            ops.SelectView()(x, index, axis)
    grad = ms.grad(lambda x: ops.SelectView()(x, 1, 0).sum() + ops.TransposeView()(x, (1, 0)).sum())(x)
    same(grad, np.array([[1, 1, 1], [2, 2, 2]], np.float32))


def test_blocks_of_pixels():
    x = Tensor(rng.standard_normal((2, 3, 4, 2)).astype(np.float32))
    blocks = ops.SpaceToBatch(2, [[0, 0], [1, 1]])(x)
    assert blocks.shape == (8, 3, 2, 2)
    same(ops.BatchToSpace(2, [[0, 0], [1, 1]])(blocks), x.asnumpy())
    for kind in (ops.SpaceToBatch, ops.BatchToSpace):
        with pytest.raises(ValueError, match="'block_size' must be 2 or more"):
            kind(1, [[0, 0], [0, 0]])
        with pytest.raises(ValueError, match=r"must be \(N, C, H, W\)"):
            kind(2, [[0, 0], [0, 0]])(Tensor(X))


def test_scaled_tensors():
    x = Tensor(X)
    same(ops.LerpScalar()(x, x * 2, 0.5), X * np.float32(1.5))
    same(ops.tensor_muls(x, 3), X * 3)
    y = Tensor(X.copy())
    assert ops.inplace_sigmoid(y) is y
    same(y, 1 / (1 + np.exp(-X)), 1e-6)
    same(ms.grad(lambda x: ops.tensor_muls(x, 3).sum())(x), np.full_like(X, 3))


def test_summed_norms():
    x, g, b = Tensor(X), Tensor([1.0, 2.0, 3.0]), Tensor([0.5, 0.0, -0.5])
    total = 2 * X
    rstd = 1 / np.sqrt(np.square(total).mean(-1, keepdims=True) + np.float32(1e-6))
    for found, wanted in zip(ops.add_rms_norm(x, x, g), (total * rstd * g.asnumpy(), rstd, total)):
        same(found, wanted, 1e-5)
    mean = total.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(total.var(-1, keepdims=True) + np.float32(1e-5))
    wanted = (total - mean) * rstd * g.asnumpy() + b.asnumpy(), mean, rstd, total
    for found, value in zip(ops.add_layer_norm(x, x, g, b), wanted):
        same(found, value, 1e-5)
    with pytest.raises(RuntimeError, match="must have one shape"):
        ops.add_rms_norm(x, x[:1], g)
    with pytest.raises(TypeError, match="must be float16, bfloat16 or float32, but got Int32"):
        ops.add_layer_norm(x.astype(ms.int32), x, g, b)


@pytest.mark.parametrize("mode", [0, 1])
def test_rotary_position_embedding(mode):
    x = rng.standard_normal((2, 3, 4, 6)).astype(np.float32)
    angle = rng.standard_normal((1, 3, 1, 3)).astype(np.float32)
    angle = np.tile(angle, 2) if mode == 0 else np.repeat(angle, 2, -1)
    found = ops.rotary_position_embedding(Tensor(x), Tensor(np.cos(angle)), Tensor(np.sin(angle)), mode)
    pairs = (x[..., :3], x[..., 3:]) if mode == 0 else (x[..., ::2], x[..., 1::2])
    turns = np.exp(1j * (angle[..., :3] if mode == 0 else angle[..., ::2]))
    wanted = (pairs[0] + 1j * pairs[1]) * turns
    wanted = np.concatenate([wanted.real, wanted.imag], -1) if mode == 0 else np.stack([wanted.real, wanted.imag], -1)
    same(found, wanted.reshape(x.shape).astype(np.float32), 1e-5)
    with pytest.raises(ValueError, match="'mode' must be 0 or 1"):
        ops.rotary_position_embedding(Tensor(x), Tensor(x), Tensor(x), 2)
    with pytest.raises(TypeError, match="'mode' must be int"):
        ops.rotary_position_embedding(Tensor(x), Tensor(x), Tensor(x), 0.0)


@pytest.mark.parametrize("dim, axis", [(None, 1), (0, 0), (-1, -1)])
def test_log_softmax_in_other_form(dim, axis):
    wanted = X - np.log(np.exp(X).sum(axis, keepdims=True))
    same(ops.LogSoftmaxExt()(Tensor(X), dim), wanted, 1e-6)
    same(ops.LogSoftmaxExt()(Tensor(X), dim, ms.float64), wanted.astype(np.float64), 1e-6)


@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_quantile(dim, keep):
    parts = [0.5, 0.25]
    wanted = np.quantile(X, parts, dim, keepdims=keep).astype(np.float32)
    same(ops.Quantile(dim, keep)(Tensor(X), Tensor(np.array(parts, np.float32))), wanted, 1e-6)
    gaps = np.where(X == 4, np.nan, X)
    wanted = np.nanquantile(gaps, parts, dim, keepdims=keep).astype(np.float32)
    same(ops.Quantile(dim, keep, True)(Tensor(gaps), Tensor(np.array(parts, np.float32))), wanted, 1e-6)
    with pytest.raises(TypeError, match="keep_dims"):
        ops.Quantile(dim, 1)

"""norm, LpNorm, clip_by_norm and their kin; cdist and pdist."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.random.default_rng(0).standard_normal((3, 4))
INF = math.inf


@pytest.mark.parametrize("p", [0, 1, 2, 3, 0.5, -1, INF, -INF])
@pytest.mark.parametrize("axis", [0, 1])
def test_vectors(p, axis):
    wanted = np.linalg.norm(A, p, axis, keepdims=True)
    same(ops.vector_norm(ms.Tensor(A), p, axis, True), wanted)
    same(ops.norm(ms.Tensor(A), p, axis, True), wanted)


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, INF, -INF])
def test_matrices(order):
    same(ops.matrix_norm(ms.Tensor(A), order, keepdims=True), np.linalg.norm(A, order, keepdims=True))
    same(ops.norm(ms.Tensor(A), order), np.linalg.norm(A, order))
    same(ops.matrix_norm(ms.Tensor(np.stack([A, A])), order, (2, 1)), np.linalg.norm(np.stack([A, A]), order, (2, 1)))


def test_norm_of_everything():
    same(ops.norm(ms.Tensor(A)), np.linalg.norm(A))
    same(ms.Tensor(A).norm(dim=1, keepdim=True), np.linalg.norm(A, axis=1, keepdims=True))
    same(ops.norm(tensor([3, 4])), np.float32(5))
    same(ops.norm(tensor([3 + 4j], "complex64")), np.float32(5))
    assert ops.norm(ms.Tensor(A), dtype=ms.float32).dtype == ms.float32


def test_the_rest():
    same(ops.LpNorm([0, 1], 3, True)(ms.Tensor(A)), np.full((1, 1), (np.abs(A) ** 3).sum() ** (1 / 3)))
    same(ops.L2Loss()(ms.Tensor(A)), (A**2).sum() / 2)
    same(ops.dist(ms.Tensor(A), ms.Tensor(A[0]), 1), np.abs(A - A[0]).sum())
    same(
        ops.renorm(ms.Tensor(A), 2, 0, 1.0),
        A * np.minimum(1, 1 / (np.linalg.norm(A, axis=1, keepdims=True) + 1e-7)),
        1e-6,
    )


def test_clipping():
    x = tensor([3.0, 4.0])
    same(ops.clip_by_norm(x, 1.0), np.array([0.6, 0.8]), 1e-5)
    equal(ops.clip_by_norm(x, 10.0), [3, 4])
    a, b = ops.clip_by_norm([x, tensor([12.0])], 1.0)
    same(a, np.array([3, 4]) / 13, 1e-5)
    same(b, np.array([12]) / 13, 1e-5)
    with pytest.raises(RuntimeError, match="must be finite"):
        ops.clip_by_norm(tensor([np.inf]), 1.0, error_if_nonfinite=True)
    a, b = ops.clip_by_global_norm([x, tensor([12.0], "float16")], 1.0)
    same(a, np.array([3, 4]) / 13)
    assert b.dtype == ms.float16
    equal(ops.clip_by_global_norm((x,), 10.0)[0], [3, 4])
    for bad in ({"x": x}, {"x": [x], "clip_norm": "a"}):
        with pytest.raises(TypeError, match="For 'clip_by_global_norm'"):
            ops.clip_by_global_norm(**bad)
    with pytest.raises(ValueError, match="'clip_norm' must be positive"):
        ops.clip_by_global_norm([x], 0.0)


def test_norm_errors():
    with pytest.raises(ValueError, match="'ord' must be a number, but got 'fro'"):
        ops.vector_norm(ms.Tensor(A), "fro")
    with pytest.raises(ValueError, match="'ord' must be 'fro'"):
        ops.matrix_norm(ms.Tensor(A), 3)
    with pytest.raises(ValueError, match="'axis' must be two dimensions"):
        ops.matrix_norm(ms.Tensor(A), axis=(0,))
    with pytest.raises(ValueError, match="For 'norm'"):
        ops.norm(tensor(np.ones((2, 2, 2))), 2)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 2.5, INF])
def test_distances(p):
    wanted = np.array([[np.linalg.norm(a - b, p) for b in A[:2]] for a in A])
    same(ops.cdist(ms.Tensor(A), ms.Tensor(A[:2]), p), wanted)
    same(ops.pdist(ms.Tensor(A), p), np.array([np.linalg.norm(A[i] - A[j], p) for i, j in ((0, 1), (0, 2), (1, 2))]))


def test_distance_errors():
    with pytest.raises(ValueError, match="'p' must not be negative"):
        ops.cdist(ms.Tensor(A), ms.Tensor(A), -1.0)
    with pytest.raises(ValueError, match="rows of one length"):
        ops.cdist(ms.Tensor(A), ms.Tensor(A.T))
    with pytest.raises(TypeError, match="must be float"):
        ops.cdist(tensor([[1]]), tensor([[1]]))


def test_rows_are_clipped_by_the_norm_of_the_dense_gradient():
    rows = ms.RowTensor(ms.Tensor([2, 0, 2]), ms.Tensor([[1.0, 0.0], [3.0, 4.0], [-1.0, 12.0]]), (4, 2))
    dense = rows.to_dense()
    clipped, other = ops.clip_by_global_norm((rows, ms.Tensor([84.0])), 8.5)
    wanted, same = ops.clip_by_global_norm((dense, ms.Tensor([84.0])), 8.5)
    np.testing.assert_allclose(clipped.to_dense().asnumpy(), wanted.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(other.asnumpy(), same.asnumpy(), rtol=1e-6)
    assert isinstance(clipped, ms.RowTensor) and clipped.indices.asnumpy().tolist() == [0, 2]
    reducer = ms.nn.DistributedGradReducer([ms.Parameter(np.zeros((4, 2), np.float32), name="table")])
    assert reducer.global_norm(reducer((rows,))) == pytest.approx(13)

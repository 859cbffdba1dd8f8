"""Decompositions and diagonals of matrices: products, NumPy, finite differences."""

import numpy as np
import pytest

from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import equal, same, tensor

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((2, 4, 3))
WIDE = TALL.swapaxes(-1, -2)
SQUARE = TALL[:, :3]


@pytest.mark.parametrize("x", [TALL, WIDE, SQUARE])
def test_svd(x):
    for full in (False, True):
        s, u, v = (t.asnumpy() for t in ops.svd(tensor(x), full))
        assert u.shape[-1] == (x.shape[-2] if full else 3) and v.shape[-1] == (x.shape[-1] if full else 3)
        np.testing.assert_allclose((u[..., :3] * s[:, None]) @ v[..., :3].swapaxes(-1, -2), x, atol=1e-12)
    same(ops.svd(tensor(x), compute_uv=False), s, 1e-12)
    check_gradient(lambda x: ops.svd(x, compute_uv=False), x, tolerance=1e-5)
    check_gradient(ops.svd, x, order=1)
    check_gradient(ops.svd, x[0], tolerance=1e-4)


# Singular vectors that MindSpore 2.10 returns.
MINDSPORES = {
    "tall": (
        [[1, 2], [-4, -5], [2, 1]],
        [[0.3082, -0.4882, 0.8165], [-0.9061, 0.1107, 0.4082], [0.2897, 0.8657, 0.4082]],
        [[0.6386, 0.7695], [0.7695, -0.6386]],
    ),
    "wide": (
        [[1, 3, -2, 0], [2, -1, 4, 1]],
        [[0.5449, -0.8385], [-0.8385, -0.5449]],
        [
            [-0.2145, -0.6754, -0.6667, -0.2308],
            [0.4687, -0.6902, 0.5513, -0.0083],
            [-0.8421, -0.1761, 0.4935, -0.1278],
            [-0.1589, -0.1909, -0.0894, 0.9645],
        ],
    ),
    "square": (
        [[4, 1, -1], [0, 3, 2], [1, 0, -5]],
        [[-0.4217, 0.799, -0.4286], [0.3606, 0.5815, 0.7292], [-0.8319, -0.153, 0.5334]],
        [[-0.4264, 0.738, -0.5231], [0.1118, 0.6168, 0.7791], [0.8976, 0.2738, -0.3455]],
    ),
    "equal numbers": (
        [[2, 1], [1, 2]],
        [[0.7071, -0.7071], [0.7071, 0.7071]],
        [[0.7071, -0.7071], [0.7071, 0.7071]],
    ),
}


@pytest.mark.parametrize(("x", "u", "v"), MINDSPORES.values(), ids=MINDSPORES)
def test_svd_has_mindspores_signs(x, u, v):
    for batch in (np.array(x, np.float32), np.array(x, np.float64), np.array([x, np.negative(x)], np.float64)):
        for full in (False, True):
            _, left, right = (t.asnumpy() for t in ops.svd(tensor(batch), full))
            for found, wanted in ((left, u), (right, v)):
                first = found[0] if batch.ndim == 3 else found
                np.testing.assert_allclose(first, np.array(wanted)[:, : first.shape[1]], atol=1e-4)


def test_svd_of_few_and_of_equal_columns():
    for x in (np.zeros((0, 3, 2)), np.zeros((3, 2)), np.zeros((2, 3)), np.ones((4, 3)), np.ones((3, 4)), np.eye(4)):
        s, u, v = (t.asnumpy() for t in ops.svd(tensor(x), True))
        k = s.shape[-1]
        np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ v[..., :k].swapaxes(-1, -2), x, atol=1e-12)
        for vectors in (u, v):
            unit = np.broadcast_to(np.eye(vectors.shape[-1]), vectors.shape)
            np.testing.assert_allclose(vectors.swapaxes(-1, -2) @ vectors, unit, atol=1e-12)


def test_svd_without_gradient():
    with pytest.raises(RuntimeError, match="U and V have no gradient with 'full_matrices'"):
        check_gradient(lambda x: ops.svd(x, True), TALL, order=1)
    check_gradient(lambda x: ops.svd(x, True)[0], TALL, order=1)


@pytest.mark.parametrize("x", [TALL, WIDE, SQUARE])
def test_qr(x):
    for mode in ("reduced", "complete"):
        q, r = (t.asnumpy() for t in ops.qr(tensor(x), mode))
        wanted = np.linalg.qr(x, mode)
        np.testing.assert_allclose(q, wanted.Q, atol=1e-12)
        np.testing.assert_allclose(r, wanted.R, atol=1e-12)
    check_gradient(ops.qr, x, tolerance=1e-5)
    y, tau = ops.geqrf(tensor(x))
    same(ops.triu(y)[..., : min(x.shape[-2:]), :], np.linalg.qr(x).R, 1e-12)
    if x is not WIDE:
        same(ops.orgqr(y, tau), np.linalg.qr(x).Q, 1e-12)
        check_gradient(ops.Orgqr(), x, tau.asnumpy())


def test_eig():
    values, vectors = (t.asnumpy() for t in ops.eig(tensor(SQUARE)))
    np.testing.assert_allclose(SQUARE @ vectors, vectors * values[:, None], atol=1e-12)
    same(ops.eigvals(tensor(SQUARE, "float32")), values.astype("complex64"), 1e-5)
    with pytest.raises(ValueError, match="must hold square matrices"):
        ops.eig(tensor(TALL))
    x = np.array([[1 + 2j, 2 + 1j], [4 + 1j, 5 + 2j]])
    log = ops.MatrixLogarithm()(tensor(x)).asnumpy()
    values, vectors = np.linalg.eig(log)
    np.testing.assert_allclose((vectors * np.exp(values)) @ np.linalg.inv(vectors), x, rtol=1e-12)
    with pytest.raises(TypeError, match="must be complex"):
        ops.MatrixLogarithm()(tensor(SQUARE))


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("k", [0, -1, (-1, 2), (1, 3), (-2, -1)])
def test_diagonals(k, align):
    x = RNG.standard_normal((2, 3, 4))
    found = ops.matrix_diag_part(tensor(x), k, 9.0, align)
    low, high = (k, k) if isinstance(k, int) else k
    rows = found.asnumpy().reshape(2, high - low + 1, -1)
    for i, d in enumerate(range(high, low - 1, -1)):
        wanted = np.diagonal(x, d, -2, -1)
        right = align.split("_")[d < 0] == "RIGHT"
        pad = rows.shape[-1] - wanted.shape[-1]
        full = np.pad(wanted, ((0, 0), (pad, 0) if right else (0, pad)), constant_values=9)
        np.testing.assert_array_equal(rows[:, i], full)
    band = np.zeros((3, 4), bool)
    for d in range(low, high + 1):
        band |= np.eye(3, 4, d, dtype=bool)
    equal(ops.matrix_diag(found, k, 3, 4, 7.0, align), np.where(band, x, 7))
    equal(ops.MatrixSetDiagV3(align)(ops.zeros_like(tensor(x)), found, k), np.where(band, x, 0))
    check_gradient(lambda v: ops.matrix_diag_part(v, k, 0.0, align), x)
    check_gradient(lambda v: ops.matrix_diag(v, k, 3, 4, 0.0, align), found.asnumpy())
    check_gradient(lambda v, d: ops.matrix_set_diag(v, d, k, align), x, found.asnumpy())


def test_more_of_diagonals():
    equal(ops.matrix_diag(tensor([1, 2]), 1), [[0, 1, 0], [0, 0, 2], [0, 0, 0]])
    equal(ops.matrix_diag(tensor([1, 2]), -1, num_cols=2), [[0, 0], [1, 0], [0, 2]])
    equal(ops.matrix_band_part(tensor(np.ones((3, 3))), -1, 0), np.tril(np.ones((3, 3))))
    equal(ops.MatrixBandPart()(tensor(np.ones((3, 3))), tensor(1), tensor(1)), np.tri(3, 3, 1) * np.tri(3, 3, 1).T)
    with pytest.raises(ValueError, match="'align' must be one of"):
        ops.matrix_diag(tensor([1]), align="LEFT")
    with pytest.raises(ValueError, match=r"'k' must be in \(-3, 4\)"):
        ops.matrix_diag_part(tensor(np.ones((3, 4))), 5, 0.0)
    for fill in ((1.0, 2.0), None, "a"):
        with pytest.raises(TypeError, match="'padding_value' must be a"):
            ops.matrix_diag_part(tensor(np.ones((3, 4))), 0, fill)
        with pytest.raises(TypeError, match="'padding_value' must be a"):
            ops.matrix_diag(tensor([1.0]), padding_value=fill)
    with pytest.raises(ValueError, match="'diagonal' must have the shape"):
        ops.matrix_set_diag(tensor([[1, 2]]), tensor([1, 2]))


def test_methods():
    x = tensor(SQUARE)
    same(x.svd(compute_uv=False), np.linalg.svd(SQUARE, compute_uv=False), 1e-12)
    same(x.qr()[0], np.linalg.qr(SQUARE).Q, 1e-12)
    same(x.eigvals(), np.linalg.eigvals(SQUARE).astype(complex), 1e-12)
    same(x.geqrf()[1], ops.geqrf(x)[1].asnumpy())
    same((x @ x.swapaxes(-1, -2)).cholesky(), np.linalg.cholesky(SQUARE @ SQUARE.swapaxes(-1, -2)), 1e-12)

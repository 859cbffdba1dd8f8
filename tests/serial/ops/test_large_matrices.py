"""Factorisations of large float32 matrices by blocks: against NumPy in float64, with what has no solution refused."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops

SIZES = [128, 131, 200, 257]


def matrix(n, columns=None, seed=1):
    return np.random.default_rng(seed).standard_normal((n, columns or n)).astype(np.float32)


def positive(n):
    x = matrix(n).astype(np.float64)
    return (x @ x.T + n * np.eye(n)).astype(np.float32)


def close(found, wanted, tolerance=1e-4):
    found = found.asnumpy() if isinstance(found, ms.Tensor) else found
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("n", SIZES)
def test_inverse_and_solutions(n):
    a, b = matrix(n), matrix(n, 7, 2)
    exact = np.linalg.inv(a.astype(np.float64))
    close(ops.inverse(ms.Tensor(a)), exact, 1e-3)
    close(ops.inverse(ms.Tensor(a).T), exact.T, 1e-3)
    close(ops.matrix_solve(ms.Tensor(a), ms.Tensor(b)), exact @ b, 1e-3)
    close(ops.matrix_solve(ms.Tensor(a), ms.Tensor(b), adjoint=True), exact.T @ b, 1e-3)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lower", [True, False])
def test_triangles(n, lower):
    a = matrix(n) / n + 2 * np.eye(n, dtype=np.float32)
    a, b = np.tril(a) if lower else np.triu(a), matrix(n, 3, 2)
    exact = np.linalg.inv(a.astype(np.float64))
    close(ops.inverse(ms.Tensor(a)), exact)
    close(ops.matrix_solve(ms.Tensor(a), ms.Tensor(b)), exact @ b)
    close(ops.matrix_solve(ms.Tensor(a), ms.Tensor(b), adjoint=True), exact.T @ b)
    close(ops.MatrixTriangularSolve(lower)(ms.Tensor(a + matrix(n, seed=3) * (a == 0)), ms.Tensor(b)), exact @ b)


@pytest.mark.parametrize("n", SIZES)
def test_determinants(n):
    a = matrix(n) * np.float32((np.e / n) ** 0.5)  # whose determinant is not far from 1
    sign, log = np.linalg.slogdet(a.astype(np.float64))
    found_sign, found_log = ops.slogdet(ms.Tensor(a))
    assert float(found_sign) == sign
    assert abs(float(found_log) - log) < 1e-3
    np.testing.assert_allclose(float(ops.det(ms.Tensor(a))), sign * np.exp(log), rtol=2e-3)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(n, upper):
    a = positive(n)
    wanted = np.linalg.cholesky(a.astype(np.float64))
    close(ops.cholesky(ms.Tensor(np.triu(a) if upper else np.tril(a)), upper), wanted.T if upper else wanted, 1e-5)
    a[n - 1, n - 1] = -1
    with pytest.raises(ValueError, match="positive definite"):
        ops.cholesky(ms.Tensor(a), upper)


@pytest.mark.parametrize("rows, columns", [(128, 128), (131, 131), (300, 130), (130, 300), (257, 256)])
def test_qr(rows, columns):
    a = matrix(rows, columns)
    q, r = (x.asnumpy() for x in ops.qr(ms.Tensor(a)))
    wanted_q, wanted_r = np.linalg.qr(a.astype(np.float64))
    close(r, wanted_r)
    close(q, wanted_q, 1e-2 if rows == columns else 1e-4)  # the last column of a square Q is as uncertain as R's corner
    close(q @ r, a, 1e-5)
    np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-5)


@pytest.mark.parametrize("rows, columns", [(64, 64), (70, 64), (64, 90), (300, 100)])
def test_singular_values_and_what_is_made_of_them(rows, columns):
    a = matrix(rows, columns)
    wanted = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    s, u, v = (x.asnumpy() for x in ops.svd(ms.Tensor(a)))
    close(s, wanted, 1e-5)
    close(ops.svd(ms.Tensor(a), compute_uv=False), wanted, 1e-5)
    close((u * s) @ v.T, a, 1e-5)
    np.testing.assert_allclose(u.T @ u, np.eye(len(s)), atol=1e-5)
    close(ops.pinv(ms.Tensor(a)), np.linalg.pinv(a.astype(np.float64)), 1e-3)
    if rows > columns:
        b = matrix(rows, 2, 5)
        close(ops.lstsq(ms.Tensor(a), ms.Tensor(b)), np.linalg.lstsq(a.astype(np.float64), b)[0], 1e-4)


def test_least_squares_of_a_matrix_without_full_rank():
    a = matrix(300, 60) @ matrix(60, 100, 2)
    b = matrix(300, 2, 5)
    wanted = np.linalg.lstsq(a.astype(np.float64), b, rcond=1e-5)[0]
    close(ops.lstsq(ms.Tensor(a), ms.Tensor(b)), wanted, 1e-3)


def test_batches():
    a, b = np.stack([matrix(130), matrix(130, seed=2)]), matrix(130, 3, 3)
    exact = np.linalg.inv(a.astype(np.float64))
    close(ops.inverse(ms.Tensor(a)), exact, 1e-3)
    close(ops.matrix_solve(ms.Tensor(a), ms.Tensor(np.stack([b, b]))), exact @ b, 1e-3)
    sign, log = ops.slogdet(ms.Tensor(a))
    wanted = np.linalg.slogdet(a.astype(np.float64))
    np.testing.assert_array_equal(sign.asnumpy(), wanted[0])
    close(log, wanted[1])
    q, r = ops.qr(ms.Tensor(a))
    close(q @ r, a)
    assert ops.inverse(ms.Tensor(np.zeros((0, 130, 130), np.float32))).shape == (0, 130, 130)
    assert ops.slogdet(ms.Tensor(np.zeros((0, 130, 130), np.float32)))[0].shape == (0,)


@pytest.mark.parametrize("kind", ["zeros", "a row twice", "a lower triangle", "an upper triangle"])
def test_what_has_no_inverse_is_refused(kind):
    a = matrix(140)
    if kind == "zeros":
        a[:] = 0
    elif kind == "a row twice":
        a = np.round(a * 4)
        a[:, 100] = 0
    else:
        a = np.tril(a) if "lower" in kind else np.triu(a)
        a[70, 70] = 0
    with pytest.raises(ValueError, match="must have an inverse"):
        ops.inverse(ms.Tensor(a))
    with pytest.raises(ValueError, match="must have an inverse"):
        ops.matrix_solve(ms.Tensor(a), ms.Tensor(matrix(140, 1)))
    assert float(ops.det(ms.Tensor(a))) == 0


def test_nan_stays_nan():
    a = matrix(140)
    a[3, 5] = np.nan
    assert np.isnan(ops.inverse(ms.Tensor(a)).asnumpy()).any()
    assert np.isnan(float(ops.det(ms.Tensor(a))))
    with pytest.raises(ValueError, match="positive definite"):
        ops.cholesky(ms.Tensor(a))


@pytest.mark.parametrize("name", ["inverse", "cholesky", "slogdet", "solve"])
def test_gradients_along_a_direction(name):
    n = 140
    a, direction = positive(n).astype(np.float64) / n, matrix(n, seed=9).astype(np.float64)
    direction = direction + direction.T
    b, weight = matrix(n, 2, 5), matrix(n, seed=6)
    of = {
        "inverse": (lambda x: (ops.inverse(x) * ms.Tensor(weight)).sum(), lambda x: (np.linalg.inv(x) * weight).sum()),
        "cholesky": (
            lambda x: (ops.cholesky(x) * ms.Tensor(weight)).sum(),
            lambda x: (np.linalg.cholesky(x) * weight).sum(),
        ),
        "slogdet": (lambda x: ops.slogdet(x)[1], lambda x: np.linalg.slogdet(x)[1]),
        "solve": (lambda x: ops.matrix_solve(x, ms.Tensor(b)).sum(), lambda x: np.linalg.solve(x, b).sum()),
    }[name]
    grad = ms.grad(of[0])(ms.Tensor(a.astype(np.float32))).asnumpy()
    slope = (of[1](a + 1e-5 * direction) - of[1](a - 1e-5 * direction)) / 2e-5
    assert abs((grad * direction).sum() - slope) < 1e-3 * np.abs(grad * direction).sum()

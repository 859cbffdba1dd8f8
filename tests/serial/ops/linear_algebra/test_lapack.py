"""Inverses and factors by SciPy's LAPACK against NumPy's: shapes, types, memory layouts, errors, threads."""

import threading

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.linear_algebra import lapack

RNG = np.random.default_rng(0)
SHAPES = [(1, 1), (3, 3), (5, 3), (3, 5), (70, 64), (64, 70), (2, 64, 64), (2, 3, 64, 70), (4, 3, 3), (0, 0), (3, 0)]


def matrices(shape, dtype):
    a = RNG.standard_normal(shape)
    a = (a + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)
    return a, np.asfortranarray(a), a[..., ::-1, :]


def close(found, wanted, tolerance):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [*SHAPES, (2, 0, 3), (0, 64, 64)])
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_factors(shape, dtype):
    tolerance = 1e-3 if dtype in "fF" else 1e-10
    for a in matrices(shape, dtype):
        before = a.copy()
        for full in (False, True):
            for found, wanted in zip(lapack.qr(a, full), np.linalg.qr(a, "complete" if full else "reduced")):
                close(found, wanted, tolerance)
            u, s, v = lapack.svd(a, full)
            wanted = np.linalg.svd(a, full_matrices=full)
            assert (u.shape, v.shape) == (wanted[0].shape, wanted[2].shape) and u.dtype == v.dtype == a.dtype
            close(s, wanted[1], tolerance)
            close((u[..., : s.shape[-1]] * s[..., None, :]) @ v[..., : s.shape[-1], :], a, tolerance)
        close(lapack.singular_values(a), np.linalg.svd(a, compute_uv=False), tolerance)
        if shape[-1] == shape[-2]:
            square = a @ a.conj().swapaxes(-1, -2) + 2 * np.eye(shape[-1], dtype=dtype)
            close(lapack.inverse(square), np.linalg.inv(square), tolerance)
            # The upper triangle is not read.
            close(lapack.cholesky(np.tril(square)), np.linalg.cholesky(square), tolerance)
        np.testing.assert_array_equal(a, before)


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 3), (30, 30), (2, 3, 40, 40), (0, 30, 30), (0, 0), (3, 0, 0), (600, 600)]
)
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_determinants(shape, dtype):
    for a in matrices(shape, dtype):
        a = a / np.array(max(shape[-1], 1) ** 0.5).astype(dtype)
        for found, wanted in zip(lapack.log_determinant(a), np.linalg.slogdet(a)):
            close(found, wanted, 1e-3 if dtype in "fF" else 1e-10)
        close(lapack.determinant(a), np.asarray(np.linalg.det(a)), 1e-3 if dtype in "fF" else 1e-10)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (70, 70), (2, 1, 70, 70), (2, 3, 3), (0, 3, 3), (0, 0)])
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_factors_of_determinants_are_inverted(shape, dtype):
    for a in matrices(shape, dtype):
        before = a.copy()
        sign, log, *factors = lapack.factored_log_determinant(a)
        close(sign, np.linalg.slogdet(a)[0], 1e-3 if dtype in "fF" else 1e-10)
        close(log, np.linalg.slogdet(a)[1], 1e-3 if dtype in "fF" else 1e-10)
        for _ in range(2):  # the factors stay as they are
            np.testing.assert_array_equal(lapack.inverse_of_factors(a, *factors), lapack.inverse(a))
        np.testing.assert_array_equal(a, before)


@pytest.mark.parametrize("side", [3, 70])
def test_the_log_of_a_determinant_is_finite_where_the_determinant_is_not(side):
    a = np.diag(np.full(side, 1e30, np.float32))
    assert np.isinf(ops.det(ms.Tensor(a)).asnumpy())
    np.testing.assert_allclose(ops.logdet(ms.Tensor(a)).asnumpy(), side * np.log(1e30), rtol=1e-6)
    a[0, 0] = -1e30
    assert np.isnan(ops.logdet(ms.Tensor(a)).asnumpy())
    np.testing.assert_allclose(ms.grad(ops.logdet)(ms.Tensor(a)).asnumpy(), np.linalg.inv(a).T, rtol=1e-6)
    with pytest.raises(ValueError, match="every matrix must have an inverse"):
        ms.grad(ops.logdet)(ms.Tensor(np.ones((side, side), np.float32)))


@pytest.mark.parametrize("side", [2, 70])
def test_determinants_of_no_and_of_exchanged_rows(side):
    swapped = np.eye(side, dtype=np.float32)[[1, 0, *range(2, side)]]
    assert lapack.determinant(swapped) == -1 and lapack.log_determinant(swapped) == (-1, 0)
    with np.errstate(divide="ignore"):
        singular = np.ones((side, side))
        assert lapack.determinant(singular) == 0 and lapack.log_determinant(singular) == (0, -np.inf)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (70, 64), (0, 2), (3, 0), (2, 4, 3)])
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_solve(shape, dtype):
    *lead, rows, columns = shape
    for a, b in zip(matrices((*lead, rows, rows), dtype), matrices(shape, dtype)):
        a = a + 10 * np.eye(rows, dtype=dtype)
        kept = a.copy(), b.copy()
        close(lapack.solve(a, b), np.linalg.solve(a, b), 1e-4 if dtype in "fF" else 1e-11)
        np.testing.assert_array_equal(a, kept[0])
        np.testing.assert_array_equal(b, kept[1])
    if rows and columns:
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            lapack.solve(np.zeros_like(a), b)


@pytest.mark.parametrize("n", [0, 1, 5, 70])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_eigh(n, dtype):
    a = matrices((n, n), dtype)[0]
    for lower, read in ((True, np.tril(a) + np.tril(a, -1).T), (False, np.triu(a) + np.triu(a, 1).T)):
        values, vectors = lapack.eigh(a, lower)
        close(values, np.linalg.eigvalsh(read), 1e-3 if dtype == "f" else 1e-10)
        close(read @ vectors, vectors * values, 1e-3 if dtype == "f" else 1e-10)


@pytest.mark.parametrize("shape", [(3, 3), (2, 64, 64)])
def test_errors(shape):
    zero, hole = np.zeros(shape), np.full(shape, np.nan)
    for function, a, message in (
        (lapack.inverse, zero, "Singular matrix"),
        (lapack.cholesky, zero, "Matrix is not positive definite"),
        (lapack.cholesky, -np.eye(shape[-1]), "Matrix is not positive definite"),
        (lapack.svd, hole, "SVD did not converge"),
        (lapack.singular_values, hole, "SVD did not converge"),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=message):
            function(a)
    assert np.isnan(lapack.qr(hole)[1]).any()


def test_threads_come_back():
    """Several Python threads may be within; the last one to leave restores what was."""
    with lapack.one_thread:
        pass
    count = lapack.one_thread._calls[0]
    before, a = count(), RNG.standard_normal((100, 100))
    users = [threading.Thread(target=lambda: [lapack.qr(a) for _ in range(20)]) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert count() == before
    with lapack.one_thread, lapack.one_thread:
        assert count() == 1
    with pytest.raises(np.linalg.LinAlgError):
        lapack.inverse(np.zeros((2, 2)))
    assert count() == before

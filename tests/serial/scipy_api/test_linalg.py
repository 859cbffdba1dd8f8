"""dist_ms.scipy.linalg against NumPy, by what the factors must do."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.scipy import linalg
from tests.gradcheck import check_gradient

RNG = np.random.default_rng(0)
TYPES = ["float32", "float64", "int32", "int64"]


def definite(n, dtype="float64"):
    a = RNG.integers(-4, 5, (n, n))
    return (a @ a.T + 5 * np.eye(n)).astype(dtype)


def close(found, want, dtype="float64"):
    single = dtype == "float32"
    assert found.asnumpy().dtype == ("float32" if single else "float64")
    np.testing.assert_allclose(found.asnumpy(), want, rtol=1e-4 if single else 1e-8, atol=1e-4 if single else 1e-9)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 4])
def test_inv_and_cholesky(dtype, n):
    a = definite(n, dtype)
    close(linalg.inv(Tensor(a)), np.linalg.inv(a), dtype)
    lower = linalg.cholesky(Tensor(a), lower=True)
    close(lower, np.linalg.cholesky(a), dtype)
    close(linalg.cholesky(Tensor(a)), np.linalg.cholesky(a).T, dtype)
    factor, flag = linalg.cho_factor(Tensor(a), True)
    assert flag is True and np.array_equal(factor.asnumpy(), lower.asnumpy())


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("shape", [(4,), (4, 2)])
@pytest.mark.parametrize("dtype", TYPES)
def test_cho_solve(lower, shape, dtype):
    a, b = definite(4, dtype), RNG.integers(-5, 5, shape).astype(dtype)
    found = linalg.cho_solve(linalg.cho_factor(Tensor(a), lower), Tensor(b))
    close(found, np.linalg.solve(a, b), dtype)


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_solve_triangular(trans, lower, unit, shape):
    a, b = RNG.random((3, 3)) + 2 * np.eye(3), RNG.random(shape)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    want = np.linalg.solve(triangle if trans in (0, "N") else triangle.T, b)
    close(linalg.solve_triangular(Tensor(a), Tensor(b), trans, lower, unit), want)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("dtype", TYPES)
def test_lu(shape, dtype):
    a = RNG.integers(-6, 7, shape).astype(dtype)
    p, lower, upper = (t.asnumpy() for t in linalg.lu(Tensor(a)))
    assert p.dtype == np.int32 and np.array_equal(p @ p.T, np.eye(shape[0]))
    np.testing.assert_allclose(p @ lower @ upper, a, atol=1e-5)
    assert np.array_equal(lower, np.tril(lower)) and np.array_equal(upper, np.triu(upper))
    assert np.abs(lower).max() == 1 and (np.diag(lower) == 1).all()
    permuted, same = linalg.lu(Tensor(a), permute_l=True)
    np.testing.assert_allclose(permuted.asnumpy() @ same.asnumpy(), a, atol=1e-5)
    both, rows = linalg.lu_factor(Tensor(a))
    count = min(shape)
    np.testing.assert_allclose(np.triu(both.asnumpy())[:count], upper)
    order = a.copy().astype(np.float64)
    for i, row in enumerate(rows.asnumpy()):
        order[[i, row]] = order[[row, i]]
    np.testing.assert_allclose(lower @ upper, order, atol=1e-5)


def test_lu_of_nothing_and_of_singular_matrices():
    for shape in ((0, 0), (0, 3), (3, 0)):
        p, lower, upper = (t.asnumpy() for t in linalg.lu(Tensor(np.zeros(shape, np.float32))))
        least = min(shape)
        assert (p.shape, lower.shape, upper.shape) == ((shape[0],) * 2, (shape[0], least), (least, shape[1]))
        assert p.dtype == np.int32 and lower.dtype == np.float32
        both, rows = (t.asnumpy() for t in linalg.lu_factor(Tensor(np.zeros(shape, np.float32))))
        assert both.shape == shape and rows.shape == (0,) and rows.dtype == np.int32
    both, rows = (t.asnumpy() for t in linalg.lu_factor(Tensor(np.ones((2, 2)))))
    assert both.tolist() == [[1, 1], [1, 0]] and rows.tolist() == [0, 1]
    holes = linalg.lu_factor(Tensor(np.full((2, 2), np.nan)), check_finite=False)[0].asnumpy()
    assert np.isnan(holes).any()


def test_lu_gives_mindspores_exchanges():
    _, rows = linalg.lu_factor(Tensor(np.array([[0.0, 2, 1], [1, 1, 0], [3, 0, 1]])))
    assert rows.asnumpy().tolist() == [2, 2, 2] and rows.dtype == ms.int32


def test_block_diag():
    parts = [np.ones((2, 1)), np.array([2.0, 3.0]), np.array(4.0)]
    found = linalg.block_diag(*map(Tensor, parts)).asnumpy()
    want = np.zeros((4, 4))
    want[:2, 0], want[2, 1:3], want[3, 3] = 1, [2, 3], 4
    assert np.array_equal(found, want) and linalg.block_diag().shape == (1, 0)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_eigh(lower, dtype):
    a = RNG.integers(-6, 7, (4, 4)).astype(dtype)
    read = np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
    values, vectors = linalg.eigh(Tensor(a), lower=lower)
    close(values, np.linalg.eigvalsh(read.astype(np.float64)), dtype)
    close(linalg.eigh(Tensor(a), lower=lower, eigvals_only=True), values.asnumpy(), dtype)
    np.testing.assert_allclose(read @ vectors.asnumpy(), vectors.asnumpy() * values.asnumpy(), atol=1e-3)


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (3, 5)])
@pytest.mark.parametrize("columns", [None, 2])
def test_lstsq(shape, columns):
    a, b = RNG.random(shape), RNG.random((shape[0],) if columns is None else (shape[0], columns))
    x, residuals, rank, singular = linalg.lstsq(Tensor(a), Tensor(b))
    close(x, np.linalg.lstsq(a, b, rcond=None)[0])
    assert residuals.shape == singular.shape == (0,) and rank.item() == 3
    full = linalg.lstsq(Tensor(a), Tensor(b), driver="gelsd")
    np.testing.assert_allclose(full[3].asnumpy(), np.linalg.svd(a, compute_uv=False))
    with pytest.raises(ValueError, match="'driver'"):
        linalg.lstsq(Tensor(a), Tensor(b), driver="qr")


def test_gradients():
    a, b = definite(3), RNG.random((3, 2))
    check_gradient(linalg.inv, a)
    check_gradient(lambda a: linalg.cholesky((a + a.T) / 2), a, order=1)
    check_gradient(lambda a, b: linalg.cho_solve(linalg.cho_factor((a + a.T) / 2), b), a, b, order=1)
    check_gradient(linalg.solve_triangular, a, b, order=1)
    check_gradient(linalg.block_diag, a, b)
    for lower in (True, False):
        check_gradient(lambda a, lower=lower: linalg.eigh(a, lower=lower, eigvals_only=True), a, order=1)
        # A square of the vectors does not depend on their signs.
        check_gradient(lambda a, lower=lower: linalg.eigh(a, lower=lower)[1] ** 2, a, order=1)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: linalg.inv([[1.0]]), TypeError),
        (lambda: linalg.inv(Tensor(np.ones((2, 2), np.float16))), TypeError),
        (lambda: linalg.inv(Tensor(np.ones(2))), ValueError),
        (lambda: linalg.inv(Tensor(np.ones((2, 3)))), ValueError),
        (lambda: linalg.inv(Tensor(np.ones((2, 2)))), ValueError),
        (lambda: linalg.inv(Tensor([[np.inf]])), ValueError),
        (lambda: linalg.inv(Tensor([[1.0]]), overwrite_a=1), TypeError),
        (lambda: linalg.cholesky(Tensor([[-1.0]])), RuntimeError),
        (lambda: linalg.solve_triangular(Tensor(np.eye(2)), Tensor([1.0])), ValueError),
        (lambda: linalg.solve_triangular(Tensor([[1.0]]), Tensor([1.0]), 5), ValueError),
        (lambda: linalg.block_diag(Tensor(np.ones((1, 1, 1)))), ValueError),
        (lambda: linalg.block_diag([1.0]), TypeError),
        (lambda: linalg.eigh(Tensor([[1.0]]), Tensor([[1.0]])), ValueError),
        (lambda: linalg.eigh(Tensor([[1.0]]), eigvals=(0, 1)), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()

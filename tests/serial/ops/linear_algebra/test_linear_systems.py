"""Cholesky factors and linear equations: against NumPy, products and finite differences."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import same, tensor

RNG = np.random.default_rng(0)
A = RNG.standard_normal((2, 3, 3)) + 3 * np.eye(3)
B = RNG.standard_normal((2, 3, 2))
TALL = RNG.standard_normal((4, 3))


def positive(x):
    return ops.matmul(x, ops.swapaxes(x, -1, -2))


def test_cholesky():
    full = A @ A.swapaxes(-1, -2)
    low = np.linalg.cholesky(full)
    same(ops.cholesky(tensor(full)), low, 1e-12)
    same(ops.Cholesky(True)(tensor(full)), low.swapaxes(-1, -2), 1e-12)
    for upper in (False, True):
        factor = tensor(low.swapaxes(-1, -2) if upper else low)
        same(ops.cholesky_inverse(factor, upper), np.linalg.inv(full), 1e-10)
        same(ops.cholesky_solve(tensor(B), factor, upper), np.linalg.solve(full, B), 1e-10)
        same(ops.CholeskySolve(upper)(tensor(B), factor), np.linalg.solve(full, B), 1e-10)
        check_gradient(lambda x, upper=upper: ops.cholesky(positive(x), upper), A)
    check_gradient(ops.cholesky_inverse, A[0])
    check_gradient(ops.cholesky_solve, B[0], A[0])
    with pytest.raises(RuntimeError, match="For 'Cholesky', every matrix must be positive definite"):
        ops.cholesky(tensor([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="must hold square matrices, but got the shape"):
        ops.cholesky(tensor(TALL))


@pytest.mark.parametrize("adjoint", [False, True])
def test_matrix_solve(adjoint):
    wanted = np.linalg.solve(A.swapaxes(-1, -2) if adjoint else A, B)
    same(ops.matrix_solve(tensor(A), tensor(B), adjoint), wanted, 1e-12)
    check_gradient(lambda a, b: ops.matrix_solve(a, b, adjoint), A, B)
    check_gradient(lambda a, b: ops.matrix_solve(a, b, adjoint), A[:1], B)
    check_gradient(lambda b: ops.matrix_solve(tensor(A), b, adjoint), B[:1])
    for lower in (False, True):
        triangle = (np.tril if lower else np.triu)(A)
        wanted = np.linalg.solve(triangle.swapaxes(-1, -2) if adjoint else triangle, B)
        same(ops.MatrixTriangularSolve(lower, adjoint)(tensor(A), tensor(B)), wanted, 1e-10)


def test_lu():
    lu, pivots = tensor(A), tensor([[3, 3, 3], [1, 2, 3]], "int32")
    p, low, up = ops.lu_unpack(lu, pivots)
    same(p[0], [[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    same(low, np.tril(A, -1) + np.eye(3))
    same(up, np.triu(A))
    full = (p @ low @ up).asnumpy()
    same(ops.lu_solve(tensor(B), lu, pivots), np.linalg.solve(full, B), 1e-8)
    same(ops.LuSolve()(tensor(B), lu, pivots), np.linalg.solve(full, B), 1e-8)
    assert ops.LuUnpack(False, True)(lu, pivots)[1] is None
    assert [x.shape for x in ops.lu_unpack(tensor(TALL), pivots[0])] == [(4, 4), (4, 3), (3, 3)]
    check_gradient(lambda b, x: ops.lu_solve(b, x, pivots), B, A)
    with pytest.raises(ValueError, match=r"'LU_pivots' must be in \[1, 3\]"):
        ops.lu_unpack(lu[0], tensor([0, 1, 2]))


def test_pinv_and_lstsq():
    for x in (TALL, TALL.T, TALL[:, :1] * np.ones(3), A):
        same(ops.pinv(tensor(x)), np.linalg.pinv(x), 1e-10)
    same(ops.pinv(tensor(np.diag([4.0, 1.0])), atol=2.0), np.diag([0.25, 0.0]))
    check_gradient(ops.pinv, TALL)
    check_gradient(ops.pinv, TALL.T)
    b = RNG.standard_normal((4, 2))
    found = np.linalg.lstsq(TALL, b, rcond=None)[0]
    same(ops.lstsq(tensor(TALL), tensor(b)), found, 1e-12)
    same(ops.Lstsq()(tensor(TALL), tensor(b[:, 0])), np.linalg.lstsq(TALL, b[:, :1], rcond=None)[0], 1e-12)
    same(ops.MatrixSolveLs()(tensor(TALL), tensor(b), ms.Tensor(0.0, ms.float64)), found, 1e-12)
    wanted = np.linalg.solve(TALL.T @ TALL + 0.5 * np.eye(3), TALL.T @ b)
    same(ops.MatrixSolveLs()(tensor(TALL), tensor(b), ms.Tensor(0.5, ms.float64)), wanted, 1e-12)
    check_gradient(ops.lstsq, TALL, b)
    with pytest.raises(ValueError, match="For 'lstsq', 'input' must be a matrix"):
        ops.lstsq(tensor(TALL), tensor(b[:3]))
    with pytest.raises(TypeError, match="'l2_regularizer' 0, but got True and 0.5"):
        ops.Lstsq(True, 0.5)


def test_cond_and_power():
    for p in (None, 2, -2, 1, -1, "fro", "nuc", np.inf):
        same(ops.cond(tensor(A), p), np.linalg.cond(A, p), 1e-10)
    same(ops.cond(tensor(TALL)), np.linalg.cond(TALL), 1e-10)
    check_gradient(ops.cond, A, order=1)
    same(ops.MatrixPower(3)(tensor(A)), np.linalg.matrix_power(A, 3), 1e-12)

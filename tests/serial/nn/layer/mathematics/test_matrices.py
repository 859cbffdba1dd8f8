"""MatMul, MatrixDiag, MatrixDiagPart, MatrixSetDiag, Range and ReduceLogSumExp against NumPy."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.nn.layer.mathematics.functions import Range, ReduceLogSumExp
from dist_ms.nn.layer.mathematics.matrices import MatDet, MatInverse, MatMul, MatrixDiag, MatrixDiagPart, MatrixSetDiag
from tests.gradcheck import check_gradient

F = np.float32


def rand(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape).astype(F)


@pytest.mark.parametrize(
    "first, second, transposed",
    [
        ((2, 3), (3, 2), (False, False)),
        ((3, 2), (3, 2), (True, False)),
        ((2, 3), (4, 3), (False, True)),
        ((3,), (3,), (True, True)),
        ((3,), (3, 4), (True, False)),
        ((3, 4), (3,), (True, False)),
        ((2, 3, 4), (4,), (False, True)),
        ((5, 2, 3), (5, 4, 3), (False, True)),
        ((2, 3), (5, 3, 4), (False, False)),
        ((1, 5, 2, 3), (4, 1, 3, 2), (False, False)),
    ],
)
def test_matmul(first, second, transposed):
    a, b = rand(*first), rand(*second)
    x, y = (m.swapaxes(-1, -2) if t and m.ndim > 1 else m for m, t in zip((a, b), transposed))
    np.testing.assert_allclose(MatMul(*transposed)(Tensor(a), Tensor(b)).asnumpy(), x @ y, rtol=1e-5, atol=1e-6)
    check_gradient(MatMul(*transposed), a, b)


def test_matmul_errors():
    with pytest.raises(TypeError, match="transpose_x1"):
        MatMul(1)
    for first, second in [((2, 3), (2, 3)), ((3,), (4,)), ((2, 3, 4), (3,))]:
        with pytest.raises(ValueError, match="'x1'"):
            MatMul()(Tensor(rand(*first)), Tensor(rand(*second)))
    with pytest.raises(TypeError):
        MatMul()(Tensor(rand(2, 3)), Tensor(rand(3, 2).astype(np.float16)))


def test_diagonals():
    x, rows = rand(2, 3, 4), rand(2, 3)
    np.testing.assert_array_equal(MatrixDiag()(Tensor(rows)).asnumpy(), rows[..., None] * np.eye(3, dtype=F))
    np.testing.assert_array_equal(MatrixDiagPart()(Tensor(x)).asnumpy(), np.diagonal(x, 0, -2, -1))
    found = MatrixSetDiag()(Tensor(x), Tensor(rows)).asnumpy()
    np.testing.assert_array_equal(np.diagonal(found, 0, -2, -1), rows)
    np.testing.assert_array_equal(found * (1 - np.eye(3, 4)), x * (1 - np.eye(3, 4)))
    check_gradient(MatrixSetDiag(), x, rows)


def test_definite_matrices():
    root = rand(2, 3, 3)
    a = root @ root.swapaxes(1, 2) + np.eye(3, dtype=F)
    np.testing.assert_allclose(MatDet()(Tensor(a)).asnumpy(), np.linalg.det(a), rtol=1e-4)
    np.testing.assert_allclose(MatInverse()(Tensor(a)).asnumpy() @ a, np.eye(3)[None].repeat(2, 0), atol=1e-4)
    for layer in (MatDet(), MatInverse()):
        assert layer(Tensor(a.astype(np.float16))).dtype == ms.float16
        with pytest.raises(TypeError, match="'a'"):
            layer(Tensor(a.astype(np.float64)))
        with pytest.raises(ValueError):
            layer(Tensor(rand(2, 3)))


def test_range():
    for arguments in [(1, 8, 2), (5,), (5, 1, -1), (2, 2)]:
        found = Range(*arguments)()
        assert found.dtype == ms.int32
        np.testing.assert_array_equal(found.asnumpy(), np.arange(*arguments))
    found = Range(0.0, 1.0, 0.3)()
    assert found.dtype == ms.float32
    np.testing.assert_allclose(found.asnumpy(), [0.0, 0.3, 0.6, 0.9], rtol=1e-6)
    with pytest.raises(ValueError, match="delta"):
        Range(0, 5, 0)


@pytest.mark.parametrize("axis, keep_dims", [(1, False), ((0, 2), True), ([0, 1], False), ((), False), (-1, True)])
def test_reduce_log_sum_exp(axis, keep_dims):
    x = rand(2, 3, 4).astype(np.float64)
    axes = tuple(axis) if isinstance(axis, list) else axis if axis != () else None
    wanted = np.log(np.exp(x).sum(axes, keepdims=keep_dims))
    layer = ReduceLogSumExp(axis, keep_dims)
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), wanted, rtol=1e-12)
    np.testing.assert_allclose(layer(Tensor(x + 1e4)).asnumpy(), wanted + 1e4, rtol=1e-12)
    check_gradient(layer, x)


def test_reduce_log_sum_exp_errors():
    for arguments in [("a",), (None,), (1, 2)]:
        with pytest.raises(TypeError):
            ReduceLogSumExp(*arguments)
    with pytest.raises(ValueError):
        ReduceLogSumExp(5)(Tensor(rand(2, 3)))

"""matrix_exp and ormqr against SciPy."""

import numpy as np
import pytest
import scipy.linalg

import dist_ms as ms
from dist_ms import Tensor, ops
from tests.gradcheck import check_gradient

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 4, 4), (0, 2, 2), (0, 0)])
def test_matrix_exp(dtype, shape):
    x = (RNG.normal(size=shape) + (1j * RNG.normal(size=shape) if dtype[0] == "c" else 0)).astype(dtype)
    found = ops.matrix_exp(Tensor(x)).asnumpy()
    assert found.dtype == dtype
    assert found.shape == shape
    wide = x.astype("complex128" if dtype[0] == "c" else "float64")
    want = scipy.linalg.expm(wide) if x.size else wide
    close = {"float16": 2e-3, "float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-10)
    np.testing.assert_allclose(found, want, rtol=close, atol=close)
    np.testing.assert_array_equal(ops.MatrixExp()(Tensor(x)).asnumpy(), found)


def test_gradient_of_matrix_exp():
    check_gradient(ops.matrix_exp, Tensor(RNG.normal(size=(2, 3, 3))))
    check_gradient(ms.grad(lambda x: ops.matrix_exp(x)[0, 1]), Tensor(RNG.normal(size=(2, 2))))


def test_matrix_exp_refuses():
    for x in (np.ones(2), np.ones((2, 3))):
        with pytest.raises(ValueError, match="For 'MatrixExp', 'input' must be square matrices"):
            ops.matrix_exp(Tensor(x))
    with pytest.raises(TypeError, match="For 'MatrixExp'"):
        ops.matrix_exp(Tensor([[1, 2], [3, 4]]))
    with pytest.raises(TypeError, match="For 'matrix_exp', 'input'"):
        ops.matrix_exp([[1.0]])


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (4, 2), (2, 4), (3, 1)])
def test_ormqr(rows, columns, left, transpose):
    x = RNG.normal(size=(2, rows, columns))
    other = RNG.normal(size=(2, rows, 3) if left else (2, 3, rows))
    y, tau = ops.geqrf(Tensor(x))
    q = np.stack([scipy.linalg.qr(a)[0] for a in x])
    q = q.swapaxes(-1, -2) if transpose else q
    found = ops.ormqr(y, tau, Tensor(other), left, transpose).asnumpy()
    np.testing.assert_allclose(found, q @ other if left else other @ q, atol=1e-12)
    np.testing.assert_array_equal(ops.Ormqr(left, transpose)(y, tau, Tensor(other)).asnumpy(), found)
    found = y.ormqr(input2=tau, input3=Tensor(other), left=left, transpose=transpose).asnumpy()
    np.testing.assert_allclose(found, q @ other if left else other @ q, atol=1e-12)


def test_gradient_of_ormqr():
    y, tau = ops.geqrf(Tensor(RNG.normal(size=(3, 2))))
    check_gradient(ops.ormqr, y, tau, Tensor(RNG.normal(size=(3, 2))))


def test_ormqr_refuses():
    y, tau = Tensor(np.eye(3)), Tensor(np.zeros(3))
    with pytest.raises(ValueError, match="For 'ormqr', the shapes"):
        ops.ormqr(y, tau, Tensor(np.ones((2, 3))))
    with pytest.raises(ValueError, match="For 'ormqr', 'input', 'tau' and 'other'"):
        ops.ormqr(y, tau, Tensor(np.ones(3)))
    with pytest.raises(TypeError, match="For 'ormqr', 'other'"):
        ops.ormqr(y, tau, Tensor(np.ones((3, 3), np.float32)))
    with pytest.raises(TypeError, match="For 'ormqr', 'left'"):
        ops.ormqr(y, tau, y, 1)


def test_baddbmm_as_a_method():
    a, b, c = (RNG.normal(size=(2, 3, 3)) for _ in range(3))
    found = Tensor(a).baddbmm(Tensor(b), Tensor(c), beta=2, alpha=0.5).asnumpy()
    np.testing.assert_allclose(found, 2 * a + 0.5 * b @ c, atol=1e-12)

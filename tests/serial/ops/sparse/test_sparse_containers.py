"""COOTensor, CSRTensor and what computes with them, against the same with dense tensors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops

DENSE = np.array([[0, -2.0, 0], [3, 0, 4]], np.float32)
T = ms.Tensor


@pytest.fixture
def coo():
    return ops.dense_to_sparse_coo(T(DENSE))


@pytest.fixture
def csr():
    return ops.dense_to_sparse_csr(T(DENSE))


def test_forms_go_over_into_each_other(coo, csr):
    assert csr.indptr.asnumpy().tolist() == [0, 1, 3] and csr.indices.asnumpy().tolist() == [1, 0, 2]
    for x in (coo, csr, coo.to_csr(), csr.to_coo(), T(DENSE).to_csr(), T(DENSE).to_coo()):
        np.testing.assert_array_equal(x.to_dense().asnumpy(), DENSE)
        assert (x.shape, x.size, x.ndim, x.itemsize, str(x.dtype)) == ((2, 3), 3, 2, 4, "Float32")
    assert type(coo.to_csr()) is ms.CSRTensor and type(csr.to_coo()) is ms.COOTensor


def test_text_has_no_commas_in_the_parts(csr):
    assert repr(csr) == (
        "CSRTensor(shape=[2, 3], dtype=Float32, indptr=Tensor(shape=[3], dtype=Int32, value=[0 1 3]), "
        "indices=Tensor(shape=[3], dtype=Int32, value=[1 0 2]), "
        "values=Tensor(shape=[3], dtype=Float32, value=[-2.00000000e+00  3.00000000e+00  4.00000000e+00]))"
    )


@pytest.mark.parametrize("form", ["coo", "csr"])
def test_operators(form, request):
    x = request.getfixturevalue(form)
    for result, wanted in (
        (-x, -DENSE),
        (x + x, 2 * DENSE),
        (x - x, 0 * DENSE),
        (x * T(DENSE), DENSE**2),
        (x.abs(), abs(DENSE)),
        (x * 2, 2 * DENSE),
        (x / T(DENSE + 1), DENSE / (DENSE + 1)),
    ):
        np.testing.assert_allclose(result.to_dense().asnumpy(), wanted, rtol=1e-6)
    with pytest.raises(TypeError, match="'other'"):
        x + 1
    with pytest.raises(ValueError, match="shape"):
        x + T(np.ones((3, 3), np.float32))


def test_elementwise_functions_keep_the_places(coo, csr):
    np.testing.assert_allclose(ops.coo_exp(coo).values.asnumpy(), np.exp([-2.0, 3, 4]), rtol=1e-6)
    np.testing.assert_allclose(ops.csr_square(csr).to_dense().asnumpy(), DENSE**2)
    assert ops.csr_isnan(csr).values.asnumpy().tolist() == [False] * 3
    with pytest.raises(TypeError, match="CSRTensor"):
        ops.csr_sin(coo)


def test_coo_add_drops_what_is_below_the_threshold(coo):
    out = ops.coo_add(coo, coo, T(6.0))
    assert out.indices.asnumpy().tolist() == [[1, 0], [1, 2]] and out.values.asnumpy().tolist() == [6, 8]


def test_csr_add_takes_both_places(csr):
    other = ops.dense_to_sparse_csr(T(np.array([[1, 1.0, 0], [0, 0, 0]], np.float32)))
    out = ops.csr_add(csr, other, T(2.0), T(3.0))
    np.testing.assert_array_equal(out.to_dense().asnumpy(), [[3, -1, 0], [6, 0, 8]])
    assert out.indptr.asnumpy().tolist() == [0, 2, 4]


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_coo_concat(coo, dim):
    out = ops.coo_concat((coo, coo), dim)
    np.testing.assert_array_equal(out.to_dense().asnumpy(), np.concatenate([DENSE, DENSE], dim))
    assert sorted(out.indices.asnumpy().tolist()) == out.indices.asnumpy().tolist()


def test_coalesce_adds_equal_places():
    x = ms.COOTensor(T([[1, 0], [0, 1], [1, 0]]), T([1.0, 2.0, 4.0]), (2, 2)).coalesce()
    assert x.indices.asnumpy().tolist() == [[0, 1], [1, 0]] and x.values.asnumpy().tolist() == [2, 5]


def test_products_and_sums(csr):
    b = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_allclose(csr.mm(T(b)).asnumpy(), DENSE @ b)
    np.testing.assert_allclose(ops.csr_mm(csr, csr, trans_b=True).to_dense().asnumpy(), DENSE @ DENSE.T)
    np.testing.assert_allclose(csr.mv(T(b[:, :1])).asnumpy(), DENSE @ b[:, :1])
    np.testing.assert_allclose(csr.sum(0).asnumpy(), DENSE.sum(0, keepdims=True))
    np.testing.assert_allclose(csr.sum(1).asnumpy(), DENSE.sum(1, keepdims=True))


def test_csr_softmax_is_over_stored_elements(csr):
    e = np.exp([-1.0, 0.0])
    np.testing.assert_allclose(ops.csr_softmax(csr, ms.float32).values.asnumpy(), [1, *(e / e.sum())], rtol=1e-6)


def test_gradient_goes_through_the_values(csr):
    def loss(values):
        return ops.csr_softmax(csr.with_values(values), ms.float32).mm(T(np.eye(3, dtype=np.float32))).square().sum()

    v = np.array([-2.0, 3, 4], np.float32)
    found = ms.grad(loss)(T(v)).asnumpy()
    p = np.exp(v[1:] - 4) / np.exp(v[1:] - 4).sum()
    np.testing.assert_allclose(found, [0, *(2 * p * (p - (p * p).sum()))], atol=1e-6)


def test_primitives_of_parts():
    i, v = T(np.array([[0, 1], [1, 0], [1, 2]])), T(np.array([-2.0, 3, 4], np.float32))
    b = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(ops.SparseToDense()(i, v, (2, 3)).asnumpy(), DENSE)
    np.testing.assert_array_equal(ops.SparseTensorDenseAdd()(i, v, (2, 3), T(b)).asnumpy(), DENSE + b)
    np.testing.assert_array_equal(ops.SparseTensorDenseMatmul(False, True)(i, v, (2, 3), T(b)).asnumpy(), DENSE @ b.T)
    np.testing.assert_array_equal(ops.SparseTensorDenseMatmul(True)(i, v, (2, 3), T(b)).asnumpy(), DENSE.T @ b)
    i2, v2, s2 = ops.SparseSlice()(i, v, T([2, 3]), T([1, 1]), T([1, 9]))
    assert (i2.asnumpy().tolist(), v2.asnumpy().tolist(), s2.asnumpy().tolist()) == ([[0, 1]], [4], [1, 2])
    with pytest.raises(ValueError, match="indices"):
        ops.SparseToDense()(i, v, (1, 3))


def test_sparse_segment_mean_leaves_empty_groups_zero():
    x = T(np.array([[1.0, 2], [3, 4], [5, 8]], np.float32))
    out = ops.sparse_segment_mean(x, T([0, 2, 2]), T([1, 1, 2]))
    np.testing.assert_array_equal(out.asnumpy(), [[0, 0], [3, 5], [5, 8]])
    with pytest.raises(ValueError, match="order"):
        ops.sparse_segment_mean(x, T([0, 2]), T([1, 0]))


def test_constructors_check_and_copy(coo, csr):
    assert ms.COOTensor(coo_tensor=coo).values is coo.values
    assert ms.CSRTensor(csr_tensor=csr).indptr is csr.indptr
    row = ms.RowTensor(T([0]), T([[1.0, 2.0]]), (3, 2))
    assert row.dense_shape == (3, 2) and row.values.shape == (1, 2)
    with pytest.raises(TypeError, match="COOTensor"):
        ms.COOTensor(T([[0, 1]]))
    with pytest.raises(ValueError, match="outside"):
        ms.COOTensor(T([[0, 5]]), T([1.0]), (2, 2))
    with pytest.raises(ValueError, match="shape"):
        ms.CSRTensor(T([0, 1]), T([0]), T([1.0]), (2, 2))

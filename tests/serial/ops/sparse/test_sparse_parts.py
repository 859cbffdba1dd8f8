"""The older functions of sparse tensors, against what NumPy makes of the dense ones."""

import numpy as np
import pytest

from dist_ms import CSRTensor, Tensor, ops
from tests.gradcheck import check_gradient

DENSE = np.array([[0, 2.0, 0, 1], [0, 0, 0, 0], [4, 0, 3, 0]])
MASK = DENSE != 0
OTHER = np.random.default_rng(0).normal(size=(3, 4))


def csr(x=DENSE):
    return Tensor(x).to_csr()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_forms(dtype):
    rows = ops.csr2coo(Tensor(np.array([0, 2, 2, 4], dtype)), 4)
    assert rows.asnumpy().dtype == dtype
    assert rows.asnumpy().tolist() == [0, 0, 2, 2]
    starts = ops.coo2csr(rows, 3)
    assert starts.asnumpy().dtype == dtype
    assert starts.asnumpy().tolist() == [0, 2, 2, 4]


@pytest.mark.parametrize("other", [OTHER, OTHER[:1], OTHER[:, :1]])
def test_products_and_quotients(other):
    for function, of_numpy in ((ops.csr_mul, np.multiply), (ops.csr_div, np.divide)):
        found = function(csr(), Tensor(other))
        np.testing.assert_allclose(found.to_dense().asnumpy(), of_numpy(DENSE, other))
        values = function(csr(), 2.0)
        np.testing.assert_allclose(values.asnumpy(), of_numpy(DENSE, 2)[MASK])
    found = ops.csr_gather(csr().indptr, csr().indices, Tensor(other), (3, 4)).asnumpy()
    np.testing.assert_array_equal(found, np.broadcast_to(other, (3, 4))[MASK])


def test_sums_and_vectors():
    for axis in (1, -1):
        np.testing.assert_array_equal(ops.csr_reduce_sum(csr(), axis).asnumpy(), DENSE.sum(1, keepdims=True))
    x = OTHER[0][:, None]
    np.testing.assert_allclose(ops.csr_mv(csr(), Tensor(x)).asnumpy(), DENSE @ x)


def test_gradients():
    parts = csr().indptr, csr().indices
    check_gradient(lambda v, y: ops.csr_mul(CSRTensor(*parts, v, (3, 4)), y).values, DENSE[MASK], OTHER)
    check_gradient(lambda y: ops.csr_gather(*parts, y, (3, 4)), OTHER)


def test_parts():
    x, y = csr(), Tensor(DENSE).to_coo()
    again = ops.make_csr_tensor(
        *(getattr(ops, f"csr_tensor_get_{part}")(x) for part in ("indptr", "indices", "values", "dense_shape"))
    )
    np.testing.assert_array_equal(again.to_dense().asnumpy(), DENSE)
    again = ops.make_coo_tensor(
        *(getattr(ops, f"coo_tensor_get_{part}")(y) for part in ("indices", "values", "dense_shape"))
    )
    np.testing.assert_array_equal(again.to_dense().asnumpy(), DENSE)


def test_refused():
    with pytest.raises(TypeError, match="For 'csr_mul', 'x' must be a CSRTensor"):
        ops.csr_mul(Tensor(DENSE), Tensor(DENSE))
    with pytest.raises(TypeError, match="For 'coo_tensor_get_values', 'x' must be a COOTensor"):
        ops.coo_tensor_get_values(csr())
    with pytest.raises(ValueError, match="For 'csr_reduce_sum', 'axis'"):
        ops.csr_reduce_sum(csr(), 0)
    with pytest.raises(ValueError, match="For 'csr2coo', 'indptr'"):
        ops.csr2coo(Tensor([0, 2, 1]), 1)
    with pytest.raises(ValueError, match="For 'coo2csr', 'row_indices'"):
        ops.coo2csr(Tensor([0, 2]), 2)
    with pytest.raises(ValueError, match="For 'csr_gather'"):
        ops.csr_gather(Tensor([0, 1]), Tensor([5]), Tensor(OTHER), (3, 4))

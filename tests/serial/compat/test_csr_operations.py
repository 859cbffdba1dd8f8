"""`ops.operations._csr_ops`: the results of MindSpore 2.10."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.compat.inner.operations import csr_operations as _csr_ops

INDPTR, INDICES = Tensor([0, 2, 3], ms.int32), Tensor([0, 2, 1], ms.int32)
VALUES, SHAPE = Tensor([1.0, 2.0, 3.0]), (2, 3)
DENSE = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
MATRIX = (INDPTR, INDICES, VALUES, SHAPE)


@pytest.mark.parametrize(
    "name, arguments, wanted",
    [
        ("CSRReduceSum", (*MATRIX, 1), [[3], [3]]),
        ("CSRMV", (*MATRIX, Tensor([[1.0], [2.0], [3.0]])), [[7], [6]]),
        ("CSRMM", (*MATRIX, Tensor(np.ones((3, 2), np.float32))), [[3, 3], [3, 3]]),
        ("CSRMul", (*MATRIX, DENSE), [1, 6, 15]),
        ("CSRMul", (*MATRIX, Tensor([[2.0], [3.0]])), [2, 4, 9]),
        ("CSRDiv", (*MATRIX, DENSE), [1, 2 / 3, 0.6]),
        ("CSRGather", (INDPTR, INDICES, DENSE, SHAPE), [1, 3, 5]),
        ("CSR2COO", (INDPTR, 3), [0, 0, 1]),
        ("COO2CSR", (Tensor([0, 0, 1], ms.int32), 2), [0, 2, 3]),
    ],
)
def test_results(name, arguments, wanted):
    found = getattr(_csr_ops, name)()(*arguments)
    assert isinstance(found, Tensor)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)


def test_gradients_reach_the_values():
    slope = ms.grad(lambda values: _csr_ops.CSRMul()(INDPTR, INDICES, values, SHAPE, DENSE).sum())(VALUES)
    np.testing.assert_allclose(slope.asnumpy(), [1, 3, 5])


def test_sums_of_columns_are_refused():
    with pytest.raises(ValueError, match="'axis' must be 1"):
        _csr_ops.CSRReduceSum()(*MATRIX, 0)

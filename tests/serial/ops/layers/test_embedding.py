"""Rows of a table by index."""

import numpy as np
import pytest

from dist_ms import Parameter, grad, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

IDS = np.array([[0, 3, 3], [1, -1, 3]], np.int32)


@pytest.mark.parametrize("id_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rows(dtype, id_type):
    table = normal(5, 2).astype(dtype)
    found = ops.embedding(Tensor(IDS.astype(id_type)), Tensor(table)).asnumpy()
    assert found.dtype == dtype and np.array_equal(found, table[IDS])


def test_gradients():
    check_gradient(lambda table: ops.embedding(Tensor(IDS), table * table), normal(5, 2))
    check_precisions(lambda table: ops.embedding(Tensor(IDS), table), normal(5, 2))
    found = grad(lambda t: ops.embedding(Tensor(IDS), t).sum())(tensor(normal(5, 2))).asnumpy()
    assert found[:, 0].tolist() == [1, 1, 0, 3, 1]
    half = grad(lambda t: ops.embedding(Tensor(IDS), t).sum())(tensor(normal(5, 2), np.float16)).asnumpy()
    assert half.dtype == np.float16 and half[:, 0].tolist() == [1, 1, 0, 3, 1]


def test_padding_row_and_frequency():
    table = tensor(normal(5, 2))
    padded = grad(lambda t: ops.embedding(Tensor(IDS), t, padding_idx=3).sum())(table).asnumpy()
    assert padded[:, 0].tolist() == [1, 1, 0, 0, 1]
    scaled = grad(lambda t: ops.embedding(Tensor(IDS), t, scale_grad_by_freq=True).sum())(table).asnumpy()
    np.testing.assert_allclose(scaled[:, 0], [1, 1, 0, 1, 1], rtol=1e-6)


def test_max_norm_clips_the_rows_looked_up():
    table = Parameter(tensor([[3, 4], [0.3, 0.4], [6, 8]]), name="t")
    out = ops.embedding(Tensor([0, 1]), table, max_norm=1.0).asnumpy()
    np.testing.assert_allclose(out, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(table.asnumpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)


def test_shapes():
    table = tensor(normal(3, 2))
    assert ops.embedding(Tensor(np.zeros((0,), np.int32)), table).shape == (0, 2)
    assert ops.embedding(Tensor(1), table).shape == (2,)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda t: ops.embedding(Tensor([5]), t), RuntimeError, "but got 5"),
        (lambda t: ops.embedding(Tensor([0, -4]), t), RuntimeError, "but got -4"),
        (lambda t: ops.embedding(tensor([1.0]), t), TypeError, "Int32 or Int64"),
        (lambda t: ops.embedding(tensor([1], np.int8), t), TypeError, "Int32 or Int64"),
        (lambda t: ops.embedding([1], t), TypeError, "Tensor"),
        (lambda t: ops.embedding(Tensor([1]), tensor([1.0])), ValueError, "matrix"),
        (lambda t: ops.embedding(Tensor([1]), t, padding_idx=3), ValueError, "'padding_idx'"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(tensor(normal(3, 2)))

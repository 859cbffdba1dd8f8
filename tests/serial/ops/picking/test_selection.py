"""Select, MaskedFill, MaskedSelect, NonZero."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.array([[1.0, -2, 3], [-4, 5, -6]])


def test_where_and_select():
    x, m = ms.Tensor(A), ms.Tensor(A > 0)
    for fn in (ops.where, ops.select, ops.Select()):
        same(fn(m, x, 0.0), np.where(A > 0, A, 0))
        same(fn(m, x, x[0]), np.where(A > 0, A, A[0]))
        same(fn(m[0], x, -x), np.where(A[0] > 0, A, -A))
        same(fn(m, 1, 0), np.where(A > 0, 1, 0))
        same(fn(m, tensor([1, 2, 3]), 1.5), np.where(A > 0, [1, 2, 3], 1.5).astype("float32"))
    same(x.where(m, 0.0), np.where(A > 0, A, 0))
    same(x.select(m, 0.0), np.where(A > 0, A, 0))
    same(x.select(1, 0), A[:, 0])
    for bad in ((x, x, 0.0), (True, x, x), (m, "a", x)):
        with pytest.raises(TypeError, match="For 'Select'"):
            ops.where(*bad)
    with pytest.raises(ValueError, match="must broadcast"):
        ops.where(m, x, tensor([1.0, 2.0]))


def test_masked_fill():
    x, m = ms.Tensor(A), ms.Tensor(A > 0)
    same(ops.masked_fill(x, m, 9), np.where(A > 0, 9, A))
    same(x.masked_fill(m, tensor(9.0, "float32")), np.where(A > 0, 9, A))
    same(ops.masked_fill(x, m[0], 9.0), np.where(A[0] > 0, 9, A))
    same(ops.masked_fill(x[0], m, 9.0), np.where(A > 0, 9, A[0]))
    with pytest.raises(TypeError, match="'value' must fit the dtype Int64 of 'input_x', but got 9.5"):
        ops.masked_fill(tensor([1]), tensor([True]), 9.5)
    with pytest.raises(TypeError, match="'mask' must be Bool"):
        ops.masked_fill(x, x, 1.0)
    with pytest.raises(ValueError, match="'value' must have no dimension"):
        ops.masked_fill(x, m, tensor([1.0]))


def test_masked_select_and_scatter():
    x, m = ms.Tensor(A), ms.Tensor(A > 0)
    equal(ops.masked_select(x, m), A[A > 0])
    equal(ops.MaskedSelect()(x, m[0]), A[:, A[0] > 0].reshape(-1))
    equal(ops.masked_scatter(x, m, ms.Tensor([7.0, 8, 9, 10]).double()), [[7, -2, 8], [-4, 9, -6]])
    with pytest.raises(ValueError, match="must have at least 3 elements"):
        ops.masked_scatter(x, m, tensor([1.0]))
    with pytest.raises(TypeError, match="must have the dtype of 'input'"):
        ops.masked_scatter(x, m, tensor([1, 2, 3]))
    with pytest.raises(ValueError, match="must broadcast"):
        ops.masked_select(x, tensor([True, False]))


def test_nonzero():
    x = tensor([[1, 0], [0, 2]])
    same(ops.nonzero(x), np.array([[0, 0], [1, 1]]))
    equal(ops.argwhere(x), [[0, 0], [1, 1]])
    rows, columns = ops.nonzero(x, as_tuple=True)
    equal(rows, [0, 1])
    equal(columns, [0, 1])
    assert ops.nonzero(tensor([0, 0])).shape == (0, 1)
    assert ops.is_nonzero(tensor([2])) is True
    with pytest.raises(ValueError, match="must have one element"):
        ops.is_nonzero(x)

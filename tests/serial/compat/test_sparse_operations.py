"""Primitives of `mindspore.ops.operations.sparse_ops`, against what MindSpore's return and against dense tensors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.compat.inner.operations import sparse_operations as S


def i64(values):
    return ms.Tensor(np.array(values, np.int64))


def i32(values):
    return ms.Tensor(np.array(values, np.int32))


def f(values):
    return ms.Tensor(np.array(values, np.float32))


PLACES, VALUES, SHAPE = [[0, 1], [1, 0], [1, 2]], [1, 2, 3], [2, 3]
COO = (i64(PLACES), f(VALUES), i64(SHAPE))
CSR = (i32(SHAPE), i32([0, 3]), i32([0, 1, 3]), i32([1, 0, 2]), f(VALUES))
ROWS, PICKED, IDS, GAPS = f([[1, 2], [3, 4], [5, 6]]), i32([0, 2, 1]), i32([0, 0, 1]), i32([0, 0, 2])
FIRST, SECOND = (i64([[0, 1], [1, 0]]), f([1, 2]), i64(SHAPE)), (i64([[0, 1], [1, 2]]), f([3, -4]), i64(SHAPE))
DENSE, ROOT = f([[1, 2, 3], [4, 5, 6]]), np.sqrt(2)

# name: (arguments, inputs, what MindSpore returns)
CALLS = {
    "SparseToDenseV2": ((), (COO[0], COO[2], COO[1], ms.Tensor(np.float32(0))), ([[0, 1, 0], [2, 0, 3]],)),
    "SparseSoftmax": ((), COO, ([1, 0.268941, 0.731058],)),
    "SparseReorder": ((), (i64([[1, 0], [0, 1]]), f([2, 1]), COO[2]), ([[0, 1], [1, 0]], [1, 2])),
    "SparseReshape": ((), (COO[0], COO[2], i64([3, -1])), ([[0, 1], [1, 1], [2, 1]], [3, 2])),
    "SparseFillEmptyRows": (
        (),
        (i64([[0, 1], [2, 0]]), f([1, 2]), i64([3, 2]), ms.Tensor(np.float32(9))),
        ([[0, 1], [1, 0], [2, 0]], [1, 9, 2], [False, True, False], [0, 2]),
    ),
    "SparseSegmentSum": ((), (ROWS, PICKED, IDS), ([[6, 8], [3, 4]],)),
    "SparseSegmentSqrtN": ((), (ROWS, PICKED, IDS), ([[6 / ROOT, 8 / ROOT], [3, 4]],)),
    "SparseSegmentSumWithNumSegments": ((), (ROWS, PICKED, GAPS, i32(4)), ([[6, 8], [0, 0], [3, 4], [0, 0]],)),
    "SparseSegmentMeanWithNumSegments": ((), (ROWS, PICKED, GAPS, i32(4)), ([[3, 4], [0, 0], [3, 4], [0, 0]],)),
    "SparseSegmentSqrtNWithNumSegments": (
        (),
        (ROWS, PICKED, GAPS, i32(4)),
        ([[6 / ROOT, 8 / ROOT], [0, 0], [3, 4], [0, 0]],),
    ),
    "SparseSparseMaximum": ((), (*FIRST, *SECOND), (PLACES, [3, 2, 0])),
    "SparseSparseMinimum": ((), (*FIRST, *SECOND), (PLACES, [1, 0, -4])),
    "SparseConcat": (
        (0,),
        tuple((part, part) for part in COO),
        ([*PLACES, [2, 1], [3, 0], [3, 2]], [*VALUES, *VALUES], [4, 3]),
    ),
    "SparseDenseCwiseAdd": ((), (*COO, DENSE), ([3, 6, 9],)),
    "SparseDenseCwiseMul": ((), (*COO, DENSE), ([2, 8, 18],)),
    "SparseDenseCwiseDiv": ((), (*COO, DENSE), ([0.5, 0.5, 0.5],)),
    "SparseAdd": (
        (),
        (*COO, i64([[0, 1], [0, 2]]), f([3, -4]), COO[2], ms.Tensor(np.float32(0))),
        ([[0, 1], [0, 2], [1, 0], [1, 2]], [4, -4, 2, 3], SHAPE),
    ),
    "SparseAddmm": (
        (),
        (i32(PLACES), COO[1], i32(SHAPE), ROWS, f([[1, 1], [1, 1]]), f([1]), f([2])),
        ([[5, 6], [19, 24]],),
    ),
    "DenseToCSRSparseMatrix": ((), (f([[0, 1, 0], [2, 0, 3]]), COO[0]), (SHAPE, [0, 3], [0, 1, 3], [1, 0, 2], VALUES)),
    "CSRSparseMatrixToDense": ((), CSR, ([[0, 1, 0], [2, 0, 3]],)),
    "CSRSparseMatrixToSparseTensor": ((), CSR, (PLACES, VALUES, SHAPE)),
    "SparseTensorToCSRSparseMatrix": ((), COO, (SHAPE, [0, 3], [0, 1, 3], [1, 0, 2], VALUES)),
    "SparseMatrixNNZ": ((), CSR, ([3],)),
    "SparseMatrixTranspose": ((), CSR, ([3, 2], [0, 3], [0, 1, 2, 3], [1, 0, 1], [2, 1, 3])),
    "SparseMatrixMatMul": ((), (*CSR, ROWS), ([[3, 4], [17, 22]],)),
    "SparseMatrixAdd": (
        (),
        (*CSR, CSR[0], i32([0, 1]), i32([0, 1, 1]), i32([1]), f([5]), f(2), f(3)),
        (SHAPE, [0, 3], [0, 1, 3], [1, 0, 2], [17, 4, 6]),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_mindspore_returns_the_same(name):
    arguments, inputs, wanted = CALLS[name]
    got = getattr(S, name)(*arguments)(*inputs)
    got = got if isinstance(got, tuple) else (got,)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.shape == np.shape(b) and np.allclose(a.asnumpy(), b, atol=1e-5)


def test_all_are_called_here():
    assert {*CALLS} == {*S.__all__}


def test_several_matrices_there_and_back():
    rng = np.random.default_rng(2)
    dense = rng.normal(size=(3, 4, 5)).astype(np.float32) * (rng.random((3, 4, 5)) > 0.6)
    csr = S.DenseToCSRSparseMatrix()(ms.Tensor(dense), i64(np.argwhere(dense)))
    assert np.array_equal(S.CSRSparseMatrixToDense()(*csr).asnumpy(), dense)
    turned = S.SparseMatrixTranspose()(*csr)
    assert np.array_equal(S.CSRSparseMatrixToDense()(*turned).asnumpy(), dense.transpose(0, 2, 1))
    assert S.SparseMatrixNNZ()(*csr).asnumpy().tolist() == [int((m != 0).sum()) for m in dense]
    other = rng.normal(size=(3, 4, 2)).astype(np.float32)
    product = S.SparseMatrixMatMul(transpose_x1=True, transpose_output=True)(*csr, ms.Tensor(other))
    assert np.allclose(product.asnumpy(), (dense.transpose(0, 2, 1) @ other).transpose(0, 2, 1), atol=1e-5)


def test_gradients_pass_to_the_values():
    slope = ms.grad(lambda v: (S.SparseSoftmax()(COO[0], v, COO[2]) * f([1, 2, 5])).sum())(COO[1])
    share = np.exp([2, 3]) / np.exp([2, 3]).sum()
    assert np.allclose(slope.asnumpy(), [0, *(share * (np.array([2, 5]) - (share * [2, 5]).sum()))], atol=1e-5)
    spread = ms.grad(lambda v: (S.SparseToDenseV2()(COO[0], COO[2], v, ms.Tensor(0.0)) * DENSE).sum())(COO[1])
    assert spread.asnumpy().tolist() == [2, 4, 6]


def test_places_out_of_order_and_wrong_inputs():
    turned = (i64([[1, 0], [0, 1]]), COO[2], f([1, 2]), ms.Tensor(0.0))
    with pytest.raises(ValueError, match="For 'SparseToDenseV2', 'indices' must be in order, each once"):
        S.SparseToDenseV2()(*turned)
    assert S.SparseToDenseV2(False)(*turned).asnumpy().tolist() == [[0, 2, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match=r"'x2_shape' must be \(2, 3\), as 'x1_shape', but got \(4, 3\)"):
        S.SparseSparseMaximum()(*FIRST, *SECOND[:2], i64([4, 3]))
    with pytest.raises(TypeError, match="there must be 6 inputs, but got 5"):
        S.SparseMatrixMatMul()(*CSR)
    with pytest.raises(TypeError, match="there must be 12 inputs, but got 5"):
        S.SparseMatrixAdd()(*CSR)

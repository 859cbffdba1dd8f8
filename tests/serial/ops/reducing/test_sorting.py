"""Sort, TopK, Unique, SearchSorted and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.random.default_rng(0).permutation(12).reshape(3, 4).astype("float32")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("descending", [False, True])
def test_sort(axis, descending):
    order = np.argsort(-A if descending else A, axis)
    values, places = ops.sort(ms.Tensor(A), axis, descending)
    equal(values, np.take_along_axis(A, order, axis))
    same(places, order.astype("int32"))
    equal(ops.argsort(ms.Tensor(A), axis, descending), order)
    equal(ops.Sort(axis, descending)(ms.Tensor(A))[0], values.asnumpy())
    equal(ms.Tensor(A).sort(dim=axis, descending=descending)[1], order)


def test_equal_elements_stay_in_order():
    x = tensor([2, 1, 2, 1])
    equal(ops.argsort(x), [1, 3, 0, 2])
    equal(ops.argsort(x, descending=True), [0, 2, 1, 3])
    equal(ops.msort(ms.Tensor(A)), np.sort(A, 0))
    values, place = ms.mint.sort(ms.Tensor(5.0))
    assert (values.shape, float(values), int(place)) == ((), 5, 0)
    with pytest.raises(ValueError, match="For 'Sort', 'x' must have at least 1 dimension"):
        ops.sort(ms.Tensor(5.0))


def test_topk():
    values, places = ops.topk(ms.Tensor(A), 2)
    equal(values, -np.sort(-A, 1)[:, :2])
    same(places, np.argsort(-A, 1)[:, :2].astype("int32"))
    equal(ops.topk(ms.Tensor(A), 1, 0)[0], A.max(0, keepdims=True))
    equal(ops.topk(ms.Tensor(A), 3, largest=False)[0], np.sort(A, 1)[:, :3])
    equal(ops.TopK()(ms.Tensor(A), 2)[0], values.asnumpy())
    for k in (0, 5):
        with pytest.raises(ValueError, match="'k' must be in the range"):
            ops.topk(ms.Tensor(A), k)
    with pytest.raises(TypeError, match="'largest' must be a bool"):
        ops.topk(ms.Tensor(A), 1, largest=1)


def test_unique():
    values, places = ops.unique(tensor([3, 1, 3, 2], "int32"))
    same(values, np.array([3, 1, 2], "int32"))
    same(places, np.array([0, 1, 0, 2], "int32"))
    assert ops.unique(tensor([3, 1]))[1].dtype == ms.int64
    equal(tensor([3, 1, 3]).unique(), [1, 3])
    values, inverse, counts = tensor([[3, 1], [3, 1]]).unique(return_inverse=True, return_counts=True)
    equal(inverse, [[1, 0], [1, 0]])
    equal(counts, [2, 2])
    equal(ops.unique_with_pad(tensor([3, 1, 3]), 0)[0], [3, 1, 0])


def test_unique_consecutive():
    x = tensor([1, 1, 2, 2, 1])
    values, inverse, counts = ops.unique_consecutive(x, True, True)
    equal(values, [1, 2, 1])
    equal(inverse, [0, 0, 1, 1, 2])
    equal(counts, [2, 2, 1])
    equal(ops.unique_consecutive(tensor([[1, 1], [1, 1], [2, 1]]), dim=0), [[1, 1], [2, 1]])


def test_searchsorted():
    rows, v = np.array([1.0, 3, 5]), np.array([[2.0, 3], [6, 0]])
    same(ops.searchsorted(ms.Tensor(rows), ms.Tensor(v)), np.searchsorted(rows, v))
    same(
        ops.searchsorted(ms.Tensor(rows), ms.Tensor(v), right=True, out_int32=True),
        np.searchsorted(rows, v, "right").astype("int32"),
    )
    equal(ops.searchsorted(tensor([[1, 3], [2, 4]]), tensor([[2], [2]])), [[1], [0]])
    equal(ops.searchsorted(tensor([3, 1]), tensor([2]), sorter=tensor([1, 0])), [1])
    equal(ops.bucketize(tensor([1.0, 2, 6]), [2.0, 4.0]), [0, 0, 2])
    equal(ops.bucketize(tensor([1.0, 2, 6]), [2.0, 4.0], right=True), [0, 1, 2])
    with pytest.raises(ValueError, match="'side' must not be 'left'"):
        ops.searchsorted(ms.Tensor(rows), ms.Tensor(v), right=True, side="left")
    with pytest.raises(ValueError, match="must agree but for the last dimension"):
        ops.searchsorted(tensor([[1, 3]]), tensor([[2], [2]]))
    with pytest.raises(TypeError, match="'values' must be a Tensor"):
        ops.searchsorted(ms.Tensor(rows), 3.0)

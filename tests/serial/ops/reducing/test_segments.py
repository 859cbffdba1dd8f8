"""unsorted_segment_sum and its kin, bincount, histc."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor


def test_segments():
    x, ids = tensor([[1.0, 2], [3, 4], [5, 6]], "float32"), ms.Tensor([0, 2, 0])
    equal(ops.unsorted_segment_sum(x, ids, 3), [[6, 8], [0, 0], [3, 4]])
    equal(ops.unsorted_segment_prod(x, ids, 3), [[5, 12], [1, 1], [3, 4]])
    big = np.finfo("float32").max
    equal(ops.unsorted_segment_max(x, ids, 3), [[5, 6], [-big, -big], [3, 4]])
    equal(ops.unsorted_segment_min(x, ids, 3), [[1, 2], [big, big], [3, 4]])
    equal(ops.unsorted_segment_sum(x, ms.Tensor([[0, -1], [1, 1], [0, 0]]), 2), [12, 7])
    same(ops.UnsortedSegmentSum()(tensor([1, 2], "int32"), ms.Tensor([1, 1]), 2), np.array([0, 3], "int32"))


def test_segment_max_gradient():
    x = tensor([1.0, 5, 5, 2])
    grad = ms.grad(lambda t: ops.sum(ops.unsorted_segment_max(t, ms.Tensor([0, 1, 1, 0]), 2)))(x)
    equal(grad, [0, 0.5, 0.5, 1])


def test_segment_errors():
    x = tensor([1.0, 2])
    for ids, n in ((ms.Tensor([0]), 2), (ms.Tensor([0, 1]), 0)):
        with pytest.raises(ValueError, match="For 'UnsortedSegmentSum'"):
            ops.unsorted_segment_sum(x, ids, n)
    with pytest.raises(RuntimeError, match="'segment_ids' must be below 'num_segments' 2, but got 2"):
        ops.unsorted_segment_sum(x, ms.Tensor([0, 2]), 2)
    with pytest.raises(TypeError, match="'segment_ids' must be Int32 or Int64"):
        ops.unsorted_segment_sum(x, tensor([0.0, 1.0]), 2)


def test_counts():
    same(ops.bincount(tensor([0, 1, 1, 3])), np.array([1, 2, 0, 1], "float32"))
    same(ops.bincount(tensor([0, 1]), tensor([0.5, 1.0]), 4), np.array([0.5, 1, 0, 0], "float32"))
    same(ops.histc(tensor([1.0, 2.0, 1.0], "float32"), 4, 0.0, 3.0), np.array([0, 2, 1, 0], "float32"))
    same(ops.histc(tensor([1.0, 2.0, 4.0], "float32"), 3), np.array([1, 1, 1], "float32"))
    equal(ops.histc(tensor([2.0, 2.0], "float32"), 2), [0, 2])
    for fn in (
        lambda: ops.bincount(tensor([-1])),
        lambda: ops.bincount(tensor([[1]])),
        lambda: ops.bincount(tensor([1]), tensor([1.0, 2.0])),
        lambda: ops.histc(tensor([1.0], "float32"), 0),
        lambda: ops.histc(tensor([1.0], "float32"), 2, 3.0, 1.0),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()

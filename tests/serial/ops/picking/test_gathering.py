"""gathering.py and slicing.py."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.arange(12.0).reshape(3, 4)
C = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("index", [1, [0, 2], [[0, -1], [1, 1]], []])
def test_gather(axis, index):
    i = np.array(index, np.int64)
    same(
        ops.gather(ms.Tensor(C), ms.Tensor(i % 2 if axis == 0 else i), axis),
        np.take(C, i % 2 if axis == 0 else i, axis),
    )
    same(ops.Gather()(ms.Tensor(C), ms.Tensor(i.astype("int32") % 2), axis), np.take(C, i % 2, axis))


def test_gather_batches():
    i = np.array([[0, 1], [2, 0]])
    same(ops.gather(ms.Tensor(C), ms.Tensor(i), 1, 1), np.stack([C[b, i[b]] for b in range(2)]))
    same(ops.gather(ms.Tensor(C), ms.Tensor(i), 2, 1), np.stack([C[b][:, i[b]] for b in range(2)]))
    same(ops.gather(ms.Tensor(C), ms.Tensor([0, 1]), 1, 1), np.stack([C[0, 0], C[1, 1]]))
    with pytest.raises(ValueError, match="'batch_dims' must not exceed"):
        ops.gather(ms.Tensor(C), ms.Tensor([[0, 1], [1, 0]]), 0, 1)


def test_gather_gradient_of_a_float32_table_adds_up():
    """The kernel and NumPy's way agree, also for indices that come again and negative ones."""
    x, i = np.ones((5, 3)), ms.Tensor([0, 4, 0, -1])
    for dtype in ("float16", "float32", "float64"):
        grad = ms.grad(lambda t: ops.sum(ops.gather(t, i, 0) * ms.Tensor([[1.0], [2], [3], [4]], ms.float32)))(
            tensor(x, dtype)
        )
        same(grad, np.repeat(np.array([4, 0, 0, 0, 6.0]), 3).reshape(5, 3).astype(dtype))


def test_picking_along():
    x, i = ms.Tensor(A), np.array([[0, 3], [2, -1]])
    same(ops.gather_d(x, 1, ms.Tensor(i)), np.take_along_axis(A[:2], i, 1))
    same(ops.gather_elements(x, 1, ms.Tensor(i)), np.take_along_axis(A[:2], i, 1))
    same(x.gather(1, ms.Tensor(i)), np.take_along_axis(A[:2], i, 1))
    same(ops.gather_nd(x, ms.Tensor([[0, 1], [2, 3]])), A[[0, 2], [1, 3]])
    same(ops.gather_nd(x, ms.Tensor([[2]])), A[[2]])
    same(ops.take(x, ms.Tensor([[0, 5]])), A.take([[0, 5]]))
    same(x.take(ms.Tensor([7, -9]), axis=1), A.take([7, -9], 1, mode="clip"))
    same(x.take(ms.Tensor([7, -9]), axis=1, mode="wrap"), A.take([7, -9], 1, mode="wrap"))
    same(ops.index_select(x, 1, ms.Tensor([3, 0])), A[:, [3, 0]])
    for places in (tensor([0, 2, 1]), ms.Tensor([0, 2, 1], ms.complex64)):
        equal(places.choose([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), [1, 8, 6])


@pytest.mark.parametrize(
    "fn, error",
    [
        (lambda x: ops.gather(x, ms.Tensor([3]), 0), RuntimeError),
        (lambda x: ops.gather(x, ms.Tensor([-4]), 0), RuntimeError),
        (lambda x: ops.gather(x, ms.Tensor([0]), 2), ValueError),
        (lambda x: ops.gather(x, ms.Tensor([0.0]), 0), TypeError),
        (lambda x: ops.gather(x, 1, 0), TypeError),
        (lambda x: ops.gather(x, ms.Tensor([0]), 0.0), TypeError),
        (lambda x: ops.gather_d(x, 1, ms.Tensor([[4]])), RuntimeError),
        (lambda x: ops.gather_d(x, 1, ms.Tensor([0])), ValueError),
        (lambda x: ops.gather_d(x, 1, ms.Tensor([[0]] * 4)), ValueError),
        (lambda x: ops.gather_nd(x, ms.Tensor([[0, 4]])), RuntimeError),
        (lambda x: ops.gather_nd(x, ms.Tensor([[0, -1]])), RuntimeError),
        (lambda x: ops.gather_nd(x, ms.Tensor([[0, 0, 0]])), ValueError),
        (lambda x: ops.take(x, ms.Tensor([12])), RuntimeError),
        (lambda x: ops.take(x, ms.Tensor([0]), 0, "bad"), ValueError),
        (lambda x: ops.index_select(x, 0, ms.Tensor([[0]])), ValueError),
        (lambda x: ops.index_select(x, 0, ms.Tensor([5])), RuntimeError),
    ],
)
def test_errors(fn, error):
    with pytest.raises(error, match="For '"):
        fn(ms.Tensor(A))


def test_embedding_lookup():
    out = ops.EmbeddingLookup()(ms.Tensor(A), ms.Tensor([[3, 5], [6, 0]]), 3)
    equal(out, [[A[0], A[2]], [A[0] * 0, A[0] * 0]])


def test_slicing():
    x = ms.Tensor(C)
    equal(ops.slice(x, (0, 1, 1), (1, 2, -1)), C[:1, 1:, 1:])
    equal(ops.strided_slice(x, (0, 2), (2, 0), (1, -1)), C[0:2, 2:0:-1])
    equal(ops.StridedSlice(begin_mask=1, end_mask=2)(x, (1, 1), (2, 2), (1, 1)), C[:2, 1:])
    equal(ops.strided_slice(x, (1, 0), (2, 1), (1, 1), shrink_axis_mask=1), C[1, :1])
    equal(ops.strided_slice(x, (0, 0), (1, 1), (1, 1), new_axis_mask=1), C[None, :1])
    equal(ops.strided_slice(x, (0, 1), (0, 3), (1, 1), ellipsis_mask=1), C[..., 1:3])
    equal(ops.narrow(x, 1, 1, 2), C[:, 1:3])
    equal(x.narrow(-1, -2, 2), C[..., -2:])
    for fn in (
        lambda: ops.slice(x, (0,), (1,)),
        lambda: ops.slice(x, (0, 0, 3), (1, 1, 2)),
        lambda: ops.narrow(x, 1, 2, 2),
        lambda: ops.strided_slice(x, (0,), (1,), (0,)),
        lambda: ops.strided_slice(x, (0,), (1, 2), (1,)),
        lambda: ops.narrow(x, 1, 0, -1),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()
    with pytest.raises(TypeError, match="'begin' must be an int"):
        ops.slice(x, (0.0, 0, 0), (1, 1, 1))

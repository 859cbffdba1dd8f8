"""Tril, Triu, Diag and their kin; padding."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.arange(1.0, 13).reshape(3, 4)
C = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("k", [-2, 0, 1, 5])
def test_triangles(k):
    for a in (A, C):
        same(ops.tril(ms.Tensor(a), k), np.tril(a, k))
        same(ops.triu(ms.Tensor(a), k), np.triu(a, k))
    same(ops.tril_indices(3, 4, k), np.stack(np.tril_indices(3, k, 4)))
    same(ops.triu_indices(3, 4, k, dtype=ms.int32), np.stack(np.triu_indices(3, k, 4)).astype("int32"))
    same(ops.diagonal(ms.Tensor(A), k), A.diagonal(k))
    same(ops.diag_embed(ms.Tensor(A[0]), k), np.diag(A[0], k))
    same(ops.diagflat(ms.Tensor(A), k), np.diagflat(A, k))


def test_diagonals():
    x = ms.Tensor(C)
    same(ops.diagonal(x, 1, 0, 2), C.diagonal(1, 0, 2))
    same(x.diagonal(-1, axis1=1, axis2=2), C.diagonal(-1, 1, 2))
    same(ops.diag_embed(ms.Tensor(A), 0, 0, 1)[..., 1], np.diag(A[1]))
    same(ops.diag_embed(ms.Tensor(A), 1, 0, 2)[:, 2], np.diag(A[2], 1))
    same(ops.diag(ms.Tensor(A[0])), np.diag(A[0]))
    assert ops.diag(ms.Tensor(A)).shape == (3, 4, 3, 4)
    equal(ops.DiagPart()(ops.diag(ms.Tensor(A))), A)
    same(ops.trace(ms.Tensor(A)), np.trace(A))
    same(x.trace(1, 0, 2), np.trace(C, 1, 0, 2))
    wanted = A.copy()
    np.fill_diagonal(wanted, [7, 8, 9])
    same(ops.diagonal_scatter(ms.Tensor(A), ms.Tensor([7.0, 8, 9])), wanted)
    for fn in (
        lambda: ops.tril(ms.Tensor(A[0])),
        lambda: ops.diagonal(ms.Tensor(A[0])),
        lambda: ops.diagonal(x, 0, 1, 1),
        lambda: ops.diag(ms.Tensor(1.0)),
        lambda: ops.DiagPart()(ms.Tensor(A)),
        lambda: ops.diagonal_scatter(ms.Tensor(A), ms.Tensor([1.0])),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()
    with pytest.raises(RuntimeError, match="must have 2 dimensions"):
        ops.trace(x)
    with pytest.raises(TypeError, match="'diagonal' must be an int"):
        ops.tril(x, 1.0)


@pytest.mark.parametrize("mode, numpy_mode", [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_padding_with_own_elements(mode, numpy_mode):
    x = ms.Tensor(C)
    same(ops.pad(x, (2, 1), mode), np.pad(C, [(0, 0), (0, 0), (2, 1)], numpy_mode))
    same(ops.pad(x, (2, 1, 0, 2), mode), np.pad(C, [(0, 0), (0, 2), (2, 1)], numpy_mode))
    with pytest.raises(ValueError, match="'value' must be None"):
        ops.pad(x, (1, 1), mode, 1.0)
    same(ops.pad(x, (-1, 2), mode), np.pad(C[..., 1:], [(0, 0), (0, 0), (0, 2)], numpy_mode))  # cut off, then padded
    with pytest.raises(ValueError, match="must be of at most 3 dimensions"):
        ops.pad(x[None, None], (1, 1) * 4, mode)
    for wrong in (x[0, 0], x[None]):
        with pytest.raises(ValueError, match="one or two dimensions before those padded"):
            ops.pad(wrong, (1, 1), mode)
    for empty in (x[:0], x[:, :0]):
        with pytest.raises(ValueError, match="must have elements"):
            ops.pad(empty, (1, 1), mode)


def test_padding_with_a_value():
    x = ms.Tensor(A)
    same(ops.pad(x, (1, 2)), np.pad(A, [(0, 0), (1, 2)]))
    same(ops.pad(x, [1, 0, 0, 1], value=9.0), np.pad(A, [(0, 1), (1, 0)], constant_values=9))
    same(ops.pad(x, ms.Tensor([-1, 2])), np.pad(A[:, 1:], [(0, 0), (0, 2)]))
    same(ops.Pad(((1, 1), (0, -2)))(x), np.pad(A[:, :2], [(1, 1), (0, 0)]))
    same(
        ops.PadV3(paddings_contiguous=False)(x, ms.Tensor([1, 2, 3, 4]), 5),
        np.pad(A, [(2, 4), (1, 3)], constant_values=5),
    )
    same(ops.mirror_pad(x, ms.Tensor([[1, 2], [3, 0]]), "SYMMETRIC"), np.pad(A, [(1, 2), (3, 0)], "symmetric"))
    same(ops.MirrorPad()(x, ms.Tensor([[1, 2], [3, 0]])), np.pad(A, [(1, 2), (3, 0)], "reflect"))
    equal(ops.padding(tensor([[1.0], [2.0]]), 3), [[1, 0, 0], [2, 0, 0]])


@pytest.mark.parametrize(
    "fn, error",
    [
        (lambda x: ops.pad(x, (1,)), ValueError),
        (lambda x: ops.pad(x, (1, 1) * 3), ValueError),
        (lambda x: ops.pad(x, (1.0, 1)), TypeError),
        (lambda x: ops.pad(x, ((1, 1),)), TypeError),
        (lambda x: ops.pad(x, 1), TypeError),
        (lambda x: ops.pad(x, (1, 1), "bad"), ValueError),
        (lambda x: ops.pad(x, (4, 0), "reflect"), ValueError),
        (lambda x: ops.pad(x, (5, 0), "circular"), ValueError),
        (lambda x: ops.Pad([(1, 1)]), TypeError),
        (lambda x: ops.Pad(((1, 1),))(x), ValueError),
        (lambda x: ops.MirrorPad("bad"), ValueError),
        (lambda x: ops.MirrorPad()(x, ms.Tensor([[1, 1]])), ValueError),
        (lambda x: ops.Padding(0), ValueError),
        (lambda x: ops.padding(x), ValueError),
    ],
)
def test_padding_errors(fn, error):
    with pytest.raises(error, match="For '"):
        fn(ms.Tensor(A))

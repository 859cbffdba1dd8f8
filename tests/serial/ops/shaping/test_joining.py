"""joining.py, splitting.py, repeating.py, rearranging.py against NumPy."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.arange(6.0).reshape(2, 3)
C = np.arange(24.0).reshape(2, 3, 4)


def test_concat_and_stack():
    x, y = ms.Tensor(C), ms.Tensor(-C)
    for axis in (0, 1, -1):
        same(ops.cat((x, y), axis), np.concatenate([C, -C], axis))
        same(ops.Concat(axis)([x, y]), np.concatenate([C, -C], axis))
        same(ops.stack((x, y), axis), np.stack([C, -C], axis))
        same(ops.Stack(axis)((x, y)), np.stack([C, -C], axis))
    same(ops.concat((tensor([1], "int32"), tensor([2.5], "float32"))), np.array([1, 2.5], "float32"))
    with pytest.raises(TypeError, match="For 'Stack', 'tensors' must have one dtype"):
        ops.stack((tensor(1), tensor(2.5)))
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        for a in (A, A[0], np.array(3.0)):
            if name == "vstack" and a.ndim == 0:
                continue
            same(getattr(ops, name)((ms.Tensor(a), ms.Tensor(a))), getattr(np, name)((a, a)))
    equal(ops.block_diag(tensor([[1]]), tensor([2, 3])), [[1, 0, 0], [0, 2, 3]])


@pytest.mark.parametrize("name", ["cat", "stack"])
def test_join_errors(name):
    fn, x = getattr(ops, name), ms.Tensor(A)
    for bad in (x, 3, None):
        with pytest.raises(TypeError, match="For '(Concat|Stack)'"):
            fn(bad)
    with pytest.raises(ValueError if name == "stack" else TypeError, match="For '(Concat|Stack)'"):
        fn((x, 3))
    for bad, axis in (((), 0), ((x, ms.Tensor(C)), 0), ((x,), 5)):
        with pytest.raises(ValueError, match="For '(Concat|Stack)'"):
            fn(bad, axis)


def lists(parts):
    return [p.asnumpy().tolist() for p in parts]


def test_splitting():
    x = ms.Tensor(C)
    assert lists(ops.split(x, 3, 2)) == [C[..., :3].tolist(), C[..., 3:].tolist()]
    assert lists(ops.split(x, (1, 2), 1)) == [C[:, :1].tolist(), C[:, 1:].tolist()]
    assert lists(ops.Split(2, 2)(x)) == [p.tolist() for p in np.split(C, 2, 2)]
    assert lists(ops.SplitV((1, -1), 1, 2)(x)) == [C[:, :1].tolist(), C[:, 1:].tolist()]
    assert lists(ops.chunk(x, 3, 2)) == [C[..., :2].tolist(), C[..., 2:].tolist()]
    for places in (2, 3, (1, 3), [2], (-1,), (3, 1)):
        assert lists(ops.tensor_split(x, places, 2)) == [p.tolist() for p in np.array_split(C, places, 2)]
    assert lists(ops.hsplit(x, 3)) == [p.tolist() for p in np.hsplit(C, 3)]
    assert lists(ops.vsplit(x, (1,))) == [p.tolist() for p in np.vsplit(C, (1,))]
    assert lists(ops.dsplit(x, 2)) == [p.tolist() for p in np.dsplit(C, 2)]
    assert lists(ops.unstack(x, 1)) == lists(ops.unbind(x, -2)) == [C[:, i].tolist() for i in range(3)]
    assert lists(ms.Tensor(A).split(split_size=2, dim=1)) == [A[:, :2].tolist(), A[:, 2:].tolist()]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: ops.split(x, (1, 1), 1),
        lambda x: ops.split(x, 0),
        lambda x: ops.split(x, 1, 3),
        lambda x: ops.Split(1, 2)(x),
        lambda x: ops.chunk(x, 0),
        lambda x: ops.tensor_split(x, 0),
        lambda x: ops.dsplit(x[0], 1),
        lambda x: ops.unstack(x, 3),
        lambda x: ops.Unstack(0, 3)(x),
        lambda x: ops.SplitV((1, 1), 1, 2)(x),
        lambda x: ops.unstack(ms.Tensor(1.0)),
    ],
)
def test_split_errors(fn):
    with pytest.raises(ValueError, match="For '"):
        fn(ms.Tensor(C))


def test_gradient_of_one_part_is_zero_elsewhere():
    equal(ms.grad(lambda x: ops.split(x, 2)[1])(tensor([1.0, 2, 3])), [0, 0, 1])


def test_repeating():
    x = ms.Tensor(A)
    for dims in ((2, 1), (2,), (3, 1, 2), (1, 0), ()):
        same(ops.tile(x, dims), np.tile(A, dims))
    same(x.repeat(2, 1, 3), np.tile(A, (2, 1, 3)))
    same(x.repeat(2, axis=1), A.repeat(2, 1))
    same(x.repeat(2, axis=None), A.repeat(2))
    with pytest.raises(TypeError, match="one value beside 'axis'"):
        x.repeat(2, 3, axis=1)
    same(ops.repeat_interleave(x, 2), A.repeat(2))
    same(ops.repeat_interleave(x, 2, 1), A.repeat(2, 1))
    same(x.repeat_interleave(ms.Tensor([1, 2]), 0), A.repeat([1, 2], 0))
    same(ops.repeat_elements(x, 3, 1), A.repeat(3, 1))
    for mode in ("xy", "ij"):
        for found, wanted in zip(
            ops.meshgrid(x[0], x[1, :2], ms.Tensor(1.0).double(), indexing=mode),
            np.meshgrid(A[0], A[1, :2], 1.0, indexing=mode),
        ):
            same(found, wanted)
    equal(ops.cartesian_prod(tensor([1, 2]), tensor([3, 4])), [[1, 3], [1, 4], [2, 3], [2, 4]])
    equal(ops.combinations(tensor([1, 2, 3]), 2, True), [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]])
    for fn in (
        lambda: ops.tile(x, (-1,)),
        lambda: ops.repeat_interleave(x, (1, 2, 3), 0),
        lambda: ops.repeat_elements(x, 0),
        lambda: ops.meshgrid(x),
        lambda: ops.meshgrid(x[0], indexing="zz"),
        lambda: ops.combinations(x),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()
    for fn in (lambda: ops.tile(x, 2), lambda: ops.tile(x, (1.0,)), lambda: ops.meshgrid(x[0], indexing=1)):
        with pytest.raises(TypeError, match="For '"):
            fn()


def test_rearranging():
    x = ms.Tensor(C)
    for dims in ((0,), (0, 2), [-1]):
        same(ops.flip(x, dims), np.flip(C, dims))
    same(ops.fliplr(x), np.fliplr(C))
    same(ops.flipud(x), np.flipud(C))
    same(x.flip(0, 1), np.flip(C, (0, 1)))
    for shifts, dims in ((1, 2), ((1, -2), (0, 1)), (5, None)):
        same(ops.roll(x, shifts, dims), np.roll(C, shifts, dims))
    for k in range(-1, 5):
        same(ops.rot90(x, k, (2, 0)), np.rot90(C, k, (2, 0)))
    equal(ops.reverse_sequence(tensor([[1, 2, 3], [4, 5, 6]]), tensor([2, 3]), 1), [[2, 1, 3], [6, 5, 4]])
    equal(ops.ReverseSequence(0, 1)(tensor([[1, 4], [2, 5], [3, 6]]), tensor([2, 3])), [[2, 6], [1, 5], [3, 4]])
    for fn in (
        lambda: ops.flip(x, (3,)),
        lambda: ops.flip(x, (0, 0)),
        lambda: ops.roll(x, (1, 2), 0),
        lambda: ops.roll(x, 1, 5),
        lambda: ops.rot90(x, 1, (0,)),
        lambda: ops.reverse_sequence(x, tensor([1]), 1),
        lambda: ops.reverse_sequence(x, tensor([1, 1]), -1),
        lambda: ops.reverse_sequence(x, tensor([1, 1]), 0, 0),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()
    with pytest.raises(RuntimeError, match="'seq_lengths' must hold 2 lengths up to 3"):
        ops.reverse_sequence(x, tensor([9, 1]), 1)
    with pytest.raises(RuntimeError, match="For 'rot90', 'dims' must be different"):
        ops.rot90(x, 1, (1, 1))
    with pytest.raises(TypeError, match="For 'flip'"):
        ops.flip(x, 1)
    with pytest.raises(TypeError, match="'seq_dim' must be an int"):
        ops.reverse_sequence(x, tensor([1, 1]), ms.Tensor(1))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", [np.float32, ms.bfloat16.np])
def test_large_pieces_in_any_layout(axis, dtype):
    whole = np.random.default_rng(3).standard_normal((40, 40, 40)).astype(dtype)
    pieces = [whole, whole.transpose(0, 2, 1), whole[::-1], whole.transpose(2, 1, 0)]
    found = ms.ops.Concat(axis).forward(*pieces)
    assert found.dtype == dtype
    assert np.array_equal(found.astype(np.float32), np.concatenate([p.astype(np.float32) for p in pieces], axis))
    with pytest.raises(ValueError, match="equal shapes but for dimension"):
        ms.ops.Concat(axis).forward(whole, whole[:30, :20, :20])

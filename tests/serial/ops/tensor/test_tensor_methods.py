"""Tensor's operators and conversions; every attached method exists and is documented."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops.tensor import tensor_methods
from tests.serial.ops.compare import equal, same, tensor
from tests.serial.ops.tensor import attached_stub


def test_numbers_of_one_element():
    assert bool(tensor([1.0])) is True
    assert (int(tensor([1.7])), float(tensor(2)), complex(tensor([2.0]))) == (1, 2.0, 2 + 0j)
    assert [10, 20, 30][tensor(2)] == 30
    assert range(5)[tensor([1])] == 1
    assert tensor([1.5]).item() == 1.5
    assert tensor([[1, 2]]).tolist() == [[1, 2]]
    assert tensor(1.5).tolist() == 1.5
    assert f"{tensor(2.5)}" == "2.5"
    for fn in (bool, int, float, lambda x: x.item()):
        for bad in (tensor([1.0, 2.0]), tensor([])):
            with pytest.raises(ValueError, match="one element"):
                fn(bad)
    with pytest.raises(ValueError, match="Only an integer tensor can be an index"):
        [1, 2][tensor(1.0)]


def test_operators_with_strangers():
    class Stranger:
        def __radd__(self, other):
            return "reflected"

        def __matmul__(self, other):
            return NotImplemented

    x = tensor([1.0])
    assert x + Stranger() == "reflected"
    for fn in (
        lambda: x + "a",
        lambda: x - None,
        lambda: x @ 2,
        lambda: {} * x,
        lambda: x < "a",
        lambda: x @ Stranger(),
    ):
        with pytest.raises(TypeError):
            fn()


def test_numpy_arrays_as_operands():
    a, x = np.array([1.0, 2.0]), tensor([3.0, 4.0])
    for found in (a + x, x + a):
        assert isinstance(found, ms.Tensor)
        equal(found, [4, 6])
    equal(a == x, [False, False])
    equal(np.float32(2) * x, [6, 8])
    equal(np.ones((1, 2)) @ x, [7])
    equal(-x, [-3, -4])
    equal(+x, [3, 4])
    equal(abs(-x), [3, 4])
    equal(round(tensor([1.5])), [2])


@pytest.mark.parametrize("name", tensor_methods.delegated_names())
def test_delegated_methods(name):
    method = getattr(ms.Tensor, name)
    assert method.__name__ == name
    assert "dist_ms.ops." in method.__doc__
    assert callable(getattr(ops, name))


def test_type_checkers_see_what_is_attached():
    assert attached_stub.FILE.read_text() == attached_stub.text(), "run python -m tests.serial.ops.tensor.attached_stub"


@pytest.mark.parametrize("kind", [ms.COOTensor, ms.CSRTensor, ms.RowTensor])
def test_type_checkers_see_what_sparse_tensors_are_given(kind):
    given = {name for name, value in vars(kind).items() if getattr(value, "__module__", "").startswith("dist_ms.ops")}
    declared = set(vars(kind)["__annotations__"])
    assert declared and declared <= given


def test_memory_facts():
    x = tensor(np.zeros((2, 3)))
    assert x.is_contiguous()
    assert not x.T.is_contiguous()
    assert x.T.contiguous().is_contiguous()
    assert x.contiguous() is x
    assert (x.stride(), x.stride(1), x.T.stride()) == ([3, 1], 1, [1, 3])
    assert x[1:, 1:].storage_offset() == 4
    assert x.data_ptr() == x.view(-1).data_ptr()
    assert (x.dim(), x.ndimension(), x.numel(), x.nelement()) == (2, 2, 6, 6)
    assert x.is_signed()
    assert not tensor([1], "uint8").is_signed()
    assert tensor([1], "uint8").get_bytes() == b"\x01"


def test_copies():
    x = tensor([1.0, 2.0])
    for copy in (x.copy(), x.clone(), x.itemset(0, 1.0)):
        copy[0] = 9
    equal(x, [1, 2])
    equal(x.itemset(1, 5.0), [1, 5])
    equal(tensor([[1, 2]]).itemset((0, 1), 5), [[1, 5]])
    equal(tensor([1]).itemset(7), [7])
    equal(ms.grad(lambda t: ops.sum(t.clone() * t))(x), [2, 4])
    same(x.fill(3), np.array([3, 3.0]))
    equal(x.fill(None), [0, 0])
    same(x.new_empty((2,)), np.zeros(2))
    assert x.is_floating_point()
    assert x.to(copy=True) is not x


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: x.floor_(), [[1, -3], [0, 2]]),
        (lambda x: x.sign_(), [[1, -1], [1, 1]]),
        (lambda x: x.subtract_(tensor([[1.0, 0.5]]), alpha=2), [[-0.5, -3.5], [-1.5, 1]]),
        (lambda x: x.addmm_(tensor([[1.0], [2]]), tensor([[3.0, 4]]), beta=2, alpha=0.5), [[4.5, -3], [4, 8]]),
        (lambda x: x.index_fill_(1, ms.Tensor([1]), 9.0), [[1.5, 9], [0.5, 9]]),
        (lambda x: x.index_put_((ms.Tensor([0]), ms.Tensor([1])), tensor([7.0])), [[1.5, 7], [0.5, 2]]),
        (lambda x: x.masked_scatter_(tensor([[True, False], [False, True]]), tensor([8.0, 9])), [[8, -2.5], [0.5, 9]]),
        (lambda x: x.scatter_add_(1, ms.Tensor([[0], [1]]), tensor([[1.0], [3]])), [[2.5, -2.5], [0.5, 5]]),
    ],
)
def test_methods_that_write_to_their_tensor(call, wanted):
    x = tensor([[1.5, -2.5], [0.5, 2]])
    assert call(x) is x
    equal(x, np.array(wanted, np.float64))


def test_numbers_drawn_into_a_tensor():
    x = ms.ops.zeros(10000)
    assert x.bernoulli_(0.25) is x
    assert set(x.asnumpy().tolist()) == {0.0, 1.0}
    assert abs(x.asnumpy().mean() - 0.25) < 6 * (0.25 * 0.75 / 10000) ** 0.5


def test_older_names_of_methods():
    x = np.array([[0.5, -0.25], [2, 4]])
    equal(ms.Tensor(x).sgn(), np.sign(x))
    equal(ms.Tensor(x).true_divide(2), x / 2)
    np.testing.assert_allclose(tensor([0.5, -0.25]).erfinv_().asnumpy(), [0.47693628, -0.22531205], rtol=1e-6)
    z = x + 1j * x.T
    assert (ms.Tensor(z).mH.asnumpy() == z.conj().T).all()


X = np.arange(6.0, dtype="float32").reshape(2, 3)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: x.transpose(0, 1), X.T),
        (lambda x: x.transpose(dim0=-1, dim1=0), X.T),
        (lambda x: x.transpose(1, 1), X),
        (lambda x: x.transpose((0, 1)), X),
        (lambda x: x.reshape(1, 2, 3).transpose(ms.Tensor(1), 2), X.T[None]),
        (lambda x: x.reshape((3, 2), 7), X.reshape(3, 2)),
        (lambda x: x.tile(2), np.tile(X, 2)),
        (lambda x: x.tile(2, 1), np.tile(X, (2, 1))),
        (lambda x: x.tile((2, 1), 7), np.tile(X, (2, 1))),
        (lambda x: x.tile(dims=(2, 1)), np.tile(X, (2, 1))),
        (lambda x: x.flatten(1, order="F"), X.T.reshape(3, 2)),
        (lambda x: x.resize(-1, 2), [[0, 1], [2, 3]]),
        (lambda x: x.max(axis=(0, 1), keepdims=True, return_indices=True), [[5]]),
        (lambda x: x.max(initial=9), 5),
        (lambda x: x.max(axis=0, where=False, initial=2), [2, 2, 2]),
        (lambda x: x.amin(0, where=1.5), [0, 1, 2]),
        (lambda x: x.amax(ms.Tensor(1), where=ms.Tensor([True, False, False]), initial=1), [1, 3]),
        (lambda x: x.diagonal_scatter(ms.Tensor([8.0, 9.0], ms.float64)), [[8, 1, 2], [3, 9, 5]]),
        (lambda x: x.gather_nd(ms.Tensor(1)), [3, 4, 5]),
        (lambda x: x.masked_scatter(x > 3, ms.Tensor([8.0, 9.0], ms.float64)), [[0, 1, 2], [3, 8, 9]]),
        (lambda x: x.nanmean(0, dtype=ms.int32), [1, 2, 3]),
        (lambda x: x.new_zeros(ms.Tensor(2)), [0, 0]),
        (lambda x: x.add(1, alpha=ms.Tensor(2)), X + 2),
        (lambda x: x.sub(1, alpha=0.5), X - 0.5),
        (lambda x: x.searchsorted(ms.Tensor([[1.0], [4.0]]), sorter=[[0, 1, 2], [0, 1, 2]]), [[1], [1]]),
    ],
)
def test_what_mindspore_takes(call, wanted):
    equal(call(tensor(X)), wanted)


def test_types_of_results_are_mindspore_s():
    x = tensor([1, 2], "int64")
    same(x.masked_fill(tensor([True, False]), -2.7), np.array([-2, 2]))
    same(x.amax(initial=5.5), np.array(5))
    same(x.max(axis=0, initial=5.5), np.array(5))
    same(x.diagflat().diagonal_scatter(tensor([0.5, 0.5], "float32")), np.array([[0.5, 0], [0, 0.5]], "float32"))
    same(x.choose([[0.5, 1], [2, 3], [4, 5.5]]), np.array([2, 5]))
    same(tensor([1, 0]).choose([[1, 2], [3, 4]], "any"), np.array([3, 2]))
    assert tensor([1.0], "float16").cauchy().dtype == ms.float16
    assert tensor(7, "int64").view(ms.float64).shape == ()
    assert ops.zeros((2, 0, 5)).stride() == [0, 5, 1]
    low, high = ops.zeros((2, 3)).aminmax(axis=None, keepdims=2)
    assert low.shape == high.shape == ()
    equal(ms.mint.sort(tensor(2.0))[0], 2)

"""creation.py, create_primitives.py, encoding.py, properties.py."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor


def test_constants():
    same(ops.zeros((2, 3)), np.zeros((2, 3), "float32"))
    same(ops.ones(3, ms.int32), np.ones(3, "int32"))
    same(ops.zeros(ms.Tensor([2, 3])), np.zeros((2, 3), "float32"))
    same(ops.zeros(()), np.zeros((), "float32"))
    same(ops.full((2,), 3.5), np.array([3, 3]))
    same(ops.full((2,), 3, dtype=ms.float16), np.array([3, 3], "float16"))
    same(ops.fill(ms.float32, (2,), ms.Tensor(3)), np.array([3, 3], "float32"))
    same(ops.fills(tensor([1.0, 2.0]), 3), np.array([3, 3.0]))
    x = tensor([[1, 2]], "int32")
    same(ops.zeros_like(x), np.zeros((1, 2), "int32"))
    same(ops.ones_like(x, dtype=ms.float32), np.ones((1, 2), "float32"))
    same(ops.full_like(x, 3.9), np.full((1, 2), 3, "int32"))
    same(ops.eye(2, 3), np.eye(2, 3, dtype="float32"))
    same(ops.eye(2, dtype=ms.bool_), np.eye(2, dtype=bool))
    same(ops.eps(tensor([1], "float32")), np.array([np.finfo("float32").eps]))
    same(x.new_zeros((2,)), np.zeros(2, "int32"))
    same(x.new_full((1,), 7), np.array([7], "int32"))
    same(x.new_ones(2, ms.float32), np.ones(2, "float32"))


def test_likeness_keeps_the_memory_order():
    x = ms.Tensor.from_numpy(np.moveaxis(np.ones((2, 3, 4, 5), np.float32), -1, 1))
    assert ops.zeros_like(x).asnumpy().strides == x.asnumpy().strides


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        ((5,), np.arange(5)),
        ((5.0,), np.arange(5, dtype="float32")),
        ((1, 5), np.arange(1, 5)),
        ((1, 5, 2), [1, 3]),
        ((0, 1, 0.3), np.arange(0, 1, 0.3, "float32")),
        ((5, 0, -2), [5, 3, 1]),
        ((3, 3), np.arange(0)),
        ((ms.Tensor(3),), [0, 1, 2]),
    ],
)
def test_arange(arguments, wanted):
    same(ops.arange(*arguments), np.asarray(wanted))
    if len(arguments) == 3 and 0.3 not in arguments:
        same(ops.range(*arguments), np.asarray(wanted))


def test_lines():
    same(ops.arange(3, dtype=ms.float16), np.arange(3, dtype="float16"))
    same(ops.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype="float32"))
    same(ops.linspace(ms.Tensor(np.float64(0)), ms.Tensor(np.float64(1)), 3), np.array([0, 0.5, 1]))
    same(ops.logspace(0.0, 2.0, 3), np.array([1, 10, 100], "float32"))
    with pytest.raises(ValueError, match="'maxlen' must be at least"):
        ops.range(0, 10, 1, 5)


@pytest.mark.parametrize(
    "fn, error",
    [
        (lambda: ops.zeros(-1), ValueError),
        (lambda: ops.zeros(2.0), TypeError),
        (lambda: ops.ones((1,), "float32"), TypeError),
        (lambda: ops.full(2, "a"), TypeError),
        (lambda: ops.full(2, ms.Tensor([1, 2])), ValueError),
        (lambda: ops.zeros_like(1), AttributeError),
        (lambda: ops.arange(0, 5, 0), ValueError),
        (lambda: ops.arange(5, 0), ValueError),
        (lambda: ops.arange("a"), TypeError),
        (lambda: ops.linspace(0, 1, 0), ValueError),
        (lambda: ops.linspace(0, 1, 2.0), TypeError),
        (lambda: ops.eye(-1), ValueError),
        (lambda: ops.eye(1.0), TypeError),
        (lambda: ops.logspace(0.0, 1.0, -1), ValueError),
        (lambda: ops.one_hot(tensor([1.0]), 2), TypeError),
        (lambda: ops.one_hot(tensor([1]), 2.0), TypeError),
        (lambda: ops.one_hot(tensor([1]), -1), ValueError),
        (lambda: ops.one_hot(tensor([1]), 2, axis=3), ValueError),
    ],
)
def test_errors(fn, error):
    with pytest.raises(error, match="For '"):
        fn()


def test_one_hot():
    i = tensor([0, 2, 5, -1], "int32")
    same(ops.one_hot(i, 3), np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]))
    same(ops.one_hot(i[:2], 3, 5.0, -1.0, 0), np.array([[5, -1], [-1, -1], [-1, 5]], "float32"))
    assert ops.OneHot(1)(tensor([[0, 1]]), 4, ms.Tensor(1.0), ms.Tensor(0.0)).shape == (1, 4, 2)
    equal(ops.sequence_mask(tensor([1, 3]), 4), [[1, 0, 0, 0], [1, 1, 1, 0]])
    equal(ops.sequence_mask(tensor([1, 2])), [[1, 0], [1, 1]])


def test_primitives():
    same(ops.Zeros()((2,), ms.int32), np.zeros(2, "int32"))
    same(ops.Ones()((2,), ms.float32), np.ones(2, "float32"))
    same(ops.Fill()(ms.float32, (2,), 3), np.full(2, 3, "float32"))
    same(ops.FillV2()((2,), ms.Tensor(3.0)), np.full(2, 3, "float32"))
    same(ops.Range()(0, 4, 2), np.array([0, 2]))
    same(ops.Eye()(1, 2, ms.float32), np.eye(1, 2, dtype="float32"))
    assert repr(ops.Zeros()) == "Prim[Zeros]"


def test_properties():
    x = tensor([[1.0, 2.0]], "float32")
    assert (ops.shape(x), ops.rank(x), ops.size(x), ops.numel(x)) == ((1, 2), 2, 2, 2)
    assert (ops.Shape()(x), ops.Rank()(x), ops.Size()(x), ops.DType()(x)) == ((1, 2), 2, 2, ms.float32)
    assert ops.dtype(x) is ms.float32
    equal(ops.TensorShape()(x), [1, 2])
    assert ops.is_tensor(x)
    assert not ops.is_tensor(1)
    assert ops.is_floating_point(x.bfloat16())
    assert not ops.is_floating_point(x.int())
    same(ops.scalar_to_tensor(1), np.float32(1))
    same(ops.scalar_to_array(2), np.int64(2))
    same(ops.tuple_to_array((1, 2)), np.array([1, 2], "int32"))
    assert ops.ScalarCast()(2.7, ms.int64) == 2
    for fn in (
        lambda: ops.rank(1),
        lambda: ops.tuple_to_array((1, 2.0)),
        lambda: ops.scalar_to_tensor("a"),
        lambda: ops.dtype([1]),
    ):
        with pytest.raises(TypeError, match="For '"):
            fn()
    with pytest.raises(ValueError, match="must not be empty"):
        ops.tuple_to_array(())
    same(ops.tuple_to_array(range(3)), np.array([0, 1, 2], "int32"))
    with pytest.raises(TypeError, match="must be a tuple or range, but got list"):
        ops.tuple_to_array([1])

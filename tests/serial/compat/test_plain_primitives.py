"""Primitives of numbers and sequences, and other primitives of MindSpore's private files."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.compat.inner.operations import plain_primitives as P

CALLS = {
    "ListAppend": (([1], 2), [1, 2]),
    "ListInsert": (([1, 2], 1, 9), [1, 9, 2]),
    "SequenceAdd": (((1,), (2,)), (1, 2)),
    "SequenceCount": (((1, 1, 2), 1), 2),
    "SequenceIndex": (((1, 2, 3), 2, 0, 3), 1),
    "SequenceMax": (((1, 3),), 3),
    "SequenceMin": (((1, 3),), 1),
    "SequenceMul": (((1, 2), 2), (1, 2, 1, 2)),
    "SequenceSlice": (((1, 2, 3, 4), 0, 4, 2), (1, 3)),
    "SequenceSliceSetItem": (((1, 2, 3), (9, 8), 0, 1, 1), (9, 8, 2, 3)),
    "SequenceZerosLike": (((1, 2.0),), (0, 0.0)),
    "TensorToList": ((ms.Tensor([1.0, 2.0]),), [1.0, 2.0]),
    "TensorToTuple": ((ms.Tensor([1, 2]),), (1, 2)),
    "TensorToScalar": ((ms.Tensor(2.0),), 2.0),
    "InSequence": ((1, (1, 2)), True),
    "ScalarAdd": ((1, 2), 3),
    "ScalarSub": ((1, 2), -1),
    "ScalarMul": ((2, 3), 6),
    "ScalarDiv": ((1, 2), 0.5),
    "ScalarFloorDiv": ((5, 2), 2),
    "ScalarMod": ((5, 3), 2),
    "ScalarPow": ((2, 3), 8),
    "ScalarLog": ((1.0,), 0.0),
    "ScalarEq": ((1, 1), True),
    "ScalarLt": ((1, 2), True),
    "ScalarLe": ((1, 2), True),
    "ScalarGt": ((1, 2), False),
    "ScalarGe": ((1, 2), False),
    "ScalarMax": ((1, 2), 2),
    "ScalarMin": ((1, 2), 1),
    "ScalarBool": ((2,), True),
    "ScalarUadd": ((2,), 2),
    "ScalarUsub": ((2,), -2),
    "IsSubClass": ((ms.int32, ms.number), True),
    "IsInstance": ((ms.Tensor([1.0]), ms.tensor_type), True),
    "IsConstant": ((1,), True),
    "IsParameter": ((ms.Tensor([1.0]),), False),
    "SliceGetItem": ((slice(1, 2, 3), "step"), 3),
    "TileSize": (((2,), (1,), 2), (1, 1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    inputs, wanted = CALLS[name]
    op = getattr(P, name)()
    assert isinstance(op, ms.ops.Primitive) and op.name == name
    got = op(*inputs)
    assert got == wanted and type(got) is type(wanted)


def same(tensor, wanted, dtype=None):
    assert np.allclose(tensor.asnumpy(), wanted) and dtype in (None, tensor.dtype)


def test_tensors_of_sequences():
    same(P.TupleToTensor()((1, 2)), [1, 2], ms.int64)
    same(P.ListToTensor()([1, 2], ms.float32), [1, 2], ms.float32)
    x = ms.Tensor([1.0, 2.0])
    same(P.SequenceAddN()((x, x)), [2, 4])
    same(P.SequenceStack(1)((x, x)), [[1, 1], [2, 2]])
    assert [float(v) for v in P.SequenceUnstack()(x)] == [1, 2]
    assert P.sequence_len((1, 2)) == 2 and P.tuple_lt((1,), (2,)) and P.list_greater_equal([2], [2])
    assert (
        P.bit_and(3, 1) == 1
        and P.bit_left_shift(1, 2) == 4
        and P.string_in("b", "abc")
        and P.string_mul("a", 2) == "aa"
    )


def test_tensors_of_a_kind():
    x = ms.Tensor([3.0, 4.0])
    same(P.SameTypeShape()(x, x + 1), [3, 4])
    with pytest.raises(TypeError, match="For 'SameTypeShape', 'y' must be of the type Float32"):
        P.SameTypeShape()(x, ms.Tensor([1, 2]))
    with pytest.raises(ValueError, match=r"For 'SameTypeShape', 'y' must be of the shape \(2,\)"):
        P.SameTypeShape()(x, ms.Tensor([1.0]))
    same(P.MixedPrecisionCast()(ms.float16, x), [3, 4], ms.float16)
    assert P.ConvertToDynamic(True)(x) is x
    assert P.issubclass_(ms.TensorType(ms.int8), ms.tensor_type) and not P.issubclass_(ms.int8, ms.tensor_type)


def test_other_primitives_of_inner_ops():
    x, eye = ms.Tensor([3.0, 4.0]), ms.Tensor(np.eye(2, dtype=np.float32))
    same(P.DynamicBroadcastTo()(x, (2, 2)), [[3, 4], [3, 4]])
    same(P.ClipByNorm()(x, ms.Tensor(10.0)), [3, 4])
    same(P.ClipByNorm(0)(x, ms.Tensor(1.0)), [0.6, 0.8])
    same(P.Centralization()(ms.Tensor([[1.0, 3.0]]), 1), [[-1, 1]])
    same(P.MatrixDiag()(x, eye), np.diag([3, 4]))
    same(P.MatrixDiagPart()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), eye), [1, 4])
    same(P.MatrixSetDiag()(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), x, eye), [[3, 2], [3, 4]])
    same(P.SequenceMask()(ms.Tensor([1, 2]), 3), [[True, False, False], [True, True, False]])
    image = ms.Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
    assert P.DynamicResizeNearestNeighbor()(image, ms.Tensor([4, 4])).shape == (1, 1, 4, 4)
    same(P.DynamicStitch()((ms.Tensor([0]), ms.Tensor([0, 1])), (ms.Tensor([1.0]), ms.Tensor([2.0, 3.0]))), [2, 3])

"""Containers gone through by functions, as MindSpore's compiled code goes: results compared with MindSpore 2.10."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

X = [[1.0, 2.0], [3.0, 4.0]]


def test_first_and_rest():
    assert ops.ms_next((1, 2, 3)) == (1, (2, 3)) and ops.ms_next([1, 2, 3]) == (1, [2, 3])
    assert ops.ms_next({"a": 1, "b": 2}) == ("a", {"b": 2}) and ops.ms_next("abc") == ("a", "bc")
    first, rest = ops.ms_next(Tensor(X))
    assert first.asnumpy().tolist() == [1, 2] and rest.asnumpy().tolist() == [[3, 4]]
    assert [ops.ms_hasnext(x) for x in ((1, 2), (), Tensor(X), {}, "a")] == [True, False, True, False, True]


def test_a_loop_of_them_sees_every_element():
    seen, waiting = [], ops.iter_converter({"a": 1, "b": 2, "c": 3})
    while ops.ms_hasnext(waiting):
        first, waiting = ops.ms_next(waiting)
        seen.append(first)
    assert seen == ["a", "b", "c"]


def test_what_is_gone_through():
    x = Tensor(X)
    assert ops.iter_converter(x) is x and ops.iter_converter([1, 2]) == [1, 2] and ops.iter_converter("ab") == "ab"
    for wrong in (3, Tensor(1.0)):
        with pytest.raises(TypeError):
            ops.iter_converter(wrong)
    with pytest.raises(ValueError, match="with elements"):
        ops.ms_next(())


def test_zipped():
    assert ops.zip_operation((1, 2), (3, 4)) == ((1, 3), (2, 4)) == ops.zip_operation((1, 2), [3, 4, 5])
    (a, b), _ = ops.zip_operation(Tensor(X), Tensor(X) * 2)
    assert a.asnumpy().tolist() == [1, 2] and b.asnumpy().tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="at least one"):
        ops.zip_operation()


def test_reduced_to_a_shape():
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    for shape in ((2, 3, 4), (2, 1, 4), (1, 4), (3, 1), (4,), ()):
        found = ops.array_reduce(ops.add, Tensor(x), shape)
        axes = tuple(range(3 - len(shape)))
        wanted = x.sum(axes) if axes else x
        wanted = wanted.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True) if 1 in shape else wanted
        assert found.shape == shape
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)
    with pytest.raises(ValueError, match="lengths of"):
        ops.array_reduce(ops.add, Tensor(x), (2, 4))


def test_sequences_of_varying_length():
    unknown = ops.is_dynamic_sequence_element_unknown
    assert unknown(ms.mutable([], True)) and not unknown(ms.mutable((1, 2), True))
    for fixed in ((1, 2), [], ms.mutable([1])):
        with pytest.raises(TypeError, match="varying length"):
            unknown(fixed)


def test_expressions():
    assert ops.PyExecute()("a + a", ("a",), (Tensor(X),)).asnumpy().tolist() == [[2, 4], [6, 8]]
    with pytest.raises(ValueError, match="1 of them"):
        ops.PyExecute()("a", ("a",), (1, 2))
    with pytest.raises(TypeError):
        ops.PyExecute()(1, (), ())

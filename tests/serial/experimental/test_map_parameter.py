"""MapParameter: MindSpore's documented behaviour; it has no kernels of it on a CPU, but exports and imports there."""

import importlib

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.compat
from dist_ms import Tensor, nn
from dist_ms.experimental import MapParameter


def keys(*numbers):
    return Tensor(list(numbers), ms.int32)


def table(**settings):
    return MapParameter(**{"value_shape": (2,), "default_value": "zeros", "name": "m", **settings})


def test_rows_come_and_go():
    m = table(default_value=3)
    assert m.put(keys(1, 2), Tensor(np.arange(4.0).reshape(2, 2), ms.float32)) is m
    np.testing.assert_array_equal(m.get(keys(2, 5, 5), False).asnumpy(), [[2, 3], [3, 3], [3, 3]])
    assert m.get_keys().asnumpy().tolist() == [1, 2]
    np.testing.assert_array_equal(m[Tensor([[5, 1]], ms.int32)].asnumpy(), [[[3, 3], [0, 1]]])
    assert m.get_keys().asnumpy().tolist() == [1, 2, 5]
    m[keys(5)] = Tensor([[8.0, 9.0]])
    assert m.erase(keys(1, 77)) is m
    found = [part.asnumpy().tolist() for part in m.get_data()]
    assert found == [[2, 5], [[2.0, 3.0], [8.0, 9.0]]] and m.get_values().shape == (2, 2)
    assert m.shape == (2,) and m.dtype is ms.float32 and isinstance(m, ms.Parameter) and m.name == "m"


def test_types_and_shapes():
    m = MapParameter(key_tensor=keys(5, 7), value_tensor=Tensor(np.arange(4).reshape(2, 2), ms.float32))
    assert (m.key_dtype, m.value_dtype, m.value_shape) == (ms.int32, ms.float32, (2,))
    # What MindSpore exports of such a parameter.
    exported = m.export_data()
    assert [part.tolist() for part in exported] == [[5, 7], [[0, 1], [2, 3]], [0, 0]]
    whole = m.export_bytes()
    assert whole[0] == b"\x05\0\0\0\x07\0\0\0" and whole[1][4:8] == b"\0\0\x80?" and whole[2] == bytes(8)
    assert MapParameter(value_shape=4).value_shape == (4,) and MapParameter().value_shape == (1,)
    wrong = {
        "key_dtype": (ms.float32, TypeError, "'key_dtype' must be a type of ints"),
        "value_shape": ((3,), ValueError, "'value_shape' must be that of the tensor"),
        "value_dtype": (ms.int32, ValueError, "'value_dtype' must be that of the tensor"),
        "permit_filter_value": (0, ValueError, "'permit_filter_value'"),
    }
    for name, (value, error, match) in wrong.items():
        given = {} if name == "key_dtype" else {"key_tensor": keys(1), "value_tensor": Tensor([[1.0, 2.0]])}
        with pytest.raises(error, match=match):
            MapParameter(**given, **{name: value})
    with pytest.raises(ValueError, match="must be given together"):
        MapParameter(key_tensor=keys(1))
    with pytest.raises(TypeError, match="'key_tensor' must have the type Int32, but got Int64"):
        m.get(Tensor([1], ms.int64))
    with pytest.raises(ValueError, match="'value_tensor' must have the shape"):
        m.put(keys(1), Tensor([1.0]))


def test_exports_tell_what_has_changed():
    m = table()
    m.put(keys(1, 2, 3), Tensor(np.ones((3, 2)), ms.float32))
    assert m.export_data()[2].tolist() == [1, 1, 1]
    m.put(keys(2), Tensor([[5.0, 5.0]]))
    m.erase(keys(1))
    found, rows, statuses = m.export_data(incremental=True)
    assert (found.tolist(), rows.tolist(), statuses.tolist()) == ([2, 1], [[5, 5]], [1, 2])
    assert len(m.export_data(incremental=True)[0]) == 0
    other = table()
    other.put(keys(9), Tensor([[1.0, 1.0]]))
    other.import_data(m.export_data())
    assert [part.asnumpy().tolist() for part in other.get_data()] == [[2, 3], [[5, 5], [1, 1]]]
    with pytest.raises(ValueError, match="'data' must be keys, rows and statuses"):
        other.import_data(([1], [[1.0, 2.0]], []))


def test_exports_in_slices(monkeypatch):
    from dist_ms.experimental import map_parameter

    monkeypatch.setattr(map_parameter, "_SLICE_BYTES", 16)
    m = table()
    m.put(keys(1, 2, 3), Tensor(np.ones((3, 2)), ms.float32))
    parts = [m.export_slice_data() for _ in range(2)]
    assert [(p[0].tolist(), len(p[1]), p[3]) for p in parts] == [([1, 2], 2, False), ([3], 1, True)]


def test_keys_are_kept_when_asked_for_often_and_go_when_not():
    m = table(permit_filter_value=2)
    m.get(keys(1))
    assert m.get_keys().size == 0
    m.get(keys(1, 2))
    assert m.get_keys().asnumpy().tolist() == [1]
    m = table(evict_filter_value=2)
    m.get(keys(1))
    for _ in range(3):
        m.get(keys(2))
    assert m.get_keys().asnumpy().tolist() == [2]


def test_clones_are_empty():
    m = table()
    m.get(keys(1))
    copy = m.clone("ones")
    assert copy.get_keys().size == 0 and copy.get(keys(4)).asnumpy().tolist() == [[1, 1]]
    assert m.clone().default_value == "zeros" and "keys=1" in str(m)


def test_gradients_are_refused():
    with pytest.raises(RuntimeError, match="'requires_grad' must be False where gradients are recorded"):
        ms.grad(lambda x: (x * table()[keys(1)]).sum())(Tensor([1.0, 1.0]))
    frozen = table(default_value=4, requires_grad=False)
    assert ms.grad(lambda x: (x * frozen[keys(1)]).sum())(Tensor([1.0, 1.0])).asnumpy().tolist() == [4, 4]


def test_checkpoints_refuse_it(tmp_path):
    net = nn.Cell()
    net.table = table()
    with pytest.raises(TypeError, match="'m' is a MapParameter, .*export_data"):
        ms.save_checkpoint(net, str(tmp_path / "a.ckpt"))


def test_mindspores_path():
    dist_ms.compat.install()
    assert importlib.import_module("mindspore.experimental.map_parameter").MapParameter is MapParameter

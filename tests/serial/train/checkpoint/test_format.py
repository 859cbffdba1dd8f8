"""The `.ckpt` bytes: agreement with protobuf itself, slices, and what is refused."""

import struct

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from dist_ms.common.tensor import Tensor
from dist_ms.train.checkpoint import ckpt_format
from dist_ms.train.serialization import load_checkpoint, save_checkpoint
from tests.serial.train.checkpoint.checkpoint_cases import arrays_of_every_kind, assert_same

FLOATS = np.arange(4, dtype=np.float32)


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def checkpoint_class():
    """The message as protoc would see it."""
    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t", syntax="proto2")
    tensor = file.message_type.add(name="TensorProto")
    tensor.field.add(name="dims", number=1, label=3, type=3)
    tensor.field.add(name="tensor_type", number=2, label=2, type=9)
    tensor.field.add(name="tensor_content", number=3, label=2, type=12)
    table = file.message_type.add(name="MapTensorProto")
    table.field.add(name="tensor", number=1, label=3, type=11, type_name=".t.TensorProto")
    checkpoint = file.message_type.add(name="Checkpoint")
    value = checkpoint.nested_type.add(name="Value")
    value.oneof_decl.add(name="value")
    value.field.add(name="tag", number=1, label=2, type=9)
    value.field.add(name="tensor", number=2, label=1, type=11, type_name=".t.TensorProto", oneof_index=0)
    value.field.add(name="maptensor", number=3, label=1, type=11, type_name=".t.MapTensorProto", oneof_index=0)
    checkpoint.field.add(name="value", number=1, label=3, type=11, type_name=".t.Checkpoint.Value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Checkpoint"))


def message(*records):
    """A Checkpoint with records of (tag, dims, type, content)."""
    checkpoint = checkpoint_class()()
    for tag, dims, type_name, content in records:
        record = checkpoint.value.add(tag=tag)
        record.tensor.dims.extend(dims)
        record.tensor.tensor_type, record.tensor.tensor_content = type_name, content
    return checkpoint


def load_bytes(data):
    with open("x.ckpt", "wb") as file:
        file.write(data)
    return load_checkpoint("x.ckpt")


def test_what_is_written_is_the_protobuf_message():
    arrays = arrays_of_every_kind()
    save_checkpoint({name: Tensor(a) for name, a in arrays.items()}, "a.ckpt", append_dict={"s": "t"})
    records = [(name, a.shape, str(Tensor(a).dtype), np.ascontiguousarray(a).tobytes()) for name, a in arrays.items()]
    records.append(("s", [0], "str", "t".encode("utf-32-le")))
    with open("a.ckpt", "rb") as file:
        assert file.read() == message(*records).SerializeToString()


def test_large_tensors_are_cut_into_records_that_repeat_the_dimensions(monkeypatch):
    monkeypatch.setattr(ckpt_format, "SLICE_BYTES", 16)
    arrays = {
        "a": np.arange(8.0),
        "b": np.arange(9, dtype=np.int8),
        "c": np.array(3.0),
        "e": np.zeros((2, 0)),
    }
    save_checkpoint({name: Tensor(a) for name, a in arrays.items()}, "a.ckpt")
    with open("a.ckpt", "rb") as file:
        records = checkpoint_class().FromString(file.read()).value
    assert [(r.tag, list(r.tensor.dims), len(r.tensor.tensor_content)) for r in records[:6]] == [
        ("a", [8], 16), ("a", [8], 16), ("a", [8], 16), ("a", [8], 16), ("b", [9], 9), ("c", [], 8)
    ]  # fmt: skip
    loaded = load_checkpoint("a.ckpt")
    for name, array in arrays.items():
        assert_same(loaded[name], array)


def test_a_text_is_never_cut(monkeypatch):
    monkeypatch.setattr(ckpt_format, "SLICE_BYTES", 16)
    with pytest.raises(ValueError, match="'s' is too long: at most 4 characters .* but got 5"):
        save_checkpoint([], "a.ckpt", append_dict={"s": "x" * 5})
    save_checkpoint([], "a.ckpt", append_dict={"s": "x" * 4})
    assert load_checkpoint("a.ckpt") == {"s": "xxxx"}


def test_records_in_any_field_order_and_packed_dimensions():
    content = b"\x1a\x10" + FLOATS.tobytes()
    type_name = b"\x12\x07Float32"
    for dims in (b"\x08\x02\x08\x02", b"\x0a\x02\x02\x02"):
        for tensor in (dims + type_name + content, content + type_name + dims):
            tensor = b"\x12" + bytes([len(tensor)]) + tensor
            for record in (b"\x0a\x01w" + tensor, tensor + b"\x0a\x01w"):
                loaded = load_bytes(b"\x0a" + bytes([len(record)]) + record)
                assert_same(loaded["w"], FLOATS.reshape(2, 2))


@pytest.mark.parametrize("type_name", ["Float32", "Int64", "Bool", "Float16"])
def test_scalars_of_mindspore_1(type_name):
    array = np.ones((), ckpt_format._TYPES[type_name])
    assert_same(load_bytes(message(("z", [0], type_name, array.tobytes())).SerializeToString())["z"], array)


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([("z", [5], "Float32", FLOATS)], "should have 20 bytes, but at most 16 are there"),
        ([("z", [2], "Float32", FLOATS)], "should have 8 bytes, but got 16"),
        ([("z", [], "Float32", FLOATS)], "should have 4 bytes, but got 16"),
        ([("z", [-1], "Float32", FLOATS)], "none of them negative"),
        ([("z", [1] * 65, "Float32", FLOATS[:1])], "at most 64 dimensions"),
        ([("z", [1 << 62, 1 << 62], "Float32", FLOATS)], "but at most 16 are there"),
        ([("z", [1 << 62, 1 << 62, 0], "Float32", FLOATS[:0])], "cannot have the shape"),
        ([("z", [4], "Foo", FLOATS)], "has the type 'Foo', but dist_ms knows Bool, Int8"),
        ([("z", [4], "", FLOATS)], "has no name, type or data"),
        ([("z", [4], "Float32", FLOATS)] * 2, "'z' appears twice"),
        ([("z", [8], "Float32", FLOATS), ("y", [4], "Float32", FLOATS)], "32 bytes, but got 16"),
        ([("z", [8], "Float32", FLOATS), ("z", [2, 4], "Float32", FLOATS)], "32 bytes, but got 16"),
        ([("z", [6], "Float32", FLOATS), ("z", [6], "Float32", FLOATS)], "24 bytes, but got 32"),
        ([("z", [0], "str", FLOATS[:1].view(np.uint8)[:3])], "is not UTF-32"),
        ([("z", [0], "str", np.array([0x110000], np.uint32))], "is not UTF-32"),
        ([("z", [1], "Bool", np.array([2], np.uint8))], "only the bytes 0 and 1"),
        ([("n" * 1025, [4], "Float32", FLOATS)], "at most 1024 characters"),
    ],
)
def test_contradictions_are_refused(records, reason):
    records = [(tag, dims, kind, content.tobytes()) for tag, dims, kind, content in records]
    with pytest.raises(ValueError, match=reason):
        load_bytes(message(*records).SerializeToString())


def test_map_tensors_are_refused():
    checkpoint = checkpoint_class()()
    checkpoint.value.add(tag="table").maptensor.tensor.add(dims=[4], tensor_type="Float32", tensor_content=b"")
    with pytest.raises(ValueError, match="'table' is a MapTensor"):
        load_bytes(checkpoint.SerializeToString())


@pytest.mark.parametrize(
    "data",
    [
        b"hello world, this is no checkpoint",
        b"PK\x03\x04" + bytes(40),
        b"\x0a\x05hello",
        b"\x0a\x03\x0a\x01z",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x0a\xff\xff\xff\xff\x07",
        b"\x0a",
        b"\x0a\x84\x80\x80\x80\x00\x0a\x02\xff\xfe",
        b"\x0a\x08\x0a\x02\xff\xfe\x12\x02\x12\x00",
        b"\x0a\x80\x20" + b"\x23" * 4096,
    ],
)
def test_other_files_are_refused(data):
    with pytest.raises(ValueError, match="failed to read the checkpoint file .*x.ckpt: "):
        load_bytes(data)


def test_every_truncation_is_refused_or_ends_between_two_parameters():
    data = message(("a", [4], "Float32", FLOATS.tobytes()), ("b", [2], "Float64", bytes(16))).SerializeToString()
    first = len(message(("a", [4], "Float32", FLOATS.tobytes())).SerializeToString())
    for length in range(1, len(data)):
        if length == first:
            assert list(load_bytes(data[:length])) == ["a"]
            continue
        with pytest.raises(ValueError, match="truncated or damaged|cannot be parsed"):
            load_bytes(data[:length])


def test_a_pickle_is_refused_and_not_run():
    import os
    import pickle

    class Evil:
        def __reduce__(self):
            return os.mkdir, ("executed",)

    with pytest.raises(ValueError, match="not a MindSpore checkpoint"):
        load_bytes(pickle.dumps({"w": Evil()}))
    assert not os.path.exists("executed")


def test_a_forged_length_allocates_nothing(monkeypatch):
    asked = []
    empty = np.empty
    monkeypatch.setattr(np, "empty", lambda *a, **k: asked.append(a) or empty(*a, **k))
    for dims in ([1 << 40], [1 << 20, 1 << 20], [17]):
        with pytest.raises(ValueError, match="at most 16 are there"):
            load_bytes(message(("z", dims, "UInt8", FLOATS.tobytes())).SerializeToString())
    with pytest.raises(ValueError, match="only 5 are left"):
        load_bytes(b"\x0a" + b"\xff\xff\xff\xff\x03" + b"\x0a\x01z\x12\x00")
    assert not asked


def test_doubles_are_little_endian():
    save_checkpoint({"d": Tensor(np.array([1.5]))}, "a.ckpt")
    with open("a.ckpt", "rb") as file:
        assert file.read().endswith(struct.pack("<d", 1.5))

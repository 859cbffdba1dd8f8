"""The `.ckpt` format: a protobuf message `Checkpoint`, written and read piece by piece.

The message is a sequence of records, each with a name and a tensor (dimensions, the name of
the element type, little-endian bytes). A tensor above 512 MiB is cut into records of the same
name that all state the full dimensions, so files above protobuf's limit of 2 GiB are no
special case. A text is a "tensor" of type `str` with dimensions (0,) and UTF-32 bytes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.train.checkpoint.sources import Source, read_exactly

SLICE_BYTES = 512 << 20
LONGEST_NAME = 1024  # of a Parameter
_MESSAGE_LIMIT = (2 << 30) - 1
_MOST_DIMENSIONS = 64
_TEXT = "str"
_TYPES = {str(t): t.np for t in (*mstype.all_types, *mstype.float8_type)}

_RECORD_KEY = 0x0A  # Checkpoint.value
_TAG_KEY = b"\x0a"  # Value.tag
_TENSOR_KEY = b"\x12"  # Value.tensor
_DIM_KEY = b"\x08"  # TensorProto.dims
_TYPE_KEY = b"\x12"  # TensorProto.tensor_type
_CONTENT_KEY = b"\x1a"  # TensorProto.tensor_content


def write_entries(entries: Iterable[tuple[str, np.ndarray | str]]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a checkpoint; large tensors are passed on without a copy.

    Args:
        entries: names with an array (any shape and strides) or a text.

    Raises:
        ValueError: if a text is longer than a record may be.
    """
    for name, value in entries:
        if isinstance(value, str):
            content = memoryview(value.encode("utf-32-le", "surrogatepass") or bytes(4))
            if len(content) > SLICE_BYTES:
                raise ValueError(
                    f"For 'save_checkpoint', the text '{name}' is too long: at most "
                    f"{SLICE_BYTES // 4} characters can be saved, but got {len(value)}."
                )
            dims, type_name = (0,), _TEXT
        else:
            content = array_bytes(value)
            dims, type_name = value.shape, str(mstype.from_numpy(value.dtype))
        for start in range(0, max(len(content), 1), SLICE_BYTES):
            piece = content[start : start + SLICE_BYTES]
            yield _record_head(name, dims, type_name, len(piece))
            yield piece


def array_bytes(array: np.ndarray) -> memoryview:
    """The elements of an array in row-major order, as bytes."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _record_head(name: str, dims: tuple, type_name: str, content_bytes: int) -> bytes:
    """Everything of one record that precedes the tensor's bytes."""
    head = b"".join(_DIM_KEY + _varint(d) for d in dims) + _field(_TYPE_KEY, type_name.encode())
    head += _CONTENT_KEY + _varint(content_bytes)
    tag = _field(_TAG_KEY, name.encode("utf-8"))
    head = tag + _TENSOR_KEY + _varint(len(head) + content_bytes) + head
    return bytes([_RECORD_KEY]) + _varint(len(head) + content_bytes) + head


def _field(key: bytes, content: bytes) -> bytes:
    return key + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Protobuf's variable-length number: seven bits a byte, lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_entries(source: Source) -> Iterator[tuple[str, np.ndarray | str]]:
    """Yield the names with the arrays and texts of a checkpoint, in the file's order.

    Raises:
        ValueError: if the bytes are no checkpoint, are damaged or cut short, or hold a type
            this package has no equivalent of. The text is a reason without the file's name.
    """
    seen: set[str] = set()
    open_slices: _Slices | None = None
    while (length := _read_record_length(source)) is not None:
        tag, tensor = _parse_record(read_exactly(source, length, "a record"))
        content = tensor.tensor_content
        if open_slices is None:
            if tag in seen:
                raise ValueError(f"'{tag}' appears twice")
            seen.add(tag)
            if tensor.tensor_type == _TEXT:
                yield tag, _text(tag, content)
                continue
            open_slices = _Slices(tag, tensor, len(content) + source.remaining)
        open_slices.add(tag, tensor, content)
        if open_slices.complete:
            yield tag, open_slices.array
            open_slices = None
    if open_slices is not None:
        open_slices.fail_short()


def _read_record_length(source: Source) -> int | None:
    """Read what precedes a record; None at the end of the file."""
    key = source.read(1)
    if not key:
        return None
    if key[0] != _RECORD_KEY:
        raise ValueError(
            "it is not a MindSpore checkpoint, or it is damaged: "
            f"a record must begin with byte 0x0a, but got 0x{key[0]:02x}"
        )
    length = 0
    for shift in range(0, 35, 7):
        byte = read_exactly(source, 1, "a record length")[0]
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            if length > _MESSAGE_LIMIT:
                break
            return length
    raise ValueError(f"a record must have at most {_MESSAGE_LIMIT} bytes, but the file states more: it is damaged")


def _parse_record(data: bytes) -> tuple[str, Any]:
    """Return the name and the TensorProto of one record."""
    from google.protobuf.message import DecodeError

    record = _record_class()()
    try:
        record.ParseFromString(data)
        tag, kind = record.tag, record.WhichOneof("value")
        tensor, type_name = record.tensor, record.tensor.tensor_type
        # protobuf gives a text that is not UTF-8 as bytes, or raises, as its version pleases.
        parsed = isinstance(tag, str) and isinstance(type_name, str)
    except (DecodeError, UnicodeDecodeError):
        parsed = False
    if not parsed:
        raise ValueError("the content of a record cannot be parsed: the file is no checkpoint, or it is damaged")
    if len(tag) > LONGEST_NAME:
        raise ValueError(f"a name must have at most {LONGEST_NAME} characters, but got {len(tag)}: {tag[:40]}...")
    if kind == "maptensor":
        raise ValueError(f"'{tag}' is a MapTensor (a hash table), which dist_ms does not have")
    if not (kind and type_name and record.IsInitialized()):
        raise ValueError(f"the record '{tag}' has no name, type or data: the file is damaged")
    return tag, tensor


class _Slices:
    """One tensor put together from its records."""

    def __init__(self, tag: str, tensor: Any, available: int) -> None:
        dims = tuple(tensor.dims) if len(tensor.dims) <= _MOST_DIMENSIONS else None
        np_type = _TYPES.get(tensor.tensor_type)
        if np_type is None:
            raise ValueError(f"'{tag}' has the type '{tensor.tensor_type[:80]}', but dist_ms knows {', '.join(_TYPES)}")
        if dims is None or any(d < 0 for d in dims):
            raise ValueError(
                f"'{tag}' must have at most {_MOST_DIMENSIONS} dimensions, none of them negative, "
                "but the file states others: it is damaged"
            )
        if dims == (0,) and tensor.tensor_content:
            dims = ()  # how MindSpore 1.x wrote a scalar
        self._tag, self._type, self._dims = tag, tensor.tensor_type, tuple(tensor.dims)
        self._wanted = math.prod(dims) * np_type.itemsize
        if self._wanted > available:
            raise ValueError(
                f"'{tag}' of shape {dims} should have {self._wanted} bytes, "
                f"but at most {available} are there: the file is truncated or damaged"
            )
        try:
            self.array = np.empty(dims, np_type)
        except (ValueError, OverflowError):  # no elements, but an absurd length beside a 0
            raise ValueError(f"'{tag}' cannot have the shape {dims}: the file is damaged") from None
        self._bytes = self.array.reshape(-1).view(np.uint8)
        self._filled = 0

    def add(self, tag: str, tensor: Any, content: bytes) -> None:
        """Append the bytes of the next record, which must be of the same tensor."""
        if (tag, tensor.tensor_type, tuple(tensor.dims)) != (self._tag, self._type, self._dims):
            self.fail_short()
        end = self._filled + len(content)
        if end > self._wanted:
            raise ValueError(
                f"'{tag}' of shape {self.array.shape} should have {self._wanted} bytes, "
                f"but got {end}: the file is damaged"
            )
        self._bytes[self._filled : end] = np.frombuffer(content, np.uint8)
        self._filled = end
        if self.complete:
            check_bool_bytes(tag, self.array)

    @property
    def complete(self) -> bool:
        """Whether all bytes are there."""
        return self._filled == self._wanted

    def fail_short(self) -> None:
        """Say that the tensor ended too early."""
        raise ValueError(
            f"'{self._tag}' of shape {self.array.shape} should have {self._wanted} bytes, "
            f"but got {self._filled}: the file is truncated or damaged"
        )


def check_bool_bytes(name: str, array: np.ndarray) -> None:
    """Refuse a Bool tensor whose bytes are not 0 and 1: NumPy's answers about it would differ.

    Raises:
        ValueError: if there is another byte.
    """
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise ValueError(f"'{name}' must hold only the bytes 0 and 1 as a Bool tensor, but has others")


def _text(tag: str, content: bytes) -> str:
    """Decode a text; MindSpore writes one zero for the empty one."""
    if content == bytes(4):
        return ""
    try:
        return content.decode("utf-32-le", "surrogatepass")
    except UnicodeDecodeError:
        raise ValueError(f"the text '{tag}' is not UTF-32: the file is damaged") from None


@functools.cache
def _record_class() -> type:
    """Build the message class from the format's field numbers, in a descriptor pool of its own.

    A pool of its own, because the messages' plain names would clash with those of MindSpore or
    ONNX in the same process.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="dist_ms/checkpoint.proto", syntax="proto2")

    tensor = file.message_type.add(name="TensorProto")
    tensor.field.add(name="dims", number=1, label=field.LABEL_REPEATED, type=field.TYPE_INT64)
    tensor.field.add(name="tensor_type", number=2, label=field.LABEL_REQUIRED, type=field.TYPE_STRING)
    tensor.field.add(name="tensor_content", number=3, label=field.LABEL_REQUIRED, type=field.TYPE_BYTES)

    table = file.message_type.add(name="MapTensorProto")
    table.field.add(
        name="tensor",
        number=1,
        label=field.LABEL_REPEATED,
        type=field.TYPE_MESSAGE,
        type_name=".TensorProto",
    )

    value = file.message_type.add(name="Checkpoint").nested_type.add(name="Value")
    value.oneof_decl.add(name="value")
    value.field.add(name="tag", number=1, label=field.LABEL_REQUIRED, type=field.TYPE_STRING)
    for number, (name, message) in enumerate((("tensor", ".TensorProto"), ("maptensor", ".MapTensorProto")), 2):
        value.field.add(
            name=name,
            number=number,
            label=field.LABEL_OPTIONAL,
            type=field.TYPE_MESSAGE,
            type_name=message,
            oneof_index=0,
        )

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Checkpoint.Value"))

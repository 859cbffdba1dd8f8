"""TensorFlow's files of records, and the examples that the records hold.

A record is: its length (8 bytes, little-endian) | checksum of these | the record | its checksum.
"""

from __future__ import annotations

import functools
import gzip
import os
import struct
import zlib
from typing import Any

import numpy as np

from dist_ms._ext.checksums import masked

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
_HEAD, _TAIL = 12, 4


class RecordFile:
    """The records of a file, found by one look at their lengths.

    Args:
        path: the file.
        compression: "", "GZIP" or "ZLIB".

    Raises:
        RuntimeError: if the file is damaged.
    """

    def __init__(self, path: str, compression: str = "") -> None:
        self.path = path
        if compression:
            with open(path, "rb") as file:
                content = file.read()
            try:
                plain = gzip.decompress(content) if compression == "GZIP" else zlib.decompress(content)
            except (OSError, EOFError, zlib.error) as error:
                raise RuntimeError(f"{path} is no {compression} file, or damaged ({error}).") from None
            self._data = np.frombuffer(plain, np.uint8)
        elif os.path.getsize(path):
            self._data = np.memmap(path, np.uint8, "r").view(np.ndarray)
        else:
            self._data = np.empty(0, np.uint8)
        self._spans = self._scan()

    def _scan(self) -> list[tuple[int, int]]:
        spans, at, size = [], 0, len(self._data)
        while at < size:
            head = self._data[at : at + _HEAD]
            if len(head) == _HEAD and _CHECKSUM.unpack(head[8:].tobytes())[0] == masked(head[:8]):
                begin = at + _HEAD
                end = begin + _LENGTH.unpack(head[:8].tobytes())[0]
                if end + _TAIL <= size:
                    spans.append((begin, end))
                    at = end + _TAIL
                    continue
                raise RuntimeError(f"{self.path}: record {len(spans)} ends after the file's end: it is cut short.")
            raise RuntimeError(
                f"{self.path}: record {len(spans)} is damaged, its length has another checksum; or the file is "
                "compressed: set 'compression_type'."
            )
        return spans

    def __len__(self) -> int:
        return len(self._spans)

    def record(self, number: int) -> bytes:
        """Record `number`.

        Raises:
            RuntimeError: if it has another checksum.
        """
        begin, end = self._spans[number]
        content = self._data[begin:end]
        if _CHECKSUM.unpack(self._data[end : end + _TAIL].tobytes())[0] != masked(content):
            raise RuntimeError(f"{self.path}: record {number} is damaged, it has another checksum: write it again.")
        return content.tobytes()


@functools.cache
def example_class() -> type:
    """The message class of examples, in a descriptor pool of its own, as its name would clash with TensorFlow's."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="dist_ms/example.proto", package="dist_ms", syntax="proto3")
    for name, kind in (("Bytes", field.TYPE_BYTES), ("Float", field.TYPE_FLOAT), ("Int64", field.TYPE_INT64)):
        items = file.message_type.add(name=f"{name}List")
        items.field.add(name="value", number=1, label=field.LABEL_REPEATED, type=kind)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, kind in enumerate(("Bytes", "Float", "Int64"), 1):
        feature.field.add(
            name=f"{kind.lower()}_list",
            number=number,
            label=field.LABEL_OPTIONAL,
            type=field.TYPE_MESSAGE,
            type_name=f".dist_ms.{kind}List",
            oneof_index=0,
        )
    table = file.message_type.add(name="Features")
    entry = table.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=field.LABEL_OPTIONAL, type=field.TYPE_STRING)
    one = {"label": field.LABEL_OPTIONAL, "type": field.TYPE_MESSAGE}
    entry.field.add(name="value", number=2, type_name=".dist_ms.Feature", **one)
    table.field.add(
        name="feature",
        number=1,
        label=field.LABEL_REPEATED,
        type=field.TYPE_MESSAGE,
        type_name=".dist_ms.Features.FeatureEntry",
    )
    file.message_type.add(name="Example").field.add(name="features", number=1, type_name=".dist_ms.Features", **one)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("dist_ms.Example"))


def features(record: bytes, place: str) -> dict[str, Any]:
    """The features of an example: a list of bytes, or an array of float32 or int64.

    Args:
        record: the example.
        place: where it stands, for errors.

    Raises:
        RuntimeError: if it is no example.
    """
    from google.protobuf.message import DecodeError

    try:
        message = example_class().FromString(record)
    except DecodeError as error:
        raise RuntimeError(f"{place} holds no example of TensorFlow's ({error}).") from None
    found: dict[str, Any] = {}
    for name, feature in message.features.feature.items():
        kind = feature.WhichOneof("kind")
        if kind == "int64_list":
            found[name] = np.array(feature.int64_list.value, np.int64)
        elif kind == "float_list":
            found[name] = np.array(feature.float_list.value, np.float32)
        else:
            found[name] = list(feature.bytes_list.value)
    return found

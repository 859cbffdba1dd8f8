"""The safetensors format: written here piece by piece, read by the package `safetensors`.

A file is an eight-byte header length, a JSON header (names, types, shapes, places), then the
tensors' bytes. The order is the package's own: wide types first, then by name. As safetensors
has no texts, they go into the header's metadata, which MindSpore and others read over.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.train.checkpoint.ckpt_format import array_bytes, check_bool_bytes
from dist_ms.train.checkpoint.crc import tensors_crc

_TYPES = {
    mstype.bool_: "BOOL",
    mstype.int8: "I8",
    mstype.int16: "I16",
    mstype.int32: "I32",
    mstype.int64: "I64",
    mstype.uint8: "U8",
    mstype.uint16: "U16",
    mstype.uint32: "U32",
    mstype.uint64: "U64",
    mstype.float16: "F16",
    mstype.bfloat16: "BF16",
    mstype.float32: "F32",
    mstype.float64: "F64",
    mstype.float8_e4m3fn: "F8_E4M3",
    mstype.float8_e5m2: "F8_E5M2",
}
_METADATA = "__metadata__"
_TEXT_PREFIX = "dist_ms.text."
_ALIGNMENT = 8
_log = logging.getLogger(__name__)


def write_entries(
    entries: Iterable[tuple[str, np.ndarray | str]],
    crc_check: bool = False,
    redundancy_removed: bool = False,
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a safetensors file.

    Args:
        entries: names with an array or a text.
        crc_check: add MindSpore's checksum to the metadata.
        redundancy_removed: say in the metadata that other ranks' files hold the rest.

    Raises:
        ValueError: if an array has a type that safetensors does not have.
    """
    entries = list(entries)
    arrays = {name: value for name, value in entries if isinstance(value, np.ndarray)}
    metadata = {"format": "ms"} if entries else {}
    if crc_check:
        metadata["crc_num"] = str(tensors_crc(sorted(arrays.items())))
    if redundancy_removed:
        metadata["remove_redundancy"] = "True"
    metadata |= {_TEXT_PREFIX + name: value for name, value in entries if isinstance(value, str)}

    header: dict[str, Any] = {_METADATA: metadata} if metadata else {}
    end = 0
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    for name in order:
        start, end = end, end + arrays[name].nbytes
        header[name] = {
            "dtype": _type_name(name, arrays[name]),
            "shape": list(arrays[name].shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    yield len(text).to_bytes(8, "little")
    yield text
    for name in order:
        yield array_bytes(arrays[name])


def _type_name(name: str, array: np.ndarray) -> str:
    """The format's name of an array's type."""
    dtype = mstype.from_numpy(array.dtype)
    if name == _METADATA:
        raise ValueError(
            f"For 'save_checkpoint', the name '{_METADATA}' is taken in a safetensors file: "
            "use another one, or format='ckpt'."
        )
    if dtype not in _TYPES:
        raise ValueError(
            f"For 'save_checkpoint', '{name}' of type {dtype} cannot be stored as safetensors, "
            "which has no such type: use format='ckpt'."
        )
    return _TYPES[dtype]


def read_entries(file: Any, crc_check: bool = False) -> Iterator[tuple[str, np.ndarray | str]]:
    """Yield names with arrays and texts, sorted by name.

    Args:
        file: the path, or an `io.BytesIO` that holds the file's content.
        crc_check: compare the tensors with the checksum in the metadata, if it has one.

    Raises:
        ValueError: if the file is damaged or holds a type dist_ms does not have.
    """
    from safetensors import SafetensorError, safe_open

    try:
        if isinstance(file, str):
            with safe_open(file, framework="np") as content:
                yield from _entries(content.keys(), _reader(content, file), content.metadata(), crc_check)
        else:
            yield from _entries_in_memory(file.getvalue(), crc_check)
    except (SafetensorError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the content cannot be parsed as safetensors: {error}") from None


def _reader(content: Any, path: str) -> Callable[[str], np.ndarray]:
    """What reads a tensor of an open file, also of types that NumPy has from ml_dtypes only."""
    whole: list[Callable[[str], np.ndarray]] = []

    def tensor_of(name: str) -> np.ndarray:
        try:
            return content.get_tensor(name)
        except AttributeError:
            if not whole:
                with open(path, "rb") as file:
                    whole.append(_tensors_of(file.read()))
            return whole[0](name)

    return tensor_of


def _tensors_of(data: bytes) -> Callable[[str], np.ndarray]:
    """What gives a tensor of the content of a file."""
    from safetensors import deserialize

    tensors = dict(deserialize(data))
    types = {text: dtype.np for dtype, text in _TYPES.items()}

    def tensor_of(name: str) -> np.ndarray:
        tensor = tensors[name]
        if tensor["dtype"] not in types:
            raise ValueError(f"'{name}' has the type {tensor['dtype']}, which dist_ms does not have")
        array = np.frombuffer(bytearray(tensor["data"]), types[tensor["dtype"]])
        return array.reshape(tensor["shape"])

    return tensor_of


def _entries_in_memory(data: bytes, crc_check: bool) -> Iterator[tuple[str, np.ndarray | str]]:
    """Like `read_entries`, from the content of a file."""
    tensor_of = _tensors_of(data)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    names = [name for name in header if name != _METADATA]
    yield from _entries(names, tensor_of, header.get(_METADATA), crc_check)


def _entries(
    names: Iterable[str],
    tensor_of: Callable[[str], np.ndarray],
    metadata: dict[str, str] | None,
    crc_check: bool,
) -> Iterator[tuple[str, np.ndarray | str]]:
    """Yield what is in a file, after a look at the checksum if that is asked for."""
    metadata = metadata or {}
    names = sorted(names)
    stored = metadata.get("crc_num")
    if crc_check and stored is None:
        _log.warning("The safetensors file has no checksum, so there is none to check.")
    elif crc_check:
        for exact in (False, True):
            if stored == str(tensors_crc(((name, tensor_of(name)) for name in names), exact)):
                break
        else:
            raise ValueError("the crc check has failed: the tensors are not those that were saved")
    texts = {key.removeprefix(_TEXT_PREFIX): text for key, text in metadata.items() if key.startswith(_TEXT_PREFIX)}
    for name in sorted({*names, *texts}):
        yield name, texts[name] if name in texts else _known(name, tensor_of(name))


def _known(name: str, array: np.ndarray) -> np.ndarray:
    """Check that dist_ms has an array's type and that its values are of that type."""
    try:
        mstype.from_numpy(array.dtype)
    except TypeError:
        raise ValueError(f"'{name}' has the type {array.dtype}, which dist_ms does not have") from None
    check_bool_bytes(name, array)
    return array

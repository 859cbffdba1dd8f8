"""The files of a saved run: written aside and synced, read by parts, every part with its checksum."""

from __future__ import annotations

import errno
import json
import os
import stat
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from dist_ms.common.atomic_file import replacing
from dist_ms.train.checkpoint.safetensors_format import write_entries
from dist_ms.train.state.manifest import DamagedState, Part, Written, type_named

_MODE = 0o600
_LONGEST_HEADER = 1 << 30
_STORED = {"BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4, "F32": 4}
_STORED |= {"I64": 8, "U64": 8, "F64": 8}


def write_arrays(path: str, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Write arrays to a safetensors file, and return the CRC-32 of each one's bytes.

    Args:
        path: the file.
        arrays: by name, in C order; what safetensors has no type for is stored as bytes.
    """
    stored = {name: _storable(array) for name, array in arrays.items()}
    with replacing(path, _MODE) as file:
        for piece in write_entries(stored.items()):
            file.write(piece)
    return {name: crc32_of(array) for name, array in arrays.items()}


def crc32_of(array: np.ndarray) -> int:
    """Return the CRC-32 of an array's bytes in C order."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def write_text(path: str, text: str) -> None:
    """Write a text file in one step."""
    with replacing(path, _MODE) as file:
        file.write(text.encode())


def open_file(path: str) -> BinaryIO:
    """Open a file to read it; neither a device nor a pipe, which might have no end or make this process wait.

    Raises:
        OSError: if it is missing or something else.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file", path)
    return os.fdopen(descriptor, "rb")


def file_sum(path: str) -> tuple[int, int]:
    """Return a file's length and CRC-32."""
    length = crc = 0
    with open_file(path) as file:
        while block := file.read(1 << 22):
            length, crc = length + len(block), zlib.crc32(block, crc)
    return length, crc


class ArraysFile:
    """A file that `write_arrays` wrote.

    Args:
        folder: where it is.
        written: what the manifest says of it.

    Raises:
        DamagedState: if it is missing, or holds something else.
    """

    def __init__(self, folder: str, written: Written) -> None:
        self._path, self._parts = os.path.join(folder, written.file), {p.name: p for p in written.parts}
        try:
            with open_file(self._path) as file:
                size = os.fstat(file.fileno()).st_size
                self._offsets = self._read_header(file, size)
        except OSError as error:
            raise DamagedState(f"{written.file} cannot be read: {error.strerror}") from None

    def read(self, name: str) -> np.ndarray:
        """Return a part's elements, one after the other.

        Raises:
            DamagedState: if they are not those that were saved.
        """
        part = self._parts[name]
        try:
            data = np.fromfile(self._path, np.uint8, part.nbytes, offset=self._offsets[name])
        except (OSError, ValueError) as error:
            raise DamagedState(f"'{name}' cannot be read: {error}") from None
        if data.size != part.nbytes or zlib.crc32(data.data) != part.crc32:
            raise DamagedState(
                f"'{name}' in {os.path.basename(self._path)} is not what was saved: its checksum differs"
            )
        return data.view(type_named(part.dtype))

    def _read_header(self, file: Any, size: int) -> dict[str, int]:
        """Return where each part begins, after a look whether that can be."""
        length = int.from_bytes(file.read(8), "little")
        name = os.path.basename(self._path)
        if not 2 <= length <= min(_LONGEST_HEADER, size - 8):
            raise DamagedState(f"{name} is cut off or no safetensors file")
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            found = {key: _place(entry, size - 8 - length) for key, entry in header.items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise DamagedState(f"the header of {name} is damaged") from None
        for part in self._parts.values():
            if part.name not in found or found[part.name][1] != part.nbytes:
                raise DamagedState(f"{name} does not have '{part.name}' as the manifest says")
        return {key: 8 + length + place[0] for key, place in found.items()}


def _place(entry: dict, size: int) -> tuple[int, int]:
    """Return the place and the length of an entry of a header."""
    start, stop = entry["data_offsets"]
    count = _STORED[entry["dtype"]]
    for side in entry["shape"]:
        count *= side
    if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start <= stop <= size and stop - start == count):
        raise ValueError
    return start, stop - start


def _storable(array: np.ndarray) -> np.ndarray:
    """Return an array as safetensors can hold it."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "c" or array.dtype.byteorder == ">":
        return array.reshape(-1).view(np.uint8)
    return array


def part_of(name: str, array: np.ndarray, whole: tuple | None, own: bool) -> Part:
    """Return the facts of an array; its checksum comes when it is written.

    Args:
        name: the tensor's.
        array: what this rank has of it.
        whole: the whole's shape, start and stop; None: the array is whole.
        own: other ranks have other values by this name.
    """
    shape, start, stop = (array.shape, 0, array.size) if whole is None else whole
    return Part(name, array.dtype.name, tuple(shape), start, stop, own, 0)

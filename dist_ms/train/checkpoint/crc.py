"""The CRC32 that MindSpore adds to a checkpoint to notice damage by accident.

A `.ckpt` file ends with the word `crc_num` and the checksum of all bytes before it, as a
ten-byte big-endian number. A safetensors file has it as decimal text in its metadata; there
it covers each tensor's name and bytes, in the order of the names.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np

from dist_ms.train.checkpoint.sources import Source

_WORD = b"crc_num"
_DIGITS = 10
TRAILER_BYTES = len(_WORD) + _DIGITS
_ZEROS = bytes(1 << 16)
_LARGEST_SCALAR = 1 << 24


def with_trailer(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Pass the pieces of a `.ckpt` file on and add the checksum trailer."""
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
        yield piece
    yield _WORD + crc.to_bytes(_DIGITS, "big")


def find_trailer(file: BinaryIO) -> tuple[int, int | None]:
    """Return the number of bytes before the trailer and the checksum in it, or None without one."""
    size = file.seek(0, os.SEEK_END)
    if size < TRAILER_BYTES:
        return size, None
    file.seek(size - TRAILER_BYTES)
    tail = file.read(TRAILER_BYTES)
    if not tail.startswith(_WORD):
        return size, None
    return size - TRAILER_BYTES, int.from_bytes(tail[len(_WORD) :], "big")


class Checksummed:
    """A source that adds up the CRC32 of what is read from it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.crc = 0

    @property
    def remaining(self) -> int:
        """At most this many bytes are left."""
        return self._source.remaining

    def read(self, count: int) -> bytes:
        """Read up to `count` bytes."""
        data = self._source.read(count)
        self.crc = zlib.crc32(data, self.crc)
        return data


def tensors_crc(arrays: Iterable[tuple[str, np.ndarray]], exact: bool = False) -> int:
    """Return the checksum of a safetensors file's tensors, given in the order of their names.

    MindSpore feeds a 0-D integer of value n to the checksum as n zero bytes, not as its own
    bytes, and refuses other sums. So does this; with `exact`, and for scalars MindSpore itself
    fails on (negative or huge), every tensor counts by its bytes.
    """
    crc = 0
    for name, array in arrays:
        crc = zlib.crc32(name.encode("utf-8", "surrogatepass"), crc)
        if not exact and array.ndim == 0 and array.dtype.kind in "iu" and 0 <= array <= _LARGEST_SCALAR:
            for start in range(0, int(array), len(_ZEROS)):
                crc = zlib.crc32(_ZEROS[: int(array) - start], crc)
        else:
            crc = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, crc)
    return crc

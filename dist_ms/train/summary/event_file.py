"""TensorBoard's event files: records with checksums, each an Event message of protocol buffers."""

from __future__ import annotations

import os
import socket
import struct
import time
import zlib
from typing import BinaryIO

import numpy as np

__all__ = ["EventFile"]

# The number of a histogram's buckets.
BUCKETS = 30


def _crc_table() -> list[int]:
    """Bytes' remainders of CRC-32C (Castagnoli)."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    """The checksum that a record carries: CRC-32C, rotated and shifted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def png(image: np.ndarray) -> bytes:
    """A PNG file of an image (H, W, 1 or 3) of bytes."""
    height, width, channels = image.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


class EventFile:
    """One event file, open for writing.

    Args:
        folder: where it stands; made when it is missing.
        prefix: how its name begins.
        suffix: how its name ends.

    Examples:
        >>> import tempfile
        >>> file = EventFile(tempfile.mkdtemp(), "events", "_run")
        >>> file.scalar("loss", 0.5, 1)
        >>> file.close()
    """

    def __init__(self, folder: str, prefix: str, suffix: str) -> None:
        os.makedirs(folder, exist_ok=True)
        name = f"{prefix}.out.tfevents.{time.time():.6f}.{os.getpid()}.{socket.gethostname()}{suffix}"
        self.path = os.path.join(folder, name)
        self._file: BinaryIO = open(self.path, "wb")
        self._event(_bytes(3, b"brain.Event:2"))

    def _event(self, what: bytes, step: int = 0) -> None:
        event = _double(1, time.time()) + _number(2, step) + what
        length = struct.pack("<Q", len(event))
        parts = (length, struct.pack("<I", masked_crc(length)), event, struct.pack("<I", masked_crc(event)))
        self._file.write(b"".join(parts))

    def _value(self, name: str, content: bytes, step: int) -> None:
        self._event(_bytes(5, _bytes(1, _bytes(1, name.encode()) + content)), step)

    def scalar(self, name: str, value: float, step: int) -> None:
        """Write one number, as float32."""
        self._value(name, _varint(2 << 3 | 5) + struct.pack("<f", value), step)

    def image(self, name: str, images: np.ndarray, step: int) -> None:
        """Write images (N, 1 or 3, H, W): bytes, or floats of which 1 is white; several are numbered."""
        if images.dtype != np.uint8:
            images = (np.clip(images, 0, 1) * 255).round().astype(np.uint8)
        for i, image in enumerate(images.transpose(0, 2, 3, 1)):
            height, width, channels = image.shape
            form = _number(1, height) + _number(2, width) + _number(3, channels)
            self._value(f"{name}/{i}" if len(images) > 1 else name, _bytes(4, form + _bytes(4, png(image))), step)

    def histogram(self, name: str, values: np.ndarray, step: int) -> None:
        """Write how finite values are distributed."""
        values = values[np.isfinite(values)].astype(np.float64).ravel()
        if values.size == 0:
            values = np.zeros(1)
        counts, edges = np.histogram(values, BUCKETS)
        sums = (values.min(), values.max(), values.size, values.sum(), np.square(values).sum())
        content = b"".join(_double(i + 1, float(v)) for i, v in enumerate(sums))
        content += _bytes(6, edges[1:].astype("<f8").tobytes()) + _bytes(7, counts.astype("<f8").tobytes())
        self._value(name, _bytes(5, content), step)

    def flush(self) -> None:
        """Have the file hold what was written."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

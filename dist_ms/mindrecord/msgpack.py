"""The part of MessagePack that rows of MindRecord use: maps from text to numbers and text."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

_SIGNED = ((0xD0, ">b", 7), (0xD1, ">h", 15), (0xD2, ">i", 31), (0xD3, ">q", 63))
# What follows the first byte of a number.
_NUMBERS = {
    0xCA: struct.Struct(">f"),
    0xCB: struct.Struct(">d"),
    0xCC: struct.Struct(">B"),
    0xCD: struct.Struct(">H"),
    0xCE: struct.Struct(">I"),
    0xCF: struct.Struct(">Q"),
    **{code: struct.Struct(form) for code, form, _ in _SIGNED},
}
# The bytes of the length that follows; binary data and text, lists, maps.
_TEXT_LENGTHS = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC4: 1, 0xC5: 2, 0xC6: 4}
_LIST_LENGTHS, _MAP_LENGTHS = {0xDC: 2, 0xDD: 4}, {0xDE: 2, 0xDF: 4}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def packed(row: Mapping[str, Any]) -> bytes:
    """A row's numbers and text as one map, keys in order."""
    out = bytearray(_headed(len(row), 0x80, 16, {2: 0xDE, 4: 0xDF}))
    for key in sorted(row):
        out += _packed_text(key)
        out += _packed_value(row[key])
    return bytes(out)


def _packed_value(value: Any) -> bytes:
    if isinstance(value, str):
        return _packed_text(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if -32 <= value < 128:
        return struct.pack(">b", value) if value < 0 else bytes((value,))
    for code, form, bits in _SIGNED:
        if -(1 << bits) <= value < 1 << bits:
            return bytes((code,)) + struct.pack(form, value)
    raise OverflowError(f"{value} has more than 64 bits")


def _packed_text(text: str) -> bytes:
    encoded = text.encode()
    return _headed(len(encoded), 0xA0, 32, {1: 0xD9, 2: 0xDA, 4: 0xDB}) + encoded


def _headed(length: int, fixed: int, limit: int, codes: dict[int, int]) -> bytes:
    """The head of text or a map of some length."""
    if length < limit:
        return bytes((fixed | length,))
    size = next(size for size in codes if length < 1 << 8 * size)
    return bytes((codes[size],)) + length.to_bytes(size, "big")


def unpacked(data: bytes) -> Any:
    """What `data` holds.

    Raises:
        ValueError: if it is cut short, or no MessagePack.
    """
    try:
        value, end = _value(data, 0)
    except (IndexError, struct.error, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"a row's numbers and text cannot be read: {error}") from None
    if end != len(data):
        raise ValueError(f"a row's numbers and text end after {end} of {len(data)} bytes")
    return value


def _value(data: bytes, at: int) -> tuple[Any, int]:
    """The value that begins at a place, and where it ends."""
    head = data[at]
    at += 1
    if head < 0x80:
        return head, at
    if 0xA0 <= head < 0xC0:
        return _text(data, at, head & 0x1F)
    if head >= 0xE0:
        return head - 256, at
    number = _NUMBERS.get(head)
    if number is not None:
        return number.unpack_from(data, at)[0], at + number.size
    if head < 0x90:
        return _map(data, at, head & 0x0F)
    if head < 0xA0:
        return _list(data, at, head & 0x0F)
    if head in _CONSTANTS:
        return _CONSTANTS[head], at
    for lengths, read in ((_TEXT_LENGTHS, _text), (_LIST_LENGTHS, _list), (_MAP_LENGTHS, _map)):
        if head in lengths:
            end = at + lengths[head]
            value, after = read(data, end, int.from_bytes(data[at:end], "big"))
            return (value.encode() if 0xC4 <= head <= 0xC6 else value), after
    raise ValueError(f"a row's numbers and text hold the unknown code {head:#x}")


def _text(data: bytes, at: int, length: int) -> tuple[str, int]:
    end = at + length
    if end > len(data):
        raise IndexError("text is cut short")
    return data[at:end].decode(), end


def _list(data: bytes, at: int, length: int) -> tuple[list, int]:
    values = []
    for _ in range(length):
        value, at = _value(data, at)
        values.append(value)
    return values, at


def _map(data: bytes, at: int, length: int) -> tuple[dict, int]:
    pairs = {}
    for _ in range(length):
        key, at = _value(data, at)
        pairs[key], at = _value(data, at)
    return pairs, at

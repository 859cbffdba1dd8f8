"""Arrays of integers in as few bytes each as its value needs, as MindRecord stores them.

number of integers (4 bytes, big-endian) | 2 bits each: 1, 2, 4 or 8 bytes | the integers, little-endian
"""

from __future__ import annotations

import numpy as np

from dist_ms._ext.narrow_integers import widen

_COUNT_BYTES = 4
_SHIFTS = np.array([6, 4, 2, 0], np.uint8)


def narrowed(values: np.ndarray) -> bytes:
    """The stored form of an array of integers."""
    wide = np.ascontiguousarray(values, "<i8").reshape(-1)
    codes = np.zeros(len(wide), np.uint8)
    for bits in (7, 15, 31):
        codes += (wide < -(1 << bits)) | (wide >= 1 << bits)
    quarters = np.zeros(-(-len(wide) // 4) * 4, np.uint8)
    quarters[: len(wide)] = codes
    sizes_map = np.bitwise_or.reduce(quarters.reshape(-1, 4) << _SHIFTS, axis=1)
    data = wide.view(np.uint8).reshape(-1, 8)[np.arange(8) < (1 << codes)[:, None]]
    return len(wide).to_bytes(_COUNT_BYTES, "big") + sizes_map.tobytes() + data.tobytes()


def widened(stored: bytes | memoryview, dtype: str) -> np.ndarray:
    """The array of a stored form.

    Raises:
        ValueError: if the lengths contradict each other.
    """
    values = widen(stored, dtype)
    if values is None:
        count = int.from_bytes(stored[:_COUNT_BYTES], "big")
        raise ValueError(f"{count} integers are announced, which do not end with the last of {len(stored)} bytes")
    return values

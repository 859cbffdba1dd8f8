"""The hash of memory: every single difference changes it, and it is what its twin says."""

import numpy as np
import pytest

from dist_ms._ext.hashing import hash_memory

FACTOR, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def take(value, word):
    """A hash after one more word."""
    value = ((value ^ word) * FACTOR) & MASK
    return value ^ (value >> 32)


def twin(data, start=0):
    """The same in Python's integers."""
    total, whole = start, len(data) // 256 * 256
    lanes = list(range(1, 33))
    for i, word in enumerate(data[:whole].view("<u8").tolist()):
        lanes[i % 32] = take(lanes[i % 32], word)
    for value in lanes:
        total = take(total, value)
    for at in range(whole, len(data), 8):
        total = take(total, int.from_bytes(data[at : at + 8].tobytes(), "little"))
    return take(total, len(data))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 255, 256, 257, 511, 512, 800, 4099])
def test_equals_its_twin(size):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    assert hash_memory(data) == twin(data)
    assert hash_memory(data, 2**64 - 5) == twin(data, 2**64 - 5)


def test_every_bit_counts():
    data = np.random.default_rng(0).integers(0, 256, 331, dtype=np.uint8)
    found = {hash_memory(data)}
    for byte in range(len(data)):
        for bit in range(8):
            data[byte] ^= 1 << bit
            found.add(hash_memory(data))
            data[byte] ^= 1 << bit
    assert len(found) == 1 + 8 * len(data)


def test_differences_do_not_cancel():
    """Sign bits of two weights, two words swapped, one difference at several places."""
    data = np.random.default_rng(1).integers(0, 256, 600, dtype=np.uint8)
    found = {hash_memory(data)}
    count = 1
    words = data.view(np.uint64)
    for i in range(75):
        for j in range(i):
            signs, swapped = words.copy(), words.copy()
            signs[[i, j]] ^= np.uint64(1 << 63)
            swapped[[i, j]] = swapped[[j, i]]
            found |= {hash_memory(signs.view(np.uint8)), hash_memory(swapped.view(np.uint8))}
            count += 2
    assert len(found) == count


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (np.zeros(4, np.float32), TypeError),
        (np.zeros((2, 2), np.uint8), ValueError),
        (np.zeros(8, np.uint8)[::2], ValueError),
    ],
)
def test_wrong_arrays_are_refused(data, kind):
    with pytest.raises(kind, match="hash_memory"):
        hash_memory(data)

# cython: boundscheck=False, wraparound=False, cdivision=True
"""Integers of MindRecord files, each stored in 1, 2, 4 or 8 bytes."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy

cnp.import_array()

ctypedef fused integer:
    int32_t
    int64_t


cdef Py_ssize_t fill(const uint8_t[::1] stored, Py_ssize_t at, integer[::1] values) noexcept nogil:
    """Write the integers that begin at a place; return where they end, or -1 if that is after the last byte."""
    cdef Py_ssize_t i, n = values.shape[0], end = stored.shape[0]
    cdef int size
    cdef int8_t one
    cdef int16_t two
    cdef int32_t four
    cdef int64_t eight
    for i in range(n):
        size = 1 << (stored[4 + i // 4] >> (6 - 2 * (i % 4)) & 3)
        if at + size > end:
            return -1
        if size == 1:
            memcpy(&one, &stored[at], 1)
            values[i] = one
        elif size == 2:
            memcpy(&two, &stored[at], 2)
            values[i] = two
        elif size == 4:
            memcpy(&four, &stored[at], 4)
            values[i] = <integer> four
        else:
            memcpy(&eight, &stored[at], 8)
            values[i] = <integer> eight
        at += size
    return at


def widen(const uint8_t[::1] stored not None, str dtype):
    """Return the int32 or int64 array of a stored form; None if its lengths contradict each other.

    >>> widen(bytes.fromhex("00000002" "10" "05" "0001"), "int32").tolist()
    [5, 256]
    """
    cdef Py_ssize_t n, start, end
    if stored.shape[0] < 4:
        return None
    n = (<Py_ssize_t> stored[0] << 24) + (stored[1] << 16) + (stored[2] << 8) + stored[3]
    start = 4 + (n + 3) // 4
    if start + n > stored.shape[0]:
        return None
    result = np.empty(n, dtype)
    if dtype == "int32":
        end = fill[int32_t](stored, start, result)
    else:
        end = fill[int64_t](stored, start, result)
    return result if end == stored.shape[0] else None

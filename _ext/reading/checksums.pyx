# cython: boundscheck=False, wraparound=False
"""CRC-32C, the checksum of TensorFlow's files of records, by the processor's own instruction."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef extern from "nmmintrin.h" nogil:
    uint64_t _mm_crc32_u64(uint64_t, uint64_t)
    uint32_t _mm_crc32_u8(uint32_t, uint8_t)


def crc32c(const uint8_t[::1] data not None):
    """Return the checksum of some bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    cdef uint64_t crc = 0xFFFFFFFF, word
    cdef Py_ssize_t i = 0, n = data.shape[0]
    with nogil:
        while i + 8 <= n:
            memcpy(&word, &data[i], 8)
            crc = _mm_crc32_u64(crc, word)
            i += 8
        while i < n:
            crc = _mm_crc32_u8(<uint32_t> crc, data[i])
            i += 1
    return <uint32_t> crc ^ <uint32_t> 0xFFFFFFFF


def masked(const uint8_t[::1] data not None):
    """Return the checksum as the files have it: turned by 15 bits, plus a constant.

    >>> hex(masked(b"123456789"))
    '0xc78ab0e5'
    """
    cdef uint32_t crc = crc32c(data)
    return <uint32_t> ((crc >> 15 | crc << 17) + <uint32_t> 0xA282EAD8)

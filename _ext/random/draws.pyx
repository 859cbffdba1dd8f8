"""Numbers of one of NumPy's generators of bits, drawn without its Python-level checks."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint64_t

cdef extern from "numpy/random/bitgen.h":  # not NumPy's .pxd, which would load numpy.random
    ctypedef struct bitgen_t:
        void *state
        uint64_t (*next_raw)(void *state) nogil

cdef enum:
    LOW_BITS = 0x7FFFFFFF


def key(bits):
    """A number of 62 bits: the low 31 of one raw number, then those of the next.

    Args:
        bits: a `numpy.random.BitGenerator` whose raw numbers have at least so many bits.

    >>> from numpy.random import MT19937
    >>> raw = MT19937(1).random_raw(2) & 0x7FFFFFFF
    >>> key(MT19937(1)) == int(raw[0]) << 31 | int(raw[1])
    True
    """
    cdef bitgen_t *generator = <bitgen_t *> PyCapsule_GetPointer(bits.capsule, "BitGenerator")
    cdef unsigned long long high, low
    with bits.lock:
        high = generator.next_raw(generator.state) & LOW_BITS
        low = generator.next_raw(generator.state) & LOW_BITS
    return high << 31 | low

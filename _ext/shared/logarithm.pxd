"""Natural logarithms of normal float32 numbers, without a branch or a call, for loops that become vectors."""

cdef extern from "logarithm.h" nogil:
    # log(x) of an x in the normal range, to 0.9 units in the last place.
    float normal_logarithm "dm_normal_logarithm"(float x) noexcept nogil

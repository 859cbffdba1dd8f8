"""Numbers per size of images of 1 to 3 sizes, which stand last where there are fewer."""

cdef enum:
    AXES = 3  # Images of fewer have sizes of 1 before their own.


cdef inline int read_numbers(
    str kernel, str name, object numbers, Py_ssize_t least, int rank, Py_ssize_t filler, Py_ssize_t *to
) except -1:
    """Read a number per size, and a filler for those that are not there."""
    cdef int axis
    if len(numbers) != rank or min(numbers) < least:
        raise ValueError(f"For '{kernel}', '{name}' must be {rank} numbers of {least} or more, but got {numbers}.")
    for axis in range(AXES):
        to[axis] = numbers[axis - AXES + rank] if axis >= AXES - rank else filler
    return 0

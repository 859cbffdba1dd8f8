"""The number of OpenMP threads, shared with oneDNN: both use the process's one libgomp."""

cimport openmp


cdef extern from *:
    const char *DIST_MS_ISA


cdef int asked = openmp.omp_get_max_threads()


def get_num_threads():
    """Return how many threads the next kernel call of this Python thread may use.

    >>> get_num_threads() >= 1
    True
    """
    return openmp.omp_get_max_threads()


def set_num_threads(number):
    """Let kernels called by this Python thread use up to `number` OpenMP threads.

    Raises:
        TypeError: `number` is not an int.
        ValueError: `number` is not positive.

    >>> before = get_num_threads()
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(before)
    """
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(
            f"For 'set_num_threads', 'number' must be an int, but got {type(number).__name__}."
        )
    if number < 1:
        raise ValueError(f"For 'set_num_threads', 'number' must be positive, but got {number}.")
    global asked
    asked = number
    openmp.omp_set_num_threads(number)


def asked_num_threads():
    """Return how many threads `set_num_threads` asked for; before it, how many there are by default.

    >>> asked_num_threads() >= get_num_threads()
    True
    """
    return asked


def use_fewer_threads(number):
    """Run some threads only, at most as many as were asked for; `set_num_threads` ends it.

    >>> use_fewer_threads(1)
    >>> get_num_threads()
    1
    >>> use_fewer_threads(asked_num_threads())
    """
    openmp.omp_set_num_threads(max(1, min(number, asked)))


def isa():
    """Return "v2", "v3" or "v4": the x86-64 level that the kernels in use were compiled for.

    >>> isa() in ("v2", "v3", "v4")
    True
    """
    return DIST_MS_ISA.decode()

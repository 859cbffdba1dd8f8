"""A limit on the time of what may hang in compiled code."""


cdef extern from "time_limit.h":
    ctypedef struct time_limit_state:
        pass

    time_limit_state *time_limit_begin(double, int, const char *) nogil
    void time_limit_end(time_limit_state *) nogil


cdef class TimeLimit:
    """Ends this process when what stands in its `with` takes longer, whoever holds the interpreter's lock.

    Args:
        seconds: from the moment it is made.
        code: the exit code then.
        words: what is written to the error output then.

    Raises:
        OSError: if there is no thread to be had.

    >>> with TimeLimit(3600.0, 1, b"Still here."):
    ...     print("soon done")
    soon done
    """

    cdef time_limit_state *state

    def __cinit__(self, double seconds, int code, bytes words):
        self.state = time_limit_begin(seconds, code, words)
        if self.state == NULL:
            raise OSError("The limit has got no thread.")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.state != NULL:
            time_limit_end(self.state)
        self.state = NULL

    def __dealloc__(self):
        if self.state != NULL:
            time_limit_end(self.state)

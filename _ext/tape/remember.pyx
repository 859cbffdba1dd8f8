# cython: boundscheck=False, wraparound=False
"""Functions of options that remember what they returned, so that options are checked once and not at every call."""

cimport cython
from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact

cdef enum:
    MOST = 256  # Results one function remembers; then it begins anew.
    KINDS = 8


cdef bint are_ints(tuple values) noexcept:
    """Whether there are only ints, and tuples of them: these are equal only if they have the same types."""
    cdef object value
    for value in values:
        if not PyLong_CheckExact(value) and not (PyTuple_CheckExact(value) and are_ints(<tuple> value)):
            return False
    return True


cdef int kind_of(object value) noexcept:
    """A number per type of options, as 1, 1.0 and True are equal but not the same; 0 for other types."""
    if PyLong_CheckExact(value):
        return 1
    if PyUnicode_CheckExact(value):
        return 2
    if value is None:
        return 3
    if PyBool_Check(value):
        return 4
    if PyFloat_CheckExact(value):
        return 5
    if PyTuple_CheckExact(value):
        return 6 if are_ints(<tuple> value) else 0
    return 0


@cython.auto_pickle(False)
cdef class remembered:
    """Decorator: a function of options, called with positional arguments, that remembers its results.

    Remembered are calls whose arguments are ints, floats, bools, strings, None, or tuples of ints or
    of such tuples. With other arguments the function runs at every call, and errors are raised at
    every call. Who calls it must not change what it returns.

    Attributes:
        function: the function itself.

    >>> @remembered
    ... def checked(stride):
    ...     print("checks", stride)
    ...     return stride
    >>> checked((1, 2)), checked((1, 2)), checked([1, 2])
    checks (1, 2)
    checks [1, 2]
    ((1, 2), (1, 2), [1, 2])
    """

    cdef readonly object function
    cdef dict known
    cdef object __weakref__

    def __init__(self, function):
        self.function, self.known = function, {}

    def __call__(self, *args):
        cdef object value, found
        cdef tuple key
        cdef unsigned long long code = 1
        cdef int kind
        for value in args:
            kind = kind_of(value)
            if kind == 0:
                return self.function(*args)
            code = code * KINDS + kind
        key = code, args
        found = self.known.get(key, self)
        if found is self:
            found = self.function(*args)
            if len(self.known) >= MOST:
                self.known.clear()
            self.known[key] = found
        return found

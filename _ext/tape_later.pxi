# Arrays that are made later. A tensor waits at most until the next operation: either that one joins,
# making its own result in the same pass over memory, or the array is made before it starts, unless
# nobody has the tensor any more. Whoever reads or writes any tensor's array comes through
# `Value._data` and has them all made first, so none is made from numbers that changed meanwhile.

cdef list waiting = None


cdef int make(Value x) except -1:
    """Make the array of a tensor."""
    cdef Later later = x._later
    cdef object data = later.array()
    if x.held is None:
        x.held = data
        x._later = x._shape = x._dtype = None
    return 0


cdef int settle() except -1:
    """Make the arrays of the tensors that wait, but for those that only wait."""
    global waiting
    cdef list tensors = waiting
    cdef Value x
    waiting = None
    for i in range(len(tensors)):
        x = <Value> tensors[i]
        if x._later is not None and Py_REFCNT(x) > 2:  # the list's and `x` itself
            make(x)
    return 0


cdef int wait(Value x, Later later) except -1:
    """Let a tensor wait for its array."""
    global waiting
    x._later, x._shape, x._dtype = later, later.shape, later.dtype
    if waiting is None:
        waiting = []
    waiting.append(x)
    return 0


def postponed(Later later):
    """A tensor whose array is made later."""
    cdef Value t = bare()
    if waiting is not None:
        settle()
    wait(t, later)
    return t


cdef object join(object primitive, tuple inputs, bint *traced, PyObject **part):
    """What an operation makes of inputs of which one waits; None, and nothing waits, if it has to run as usual."""
    cdef object out = None, x
    cdef Value value
    if getattr(primitive, "joins", None):
        for x in inputs:
            if isinstance(x, Value):
                value = <Value> x
                traced[0] |= value._node is not None
                if value._part is not None:
                    part[0] = <PyObject *> value._part
                if out is None and value._later is not None:
                    out = value._later.joined(primitive, inputs)
    if out is None and waiting is not None:
        settle()
    return out

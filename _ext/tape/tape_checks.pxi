# What operations ask of the tensors they are given, answered without making a shape or running Python code.

cdef enum:
    DIMENSIONS = 64


cdef Py_ssize_t lengths_of(object x, cnp.npy_intp *room, const cnp.npy_intp **lengths) except -2:
    """How many dimensions a tensor or a shape has, and their lengths, perhaps in `room`; -1 if it is none of ints."""
    cdef Py_ssize_t i, n
    cdef object shape = x
    if isinstance(x, Value):
        shape = (<Value> x).held
        if cnp.PyArray_Check(shape):
            lengths[0] = cnp.PyArray_DIMS(<cnp.ndarray> shape)
            return cnp.PyArray_NDIM(<cnp.ndarray> shape)
        shape = (<Value> x).shape
    if type(shape) is not tuple or len(<tuple> shape) > DIMENSIONS:
        return -1
    n = len(<tuple> shape)
    for i in range(n):
        if type((<tuple> shape)[i]) is not int:
            return -1
        room[i] = (<tuple> shape)[i]
    lengths[0] = room
    return n


def wanted(x):
    """Whether a gradient with respect to an input leads anywhere.

    >>> wanted(formless((2,), None)), wanted(1.0)
    (False, False)
    """
    return isinstance(x, Value) and (<Value> x)._node is not None


def holds_floats(x):
    """Whether x is a tensor or an array of real floating-point numbers, bfloat16 included.

    >>> holds_floats(numpy.ones(1)), holds_floats(numpy.ones(1, int)), holds_floats(1.0)
    (True, False, False)
    """
    return are_floats(x)


cdef bint are_floats(object x) except -1:
    cdef object data = x
    cdef char kind
    if isinstance(x, Value):
        data = (<Value> x).held
    if cnp.PyArray_Check(data):
        kind = (<cnp.ndarray> data).descr.kind
    elif isinstance(x, Value) and (<Value> x)._element is not None:
        kind = (<cnp.dtype> (<Value> x)._element).kind
    else:
        return False
    return kind == c"f" or kind == c"V"


def agree(x, Py_ssize_t least, Py_ssize_t most, Py_ssize_t first, Py_ssize_t last, *others):
    """Whether x is a tensor of floats that is not empty, and others have the lengths of some of its dimensions.

    False says no more than that somebody has to look why.

    Args:
        x: the tensor.
        least, most: numbers of dimensions that it may have.
        first, last: the others have its dimensions from one up to another; from the end if negative,
            but for a `last` that is larger than their number.
        others: tensors, or tuples, which stand for a shape.

    >>> x, v = formless((4, 2, 3), numpy.dtype("f4")), formless((3,), None)
    >>> agree(x, 2, 3, -1, 64, v, (3,)), agree(x, 2, 3, 1, 2, v), agree(x, 4, 4, -1, 64, v), agree(x, 0, 9, -4, 64, v)
    (True, False, False, False)
    """
    cdef cnp.npy_intp room[DIMENSIONS]
    cdef cnp.npy_intp other_room[DIMENSIONS]
    cdef const cnp.npy_intp *lengths = NULL
    cdef const cnp.npy_intp *found = NULL
    cdef Py_ssize_t n, i
    if not isinstance(x, Value) or not are_floats(x):
        return False
    n = lengths_of(x, room, &lengths)
    if n < least or n > most:
        return False
    for i in range(n):
        if lengths[i] < 1:
            return False
    if first < 0:
        first += n
    last = min(last, n)
    if first < 0 or last < first:
        return False
    for other in <tuple> others:
        if lengths_of(other, other_room, &found) != last - first:
            return False
        for i in range(last - first):
            if found[i] != lengths[first + i]:
                return False
    return True

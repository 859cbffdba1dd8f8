# Arrays that are made later: the contract.
#
# A tensor may have a `Later` in the place of its array. It knows shape and dtype, so those ask for
# nothing. Nobody can tell it from a tensor that has its array: not by a bit, an error or an order.
#
# Who makes the array: whoever asks first. `Value._data` is the one way to it, for operations, text,
#     copies, pickles, saved values, hooks and in-place operations. `_held` and `has_data` look only.
# Who may do without: an operation that says what it `joins` and that the Later knows makes its own
#     result in the same pass over memory (`joined`), a gradient by asking for `_later` itself, an
#     optimizer likewise. The tensor still waits then: who reads it afterwards has its array made.
# How long it waits, by what it is made of:
#   - arrays that others can reach: until the next operation, or until anybody asks for any tensor's
#     array, as that may be to write there. What nobody has any more by then is never made.
#   - arrays of `Source`s alone: as long as it likes. A Source has taken a tensor's array that
#     nobody else has; who asks that tensor for it has what depends on it made first. Memory that is
#     lent to tensors counts as nobody's, as its owner calls `make_lent` before writing there.
# What is recorded: the operation that was called, with its own inputs. So gradients of any order,
#     hooks and recomputed calls know nothing of this. A saved value has its array.
# Threads: one that comes while another makes arrays waits until they are there; so does a fork.
#
# A new use is a subclass with `array()`, perhaps `joined()`, which `forward` returns or `postponed`
# takes. `array()` reads arrays and no tensors.

cdef list waiting = None
cdef object making = RLock()
register_at_fork(before=making.acquire, after_in_parent=making.release, after_in_child=making.release)
cdef object on_lent_memory = weakref.WeakSet()


@cython.auto_pickle(False)
cdef class Later:
    """How the array of a tensor is made once it is needed.

    A subclass has `array()`.

    Attributes:
        shape, dtype: of the array.
    """

    cdef readonly object shape, dtype

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def joined(self, primitive, inputs):
        """What a primitive that `joins` makes of inputs, this one not made: an array, a Later; None: make it first."""
        return None


@cython.auto_pickle(False)
cdef class Source(Later):
    """An array that was taken from its tensor because others depend on it; gives it back after those are made.

    Attributes:
        values: the array. Only to be read, and before anything else happens.
        lent: whether its memory is somebody's who calls `make_lent`.
    """

    cdef readonly object values
    cdef readonly bint lent
    cdef object dependents

    def __init__(self, values, lent):
        Later.__init__(self, values.shape, values.dtype)
        self.values, self.lent, self.dependents = values, lent, weakref.WeakSet()

    def array(self):
        """The array."""
        make_all(self.dependents)
        return self.values


cdef int make_all(object tensors) except -1:
    for x in tuple(tensors):
        if (<Value> x)._later is not None:
            make(<Value> x)
    return 0


cdef int make(Value x) except -1:
    """Make the array of a tensor."""
    cdef Later later
    cdef object data
    with making:
        later = x._later
        if later is not None:
            data = later.array()
            if x._later is later:
                x.held = data
                x._later = x._shape = x._dtype = None
    return 0


cdef int settle() except -1:
    """Make the arrays of the tensors that wait, but for those that only wait."""
    global waiting
    cdef list tensors
    cdef Value x
    cdef Py_ssize_t i = 0
    with making:
        tensors = waiting
        while tensors is not None and i < len(tensors):
            x = <Value> tensors[i]
            i += 1
            if x._later is not None and Py_REFCNT(x) > 2:  # the list's and `x` itself
                make(x)
        waiting = None
    return 0


cdef inline int put(Value x, Later later) except -1:
    """Give a tensor a Later in the place of its array."""
    x.held = None
    x._later, x._shape, x._dtype = later, later.shape, later.dtype
    return 0


cdef int wait(Value x, Later later) except -1:
    """Let a tensor wait for its array until the next operation."""
    global waiting
    put(x, later)
    if waiting is None:
        waiting = []
    waiting.append(x)
    return 0


def postponed(Later later, *sources):
    """A tensor whose array is made later.

    Args:
        later: how.
        sources: the Sources whose arrays it is made of, if it is made of no others; it may wait long then.
    """
    cdef Value t = bare()
    if sources:
        put(t, later)
        for source in sources:
            (<Source?> source).dependents.add(t)
            if (<Source> source).lent:
                on_lent_memory.add(t)
        return t
    if waiting is not None:
        settle()
    wait(t, later)
    return t


def source_of(Value x):
    """The Source that a tensor's array is from now on; None if somebody else has that array or may reach its memory."""
    cdef object lent
    if type(x._later) is Source:
        return x._later
    if type(x) is not Tensor or x._data is None:
        return None
    lent = x.__dict__.get("lent")
    if not is_only(x, lent):
        return None
    put(x, Source(x.held, lent is not None))
    return x._later


def lend(x):
    """Say that a tensor's array is a view of memory whose owner calls `make_lent` before writing there.

    Args:
        x: the tensor, which is returned.
    """
    x.lent = x._data.base
    return x


def make_lent():
    """Make the arrays of all tensors that depend on lent memory."""
    make_all(on_lent_memory)
    on_lent_memory.clear()


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

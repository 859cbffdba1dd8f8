# The gate: runs an operation and, when a gradient asks, records it.

cdef inline Value result_of(object out, PyObject *part):
    cdef Value t = bare()
    if type(out) is cnp.ndarray:
        t.held = out
    elif isinstance(out, Later):
        wait(t, <Later> out)
    else:
        t.held = as_array(out)
    if part != NULL:
        t._part = <object> part
    return t


cdef object forward_of(object primitive, tuple inputs, bint *traced, PyObject **part):
    """What the primitive's `forward` makes of the arrays; whether an input has a history, or is a rank's part."""
    cdef Py_ssize_t n = len(inputs), i, held = 0
    cdef PyObject *args[MOST + 1]
    cdef object x
    cdef Value value
    if n > MOST:
        arrays = []
        for x in inputs:
            if isinstance(x, Value):
                value = <Value> x
                traced[0] |= value._node is not None
                if value._part is not None:
                    part[0] = <PyObject *> value._part
                x = x.array() if value.held is None else value.held
                value.reached = True  # a result may be a view of it
            elif not arrays and type(x) is cnp.ndarray:
                raise primitive.array_given()
            arrays.append(x)
        return primitive.forward(*arrays)
    args[0] = <PyObject *> primitive
    try:
        for i in range(n):
            x = inputs[i]
            if isinstance(x, Value):
                value = <Value> x
                traced[0] |= value._node is not None
                if value._part is not None:
                    part[0] = <PyObject *> value._part
                x = x.array() if value.held is None else value.held
                value.reached = True  # a result may be a view of it
            elif i == 0 and type(x) is cnp.ndarray:  # our own gradients give arrays in later places
                raise primitive.array_given()
            Py_INCREF(x)
            args[i + 1] = <PyObject *> x
            held = i + 1
        return PyObject_VectorcallMethod("forward", args, n + 1, NULL)
    finally:
        for i in range(1, held + 1):
            Py_DECREF(<object> args[i])


def apply(primitive, *inputs):
    """Run an operation on tensors and plain values, recording it when a gradient asks.

    Returns:
        A Tensor, or a tuple of them when the primitive's forward returns a tuple.
    """
    return gate(primitive, inputs)


@cython.auto_pickle(False)
cdef class Gate:
    """What can be called with the inputs of an operation: a primitive.

    >>> Gate().__call__.__name__
    '__call__'
    """

    def __call__(self, *args, **kwargs):
        if kwargs:
            args = self.arguments(args, kwargs)
        return gate(self, args)


cdef inline bint is_operand(object x):
    """Whether a binary operation takes this as it is."""
    return isinstance(x, Value) or type(x) is float or type(x) is int


@cython.auto_pickle(False)
cdef class BinaryGate(Gate):
    """The same of a primitive of two inputs that broadcast, `input` and `other`.

    Its method `operands` brings inputs of other kinds into form, and `mismatch` gives the error to
    raise instead of a ValueError of `forward`.
    """

    def __call__(self, input, other):
        if not (is_operand(input) and is_operand(other) and (isinstance(input, Value) or isinstance(other, Value))):
            input, other = self.operands(input, other)
        try:
            return gate(self, (input, other))
        except ValueError as error:
            raise self.mismatch(input, other, error) from None


# What is called now and then between two operations: see `look_every`.
cdef long long BETWEEN = 16  # operations between two looks at the clock
cdef long long NEVER = 4611686018427387904
cdef long long until_look = NEVER
cdef double look_seconds = 0, next_look = 0
cdef object looker = None


def look_every(double seconds, function):
    """Have a function called about every so many seconds, before an operation; None: no more.

    It runs on the thread that runs the operation, and must run none itself.

    >>> look_every(0.0, None)
    """
    global until_look, look_seconds, next_look, looker
    looker, look_seconds, next_look = function, seconds, 0
    until_look = NEVER if function is None else 0


cdef int look() except -1:
    global until_look, next_look
    cdef double now = monotonic()
    until_look = NEVER if looker is None else BETWEEN
    if looker is not None and now >= next_look:
        next_look = now + look_seconds
        looker()
    return 0


cdef object gate(object primitive, tuple inputs):
    global until_look
    cdef State state = current()
    cdef bint traced = False
    cdef PyObject *part = NULL
    cdef object out
    cdef Value result
    until_look -= 1
    if until_look < 0:
        look()
    if state.policy is not None:
        out = state.policy(primitive, inputs)
        if isinstance(out, Value):
            return out
        inputs = tuple(out)
    out = None if waiting is None else join(primitive, inputs, &traced, &part)
    if out is None:
        out = forward_of(primitive, inputs, &traced, &part)
    if type(out) is tuple:
        results = tuple([result_of(o, part) for o in <tuple> out])
        if traced and state.tape is not None:
            record_many(primitive, inputs, results, state.tape)
        if state.observer is not None:
            state.observer(primitive, inputs, results)
        return results
    result = result_of(out, part)
    if traced and state.tape is not None:
        record_one(primitive, inputs, result, state.tape)
    if state.observer is not None:
        state.observer(primitive, inputs, result)
    return result


# The tuples of the numbers of the bits that are set in a number, which nodes share.
cdef tuple places_of = tuple([tuple([i for i in range(6) if mask >> i & 1]) for mask in range(64)])


cdef inline bint keeps_place(object keeps, Py_ssize_t i) except -1:
    """Whether an operation that `keeps` so saves the data of an input."""
    if keeps is None:
        return True
    if type(keeps) is not tuple:
        return i in keeps
    for place in <tuple> keeps:
        if <Py_ssize_t> place == i:
            return True
    return False


cdef tuple save(object primitive, tuple inputs, Tape tape):
    """The inputs of an operation as its node keeps them; None if it makes no node."""
    cdef object keeps, x
    cdef Py_ssize_t i, n = len(inputs)
    cdef Value value, t
    cdef tuple saved
    cdef bint kept
    if not primitive.differentiable:
        return None
    if tape.watched is not None:
        tape.watched.see(inputs)
        if tape.watched is tape:
            return None
    keeps = primitive.keeps
    saved = PyTuple_New(n)
    for i in range(n):
        x = <object> inputs[i]
        if isinstance(x, Value):
            value = <Value> x
            kept = keeps_place(keeps, i)
            t = shadow(value, kept)
            if kept and type(x) is not Tensor:
                remember_kept(tape, t)
            if value._node is not None and value._node.tape is tape:
                t._node, t._index = value._node, value._index
            x = t
        Py_INCREF(x)
        PyTuple_SET_ITEM(saved, i, x)
    return saved


cdef int remember_kept(Tape tape, Value saved) except -1:
    """Add an alias of a Parameter to those of the tape, and now and then drop those that no node has any more."""
    cdef list kept = tape.kept, alive
    cdef PyObject *item
    cdef Py_ssize_t i
    kept.append(saved)
    if len(kept) > tape.room:
        alive = []
        for i in range(len(kept)):
            item = PyList_GET_ITEM(kept, i)
            if reference_count(item) > 1:
                alive.append(<object> item)
        kept[:] = alive
        tape.room = max(LEAST_ROOM, 2 * len(alive))
    return 0


cdef tuple traced_places(tuple saved):
    """The indices of the saved inputs that have a history."""
    cdef Py_ssize_t i, n = len(saved)
    cdef unsigned mask = 0
    cdef object x
    if n > 6:
        return tuple([i for i, x in enumerate(saved) if isinstance(x, Value) and (<Value> x)._node is not None])
    for i in range(n):
        x = <object> saved[i]
        if isinstance(x, Value) and (<Value> x)._node is not None:
            mask |= 1 << i
    return <tuple> places_of[mask]


cdef int record_one(object primitive, tuple inputs, Value result, Tape tape) except -1:
    """Make the node of an operation that ran and tie its result to it."""
    cdef tuple saved = save(primitive, inputs, tape)
    cdef tuple live
    cdef object output
    cdef Node node
    live = nothing if saved is None else traced_places(saved)
    if not live:
        return 0
    if primitive.keeps_output:
        output = shadow(result, True)
    elif result.held is None:
        output = result._shape, result._dtype
    else:
        output = shape_of(result.held), type_of(result.held)
    node = new_node(primitive, saved, output, 0, live, tape)
    result._node = node
    if tape.pack is not None:
        tape.pack.pack(node)
    return 0


cdef int record_many(object primitive, tuple inputs, tuple results, Tape tape) except -1:
    """The same for an operation with several results."""
    cdef tuple saved = save(primitive, inputs, tape)
    cdef tuple live
    cdef bint keep_output
    cdef Node node
    cdef Value r
    cdef Py_ssize_t i
    live = nothing if saved is None else traced_places(saved)
    if not live:
        return 0
    keep_output = primitive.keeps_output
    outputs = tuple([shadow(<Value> x, keep_output) for x in results])
    node = new_node(primitive, saved, outputs, len(results), live, tape)
    for i in range(len(results)):
        r = <Value> results[i]
        r._node, r._index = node, i
    if tape.pack is not None:
        tape.pack.pack(node)
    return 0

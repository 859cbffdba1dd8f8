# cython: boundscheck=False, wraparound=False
"""The gate every operation passes, what it reads of a tensor, and the nodes it records.

What the names mean stands in `dist_ms/autograd/tape.py`. Of what lies above only the class of
the tensors is known, told by `know`: a subclass of `Value`.
"""

import weakref

import numpy

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF

cnp.import_array()

cdef extern from "Python.h":
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyThreadState_Get() noexcept
    unsigned long long PyThreadState_GetID(PyThreadState *) noexcept
    PyObject *PyThreadState_GetDict() noexcept
    object PyObject_VectorcallMethod(object name, PyObject **args, size_t nargsf, PyObject *names)

cdef enum:
    MOST = 12  # inputs of an operation that is called without a list of them

cdef object as_array = numpy.asarray
cdef type Tensor = None
cdef tuple nothing = ()
cdef unsigned long long orders = 0


def know(type tensor):
    """Tell the class of the tensors that operations return: once, before the first operation."""
    global Tensor
    if not issubclass(tensor, Value):
        raise TypeError(f"For 'know', 'tensor' must be a subclass of Value, but got {tensor.__name__}.")
    Tensor = tensor


@cython.auto_pickle(False)
cdef class Value:
    """The part of a tensor that every operation reads and sets.

    Attributes:
        _data: its array, None if it has none.
        _shape, _dtype: shape and dtype of a tensor without data.
        _node: the graph node that made this value; None outside gradients.
        _index: which of the node's outputs it is.

    >>> Value()._node is None
    True
    """

    cdef public object _data, _shape, _dtype
    cdef public Node _node
    cdef public Py_ssize_t _index


# ---- what is being recorded, per thread

@cython.auto_pickle(False)
cdef class State:
    """One thread's part of `recording`."""

    cdef object tape
    cdef Py_ssize_t depth
    cdef bint refused, rerunning, rows
    cdef object written, policy, tapes
    cdef dict places

    def __cinit__(self):
        self.tapes = weakref.WeakSet()
        self.places = {}

    def __dealloc__(self):
        global latest
        if latest == <PyObject *> self:
            latest = NULL


cdef PyObject *latest = NULL
cdef unsigned long long latest_thread = 0


cdef State find_state(unsigned long long thread):
    global latest, latest_thread
    cdef PyObject *found = PyThreadState_GetDict()
    if found == NULL:
        raise RuntimeError("An operation needs a thread that Python knows.")
    cdef dict own = <dict> found
    cdef State state = own.get("dist_ms.recording")
    if state is None:
        state = own["dist_ms.recording"] = State()
    latest, latest_thread = <PyObject *> state, thread
    return state


cdef inline State current():
    """The state of this thread; the one used last is at hand, as threads change seldom."""
    cdef unsigned long long thread = PyThreadState_GetID(PyThreadState_Get())
    if latest != NULL and thread == latest_thread:
        return <State> latest
    return find_state(thread)


@cython.auto_pickle(False)
cdef class Recording:
    """What is being recorded, per thread.

    Attributes:
        tape: the tape operations are recorded on; None when nothing is recorded.
        depth: the number of gradient computations whose function is running.
        refused: inside a `no_grad` region, where gradients cannot be taken.
        rerunning: a recomputed function runs for the second time.
        written: during such a run, the Parameters it wrote: (parameter, array, old values) by id.
        policy: called with (primitive, inputs) before every operation; returns the inputs to run
            on, or the result if it ran the operation itself: mixed precision casts. None outside
            such regions.
        rows: a sweep that runs may give the gradient of any table that was looked up as a
            RowTensor, because who asked for it takes one as the dense gradient it stands for.
        tapes: the tapes in use.
        places: where a sweep wants the gradients of some nodes (dist_ms/autograd/places.py).
        on: whether operations on traced tensors are recorded.
    """

    @property
    def tape(self):
        return current().tape

    @tape.setter
    def tape(self, value):
        current().tape = value

    @property
    def depth(self):
        return current().depth

    @depth.setter
    def depth(self, Py_ssize_t value):
        current().depth = value

    @property
    def refused(self):
        return current().refused

    @refused.setter
    def refused(self, bint value):
        current().refused = value

    @property
    def rerunning(self):
        return current().rerunning

    @rerunning.setter
    def rerunning(self, bint value):
        current().rerunning = value

    @property
    def written(self):
        return current().written

    @written.setter
    def written(self, value):
        current().written = value

    @property
    def policy(self):
        return current().policy

    @policy.setter
    def policy(self, value):
        current().policy = value

    @property
    def rows(self):
        return current().rows

    @rows.setter
    def rows(self, bint value):
        current().rows = value

    @property
    def tapes(self):
        return current().tapes

    @property
    def places(self):
        return current().places

    @property
    def on(self):
        return current().tape is not None


recording = Recording()


@cython.auto_pickle(False)
cdef class Tape:
    """What the nodes of one outermost gradient have in common.

    Attributes:
        kept: the aliases of Parameters whose data nodes saved.
        pack: the innermost saved-tensor hooks, None without any.
        watched: a Watch that wants to know which outer tensors are read, or None.
    """

    cdef public list kept
    cdef public object pack, watched
    cdef object __weakref__

    def __init__(self, watched=None):
        self.kept = []
        self.watched = watched
        current().tapes.add(self)


@cython.auto_pickle(False)
@cython.freelist(256)
cdef class Node:
    """One recorded operation: what made a value, and from which values.

    Attributes:
        primitive: has `gradient(inputs, output, dout)`; None for a leaf or a released node.
        inputs: the call's arguments, tensors as aliases (without data where not needed).
        output: the output alias or tuple of them, kept for the gradient; of one output whose data
            is not kept, its shape and dtype alone.
        width: number of outputs; 0 means one output that is no tuple.
        live: indices of the inputs that are traced.
        tape: the tape it was recorded on.
        order: grows from node to node.
        hooks: per output index, a dict of functions that see and may replace its gradient.
        packed: what saved-tensor hooks made of saved data, with the way back.
        special: its gradient is asked even if none arrives, and gets None where none arrived.
        after: a node to run after this one even if no gradient reaches it.
    """

    cdef public object primitive, output, live, hooks, packed, after
    cdef public tuple inputs
    cdef public Tape tape
    cdef public Py_ssize_t width
    cdef public bint special
    cdef readonly unsigned long long order
    cdef object __weakref__

    def __cinit__(self):
        global orders
        self.order = orders
        orders += 1

    def __init__(self, primitive, tuple inputs, output, Py_ssize_t width, live=(), Tape tape=None):
        self.primitive, self.inputs, self.output, self.width = primitive, inputs, output, width
        self.live, self.tape = live, tape

    cpdef release(self):
        """Drop what only the gradient needs."""
        self.primitive = self.output = self.packed = self.after = None
        self.inputs = self.live = nothing


cdef inline Node new_node(
    object primitive, tuple inputs, object output, Py_ssize_t width, object live, Tape tape
):
    cdef Node node = Node.__new__(Node)
    node.primitive, node.inputs, node.output, node.width = primitive, inputs, output, width
    node.live, node.tape = live, tape
    return node


cdef inline Value bare():
    """A tensor without anything."""
    return <Value> (<PyTypeObject *> Tensor).tp_new(Tensor, <PyObject *> nothing, NULL)


def wrap(array):
    """A tensor of an array, which is not copied."""
    cdef Value t = bare()
    t._data = array
    return t


cdef inline Value shadow(Value x, bint keep_data):
    """A tensor of the same value, or of the same shape and dtype alone, without history."""
    cdef Value t = bare()
    cdef object data = x._data
    if data is None:
        t._shape, t._dtype = x._shape, x._dtype
    elif keep_data:
        t._data = data
    elif cnp.PyArray_Check(data):
        t._shape, t._dtype = data.shape, <object> cnp.PyArray_DESCR(<cnp.ndarray> data)
    else:
        t._shape, t._dtype = data.shape, data.dtype
    return t


def alias(Value x, bint keep_data=True, Tape tape=None):
    """The value of `x` now, as a tensor of its own.

    Args:
        x: a tensor.
        keep_data: False leaves shape and dtype only.
        tape: keep the history only if it is on this tape; None keeps it anyway.
    """
    cdef Value t = shadow(x, keep_data)
    if x._node is not None and (tape is None or x._node.tape is tape):
        t._node, t._index = x._node, x._index
    return t


def tensor_at(data, Node node, Py_ssize_t index=0):
    """A tensor of `data` whose history is `node`."""
    cdef Value t = bare()
    t._data, t._node, t._index = data, node, index
    return t


def kept_output(Value result, bint keep_data):
    """A result as its node keeps it, without history (that would be a cycle)."""
    return shadow(result, keep_data)


def formless(shape, dtype):
    """A tensor that has a shape and a dtype, but no data."""
    cdef Value t = bare()
    t._shape, t._dtype = shape, dtype
    return t


# ---- the gate

cdef inline Value result_of(object out):
    cdef Value t = bare()
    t._data = out if type(out) is cnp.ndarray else as_array(out)
    return t


cdef object forward_of(object primitive, tuple inputs, bint *traced):
    """What the primitive's `forward` makes of the arrays; whether an input has a history."""
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
                x = x.array() if value._data is None else value._data
            arrays.append(x)
        return primitive.forward(*arrays)
    args[0] = <PyObject *> primitive
    try:
        for i in range(n):
            x = inputs[i]
            if isinstance(x, Value):
                value = <Value> x
                traced[0] |= value._node is not None
                x = x.array() if value._data is None else value._data
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


cdef object gate(object primitive, tuple inputs):
    cdef State state = current()
    cdef bint traced = False
    cdef object out
    cdef Value result
    if state.policy is not None:
        out = state.policy(primitive, inputs)
        if isinstance(out, Value):
            return out
        inputs = tuple(out)
    out = forward_of(primitive, inputs, &traced)
    if type(out) is tuple:
        results = tuple([result_of(o) for o in <tuple> out])
        if traced and state.tape is not None:
            record_many(primitive, inputs, results, state.tape)
        return results
    result = result_of(out)
    if traced and state.tape is not None:
        record_one(primitive, inputs, result, state.tape)
    return result


cdef list save(object primitive, tuple inputs, Tape tape, list live):
    """The inputs of an operation as its node keeps them, and in `live` which are traced; None if it makes no node."""
    cdef object keeps, x
    cdef Py_ssize_t i
    cdef Value value, t
    cdef bint all_kept, none_kept
    if not primitive.differentiable:
        return None
    if tape.watched is not None:
        tape.watched.see(inputs)
        if tape.watched is tape:
            return None
    keeps = primitive.keeps
    all_kept = keeps is None
    none_kept = not all_kept and type(keeps) is tuple and not (<tuple> keeps)
    saved = []
    for i in range(len(inputs)):
        x = inputs[i]
        if isinstance(x, Value):
            value = <Value> x
            if all_kept or (not none_kept and i in keeps):
                t = shadow(value, True)
                if type(x) is not Tensor:
                    tape.kept.append(t)
            else:
                t = shadow(value, False)
            if value._node is not None and value._node.tape is tape:
                t._node, t._index = value._node, value._index
                live.append(i)
            x = t
        saved.append(x)
    return saved if live else None


cdef int record_one(object primitive, tuple inputs, Value result, Tape tape) except -1:
    """Make the node of an operation that ran and tie its result to it."""
    cdef list live = []
    cdef list saved = save(primitive, inputs, tape, live)
    cdef object output, data
    cdef Node node
    if saved is None:
        return 0
    data = result._data
    if primitive.keeps_output:
        output = bare()
        (<Value> output)._data = data
    else:
        output = data.shape, <object> cnp.PyArray_DESCR(<cnp.ndarray> data)
    node = new_node(primitive, tuple(saved), output, 0, live, tape)
    result._node = node
    if tape.pack is not None:
        tape.pack.pack(node)
    return 0


cdef int record_many(object primitive, tuple inputs, tuple results, Tape tape) except -1:
    """The same for an operation with several results."""
    cdef list live = []
    cdef list saved = save(primitive, inputs, tape, live)
    cdef bint keep_output
    cdef Node node
    cdef Value r
    cdef Py_ssize_t i
    if saved is None:
        return 0
    keep_output = primitive.keeps_output
    outputs = tuple([shadow(<Value> x, keep_output) for x in results])
    node = new_node(primitive, tuple(saved), outputs, len(results), live, tape)
    for i in range(len(results)):
        r = <Value> results[i]
        r._node, r._index = node, i
    if tape.pack is not None:
        tape.pack.pack(node)
    return 0


include "tape_sweep.pxi"

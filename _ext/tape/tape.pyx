# cython: boundscheck=False, wraparound=False
"""The gate every operation passes, what it reads of a tensor, and the nodes it records.

What the names mean stands in `dist_ms/autograd/tape.py`. Of what lies above only the class of
the tensors is known, told by `know`: a subclass of `Value`.
"""

import weakref
from os import register_at_fork
from threading import RLock

import numpy

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_REFCNT
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdlib cimport free, malloc, qsort

cnp.import_array()

cdef extern from *:
    """
    #include <time.h>
    static inline double dm_monotonic(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
    }
    """
    double monotonic "dm_monotonic"() noexcept nogil

cdef extern from "Python.h":
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyThreadState_Get() noexcept
    unsigned long long PyThreadState_GetID(PyThreadState *) noexcept
    PyObject *PyThreadState_GetDict() noexcept
    Py_ssize_t reference_count "Py_REFCNT"(PyObject *) noexcept
    PyObject *PyList_GET_ITEM(list, Py_ssize_t) noexcept
    object PyObject_VectorcallMethod(object name, PyObject **args, size_t nargsf, PyObject *names)

cdef enum:
    MOST = 12  # inputs of an operation that is called without a list of them
    LEAST_ROOM = 256

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


cdef inline object shape_of(object data):
    """The shape of what a tensor holds."""
    if cnp.PyArray_Check(data):
        return cnp.PyArray_IntTupleFromIntp(cnp.PyArray_NDIM(<cnp.ndarray> data), cnp.PyArray_DIMS(<cnp.ndarray> data))
    return data.shape


cdef inline object type_of(object data):
    """The NumPy dtype of what a tensor holds."""
    return <object> cnp.PyArray_DESCR(<cnp.ndarray> data) if cnp.PyArray_Check(data) else data.dtype


cdef class Later


@cython.auto_pickle(False)
cdef class Value:
    """The part of a tensor that every operation reads and sets.

    Attributes:
        _data: its array, made now if it is made later; None if it has none.
        _held: the same, but None if it is made later, and what is made later stays so.
        held: the latter, for compiled code; `reached` says that Python code had it since.
        low: the array rounded to another type (see `low_copy`); `asked` says that it was needed.
        _shape, _dtype: shape and dtype of a tensor without data.
        _node: the graph node that made this value; None outside gradients.
        _index: which of the node's outputs it is.
        _later: how its array will be made (see tape_later.pxi); None if it is there.
        _part: a RankPart if other ranks have other parts of the value, or values of their own; None
            if it is the same on all ranks. What operations make of it has it too.

    >>> Value()._node is None
    True
    """

    cdef object held, low
    cdef bint reached, asked
    cdef readonly Later _later
    cdef public object _shape, _dtype, _part
    cdef public Node _node
    cdef public Py_ssize_t _index

    @property
    def _data(self):
        return data_of(self)

    @_data.setter
    def _data(self, data):
        if self._later is not None:
            self._later = self._shape = self._dtype = None
        self.reached = True
        self.held = data

    def array(self):
        """The NumPy array behind the tensor, made now if it is lazy. Inside the package only."""
        if data_of(self) is None:
            return self._materialise()
        return data_of(self)

    @property
    def _held(self):
        self.reached = True
        return self.held

    @property
    def shape(self):
        """The length of each dimension; -1 where it is unknown."""
        return self._shape if self.held is None else shape_of(self.held)

    @property
    def ndim(self):
        """The number of dimensions."""
        if cnp.PyArray_Check(self.held):
            return cnp.PyArray_NDIM(<cnp.ndarray> self.held)
        return len(self.shape)

    @property
    def _element(self):
        """The NumPy dtype of its elements; like the shape, it asks for no array."""
        return self._dtype if self.held is None else type_of(self.held)


cdef object data_of(Value x):
    """The array of a tensor, for who may write into it; None if it has none."""
    if waiting is not None:
        settle()  # what waits may be made from this very array
    if x._later is not None:
        make(x)
    x.reached = True
    return x.held


include "tape_later.pxi"
include "tape_recording.pxi"


cdef struct Link:  # tapes in use are a chain that does not keep them
    PyObject *tape
    Link *before
    Link *after


cdef Link *last_tape = NULL


@cython.auto_pickle(False)
cdef class Tape:
    """What the nodes of one outermost gradient have in common.

    Attributes:
        kept: the aliases of Parameters whose data nodes saved.
        pack: the innermost saved-tensor hooks, None without any.
        watched: a Watch that wants to know which outer tensors are read, or None.
    """

    cdef public list kept
    cdef Py_ssize_t room  # aliases up to which `kept` is not looked through for those that are not needed
    cdef public object pack, watched
    cdef Link link
    cdef object __weakref__

    def __cinit__(self):
        global last_tape
        self.link.tape, self.link.before, self.link.after = <PyObject *> self, last_tape, NULL
        if last_tape != NULL:
            last_tape.after = &self.link
        last_tape = &self.link

    def __dealloc__(self):
        global last_tape
        if self.link.before != NULL:
            self.link.before.after = self.link.after
        if self.link.after != NULL:
            self.link.after.before = self.link.before
        else:
            last_tape = self.link.before

    def __init__(self, watched=None):
        self.kept = []
        self.room = LEAST_ROOM
        self.watched = watched


cdef list tapes_in_use():
    """The tapes of all threads that somebody has."""
    cdef list found = []
    cdef Link *at = last_tape
    while at != NULL:
        if reference_count(at.tape) > 0:  # one whose parts are being freed is still in the chain
            found.append(<object> at.tape)
        at = at.before
    return found


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
    cdef unsigned long long plan  # the number of the last sweep's plan that has come here
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


@cython.auto_pickle(False)
@cython.freelist(64)
cdef class Kept:
    """A place where a forward leaves something for the gradient, besides inputs and outputs.

    Passed as an input; it is freed with the node.

    >>> Kept().value is None
    True
    """

    cdef public object value


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
    t.held = array
    return t


cdef inline Value shadow(Value x, bint keep_data):
    """A tensor of the same value, or of the same shape and dtype alone, without history."""
    cdef Value t = bare()
    cdef object data
    if keep_data and x._later is not None:
        make(x)
    data = x.held
    if data is None:
        t._shape, t._dtype = x._shape, x._dtype
    elif keep_data:
        t.held = data
    else:
        t._shape, t._dtype = shape_of(data), type_of(data)
    return t


def alias(Value x, bint keep_data=True, Tape tape=None):
    """The value of `x` now, as a tensor of its own.

    Args:
        x: a tensor.
        keep_data: False leaves shape and dtype only.
        tape: keep the history only if it is on this tape; None keeps it anyway.
    """
    cdef Value t = shadow(x, keep_data)
    if keep_data:
        x.reached = True
    if x._node is not None and (tape is None or x._node.tape is tape):
        t._node, t._index = x._node, x._index
    return t


def tensor_at(data, Node node, Py_ssize_t index=0):
    """A tensor of `data` whose history is `node`."""
    cdef Value t = bare()
    t.held, t._node, t._index = data, node, index
    return t


def kept_output(Value result, bint keep_data):
    """A result as its node keeps it, without history (that would be a cycle)."""
    return shadow(result, keep_data)


def is_only(Value x, lent=None):
    """Whether nobody but this tensor can reach its array's memory, or nobody but the owner of `lent`.

    Args:
        x: a tensor with data.
        lent: an array whose owner says when it writes to it, or None.
    """
    return alone(x, <PyObject *> lent)


cdef bint alone(Value x, PyObject *lent, Py_ssize_t holders=1) noexcept:
    """Whether so many hold a tensor's array, itself among them, and nobody else its memory.

    References are counted where no Python code that was given the array is running: what it holds
    while it runs differs from one version of the interpreter to the next.
    """
    cdef PyObject *array = <PyObject *> x.held
    cdef PyObject *base
    if not cnp.PyArray_Check(x.held) or reference_count(array) != holders:
        return False
    while True:
        base = <PyObject *> cnp.PyArray_BASE(<cnp.ndarray> array)
        if base == NULL or base == lent:
            return True
        if not cnp.PyArray_Check(<object> base) or reference_count(base) != 1:
            return False
        array = base


@cython.binding(True)
def preserve(Value x):
    """Before the array of a Parameter is written: give values saved for a gradient a copy of it."""
    guard(x)


def written(Value x):
    """The array of a tensor that is about to be written, after `preserve` of a Parameter; None if it has none."""
    if type(x) is not Tensor:
        guard(x)
    x.reached = True
    return x.held


cdef int guard(Value x) except -1:
    cdef bint unsaved = alone(x, <PyObject *> None)  # a long recording need not be searched then
    cdef State state = current()
    x.reached = True
    if state.written is not None and id(x) not in state.written:
        state.written[id(x)] = x, x.held, x.held.copy(order="K")
    if not unsaved:
        separate(x.held)
    return 0


def separate(data):
    """Give the saved values of Parameters that are this very array a copy of it."""
    cdef object copy = None
    cdef Value t
    for tape in tapes_in_use():
        for t in (<Tape> tape).kept:
            if t.held is data:
                if copy is None:
                    copy = data.copy(order="K")
                t._data = copy


def has_data(Value x):
    """Whether a tensor has data, be it made later, for who must not reach its array."""
    return x.held is not None or x._later is not None


def low_copy(Value x):
    """The array of a tensor rounded to another type, as `set_low_copy` left it; None if that may be out of date.

    It is out of date as soon as anything could have written to the array: any code but the
    compiled gate that has had it since, through the tensor or an operation on it.
    """
    if x.reached:
        return None
    x.asked = True
    return x.low


def wants_low_copy(Value x, lent=None):
    """Where who writes the array now is to write the rounded values too; None: nowhere.

    `lent` is an array whose owner says when it writes to it, or None.

    Nowhere if nobody asked for them since the last time; if others have the array, who could write
    to it unseen; or if others have the rounded values, who need the old ones.
    """
    if x.low is None or not x.asked or not is_only(x, lent) or reference_count(<PyObject *> x.low) != 1:
        x.low = None
    x.asked = False
    return x.low


def set_low_copy(Value x, copy):
    """Say that `copy` is the tensor's array, rounded, as it is now."""
    x.low, x.reached = copy, False


def ask_for_low_copy(Value x, copy):
    """Have who writes the tensor's array next write the rounded values too, over those of `copy`."""
    x.low, x.asked, x.reached = copy, True, True


def formless(shape, dtype):
    """A tensor that has a shape and a dtype, but no data."""
    cdef Value t = bare()
    t._shape, t._dtype = shape, dtype
    return t


include "tape_checks.pxi"
include "tape_gate.pxi"
include "tape_sweep.pxi"

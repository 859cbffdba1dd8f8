# cython: cdivision=True, boundscheck=False, wraparound=False
"""Universal functions of NumPy on all threads: their inner loops, called for blocks of the arrays.

A ufunc holds one loop per type, which needs no GIL for bools, integers, floats and complex numbers.
`apply` finds the loop, makes the result in the memory order of the operands and calls the loop for
fixed blocks; what it has no loop or no layout for goes to the ufunc itself. 16-bit floats are computed
with in float32, tile by tile. No element warns.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cython.parallel cimport prange

import numpy

from arrays cimport is_dense
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length
from rows cimport BFLOAT16, FLOAT16, FLOAT32, Matrix, Number, is_bfloat16, put_back, widened

from dist_ms._ext.quiet import quiet

cnp.import_array()
cnp.import_ufunc()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewLikeArray(cnp.ndarray prototype, cnp.NPY_ORDER order, cnp.PyArray_Descr *descr, int subok)
    object PyArray_NewFromDescr(
        cnp.PyTypeObject *subtype, cnp.PyArray_Descr *descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
        void *data, int flags, object obj)

cdef extern from "numpy/ufuncobject.h":
    # NumPy's declarations for Cython have no `types` from 2.5 on; the header has.
    ctypedef struct Function "PyUFuncObject":
        int nin, nout, nargs, ntypes
        const char *types
        cnp.PyUFuncGenericFunction *functions
        void **data

cdef extern from "narrow_loops.h" nogil:
    ctypedef void (*InnerLoop "dm_narrow_loop")(
        char **places, const cnp.npy_intp *sizes, const cnp.npy_intp *steps, void *data
    ) noexcept nogil
    ctypedef struct Entry "dm_narrow_entry":
        const char *name
        InnerLoop loop
    Entry[0] NARROW_ENTRIES "dm_narrow_entries"
    int NARROW_COUNT "DM_NARROW_ENTRIES"

cdef extern from "Python.h":
    PyObject *PyDict_GetItem(object dictionary, object key)

cdef enum:
    # Three inputs and a result.
    MOST_OPERANDS = 4
    MOST_AXES = 12
    # 16-bit floats that are widened at once: a few KB, which the L1 cache holds.
    TILE = 1024
    TYPES = cnp.NPY_CDOUBLE + 1
    # Elements below which dropping the GIL costs more than it gives.
    LEAST_FREE = 4096

# Functions whose loops take no longer than their memory. An element of another one is worth two of these, in float64
# and of those in `DEAR` four times as many.
CHEAP = {
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "conjugate", "copysign", "divide", "equal",
    "fabs", "floor", "fmax", "fmin", "greater", "greater_equal", "invert", "isfinite", "isinf", "isnan", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
    "negative", "not_equal", "positive", "reciprocal", "rint", "sign", "signbit", "sqrt", "square", "subtract", "trunc",
    # Of our own.
    "absolute_difference", "absolute_difference_gradient", "bits_reciprocal", "bits_rsqrt", "bits_sqrt",
    "bits_square", "bits_to_int", "bits_to_long", "clamp", "cube", "divide_add", "finite", "frac", "lerp",
    "multiply_add", "parametric_relu", "parametric_relu_gradient", "rsqrt", "select", "smooth_l1", "smooth_l1_slope",
    "squared_difference", "squared_difference_gradient", "to_bool", "to_double", "to_float", "to_int", "to_long",
}

DEAR = {"arctan2", "erfc", "float_power", "logaddexp", "logaddexp2", "power"}

cdef struct Plan:
    InnerLoop loop
    void *data
    int operands, axes
    # Whether some operands are 16-bit floats; how they are stored, FLOAT32 for all others.
    bint narrow
    Number stored[MOST_OPERANDS]
    char *places[MOST_OPERANDS]
    # Along the innermost axis, and along those around it, the slowest first.
    cnp.npy_intp inner
    cnp.npy_intp steps[MOST_OPERANDS]
    cnp.npy_intp rows
    cnp.npy_intp lengths[MOST_AXES]
    cnp.npy_intp strides[MOST_OPERANDS][MOST_AXES]


cdef class Loops:
    """The loops of one ufunc."""

    cdef cnp.ufunc owner
    cdef Function *function
    cdef Py_ssize_t cost
    # The loop of operands that are all bfloat16, side by side or one number; NULL for none.
    cdef InnerLoop narrow
    # The loop of operands that are all of one type, by that type; -1 for none.
    cdef int uniform[TYPES]

    def __cinit__(self, cnp.ufunc owner):
        cdef int index, kind, i
        cdef Function *function = <Function *> owner
        cdef const char *types = function.types
        cdef str name = owner.__name__
        self.owner, self.function = owner, function
        self.cost = 1 if name in CHEAP else 8 if name in DEAR else 2
        self.narrow = NULL
        for index in range(NARROW_COUNT):
            if NARROW_ENTRIES[index].name.decode() == name:
                self.narrow = NARROW_ENTRIES[index].loop
        for kind in range(TYPES):
            self.uniform[kind] = -1
        for index in range(function.ntypes):
            kind = types[index * function.nargs]
            if not usable(types + index * function.nargs, function.nargs) or self.uniform[kind] >= 0:
                continue
            for i in range(1, function.nin):
                if types[index * function.nargs + i] != kind:
                    break
            else:
                self.uniform[kind] = index
        if name == "power":  # the loops of integers raise errors, for which they want the GIL
            for kind in range(cnp.NPY_FLOAT):
                self.uniform[kind] = -1

    cdef int find(self, const int *kinds) noexcept:
        """Return the index of the loop of inputs of these types, -1 for none."""
        cdef int index, i, count = self.function.nin
        cdef const char *types
        for i in range(1, count):
            if kinds[i] != kinds[0]:
                break
        else:
            return self.uniform[kinds[0]]
        for index in range(self.function.ntypes):
            types = self.function.types + index * self.function.nargs
            for i in range(count):
                if types[i] != kinds[i]:
                    break
            else:
                return index if usable(types, self.function.nargs) else -1
        return -1


cdef bint usable(const char *types, int count) noexcept:
    """Whether a loop of these types needs no GIL."""
    cdef int i
    for i in range(count):
        if types[i] < 0 or types[i] >= TYPES or types[i] == cnp.NPY_LONGDOUBLE:
            return False
    return True


cdef dict known = {}


cdef Loops loops_of(cnp.ufunc function):
    cdef PyObject *found = PyDict_GetItem(known, function)
    cdef Loops loops
    if found != NULL:
        return <Loops> found
    loops = Loops(function)
    if loops.function.nout != 1 or loops.function.nin >= MOST_OPERANDS:
        raise ValueError(
            f"For 'apply', 'function' must have up to three inputs and one result, but got {function.__name__}."
        )
    known[function] = loops
    return loops


cdef inline bint same_layout(cnp.ndarray x, cnp.ndarray like) noexcept:
    """Whether two arrays have one shape and, where an axis counts, the same strides."""
    cdef int axis
    if not cnp.PyArray_SAMESHAPE(x, like):
        return False
    for axis in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIM(x, axis) > 1 and cnp.PyArray_STRIDE(x, axis) != cnp.PyArray_STRIDE(like, axis):
            return False
    return True


cdef void run_narrow(const Plan *plan, char **places, Py_ssize_t size) noexcept nogil:
    """Call the loop for one piece of which some operands are 16-bit floats."""
    cdef float scratch[MOST_OPERANDS][TILE]
    cdef char *at[MOST_OPERANDS]
    cdef cnp.npy_intp steps[MOST_OPERANDS]
    cdef Matrix source
    cdef Py_ssize_t index, start
    cdef cnp.npy_intp length
    cdef int i, result = plan.operands - 1
    for index in range(block_count(size, TILE)):
        start = index * TILE
        length = block_length(index, size, TILE)
        for i in range(plan.operands):
            steps[i] = plan.steps[i]
            at[i] = places[i] + start * steps[i]
            if plan.stored[i] != FLOAT32:
                if i < result:
                    source.number = plan.stored[i]
                    source.data = <void *> at[i]
                    widened(source, 0, <float *> scratch[i], length if steps[i] else 1)
                at[i] = <char *> scratch[i]
                steps[i] = sizeof(float) if steps[i] else 0
        plan.loop(at, &length, steps, plan.data)
        if plan.stored[result] != FLOAT32:
            source.number = plan.stored[result]
            source.data = <void *> (places[result] + start * plan.steps[result])
            put_back(source, 0, <const float *> scratch[result], length)


cdef inline void run_piece(const Plan *plan, char **row, Py_ssize_t start, cnp.npy_intp size) noexcept nogil:
    """Call the loop for a part of a row."""
    cdef char *at[MOST_OPERANDS]
    cdef int i
    for i in range(plan.operands):
        at[i] = row[i] + start * plan.steps[i]
    if plan.narrow:
        run_narrow(plan, at, size)
    else:
        plan.loop(at, &size, plan.steps, plan.data)


cdef void run_rows(
    const Plan *plan, Py_ssize_t first, Py_ssize_t last, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    """Call the loop for a part of each of these rows."""
    cdef char *row[MOST_OPERANDS]
    cdef cnp.npy_intp index[MOST_AXES]
    cdef Py_ssize_t rest = first
    cdef int axis, i
    for i in range(plan.operands):
        row[i] = plan.places[i]
    for axis in range(plan.axes - 1, -1, -1):
        index[axis] = rest % plan.lengths[axis]
        rest = rest // plan.lengths[axis]
        for i in range(plan.operands):
            row[i] += index[axis] * plan.strides[i][axis]
    for _ in range(first, last):
        run_piece(plan, row, start, size)
        for axis in range(plan.axes - 1, -1, -1):
            index[axis] += 1
            for i in range(plan.operands):
                row[i] += plan.strides[i][axis]
            if index[axis] < plan.lengths[axis]:
                break
            index[axis] = 0
            for i in range(plan.operands):
                row[i] -= plan.lengths[axis] * plan.strides[i][axis]


cdef void run_all(const Plan *plan, Py_ssize_t block, bint parallel) noexcept nogil:
    """Call the loop for all elements, in blocks of rows or of parts of a row."""
    cdef Py_ssize_t parts = block_count(plan.inner, block)
    cdef Py_ssize_t rows = max(1, block // plan.inner), task
    if parts > 1:
        for task in prange(plan.rows * parts, schedule="static", use_threads_if=parallel):
            run_rows(
                plan, task // parts, task // parts + 1, task % parts * block,
                block_length(task % parts, plan.inner, block),
            )
    else:
        for task in prange(block_count(plan.rows, rows), schedule="static", use_threads_if=parallel):
            run_rows(plan, task * rows, min((task + 1) * rows, plan.rows), 0, plan.inner)


cdef int arrange(Plan *plan, cnp.npy_intp *dims, int axes, cnp.ndarray out) except -1:
    """Put the axes in the order of the result's memory and join those that lie in one piece for every operand."""
    cdef int order[MOST_AXES]
    cdef int count = 0, axis, other, i, kept = 0
    cdef bint joins
    for axis in range(axes):
        if dims[axis] == 1:
            continue
        other = count
        while other > 0 and cnp.PyArray_STRIDE(out, order[other - 1]) < cnp.PyArray_STRIDE(out, axis):
            order[other] = order[other - 1]
            other -= 1
        order[other] = axis
        count += 1
    cdef cnp.npy_intp strides[MOST_OPERANDS][MOST_AXES]
    for i in range(plan.operands):
        for axis in range(axes):
            strides[i][axis] = plan.strides[i][axis]
    for other in range(count):
        axis = order[other]
        joins = kept > 0
        for i in range(plan.operands):
            if joins and plan.strides[i][kept - 1] != strides[i][axis] * dims[axis]:
                joins = False
        if joins:
            kept -= 1
            plan.lengths[kept] *= dims[axis]
        else:
            plan.lengths[kept] = dims[axis]
        for i in range(plan.operands):
            plan.strides[i][kept] = strides[i][axis]
        kept += 1
    plan.axes = max(kept - 1, 0)
    plan.inner = plan.lengths[kept - 1] if kept else 1
    plan.rows = 1
    for axis in range(plan.axes):
        plan.rows *= plan.lengths[axis]
    for i in range(plan.operands):
        plan.steps[i] = plan.strides[i][kept - 1] if kept else cnp.PyArray_ITEMSIZE(out)
    return 0


cdef object new_result(PyObject **inputs, int count, cnp.npy_intp *dims, int axes, int kind):
    """Make an array in the memory order of the first input that has its shape."""
    cdef int i, axis
    cdef cnp.ndarray like
    descr = cnp.PyArray_DescrFromType(kind)
    Py_INCREF(descr)
    for i in range(count):
        like = <cnp.ndarray> inputs[i]
        if cnp.PyArray_NDIM(like) != axes:
            continue
        for axis in range(axes):
            if cnp.PyArray_DIM(like, axis) != dims[axis]:
                break
        else:
            return PyArray_NewLikeArray(like, cnp.NPY_KEEPORDER, <cnp.PyArray_Descr *> descr, False)
    return PyArray_NewFromDescr(
        <cnp.PyTypeObject *> cnp.ndarray, <cnp.PyArray_Descr *> descr, axes, dims, NULL, NULL, 0, None
    )


cdef object spread(Plan *plan, PyObject **inputs, int kind):
    """Plan a call on arrays that broadcast or lie differently, and return the result's array; None if it cannot be."""
    cdef cnp.npy_intp dims[MOST_AXES]
    cdef int axes = 0, axis, i, lead, count = plan.operands - 1
    cdef cnp.npy_intp length
    cdef cnp.ndarray x, out
    for i in range(count):
        axes = max(axes, cnp.PyArray_NDIM(<cnp.ndarray> inputs[i]))
    if axes > MOST_AXES:
        return None
    for axis in range(axes):
        dims[axis] = 1
    for i in range(count):
        x = <cnp.ndarray> inputs[i]
        lead = axes - cnp.PyArray_NDIM(x)
        for axis in range(axes):
            length = 1 if axis < lead else cnp.PyArray_DIM(x, axis - lead)
            plan.strides[i][axis] = 0 if length == 1 else cnp.PyArray_STRIDE(x, axis - lead)
            if length != 1:
                if dims[axis] != 1 and dims[axis] != length:
                    return None
                dims[axis] = length
    out = new_result(inputs, count, dims, axes, kind)
    for axis in range(axes):
        plan.strides[count][axis] = cnp.PyArray_STRIDE(out, axis)
    if cnp.PyArray_SIZE(out):
        arrange(plan, dims, axes, out)
        for i in range(plan.operands):
            # Conversions take 16-bit floats side by side, or one of them.
            if plan.stored[i] != FLOAT32 and plan.steps[i] != 0 and plan.steps[i] != 2:
                return None
    return out


cdef int narrow_type(cnp.ndarray x, Number *stored) except -1:
    """Return 1 and how the elements are stored if they are 16-bit floats, else 0."""
    cdef int kind = cnp.PyArray_TYPE(x)
    stored[0] = FLOAT32
    if kind == cnp.NPY_FLOAT16:
        stored[0] = FLOAT16
        return 1
    if not is_bfloat16(x):
        return 0
    stored[0] = BFLOAT16
    return 1


cdef object run(Loops loops, PyObject **inputs, int count):
    """Return the function of the inputs, None if NumPy has to compute it."""
    cdef Plan plan
    cdef int kinds[MOST_OPERANDS]
    cdef int i, index, kind, narrow_kind = -1
    cdef bint flat = True
    cdef cnp.ndarray x, like = None, out
    cdef Py_ssize_t size, cost
    if count != loops.function.nin:
        return None
    plan.narrow = False
    plan.operands = count + 1
    for i in range(count):
        if type(<object> inputs[i]) is not cnp.ndarray:
            return None
        x = <cnp.ndarray> inputs[i]
        kinds[i] = cnp.PyArray_TYPE(x)
        plan.stored[i] = FLOAT32
        if not cnp.PyArray_ISBEHAVED_RO(x):
            return None
        if kinds[i] == cnp.NPY_FLOAT16 or kinds[i] >= TYPES:
            if not narrow_type(x, &plan.stored[i]) or (narrow_kind >= 0 and narrow_kind != kinds[i]):
                return None
            narrow_kind = kinds[i]
            plan.narrow = True
            kinds[i] = cnp.NPY_FLOAT
        if like is None or cnp.PyArray_SIZE(x) > cnp.PyArray_SIZE(like) or (
            cnp.PyArray_SIZE(x) == cnp.PyArray_SIZE(like) and cnp.PyArray_NDIM(x) > cnp.PyArray_NDIM(like)
        ):
            like = x
    index = loops.find(kinds)
    if index < 0:
        return None
    kind = loops.function.types[index * loops.function.nargs + count]
    plan.stored[count] = FLOAT32
    if plan.narrow and kind == cnp.NPY_FLOAT:
        kind = narrow_kind
        for i in range(count):
            if plan.stored[i] != FLOAT32:
                plan.stored[count] = plan.stored[i]
    plan.loop = <InnerLoop> <void *> loops.function.functions[index]
    plan.data = loops.function.data[index] if loops.function.data != NULL else NULL
    if loops.narrow != NULL and plan.narrow and plan.stored[count] == BFLOAT16:
        for i in range(count):
            if plan.stored[i] != BFLOAT16:
                break
        else:
            plan.loop, plan.narrow = loops.narrow, False
    for i in range(count):
        x = <cnp.ndarray> inputs[i]
        plan.places[i] = <char *> cnp.PyArray_DATA(x)
        if cnp.PyArray_SIZE(x) == 1 and cnp.PyArray_SIZE(like) != 1 and cnp.PyArray_NDIM(x) <= cnp.PyArray_NDIM(like):
            plan.steps[i] = 0
        elif x is like or same_layout(x, like):
            plan.steps[i] = cnp.PyArray_ITEMSIZE(x)
        else:
            flat = False
    if flat and cnp.PyArray_IS_C_CONTIGUOUS(like):
        out = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(like), cnp.PyArray_DIMS(like), kind, 0)
    elif flat and is_dense(like):
        descr = cnp.PyArray_DescrFromType(kind)
        Py_INCREF(descr)
        out = PyArray_NewLikeArray(like, cnp.NPY_KEEPORDER, <cnp.PyArray_Descr *> descr, False)
    else:
        flat = False
    if flat:
        plan.axes, plan.rows = 0, 1
        plan.inner = cnp.PyArray_SIZE(like)
        plan.steps[count] = cnp.PyArray_ITEMSIZE(out)
    else:
        found = spread(&plan, inputs, kind)
        if found is None:
            return None
        out = found
    plan.places[count] = <char *> cnp.PyArray_DATA(out)
    size = cnp.PyArray_SIZE(out)
    if not size:
        return out
    cost = loops.cost * (4 if loops.cost > 1 and kinds[0] == cnp.NPY_DOUBLE else 1)
    if size * cost < LEAST_FREE:
        run_rows(&plan, 0, plan.rows, 0, plan.inner)
    else:
        with nogil:
            run_all(&plan, BLOCK // cost, size * cost >= PARALLEL_FROM)
    return out


@quiet
def by_numpy(cnp.ufunc function, list arrays):
    """What NumPy computes, without warnings."""
    return numpy.asarray(function(*arrays))


def apply(cnp.ufunc function not None, x not None, y=None, z=None):
    """Return `function(x)`, `function(x, y)` or `function(x, y, z)`, computed on all threads.

    For the types that a loop takes as they are, and 16-bit floats, the result has the bits of NumPy's
    for any number of threads; 16-bit floats are computed with in float32 and rounded once.

    >>> apply(np.add, np.ones(2), np.array([1.0, 2.0]))
    array([2., 3.])
    """
    cdef PyObject *inputs[MOST_OPERANDS]
    cdef Loops loops = loops_of(function)
    cdef int count = 1 if y is None else 2 if z is None else 3
    inputs[0], inputs[1], inputs[2] = <PyObject *> x, <PyObject *> y, <PyObject *> z
    out = run(loops, inputs, count)
    if out is not None:
        return out
    arrays = [x, y, z][:count]
    if any([a.dtype.itemsize == 2 and a.dtype.kind in "fV" for a in arrays if isinstance(a, numpy.ndarray)]):
        # Own functions have no loops for these, and of NumPy's some are slow: in plain memory they can be converted.
        copies = [numpy.array(a, order="C", subok=False) for a in arrays]
        inputs[0] = <PyObject *> copies[0]
        inputs[1] = <PyObject *> (copies[1] if count > 1 else None)
        inputs[2] = <PyObject *> (copies[2] if count > 2 else None)
        out = run(loops, inputs, count)
        if out is not None:
            return out
    return by_numpy(function, arrays)

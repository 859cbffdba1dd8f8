# cython: cdivision=True, boundscheck=False, wraparound=False
"""Element-wise reduction of several arrays into one, in the order given.

float16 and bfloat16 are reduced in float32 and rounded once; booleans as or ("sum", "max") and
and ("prod", "min"). A NaN in any array comes out as a NaN.
"""

cimport numpy as cnp
cimport openmp
from libc.stdlib cimport free, malloc

from arrays cimport check_memory
from reduction cimport (
    BFLOAT16, BOOL, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64,
    MAX, MIN, PROD, SUM, UINT8, UINT16, UINT32, UINT64, Kind, Op, reduce_buffers,
)

cnp.import_array()

# What the board takes for a NumPy type's name, and for an operation.
KINDS = {
    "bool": <int> BOOL, "int8": <int> INT8, "int16": <int> INT16, "int32": <int> INT32,
    "int64": <int> INT64, "uint8": <int> UINT8, "uint16": <int> UINT16, "uint32": <int> UINT32,
    "uint64": <int> UINT64, "float16": <int> FLOAT16, "bfloat16": <int> BFLOAT16,
    "float32": <int> FLOAT32, "float64": <int> FLOAT64, "complex64": <int> COMPLEX64,
    "complex128": <int> COMPLEX128,
}
OPS = {"sum": <int> SUM, "prod": <int> PROD, "max": <int> MAX, "min": <int> MIN}


cdef Py_ssize_t check_source(str name, object array, cnp.ndarray out) except -1:
    """Raise unless an array is C-contiguous, of the output's type and size; return its size."""
    if not isinstance(array, cnp.ndarray):
        raise TypeError(
            f"For 'reduce', '{name}' must be a numpy.ndarray, but got {type(array).__name__}."
        )
    check_memory("reduce", name, array, array is out)
    if array.dtype != (<object> out).dtype or array.size != (<object> out).size:
        raise ValueError(
            f"For 'reduce', '{name}' must be of the output's type and size {(<object> out).dtype}"
            f"[{(<object> out).size}], but got {array.dtype}[{array.size}]."
        )
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError(
            f"For 'reduce', '{name}' must be C-contiguous, but got strides {array.strides}; copy it."
        )
    return array.size


def reduce(list sources, cnp.ndarray out not None, str op="sum", double scale=1.0):
    """Write out = scale * (sources[0] op sources[1] op ...), element by element.

    Args:
        sources: at least one array, C-contiguous, all of one type and size.
        out: of the same type and size; may be one of the sources.
        op: "sum", "prod", "max" or "min".
        scale: 1 for booleans and whole numbers.

    Raises:
        TypeError: for another type of array.
        ValueError: for another size, layout, operation or scale.

    >>> out = np.empty(2, np.float32)
    >>> reduce([np.float32([1, 2]), np.float32([3, 4])], out, scale=0.5)
    >>> print(out)
    [2. 3.]
    """
    cdef Py_ssize_t size
    cdef int kind, code, i, count = len(sources)
    cdef int threads = openmp.omp_get_max_threads()
    cdef char **pointers
    cdef char *result = <char *> cnp.PyArray_DATA(out)
    name = (<object> out).dtype.name
    if name not in KINDS:
        raise TypeError(f"For 'reduce', 'out' must hold numbers, but got {name}.")
    if op not in OPS:
        raise ValueError(f"For 'reduce', 'op' must be one of {', '.join(OPS)}, but got {op!r}.")
    if not count:
        raise ValueError("For 'reduce', 'sources' must have at least one array, but got [].")
    kind, code = KINDS[name], OPS[op]
    if kind in (COMPLEX64, COMPLEX128) and code in (MAX, MIN):
        raise ValueError(f"For 'reduce', 'op' must be 'sum' or 'prod' for {name}, but got {op!r}.")
    if scale != 1 and kind < FLOAT16:
        raise ValueError(f"For 'reduce', 'scale' must be 1 for {name}, but got {scale}.")
    size = check_source("out", out, out)
    for i in range(count):
        check_source(f"sources[{i}]", sources[i], out)
    pointers = <char **> malloc(count * sizeof(char *))
    if pointers == NULL:
        raise MemoryError()
    for i in range(count):
        pointers[i] = <char *> cnp.PyArray_DATA(sources[i])
    with nogil:
        reduce_buffers(<Kind> kind, <Op> code, scale, <const char *const *> pointers, count,
                       <char *const *> &result, 1, 0, size, threads)
    free(pointers)

# cython: cdivision=True
"""Rows of matrices as they are stored and as they are computed with.

16-bit floats are computed with in float32: a row is widened into scratch memory that the caches
hold, and results are narrowed from there. So the memory is passed over once, and the results are
those of the same kernel between two casts, bit by bit. Other rows are used where they lie.
"""

cimport numpy as cnp
cimport openmp
from cython cimport floating
from libc.stdint cimport uint16_t

from arrays cimport check, check_same_shape, type_name
from narrow cimport narrow_bfloat16, narrow_float16, widen_bfloat16, widen_float16

cdef enum Number:
    FLOAT32, FLOAT64, BFLOAT16, FLOAT16

cdef enum:
    # Bytes of a cache line.
    LINE = 64


cdef extern from "numpy/arrayobject.h":
    int USER_TYPES "NPY_USERDEF"

cdef extern from *:
    """
    static int dm_bfloat16_number = -1;
    """
    # NumPy's number for ml_dtypes' type once its name has been read, which takes longer than a small array.
    int bfloat16_number "dm_bfloat16_number"


cdef struct Matrix:
    Number number
    void *data


cdef inline bint is_bfloat16(cnp.ndarray array) except -1:
    """Tell whether the type is ml_dtypes' bfloat16."""
    global bfloat16_number
    cdef int number = cnp.PyArray_TYPE(array)
    if number == bfloat16_number:
        return True
    if number < USER_TYPES or type_name(array) != "bfloat16":
        return False
    bfloat16_number = number
    return True


cdef inline Number number_of(str kernel, str name, cnp.ndarray array) except *:
    """Return how the numbers of an array are stored."""
    cdef int number = cnp.PyArray_TYPE(array)
    if number == cnp.NPY_FLOAT32:
        return FLOAT32
    if number == cnp.NPY_FLOAT64:
        return FLOAT64
    if number == cnp.NPY_FLOAT16:
        return FLOAT16
    if number == cnp.NPY_UINT16 or is_bfloat16(array):
        return BFLOAT16
    raise TypeError(
        f"For '{kernel}', '{name}' must be float32, float64, bfloat16 or float16, "
        f"but got {type_name(array)}."
    )


cdef inline int working_type(Number number) noexcept nogil:
    """Return the type that numbers are computed with in."""
    return cnp.NPY_FLOAT64 if number == FLOAT64 else cnp.NPY_FLOAT32


cdef inline bint is_narrow(Matrix x) noexcept nogil:
    """Tell whether numbers are stored in another type than they are computed with in."""
    return x.number == BFLOAT16 or x.number == FLOAT16


cdef inline Matrix matrix(
    str kernel, str name, cnp.ndarray array, bint written, str like_name, cnp.ndarray like
) except *:
    """Return a C-contiguous matrix that has the shape of `like` and is computed with in its type."""
    return numbers_like(kernel, name, array, 2, written, like_name, like)


cdef inline Matrix numbers_like(
    str kernel, str name, cnp.ndarray array, int dimensions, bint written, str like_name, cnp.ndarray like
) except *:
    """Return a C-contiguous array of so many dimensions, of the shape of `like` and computed with in its type."""
    cdef Matrix found
    found.number = number_of(kernel, name, array)
    found.data = cnp.PyArray_DATA(array)
    if working_type(found.number) != working_type(number_of(kernel, like_name, like)):
        wanted = "float64" if working_type(found.number) == cnp.NPY_FLOAT32 else "float32, bfloat16 or float16"
        raise TypeError(
            f"For '{kernel}', '{name}' must be {wanted}, as '{like_name}' is {type_name(like)}, "
            f"but got {type_name(array)}."
        )
    check(kernel, name, array, cnp.PyArray_TYPE(array), dimensions, written)
    check_same_shape(kernel, name, array, like_name, like)
    return found


cdef inline cnp.ndarray scratch_rows(int count, Py_ssize_t columns, bint narrow):
    """Return memory for `count` rows of float32 per thread, or hardly any if none are narrow."""
    cdef cnp.npy_intp size = 1
    if narrow:
        size = openmp.omp_get_max_threads() * count * padded(columns)
    return cnp.PyArray_SimpleNew(1, &size, cnp.NPY_FLOAT32)


cdef inline Py_ssize_t padded(Py_ssize_t size) noexcept nogil:
    """Return how many float32 a piece of scratch memory takes, such that the next one is aligned."""
    return (size * <Py_ssize_t> sizeof(float) + LINE - 1) // LINE * LINE // <Py_ssize_t> sizeof(float)


cdef inline const floating *widened(
    Matrix x, Py_ssize_t start, floating *scratch, Py_ssize_t size
) noexcept nogil:
    """Return `size` numbers from `start` on: where they lie, or widened into `scratch`."""
    if floating is float:
        if x.number == BFLOAT16:
            widen_bfloat16(<const uint16_t *> x.data + start, scratch, size)
            return scratch
        if x.number == FLOAT16:
            widen_float16(<const uint16_t *> x.data + start, scratch, size)
            return scratch
    return <const floating *> x.data + start


cdef inline floating *place_of(Matrix x, Py_ssize_t start, floating *scratch) noexcept nogil:
    """Return where to write numbers: where they belong, or `scratch`, for `put_back`."""
    return scratch if is_narrow(x) else <floating *> x.data + start


cdef inline void put_back(
    Matrix x, Py_ssize_t start, const floating *wide, Py_ssize_t size
) noexcept nogil:
    """Narrow `size` numbers that `place_of` had put into scratch memory."""
    if floating is float:
        if x.number == BFLOAT16:
            narrow_bfloat16(wide, <uint16_t *> x.data + start, size)
        elif x.number == FLOAT16:
            narrow_float16(wide, <uint16_t *> x.data + start, size)

"""Checks of array arguments, made before a kernel drops the GIL and trusts its pointers.

A message names the kernel, the argument, the value found and the value wanted.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t


cdef inline str type_name(cnp.ndarray array):
    """Return e.g. "float32", with the byte order when it is foreign."""
    return str(array.dtype)


cdef inline int real_type(str kernel, str name, cnp.ndarray array) except -1:
    """Return the type number of an array of float32 or float64."""
    cdef int number = cnp.PyArray_TYPE(array)
    if number != cnp.NPY_FLOAT32 and number != cnp.NPY_FLOAT64:
        raise TypeError(
            f"For '{kernel}', '{name}' must be float32 or float64, but got {type_name(array)}."
        )
    return number


cdef inline int check_memory(str kernel, str name, cnp.ndarray array, bint written) except -1:
    """Raise unless the array is aligned, in native byte order and, if `written`, writeable."""
    if not cnp.PyArray_ISNOTSWAPPED(array):
        raise TypeError(
            f"For '{kernel}', '{name}' must be in native byte order, but got {type_name(array)}."
        )
    if not cnp.PyArray_ISALIGNED(array):
        raise ValueError(
            f"For '{kernel}', '{name}' must be aligned memory, but got an unaligned array; copy it."
        )
    if written and not cnp.PyArray_ISWRITEABLE(array):
        raise ValueError(f"For '{kernel}', '{name}' must be writeable, but got a read-only array.")
    return 0


cdef inline int check_type(str kernel, str name, cnp.ndarray array, int number) except -1:
    """Raise unless the array has the type `number`."""
    if cnp.PyArray_TYPE(array) != number:
        wanted = cnp.PyArray_DescrFromType(number)
        raise TypeError(
            f"For '{kernel}', '{name}' must be {wanted}, but got {type_name(array)}."
        )
    return 0


cdef inline int check(
    str kernel, str name, cnp.ndarray array, int number, int dimensions, bint written
) except -1:
    """Raise unless the array is C-contiguous, of this type and, if >= 0, this many dimensions."""
    check_type(kernel, name, array, number)
    check_memory(kernel, name, array, written)
    if dimensions >= 0 and cnp.PyArray_NDIM(array) != dimensions:
        raise ValueError(
            f"For '{kernel}', '{name}' must have {dimensions} dimensions, "
            f"but got shape {(<object> array).shape}."
        )
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError(
            f"For '{kernel}', '{name}' must be C-contiguous, but got shape "
            f"{(<object> array).shape} with strides {(<object> array).strides}; copy it."
        )
    return 0


cdef inline int check_same_shape(
    str kernel, str name, cnp.ndarray array, str like_name, cnp.ndarray like
) except -1:
    """Raise unless both arrays have the same shape."""
    if not cnp.PyArray_SAMESHAPE(array, like):
        raise ValueError(
            f"For '{kernel}', '{name}' must have the shape {(<object> like).shape} of "
            f"'{like_name}', but got {(<object> array).shape}."
        )
    return 0


cdef inline int check_vector(
    str kernel, str name, cnp.ndarray array, int number, Py_ssize_t length, bint written
) except -1:
    """Raise unless the array is a contiguous vector of this type and length."""
    check(kernel, name, array, number, 1, written)
    if cnp.PyArray_DIM(array, 0) != length:
        raise ValueError(
            f"For '{kernel}', '{name}' must have length {length}, "
            f"but got {cnp.PyArray_DIM(array, 0)}."
        )
    return 0


cdef inline int check_indices(
    str kernel, str name, cnp.ndarray array, Py_ssize_t length
) except -1:
    """Return the bytes per element of a contiguous vector of int32 or int64."""
    cdef int number = cnp.PyArray_TYPE(array)
    if number != cnp.NPY_INT32 and number != cnp.NPY_INT64 and number != cnp.NPY_LONGLONG:
        raise TypeError(
            f"For '{kernel}', '{name}' must be int32 or int64, but got {type_name(array)}."
        )
    check_vector(kernel, name, array, number, length, False)
    return cnp.PyArray_ITEMSIZE(array)


cdef inline int64_t index_at(
    const void *indices, int item_size, Py_ssize_t position
) noexcept nogil:
    """Return one element of a vector of int32 or int64."""
    if item_size == sizeof(int32_t):
        return (<const int32_t *> indices)[position]
    return (<const int64_t *> indices)[position]


cdef inline bint is_dense(cnp.ndarray array) noexcept:
    """Tell whether the elements fill one piece of memory, in any order of the axes."""
    cdef int dimensions = cnp.PyArray_NDIM(array)
    cdef Py_ssize_t step = cnp.PyArray_ITEMSIZE(array)
    cdef int axis, _search
    if cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_IS_F_CONTIGUOUS(array):
        return True
    for _search in range(dimensions):
        for axis in range(dimensions):
            if cnp.PyArray_DIM(array, axis) > 1 and cnp.PyArray_STRIDE(array, axis) == step:
                step *= cnp.PyArray_DIM(array, axis)
                break
        else:
            break
    return step == cnp.PyArray_ITEMSIZE(array) * cnp.PyArray_SIZE(array)


cdef inline int check_same_layout(
    str kernel, str name, cnp.ndarray array, str like_name, cnp.ndarray like
) except -1:
    """Raise unless both arrays have the same shape and, where an axis counts, strides."""
    cdef int axis
    check_same_shape(kernel, name, array, like_name, like)
    if cnp.PyArray_SIZE(array) <= 1:
        return 0
    for axis in range(cnp.PyArray_NDIM(array)):
        if (
            cnp.PyArray_DIM(array, axis) > 1
            and cnp.PyArray_STRIDE(array, axis) != cnp.PyArray_STRIDE(like, axis)
        ):
            raise ValueError(
                f"For '{kernel}', '{name}' must have the strides {(<object> like).strides} of "
                f"'{like_name}', but got {(<object> array).strides}; copy it into that layout."
            )
    return 0


cdef inline int check_dense(
    str kernel, str name, cnp.ndarray array, int number, bint written
) except -1:
    """Raise unless the array is of this type and dense: any order of axes, no gaps."""
    check_type(kernel, name, array, number)
    check_memory(kernel, name, array, written)
    if not is_dense(array):
        raise ValueError(
            f"For '{kernel}', '{name}' must fill one piece of memory, but got shape "
            f"{(<object> array).shape} with strides {(<object> array).strides}; copy it."
        )
    return 0

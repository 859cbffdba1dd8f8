# cython: cdivision=True, boundscheck=False, wraparound=False
"""Inverses and determinants of matrices that a core's caches hold; see elimination.h."""

cimport numpy as cnp
from cython.parallel cimport prange

from arrays cimport check, check_same_shape, real_type
from blocks cimport PARALLEL_FROM

cnp.import_array()

cdef extern from "elimination.h" nogil:
    int invert_f32 "dm_invert_f32"(const float *x, Py_ssize_t n, float *out)
    int invert_f64 "dm_invert_f64"(const double *x, Py_ssize_t n, double *out)
    int determinant "dm_determinant"(const double *x, Py_ssize_t n, double *part, int *power)


cdef int check_matrices(str kernel, cnp.ndarray x, int number) except -1:
    """Raise unless `x` holds square matrices (count, n, n) of this type."""
    check(kernel, "x", x, number, 3, False)
    if cnp.PyArray_DIM(x, 1) != cnp.PyArray_DIM(x, 2):
        raise ValueError(f"For '{kernel}', 'x' must hold square matrices, but got the shape {(<object> x).shape}.")
    return 0


def invert(cnp.ndarray x not None, cnp.ndarray out not None):
    """Write the inverses of square matrices; return whether all have one.

    Args:
        x: float32 or float64 (count, n, n), C-contiguous.
        out: of its type and shape. Where a matrix has no inverse nothing is written.

    >>> out = np.empty((1, 2, 2))
    >>> invert(np.array([[[0.0, 4.0], [2.0, 0.0]]]), out)
    True
    >>> out[0]
    array([[0.  , 0.5 ],
           [0.25, 0.  ]])
    """
    cdef int number = real_type("invert", "x", x)
    check_matrices("invert", x, number)
    check("invert", "out", out, number, 3, True)
    check_same_shape("invert", "out", out, "x", x)
    cdef Py_ssize_t count = cnp.PyArray_DIM(x, 0), n = cnp.PyArray_DIM(x, 1), i
    cdef const char *read = <const char *> cnp.PyArray_DATA(x)
    cdef char *written = <char *> cnp.PyArray_DATA(out)
    cdef int found, singular = 0, no_memory = 0
    if not cnp.PyArray_SIZE(x):
        return True
    for i in prange(count, nogil=True, schedule="static", use_threads_if=count > 1 and count * n * n >= PARALLEL_FROM):
        if number == cnp.NPY_FLOAT32:
            found = invert_f32(<const float *> read + i * n * n, n, <float *> written + i * n * n)
        else:
            found = invert_f64(<const double *> read + i * n * n, n, <double *> written + i * n * n)
        singular += found > 0
        no_memory += found < 0
    if no_memory:
        raise MemoryError
    return not singular


def determinants(cnp.ndarray x not None, cnp.ndarray parts not None, cnp.ndarray powers not None):
    """Write the determinants of square matrices as parts * 2**powers, with parts from [0.5, 1) or their negatives.

    A determinant that is zero, infinite or no number has such a part.

    Args:
        x: float64 (count, n, n), C-contiguous.
        parts: float64 (count,).
        powers: int32 (count,).

    >>> parts, powers = np.empty(1), np.empty(1, np.int32)
    >>> determinants(np.array([[[0.0, 4.0], [2.0, 0.0]]]), parts, powers)
    >>> np.ldexp(parts, powers)
    array([-8.])
    """
    check_matrices("determinants", x, cnp.NPY_FLOAT64)
    check("determinants", "parts", parts, cnp.NPY_FLOAT64, 1, True)
    check("determinants", "powers", powers, cnp.NPY_INT32, 1, True)
    cdef Py_ssize_t count = cnp.PyArray_DIM(x, 0), n = cnp.PyArray_DIM(x, 1), i
    if cnp.PyArray_DIM(parts, 0) != count or cnp.PyArray_DIM(powers, 0) != count:
        raise ValueError(
            f"For 'determinants', 'parts' and 'powers' must have the shape ({count},), but got "
            f"{(<object> parts).shape} and {(<object> powers).shape}."
        )
    cdef const double *read = <const double *> cnp.PyArray_DATA(x)
    cdef double *to = <double *> cnp.PyArray_DATA(parts)
    cdef int *power = <int *> cnp.PyArray_DATA(powers)
    cdef int no_memory = 0
    for i in prange(count, nogil=True, schedule="static", use_threads_if=count > 1 and count * n * n >= PARALLEL_FROM):
        no_memory += determinant(read + i * n * n, n, to + i, power + i) < 0
    if no_memory:
        raise MemoryError

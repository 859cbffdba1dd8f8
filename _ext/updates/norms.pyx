# cython: cdivision=True, boundscheck=False, wraparound=False
"""What is asked of all gradients of a step at once: their sums of squares, and whether all are finite.

The arrays are C-contiguous float32 or float64, and are cut into blocks that threads share: many
small ones cost one call. Squares are made and added in float64.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from arrays cimport check, real_type
from blocks cimport BLOCK, LANES, PARALLEL_FROM, block_count, lane_total

cnp.import_array()

cdef struct Piece:
    const void *data
    Py_ssize_t size
    bint single              # float32, not float64
    int32_t array            # which array it is a part of


cdef double squares_of(const floating *x, Py_ssize_t size) noexcept nogil:
    """Return the sum of x squared."""
    cdef double lanes[LANES]
    cdef double rest = 0
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
    while i + LANES <= size:
        for lane in range(LANES):
            lanes[lane] += <double> x[i + lane] * <double> x[i + lane]
        i += LANES
    while i < size:
        rest += <double> x[i] * <double> x[i]
        i += 1
    return lane_total(lanes) + rest


cdef double remainder_of(const floating *x, Py_ssize_t size) noexcept nogil:
    """Return 0 if all elements are finite, else NaN: x - x is one of both."""
    cdef floating lanes[LANES]
    cdef floating total = 0
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
    while i + LANES <= size:
        for lane in range(LANES):
            lanes[lane] += x[i + lane] - x[i + lane]
        i += LANES
    while i < size:
        total += x[i] - x[i]
        i += 1
    for lane in range(LANES):
        total += lanes[lane]
    return total


cdef class Pieces:
    """The arrays of one call, cut into blocks."""

    cdef Piece *pieces
    cdef double *found
    cdef Py_ssize_t count, elements

    def __cinit__(self, str owner, list arrays):
        cdef cnp.ndarray array
        cdef Py_ssize_t place, start, size
        cdef int number
        cdef const char *data
        for array in arrays:
            number = real_type(owner, "arrays", array)
            check(owner, "arrays", array, number, -1, False)
            self.count += block_count(cnp.PyArray_SIZE(array), BLOCK)
            self.elements += cnp.PyArray_SIZE(array)
        self.pieces = <Piece *> malloc(max(self.count, 1) * sizeof(Piece))
        self.found = <double *> malloc(max(self.count, 1) * sizeof(double))
        if self.pieces == NULL or self.found == NULL:
            raise MemoryError()
        self.count = 0
        for place in range(len(arrays)):
            array = arrays[place]
            data, size = <const char *> cnp.PyArray_DATA(array), cnp.PyArray_SIZE(array)
            for start in range(0, size, BLOCK):
                self.pieces[self.count].data = data + start * cnp.PyArray_ITEMSIZE(array)
                self.pieces[self.count].size = min(<Py_ssize_t> BLOCK, size - start)
                self.pieces[self.count].single = cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT32
                self.pieces[self.count].array = <int32_t> place
                self.count += 1

    def __dealloc__(self):
        free(self.pieces)
        free(self.found)

    cdef void run(self, bint squares) noexcept nogil:
        """Look at every block."""
        cdef Py_ssize_t i
        cdef const Piece *piece
        for i in prange(
            self.count, schedule="static", use_threads_if=self.elements >= PARALLEL_FROM
        ):
            piece = self.pieces + i
            if piece.single and squares:
                self.found[i] = squares_of(<const float *> piece.data, piece.size)
            elif piece.single:
                self.found[i] = remainder_of(<const float *> piece.data, piece.size)
            elif squares:
                self.found[i] = squares_of(<const double *> piece.data, piece.size)
            else:
                self.found[i] = remainder_of(<const double *> piece.data, piece.size)


def square_sums(list arrays not None):
    """Return the sum of the squares of each array, float64.

    >>> square_sums([np.array([3.0, 4.0]), np.ones((2, 2), np.float32)])
    array([25.,  4.])
    """
    cdef Pieces pieces = Pieces("square_sums", arrays)
    cdef cnp.ndarray out = cnp.PyArray_ZEROS(1, [len(arrays)], cnp.NPY_FLOAT64, 0)
    cdef double *sums = <double *> cnp.PyArray_DATA(out)
    cdef Py_ssize_t i
    with nogil:
        pieces.run(True)
        for i in range(pieces.count):
            sums[pieces.pieces[i].array] += pieces.found[i]
    return out


def first_not_finite(list arrays not None):
    """Return the place of the first array with an element that is infinite or NaN, -1 if none has.

    >>> first_not_finite([np.ones(3), np.array([np.inf, 1.0])])
    1
    """
    cdef Pieces pieces = Pieces("first_not_finite", arrays)
    cdef Py_ssize_t i
    with nogil:
        pieces.run(False)
    for i in range(pieces.count):
        if pieces.found[i] != 0:
            return pieces.pieces[i].array
    return -1

# cython: cdivision=True
"""Element-wise sum, product, maximum and minimum of several buffers, in the order given.

Hard rule: buffer 0 comes first, then 1, 2 and so on, whatever the number of threads, so everyone
who reduces the same buffers gets the same bits.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memcpy

from narrow cimport narrow_bfloat16, narrow_float16, widen_bfloat16, widen_float16

cdef extern from "shared_lines.h" nogil:
    void dm_sum_f32(
        double scale, const char *const *sources, int count, char *const *outs, int copies,
        Py_ssize_t start, Py_ssize_t stop) noexcept
    void dm_sum_f64(
        double scale, const char *const *sources, int count, char *const *outs, int copies,
        Py_ssize_t start, Py_ssize_t stop) noexcept

cdef enum Op:
    SUM, PROD, MAX, MIN

cdef enum Kind:
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64
    FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128

cdef enum:
    # Bytes of a block: the running result of one stays in the L1 cache.
    RUN = 8192
    FLOATS = 2048
    DOUBLES = 1024
    # Bytes per buffer from which on a second thread saves more than waking it costs.
    THREADS_FROM = 1 << 20

ctypedef fused whole:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused complexes:
    float complex
    double complex


cdef inline void combine_whole(
    Op op, const whole *a, const whole *b, whole *out, Py_ssize_t size
) noexcept nogil:
    """Write a op b; sums and products wrap around, which C promises for unsigned numbers only."""
    cdef Py_ssize_t i
    if op == SUM:
        for i in range(size):
            out[i] = <whole> (<uint64_t> a[i] + <uint64_t> b[i])
    elif op == PROD:
        for i in range(size):
            out[i] = <whole> (<uint64_t> a[i] * <uint64_t> b[i])
    elif op == MAX:
        for i in range(size):
            out[i] = a[i] if a[i] >= b[i] else b[i]
    else:
        for i in range(size):
            out[i] = a[i] if a[i] <= b[i] else b[i]


cdef inline void combine_real(
    Op op, const floating *a, const floating *b, floating *out, Py_ssize_t size
) noexcept nogil:
    """Write a op b; a NaN on either side comes out as a NaN."""
    cdef Py_ssize_t i
    if op == SUM:
        for i in range(size):
            out[i] = a[i] + b[i]
    elif op == PROD:
        for i in range(size):
            out[i] = a[i] * b[i]
    elif op == MAX:
        for i in range(size):
            out[i] = a[i] if (a[i] >= b[i]) | (a[i] != a[i]) else b[i]
    else:
        for i in range(size):
            out[i] = a[i] if (a[i] <= b[i]) | (a[i] != a[i]) else b[i]


cdef inline void combine_complex(
    Op op, const complexes *a, const complexes *b, complexes *out, Py_ssize_t size
) noexcept nogil:
    """Write a + b or a b; complex numbers have no order."""
    cdef Py_ssize_t i
    if op == SUM:
        for i in range(size):
            out[i] = a[i] + b[i]
    else:
        for i in range(size):
            out[i] = a[i] * b[i]


cdef inline void combine(
    Kind kind, Op op, const void *a, const void *b, void *out, Py_ssize_t size
) noexcept nogil:
    """Write a op b for one block of any kind but the 16-bit floats."""
    if kind == FLOAT32:
        combine_real[float](op, <const float *> a, <const float *> b, <float *> out, size)
    elif kind == FLOAT64:
        combine_real[double](op, <const double *> a, <const double *> b, <double *> out, size)
    elif kind == BOOL:  # or and and
        combine_whole[uint8_t](
            MAX if op == SUM or op == MAX else MIN,
            <const uint8_t *> a, <const uint8_t *> b, <uint8_t *> out, size,
        )
    elif kind == INT8:
        combine_whole[int8_t](op, <const int8_t *> a, <const int8_t *> b, <int8_t *> out, size)
    elif kind == INT16:
        combine_whole[int16_t](op, <const int16_t *> a, <const int16_t *> b, <int16_t *> out, size)
    elif kind == INT32:
        combine_whole[int32_t](op, <const int32_t *> a, <const int32_t *> b, <int32_t *> out, size)
    elif kind == INT64:
        combine_whole[int64_t](op, <const int64_t *> a, <const int64_t *> b, <int64_t *> out, size)
    elif kind == UINT8:
        combine_whole[uint8_t](op, <const uint8_t *> a, <const uint8_t *> b, <uint8_t *> out, size)
    elif kind == UINT16:
        combine_whole[uint16_t](
            op, <const uint16_t *> a, <const uint16_t *> b, <uint16_t *> out, size)
    elif kind == UINT32:
        combine_whole[uint32_t](
            op, <const uint32_t *> a, <const uint32_t *> b, <uint32_t *> out, size)
    elif kind == UINT64:
        combine_whole[uint64_t](
            op, <const uint64_t *> a, <const uint64_t *> b, <uint64_t *> out, size)
    elif kind == COMPLEX64:
        combine_complex[floatcomplex](
            op, <const float complex *> a, <const float complex *> b, <float complex *> out, size)
    else:
        combine_complex[doublecomplex](
            op, <const double complex *> a, <const double complex *> b,
            <double complex *> out, size)


cdef inline void scale_block(Kind kind, double scale, void *x, Py_ssize_t size) noexcept nogil:
    """Multiply one block of floating point or complex numbers, in place."""
    cdef Py_ssize_t i
    cdef Py_ssize_t numbers = 2 * size if kind == COMPLEX64 or kind == COMPLEX128 else size
    cdef float scale32 = <float> scale
    if kind == FLOAT64 or kind == COMPLEX128:
        for i in range(numbers):
            (<double *> x)[i] *= scale
    else:
        for i in range(numbers):
            (<float *> x)[i] *= scale32


cdef inline int bytes_of(Kind kind) noexcept nogil:
    """Return the bytes of an element."""
    if kind == BOOL or kind == INT8 or kind == UINT8:
        return 1
    if kind == INT16 or kind == UINT16 or kind == FLOAT16 or kind == BFLOAT16:
        return 2
    if kind == INT32 or kind == UINT32 or kind == FLOAT32:
        return 4
    return 16 if kind == COMPLEX128 else 8


cdef inline void widen(Kind kind, const void *narrow, float *wide, Py_ssize_t size) noexcept nogil:
    """Read a block of a 16-bit float."""
    if kind == FLOAT16:
        widen_float16(<const uint16_t *> narrow, wide, size)
    else:
        widen_bfloat16(<const uint16_t *> narrow, wide, size)


cdef inline void reduce_narrow(
    Kind kind, Op op, double scale, const char *const *sources, int count,
    char *const *outs, int copies, Py_ssize_t offset, Py_ssize_t size
) noexcept nogil:
    """Reduce one block of 16-bit floats in float32; round once."""
    cdef float running[FLOATS]
    cdef float next_one[FLOATS]
    cdef uint16_t result[FLOATS]
    cdef int i
    widen(kind, sources[0] + offset, running, size)
    for i in range(1, count):
        widen(kind, sources[i] + offset, next_one, size)
        combine_real[float](op, running, next_one, running, size)
    if scale != 1:
        scale_block(FLOAT32, scale, running, size)
    if kind == FLOAT16:
        narrow_float16(running, result, size)
    else:
        narrow_bfloat16(running, result, size)
    for i in range(copies):
        memcpy(outs[i] + offset, result, 2 * size)


cdef inline void reduce_block(
    Kind kind, Op op, double scale, const char *const *sources, int count,
    char *const *outs, int copies, Py_ssize_t offset, Py_ssize_t size
) noexcept nogil:
    """Reduce `size` elements from byte `offset` on."""
    cdef double running[DOUBLES]
    cdef char *result = <char *> running
    cdef int i, first = 0
    if kind == FLOAT16 or kind == BFLOAT16:
        reduce_narrow(kind, op, scale, sources, count, outs, copies, offset, size)
        return
    if count <= 2:  # nothing is read after the first result is written, so it may be a source
        result, first = outs[0] + offset, 1
    if count == 1:
        if result != sources[0] + offset:
            memcpy(result, sources[0] + offset, size * bytes_of(kind))
    else:
        combine(kind, op, sources[0] + offset, sources[1] + offset, result, size)
    for i in range(2, count):
        combine(kind, op, result, sources[i] + offset, result, size)
    if scale != 1:
        scale_block(kind, scale, result, size)
    for i in range(first, copies):
        if outs[i] + offset != result:
            memcpy(outs[i] + offset, result, size * bytes_of(kind))


cdef inline void add_up(
    Kind kind, double scale, const char *const *sources, int count,
    char *const *outs, int copies, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Add float32 or float64 in one pass, bytes `start` to `stop`."""
    if kind == FLOAT32:
        dm_sum_f32(scale, sources, count, outs, copies, start, stop)
    else:
        dm_sum_f64(scale, sources, count, outs, copies, start, stop)


cdef inline void reduce_buffers(
    Kind kind, Op op, double scale, const char *const *sources, int count,
    char *const *outs, int copies, Py_ssize_t start, Py_ssize_t stop, int threads
) noexcept nogil:
    """Write scale times the reduction of `sources` to all `outs`, elements `start` to `stop`.

    An output may be a source.
    """
    cdef int item = bytes_of(kind)
    cdef Py_ssize_t run = RUN // 4 if item == 2 else RUN // item
    cdef Py_ssize_t blocks = (stop - start + run - 1) // run
    cdef Py_ssize_t i, first
    if (stop - start) * item < THREADS_FROM:
        threads = 1
    if op == SUM and (kind == FLOAT32 or kind == FLOAT64):
        if threads == 1:
            add_up(kind, scale, sources, count, outs, copies, start * item, stop * item)
            return
        blocks = (blocks + threads - 1) // threads * run  # elements of a thread
        for i in prange(threads, num_threads=threads, schedule="static"):
            add_up(kind, scale, sources, count, outs, copies,
                   min(stop, start + i * blocks) * item, min(stop, start + (i + 1) * blocks) * item)
    elif threads == 1:
        for i in range(blocks):
            first = start + i * run
            reduce_block(kind, op, scale, sources, count, outs, copies,
                         first * item, min(run, stop - first))
    else:
        for i in prange(blocks, num_threads=threads, schedule="static"):
            reduce_block(kind, op, scale, sources, count, outs, copies,
                         (start + i * run) * item, min(run, stop - start - i * run))

# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False
"""Matrix products on AMX: of float32 with its accuracy, and of numbers rounded to bfloat16 or float16.

For the first, each number is the exact sum of three bfloat16 numbers, of 8 bits each. Of the nine products of
parts the six that float32 could tell from nothing are added up in float32, the small ones first:
Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for
higher-precision computations", 2019. AMX makes sixteen bfloat16 products in the time of one of
float32. Sums over 256 inner indices are made apart, then added in order: the same bits for any
number of threads.
"""

cimport cython
cimport numpy as cnp
from cython.parallel cimport prange, threadid
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memset
from openmp cimport omp_get_max_threads

from arrays cimport check_memory, check_type, check_vector
from blocks cimport block_count

import os

import ml_dtypes
import numpy as np

cdef extern from "stdlib.h" nogil:
    int posix_memalign(void **block, size_t alignment, size_t size)

cdef extern from "sys/mman.h" nogil:
    enum:
        MADV_HUGEPAGE
    int madvise(void *block, size_t size, int advice)

cdef extern from "amx.h" nogil:
    enum:
        BLOCK_BYTES
    ctypedef struct TileConfig:
        pass
    int amx_permitted()
    int amx_has_float16()
    void amx_begin(TileConfig *before)
    void amx_end(const TileConfig *before)
    uint32_t amx_split_panel(
        const float *x, long row_step, long inner_step, long rows, long inner, int pairs_are_rows,
        uint8_t *to
    )
    void amx_multiply_panels(
        const uint8_t *a_panels, long a_size, const uint8_t *b_panel, long blocks, float *out,
        long out_step, long rows, long columns, const float *bias, int add
    )

cdef extern from "amx_rounded.h" nogil:
    enum:
        ROUNDED_BLOCK_BYTES
    ctypedef struct RoundedOperand:
        const char *data
        long row_step, inner_step
        int is_float, half
    ctypedef struct RoundedStrip:
        long next_count
        char *out
        float *sums
        const float *bias
        long out_step, sums_step, rows, columns
        int is_float, half, adds, ends
    void amx_round_panel(
        const RoundedOperand *x, long row, long k, long rows, long inner, int pairs_are_rows,
        uint8_t *to, double *totals
    )
    void amx_note_next(
        const RoundedOperand *x, long row, long k, long rows, long inner, RoundedStrip *strip
    )
    void amx_multiply_rounded(
        const uint8_t *a_panel, const uint8_t *b, long blocks, const RoundedStrip *to
    )

cnp.import_array()

cdef enum:
    PANEL = 32
    # Inner indices per sum.
    SLICE = 256
    # Panels of A that a thread keeps in its L2 cache (768 KB) while B's go by.
    GROUP = 16
    # Panels of B that a thread keeps split (6 MB) while it works through its groups.
    MOST_COLUMNS = 128
    # Multiplications from which on several threads share the work.
    SHARED_FROM = 1 << 18
    # Bytes of a cache line and of a large page.
    LINE = 64
    HUGE_PAGE = 1 << 21
    MAX_RANK = 8
    # Magnitudes, as bits: from the first one on a part becomes infinite; below the other one
    # (2^-90) the lowest part may be lost, as AMX takes numbers below the normal range for 0.
    LARGE = 0x7F7F8000
    SMALL = (127 - 90) << 23

cdef str _allowed = os.environ.get("ONEDNN_MAX_CPU_ISA", "ALL").upper().replace("ALL", "AMX_FP16")
cdef bint _permitted = (
    amx_permitted()
    and not os.environ.get("DIST_MS_MAX_ISA")  # names no more than AVX-512
    and "AMX" in _allowed
)
cdef bint _has_float16 = _permitted and amx_has_float16() and "AMX_FP16" in _allowed

# Scratch memory, kept from call to call; a second caller at the same time gets some of its own.
cdef cnp.ndarray _ONE = np.zeros((1, 3), np.intp)
cdef uint8_t *_scratch = NULL
cdef size_t _scratch_size = 0


cdef struct Matrices:
    # Products of one shape; steps count elements. Each is cut into tasks: blocks of rows, then
    # of columns, as many panels long as said here.
    const float *a
    const float *b
    float *out
    const float *bias
    Py_ssize_t rows, columns, inner
    Py_ssize_t a_row, a_inner, b_inner, b_column, out_row
    Py_ssize_t row_panels, column_panels


cdef struct Scratch:
    # What a thread works in; the magnitudes are bits of the largest numbers met.
    uint8_t *a_panels
    uint8_t *b_panels
    uint32_t a_largest, b_largest


cdef inline Py_ssize_t panel_bytes(Py_ssize_t inner) noexcept nogil:
    """The size of a panel for a product of this inner length."""
    return block_count(min(inner, SLICE), PANEL) * BLOCK_BYTES


cdef inline Py_ssize_t kept_panels(const Matrices *m) noexcept nogil:
    """The panels of B that a task keeps split: all for several groups of A, else the one in use, close by."""
    return m.column_panels if m.row_panels > GROUP else 1


cdef void multiply_block(
    const Matrices *m, Py_ssize_t row, Py_ssize_t column, Scratch *scratch
) noexcept nogil:
    """Compute the task that starts at this row and column."""
    cdef Py_ssize_t size = panel_bytes(m.inner)
    cdef Py_ssize_t row_stop = min(m.rows, row + m.row_panels * PANEL)
    cdef Py_ssize_t column_stop = min(m.columns, column + m.column_panels * PANEL)
    cdef Py_ssize_t kept = kept_panels(m)
    cdef Py_ssize_t k_slice, k, length, first, stop, i, j, at
    cdef uint8_t *b_panel
    cdef TileConfig before
    amx_begin(&before)
    for k_slice in range(block_count(m.inner, SLICE)):
        k = k_slice * SLICE
        length = min(SLICE, m.inner - k)
        first = row
        while first < row_stop:
            stop = min(row_stop, first + GROUP * PANEL)
            for i in range(block_count(stop - first, PANEL)):
                at = first + i * PANEL
                scratch.a_largest = max(scratch.a_largest, amx_split_panel(
                    m.a + at * m.a_row + k * m.a_inner, m.a_row, m.a_inner,
                    min(PANEL, stop - at), length, 0, scratch.a_panels + i * size,
                ))
            for j in range(block_count(column_stop - column, PANEL)):
                at = column + j * PANEL
                b_panel = scratch.b_panels + j % kept * size
                if first == row:
                    scratch.b_largest = max(scratch.b_largest, amx_split_panel(
                        m.b + at * m.b_column + k * m.b_inner, m.b_column, m.b_inner,
                        min(PANEL, column_stop - at), length, 1, b_panel,
                    ))
                amx_multiply_panels(
                    scratch.a_panels, size, b_panel, block_count(length, PANEL),
                    m.out + first * m.out_row + at, m.out_row, stop - first, min(PANEL, column_stop - at),
                    m.bias + at if m.bias != NULL and k == 0 else NULL, k > 0,
                )
            first = stop
    amx_end(&before)


cdef int multiply_task(
    const Matrices *first, const Py_ssize_t *starts, Py_ssize_t task, uint8_t *memory
) noexcept nogil:
    """Compute one task of one product; return 1 if the result may be inaccurate, else 0.

    `starts` says for each product where its matrices begin, from those of the first one.
    """
    cdef Matrices m = first[0]
    cdef Scratch scratch
    cdef Py_ssize_t across = block_count(m.columns, m.column_panels * PANEL)
    cdef Py_ssize_t tasks = block_count(m.rows, m.row_panels * PANEL) * across
    cdef Py_ssize_t product = task // tasks
    m.a += starts[3 * product]
    m.b += starts[3 * product + 1]
    m.out += starts[3 * product + 2]
    scratch.a_panels = memory
    scratch.b_panels = memory + min(m.row_panels, GROUP) * panel_bytes(m.inner)
    scratch.a_largest = scratch.b_largest = 0
    task %= tasks
    multiply_block(
        &m, task // across * m.row_panels * PANEL, task % across * m.column_panels * PANEL, &scratch
    )
    return not (is_accurate(scratch.a_largest) and is_accurate(scratch.b_largest))


cdef inline bint is_accurate(uint32_t largest) noexcept nogil:
    """Whether numbers up to this magnitude lose nothing that counts when they are split."""
    return largest == 0 or SMALL <= largest < LARGE


cdef void cut(Matrices *m, Py_ssize_t products, int threads) noexcept nogil:
    """Choose the tasks of a product so that all threads get some and little is split twice."""
    cdef Py_ssize_t rows = block_count(m.rows, PANEL)
    cdef Py_ssize_t columns = block_count(m.columns, PANEL)
    cdef Py_ssize_t down, across, cost, best = -1
    if m.rows * m.columns * m.inner < SHARED_FROM or products >= 2 * threads:
        threads = 1
    for down in range(1, 1 + threads):
        across = block_count(columns, MOST_COLUMNS)
        while down * across * products % threads:
            across += 1
        cost = rows * across + columns * down
        if best < 0 or cost < best:
            best = cost
            m.row_panels = block_count(rows, down)
            m.column_panels = block_count(columns, across)


cdef bint multiply(
    Matrices *m, const Py_ssize_t *starts, Py_ssize_t products, uint8_t *memory, Py_ssize_t size
) noexcept nogil:
    """Compute all products; tell whether the results are accurate."""
    cdef Py_ssize_t tasks = products * (
        block_count(m.rows, m.row_panels * PANEL) * block_count(m.columns, m.column_panels * PANEL)
    )
    cdef bint shared = products * m.rows * m.columns * m.inner >= SHARED_FROM
    cdef Py_ssize_t task
    cdef int wrong = 0
    for task in prange(tasks, schedule="static", use_threads_if=shared):
        wrong += multiply_task(m, starts, task, memory + threadid() * size)
    return wrong == 0


cdef uint8_t *take_scratch(size_t size) except NULL:
    """Return 64-byte aligned memory of at least this size, to be given back."""
    global _scratch, _scratch_size
    cdef void *memory = NULL
    if _scratch != NULL and _scratch_size >= size:
        memory, _scratch = _scratch, NULL
        return <uint8_t *> memory
    if posix_memalign(&memory, HUGE_PAGE, size):
        raise MemoryError(f"For 'amx.matmul', {size} bytes of scratch memory are not available.")
    madvise(memory, size, MADV_HUGEPAGE)
    return <uint8_t *> memory


cdef void give_back(uint8_t *memory, size_t size) noexcept:
    global _scratch, _scratch_size
    if _scratch == NULL or size > _scratch_size:
        free(_scratch)
        _scratch, _scratch_size = memory, size
    else:
        free(memory)


cdef Py_ssize_t step(str name, cnp.ndarray array, int axis) except? -1:
    """Return the elements from one index of an axis to the next; 1 where there is no next."""
    if cnp.PyArray_DIM(array, axis) == 1 or cnp.PyArray_SIZE(array) == 0:
        return 1
    return cnp.PyArray_STRIDE(array, axis) // <Py_ssize_t> sizeof(float)


cdef int check_operand(str name, cnp.ndarray array, bint written) except -1:
    """Raise unless the array is float32 and rows or columns of its matrices are contiguous."""
    cdef int rank = cnp.PyArray_NDIM(array)
    check_type("amx.matmul", name, array, cnp.NPY_FLOAT32)
    check_memory("amx.matmul", name, array, written)
    if not 2 <= rank <= MAX_RANK:
        raise ValueError(f"For 'amx.matmul', '{name}' must have 2 to 8 dimensions, but got {rank}.")
    if step(name, array, rank - 1) != 1 and step(name, array, rank - 2) != 1:
        raise ValueError(
            f"For 'amx.matmul', rows or columns of '{name}' must be contiguous, but got strides "
            f"{(<object> array).strides}; copy it."
        )
    return 0


@cython.wraparound(True)
cdef int check_shapes(str kernel, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out) except -1:
    """Raise unless the shapes are those of a product."""
    left, right, result = (<object> a).shape, (<object> b).shape, (<object> out).shape
    lead = left[:-2] if left[:-2] == right[:-2] else np.broadcast_shapes(left[:-2], right[:-2])
    wanted = (*lead, left[-2], right[-1])
    if left[-1] != right[-2]:
        raise ValueError(
            f"For '{kernel}', the last size of 'a' must equal the last but one of 'b', but got "
            f"shapes {left} and {right}."
        )
    if wanted != result:
        raise ValueError(f"For '{kernel}', 'out' must have shape {wanted}, but got {result}.")
    return 0


@cython.wraparound(True)
cdef cnp.ndarray starts_of(cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
    """Return where the matrices of each product start: (products, 3), in elements."""
    lead = (<object> out).shape[:-2]
    starts = np.zeros((*lead, 3), np.intp)
    for which, array in enumerate((a, b, out)):
        rank = len(array.shape) - 2
        for axis in range(rank):
            length = array.shape[axis]
            if length > 1:
                steps = np.arange(length) * (array.strides[axis] // array.itemsize)
                starts[..., which] += steps.reshape(length, *(1,) * (rank - 1 - axis))
    return starts.reshape(-1, 3)


def available() -> bool:
    """Tell whether this process may use AMX.

    ``DIST_MS_MAX_ISA`` and ``ONEDNN_MAX_CPU_ISA`` forbid it when they name a lesser set.

    >>> available() in (True, False)
    True
    """
    return _permitted


def has_float16() -> bool:
    """Tell whether `available` AMX multiplies float16 as well as bfloat16.

    >>> has_float16() <= available()
    True
    """
    return _has_float16


def matmul(
    cnp.ndarray a not None, cnp.ndarray b not None, cnp.ndarray out not None, bias=None
) -> bool:
    """Compute out = a @ b + bias and return True, or return False where that is not accurate.

    The error is that of a float32 product. It would not be for operands with infinities, NaNs or
    magnitudes of which none reaches 2^-90: then `out` holds nothing useful and the caller takes
    another way.

    Args:
        a: float32 (..., M, K); rows or columns are contiguous.
        b: float32 (..., K, N), likewise; leading sizes broadcast.
        out: float32 (..., M, N), likewise; written. It shares no memory with the others.
        bias: float32 (N,), added to every row, or None.

    >>> if available():
    ...     a, out = np.array([[1, 2], [3, 4]], np.float32), np.empty((2, 2), np.float32)
    ...     assert matmul(a, a.T, out) and out.tolist() == [[5, 11], [11, 25]]
    """
    cdef Matrices m
    cdef int rank = cnp.PyArray_NDIM(out)
    cdef cnp.ndarray starts
    cdef const Py_ssize_t *start
    cdef Py_ssize_t size, products
    cdef uint8_t *memory
    cdef int threads = omp_get_max_threads()
    cdef bint accurate
    if not _permitted:
        raise RuntimeError("For 'amx.matmul', the CPU must have AMX and allow it; ask available().")
    check_operand("a", a, False)
    check_operand("b", b, False)
    check_operand("out", out, True)
    check_shapes("amx.matmul", a, b, out)
    if cnp.PyArray_SIZE(out) == 0:
        return True
    if step("out", out, rank - 1) != 1:
        if bias is not None:
            raise ValueError(
                "For 'amx.matmul', rows of 'out' must be contiguous if there is a bias; copy it."
            )
        a, b, out = b.swapaxes(-1, -2), a.swapaxes(-1, -2), out.swapaxes(-1, -2)
    m.bias = NULL
    if bias is not None:
        check_vector(
            "amx.matmul", "bias", bias, cnp.NPY_FLOAT32, cnp.PyArray_DIM(out, rank - 1), False
        )
        m.bias = <const float *> cnp.PyArray_DATA(bias)
    m.a = <const float *> cnp.PyArray_DATA(a)
    m.b = <const float *> cnp.PyArray_DATA(b)
    m.out = <float *> cnp.PyArray_DATA(out)
    m.rows = cnp.PyArray_DIM(out, rank - 2)
    m.columns = cnp.PyArray_DIM(out, rank - 1)
    m.inner = cnp.PyArray_DIM(a, cnp.PyArray_NDIM(a) - 1)
    m.a_row = step("a", a, cnp.PyArray_NDIM(a) - 2)
    m.a_inner = step("a", a, cnp.PyArray_NDIM(a) - 1)
    m.b_inner = step("b", b, cnp.PyArray_NDIM(b) - 2)
    m.b_column = step("b", b, cnp.PyArray_NDIM(b) - 1)
    m.out_row = step("out", out, rank - 2)
    if m.inner == 0:
        out[...] = 0 if bias is None else bias
        return True
    starts = _ONE if rank == 2 else starts_of(a, b, out)
    start = <const Py_ssize_t *> cnp.PyArray_DATA(starts)
    products = cnp.PyArray_DIM(starts, 0)
    cut(&m, products, threads)
    size = (min(m.row_panels, GROUP) + kept_panels(&m)) * panel_bytes(m.inner)
    memory = take_scratch(size * threads)
    with nogil:
        accurate = multiply(&m, start, products, memory, size)
    give_back(memory, size * threads)
    return accurate


include "amx_rounded.pxi"

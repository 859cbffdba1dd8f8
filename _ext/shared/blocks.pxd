# cython: cdivision=True
"""How work is cut into blocks, and sums over contiguous memory.

Hard rule: where a block starts and ends depends on the array's size alone, never on the number
of threads, and partial results are added in the order of the blocks. So any number of threads
gives the same bits.
"""

from cython cimport floating

cdef enum:
    # Elements per block: 64 KB of float32, so that a block's second pass finds it in the L2 cache.
    BLOCK = 16384
    # Elements from which on a second thread saves more than waking it costs.
    PARALLEL_FROM = 32768
    # An exponential is worth one this much earlier: from two blocks on.
    EXPONENTIAL_COST = 2
    # Rows that are added in their own type before the sum goes on in float64.
    QUAD = 4
    # Independent sums within a row: one AVX-512 register of float32.
    LANES = 16


cdef inline Py_ssize_t block_count(Py_ssize_t size, Py_ssize_t block) noexcept nogil:
    """Return how many blocks cover `size`."""
    return (size + block - 1) // block


cdef inline Py_ssize_t block_length(
    Py_ssize_t index, Py_ssize_t size, Py_ssize_t block
) noexcept nogil:
    """Return the length of block `index`; the last one may be shorter."""
    return min(block, size - index * block)


cdef inline Py_ssize_t rows_per_block(Py_ssize_t columns, Py_ssize_t least) noexcept nogil:
    """Return how many rows make a block, at least `least`."""
    return max(least, BLOCK // max(columns, 1))


cdef inline Py_ssize_t last_row(Py_ssize_t block, Py_ssize_t block_rows, Py_ssize_t rows) noexcept nogil:
    """Return the row after a block's last one."""
    return min((block + 1) * block_rows, rows)


cdef inline double lane_total(const double *lanes) noexcept nogil:
    """Add the lanes pairwise."""
    cdef double sums[LANES]
    cdef int lane
    for lane in range(LANES // 2):
        sums[lane] = lanes[lane] + lanes[lane + LANES // 2]
    for lane in range(LANES // 4):
        sums[lane] += sums[lane + LANES // 4]
    return (sums[0] + sums[2]) + (sums[1] + sums[3])


cdef inline double sum_of(const floating *x, Py_ssize_t size) noexcept nogil:
    """Return the sum of x: four elements at a time in x's type, the rest in float64."""
    cdef double lanes[LANES]
    cdef double rest = 0
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            lanes[lane] += <double> (
                (x[i + lane] + x[i + lane + LANES])
                + (x[i + lane + 2 * LANES] + x[i + lane + 3 * LANES])
            )
        i += QUAD * LANES
    while i < size:
        rest += x[i]
        i += 1
    return lane_total(lanes) + rest


cdef inline double sum_of_products(
    const floating *x, const floating *y, Py_ssize_t size
) noexcept nogil:
    """Return the sum of x times y, added like `sum_of`."""
    cdef double lanes[LANES]
    cdef double rest = 0
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            lanes[lane] += <double> (
                (x[i + lane] * y[i + lane] + x[i + lane + LANES] * y[i + lane + LANES])
                + (
                    x[i + lane + 2 * LANES] * y[i + lane + 2 * LANES]
                    + x[i + lane + 3 * LANES] * y[i + lane + 3 * LANES]
                )
            )
        i += QUAD * LANES
    while i < size:
        rest += x[i] * y[i]
        i += 1
    return lane_total(lanes) + rest


cdef inline void add_sums_around(
    const floating *x, floating center, Py_ssize_t size, double *total, double *squares
) noexcept nogil:
    """Add the sums of x - center and of (x - center)^2, made like `sum_of`."""
    cdef double lanes[LANES]
    cdef double square_lanes[LANES]
    cdef floating d0, d1, d2, d3
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
        square_lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            d0 = x[i + lane] - center
            d1 = x[i + lane + LANES] - center
            d2 = x[i + lane + 2 * LANES] - center
            d3 = x[i + lane + 3 * LANES] - center
            lanes[lane] += <double> ((d0 + d1) + (d2 + d3))
            square_lanes[lane] += <double> ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3))
        i += QUAD * LANES
    while i < size:
        d0 = x[i] - center
        total[0] += d0
        squares[0] += d0 * d0
        i += 1
    total[0] += lane_total(lanes)
    squares[0] += lane_total(square_lanes)


cdef inline double sum_of_centered_products(
    const floating *weight, const floating *x, floating center, Py_ssize_t size
) noexcept nogil:
    """Return the sum of weight (x - center), added like `sum_of`."""
    cdef double lanes[LANES]
    cdef double rest = 0
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES):
        lanes[lane] = 0
    while i + QUAD * LANES <= size:
        for lane in range(LANES):
            lanes[lane] += <double> (
                (
                    weight[i + lane] * (x[i + lane] - center)
                    + weight[i + lane + LANES] * (x[i + lane + LANES] - center)
                )
                + (
                    weight[i + lane + 2 * LANES] * (x[i + lane + 2 * LANES] - center)
                    + weight[i + lane + 3 * LANES] * (x[i + lane + 3 * LANES] - center)
                )
            )
        i += QUAD * LANES
    while i < size:
        rest += weight[i] * (x[i] - center)
        i += 1
    return lane_total(lanes) + rest


cdef inline void keep_larger(const floating *x, floating *lanes, int count) noexcept nogil:
    """Replace each lane by x if that is larger."""
    cdef int lane
    for lane in range(count):
        lanes[lane] = x[lane] if x[lane] > lanes[lane] else lanes[lane]


cdef inline floating maximum_of(const floating *x, Py_ssize_t size) noexcept nogil:
    """Return the largest of x, which has at least one element; a NaN may or may not win."""
    cdef floating lanes[2 * LANES]
    cdef floating largest = x[0]
    cdef Py_ssize_t i = 0
    cdef int lane
    if size < 2 * LANES:
        for i in range(size):
            largest = x[i] if x[i] > largest else largest
        return largest
    for lane in range(2 * LANES):
        lanes[lane] = largest
    while i + 2 * LANES <= size:
        keep_larger(x + i, lanes, 2 * LANES)
        i += 2 * LANES
    # The rest, together with elements that have been seen.
    keep_larger(x + size - 2 * LANES, lanes, 2 * LANES)
    keep_larger(<const floating *> lanes + LANES, lanes, LANES)
    keep_larger(<const floating *> lanes + LANES // 2, lanes, LANES // 2)
    keep_larger(<const floating *> lanes + LANES // 4, lanes, LANES // 4)
    largest = lanes[0]
    for lane in range(1, LANES // 4):
        largest = lanes[lane] if lanes[lane] > largest else largest
    return largest

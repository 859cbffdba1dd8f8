# Products of matrices that are bfloat16 or float16, or float32 rounded to that while they are packed.

cdef enum:
    # Panels of B that a thread keeps packed: 512 KB of its L2 cache.
    ROUNDED_COLUMNS = 32

cdef object _BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


cdef struct Rounded:
    # One product, cut into tasks: blocks of rows, then of columns, as many panels long as said here.
    RoundedOperand a
    RoundedOperand b
    char *out
    const float *bias
    float *row_sums
    bint wide  # The result is float32.
    bint half  # What is rounded is rounded to float16.
    # Leading dimensions: their sizes, and the bytes from one index to the next.
    int lead
    Py_ssize_t products
    Py_ssize_t sizes[MAX_RANK]
    Py_ssize_t a_steps[MAX_RANK]
    Py_ssize_t b_steps[MAX_RANK]
    Py_ssize_t out_steps[MAX_RANK]
    Py_ssize_t rows, columns, inner, out_row
    Py_ssize_t row_panels, column_panels


cdef struct RoundedScratch:
    uint8_t *b_panels
    uint8_t *a_panel
    double *totals
    float *sums


cdef RoundedScratch rounded_scratch(const Rounded *m, uint8_t *memory, size_t *size) noexcept nogil:
    """Divide a thread's memory; tell how much it takes."""
    cdef RoundedScratch scratch
    cdef Py_ssize_t blocks = block_count(min(m.inner, SLICE), PANEL)
    cdef Py_ssize_t columns = min(m.column_panels, ROUNDED_COLUMNS)
    scratch.b_panels = memory
    scratch.a_panel = scratch.b_panels + columns * blocks * ROUNDED_BLOCK_BYTES
    scratch.totals = <double *> (scratch.a_panel + blocks * ROUNDED_BLOCK_BYTES)
    scratch.sums = <float *> (scratch.totals + (m.row_panels * PANEL if m.row_sums != NULL else 0))
    size[0] = <uint8_t *> scratch.sums - memory
    if not m.wide and m.inner > SLICE:
        size[0] += m.row_panels * columns * PANEL * PANEL * sizeof(float)
    return scratch


cdef void note_next(
    const Rounded *m, Py_ssize_t row, Py_ssize_t next_row, Py_ssize_t row_stop, Py_ssize_t k, RoundedStrip *strip
) noexcept nogil:
    """Say which panel of A is packed after the one in use."""
    cdef Py_ssize_t length
    if next_row >= row_stop:
        next_row = row
        k += SLICE
    length = min(SLICE, m.inner - k)
    strip.next_count = 0
    if length > 0:
        amx_note_next(&m.a, next_row, k, min(PANEL, row_stop - next_row), length, strip)


cdef void pack_columns(
    const Rounded *m, Py_ssize_t k, Py_ssize_t length, Py_ssize_t column, Py_ssize_t columns, uint8_t *to
) noexcept nogil:
    """Pack panels of B one after the other, in the order in which their numbers lie in memory."""
    cdef Py_ssize_t blocks = block_count(length, PANEL), j, i
    cdef Py_ssize_t together = blocks if m.b.row_step != 1 else 1
    i = 0
    while i < blocks:
        for j in range(block_count(columns, PANEL)):
            amx_round_panel(
                &m.b, column + j * PANEL, k + i * PANEL, min(PANEL, columns - j * PANEL),
                min(together * PANEL, length - i * PANEL), 1, to + (j * blocks + i) * ROUNDED_BLOCK_BYTES, NULL,
            )
        i += together


cdef void round_block(
    const Rounded *m, Py_ssize_t row, Py_ssize_t row_stop, Py_ssize_t column, Py_ssize_t columns,
    const RoundedScratch *scratch, double *totals
) noexcept nogil:
    """Compute some rows of up to ROUNDED_COLUMNS panels of columns; add up the rows of A where `totals` are."""
    cdef RoundedStrip strip
    cdef Py_ssize_t k = 0, length, blocks, i, item = 4 if m.wide else 2
    while k < m.inner:
        length = min(SLICE, m.inner - k)
        blocks = block_count(length, PANEL)
        pack_columns(m, k, length, column, columns, scratch.b_panels)
        strip.columns = columns
        strip.bias = m.bias + column if m.bias != NULL else NULL
        strip.is_float, strip.adds, strip.ends = m.wide, k > 0, k + length == m.inner
        strip.half = m.half
        strip.out_step = m.out_row
        i = row
        while i < row_stop:
            strip.rows = min(PANEL, row_stop - i)
            amx_round_panel(
                &m.a, i, k, strip.rows, length, 0, scratch.a_panel,
                totals + (i - row) if totals != NULL else NULL,
            )
            strip.out = m.out + (i * m.out_row + column) * item
            if m.wide:
                strip.sums, strip.sums_step = <float *> strip.out, m.out_row
            else:
                strip.sums_step = min(m.column_panels, ROUNDED_COLUMNS) * PANEL
                strip.sums = scratch.sums + (i - row) * strip.sums_step
            note_next(m, row, i + PANEL, row_stop, k, &strip)
            amx_multiply_rounded(scratch.a_panel, scratch.b_panels, blocks, &strip)
            i += PANEL
        k += length


cdef void rounded_task(const Rounded *first, Py_ssize_t task, uint8_t *memory) noexcept nogil:
    """Compute one task of one product."""
    cdef Rounded here = first[0]
    cdef const Rounded *m = &here
    cdef Py_ssize_t tasks = tasks_of(m), product = task // tasks
    cdef int axis = m.lead
    task %= tasks
    while axis:
        axis -= 1
        here.a.data += product % m.sizes[axis] * m.a_steps[axis]
        here.b.data += product % m.sizes[axis] * m.b_steps[axis]
        here.out += product % m.sizes[axis] * m.out_steps[axis]
        product //= m.sizes[axis]
    block_task(m, task, memory)


cdef inline Py_ssize_t tasks_of(const Rounded *m) noexcept nogil:
    """The tasks of one product."""
    return block_count(m.rows, m.row_panels * PANEL) * block_count(m.columns, m.column_panels * PANEL)


cdef void block_task(const Rounded *m, Py_ssize_t task, uint8_t *memory) noexcept nogil:
    """Compute one task of a product whose matrices begin where `m` says."""
    cdef Py_ssize_t across = block_count(m.columns, m.column_panels * PANEL)
    cdef Py_ssize_t row = task // across * m.row_panels * PANEL
    cdef Py_ssize_t row_stop = min(m.rows, row + m.row_panels * PANEL)
    cdef Py_ssize_t column = task % across * m.column_panels * PANEL
    cdef Py_ssize_t column_stop = min(m.columns, column + m.column_panels * PANEL)
    cdef Py_ssize_t at = column, i
    cdef size_t size
    cdef RoundedScratch scratch = rounded_scratch(m, memory, &size)
    cdef bint adds_up = m.row_sums != NULL and column == 0
    cdef TileConfig before
    if adds_up:
        memset(scratch.totals, 0, m.row_panels * PANEL * sizeof(double))
    amx_begin(&before)
    while at < column_stop:
        round_block(
            m, row, row_stop, at, min(ROUNDED_COLUMNS * PANEL, column_stop - at), &scratch,
            scratch.totals if adds_up and at == 0 else NULL,
        )
        at += ROUNDED_COLUMNS * PANEL
    amx_end(&before)
    if adds_up:
        for i in range(row_stop - row):
            m.row_sums[row + i] = <float> scratch.totals[i]


cdef int read_rounded(
    RoundedOperand *operand, str name, cnp.ndarray array, int row_axis, object low
) except -1:
    """Check a factor and describe it: its axis of rows (of A) or columns (of B), and the inner one."""
    check_rounded(name, array, False, low)
    operand.half = low.num == cnp.NPY_FLOAT16
    operand.data = <const char *> cnp.PyArray_DATA(array)
    operand.is_float = cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT32
    operand.row_step = axis_step(array, cnp.PyArray_NDIM(array) - 2 + row_axis)
    operand.inner_step = axis_step(array, cnp.PyArray_NDIM(array) - 1 - row_axis)
    if operand.row_step != 1 and operand.inner_step != 1:
        raise ValueError(
            f"For 'amx.matmul_rounded', rows or columns of '{name}' must be contiguous, but got strides "
            f"{(<object> array).strides}; copy it."
        )
    return 0


cdef int check_rounded(str name, cnp.ndarray array, bint written, object low) except -1:
    """Raise unless the array is a matrix, or several, of float32 or the type of 16 bits."""
    cdef int number = cnp.PyArray_TYPE(array)
    if number != cnp.NPY_FLOAT32 and number != low.num:
        raise TypeError(
            f"For 'amx.matmul_rounded', '{name}' must be float32 or {low}, but got {(<object> array).dtype}."
        )
    check_memory("amx.matmul_rounded", name, array, written)
    if not 2 <= cnp.PyArray_NDIM(array) <= MAX_RANK:
        raise ValueError(
            f"For 'amx.matmul_rounded', '{name}' must have 2 to 8 dimensions, but got {cnp.PyArray_NDIM(array)}."
        )
    return 0


cdef inline Py_ssize_t axis_step(cnp.ndarray array, int axis) noexcept:
    """Return the elements from one index of an axis to the next; 1 where there is no next."""
    if cnp.PyArray_DIM(array, axis) == 1 or cnp.PyArray_SIZE(array) == 0:
        return 1
    return cnp.PyArray_STRIDE(array, axis) // cnp.PyArray_ITEMSIZE(array)


cdef void read_lead(Py_ssize_t *steps, cnp.ndarray array, int lead) noexcept:
    """Fill in the bytes from one index to the next of each leading dimension of the result; 0 to broadcast."""
    cdef int axis, of_array
    for axis in range(lead):
        of_array = axis + cnp.PyArray_NDIM(array) - 2 - lead
        steps[axis] = 0
        if of_array >= 0 and cnp.PyArray_DIM(array, of_array) != 1:
            steps[axis] = cnp.PyArray_STRIDE(array, of_array)


def matmul_rounded(
    cnp.ndarray a not None, cnp.ndarray b not None, cnp.ndarray out not None, bias=None, row_sums=None, low=_BFLOAT16
) -> None:
    """Compute out = a @ b + bias of factors rounded to 16 bits; products are added up in float32.

    Sums over 256 inner indices are made apart, then added in order: the same bits for any number of threads.

    Args:
        a: float32 or `low` (..., M, K); rows or columns are contiguous.
        b: float32 or `low` (..., K, N), likewise; leading sizes broadcast.
        out: float32 or `low` (..., M, N), rows contiguous; written. It shares no memory with the others.
        bias: float32 (N,), added to every row, or None.
        row_sums: float32 (M,), gets the sums of a's rows as they were before rounding, or None; for one product whose
            `a` has contiguous columns.
        low: the dtype that factors are rounded to: bfloat16 or, where `has_float16`, float16, in which numbers
            from 65520 on are infinite.

    Raises:
        TypeError: an array has another type.
        ValueError: shapes do not agree, or a layout is none of these.
        RuntimeError: the CPU has no AMX for the type, or it is forbidden.

    >>> if available():
    ...     a, out = np.array([[1, 2], [3, 4]], np.float32), np.empty((2, 2), np.float32)
    ...     matmul_rounded(a, a.T, out)
    ...     assert out.tolist() == [[5, 11], [11, 25]]
    """
    cdef Rounded m
    cdef Matrices sizes
    cdef Py_ssize_t task, tasks
    cdef size_t size
    cdef uint8_t *memory
    cdef int threads = omp_get_max_threads(), axis
    if not _permitted:
        raise RuntimeError("For 'amx.matmul_rounded', the CPU must have AMX and allow it; ask available().")
    if low is not _BFLOAT16:
        low = np.dtype(low)
    m.half = low.num == cnp.NPY_FLOAT16
    if not m.half and low != _BFLOAT16:
        raise TypeError(f"For 'amx.matmul_rounded', 'low' must be bfloat16 or float16, but got {low}.")
    if m.half and not _has_float16:
        raise RuntimeError(
            "For 'amx.matmul_rounded', the CPU must have AMX's float16 tiles and allow them; ask has_float16()."
        )
    read_rounded(&m.a, "a", a, 0, low)
    read_rounded(&m.b, "b", b, 1, low)
    check_rounded("out", out, True, low)
    check_shapes("amx.matmul_rounded", a, b, out)
    m.lead = cnp.PyArray_NDIM(out) - 2
    m.rows, m.columns = cnp.PyArray_DIM(out, m.lead), cnp.PyArray_DIM(out, m.lead + 1)
    m.inner = cnp.PyArray_DIM(a, cnp.PyArray_NDIM(a) - 1)
    m.wide = cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT32
    m.out = <char *> cnp.PyArray_DATA(out)
    m.out_row = m.columns if m.rows == 1 else axis_step(out, m.lead)
    if axis_step(out, m.lead + 1) != 1:
        raise ValueError(
            f"For 'amx.matmul_rounded', rows of 'out' must be contiguous, but got strides "
            f"{(<object> out).strides}; copy it."
        )
    m.products = 1
    for axis in range(m.lead):
        m.sizes[axis] = cnp.PyArray_DIM(out, axis)
        m.products *= m.sizes[axis]
    read_lead(m.a_steps, a, m.lead)
    read_lead(m.b_steps, b, m.lead)
    read_lead(m.out_steps, out, m.lead)
    m.bias, m.row_sums = NULL, NULL
    if bias is not None:
        check_vector("amx.matmul_rounded", "bias", bias, cnp.NPY_FLOAT32, m.columns, False)
        m.bias = <const float *> cnp.PyArray_DATA(bias)
    if row_sums is not None:
        check_vector("amx.matmul_rounded", "row_sums", row_sums, cnp.NPY_FLOAT32, m.rows, True)
        m.row_sums = <float *> cnp.PyArray_DATA(row_sums)
        if m.a.row_step != 1 or m.lead:
            raise ValueError(
                f"For 'amx.matmul_rounded', 'a' must be one matrix with contiguous columns if there are 'row_sums', "
                f"but got shape {(<object> a).shape} with strides {(<object> a).strides}; sum them otherwise."
            )
    if m.inner == 0 or cnp.PyArray_SIZE(out) == 0:
        out[...] = 0 if bias is None else bias
        if row_sums is not None:
            np.sum(a, 1, np.float32, row_sums)
        return
    sizes.rows, sizes.columns, sizes.inner = m.rows, m.columns, m.inner
    cut(&sizes, m.products, threads)
    m.row_panels, m.column_panels = sizes.row_panels, sizes.column_panels
    tasks = m.products * tasks_of(&m)
    rounded_scratch(&m, NULL, &size)
    size = block_count(size, LINE) * LINE
    memory = take_scratch(size * threads)
    with nogil:
        for task in prange(
            tasks, schedule="static", use_threads_if=m.products * m.rows * m.columns * m.inner >= SHARED_FROM
        ):
            rounded_task(&m, task, memory + threadid() * size)
    give_back(memory, size * threads)

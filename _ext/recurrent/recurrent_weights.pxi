# W_hh laid out in the panels that `product` reads: turned for the states, straight for their gradients.

cdef void turn_panel(
    const floating *weight, Py_ssize_t count, Py_ssize_t size, Py_ssize_t unit, floating *panel
) noexcept nogil:
    """Write `count` rows of a matrix of `size` columns as the columns of `panel`, whose rows have `unit` numbers."""
    cdef Py_ssize_t side = TRANSPOSE_LINE // <Py_ssize_t> sizeof(floating)
    cdef Py_ssize_t row, column = 0
    while column < size:
        row = 0
        while row < count:
            dm_transpose_tile(
                sizeof(floating), <const char *> (weight + row * size + column), size * sizeof(floating),
                min(side, count - row), min(side, size - column), <char *> (panel + column * unit + row),
                unit * sizeof(floating)
            )
            row += side
        column += side


cdef void pack_turned(
    const floating *weight, Py_ssize_t width, Py_ssize_t size, floating *packed
) noexcept nogil:
    """Lay W_hh (width, size) out for products with its transpose: panels of columns, `size` rows each."""
    cdef Py_ssize_t unit = tile_columns(weight)
    cdef Py_ssize_t panel
    for panel in prange(block_count(width, unit), schedule="static", use_threads_if=width * size >= MANY_PRODUCTS // 4):
        if (panel + 1) * unit > width:
            memset(packed + panel * unit * size, 0, unit * size * sizeof(floating))
        turn_panel(
            weight + panel * unit * size, block_length(panel, width, unit), size, unit, packed + panel * unit * size
        )


cdef void pack_straight(
    const floating *weight, Py_ssize_t width, Py_ssize_t size, floating *packed
) noexcept nogil:
    """Lay W_hh (width, size) out for products with itself: panels of columns, `width` rows each."""
    cdef Py_ssize_t unit = tile_columns(weight)
    cdef Py_ssize_t panel, row
    for panel in prange(block_count(size, unit), schedule="static", use_threads_if=width * size >= MANY_PRODUCTS // 4):
        if (panel + 1) * unit > size:
            memset(packed + panel * unit * width, 0, unit * width * sizeof(floating))
        for row in range(width):
            memcpy(
                packed + (panel * width + row) * unit, weight + row * size + panel * unit,
                min(unit, size - panel * unit) * sizeof(floating)
            )

"""Products of small matrices, see tile_product.h."""

from cython cimport floating

cdef extern from "tile_product.h" nogil:
    const int TILE_ROWS
    Py_ssize_t dm_columns_f32() noexcept
    Py_ssize_t dm_columns_f64() noexcept
    void dm_product_f32(
        Py_ssize_t rows, Py_ssize_t panels, Py_ssize_t depth, const float *a, Py_ssize_t a_row, Py_ssize_t a_step,
        const float *b, Py_ssize_t b_panel, Py_ssize_t b_step, float *c, Py_ssize_t c_row, int adds) noexcept
    void dm_product_f64(
        Py_ssize_t rows, Py_ssize_t panels, Py_ssize_t depth, const double *a, Py_ssize_t a_row, Py_ssize_t a_step,
        const double *b, Py_ssize_t b_panel, Py_ssize_t b_step, double *c, Py_ssize_t c_row, int adds) noexcept


cdef inline Py_ssize_t tile_columns(const floating *x) noexcept nogil:
    """Return how many columns a panel of the type has."""
    return dm_columns_f32() if floating is float else dm_columns_f64()


cdef inline Py_ssize_t padded(Py_ssize_t size, Py_ssize_t unit) noexcept nogil:
    """Return the smallest multiple of `unit` that is no less than `size`."""
    return (size + unit - 1) // unit * unit


cdef inline void product(
    Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t depth,
    const floating *a, Py_ssize_t a_row, Py_ssize_t a_step,
    const floating *b, Py_ssize_t b_panel, Py_ssize_t b_step,
    floating *c, Py_ssize_t c_row, bint adds
) noexcept nogil:
    """Write c = a b, or c + a b, of `rows` by `columns` rounded up to whole panels.

    Row i of `a` begins at i a_row, its elements lie a_step apart. Panel p of `b` begins at
    p b_panel, its rows lie b_step apart.
    """
    cdef Py_ssize_t unit = tile_columns(a)
    cdef Py_ssize_t panels = (columns + unit - 1) // unit
    if floating is float:
        dm_product_f32(rows, panels, depth, a, a_row, a_step, b, b_panel, b_step, c, c_row, adds)
    else:
        dm_product_f64(rows, panels, depth, a, a_row, a_step, b, b_panel, b_step, c, c_row, adds)

# cython: cdivision=True, boundscheck=False, wraparound=False
"""Steps of recurrent layers and their gradients: the product with W_hh and the gates of all steps in one pass.

A row of the batch needs no other row, so a thread takes a block of rows through all steps and meets the others at the
end only. W_hh is laid out once per run as the product reads it, and should fit into a core's cache. Where it does not,
the caller makes the products, and the functions for one step do the rest.

The G gates of a row of H units lie one after the other: i, f, g, o of an LSTM, r, z, n of a GRU. Arrays are
C-contiguous, all float32 or all float64. States `h` and `c` are (T + 1, N, H), of which k is what enters step k; step k
reads and writes time t = k, or T - 1 - k where time runs backwards, of `x` (T, N, G H), `outputs`, `dout` (T, N, H),
`dgates`, `dinner` (T, N, G H) and `live` (T, N), which is false where a sequence has ended: the state stays, the output
is 0. `gates` (T, N, G H), and for a GRU `inner_n` (T, N, H), keep by k what the gradient needs.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from arrays cimport check, real_type
from blocks cimport block_count, block_length
from tile_product cimport padded, product, tile_columns
from tiles cimport TILE, put_rest, take_rest
from transcendental cimport hidden, hyperbolic_tangent, sigmoid

cnp.import_array()

cdef extern from "tile_transpose.h" nogil:
    const int TRANSPOSE_LINE
    void dm_transpose_tile(
        int word, const char *source, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t columns, char *out,
        Py_ssize_t out_step) noexcept

cdef enum:
    MOST_GATES = 4
    # Rows that a thread takes through all steps at once: it reads all of W_hh for them at each step.
    BLOCK_ROWS = 16
    # Multiplications of a run, and elements of a step, from which on a second thread saves more than it costs.
    MANY_PRODUCTS = 1 << 18
    MANY_ELEMENTS = 4096

cdef enum Kind:
    TANH
    RELU
    LSTM
    GRU

_KINDS = {"tanh": TANH, "relu": RELU, "lstm": LSTM, "gru": GRU}


ctypedef struct Run:
    Kind kind
    Py_ssize_t steps
    Py_ssize_t rows
    Py_ssize_t size
    Py_ssize_t width
    bint backwards
    const unsigned char *live
    void *x
    void *bias
    void *h
    void *c
    void *gates
    void *inner_n
    void *outputs
    void *dout
    void *dc
    void *dgates
    void *dinner


cdef inline void forward_tile(
    Kind kind, const floating *inner, const floating *x, const floating *bias, const floating *h_before,
    const floating *c_before, Py_ssize_t step, floating *gates, floating *inner_n, floating *c, floating *h,
    float lowest
) noexcept nogil:
    """Run a step for TILE units of a row, whose gates lie `step` apart."""
    cdef floating a[MOST_GATES * TILE]
    cdef floating state[TILE]
    cdef floating of_n[TILE]
    cdef int count = 4 if kind == LSTM else 3 if kind == GRU else 1
    cdef int gate, lane
    for gate in range(count):
        for lane in range(TILE):
            a[gate * TILE + lane] = inner[gate * step + lane]
        if bias != NULL:
            for lane in range(TILE):
                a[gate * TILE + lane] += bias[gate * step + lane]
    if kind == GRU:
        for lane in range(TILE):
            of_n[lane] = a[2 * TILE + lane]
        for gate in range(2):
            for lane in range(TILE):
                a[gate * TILE + lane] += x[gate * step + lane]
        for lane in range(2 * TILE):
            a[lane] = sigmoid(a[lane], lowest)
        for lane in range(TILE):
            a[2 * TILE + lane] = hyperbolic_tangent(x[2 * step + lane] + a[lane] * of_n[lane])
        for lane in range(TILE):
            state[lane] = a[2 * TILE + lane] + a[TILE + lane] * (h_before[lane] - a[2 * TILE + lane])
        for lane in range(TILE):
            inner_n[lane] = of_n[lane]
    else:
        for gate in range(count):
            for lane in range(TILE):
                a[gate * TILE + lane] += x[gate * step + lane]
        if kind == TANH:
            for lane in range(TILE):
                state[lane] = hyperbolic_tangent(a[lane])
        elif kind == RELU:
            # Written with <= so that a NaN comes out as a NaN.
            for lane in range(TILE):
                state[lane] = 0 if a[lane] <= 0 else a[lane]
        else:
            for lane in range(2 * TILE):
                a[lane] = sigmoid(a[lane], lowest)
            for lane in range(TILE):
                a[2 * TILE + lane] = hyperbolic_tangent(a[2 * TILE + lane])
            for lane in range(TILE):
                a[3 * TILE + lane] = sigmoid(a[3 * TILE + lane], lowest)
            for lane in range(TILE):
                state[lane] = a[TILE + lane] * c_before[lane] + a[lane] * a[2 * TILE + lane]
            for lane in range(TILE):
                c[lane] = state[lane]
            for lane in range(TILE):
                state[lane] = a[3 * TILE + lane] * hyperbolic_tangent(state[lane])
    if gates != NULL:
        for gate in range(count):
            for lane in range(TILE):
                gates[gate * step + lane] = a[gate * TILE + lane]
    for lane in range(TILE):
        h[lane] = state[lane]


cdef inline void backward_tile(
    Kind kind, const floating *gates, const floating *inner_n, const floating *h_before, const floating *c_before,
    const floating *h, const floating *c, const floating *dout, Py_ssize_t step, floating *dh, floating *dc,
    floating *dgates, floating *dinner
) noexcept nogil:
    """Turn the gradients of what a step leaves into those of the gates and of what passes them by, in dh and dc."""
    cdef floating g[MOST_GATES * TILE]
    cdef floating d[MOST_GATES * TILE]
    cdef floating given[TILE]
    cdef floating other[TILE]
    cdef floating shape[TILE]
    cdef floating one = 1
    cdef int count = 4 if kind == LSTM else 3 if kind == GRU else 1
    cdef int gate, lane
    for lane in range(TILE):
        given[lane] = dh[lane] + dout[lane]
    if gates != NULL:
        for gate in range(count):
            for lane in range(TILE):
                g[gate * TILE + lane] = gates[gate * step + lane]
    if kind == TANH:
        for lane in range(TILE):
            d[lane] = given[lane] * (one - h[lane] * h[lane])
        for lane in range(TILE):
            dh[lane] = 0
    elif kind == RELU:
        for lane in range(TILE):
            d[lane] = given[lane] * (one if h[lane] > 0 else 0)
        for lane in range(TILE):
            dh[lane] = 0
    elif kind == LSTM:
        for lane in range(TILE):
            shape[lane] = hyperbolic_tangent(c[lane])
        for lane in range(TILE):
            other[lane] = dc[lane] + given[lane] * g[3 * TILE + lane] * (one - shape[lane] * shape[lane])
        for lane in range(TILE):
            d[lane] = other[lane] * g[2 * TILE + lane] * (g[lane] * (one - g[lane]))
        for lane in range(TILE):
            d[TILE + lane] = other[lane] * c_before[lane] * (g[TILE + lane] * (one - g[TILE + lane]))
        for lane in range(TILE):
            d[2 * TILE + lane] = other[lane] * g[lane] * (one - g[2 * TILE + lane] * g[2 * TILE + lane])
        for lane in range(TILE):
            d[3 * TILE + lane] = given[lane] * shape[lane] * (g[3 * TILE + lane] * (one - g[3 * TILE + lane]))
        for lane in range(TILE):
            dc[lane] = other[lane] * g[TILE + lane]
        for lane in range(TILE):
            dh[lane] = 0
    else:
        for lane in range(TILE):
            d[TILE + lane] = (
                given[lane] * (h_before[lane] - g[2 * TILE + lane]) * (g[TILE + lane] * (one - g[TILE + lane]))
            )
        for lane in range(TILE):
            d[2 * TILE + lane] = (
                given[lane] * (one - g[TILE + lane]) * (one - g[2 * TILE + lane] * g[2 * TILE + lane])
            )
        for lane in range(TILE):
            d[lane] = d[2 * TILE + lane] * inner_n[lane] * (g[lane] * (one - g[lane]))
        for lane in range(TILE):
            dh[lane] = given[lane] * g[TILE + lane]
        # W_hh h meets n behind the factor r.
        for gate in range(2):
            for lane in range(TILE):
                dinner[gate * step + lane] = d[gate * TILE + lane]
        for lane in range(TILE):
            dinner[2 * step + lane] = d[2 * TILE + lane] * g[lane]
    for gate in range(count):
        for lane in range(TILE):
            dgates[gate * step + lane] = d[gate * TILE + lane]


cdef inline void take_gates(
    const floating *x, Py_ssize_t step, int count, Py_ssize_t size, floating *tile
) noexcept nogil:
    """Copy `size` units of each gate, less than a tile."""
    cdef int gate
    cdef floating zero = 0
    for gate in range(count):
        take_rest(x + gate * step, size, zero, tile + gate * TILE)


cdef inline void put_gates(
    const floating *tile, Py_ssize_t step, int count, Py_ssize_t size, floating *out
) noexcept nogil:
    cdef int gate
    for gate in range(count):
        put_rest(tile + gate * TILE, size, out + gate * step)


cdef void forward_row(
    const Run *run, Py_ssize_t k, Py_ssize_t row, const floating *inner, float lowest
) noexcept nogil:
    """Run step k for one row."""
    cdef Py_ssize_t size = run.size
    cdef Py_ssize_t t = run.steps - 1 - k if run.backwards else k
    cdef Py_ssize_t place = k * run.rows + row, following = place + run.rows
    cdef const floating *x = <const floating *> run.x + (t * run.rows + row) * run.width
    cdef const floating *bias = <const floating *> run.bias
    cdef const floating *h_before = <const floating *> run.h + place * size
    cdef floating *h = <floating *> run.h + following * size
    cdef floating *outputs = <floating *> run.outputs + (t * run.rows + row) * size
    cdef const floating *c_before = NULL
    cdef floating *c = NULL
    cdef floating *gates = NULL
    cdef floating *inner_n = NULL
    cdef floating inner_tile[MOST_GATES * TILE]
    cdef floating x_tile[MOST_GATES * TILE]
    cdef floating bias_tile[MOST_GATES * TILE]
    cdef floating gates_tile[MOST_GATES * TILE]
    cdef floating before_tile[2 * TILE]
    cdef floating after_tile[3 * TILE]
    cdef floating zero = 0
    cdef int count = <int> (run.width // size)
    cdef Py_ssize_t start = 0, rest
    if run.c != NULL:
        c_before = <const floating *> run.c + place * size
        c = <floating *> run.c + following * size
    if run.gates != NULL:
        gates = <floating *> run.gates + place * run.width
    if run.inner_n != NULL:
        inner_n = <floating *> run.inner_n + place * size
    if run.live != NULL and not run.live[t * run.rows + row]:
        memcpy(h, h_before, size * sizeof(floating))
        if c != NULL:
            memcpy(c, c_before, size * sizeof(floating))
        memset(outputs, 0, size * sizeof(floating))
        return
    while start + TILE <= size:
        forward_tile(
            run.kind, inner + start, x + start, NULL if bias == NULL else bias + start, h_before + start,
            c_before + start, size, NULL if gates == NULL else gates + start, inner_n + start, c + start, h + start,
            lowest
        )
        start += TILE
    if start < size:
        rest = size - start
        take_gates(inner + start, size, count, rest, inner_tile)
        take_gates(x + start, size, count, rest, x_tile)
        if bias != NULL:
            take_gates(bias + start, size, count, rest, bias_tile)
        take_rest(h_before + start, rest, zero, before_tile)
        if c != NULL:
            take_rest(c_before + start, rest, zero, before_tile + TILE)
        forward_tile(
            run.kind, inner_tile, x_tile, NULL if bias == NULL else bias_tile, before_tile, before_tile + TILE, TILE,
            gates_tile, after_tile + 2 * TILE, after_tile + TILE, after_tile, lowest
        )
        if gates != NULL:
            put_gates(gates_tile, size, count, rest, gates + start)
        if inner_n != NULL:
            put_rest(after_tile + 2 * TILE, rest, inner_n + start)
        if c != NULL:
            put_rest(after_tile + TILE, rest, c + start)
        put_rest(after_tile, rest, h + start)
    memcpy(outputs, h, size * sizeof(floating))


cdef void backward_row(const Run *run, Py_ssize_t k, Py_ssize_t row, floating *dh) noexcept nogil:
    """Run the gradient of step k for one row."""
    cdef Py_ssize_t size = run.size
    cdef Py_ssize_t t = run.steps - 1 - k if run.backwards else k
    cdef Py_ssize_t place = k * run.rows + row, following = place + run.rows
    cdef const floating *h_before = <const floating *> run.h + place * size
    cdef const floating *h = <const floating *> run.h + following * size
    cdef const floating *dout = <const floating *> run.dout + (t * run.rows + row) * size
    cdef floating *dgates = <floating *> run.dgates + (t * run.rows + row) * run.width
    cdef floating *dinner = <floating *> run.dinner + (t * run.rows + row) * run.width
    cdef const floating *c_before = NULL
    cdef const floating *c = NULL
    cdef const floating *gates = NULL
    cdef const floating *inner_n = NULL
    cdef floating *dc = NULL
    cdef floating gates_tile[MOST_GATES * TILE]
    cdef floating dgates_tile[MOST_GATES * TILE]
    cdef floating dinner_tile[MOST_GATES * TILE]
    cdef floating states_tile[6 * TILE]
    cdef floating gradients_tile[2 * TILE]
    cdef floating zero = 0
    cdef int count = <int> (run.width // size)
    cdef Py_ssize_t start = 0, rest
    if run.live != NULL and not run.live[t * run.rows + row]:
        memset(dgates, 0, run.width * sizeof(floating))
        memset(dinner, 0, run.width * sizeof(floating))
        return
    if run.c != NULL:
        c_before = <const floating *> run.c + place * size
        c = <const floating *> run.c + following * size
        dc = <floating *> run.dc + row * size
    if run.gates != NULL:
        gates = <const floating *> run.gates + place * run.width
    if run.inner_n != NULL:
        inner_n = <const floating *> run.inner_n + place * size
    while start + TILE <= size:
        backward_tile(
            run.kind, NULL if gates == NULL else gates + start, inner_n + start, h_before + start, c_before + start,
            h + start, c + start, dout + start, size, dh + start, dc + start, dgates + start, dinner + start
        )
        start += TILE
    if start < size:
        rest = size - start
        if gates != NULL:
            take_gates(gates + start, size, count, rest, gates_tile)
        if inner_n != NULL:
            take_rest(inner_n + start, rest, zero, states_tile)
        take_rest(h_before + start, rest, zero, states_tile + TILE)
        take_rest(h + start, rest, zero, states_tile + 2 * TILE)
        take_rest(dout + start, rest, zero, states_tile + 3 * TILE)
        take_rest(dh + start, rest, zero, gradients_tile)
        if c != NULL:
            take_rest(c_before + start, rest, zero, states_tile + 4 * TILE)
            take_rest(c + start, rest, zero, states_tile + 5 * TILE)
            take_rest(dc + start, rest, zero, gradients_tile + TILE)
        backward_tile(
            run.kind, NULL if gates == NULL else gates_tile, states_tile, states_tile + TILE, states_tile + 4 * TILE,
            states_tile + 2 * TILE, states_tile + 5 * TILE, states_tile + 3 * TILE, TILE, gradients_tile,
            gradients_tile + TILE, dgates_tile, dinner_tile
        )
        put_rest(gradients_tile, rest, dh + start)
        if c != NULL:
            put_rest(gradients_tile + TILE, rest, dc + start)
        put_gates(dgates_tile, size, count, rest, dgates + start)
        if run.kind == GRU:
            put_gates(dinner_tile, size, count, rest, dinner + start)


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


cdef inline Py_ssize_t rows_of_block(Py_ssize_t rows) noexcept nogil:
    """Return how many rows a thread takes at once; the tiles of a product have 12, or 4 of the rest."""
    return BLOCK_ROWS if rows >= 2 * BLOCK_ROWS else 8 if rows >= BLOCK_ROWS else 4


cdef void forward_rows(
    const floating *packed, const Run *run, Py_ssize_t start, Py_ssize_t count, floating *scratch, Py_ssize_t step
) noexcept nogil:
    """Take some rows through all steps; `scratch` has room for W_hh h of them, rows `step` apart."""
    cdef Py_ssize_t unit = tile_columns(packed)
    cdef const floating *h = <const floating *> run.h
    cdef float lowest = hidden(-88)
    cdef Py_ssize_t k, row
    for k in range(run.steps):
        product(
            count, run.width, run.size, h + (k * run.rows + start) * run.size, run.size, 1, packed, unit * run.size,
            unit, scratch, step, False
        )
        for row in range(count):
            forward_row(run, k, start + row, <const floating *> (scratch + row * step), lowest)


cdef void forward_blocks(
    const floating *packed, const Run *run, floating *scratch, Py_ssize_t step
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_of_block(run.rows)
    cdef Py_ssize_t block
    for block in prange(
        block_count(run.rows, block_rows), schedule="static",
        use_threads_if=run.rows > block_rows and run.steps * run.rows * run.width * run.size >= MANY_PRODUCTS
    ):
        forward_rows(
            packed, run, block * block_rows, block_length(block, run.rows, block_rows),
            scratch + block * block_rows * step, step
        )


cdef void backward_rows(
    const floating *packed, const Run *run, Py_ssize_t start, Py_ssize_t count, floating *dh, Py_ssize_t step
) noexcept nogil:
    """Take the gradients of some rows through all steps; those of h lie `step` apart."""
    cdef Py_ssize_t unit = tile_columns(packed)
    cdef const floating *dinner = <const floating *> run.dinner
    cdef Py_ssize_t k, t, row
    for k in range(run.steps - 1, -1, -1):
        t = run.steps - 1 - k if run.backwards else k
        for row in range(count):
            backward_row(run, k, start + row, dh + row * step)
        product(
            count, run.size, run.width, dinner + (t * run.rows + start) * run.width, run.width, 1, packed,
            unit * run.width, unit, dh, step, True
        )


cdef void backward_blocks(
    const floating *packed, const Run *run, floating *dh, Py_ssize_t step
) noexcept nogil:
    cdef Py_ssize_t block_rows = rows_of_block(run.rows)
    cdef Py_ssize_t block
    for block in prange(
        block_count(run.rows, block_rows), schedule="static",
        use_threads_if=run.rows > block_rows and run.steps * run.rows * run.width * run.size >= MANY_PRODUCTS
    ):
        backward_rows(
            packed, run, block * block_rows, block_length(block, run.rows, block_rows),
            dh + block * block_rows * step, step
        )


cdef void forward_one(const floating *inner, const Run *run, Py_ssize_t k) noexcept nogil:
    cdef float lowest = hidden(-88)
    cdef Py_ssize_t row
    for row in prange(run.rows, schedule="static", use_threads_if=run.rows * run.width >= MANY_ELEMENTS):
        forward_row(run, k, row, inner + row * run.width, lowest)


cdef void backward_one(floating *dh, const Run *run, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t row
    for row in prange(run.rows, schedule="static", use_threads_if=run.rows * run.width >= MANY_ELEMENTS):
        backward_row(run, k, row, dh + row * run.size)


cdef void *taken(str kernel, str name, cnp.ndarray array, int number, tuple shape, bint written) except? NULL:
    """Return where the elements of an array lie that must have this type and shape; NULL for None."""
    if array is None:
        return NULL
    check(kernel, name, array, number, len(shape), written)
    if (<object> array).shape != shape:
        raise ValueError(f"For '{kernel}', '{name}' must have the shape {shape}, but got {(<object> array).shape}.")
    return cnp.PyArray_DATA(array)


cdef int fill(
    Run *run, str kernel, str kind, cnp.ndarray h, cnp.ndarray c, cnp.ndarray gates, cnp.ndarray inner_n,
    cnp.ndarray live, bint backwards, bint written
) except -1:
    """Take what both directions share, and return the type number."""
    cdef int number = real_type(kernel, "h", h)
    memset(run, 0, sizeof(Run))
    if kind not in _KINDS:
        raise ValueError(f"For '{kernel}', 'kind' must be one of {list(_KINDS)}, but got {kind!r}.")
    check(kernel, "h", h, number, 3, written)
    run.kind = _KINDS[kind]
    run.steps, run.rows, run.size = cnp.PyArray_DIM(h, 0) - 1, cnp.PyArray_DIM(h, 1), cnp.PyArray_DIM(h, 2)
    run.width = run.size * (4 if run.kind == LSTM else 3 if run.kind == GRU else 1)
    run.backwards = backwards
    if run.steps < 0 or run.size == 0:
        raise ValueError(f"For '{kernel}', 'h' must be (T + 1, N, H) with H above 0, but got {(<object> h).shape}.")
    for name, array, needed in (
        ("c", c, run.kind == LSTM), ("gates", gates, run.kind in (LSTM, GRU)), ("inner_n", inner_n, run.kind == GRU)
    ):
        if (array is not None) != needed:
            wanted = "an array" if needed else "None"
            raise ValueError(f"For '{kernel}', '{name}' must be {wanted} where 'kind' is {kind!r}.")
    run.h = cnp.PyArray_DATA(h)
    run.c = taken(kernel, "c", c, number, (run.steps + 1, run.rows, run.size), written)
    run.gates = taken(kernel, "gates", gates, number, (run.steps, run.rows, run.width), written)
    run.inner_n = taken(kernel, "inner_n", inner_n, number, (run.steps, run.rows, run.size), written)
    run.live = <const unsigned char *> taken(kernel, "live", live, cnp.NPY_BOOL, (run.steps, run.rows), False)
    return number


cdef int needs(str kernel, str name, cnp.ndarray array) except -1:
    if array is None:
        raise TypeError(f"For '{kernel}', '{name}' must be an array, but got None.")
    return 0


cdef int fill_forward(
    Run *run, str kernel, int number, cnp.ndarray x, cnp.ndarray bias, cnp.ndarray outputs
) except -1:
    needs(kernel, "x", x)
    needs(kernel, "outputs", outputs)
    run.x = taken(kernel, "x", x, number, (run.steps, run.rows, run.width), False)
    run.bias = taken(kernel, "bias", bias, number, (run.width,), False)
    run.outputs = taken(kernel, "outputs", outputs, number, (run.steps, run.rows, run.size), True)
    return 0


cdef int fill_backward(
    Run *run, str kernel, int number, cnp.ndarray dout, cnp.ndarray dh, cnp.ndarray dc, cnp.ndarray dgates,
    cnp.ndarray dinner
) except -1:
    for name, array in (("dout", dout), ("dh", dh), ("dgates", dgates), ("dinner", dinner)):
        needs(kernel, name, array)
    if (dc is not None) != (run.kind == LSTM):
        raise ValueError(f"For '{kernel}', 'dc' must be given for an LSTM only.")
    if (dinner is not dgates) != (run.kind == GRU):
        raise ValueError(f"For '{kernel}', 'dinner' must be 'dgates' but for a GRU.")
    run.dout = taken(kernel, "dout", dout, number, (run.steps, run.rows, run.size), False)
    taken(kernel, "dh", dh, number, (run.rows, run.size), True)
    run.dc = taken(kernel, "dc", dc, number, (run.rows, run.size), True)
    run.dgates = taken(kernel, "dgates", dgates, number, (run.steps, run.rows, run.width), True)
    run.dinner = taken(kernel, "dinner", dinner, number, (run.steps, run.rows, run.width), True)
    return 0


cdef int check_step(str kernel, const Run *run, Py_ssize_t k) except -1:
    if not 0 <= k < run.steps:
        raise ValueError(f"For '{kernel}', 'k' must be in [0, {run.steps}), but got {k}.")
    return 0


cdef cnp.ndarray memory(Py_ssize_t size, int number):
    """Return so many uninitialised numbers."""
    cdef cnp.npy_intp length = size
    return cnp.PyArray_SimpleNew(1, &length, number)


cdef Py_ssize_t whole_panels(Py_ssize_t size, int number) noexcept:
    """Return how many columns the panels have that cover `size`."""
    if number == cnp.NPY_FLOAT32:
        return padded(size, tile_columns(<const float *> NULL))
    return padded(size, tile_columns(<const double *> NULL))


def forward(
    str kind, cnp.ndarray x, cnp.ndarray weight not None, cnp.ndarray bias, cnp.ndarray h not None, cnp.ndarray c,
    cnp.ndarray gates, cnp.ndarray inner_n, cnp.ndarray live, cnp.ndarray outputs, bint backwards,
):
    """Run all steps: write h[1:], c[1:], outputs and what the gradient needs.

    weight (G H, H) is W_hh; bias (G H,), added to W_hh h, and `live` may be None, and so are c, gates and inner_n for
    the kinds without.

    >>> import numpy as np
    >>> h, out = np.zeros((3, 1, 1)), np.empty((2, 1, 1))
    >>> forward("relu", np.ones((2, 1, 1)), np.ones((1, 1)), None, h, None, None, None, None, out, False)
    >>> out.ravel()
    array([1., 2.])
    """
    cdef Run run
    cdef int number = fill(&run, "forward", kind, h, c, gates, inner_n, live, backwards, True)
    fill_forward(&run, "forward", number, x, bias, outputs)
    cdef void *w = taken("forward", "weight", weight, number, (run.width, run.size), False)
    cdef Py_ssize_t step = whole_panels(run.width, number)
    cdef cnp.ndarray packed_memory = memory(step * run.size, number)
    cdef cnp.ndarray scratch_memory = memory(run.rows * step, number)
    cdef void *packed = cnp.PyArray_DATA(packed_memory)
    cdef void *scratch = cnp.PyArray_DATA(scratch_memory)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            pack_turned(<const float *> w, run.width, run.size, <float *> packed)
            forward_blocks(<const float *> packed, &run, <float *> scratch, step)
        else:
            pack_turned(<const double *> w, run.width, run.size, <double *> packed)
            forward_blocks(<const double *> packed, &run, <double *> scratch, step)


def forward_step(
    str kind, Py_ssize_t k, cnp.ndarray x, cnp.ndarray inner not None, cnp.ndarray bias, cnp.ndarray h not None,
    cnp.ndarray c, cnp.ndarray gates, cnp.ndarray inner_n, cnp.ndarray live, cnp.ndarray outputs, bint backwards,
):
    """Run step k, given `inner` (N, G H), the product W_hh h; the other arguments are those of `forward`.

    >>> import numpy as np
    >>> h, out, x = np.zeros((2, 1, 1)), np.empty((1, 1, 1)), np.ones((1, 1, 1))
    >>> forward_step("relu", 0, x, np.ones((1, 1)), None, h, None, None, None, None, out, False)
    >>> h.ravel()
    array([0., 2.])
    """
    cdef Run run
    cdef int number = fill(&run, "forward_step", kind, h, c, gates, inner_n, live, backwards, True)
    fill_forward(&run, "forward_step", number, x, bias, outputs)
    check_step("forward_step", &run, k)
    cdef void *product_of_h = taken("forward_step", "inner", inner, number, (run.rows, run.width), False)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_one(<const float *> product_of_h, &run, k)
        else:
            forward_one(<const double *> product_of_h, &run, k)


def backward(
    str kind, cnp.ndarray weight not None, cnp.ndarray dout, cnp.ndarray h not None, cnp.ndarray c, cnp.ndarray gates,
    cnp.ndarray inner_n, cnp.ndarray live, cnp.ndarray dh, cnp.ndarray dc, cnp.ndarray dgates, cnp.ndarray dinner,
    bint backwards,
):
    """Run the gradients of all steps.

    dh, dc (N, H) hold the gradients of the last states and get those of the first; `dgates` gets those of x, `dinner`
    those of W_hh h + bias, which is the same array but for a GRU.

    >>> import numpy as np
    >>> h, dh, d = np.arange(3.0).reshape(3, 1, 1), np.zeros((1, 1)), np.empty((2, 1, 1))
    >>> one = np.ones((1, 1))
    >>> backward("relu", one, np.ones((2, 1, 1)), h, None, None, None, None, dh, None, d, d, False)
    >>> d.ravel()
    array([2., 1.])
    """
    cdef Run run
    cdef int number = fill(&run, "backward", kind, h, c, gates, inner_n, live, backwards, False)
    fill_backward(&run, "backward", number, dout, dh, dc, dgates, dinner)
    cdef void *w = taken("backward", "weight", weight, number, (run.width, run.size), False)
    cdef Py_ssize_t step = whole_panels(run.size, number)
    cdef cnp.ndarray packed_memory = memory(step * run.width, number)
    cdef object states = memory(run.rows * step, number).reshape(run.rows, step)
    cdef void *packed = cnp.PyArray_DATA(packed_memory)
    cdef void *scratch = cnp.PyArray_DATA(states)
    states[:, :run.size] = dh
    # Panels end behind the units: the product adds zeros to what is there.
    states[:, run.size:] = 0
    with nogil:
        if number == cnp.NPY_FLOAT32:
            pack_straight(<const float *> w, run.width, run.size, <float *> packed)
            backward_blocks(<const float *> packed, &run, <float *> scratch, step)
        else:
            pack_straight(<const double *> w, run.width, run.size, <double *> packed)
            backward_blocks(<const double *> packed, &run, <double *> scratch, step)
    dh[...] = states[:, :run.size]


def backward_step(
    str kind, Py_ssize_t k, cnp.ndarray dout, cnp.ndarray h not None, cnp.ndarray c, cnp.ndarray gates,
    cnp.ndarray inner_n, cnp.ndarray live, cnp.ndarray dh, cnp.ndarray dc, cnp.ndarray dgates, cnp.ndarray dinner,
    bint backwards,
):
    """Run the gradient of step k, but for what the caller adds to `dh`: the product of the step's `dinner` with W_hh.

    The other arguments are those of `backward`.

    >>> import numpy as np
    >>> h, dh, d = np.ones((2, 1, 1)), np.ones((1, 1)), np.empty((1, 1, 1))
    >>> backward_step("relu", 0, np.ones((1, 1, 1)), h, None, None, None, None, dh, None, d, d, False)
    >>> d.ravel(), dh.ravel()
    (array([2.]), array([0.]))
    """
    cdef Run run
    cdef int number = fill(&run, "backward_step", kind, h, c, gates, inner_n, live, backwards, False)
    fill_backward(&run, "backward_step", number, dout, dh, dc, dgates, dinner)
    check_step("backward_step", &run, k)
    cdef void *states = cnp.PyArray_DATA(dh)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            backward_one(<float *> states, &run, k)
        else:
            backward_one(<double *> states, &run, k)

# The gates of one step: a tile of units forward and backward, and a row of the batch made of tiles.

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

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


include "recurrent_gates.pxi"
include "recurrent_weights.pxi"


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


cdef void run_blocks(
    bint forward, const floating *packed, const Run *run, floating *rows, Py_ssize_t step
) noexcept nogil:
    """Take all rows through all steps, forward or back; `rows` is their scratch, or the gradients of h."""
    cdef Py_ssize_t block_rows = rows_of_block(run.rows)
    cdef Py_ssize_t block, start, count
    for block in prange(
        block_count(run.rows, block_rows), schedule="static",
        use_threads_if=run.rows > block_rows and run.steps * run.rows * run.width * run.size >= MANY_PRODUCTS
    ):
        start = block * block_rows
        count = block_length(block, run.rows, block_rows)
        if forward:
            forward_rows(packed, run, start, count, rows + start * step, step)
        else:
            backward_rows(packed, run, start, count, rows + start * step, step)


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
            run_blocks(True, <const float *> packed, &run, <float *> scratch, step)
        else:
            pack_turned(<const double *> w, run.width, run.size, <double *> packed)
            run_blocks(True, <const double *> packed, &run, <double *> scratch, step)


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
            run_blocks(False, <const float *> packed, &run, <float *> scratch, step)
        else:
            pack_straight(<const double *> w, run.width, run.size, <double *> packed)
            run_blocks(False, <const double *> packed, &run, <double *> scratch, step)
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

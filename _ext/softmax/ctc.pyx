# cython: cdivision=True, boundscheck=False, wraparound=False
"""Connectionist temporal classification: the likelihood of labels over all alignments, and its gradient.

Forward and backward variables are logarithms in float64, whatever type the log probabilities have: an alignment that
starts a thousand nats behind the others may be the only one that ends well. Sequences are divided among the threads.
Source: Graves et al., "Connectionist Temporal Classification", 2006.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, NAN, isinf
from libc.stdint cimport int64_t

cimport openmp

from arrays cimport check, real_type
from blocks cimport LANES
from transcendental cimport exponential_of_size, log_of_one_plus, wide_exponential

cnp.import_array()

cdef enum:
    # How far a step's transitions reach: each row of variables has as many impossible states at an end.
    REACH = 2
    # Variables from which on a second thread saves more than waking it costs.
    MANY = 2048


ctypedef struct Batch:
    Py_ssize_t steps
    Py_ssize_t rows
    Py_ssize_t classes
    Py_ssize_t labels
    Py_ssize_t blank
    const int64_t *targets
    const int64_t *input_lengths
    const int64_t *target_lengths


cdef inline double log_sum(double a, double b) noexcept nogil:
    """Return log(e^a + e^b)."""
    cdef double difference = a - b
    cdef double rest = log_of_one_plus(exponential_of_size(difference, 0))
    # Two infinities have no difference, and NaN stays NaN.
    return (a if a > b else b) + rest if difference == difference else a + b


cdef inline Py_ssize_t states_of(Py_ssize_t labels) noexcept nogil:
    """Return how many states there are: the labels with blanks around each, and impossible ones up to whole lanes."""
    return (2 * labels + LANES) // LANES * LANES


cdef inline Py_ssize_t row_length(Py_ssize_t labels) noexcept nogil:
    return states_of(labels) + REACH


cdef inline Py_ssize_t state(const Batch *batch, Py_ssize_t row, Py_ssize_t index) noexcept nogil:
    """Return the class of a state."""
    return batch.targets[row * batch.labels + index // 2] if index % 2 else batch.blank


cdef void fill_jumps(const Batch *batch, Py_ssize_t row, Py_ssize_t width, double *jumps) noexcept nogil:
    """Write 0 for states that may be reached over the blank before them, -inf for all others, also behind the end."""
    cdef Py_ssize_t s
    for s in range(row_length(batch.labels)):
        jumps[s] = -INFINITY
    for s in range(3, width, 2):
        if state(batch, row, s) != batch.blank and state(batch, row, s) != state(batch, row, s - 2):
            jumps[s] = 0


cdef void emit(
    const floating *log_probs, const Batch *batch, Py_ssize_t row, Py_ssize_t width, double *emitted
) noexcept nogil:
    """Write the log probability of each state's class, given those of all classes; -inf behind the last state."""
    cdef const int64_t *targets = batch.targets + row * batch.labels
    cdef double of_blank = log_probs[batch.blank]
    cdef Py_ssize_t s
    for s in range(0, width, 2):
        emitted[s] = of_blank
    for s in range(1, width, 2):
        emitted[s] = log_probs[targets[s // 2]]
    for s in range(width, row_length(batch.labels)):
        emitted[s] = -INFINITY


cdef void start_forward(const double *emitted, Py_ssize_t labels, double *now) noexcept nogil:
    """Write the forward variables of the first step, behind REACH impossible ones."""
    cdef Py_ssize_t s
    for s in range(row_length(labels)):
        now[s] = -INFINITY
    now[REACH] = emitted[0]
    if labels:
        now[REACH + 1] = emitted[1]


cdef void step_forward(
    const double *before, const double *emitted, const double *jumps, Py_ssize_t labels, double *now
) noexcept nogil:
    """Write the forward variables of a step, given those of the step before."""
    cdef double total[LANES]
    cdef Py_ssize_t block, s
    cdef int lane
    now[0] = -INFINITY
    now[1] = -INFINITY
    for block in range(states_of(labels) // LANES):
        s = block * LANES
        for lane in range(LANES):
            total[lane] = emitted[s + lane] + log_sum(
                log_sum(before[s + lane + 2], before[s + lane + 1]), before[s + lane] + jumps[s + lane]
            )
        for lane in range(LANES):
            now[s + lane + REACH] = total[lane]


cdef void step_backward(
    const double *after, const double *jumps, Py_ssize_t labels, double *beta
) noexcept nogil:
    """Write the backward variables of a step, without what it emits, given those of the next one with it."""
    cdef double total[LANES]
    cdef Py_ssize_t block, s
    cdef int lane
    for block in range(states_of(labels) // LANES):
        s = block * LANES
        for lane in range(LANES):
            total[lane] = log_sum(
                log_sum(after[s + lane], after[s + lane + 1]), after[s + lane + 2] + jumps[s + lane + 2]
            )
        for lane in range(LANES):
            beta[s + lane] = total[lane]


cdef inline double log_likelihood(const double *alpha, Py_ssize_t labels) noexcept nogil:
    """Return the sum over the states that a sequence of so many labels may end in, of the last forward variables."""
    cdef double last = alpha[REACH + 2 * labels]
    return log_sum(last, alpha[REACH + 2 * labels - 1]) if labels else last


cdef void forward_sequence(
    const floating *log_probs, const Batch *batch, Py_ssize_t row, bint zero_infinity, double *scratch,
    floating *loss, floating *alpha
) noexcept nogil:
    cdef Py_ssize_t width = 2 * batch.labels + 1
    cdef Py_ssize_t length = row_length(batch.labels)
    cdef double *jumps = scratch
    cdef double *emitted = scratch + length
    cdef double *before
    cdef double *now = scratch + 2 * length
    cdef double total = -INFINITY
    cdef Py_ssize_t t, s
    fill_jumps(batch, row, width, jumps)
    for t in range(batch.input_lengths[row]):
        emit(log_probs + (t * batch.rows + row) * batch.classes, batch, row, width, emitted)
        before = scratch + (3 - t % 2) * length
        now = scratch + (2 + t % 2) * length
        if t:
            step_forward(before, emitted, jumps, batch.labels, now)
        else:
            start_forward(emitted, batch.labels, now)
        for s in range(width):
            alpha[t * width + s] = <floating> now[REACH + s]
    if batch.input_lengths[row]:
        total = log_likelihood(now, batch.target_lengths[row])
    for t in range(batch.input_lengths[row] * width, batch.steps * width):
        alpha[t] = -INFINITY
    loss[0] = <floating> (0 if zero_infinity and isinf(total) else -total)


cdef void gradient_sequence(
    const floating *log_probs, const Batch *batch, Py_ssize_t row, bint zero_infinity, double *scratch,
    floating *slope
) noexcept nogil:
    """Write exp(log_probs) - posterior, and 0 in the steps that do not count."""
    cdef Py_ssize_t labels = batch.target_lengths[row], steps = batch.input_lengths[row]
    cdef Py_ssize_t width = 2 * labels + 1
    cdef Py_ssize_t length = row_length(batch.labels), step = batch.rows * batch.classes
    cdef double *jumps = scratch
    cdef double *emitted = scratch + length
    cdef double *after = scratch + 2 * length
    cdef double *beta = scratch + 3 * length
    cdef double *row_slope = scratch + 4 * length
    cdef double *alpha = row_slope + batch.classes
    cdef double total = -INFINITY
    cdef floating rest = 0
    cdef Py_ssize_t t, s, i
    log_probs += row * batch.classes
    slope += row * batch.classes
    fill_jumps(batch, row, width, jumps)
    for t in range(steps):
        emit(log_probs + t * step, batch, row, width, emitted)
        if t:
            step_forward(alpha + (t - 1) * length, emitted, jumps, labels, alpha + t * length)
        else:
            start_forward(emitted, labels, alpha)
    if steps:
        total = log_likelihood(alpha + (steps - 1) * length, labels)
    if isinf(total):
        rest = 0 if zero_infinity else <floating> NAN
        steps = 0
    for t in range(steps, batch.steps):
        for i in range(batch.classes):
            slope[t * step + i] = rest
    for s in range(length):
        after[s] = -INFINITY
        beta[s] = -INFINITY
    beta[width - 1] = 0
    if labels:
        beta[width - 2] = 0
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            step_backward(after, jumps, labels, beta)
        emit(log_probs + t * step, batch, row, width, emitted)
        for i in range(batch.classes):
            row_slope[i] = wide_exponential(log_probs[t * step + i], 0)
        for s in range(width):
            after[s] = wide_exponential(alpha[t * length + REACH + s] + beta[s] - total, 0)
        for s in range(width):
            row_slope[state(batch, row, s)] -= after[s]
        for s in range(width):
            after[s] = beta[s] + emitted[s]
        for i in range(batch.classes):
            slope[t * step + i] = <floating> row_slope[i]


cdef void forward_sequences(
    const floating *log_probs, const Batch *batch, bint zero_infinity, double *scratch, Py_ssize_t size,
    floating *loss, floating *alpha
) noexcept nogil:
    cdef Py_ssize_t width = 2 * batch.labels + 1
    cdef Py_ssize_t row
    for row in prange(
        batch.rows, schedule="dynamic", use_threads_if=batch.rows > 1 and batch.rows * batch.steps * width >= MANY
    ):
        forward_sequence(
            log_probs, batch, row, zero_infinity, scratch + threadid() * size, loss + row,
            alpha + row * batch.steps * width
        )


cdef void gradient_sequences(
    const floating *log_probs, const Batch *batch, bint zero_infinity, double *scratch, Py_ssize_t size,
    floating *slope
) noexcept nogil:
    cdef Py_ssize_t row
    for row in prange(
        batch.rows, schedule="dynamic",
        use_threads_if=batch.rows > 1 and batch.rows * batch.steps * (2 * batch.labels + 1) >= MANY
    ):
        gradient_sequence(log_probs, batch, row, zero_infinity, scratch + threadid() * size, slope)


cdef int check_range(str kernel, str name, cnp.ndarray array, Py_ssize_t most) except -1:
    """Raise unless all elements of an int64 array are in [0, most]."""
    cdef const int64_t *values = <const int64_t *> cnp.PyArray_DATA(array)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(array)):
        if not 0 <= values[i] <= most:
            raise ValueError(f"For '{kernel}', '{name}' must be in [0, {most}], but got {values[i]}.")
    return 0


cdef int fill_batch(
    Batch *batch, str kernel, cnp.ndarray log_probs, cnp.ndarray targets, cnp.ndarray input_lengths,
    cnp.ndarray target_lengths, Py_ssize_t blank
) except -1:
    check(kernel, "log_probs", log_probs, real_type(kernel, "log_probs", log_probs), 3, False)
    check(kernel, "targets", targets, cnp.NPY_INT64, 2, False)
    batch.steps = cnp.PyArray_DIM(log_probs, 0)
    batch.rows = cnp.PyArray_DIM(log_probs, 1)
    batch.classes = cnp.PyArray_DIM(log_probs, 2)
    batch.labels = cnp.PyArray_DIM(targets, 1)
    batch.blank = blank
    if cnp.PyArray_DIM(targets, 0) != batch.rows:
        raise ValueError(
            f"For '{kernel}', 'targets' must have {batch.rows} rows, but got {cnp.PyArray_DIM(targets, 0)}."
        )
    if not 0 <= blank < batch.classes:
        raise ValueError(f"For '{kernel}', 'blank' must be in [0, {batch.classes}), but got {blank}.")
    check_range(kernel, "targets", targets, batch.classes - 1)
    for name, lengths, most in (
        ("input_lengths", input_lengths, batch.steps), ("target_lengths", target_lengths, batch.labels)
    ):
        check(kernel, name, lengths, cnp.NPY_INT64, 1, False)
        if cnp.PyArray_DIM(lengths, 0) != batch.rows:
            raise ValueError(
                f"For '{kernel}', '{name}' must have {batch.rows} elements, but got {cnp.PyArray_DIM(lengths, 0)}."
            )
        check_range(kernel, name, lengths, most)
    batch.targets = <const int64_t *> cnp.PyArray_DATA(targets)
    batch.input_lengths = <const int64_t *> cnp.PyArray_DATA(input_lengths)
    batch.target_lengths = <const int64_t *> cnp.PyArray_DATA(target_lengths)
    return 0


cdef int check_shape(str kernel, str name, cnp.ndarray array, int number, tuple shape) except -1:
    check(kernel, name, array, number, len(shape), True)
    if (<object> array).shape != shape:
        raise ValueError(f"For '{kernel}', '{name}' must have the shape {shape}, but got {(<object> array).shape}.")
    return 0


cdef cnp.ndarray scratch_memory(Py_ssize_t size):
    """Return memory of so many float64 for each thread."""
    cdef cnp.npy_intp total = openmp.omp_get_max_threads() * size
    return cnp.PyArray_SimpleNew(1, &total, cnp.NPY_FLOAT64)


def forward(
    cnp.ndarray log_probs not None, cnp.ndarray targets not None, cnp.ndarray input_lengths not None,
    cnp.ndarray target_lengths not None, Py_ssize_t blank, bint zero_infinity, cnp.ndarray loss not None,
    cnp.ndarray alpha not None,
):
    """Write minus the log likelihood of each sequence of labels, and the logarithms of the forward variables.

    log_probs (T, N, C), loss (N,) and alpha (N, T, 2 S + 1) are float32 or float64, targets (N, S), input_lengths and
    target_lengths (N,) int64; all are C-contiguous. Where `zero_infinity`, infinite losses are 0.

    >>> import numpy as np
    >>> loss, alpha = np.empty(1), np.empty((1, 2, 3))
    >>> halves = np.log(np.full((2, 1, 2), 0.5))
    >>> forward(halves, np.array([[1]]), np.array([2]), np.array([1]), 0, False, loss, alpha)
    >>> np.exp(-loss).round(4)
    array([0.75])
    """
    cdef Batch batch
    fill_batch(&batch, "forward", log_probs, targets, input_lengths, target_lengths, blank)
    cdef int number = cnp.PyArray_TYPE(log_probs)
    check_shape("forward", "loss", loss, number, (batch.rows,))
    check_shape("forward", "alpha", alpha, number, (batch.rows, batch.steps, 2 * batch.labels + 1))
    cdef Py_ssize_t size = 4 * row_length(batch.labels)
    cdef cnp.ndarray memory = scratch_memory(size)
    cdef double *scratch = <double *> cnp.PyArray_DATA(memory)
    cdef void *x = cnp.PyArray_DATA(log_probs)
    cdef void *to = cnp.PyArray_DATA(loss)
    cdef void *variables = cnp.PyArray_DATA(alpha)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            forward_sequences(
                <const float *> x, &batch, zero_infinity, scratch, size, <float *> to, <float *> variables
            )
        else:
            forward_sequences(
                <const double *> x, &batch, zero_infinity, scratch, size, <double *> to, <double *> variables
            )


def gradient(
    cnp.ndarray log_probs not None, cnp.ndarray targets not None, cnp.ndarray input_lengths not None,
    cnp.ndarray target_lengths not None, Py_ssize_t blank, bint zero_infinity, cnp.ndarray slope not None,
):
    """Write the gradient of the losses by what log_probs are the log softmax of: exp(log_probs) - posterior.

    `slope` has log_probs' shape and type; it is 0 in the steps that do not count, and where the loss is infinite NaN,
    or 0 with `zero_infinity`. The other arguments are those of `forward`.

    >>> import numpy as np
    >>> slope = np.empty((2, 1, 2))
    >>> halves = np.log(np.full((2, 1, 2), 0.5))
    >>> gradient(halves, np.array([[1]]), np.array([2]), np.array([1]), 0, False, slope)
    >>> slope[0, 0].round(4)
    array([ 0.1667, -0.1667])
    """
    cdef Batch batch
    fill_batch(&batch, "gradient", log_probs, targets, input_lengths, target_lengths, blank)
    cdef int number = cnp.PyArray_TYPE(log_probs)
    check_shape("gradient", "slope", slope, number, (batch.steps, batch.rows, batch.classes))
    cdef Py_ssize_t size = (4 + batch.steps) * row_length(batch.labels) + batch.classes
    cdef cnp.ndarray memory = scratch_memory(size)
    cdef double *scratch = <double *> cnp.PyArray_DATA(memory)
    cdef void *x = cnp.PyArray_DATA(log_probs)
    cdef void *to = cnp.PyArray_DATA(slope)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            gradient_sequences(<const float *> x, &batch, zero_infinity, scratch, size, <float *> to)
        else:
            gradient_sequences(<const double *> x, &batch, zero_infinity, scratch, size, <double *> to)

# cython: cdivision=True, boundscheck=False, wraparound=False
"""Optimizer steps: one pass over parameter, gradient and state, in place.

All arrays of a call are C-contiguous, of one shape, and float32 or float64; the gradient is only
read. The arithmetic is done in the arrays' type.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport sqrt, sqrtf

from arrays cimport check, check_same_shape, real_type
from blocks cimport BLOCK, PARALLEL_FROM, block_count, block_length

cnp.import_array()


cdef inline floating root(floating x) noexcept nogil:
    """Return the square root in x's type."""
    if floating is float:
        return sqrtf(x)
    else:
        return sqrt(x)


cdef void sgd_block(
    floating *p, const floating *g, floating *accum, floating lr, floating momentum,
    floating taken, floating decay, floating scale, bint nesterov, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    cdef floating gradient
    if accum == NULL:
        for i in range(size):
            p[i] -= lr * (g[i] * scale + decay * p[i])
    elif nesterov:
        for i in range(size):
            gradient = g[i] * scale + decay * p[i]
            accum[i] = momentum * accum[i] + taken * gradient
            p[i] -= lr * (gradient + momentum * accum[i])
    else:
        for i in range(size):
            gradient = g[i] * scale + decay * p[i]
            accum[i] = momentum * accum[i] + taken * gradient
            p[i] -= lr * accum[i]


cdef void sgd_first_block(
    floating *p, const floating *g, floating *accum, floating lr, floating momentum,
    floating decay, floating scale, bint nesterov, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating looked_ahead = 1 + momentum if nesterov else 1
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        accum[i] = gradient
        p[i] -= lr * (looked_ahead * gradient)


cdef void sgd_blocks(
    floating *p, const floating *g, floating *accum, floating lr, floating momentum,
    floating taken, floating decay, floating scale, bint nesterov, bint first, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block, at
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
    ):
        at = block * BLOCK
        if first and accum != NULL:
            sgd_first_block(
                p + at, g + at, accum + at, lr, momentum, decay, scale, nesterov,
                block_length(block, size, BLOCK),
            )
        else:
            sgd_block(
                p + at, g + at, accum + at if accum != NULL else NULL, lr, momentum, taken, decay,
                scale, nesterov, block_length(block, size, BLOCK),
            )


cdef void adam_block(
    floating *p, const floating *g, floating *m, floating *v, floating lr, floating beta1,
    floating new1, floating new2, floating eps, floating decay, floating scale, bint nesterov,
    Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    cdef floating gradient
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        m[i] += (gradient - m[i]) * new1
        v[i] += (gradient * gradient - v[i]) * new2
        if nesterov:
            p[i] -= lr * (beta1 * m[i] + new1 * gradient) / (root(v[i]) + eps)
        else:
            p[i] -= lr * m[i] / (root(v[i]) + eps)


cdef void adam_blocks(
    floating *p, const floating *g, floating *m, floating *v, floating lr, floating beta1,
    floating new1, floating new2, floating eps, floating decay, floating scale, bint nesterov,
    Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block, at
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
    ):
        at = block * BLOCK
        adam_block(
            p + at, g + at, m + at, v + at, lr, beta1, new1, new2, eps, decay, scale, nesterov,
            block_length(block, size, BLOCK),
        )


cdef void adam_weight_decay_block(
    floating *p, const floating *g, floating *m, floating *v, floating lr, floating new1,
    floating new2, floating eps, floating decay, floating scale, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    cdef floating gradient
    for i in range(size):
        gradient = g[i] * scale
        m[i] += (gradient - m[i]) * new1
        v[i] += (gradient * gradient - v[i]) * new2
        p[i] -= lr * (m[i] / (root(v[i]) + eps) + decay * p[i])


cdef void adam_weight_decay_blocks(
    floating *p, const floating *g, floating *m, floating *v, floating lr, floating new1,
    floating new2, floating eps, floating decay, floating scale, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t block, at
    for block in prange(
        block_count(size, BLOCK), schedule="static", use_threads_if=size >= PARALLEL_FROM
    ):
        at = block * BLOCK
        adam_weight_decay_block(
            p + at, g + at, m + at, v + at, lr, new1, new2, eps, decay, scale,
            block_length(block, size, BLOCK),
        )


cdef int check_pair(str kernel, cnp.ndarray p, cnp.ndarray g) except -1:
    """Check parameter and gradient and return their type number."""
    cdef int number = real_type(kernel, "p", p)
    check(kernel, "p", p, number, -1, True)
    check(kernel, "g", g, number, -1, False)
    check_same_shape(kernel, "g", g, "p", p)
    return number


cdef int check_state(
    str kernel, str name, cnp.ndarray state, cnp.ndarray p, int number
) except -1:
    """Check one array of the optimizer's state."""
    check(kernel, name, state, number, -1, True)
    check_same_shape(kernel, name, state, "p", p)
    return 0


cdef int sgd_step(
    str kernel, cnp.ndarray p, cnp.ndarray g, cnp.ndarray accum, double lr, double momentum,
    double dampening, double weight_decay, double grad_scale, bint nesterov, bint first
) except -1:
    """Check the arrays and make a step with or without momentum."""
    cdef int number = check_pair(kernel, p, g)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(p)
    cdef void *to = cnp.PyArray_DATA(p)
    cdef void *gradient = cnp.PyArray_DATA(g)
    cdef void *state = NULL
    if accum is not None:
        check_state(kernel, "accum", accum, p, number)
        state = cnp.PyArray_DATA(accum)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            sgd_blocks(
                <float *> to, <const float *> gradient, <float *> state, <float> lr,
                <float> momentum, <float> (1 - dampening), <float> weight_decay,
                <float> grad_scale, nesterov, first, size,
            )
        else:
            sgd_blocks(
                <double *> to, <const double *> gradient, <double *> state, lr, momentum,
                1 - dampening, weight_decay, grad_scale, nesterov, first, size,
            )
    return 0


def sgd(
    cnp.ndarray p not None, cnp.ndarray g not None, cnp.ndarray accum, double lr, double momentum,
    double dampening, double weight_decay, bint nesterov, bint first_step, double grad_scale=1.0
):
    """Make a step of SGD; `accum` may be None when momentum is 0.

    g' = grad_scale g + weight_decay p; accum = g' in the first step, then
    momentum accum + (1 - dampening) g'; p -= lr accum, or with nesterov lr (g' + momentum accum).

    >>> p, accum = np.ones(2), np.zeros(2)
    >>> sgd(p, np.array([1.0, -1.0]), accum, 0.5, 0.9, 0.0, 0.0, False, True)
    >>> p, accum
    (array([0.5, 1.5]), array([ 1., -1.]))
    """
    if accum is None and momentum != 0:
        raise ValueError(
            f"For 'sgd', 'accum' must be an array when momentum is {momentum}, but got None."
        )
    sgd_step(
        "sgd", p, g, accum, lr, momentum, dampening, weight_decay, grad_scale, nesterov, first_step
    )


def momentum(
    cnp.ndarray p not None, cnp.ndarray g not None, cnp.ndarray accum not None, double lr,
    double momentum, bint nesterov, double weight_decay, double grad_scale
):
    """Make a step of Momentum.

    g' = grad_scale g + weight_decay p; accum = momentum accum + g'; p -= lr accum, or with
    nesterov lr (g' + momentum accum).

    >>> p, accum = np.ones(2), np.ones(2)
    >>> momentum(p, np.array([1.0, -1.0]), accum, 0.5, 0.5, False, 0.0, 1.0)
    >>> p, accum
    (array([0.25, 1.25]), array([ 1.5, -0.5]))
    """
    sgd_step(
        "momentum", p, g, accum, lr, momentum, 0, weight_decay, grad_scale, nesterov, False
    )


def adam(
    cnp.ndarray p not None, cnp.ndarray g not None, cnp.ndarray m not None,
    cnp.ndarray v not None, double lr_t, double beta1, double beta2, double eps,
    double weight_decay, bint nesterov, double grad_scale
):
    """Make a step of Adam (Kingma and Ba, 2014), with the bias correction already in `lr_t`.

    g' = grad_scale g + weight_decay p; m = beta1 m + (1 - beta1) g';
    v = beta2 v + (1 - beta2) g'^2; p -= lr_t m / (sqrt(v) + eps). With nesterov,
    beta1 m + (1 - beta1) g' stands in place of m in the last line.

    >>> p, m, v = np.ones(2), np.zeros(2), np.zeros(2)
    >>> adam(p, np.array([4.0, -4.0]), m, v, 0.1, 0.5, 0.75, 0.0, 0.0, False, 1.0)
    >>> p, m, v
    (array([0.9, 1.1]), array([ 2., -2.]), array([4., 4.]))
    """
    cdef int number = check_pair("adam", p, g)
    check_state("adam", "m", m, p, number)
    check_state("adam", "v", v, p, number)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(p)
    cdef void *to = cnp.PyArray_DATA(p)
    cdef void *gradient = cnp.PyArray_DATA(g)
    cdef void *first = cnp.PyArray_DATA(m)
    cdef void *second = cnp.PyArray_DATA(v)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            adam_blocks(
                <float *> to, <const float *> gradient, <float *> first, <float *> second,
                <float> lr_t, <float> beta1, <float> (1 - beta1), <float> (1 - beta2),
                <float> eps, <float> weight_decay, <float> grad_scale, nesterov, size,
            )
        else:
            adam_blocks(
                <double *> to, <const double *> gradient, <double *> first, <double *> second,
                lr_t, beta1, 1 - beta1, 1 - beta2, eps, weight_decay, grad_scale, nesterov,
                size,
            )


def adam_weight_decay(
    cnp.ndarray p not None, cnp.ndarray g not None, cnp.ndarray m not None,
    cnp.ndarray v not None, double lr, double beta1, double beta2, double eps,
    double weight_decay, double grad_scale
):
    """Make a step of Adam with decoupled decay and without bias correction.

    g' = grad_scale g; m = beta1 m + (1 - beta1) g'; v = beta2 v + (1 - beta2) g'^2;
    p -= lr (m / (sqrt(v) + eps) + weight_decay p). After Loshchilov and Hutter, "Decoupled weight
    decay regularization", 2017.

    >>> p, m, v = np.ones(2), np.zeros(2), np.zeros(2)
    >>> adam_weight_decay(p, np.array([4.0, -4.0]), m, v, 0.1, 0.5, 0.75, 0.0, 0.5, 1.0)
    >>> p, m, v
    (array([0.85, 1.05]), array([ 2., -2.]), array([4., 4.]))
    """
    cdef int number = check_pair("adam_weight_decay", p, g)
    check_state("adam_weight_decay", "m", m, p, number)
    check_state("adam_weight_decay", "v", v, p, number)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(p)
    cdef void *to = cnp.PyArray_DATA(p)
    cdef void *gradient = cnp.PyArray_DATA(g)
    cdef void *first = cnp.PyArray_DATA(m)
    cdef void *second = cnp.PyArray_DATA(v)
    with nogil:
        if number == cnp.NPY_FLOAT32:
            adam_weight_decay_blocks(
                <float *> to, <const float *> gradient, <float *> first, <float *> second,
                <float> lr, <float> (1 - beta1), <float> (1 - beta2), <float> eps,
                <float> weight_decay, <float> grad_scale, size,
            )
        else:
            adam_weight_decay_blocks(
                <double *> to, <const double *> gradient, <double *> first, <double *> second,
                lr, 1 - beta1, 1 - beta2, eps, weight_decay, grad_scale, size,
            )

# cython: cdivision=True
"""The arithmetic of optimizer steps on one piece of contiguous memory.

Every rule has the same arguments: the weights, the gradient, up to three arrays of state, the
rule's numbers, and the length of the arrays. It is an element-wise map, so cutting the memory
into pieces changes no bit.
"""

from cython cimport floating
from libc.math cimport fabs, fabsf, pow, sqrt, sqrtf

cdef enum:
    # Numbers of a rule, at most; each rule says what its numbers are.
    NUMBERS = 9
    # Arrays of a rule, at most: weights, gradient and states.
    ARRAYS = 5

cdef enum Rule:
    SGD
    ADAM
    AMSGRAD
    ADAM_WEIGHT_DECAY
    ADAGRAD
    PROXIMAL_ADAGRAD
    RMSPROP
    CENTERED_RMSPROP
    FTRL
    LAMB_MOMENTS


cdef inline floating root(floating x) noexcept nogil:
    """Return the square root in x's type."""
    if floating is float:
        return sqrtf(x)
    else:
        return sqrt(x)


cdef inline floating magnitude(floating x) noexcept nogil:
    """Return the absolute value in x's type."""
    if floating is float:
        return fabsf(x)
    else:
        return fabs(x)


cdef inline void sgd_rule(
    floating *p, const floating *g, floating *accum, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run SGD; numbers: lr, decay, scale, momentum, taken, nesterov, first."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating momentum = <floating> c[3], taken = <floating> c[4]
    cdef bint nesterov = c[5] != 0, first = c[6] != 0
    cdef floating looked_ahead = 1 + momentum if nesterov else 1
    if accum == NULL:
        for i in range(size):
            p[i] -= lr * (g[i] * scale + decay * p[i])
    elif first:
        for i in range(size):
            gradient = g[i] * scale + decay * p[i]
            accum[i] = gradient
            p[i] -= lr * (looked_ahead * gradient)
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


cdef inline void adam_rule(
    floating *p, const floating *g, floating *m, floating *v, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run Adam; numbers: lr, decay, scale, beta1, 1 - beta1, 1 - beta2, eps, nesterov."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating beta1 = <floating> c[3], new1 = <floating> c[4], new2 = <floating> c[5]
    cdef floating eps = <floating> c[6]
    if c[7] != 0:
        for i in range(size):
            gradient = g[i] * scale + decay * p[i]
            m[i] += (gradient - m[i]) * new1
            v[i] += (gradient * gradient - v[i]) * new2
            p[i] -= lr * (beta1 * m[i] + new1 * gradient) / (root(v[i]) + eps)
    else:
        for i in range(size):
            gradient = g[i] * scale + decay * p[i]
            m[i] += (gradient - m[i]) * new1
            v[i] += (gradient * gradient - v[i]) * new2
            p[i] -= lr * m[i] / (root(v[i]) + eps)


cdef inline void amsgrad_rule(
    floating *p, const floating *g, floating *m, floating *v, floating *largest, const double *c,
    Py_ssize_t size
) noexcept nogil:
    """Run Adam with the largest second moment so far; numbers as of Adam."""
    cdef Py_ssize_t i
    cdef floating gradient, ahead
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating beta1 = <floating> c[3], new1 = <floating> c[4], new2 = <floating> c[5]
    cdef floating eps = <floating> c[6]
    cdef bint nesterov = c[7] != 0
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        m[i] += (gradient - m[i]) * new1
        v[i] += (gradient * gradient - v[i]) * new2
        largest[i] = v[i] if not largest[i] >= v[i] else largest[i]
        ahead = beta1 * m[i] + new1 * gradient if nesterov else m[i]
        p[i] -= lr * ahead / (root(largest[i]) + eps)


cdef inline void adam_weight_decay_rule(
    floating *p, const floating *g, floating *m, floating *v, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run Adam with decoupled decay; numbers: lr, decay, scale, unused, 1 - beta1, 1 - beta2, eps."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating new1 = <floating> c[4], new2 = <floating> c[5], eps = <floating> c[6]
    for i in range(size):
        gradient = g[i] * scale
        m[i] += (gradient - m[i]) * new1
        v[i] += (gradient * gradient - v[i]) * new2
        p[i] -= lr * (m[i] / (root(v[i]) + eps) + decay * p[i])


cdef inline void adagrad_rule(
    floating *p, const floating *g, floating *h, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run Adagrad; numbers: lr, decay, scale, eps, whether h grows."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating eps = <floating> c[3], grows = <floating> (c[4] != 0)
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        h[i] += grows * (gradient * gradient)
        p[i] -= lr * gradient / (root(h[i]) + eps)


cdef inline void proximal_adagrad_rule(
    floating *p, const floating *g, floating *h, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run Adagrad with a proximal step; numbers: lr, decay, scale, l1, l2."""
    cdef Py_ssize_t i
    cdef floating gradient, rate, ahead, left
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating l1 = <floating> c[3], l2 = <floating> c[4]
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        h[i] += gradient * gradient
        rate = lr / root(h[i])
        ahead = p[i] - rate * gradient
        if l1 > 0:
            left = magnitude(ahead) - l1 * rate
            left = left if left > 0 else 0
            ahead = left if ahead > 0 else -left
        p[i] = ahead / (1 + l2 * rate)


cdef inline void rmsprop_rule(
    floating *p, const floating *g, floating *s, floating *v, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run RMSProp; numbers: lr, decay, scale, 1 - rho, momentum, eps."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating new = <floating> c[3], momentum = <floating> c[4], eps = <floating> c[5]
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        s[i] += (gradient * gradient - s[i]) * new
        v[i] = momentum * v[i] + lr * gradient / root(s[i] + eps)
        p[i] -= v[i]


cdef inline void centered_rmsprop_rule(
    floating *p, const floating *g, floating *s, floating *v, floating *mean, const double *c,
    Py_ssize_t size
) noexcept nogil:
    """Run RMSProp that divides by a deviation; numbers as of RMSProp."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating new = <floating> c[3], momentum = <floating> c[4], eps = <floating> c[5]
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        s[i] += (gradient * gradient - s[i]) * new
        mean[i] += (gradient - mean[i]) * new
        v[i] = momentum * v[i] + lr * gradient / root(s[i] - mean[i] * mean[i] + eps)
        p[i] -= v[i]


cdef inline void ftrl_rule(
    floating *p, const floating *g, floating *n, floating *z, const double *c, Py_ssize_t size
) noexcept nogil:
    """Run FTRL; numbers: lr, decay, scale, power, l1, l2.

    sqrt(n') - sqrt(n) is computed as g^2 / (sqrt(n') + sqrt(n)), which loses no digits where n is
    much larger than g^2; 1e-38 makes 0 / 0 a 0.
    """
    cdef Py_ssize_t i
    cdef floating gradient, before, after, square, grown
    cdef floating lr = <floating> c[0], decay = <floating> c[1], scale = <floating> c[2]
    cdef floating l1 = <floating> c[4], l2 = <floating> c[5]
    cdef double power = -c[3], old
    if power == 0.5:
        for i in range(size):
            gradient = g[i] * scale + decay * p[i]
            square = gradient * gradient
            before = root(n[i])
            n[i] += square
            after = root(n[i])
            grown = square / (after + before + <floating> 1e-38)
            z[i] += gradient - grown / lr * p[i]
            before = (l1 if z[i] > 0 else -l1) - z[i]
            p[i] = before / (after / lr + 2 * l2) if magnitude(z[i]) > l1 else 0
        return
    for i in range(size):
        gradient = g[i] * scale + decay * p[i]
        old = pow(n[i], power)
        n[i] += gradient * gradient
        after = <floating> pow(n[i], power)
        grown = <floating> (pow(n[i], power) - old)
        z[i] += gradient - grown / lr * p[i]
        before = (l1 if z[i] > 0 else -l1) - z[i]
        p[i] = before / (after / lr + 2 * l2) if magnitude(z[i]) > l1 else 0


cdef inline void lamb_moments_rule(
    const floating *g, floating *m, floating *v, const double *c, Py_ssize_t size
) noexcept nogil:
    """Advance the moments of Lamb; numbers: lr, decay, scale, 1 - beta1, 1 - beta2, ..."""
    cdef Py_ssize_t i
    cdef floating gradient
    cdef floating scale = <floating> c[2], new1 = <floating> c[3], new2 = <floating> c[4]
    for i in range(size):
        gradient = g[i] * scale
        m[i] += (gradient - m[i]) * new1
        v[i] += (gradient * gradient - v[i]) * new2


cdef inline void lamb_direction(
    const floating *p, const floating *m, const floating *v, floating *out, const double *c,
    Py_ssize_t size
) noexcept nogil:
    """Write m c5 / (sqrt(v c6) + eps) + decay p, the step of Lamb before its ratio; c7 is eps."""
    cdef Py_ssize_t i
    cdef floating decay = <floating> c[1], grow1 = <floating> c[5], grow2 = <floating> c[6]
    cdef floating eps = <floating> c[7]
    for i in range(size):
        out[i] = m[i] * grow1 / (root(v[i] * grow2) + eps) + decay * p[i]


cdef inline void run_rule(
    int rule, floating *p, const floating *g, floating *a, floating *b, floating *d,
    const double *c, Py_ssize_t size
) noexcept nogil:
    """Run one rule."""
    if rule == SGD:
        sgd_rule(p, g, a, c, size)
    elif rule == ADAM:
        adam_rule(p, g, a, b, c, size)
    elif rule == AMSGRAD:
        amsgrad_rule(p, g, a, b, d, c, size)
    elif rule == ADAM_WEIGHT_DECAY:
        adam_weight_decay_rule(p, g, a, b, c, size)
    elif rule == ADAGRAD:
        adagrad_rule(p, g, a, c, size)
    elif rule == PROXIMAL_ADAGRAD:
        proximal_adagrad_rule(p, g, a, c, size)
    elif rule == RMSPROP:
        rmsprop_rule(p, g, a, b, c, size)
    elif rule == CENTERED_RMSPROP:
        centered_rmsprop_rule(p, g, a, b, d, c, size)
    elif rule == FTRL:
        ftrl_rule(p, g, a, b, c, size)
    elif rule == LAMB_MOMENTS:
        lamb_moments_rule(g, a, b, c, size)

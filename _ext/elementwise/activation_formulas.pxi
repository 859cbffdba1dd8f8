"""The activation functions and their derivatives, a loop over a block for each."""

cdef void forward_block(
    Function function, const double *options, const floating *x, floating *out, Py_ssize_t size
) noexcept nogil:
    """Write function(x) for one block."""
    cdef Py_ssize_t i
    cdef floating e, y
    cdef floating a = <floating> options[0]
    cdef floating b = <floating> options[1]
    cdef floating c = <floating> options[2]
    cdef floating rise = <floating> (-TWICE_ROOT_TWO_OVER_PI * LOG2_E)
    cdef floating cubic = <floating> CUBIC
    cdef floating one = 1
    cdef floating zero = 0
    cdef floating two = 2
    cdef floating three = 3
    cdef floating sixth = one / 6
    cdef float bottom = hidden(-88)
    cdef float top = hidden(88.37)
    cdef float lowest = hidden(-126)
    cdef float highest = hidden(128)
    if function == RELU:
        # Written with <= so that a NaN comes out as a NaN.
        for i in range(size):
            out[i] = 0 if x[i] <= 0 else x[i]
    elif function == GELU:
        if GELU_TABLE and floating is float:
            gelu_by_table(<const float *> x, <float *> out, size)
        else:
            for i in range(size):
                out[i] = x[i] * normal_share(x[i], bell(x[i]))
    elif function == GELU_TANH:
        for i in range(size):
            out[i] = x[i] / (
                one + power_of_two_real(rise * x[i] * (one + cubic * x[i] * x[i]), lowest, highest)
            )
    elif function == SIGMOID:
        for i in range(size):
            out[i] = sigmoid(x[i], bottom)
    elif function == SILU:
        for i in range(size):
            out[i] = x[i] * sigmoid(x[i], bottom)
    elif function == TANH:
        for i in range(size):
            out[i] = hyperbolic_tangent(x[i])
    elif function == FAST_GELU:
        for i in range(size):
            out[i] = x[i] * sigmoid(a * x[i], bottom)
    elif function == MISH:
        # tanh(log(1 + e^x)) is a quotient of polynomials of e^x, or of e^-x divided by its powers.
        for i in range(size):
            e = exponential_of_size(x[i], bottom)
            y = e * (e + two) if x[i] < 0 else one + two * e
            out[i] = x[i] * y / (y + two if x[i] < 0 else y + two * e * e)
    elif function == SOFTPLUS:
        # log(1 + e^(a x)) / a, and x where a x > b.
        for i in range(size):
            e = exponential_of_size(a * x[i], bottom)
            y = ((a * x[i] if a * x[i] > 0 else zero) + log_of_one_plus(e)) / a
            out[i] = x[i] if a * x[i] > b else y
    elif function == LOG_SIGMOID:
        for i in range(size):
            y = log_of_one_plus(exponential_of_size(x[i], bottom))
            out[i] = (x[i] if x[i] < 0 else zero) - y
    elif function == EXPONENTIAL_LINEAR:
        # a x where positive, else b (e^(c x) - 1).
        for i in range(size):
            y = b * exponential_less_one(c * x[i], bottom, top)
            out[i] = a * x[i] if x[i] > 0 else y
    elif function == SOFTSIGN:
        for i in range(size):
            out[i] = x[i] / (one + fabs(x[i]))
    elif function == LEAKY_RELU:
        for i in range(size):
            out[i] = x[i] if x[i] > 0 else a * x[i]
    elif function == HARD_SIGMOID:
        for i in range(size):
            y = x[i] * sixth + one / two
            y = zero if y < 0 else y
            out[i] = one if y > one else y
    elif function == HARD_SWISH:
        for i in range(size):
            y = x[i] * (x[i] + three) * sixth
            y = zero if x[i] <= -three else y
            out[i] = x[i] if x[i] >= three else y
    elif function == CLIP:
        # Not below a, not above b.
        for i in range(size):
            y = a if x[i] < a else x[i]
            out[i] = b if y > b else y
    elif function == HARD_SHRINK:
        for i in range(size):
            out[i] = x[i] if fabs(x[i]) > a else zero
    elif function == SOFT_SHRINK:
        for i in range(size):
            y = x[i] if fabs(x[i]) <= a else (a if x[i] > 0 else -a)
            out[i] = x[i] - y
    elif function == THRESHOLD:
        for i in range(size):
            out[i] = x[i] if x[i] > a else b


cdef void backward_block(
    Function function, const double *options, const floating *dy, const floating *kept, floating *dx,
    Py_ssize_t size,
) noexcept nogil:
    """Write dy times the derivative for one block; `kept` is y for ReLU, sigmoid and tanh, else x."""
    cdef Py_ssize_t i
    cdef floating s, y, e
    cdef floating a = <floating> options[0]
    cdef floating b = <floating> options[1]
    cdef floating c = <floating> options[2]
    cdef floating d = <floating> options[3]
    cdef floating density = <floating> DENSITY_AT_ZERO
    cdef floating slope = <floating> TWICE_ROOT_TWO_OVER_PI
    cdef floating rise = <floating> (-TWICE_ROOT_TWO_OVER_PI * LOG2_E)
    cdef floating cubic = <floating> CUBIC
    cdef floating thrice = <floating> (3 * CUBIC)
    cdef floating one = 1
    cdef floating zero = 0
    cdef floating two = 2
    cdef floating three = 3
    cdef floating sixth = one / 6
    cdef float bottom = hidden(-88)
    cdef float top = hidden(88.37)
    cdef float lowest = hidden(-126)
    cdef float highest = hidden(128)
    if function == RELU:
        for i in range(size):
            # Read before the choice: without masks the compiler makes vectors of no read that is one's part.
            s = dy[i]
            dx[i] = 0 if kept[i] <= 0 else s
    elif function == GELU:
        if GELU_TABLE and floating is float:
            gelu_gradient_by_table(<const float *> dy, <const float *> kept, <float *> dx, size)
        else:
            for i in range(size):
                s = bell(kept[i])
                dx[i] = dy[i] * (normal_share(kept[i], s) + kept[i] * density * s)
    elif function == GELU_TANH:
        for i in range(size):
            s = one / (
                one + power_of_two_real(rise * kept[i] * (one + cubic * kept[i] * kept[i]), lowest, highest)
            )
            dx[i] = dy[i] * (
                s + kept[i] * s * (one - s) * slope * (one + thrice * kept[i] * kept[i])
            )
    elif function == SIGMOID:
        for i in range(size):
            dx[i] = dy[i] * kept[i] * (one - kept[i])
    elif function == SILU:
        for i in range(size):
            s = sigmoid(kept[i], bottom)
            dx[i] = dy[i] * (s + kept[i] * s * (one - s))
    elif function == TANH:
        for i in range(size):
            dx[i] = dy[i] * (one - kept[i] * kept[i])
    elif function == FAST_GELU:
        for i in range(size):
            s = sigmoid(a * kept[i], bottom)
            dx[i] = dy[i] * (s + a * kept[i] * s * (one - s))
    elif function == MISH:
        # t + x sigmoid(x) (1 - t^2), where t is the quotient above and 1 - t^2 one of the same e.
        for i in range(size):
            e = exponential_of_size(kept[i], bottom)
            y = e * (e + two) if kept[i] < 0 else one + two * e
            s = one / (y + two if kept[i] < 0 else y + two * e * e)
            e = (e if kept[i] < 0 else e * e) * (one + e)
            dx[i] = dy[i] * s * (y + two * two * kept[i] * e * s)
    elif function == SOFTPLUS:
        for i in range(size):
            s = sigmoid(a * kept[i], bottom)
            dx[i] = dy[i] * (one if a * kept[i] > b else s)
    elif function == LOG_SIGMOID:
        for i in range(size):
            dx[i] = dy[i] * sigmoid(-kept[i], bottom)
    elif function == EXPONENTIAL_LINEAR:
        for i in range(size):
            s = b * c * (exponential_less_one(c * kept[i], bottom, top) + one)
            dx[i] = dy[i] * (a if kept[i] > 0 else s)
    elif function == SOFTSIGN:
        for i in range(size):
            s = one / (one + fabs(kept[i]))
            dx[i] = dy[i] * (s * s)
    elif function == LEAKY_RELU:
        # At 0 the mean of both sides.
        for i in range(size):
            s = a if kept[i] < 0 else (one + a) / two
            dx[i] = dy[i] * (one if kept[i] > 0 else s)
    elif function == HARD_SIGMOID:
        for i in range(size):
            dx[i] = dy[i] * (sixth if fabs(kept[i]) < three else zero)
    elif function == HARD_SWISH:
        for i in range(size):
            s = zero if kept[i] < -three else (two * kept[i] + three) * sixth
            dx[i] = dy[i] * (one if kept[i] > three else s)
    elif function == CLIP:
        # c at the lower corner, d at the upper one.
        for i in range(size):
            s = one if kept[i] > a and kept[i] < b else zero
            s = c if kept[i] == a else s
            s = d if kept[i] == b and a != b else s
            y = dy[i] * s
            dx[i] = y if s != 0 else zero
    elif function == HARD_SHRINK or function == SOFT_SHRINK:
        for i in range(size):
            s = dy[i]
            dx[i] = s if fabs(kept[i]) > a else zero
    elif function == THRESHOLD:
        for i in range(size):
            s = dy[i]
            dx[i] = s if kept[i] > a else zero

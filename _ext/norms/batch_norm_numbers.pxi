# The arithmetic of batch_norm.pyx on single numbers, as they are stored: float32, float64 or bfloat16.
#
# A vector of bfloat16 is read as words of two numbers: shifting gives those in the low halves, masking those
# in the high ones, and both go back the same way, so that no number changes its lane.

ctypedef fused storage:
    float
    double
    uint16_t

# Arrays that an operation is given beside x, or gives on: where x is bfloat16 they may be float32.
ctypedef fused passed:
    float
    double
    uint16_t

cdef extern from *:
    """
    typedef uint32_t __attribute__((may_alias, aligned(2))) dm_two_halves;
    typedef dm_two_halves *__restrict dm_result;
    #ifdef __FMA__
    #define dm_multiply_add_f __builtin_fmaf
    #define dm_multiply_add_d __builtin_fma
    #else
    #define dm_multiply_add_f(a, b, c) ((a) * (b) + (c))
    #define dm_multiply_add_d(a, b, c) ((a) * (b) + (c))
    #endif
    """
    ctypedef uint32_t Halves "dm_two_halves"
    # Where results go: to nothing that a loop reads later.
    ctypedef Halves *Result "dm_result"
    float multiply_add_float "dm_multiply_add_f"(float a, float b, float c) noexcept nogil
    double multiply_add_double "dm_multiply_add_d"(double a, double b, double c) noexcept nogil


cdef struct Sums:
    # Of numbers and of a second figure that each has: in as many lanes as a vector has numbers.
    double lanes[LANES]
    double second_lanes[LANES]


cdef inline void clear(Sums *sums) noexcept nogil:
    cdef int lane
    for lane in range(LANES):
        sums.lanes[lane] = 0
        sums.second_lanes[lane] = 0


cdef inline floating multiply_add(floating a, floating b, floating c) noexcept nogil:
    """Return a b + c, rounded once where the CPU can: in every loop alike, as the compiler may not join them."""
    if floating is float:
        return multiply_add_float(a, b, c)
    else:
        return multiply_add_double(a, b, c)


cdef inline floating real(storage x, floating _like) noexcept nogil:
    """Return a stored number in the type of the statistics."""
    if storage is uint16_t:
        return bf16_load(x)
    else:
        return <floating> x


cdef inline void store(storage *x, Py_ssize_t i, floating value) noexcept nogil:
    """Write a number as it is stored."""
    if storage is uint16_t:
        x[i] = bf16_store(<float> value)
    else:
        x[i] = <storage> value


cdef inline float low_half(Halves word) noexcept nogil:
    """Return the first of two bfloat16."""
    cdef FloatBits found
    found.bits = word << 16
    return found.value


cdef inline float high_half(Halves word) noexcept nogil:
    """Return the second of two bfloat16."""
    cdef FloatBits found
    found.bits = word & <uint32_t> 0xFFFF0000
    return found.value


cdef inline Halves halves(float low, float high) noexcept nogil:
    """Return two numbers as bfloat16, rounded as by `store`; NaNs must be as `plain` leaves them."""
    return upper(low) >> 16 | (upper(high) & <uint32_t> 0xFFFF0000)


cdef inline uint32_t upper(float x) noexcept nogil:
    """Return bits whose upper half is the nearest bfloat16, ties to the even one, without a look for NaNs."""
    cdef FloatBits word
    word.value = x
    if word.bits & <uint32_t> 0x10000:
        return word.bits + <uint32_t> 0x8000
    return word.bits + <uint32_t> 0x7FFF


cdef inline floating plain(floating x) noexcept nogil:
    """Return x, or a NaN whose lower half is empty, as those made from bfloat16 are: rounding cannot carry it away."""
    return x if x == x else <floating> NAN


cdef inline floating number_of_step(
    const storage *x, int lane, int k, floating _like, bint words
) noexcept nogil:
    """Return the k-th of the four numbers that a lane has of a step; with `words` bfloat16 is read as words."""
    cdef Halves word
    if storage is uint16_t:
        if words:
            word = (<const Halves *> x)[lane + k // 2 * LANES]
            return low_half(word) if k % 2 == 0 else high_half(word)
        return bf16_load(x[lane + k * LANES])
    else:
        return <floating> x[lane + k * LANES]


cdef inline floating positive_part(floating value) noexcept nogil:
    """Return ReLU of a number, never -0; a NaN stays one."""
    return <floating> 0 if value <= 0 else value


cdef inline floating let_through(
    floating dy, floating distance, floating scale, floating beta, floating least, bint relu
) noexcept nogil:
    """Return dy; with `relu`, 0 where its input is stored as 0: up to `least`, made from x - mean again."""
    if relu and multiply_add(distance, scale, beta) <= least:
        return 0
    return dy


cdef inline floating normalised_number(
    floating x, floating mean, floating scale, floating beta, floating addend, bint adds, bint relu
) noexcept nogil:
    """Return (x - mean) scale + beta, perhaps + addend, perhaps its positive part."""
    cdef floating value = multiply_add(x - mean, scale, beta)
    if adds:
        value = value + addend
    return positive_part(value) if relu else value


cdef inline floating input_gradient(
    floating dy, floating x, floating mean, floating scale, floating slope, floating shift,
    floating beta, floating least, bint relu
) noexcept nogil:
    """Return dy scale - shift - (x - mean) slope, with dy let through."""
    cdef floating distance = x - mean
    cdef floating given = let_through(dy, distance, scale, beta, least, relu)
    return multiply_add(-distance, slope, multiply_add(given, scale, -shift))


cdef inline void normalise_numbers(
    const storage *x, const passed *addend, passed *out, Py_ssize_t size, floating mean,
    floating scale, floating beta, bint adds, bint relu
) noexcept nogil:
    """Write each `normalised_number` of one channel."""
    cdef Halves word, other = 0
    cdef floating given = 0
    cdef Py_ssize_t i, done = 0
    if storage is uint16_t and passed is uint16_t:
        mean, scale, beta = plain(mean), plain(scale), plain(beta)
        for i in range(size // 2):
            word = (<const Halves *> x)[i]
            if adds:
                other = (<const Halves *> addend)[i]
            (<Halves *> out)[i] = halves(
                normalised_number(low_half(word), mean, scale, beta, low_half(other), adds, relu),
                normalised_number(high_half(word), mean, scale, beta, high_half(other), adds, relu),
            )
        done = size // 2 * 2
    for i in range(done, size):
        if adds:
            given = real(addend[i], mean)
        store(out, i, normalised_number(real(x[i], mean), mean, scale, beta, given, adds, relu))


cdef inline void input_gradient_numbers(
    const passed *dy, const storage *x, storage *dx, Py_ssize_t size, floating mean, floating scale,
    floating slope, floating shift, floating beta, floating least, bint relu
) noexcept nogil:
    """Write each `input_gradient` of one channel."""
    cdef Halves word, given
    cdef Py_ssize_t i, done = 0
    if storage is uint16_t and passed is uint16_t:
        mean, scale, slope, shift, beta = plain(mean), plain(scale), plain(slope), plain(shift), plain(beta)
        for i in range(size // 2):
            word = (<const Halves *> x)[i]
            given = (<const Halves *> dy)[i]
            (<Halves *> dx)[i] = halves(
                input_gradient(low_half(given), low_half(word), mean, scale, slope, shift, beta, least, relu),
                input_gradient(high_half(given), high_half(word), mean, scale, slope, shift, beta, least, relu),
            )
        done = size // 2 * 2
    for i in range(done, size):
        store(dx, i, input_gradient(
            real(dy[i], mean), real(x[i], mean), mean, scale, slope, shift, beta, least, relu
        ))


cdef inline void mask_by_result(
    const passed *dy, const passed *y, passed *out, Py_ssize_t size, int16_t infinity
) noexcept nogil:
    """Write dy where ReLU's result is positive or NaN, else 0; 16-bit y by its bits, given those of -infinity."""
    cdef passed given
    cdef int16_t bits
    cdef Py_ssize_t i
    for i in range(size):
        given = dy[i]
        if passed is uint16_t:
            bits = <int16_t> y[i]
            out[i] = 0 if (bits <= infinity) | (bits == 0) else given
        else:
            out[i] = 0 if y[i] <= 0 else given


cdef inline double average(const storage *x, Py_ssize_t size) noexcept nogil:
    """Return the average of a few numbers."""
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(size):
        total += real(x[i], total)
    return total / max(size, 1)


cdef inline void end_statistics(
    double *sums, double *squares, const floating *center, double numbers, Py_ssize_t channels
) noexcept nogil:
    """Turn sums of distances and of squares into means and sums of squares around them."""
    cdef Py_ssize_t c
    for c in range(channels):
        squares[c] -= sums[c] * sums[c] / numbers
        sums[c] = center[c] + sums[c] / numbers

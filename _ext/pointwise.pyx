# cython: cdivision=True
"""Functions of each element that NumPy has not, or has slower: universal functions, for `ufunc_loops.apply`.

16-bit floats have no loops here: `apply` widens them. `fmod` and `remainder` are exact, `power` right to
0.51 units in the last place, erf to 1.6, a float64 `cube` to 1.5.

>>> from dist_ms._ext.ufunc_loops import apply
>>> apply(power, np.array([2, -2], np.float32), np.array(3, np.float32))
array([ 8., -8.], dtype=float32)
"""

cimport numpy as cnp

from transcendental cimport Bits, SIGN, bell, normal_share, size_up_to

cnp.import_array()
cnp.import_ufunc()

cdef extern from "pointwise_loops.h" nogil:
    # Each is a PyUFuncGenericFunction.
    void select_8 "dm_select_8"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void select_16 "dm_select_16"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void select_32 "dm_select_32"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void select_64 "dm_select_64"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void clamp_float "dm_clamp_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void clamp_double "dm_clamp_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void clamp_int "dm_clamp_int"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void clamp_long "dm_clamp_long"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void lerp_float "dm_lerp_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void lerp_double "dm_lerp_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void multiply_add_float "dm_multiply_add_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void multiply_add_double "dm_multiply_add_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void sign_float "dm_sign_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void sign_double "dm_sign_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void rsqrt_float "dm_rsqrt_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void rsqrt_double "dm_rsqrt_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void cube_float "dm_cube_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void cube_double "dm_cube_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void erf_double "dm_erf_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void erfc_float "dm_erfc_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void erfc_double "dm_erfc_double"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void fmod_float "dm_fmod_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void power_float "dm_power_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept
    void remainder_float "dm_remainder_float"(char **, cnp.npy_intp *, cnp.npy_intp *, void *) noexcept

cdef float ROOT_TWO = 1.4142135623730951


cdef inline float erf_of(float x) noexcept nogil:
    """Return the error function to 1.6 units in the last place.

    Below 0.9 an odd polynomial, a fit of the relative error (Lawson's iteration on Chebyshev nodes);
    from there on 1 less what is left beyond |x|.
    """
    cdef float square = x * x, near
    cdef float size = size_up_to(x * ROOT_TWO, <float> 13.27)
    cdef Bits far, sign
    near = <float> -0.0006090360254189027
    near = near * square + <float> 0.005011962872724191
    near = near * square + <float> -0.026778908951578247
    near = near * square + <float> 0.11282140812845458
    near = near * square + <float> -0.3761252327628915
    near = near * square + <float> 0.1283791537972883
    far.value = <float> 1.0 - <float> 2.0 * normal_share(-size, bell(size))
    sign.value = x
    far.number = far.number | (sign.number & <int> SIGN)
    # square, unlike the size, is NaN where x is.
    return far.value if square >= <float> 0.81 else near * x + x


cdef void erf_float(char **places, cnp.npy_intp *sizes, cnp.npy_intp *steps, void *options) noexcept nogil:
    cdef cnp.npy_intp i
    cdef const float *x = <const float *> places[0]
    cdef float *out = <float *> places[1]
    if steps[0] == sizeof(float) and steps[1] == sizeof(float):
        for i in range(sizes[0]):
            out[i] = erf_of(x[i])
    else:
        for i in range(sizes[0]):
            (<float *> (places[1] + i * steps[1]))[0] = erf_of((<const float *> (places[0] + i * steps[0]))[0])


cdef enum:
    # A ufunc's loops, and their types: NumPy keeps the places of these lists.
    MOST_LOOPS = 20

cdef cnp.PyUFuncGenericFunction[12][MOST_LOOPS] loops
cdef char[12][MOST_LOOPS * 4] types
cdef int made = 0


cdef object new_ufunc(list found, int inputs, const char *name, const char *doc):
    """Make a ufunc of (loop's address, types of its operands) pairs."""
    global made
    cdef int index, i
    for index in range(len(found)):
        loops[made][index] = <cnp.PyUFuncGenericFunction> <size_t> found[index][0]
        for i in range(inputs + 1):
            types[made][index * (inputs + 1) + i] = found[index][1][i]
    made += 1
    return cnp.PyUFunc_FromFuncAndData(
        loops[made - 1], NULL, types[made - 1], len(found), inputs, 1, cnp.PyUFunc_None, <char *> name, <char *> doc, 0
    )


cdef tuple of_one_type(size_t loop, int kind, int inputs):
    return loop, (kind,) * (inputs + 1)


cdef tuple choice(size_t loop, int kind):
    return loop, (cnp.NPY_BOOL, kind, kind, kind)


select = new_ufunc(
    [
        choice(<size_t> select_8, cnp.NPY_BOOL), choice(<size_t> select_8, cnp.NPY_BYTE),
        choice(<size_t> select_8, cnp.NPY_UBYTE), choice(<size_t> select_16, cnp.NPY_SHORT),
        choice(<size_t> select_16, cnp.NPY_USHORT), choice(<size_t> select_32, cnp.NPY_INT),
        choice(<size_t> select_32, cnp.NPY_UINT), choice(<size_t> select_64, cnp.NPY_LONG),
        choice(<size_t> select_64, cnp.NPY_ULONG), choice(<size_t> select_64, cnp.NPY_LONGLONG),
        choice(<size_t> select_64, cnp.NPY_ULONGLONG), choice(<size_t> select_32, cnp.NPY_FLOAT),
        choice(<size_t> select_64, cnp.NPY_DOUBLE),
    ],
    3, b"select", b"y where x is true, else z.",
)
clamp = new_ufunc(
    [
        of_one_type(<size_t> clamp_int, cnp.NPY_INT, 3), of_one_type(<size_t> clamp_long, cnp.NPY_LONG, 3),
        of_one_type(<size_t> clamp_float, cnp.NPY_FLOAT, 3), of_one_type(<size_t> clamp_double, cnp.NPY_DOUBLE, 3),
    ],
    3, b"clamp", b"min(max(x, y), z) of limits that are no NaN; an x that is one stays.",
)
lerp = new_ufunc(
    [of_one_type(<size_t> lerp_float, cnp.NPY_FLOAT, 3), of_one_type(<size_t> lerp_double, cnp.NPY_DOUBLE, 3)],
    3, b"lerp", b"x + z (y - x).",
)
multiply_add = new_ufunc(
    [
        of_one_type(<size_t> multiply_add_float, cnp.NPY_FLOAT, 3),
        of_one_type(<size_t> multiply_add_double, cnp.NPY_DOUBLE, 3),
    ],
    3, b"multiply_add", b"x + y z.",
)
sign = new_ufunc(
    [of_one_type(<size_t> sign_float, cnp.NPY_FLOAT, 1), of_one_type(<size_t> sign_double, cnp.NPY_DOUBLE, 1)],
    1, b"sign", b"-1, 0 or 1; a NaN stays one.",
)
rsqrt = new_ufunc(
    [of_one_type(<size_t> rsqrt_float, cnp.NPY_FLOAT, 1), of_one_type(<size_t> rsqrt_double, cnp.NPY_DOUBLE, 1)],
    1, b"rsqrt", b"1 / sqrt(x).",
)
cube = new_ufunc(
    [of_one_type(<size_t> cube_float, cnp.NPY_FLOAT, 1), of_one_type(<size_t> cube_double, cnp.NPY_DOUBLE, 1)],
    1, b"cube", b"x^3.",
)
erf = new_ufunc(
    [of_one_type(<size_t> erf_float, cnp.NPY_FLOAT, 1), of_one_type(<size_t> erf_double, cnp.NPY_DOUBLE, 1)],
    1, b"erf", b"2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.",
)
erfc = new_ufunc(
    [of_one_type(<size_t> erfc_float, cnp.NPY_FLOAT, 1), of_one_type(<size_t> erfc_double, cnp.NPY_DOUBLE, 1)],
    1, b"erfc", b"1 - erf(x), to a unit also where erf(x) is close to 1.",
)
power = new_ufunc(
    [of_one_type(<size_t> power_float, cnp.NPY_FLOAT, 2)], 2, b"power", b"x^y; NaN for parts of negative numbers.",
)
fmod = new_ufunc(
    [of_one_type(<size_t> fmod_float, cnp.NPY_FLOAT, 2)],
    2, b"fmod", b"x less y times their quotient cut toward zero: the sign of x.",
)
remainder = new_ufunc(
    [of_one_type(<size_t> remainder_float, cnp.NPY_FLOAT, 2)],
    2, b"remainder", b"x less y times their quotient rounded down: the sign of y.",
)

/* One reduction of one type, included by reduction_kernels.h once for each.

   T is the type in memory, A the one that is added up in; VALUE(x) is what an element counts as, BOTH(a, b) puts two
   results together and START changes none. With QUAD four elements are added in T before the sum goes on in A; ELEMENT(x) is
   what stands for an element x there, EIGHT(x) and SIXTEEN(x) for those of x[0 ... 7] and x[0 ... 15] as a vector.
   EVEN(x) and ODD(x) are vectors of those of every second of x[0 ... 15], where these are quicker than two of EIGHT.
   QUICK(x, size, result) is another way for most numbers of a leaf, which says whether it was right for these.
   What is put together with what follows from the number of elements alone. */

#ifndef ELEMENT
#define ELEMENT(x) (x)
#endif
#define LANES (256 / (int) sizeof(A))
#define FEW 8

static inline A NAME(both)(A a, A b) {
    return BOTH(a, b);
}

#if defined(EIGHT) && defined(__AVX512F__)
/* Compilers keep lanes of two types in memory: written out, a row of 64 takes a third of the time. */
static inline __m512d NAME(four)(const T *x, Py_ssize_t stride) {
    const __m256 first = _mm256_add_ps(EIGHT(x), EIGHT(x + stride));
    return _mm512_cvtps_pd(_mm256_add_ps(first, _mm256_add_ps(EIGHT(x + 2 * stride), EIGHT(x + 3 * stride))));
}

static inline __m512 NAME(wide_four)(const T *x, Py_ssize_t stride) {
    const __m512 first = _mm512_add_ps(SIXTEEN(x), SIXTEEN(x + stride));
    return _mm512_add_ps(first, _mm512_add_ps(SIXTEEN(x + 2 * stride), SIXTEEN(x + 3 * stride)));
}

static inline A NAME(leaf)(const T *x, Py_ssize_t size) {
    __m512d lanes = _mm512_set1_pd(START), others = lanes;
    A rest;
    for (; size >= 64; x += 64, size -= 64) {
        const __m512 four = NAME(wide_four)(x, 16);
        lanes = _mm512_add_pd(lanes, DM_LOWER(four));
        others = _mm512_add_pd(others, DM_UPPER(four));
    }
    lanes = _mm512_add_pd(lanes, others);
    if (size >= 32) {
        lanes = _mm512_add_pd(lanes, NAME(four)(x, 8));
        x += 32, size -= 32;
    }
    if (size >= 16) {
        lanes = _mm512_add_pd(lanes, _mm512_cvtps_pd(_mm256_add_ps(EIGHT(x), EIGHT(x + 8))));
        x += 16, size -= 16;
    }
    if (size >= 8) {
        lanes = _mm512_add_pd(lanes, _mm512_cvtps_pd(EIGHT(x)));
        x += 8, size -= 8;
    }
    rest = _mm512_reduce_add_pd(lanes);
    for (Py_ssize_t i = 0; i < size; i++) rest = NAME(both)(rest, VALUE(ELEMENT(x[i])));
    return rest;
}
#elif defined(EIGHT) && defined(__AVX2__)
static inline __m256 NAME(four)(const T *x) {
#ifdef EVEN
    return _mm256_add_ps(_mm256_add_ps(EVEN(x), ODD(x)), _mm256_add_ps(EVEN(x + 16), ODD(x + 16)));
#else
    return _mm256_add_ps(_mm256_add_ps(EIGHT(x), EIGHT(x + 8)), _mm256_add_ps(EIGHT(x + 16), EIGHT(x + 24)));
#endif
}

static inline __m256d NAME(halves)(__m256 x) {
    return _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
}

#ifdef EVEN
static inline void NAME(add)(double *to, __m128 more) {
    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), _mm256_cvtps_pd(more)));
}
#endif

static inline A NAME(leaf)(const T *x, Py_ssize_t size) {
    __m256d lanes = _mm256_set1_pd(START), others = lanes;
    __m128d pair;
    A rest;
    for (; size >= 64; x += 64, size -= 64) {
        lanes = _mm256_add_pd(lanes, NAME(halves)(NAME(four)(x)));
        others = _mm256_add_pd(others, NAME(halves)(NAME(four)(x + 32)));
    }
    lanes = _mm256_add_pd(lanes, others);
    if (size >= 32) {
        lanes = _mm256_add_pd(lanes, NAME(halves)(NAME(four)(x)));
        x += 32, size -= 32;
    }
    if (size >= 16) {
        lanes = _mm256_add_pd(lanes, NAME(halves)(_mm256_add_ps(EIGHT(x), EIGHT(x + 8))));
        x += 16, size -= 16;
    }
    if (size >= 8) {
        lanes = _mm256_add_pd(lanes, NAME(halves)(EIGHT(x)));
        x += 8, size -= 8;
    }
    pair = _mm_add_pd(_mm256_castpd256_pd128(lanes), _mm256_extractf128_pd(lanes, 1));
    rest = _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
    for (Py_ssize_t i = 0; i < size; i++) rest = NAME(both)(rest, VALUE(ELEMENT(x[i])));
    return rest;
}
#else
static inline A NAME(leaf)(const T *x, Py_ssize_t size) {
    A lanes[LANES], few[FEW], rest = START;
    Py_ssize_t i = 0;
#ifdef QUICK
    if (QUICK(x, size, &rest)) return rest;
    rest = START;
#endif
    if (size >= LANES) {
        for (int k = 0; k < LANES; k++) lanes[k] = START;
#ifdef QUAD
        for (; i + 4 * LANES <= size; i += 4 * LANES)
            for (int k = 0; k < LANES; k++) {
                const T *at = x + i + k;
                lanes[k] = NAME(both)(lanes[k], VALUE((ELEMENT(at[0]) + ELEMENT(at[LANES])) + (ELEMENT(at[2 * LANES]) + ELEMENT(at[3 * LANES]))));
            }
#endif
        for (; i + LANES <= size; i += LANES)
            for (int k = 0; k < LANES; k++) lanes[k] = NAME(both)(lanes[k], VALUE(ELEMENT(x[i + k])));
        #pragma GCC unroll 16
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int k = 0; k < half; k++) lanes[k] = NAME(both)(lanes[k], lanes[k + half]);
        rest = lanes[0];
    }
    if (size - i >= FEW) {
        for (int k = 0; k < FEW; k++) few[k] = START;
        for (; i + FEW <= size; i += FEW)
            for (int k = 0; k < FEW; k++) few[k] = NAME(both)(few[k], VALUE(ELEMENT(x[i + k])));
        rest = NAME(both)(rest, NAME(both)(NAME(both)(NAME(both)(few[0], few[4]), NAME(both)(few[1], few[5])),
                               NAME(both)(NAME(both)(few[2], few[6]), NAME(both)(few[3], few[7]))));
    }
    for (; i < size; i++) rest = NAME(both)(rest, VALUE(ELEMENT(x[i])));
    return rest;
}
#endif

static A NAME(pairwise)(const T *x, Py_ssize_t size) {
    Py_ssize_t half;
    A first, second;
    if (size <= DM_LEAF) return NAME(leaf)(x, size);
    half = (size / DM_LEAF + 1) / 2 * DM_LEAF;
    first = NAME(pairwise)(x, half);
    second = NAME(pairwise)(x + half, size - half);
    return NAME(both)(first, second);
}

static A NAME(tree)(const A *results, Py_ssize_t count) {
    A first, second;
    if (count == 1) return results[0];
    first = NAME(tree)(results, count / 2);
    second = NAME(tree)(results + count / 2, count - count / 2);
    return NAME(both)(first, second);
}

static void NAME(rows)(const void *x, Py_ssize_t count, Py_ssize_t size, void *results) {
    for (Py_ssize_t row = 0; row < count; row++) {
        const T *at = (const T *) x + row * size;
        ((A *) results)[row] = size <= DM_LEAF ? NAME(leaf)(at, size) : NAME(pairwise)(at, size);
    }
}

static void NAME(gather)(const void *results, Py_ssize_t count, void *result) {
    *(A *) result = NAME(tree)((const A *) results, count);
}

static void NAME(start)(void *results, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) ((A *) results)[i] = START;
}

static void NAME(join)(const void *more, Py_ssize_t count, void *results) {
    const A *from = more;
    A *to = results;
    for (Py_ssize_t i = 0; i < count; i++) to[i] = NAME(both)(to[i], from[i]);
}

static void NAME(columns)(const void *rows, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t width, void *results) {
    A *restrict to = results;
    Py_ssize_t row = 0;
#if defined(EIGHT) && defined(__AVX512F__)
    for (; row + 8 <= count; row += 8) {
        const T *a = (const T *) rows + row * stride, *b = a + 4 * stride;
        Py_ssize_t i = 0;
        for (; i + 16 <= width; i += 16) {
            const __m512 first = NAME(wide_four)(a + i, stride), second = NAME(wide_four)(b + i, stride);
            const __m512d lower = _mm512_add_pd(DM_LOWER(first), DM_LOWER(second));
            const __m512d upper = _mm512_add_pd(DM_UPPER(first), DM_UPPER(second));
            _mm512_storeu_pd(to + i, _mm512_add_pd(_mm512_loadu_pd(to + i), lower));
            _mm512_storeu_pd(to + i + 8, _mm512_add_pd(_mm512_loadu_pd(to + i + 8), upper));
        }
        for (; i + 8 <= width; i += 8) {
            const __m512d more = _mm512_add_pd(NAME(four)(a + i, stride), NAME(four)(b + i, stride));
            _mm512_storeu_pd(to + i, _mm512_add_pd(_mm512_loadu_pd(to + i), more));
        }
        for (; i < width; i++)
            for (int k = 0; k < 8; k++) to[i] = NAME(both)(to[i], VALUE(ELEMENT(a[k * stride + i])));
    }
#endif
    for (; row + 4 <= count; row += 4) {
        const T *a = (const T *) rows + row * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        Py_ssize_t i = 0;
#if defined(EVEN) && defined(__AVX2__) && !defined(__AVX512F__)
        for (; i + 16 <= width; i += 16) {
            const __m256 even = _mm256_add_ps(_mm256_add_ps(EVEN(a + i), EVEN(b + i)), _mm256_add_ps(EVEN(c + i), EVEN(d + i)));
            const __m256 odd = _mm256_add_ps(_mm256_add_ps(ODD(a + i), ODD(b + i)), _mm256_add_ps(ODD(c + i), ODD(d + i)));
            const __m256 low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
            NAME(add)(to + i, _mm256_castps256_ps128(low));
            NAME(add)(to + i + 4, _mm256_castps256_ps128(high));
            NAME(add)(to + i + 8, _mm256_extractf128_ps(low, 1));
            NAME(add)(to + i + 12, _mm256_extractf128_ps(high, 1));
        }
#endif
        for (; i < width; i++)
#ifdef QUAD
            to[i] = NAME(both)(to[i], VALUE((ELEMENT(a[i]) + ELEMENT(b[i])) + (ELEMENT(c[i]) + ELEMENT(d[i]))));
#else
            to[i] = NAME(both)(to[i], NAME(both)(NAME(both)(VALUE(a[i]), VALUE(b[i])), NAME(both)(VALUE(c[i]), VALUE(d[i]))));
#endif
    }
    for (; row < count; row++) {
        const T *a = (const T *) rows + row * stride;
        for (Py_ssize_t i = 0; i < width; i++) to[i] = NAME(both)(to[i], VALUE(ELEMENT(a[i])));
    }
}

static const dm_reduction NAME(reduction) = {
    (int) sizeof(A), NAME(rows), NAME(gather), NAME(start), NAME(join), NAME(columns)};

#undef LANES
#undef FEW
#undef NAME
#undef T
#undef A
#undef VALUE
#undef ELEMENT
#undef BOTH
#undef START
#undef QUAD
#undef QUICK
#undef EIGHT
#undef SIXTEEN
#undef EVEN
#undef ODD

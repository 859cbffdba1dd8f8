/* Whether the CPU takes subnormal numbers, below the normal ones, for zeros: an Intel CPU takes 150 cycles for one. */

#ifndef DM_SUBNORMALS_H
#define DM_SUBNORMALS_H

#include <omp.h>
#include <xmmintrin.h>

/* Bits of a core's control register: operands, and results, that are subnormal are zeros. */
#define DM_OPERANDS 0x0040u
#define DM_RESULTS 0x8000u

static inline int dm_operands_are_zeros(void) { return (_mm_getcsr() & DM_OPERANDS) != 0; }

/* Take subnormal operands for zeros, or do so no more, on all threads of OpenMP's that compute for this one. */
static inline void dm_set_operands_zeros(int zeros, int threads)
{
    const int dynamic = omp_get_dynamic();
    omp_set_dynamic(0); /* as many threads each time */
    #pragma omp parallel num_threads(threads) if (threads > 1)
    _mm_setcsr(zeros ? _mm_getcsr() | DM_OPERANDS : _mm_getcsr() & ~DM_OPERANDS);
    omp_set_dynamic(dynamic);
}

/* Take subnormal operands and results for zeros on this thread; returns what ends it. */
static inline unsigned dm_flush_subnormals(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | DM_OPERANDS | DM_RESULTS);
    return before;
}

static inline void dm_flush_no_more(unsigned before) { _mm_setcsr(before); }

#endif

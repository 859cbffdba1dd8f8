/* Whether the CPU takes subnormal operands for zeros, on all threads of OpenMP's that compute for the calling one.

   oneDNN 3.2's AVX2 convolutions carry what was left in idle lanes of a vector along, often subnormal, and an Intel CPU
   takes 150 cycles for such an operand: 3 outputs for 64 channels took 200 times as long as 4. */

#ifndef DM_SUBNORMALS_H
#define DM_SUBNORMALS_H

#include <omp.h>
#include <xmmintrin.h>

#define DM_AS_ZEROS 0x0040u

static inline int dm_are_zeros(void)
{
    return (_mm_getcsr() & DM_AS_ZEROS) != 0;
}

static inline void dm_set_zeros(int zeros, int threads)
{
    const int dynamic = omp_get_dynamic();
    omp_set_dynamic(0); /* as many threads each time */
    #pragma omp parallel num_threads(threads) if (threads > 1)
    _mm_setcsr(zeros ? _mm_getcsr() | DM_AS_ZEROS : _mm_getcsr() & ~DM_AS_ZEROS);
    omp_set_dynamic(dynamic);
}

#endif

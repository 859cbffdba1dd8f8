/* Natural logarithms of normal float32 numbers, without a branch or a call, for loops that become vectors. */
#ifndef DIST_MS_LOGARITHM_H
#define DIST_MS_LOGARITHM_H

#include <stdint.h>

/* log x = k ln 2 + f - f^2 / 2 + what this returns, of an x in the normal range: 1 + f lies between sqrt(1/2) and sqrt(2).
 * The polynomial is a fit of the logarithm's relative error (Lawson's iteration on Chebyshev nodes). */
static inline float dm_log_terms(float x, float *k, float *f)
{
    union { uint32_t bits; float value; } m = {.value = x};
    /* From the bits of sqrt(1/2) on the exponent is one more. */
    const int32_t exponent = (int32_t) (m.bits - 0x3f3504f3) >> 23;
    float p = -0.07634497756913829f;
    m.bits -= (uint32_t) exponent << 23;
    *k = (float) exponent;
    *f = m.value - 1.0f;
    p = p * *f + 0.12761577535614776f;
    p = p * *f - 0.13160182161841927f;
    p = p * *f + 0.1420175791698065f;
    p = p * *f - 0.16623357359724686f;
    p = p * *f + 0.2000122688021576f;
    p = p * *f - 0.25000821033939913f;
    p = p * *f + 0.33333331707663466f;
    return p * *f * (*f * *f);
}

/* log x, to 0.9 units in the last place. */
static inline float dm_normal_logarithm(float x)
{
    float k, f, p = dm_log_terms(x, &k, &f);
    /* ln 2 in two parts, of which the first one's product with the exponent is exact. */
    p = p + k * -2.12194440054690583e-4f;
    p = p - 0.5f * (f * f);
    return f + p + k * 0.693359375f;
}

#endif

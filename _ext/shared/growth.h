/* e^r - 1 of float32 numbers near 0, without a branch or a call, for loops that become vectors. */
#ifndef DIST_MS_GROWTH_H
#define DIST_MS_GROWTH_H

/* For |r| <= ln 2 / 2: a fit of the relative error (Lawson's iteration on Chebyshev nodes). */
static inline float dm_growth_near_zero(float r)
{
    float p = 0.001381314454f;
    p = p * r + 0.008369418832f;
    p = p * r + 0.041668456787f;
    p = p * r + 0.166665147914f;
    p = p * r + 0.499999930507f;
    return p * (r * r) + r;
}

#endif

/* Loops of the error function's kin. Those of float32 are computed in float64, so right to little more than half a unit
 * in the last place; the coefficients are fits of the relative error (Lawson's iteration on Chebyshev nodes). With
 * AVX-512 they are those of pointwise_wide.h. */
#ifndef DIST_MS_POINTWISE_SPECIAL_H
#define DIST_MS_POINTWISE_SPECIAL_H

#include "pointwise_patterns.h"
#include "pointwise_tiles.h"
#include "pointwise_wide.h"

#ifndef __AVX512F__
/* erfc(x) to 2e-10 of it: exp(-x^2) times a quotient whose terms are all positive, for negative x taken from 2. */
static inline double dm_erfc_of_single(double x)
{
    double size = fabs(x), above, below, tail;
    /* From here on no float32 is small enough. A NaN stays one. */
    size = size > 10.2 ? 10.2 : size;
    above = 0.010019334458985178;
    above = above * size + 0.0928437787656783;
    above = above * size + 0.4024344417650574;
    above = above * size + 1.0007046664586423;
    above = above * size + 1.434272000662193;
    above = above * size + 0.9999999999190742;
    below = 0.017758830802079215;
    below = below * size + 0.16456023281388257;
    below = below * size + 0.722198638228502;
    below = below * size + 1.8556982079806619;
    below = below * size + 2.8923470844102743;
    below = below * size + 2.562651156762258;
    below = below * size + 1.0;
    tail = dm_exp2(size * size * -1.4426950408889634) * above / below;
    return x < 0 ? 2.0 - tail : tail;
}

/* The number whose erf is y, a float32, to 2e-9 of it: y times a quotient in -log(1 - y^2), which is below 16. */
static inline double dm_erfinv_of_single(double y)
{
    const double w = -0.6931471805599453 * dm_log2_size(1.0 - y * y);
    double above, below;
    above = 8.705126127288602e-08;
    above = above * w + 3.558435124159981e-05;
    above = above * w + 0.0007469543903319805;
    above = above * w + 0.008465957153264952;
    above = above * w + 0.06265933951963097;
    above = above * w + 0.31293872279365725;
    above = above * w + 0.8862269238782335;
    below = 2.8609151674435264e-06;
    below = below * w + 0.0002235132600494285;
    below = below * w + 0.002157375083659624;
    below = below * w + 0.03376573581659153;
    below = below * w + 0.09131409430685451;
    below = below * w + 1.0;
    above = y * above / below;
    above = fabs(y) >= 1 ? y * INFINITY : above;
    return fabs(y) > 1 ? NAN : above;
}
#endif

/* By the C library, whose float64 functions are right to a unit. */
#define DM_X double
#define DM_OUT double
#define DM_FORMULA (erf(x))
DM_LOOP(dm_erf_double) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA (erfc(x))
DM_LOOP(dm_erfc_double) { DM_UNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT
#ifndef __AVX512F__
#define DM_X float
#define DM_OUT float
#define DM_FORMULA ((float) dm_erfc_of_single(x))
DM_LOOP(dm_erfc_float) { DM_UNARY }
#undef DM_FORMULA
#define DM_FORMULA ((float) dm_erfinv_of_single(x))
DM_LOOP(dm_erfinv_float) { DM_UNARY }
#undef DM_FORMULA
#undef DM_X
#undef DM_OUT
#endif

#endif

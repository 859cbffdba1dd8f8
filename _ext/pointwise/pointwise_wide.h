/* Logarithms, erfc and erfinv of float32 with AVX-512, computed in float32: sixteen at once, and no division.
 *
 * A table that a permutation reads brings the argument close to a point, where a short polynomial is enough; what the
 * rounding of the large terms leaves is added to the small ones. So the logarithms are right to 0.6 units in the last
 * place, erfinv to 0.75, erfc to 0.85. The polynomials of erfinv interpolate at Chebyshev's nodes, the others
 * are fits of the relative error (Lawson's iteration there).
 */
#ifndef DIST_MS_POINTWISE_WIDE_H
#define DIST_MS_POINTWISE_WIDE_H
#ifdef __AVX512F__

#include <immintrin.h>
#include <math.h>
#include "pointwise_patterns.h"

#define DM_INLINE static inline __attribute__((always_inline))
#define DM_ALL(x) _mm512_set1_ps(x)
#define DM_ENTRY_OF(table, at) _mm512_permutexvar_ps(at, _mm512_loadu_ps(table))
/* Of 32 numbers, by the last five bits. */
#define DM_PIECE(table, at) _mm512_permutex2var_ps(_mm512_loadu_ps(table), at, _mm512_loadu_ps((table) + 16))

/* Of a base b: -log_b of the factors below, the logarithm of 2 and that of e, each in two parts, and the polynomial
 * (log_b(1 + f) - e f) / f^2. The first parts of the former two are short: n times one and the other add exactly. */
typedef struct {
    float first[16], second[16], two_first, two_second, e_first, e_second, terms[4];
} dm_log_table;

/* A short number near 1 / m for m between 3/4 and 3/2, by the first four bits of the mantissa: their product less 1 is
 * exact, and at most 1/16. Around 1 it is 1. */
static const float dm_log_factors[16] = {1.0f, 0.90625f, 0.875f, 0.8125f, 0.78125f, 0.75f, 0.71875f, 0.6875f,
                                         1.3125f, 1.25f, 1.21875f, 1.15625f, 1.125f, 1.09375f, 1.0625f, 1.0f};

static const dm_log_table dm_to_base_10 = {
    {0.0f, 0.042755127f, 0.057991028f, 0.090179443f, 0.10720825f, 0.124938965f, 0.14342499f, 0.16272736f,
     -0.11810303f, -0.096908569f, -0.085914612f, -0.063049316f, -0.05115509f, -0.038917542f, -0.026329041f, 0.0f},
    {0.0f, -3.1465322e-06f, 9.1914563e-07f, -2.8130103e-06f, 1.7176948e-06f, -2.2823545e-07f, -2.8454906e-06f,
     -5.8459332e-08f, 3.7152658e-06f, -1.4436721e-06f, -1.6890187e-08f, -2.4293408e-06f, 2.5678846e-06f,
     -5.2452646e-07f, 1.0180499e-07f, 0.0f},
    0.30103302f, -3.0243555e-06f, 0.43429449f, -1.010305e-08f, {-0.2171472f, 0.144769957f, -0.10868039f, 0.082910694f}};

static const dm_log_table dm_to_base_e = {
    {0.0f, 0.098442078f, 0.13352966f, 0.2076416f, 0.24685669f, 0.28768158f, 0.33023834f, 0.37469482f, -0.27193451f,
     -0.22314453f, -0.19782257f, -0.14517975f, -0.11778259f, -0.089614868f, -0.060623169f, 0.0f},
    {0.0f, -2.0048235e-06f, 1.7295386e-06f, -2.2367842e-06f, 3.3884785e-06f, 4.9286194e-07f, 3.3445854e-06f,
     -1.3747773e-06f, 7.9379367e-07f, 9.7993575e-07f, -3.1725292e-06f, -2.2613094e-06f, -4.4288294e-07f,
     2.7094743e-06f, -1.4528712e-06f, 0.0f},
    0.69314575f, 1.4286068e-06f, 1.0f, 0.0f, {-0.49999991f, 0.33334515f, -0.25024584f, 0.19090893f}};

static const dm_log_table dm_to_base_2 = {
    {0.0f, 0.14201355f, 0.19264221f, 0.29956055f, 0.35614014f, 0.41503906f, 0.47644043f, 0.54057312f, -0.39231873f,
     -0.32192993f, -0.28540039f, -0.2094574f, -0.16992188f, -0.12928772f, -0.087463379f, 0.0f},
    {0.0f, 5.4550678e-06f, 2.8660284e-06f, -2.650161e-07f, 3.6735066e-06f, -1.5632212e-06f, -2.3857444e-06f,
     -4.7387543e-06f, 1.3028072e-06f, 1.8367533e-06f, -1.8282373e-06f, 4.0318318e-06f, -3.1264424e-06f,
     4.7027816e-06f, 5.3765592e-07f, 0.0f},
    1.0f, 0.0f, 1.442695f, 1.925963e-08f, {-0.72134739f, 0.48091539f, -0.36102843f, 0.27542336f}};

/* The logarithm in parts: whole + f e_first + rest, of an f that is exact. */
DM_INLINE void dm_log_parts(__m512 x, const dm_log_table *table, __m512 *whole, __m512 *f, __m512 *rest)
{
    const __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), floor = _mm512_getexp_ps(x);
    const __mmask16 below = _mm512_cmp_ps_mask(m, DM_ALL(1.0f), _CMP_LT_OQ);
    const __m512 n = _mm512_mask_add_ps(floor, below, floor, DM_ALL(1.0f));
    const __m512i at = _mm512_srli_epi32(_mm512_castps_si512(m), 19);
    __m512 p = DM_ALL(table->terms[3]);
    *f = _mm512_fmsub_ps(m, DM_ENTRY_OF(dm_log_factors, at), DM_ALL(1.0f));
    *whole = _mm512_fmadd_ps(n, DM_ALL(table->two_first), DM_ENTRY_OF(table->first, at));
    *rest = _mm512_fmadd_ps(n, DM_ALL(table->two_second), DM_ENTRY_OF(table->second, at));
    p = _mm512_fmadd_ps(p, *f, DM_ALL(table->terms[2]));
    p = _mm512_fmadd_ps(p, *f, DM_ALL(table->terms[1]));
    p = _mm512_fmadd_ps(p, *f, DM_ALL(table->terms[0]));
    p = _mm512_fmadd_ps(p, *f, DM_ALL(table->e_second));
    *rest = _mm512_fmadd_ps(p, *f, *rest);
}

DM_INLINE __m512 dm_log_vector(__m512 x, const dm_log_table *table)
{
    const __m512 e = DM_ALL(table->e_first);
    /* By the class of x: -inf of 0, NaN of negative numbers, infinity of itself. */
    const __m512i special = _mm512_set1_epi32(0x03530422);
    __m512 whole, f, rest, log;
    dm_log_parts(x, table, &whole, &f, &rest);
    log = _mm512_fmadd_ps(f, e, whole);
    rest = _mm512_add_ps(rest, _mm512_fmadd_ps(f, e, _mm512_sub_ps(whole, log)));
    return _mm512_fixupimm_ps(_mm512_add_ps(log, rest), x, special, 0);
}

DM_INLINE __m512 dm_log_of(__m512 x) { return dm_log_vector(x, &dm_to_base_e); }
DM_INLINE __m512 dm_log2_of(__m512 x) { return dm_log_vector(x, &dm_to_base_2); }
DM_INLINE __m512 dm_log10_of(__m512 x) { return dm_log_vector(x, &dm_to_base_10); }

/* Of pieces of e^(x^2) erfc(x) for x >= 0, an eighth of an octave of x + 3/4 wide: a point in each, such that the value
 * and the slope there are close to float32, these two, and the polynomial of what follows. */
static const float dm_erfc_pieces[7][32] = {
    {1.3761635f, 1.6231194f, 1.8764572f, 2.1263771f, 2.3755913f, 2.6230507f, 2.8758736f, 3.1219788f, 3.4990997f,
     4.0047913f, 4.493988f, 4.99617f, 5.5060425f, 6.0025177f, 6.5023956f, 7.0005646f, 7.7548981f, 8.7398987f,
     9.7544861f, 0.0f, 0.031062126f, 0.093272209f, 0.15636444f, 0.21947002f, 0.31391907f, 0.43770218f, 0.56160927f,
     0.68638992f, 0.81250954f, 0.93623924f, 1.0627899f, 1.187973f},
    {0.34308156f, 0.30253607f, 0.26925811f, 0.24253681f, 0.22045782f, 0.20202111f, 0.18600379f, 0.17259736f,
     0.15533087f, 0.13684447f, 0.12264141f, 0.1107864f, 0.10085481f, 0.092738666f, 0.085774764f, 0.079793744f,
     0.072162293f, 0.064138822f, 0.05753972f, 0.0f, 0.96589291f, 0.9028787f, 0.84540856f, 0.79359299f, 0.72512972f,
     0.64907998f, 0.58541775f, 0.53131348f, 0.48480758f, 0.44565254f, 0.41101819f, 0.3811987f},
    {-0.18410653f, -0.14627486f, -0.117876515f, -0.096929714f, -0.080943808f, -0.068555959f, -0.058532406f,
     -0.050688561f, -0.04134278f, -0.032312084f, -0.026081135f, -0.021363774f, -0.017757468f, -0.015048203f,
     -0.01289626f, -0.011176655f, -0.0091567151f, -0.0072455509f, -0.0058383695f, 0.0f, -1.0683738f, -0.95995218f,
     -0.86399549f, -0.78003943f, -0.67311507f, -0.56017172f, -0.4708271f, -0.39900273f, -0.34055761f, -0.29390436f,
     -0.25472718f, -0.22267161f},
    {0.089720614f, 0.065114364f, 0.048067793f, 0.036427643f, 0.028168388f, 0.022195335f, 0.01767198f, 0.014348746f,
     0.010668295f, 0.0074412916f, 0.0054330821f, 0.0040493445f, 0.0030814304f, 0.0024115581f, 0.0019181758f,
     0.0015508468f, 0.0011528933f, 0.00081343862f, 0.00058942474f, 0.0f, 0.93270689f, 0.8133418f, 0.71031034f,
     0.62239766f, 0.51382571f, 0.40389135f, 0.32099673f, 0.25744191f, 0.2081012f, 0.17048769f, 0.14029667f,
     0.11667081f},
    {-0.040423725f, -0.02705761f, -0.018452721f, -0.012980429f, -0.0093514286f, -0.0068909628f, -0.0051399879f,
     -0.0039280499f, -0.0026754206f, -0.0016740796f, -0.0011099217f, -0.00075501879f, -0.00052730262f,
     -0.00038184464f, -0.00028234129f, -0.00021323025f, -0.00014405737f, -9.0769056e-05f, -5.9212129e-05f, 0.0f,
     -0.69293469f, -0.5893935f, -0.50195211f, -0.42896098f, -0.34120902f, -0.25559151f, -0.1937018f, -0.14819832f,
     -0.114315525f, -0.089524835f, -0.070414141f, -0.056046508f},
    {0.017101305f, 0.010628534f, 0.0067378683f, 0.0044229324f, 0.0029824811f, 0.0020635978f, 0.0014472703f,
     0.0010441868f, 0.00065653946f, 0.00036989182f, 0.00022330447f, 0.00013896535f, 8.9240464e-05f, 5.988494e-05f,
     4.1212676e-05f, 2.9103021e-05f, 1.7960843e-05f, 1.0109662e-05f, 5.9396007e-06f, 0.0f, 0.45579287f, 0.37934414f,
     0.31604183f, 0.26423013f, 0.20365866f, 0.14621331f, 0.10624202f, 0.077952601f, 0.05767405f, 0.043380097f,
     0.032762505f, 0.025067229f},
    {-0.0068186023f, -0.0039383397f, -0.0023468814f, -0.0014443152f, -0.00091438188f, -0.000594299f,
     -0.00039471494f, -0.0002683856f, -0.00015620339f, -8.0107893e-05f, -4.3742155e-05f, -2.5039204e-05f,
     -1.4944478e-05f, -9.2841383e-06f, -5.9555255e-06f, -3.9326283e-06f, -2.2175884e-06f, -1.1087151e-06f,
     -5.9214733e-07f, 0.0f, -0.27145162f, -0.22139126f, -0.18112041f, -0.14870489f, -0.11144568f, -0.076785207f,
     -0.053583141f, -0.03784138f, -0.027027074f, -0.019544918f, -0.014269701f, -0.0105344765f}};

/* e^(-x^2) = 2^n e^r times a piece; for negative x taken from 2. */
DM_INLINE __m512 dm_erfc_of(__m512 x)
{
    /* From here on no float32 is small enough. A NaN stays one. */
    const __m512 size = _mm512_min_ps(DM_ALL(10.2f), _mm512_abs_ps(x));
    const __m512 square = _mm512_mul_ps(size, size), square_rest = _mm512_fmsub_ps(size, size, square);
    /* 1.5 * 2^23: adding it leaves no bit for a fraction. */
    const __m512 shifted = _mm512_fnmadd_ps(square, DM_ALL(1.44269504f), DM_ALL(12582912.0f));
    const __m512 n = _mm512_sub_ps(shifted, DM_ALL(12582912.0f));
    const __m512 near = _mm512_fnmsub_ps(n, DM_ALL(dm_to_base_e.two_first), square);
    __m512 rest = _mm512_fnmsub_ps(n, DM_ALL(dm_to_base_e.two_second), square_rest);
    const __m512 r = _mm512_add_ps(near, rest);
    const __m512i at = _mm512_srli_epi32(_mm512_castps_si512(_mm512_add_ps(size, DM_ALL(0.75f))), 20);
    const __m512 d = _mm512_sub_ps(size, DM_PIECE(dm_erfc_pieces[0], at)), start = DM_PIECE(dm_erfc_pieces[1], at);
    __m512 p = DM_ALL(0.00139505f), more = DM_PIECE(dm_erfc_pieces[6], at), share, found;
    p = _mm512_fmadd_ps(p, r, DM_ALL(0.00836891f));
    p = _mm512_fmadd_ps(p, r, DM_ALL(0.04166621f));
    p = _mm512_fmadd_ps(p, r, DM_ALL(0.16666519f));
    p = _mm512_fmadd_ps(p, r, DM_ALL(0.50000001f));
    rest = _mm512_add_ps(_mm512_sub_ps(near, r), rest);
    rest = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), rest);
    more = _mm512_fmadd_ps(more, d, DM_PIECE(dm_erfc_pieces[5], at));
    more = _mm512_fmadd_ps(more, d, DM_PIECE(dm_erfc_pieces[4], at));
    more = _mm512_fmadd_ps(more, d, DM_PIECE(dm_erfc_pieces[3], at));
    more = _mm512_mul_ps(_mm512_fmadd_ps(more, d, DM_PIECE(dm_erfc_pieces[2], at)), d);
    share = _mm512_add_ps(start, more);
    more = _mm512_add_ps(_mm512_sub_ps(start, share), more);
    /* (share + more) (1 + r + rest). */
    found = _mm512_fmadd_ps(share, r, share);
    rest = _mm512_fmadd_ps(share, rest, _mm512_fmadd_ps(share, r, _mm512_sub_ps(share, found)));
    rest = _mm512_add_ps(rest, _mm512_fmadd_ps(more, r, more));
    found = _mm512_scalef_ps(_mm512_add_ps(found, rest), n);
    return _mm512_mask_sub_ps(found, _mm512_movepi32_mask(_mm512_castps_si512(x)), DM_ALL(2.0f), found);
}

/* Of pieces of erfinv(y) / y, a function of the logarithm of 1 - y^2, an eighth of an octave of 2 less it wide: a
 * point in each with the other sign, the value there, which is close to a float32, and the polynomial from there on. */
static const float dm_erfinv_pieces[6][32] = {
    {0.11987305f, 0.37011719f, 0.62963867f, 0.87817383f, 1.1220703f, 1.3730469f, 1.6308594f, 1.8798828f, 2.2460938f,
     2.7539062f, 3.2495117f, 3.7382812f, 4.2480469f, 4.7460938f, 5.2587891f, 5.7426758f, 6.5185547f, 7.4960938f,
     8.4863281f, 9.4970703f, 10.486328f, 11.504883f, 12.512695f, 13.508789f, 15.009766f, 0.0f, 0.0f, 0.0f, 0.0f,
     0.0f, 0.0f, 0.0f},
    {0.91420102f, 0.97356081f, 1.0362921f, 1.0972493f, 1.1576865f, 1.2202981f, 1.2848365f, 1.3471884f, 1.438538f,
     1.5637439f, 1.6834621f, 1.798524f, 1.9149748f, 2.0250821f, 2.1346326f, 2.2345848f, 2.3882442f, 2.5712554f,
     2.7460382f, 2.9149046f, 3.0720847f, 3.226615f, 3.3730941f, 3.5122995f, 3.7128556f, 0.0f, 0.0f, 0.0f, 0.0f,
     0.0f, 0.0f, 0.0f},
    {-0.23468107f, -0.23958172f, -0.24368981f, -0.24669068f, -0.24876517f, -0.25003648f, -0.25048682f, -0.25016615f,
     -0.24850492f, -0.24429087f, -0.23862265f, -0.23208368f, -0.2247417f, -0.2174132f, -0.20997213f, -0.20319982f,
     -0.19304828f, -0.18164366f, -0.1716101f, -0.16274579f, -0.15519619f, -0.14838089f, -0.14242457f, -0.13717425f,
     -0.13023601f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f},
    {0.010699349f, 0.0088753551f, 0.0069529465f, 0.0051274407f, 0.0033900829f, 0.0016933284f, 7.7122328e-05f,
     -0.0013398249f, -0.0031380865f, -0.005048133f, -0.0062932493f, -0.0070091994f, -0.0073312898f, -0.00734202f,
     -0.0071438611f, -0.0068376185f, -0.006232942f, -0.0054394347f, -0.0047102389f, -0.0040792879f, -0.003568724f,
     -0.0031366802f, -0.0027845679f, -0.002494904f, -0.0021421881f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
    {0.0023888173f, 0.0024585123f, 0.0024674847f, 0.0024185404f, 0.0023212715f, 0.0021780457f, 0.0019952154f,
     0.0017944179f, 0.0014763372f, 0.0010360571f, 0.00065105344f, 0.00034041842f, 9.6537202e-05f, -6.9067195e-05f,
     -0.00017785135f, -0.00023686441f, -0.00027172695f, -0.0002614774f, -0.00022738992f, -0.00018918479f,
     -0.00015600874f, -0.00012799048f, -0.00010594943f, -8.8709909e-05f, -6.9248708e-05f, -0.0f, -0.0f, -0.0f,
     -0.0f, -0.0f, -0.0f, -0.0f},
    {-9.8485572e-05f, -3.8298193e-05f, 2.0633746e-05f, 7.5211428e-05f, 0.00012286726f, 0.0001617587f,
     0.00019085768f, 0.00020993646f, 0.00022070635f, 0.00020886553f, 0.00017768711f, 0.00013863042f, 0.00010008577f,
     6.6816639e-05f, 4.0635718e-05f, 2.1466596e-05f, 3.6530992e-06f, -6.9146936e-06f, -9.5651976e-06f,
     -9.0632675e-06f, -7.6280171e-06f, -6.1356018e-06f, -4.8626675e-06f, -3.8522494e-06f, -2.7568528e-06f, 0.0f,
     0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}};

DM_INLINE __m512 dm_erfinv_of(__m512 y)
{
    const __m512 less = _mm512_fnmadd_ps(y, y, DM_ALL(1.0f)), sign = DM_ALL(-0.0f);
    __m512 whole, f, rest, d, start, more, share, found;
    __m512i at;
    dm_log_parts(less, &dm_to_base_e, &whole, &f, &rest);
    rest = _mm512_add_ps(f, rest);
    at = _mm512_srli_epi32(_mm512_castps_si512(_mm512_sub_ps(DM_ALL(2.0f), _mm512_add_ps(whole, rest))), 20);
    d = _mm512_add_ps(_mm512_add_ps(whole, DM_PIECE(dm_erfinv_pieces[0], at)), rest);
    start = DM_PIECE(dm_erfinv_pieces[1], at);
    more = DM_PIECE(dm_erfinv_pieces[5], at);
    more = _mm512_fmadd_ps(more, d, DM_PIECE(dm_erfinv_pieces[4], at));
    more = _mm512_fmadd_ps(more, d, DM_PIECE(dm_erfinv_pieces[3], at));
    more = _mm512_mul_ps(_mm512_fmadd_ps(more, d, DM_PIECE(dm_erfinv_pieces[2], at)), d);
    share = _mm512_add_ps(start, more);
    more = _mm512_add_ps(_mm512_sub_ps(start, share), more);
    found = _mm512_fmadd_ps(y, share, _mm512_mul_ps(y, more));
    found = _mm512_mask_mov_ps(found, _mm512_cmp_ps_mask(less, _mm512_setzero_ps(), _CMP_EQ_OQ), DM_ALL(INFINITY));
    /* The sign of y, which the sum of the products of -0 would lose. */
    return _mm512_or_ps(_mm512_andnot_ps(sign, found), _mm512_and_ps(sign, y));
}

/* Calls a function for vectors of the operand, copied where it or the result is not contiguous. */
DM_INLINE void dm_by_vectors(
    char **places, const dm_size *sizes, const dm_size *steps, __m512 (*function)(__m512))
{
    const dm_size size = sizes[0], one = sizeof(float);
    float tile[16];
    for (dm_size start = 0; start < size; start += 16) {
        const char *const from = places[0] + start * steps[0];
        char *const to = places[1] + start * steps[1];
        const int count = (int) (size - start < 16 ? size - start : 16);
        const __mmask16 kept = (__mmask16) ((1u << count) - 1);
        if (steps[0] == one && steps[1] == one) {
            _mm512_mask_storeu_ps(to, kept, function(_mm512_maskz_loadu_ps(kept, from)));
            continue;
        }
        for (int i = 0; i < 16; i++) tile[i] = *(const float *) (from + (i < count ? i : 0) * steps[0]);
        _mm512_storeu_ps(tile, function(_mm512_loadu_ps(tile)));
        for (int i = 0; i < count; i++) *(float *) (to + i * steps[1]) = tile[i];
    }
}

#define DM_VECTORS(name) \
    DM_LOOP(dm_##name##_float) { (void) options; dm_by_vectors(places, sizes, steps, dm_##name##_of); }
DM_VECTORS(log)
DM_VECTORS(log2)
DM_VECTORS(log10)
DM_VECTORS(erfc)
DM_VECTORS(erfinv)

#endif
#endif

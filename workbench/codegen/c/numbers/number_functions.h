/* The functions of one number: of float32 by the methods of elementary.h, of float64 the C library's,
   which are for checks. */
#ifndef WORKBENCH_NUMBER_FUNCTIONS_H
#define WORKBENCH_NUMBER_FUNCTIONS_H

#include "numbers.h"

/* The same bits as another type. A union, for pointers may not alias. */
#define SAME_BITS(name, result, number)                   \
    INLINE result name(number x) {                        \
        union { number from; result to; } both;           \
        both.from = x;                                    \
        return both.to;                                   \
    }
SAME_BITS(bits_of_f, int32_t, float)
SAME_BITS(f_of_bits, float, int32_t)
SAME_BITS(bits_of_d, int64_t, double)
SAME_BITS(d_of_bits, double, int64_t)
#undef SAME_BITS

/* |x| = r + quadrant * pi/2 for |x| > 2^15. */
OUT_OF_LINE void reduce_large_f(float a, float *r, int32_t *quadrant);
/* A table of constants, and eight for of_eight, twice: as many as a vector has lanes. */
#define LISTED(x) x,
#define EIGHT(name, list) static const float name[16] = {list(LISTED) list(LISTED)};
#define TABLE(name, list) static const float name[] = {list(LISTED)};
#define ENTRY(name, k) name[k]

#define F float
#define I int32_t
#define D double
#define M int
#define ANY(m) any_b(m)
#define OF(name) name##_f
#define INT(name) name##_i
#define WIDE(name) name##_d
#define BITS(x) bits_of_f(x)
#define FLOAT(x) f_of_bits(x)
#define DOUBLE(x) d_of_bits(x)
#define WIDE_BITS(x) bits_of_d(x)
#define TO_FLOAT(x) cast_f_i(x)
#define WIDEN(x) cast_d_f(x)
#define NARROW(x) cast_f_d(x)
#include "elementary.h"
#include "gamma.h"
#undef F
#undef I
#undef D
#undef M
#undef ANY
#undef OF
#undef INT
#undef WIDE
#undef BITS
#undef FLOAT
#undef DOUBLE
#undef WIDE_BITS
#undef TO_FLOAT
#undef WIDEN
#undef NARROW
#undef TABLE
#undef ENTRY

/* power is large, and rarely in a hot loop. */
OUT_OF_LINE float power_f(float x, float y);

#define LIBM(name) \
    INLINE double name##_d(double a) { return BUILTIN(name)(a); }
#define ALL_LIBM(of) of(exp) of(log) of(log1p) of(tanh) of(sin) of(cos)
ALL_LIBM(LIBM)
#undef LIBM
INLINE double power_d(double a, double b) { return BUILTIN(pow)(a, b); }

/* So are those of gamma.h. */
#define ALL_GAMMA(of) of(lgamma) of(digamma) of(trigamma)
#define GAMMA(name)                        \
    OUT_OF_LINE float name##_f(float x);   \
    OUT_OF_LINE double name##_d(double x);
ALL_GAMMA(GAMMA)
#undef GAMMA

#if RUNTIME_BODIES & GAMMA_BODIES
#define GAMMA(name)                                                                       \
    OUT_OF_LINE float name##_f(float x) { return cast_f_d(name##_inline_d(cast_d_f(x))); } \
    OUT_OF_LINE double name##_d(double x) { return name##_inline_d(x); }
ALL_GAMMA(GAMMA)
#undef GAMMA
#endif

#if RUNTIME_BODIES & COMMON_BODIES
OUT_OF_LINE float power_f(float x, float y) { return power_inline_f(x, y); }

/* Payne and Hanek, "Radian reduction for trigonometric functions" (1983), in integers.
   x = m 2^e with a whole m of 24 bits, and x / (pi/2) is wanted modulo 4. The bits of 2/pi whose
   products with m 2^e are multiples of 4 are left out; of the next 96, times m, the part below one
   is a quarter of the result. The closest that a float comes to a multiple of pi/2 is 2^-29, and
   the fraction has 62 bits. */
OUT_OF_LINE void reduce_large_f(float a, float *r, int32_t *quadrant) {
    /* 32 zeros and 256 bits of 2/pi behind the point, so that nothing lies before the first. */
    static const uint32_t two_over_pi[9] = {
        0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
        0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
    if (!(a < INFINITE_F)) {
        *r = a - a;
        return;
    }
    int32_t bits = bits_of_f(a);
    uint32_t m = (uint32_t)(bits & 0x007fffff) | 0x00800000;
    int skipped = (bits >> 23) - 150 + 30; /* 30: of the 32 zeros, less the two of modulo 4 */
    int word = skipped >> 5, shift = skipped & 31;
    uint32_t g[3];
    for (int k = 0; k < 3; k++) {
        uint64_t pair = (uint64_t)two_over_pi[word + k] << 32 | two_over_pi[word + k + 1];
        g[k] = (uint32_t)(pair << shift >> 32);
    }
    uint64_t quarter = (uint64_t)(m * g[0]) << 32;
    quarter += (uint64_t)m * g[1] + ((uint64_t)m * g[2] >> 32);
    uint64_t nearest = (quarter + (UINT64_C(1) << 61)) >> 62;
    int64_t rest = (int64_t)(quarter - (nearest << 62));
    *r = (float)((double)rest * 0x1.921fb54442d18p-62); /* pi/2 * 2^-62 */
    *quadrant = (int32_t)nearest;
}
#endif

#endif

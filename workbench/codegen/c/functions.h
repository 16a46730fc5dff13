/* The functions of float32, as <name>_vf of a vector and <name>_f of a number. elementary.h holds
   the methods; here are its two instances, and the reduction of large angles. */
#ifndef WORKBENCH_FUNCTIONS_H
#define WORKBENCH_FUNCTIONS_H

#include "operations.h"

/* The same bits as another type. A union, for pointers may not alias. */
INLINE int32_t bits_of_f(float x) {
    union { float f; int32_t i; } both = {.f = x};
    return both.i;
}
INLINE float f_of_bits(int32_t x) {
    union { int32_t i; float f; } both = {.i = x};
    return both.f;
}
INLINE int64_t bits_of_d(double x) {
    union { double d; int64_t l; } both = {.d = x};
    return both.l;
}
INLINE double d_of_bits(int64_t x) {
    union { int64_t l; double d; } both = {.l = x};
    return both.d;
}

/* |x| = r + quadrant * pi/2 for |x| > 2^15. */
OUT_OF_LINE void reduce_large_f(float a, float *r, int32_t *quadrant);
/* The same in the lanes that need it. */
OUT_OF_LINE void reduce_large_vf(vf a, vf *r, vi *quadrant);

/* A table of constants. With 16 registers those of a long function do not stay there; from a table
   an instruction takes its operand from memory, where a constant of its own would be spread by
   another instruction first. The compiler does not know what the address is of. */
#define LISTED(x) x,
#if defined(__x86_64__) && !defined(__AVX512F__)
#if LANES == 16
#define SAME(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x},
#elif LANES == 8
#define SAME(x) {x, x, x, x, x, x, x, x},
#else
#define SAME(x) {x, x, x, x},
#endif
#define TABLE(name, list)                                                     \
    static const float name##_of_lanes[][LANES] = {list(SAME)};               \
    const float *name = &name##_of_lanes[0][0];                               \
    __asm__("" : "+r"(name));
#define ENTRY(name, k) load_vf(name + (k) * LANES)
#else
#define TABLE(name, list) static const float name[] = {list(LISTED)};
#define ENTRY(name, k) all_vf(name[k])
#endif

/* Eight constants for of_eight, twice: as many as a vector has lanes. */
#define EIGHT(name, list) static const float name[16] = {list(LISTED) list(LISTED)};

/* A loop over one or two numbers that becomes as many steps. */
#if defined(__clang__)
#define EACH_OF_TWO _Pragma("clang loop unroll(full)") for (int k = 0; k < count; k++)
#else
#define EACH_OF_TWO _Pragma("GCC unroll 2") for (int k = 0; k < count; k++)
#endif

#define F vf
#define I vi
#define D vd
#define M vb
#define ANY(m) any_vb(m)
#define OF(name) name##_vf
#define INT(name) name##_vi
#define WIDE(name) name##_vd
#define BITS(x) ((vi)(x))
#define FLOAT(x) ((vf)(x))
#define DOUBLE(x) ((vd)(x))
#define WIDE_BITS(x) ((vl)(x))
#define TO_FLOAT(x) cast_vf_vi(x)
#define WIDEN(x) cast_vd_vf(x)
#define NARROW(x) cast_vf_vd(x)
#include "elementary.h"
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

/* power is large, and rarely in a hot loop. */
OUT_OF_LINE vf power_vf(vf x, vf y);
OUT_OF_LINE float power_f(float x, float y);

#if defined(RUNTIME_BODIES)
OUT_OF_LINE vf power_vf(vf x, vf y) { return power_inline_vf(x, y); }
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
    if (!(a < __builtin_inff())) {
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

OUT_OF_LINE void reduce_large_vf(vf a, vf *r, vi *quadrant) {
    for (int lane = 0; lane < LANES; lane++) {
        float reduced;
        int32_t n = 0;
        if (!(a[lane] > 0x1p15f)) continue;
        reduce_large_f(a[lane], &reduced, &n);
        (*r)[lane] = reduced;
        (*quadrant)[lane] = n;
    }
}
#endif

#endif

/* The functions of float32 of vectors: the second instance of elementary.h. */
#ifndef WORKBENCH_FUNCTIONS_H
#define WORKBENCH_FUNCTIONS_H

#include "number_functions.h"
#include "operations.h"

/* |x| = r + quadrant * pi/2 in the lanes where |x| > 2^15. */
OUT_OF_LINE void reduce_large_vf(vf a, vf *r, vi *quadrant);

/* A table of constants. With 16 registers those of a long function do not stay there; from a table
   an instruction takes its operand from memory, where a constant of its own would be spread by
   another instruction first. The compiler does not know what the address is of. */
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

/* power is large, and rarely in a hot loop; so are the functions of gamma.h. */
OUT_OF_LINE vf power_vf(vf x, vf y);
#define GAMMA(name)                    \
    OUT_OF_LINE vf name##_vf(vf x);    \
    OUT_OF_LINE vd name##_vd(vd x);
ALL_GAMMA(GAMMA)
#undef GAMMA

#if RUNTIME_BODIES & COMMON_BODIES
OUT_OF_LINE vf power_vf(vf x, vf y) { return power_inline_vf(x, y); }

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

#if RUNTIME_BODIES & GAMMA_BODIES
#define GAMMA(name)                                                                          \
    OUT_OF_LINE vf name##_vf(vf x) { return cast_vf_vd(name##_inline_vd(cast_vd_vf(x))); } \
    OUT_OF_LINE vd name##_vd(vd x) { return name##_inline_vd(x); }
ALL_GAMMA(GAMMA)
#undef GAMMA
#endif

#endif

/* The functions of float64: libm's, lane by lane. float64 is for checks. */
#ifndef WORKBENCH_DOUBLES_H
#define WORKBENCH_DOUBLES_H

#include "vectors.h"

#define LIBM(name)                                                                 \
    INLINE double name##_d(double a) { return __builtin_##name(a); }               \
    OUT_OF_LINE vd name##_vd(vd a);
#define LIBM_BODY(name)                                                            \
    OUT_OF_LINE vd name##_vd(vd a) {                                               \
        vd r;                                                                      \
        for (int lane = 0; lane < LANES; lane++) r[lane] = __builtin_##name(a[lane]); \
        return r;                                                                  \
    }
#define ALL_LIBM(of) of(exp) of(log) of(log1p) of(tanh) of(sin) of(cos)

ALL_LIBM(LIBM)
INLINE double power_d(double a, double b) { return __builtin_pow(a, b); }
OUT_OF_LINE vd power_vd(vd a, vd b);

#if defined(RUNTIME_BODIES)
ALL_LIBM(LIBM_BODY)
OUT_OF_LINE vd power_vd(vd a, vd b) {
    vd r;
    for (int lane = 0; lane < LANES; lane++) r[lane] = __builtin_pow(a[lane], b[lane]);
    return r;
}
#endif

#endif

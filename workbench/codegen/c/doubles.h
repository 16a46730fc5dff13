/* The functions of float64: libm's, lane by lane. float64 is for checks. */
#ifndef WORKBENCH_DOUBLES_H
#define WORKBENCH_DOUBLES_H

#include "number_functions.h"
#include "vectors.h"

#define LIBM(name) OUT_OF_LINE vd name##_vd(vd a);
#define LIBM_BODY(name)                                                            \
    OUT_OF_LINE vd name##_vd(vd a) {                                               \
        vd r;                                                                      \
        for (int lane = 0; lane < LANES; lane++) r[lane] = __builtin_##name(a[lane]); \
        return r;                                                                  \
    }

ALL_LIBM(LIBM)
OUT_OF_LINE vd power_vd(vd a, vd b);

#if RUNTIME_BODIES & FLOAT64_BODIES
ALL_LIBM(LIBM_BODY)
OUT_OF_LINE vd power_vd(vd a, vd b) {
    vd r;
    for (int lane = 0; lane < LANES; lane++) r[lane] = __builtin_pow(a[lane], b[lane]);
    return r;
}
#endif

#endif

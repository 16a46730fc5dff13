/* What one core does at most: operations a second of fused multiply-adds in registers, and bytes a
   second read again and again from so much memory, in the level of the cache that holds it. Only
   time in which the thread ran counts: others' programs do not. */
#ifndef WORKBENCH_PEAKS_H
#define WORKBENCH_PEAKS_H

#include "vectors.h"
#include <time.h>

static double running_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Twelve registers of sums hide how long one takes, and leave some for both factors. */
#define TWELVE(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11)
#define DECLARED(k) V sum##k = x + y * k;
#define ADDED(k) sum##k = FUSED(sum##k, x, y);
#define JOINED(k) x += sum##k;
#define OPERATIONS                                                                \
    {                                                                             \
        V x = given[0] - (V){0}, y = given[1] - (V){0};                           \
        TWELVE(DECLARED)                                                          \
        const double begun = running_seconds();                                   \
        for (int64_t turn = 0; turn < turns; turn++) { TWELVE(ADDED) }            \
        const double taken = running_seconds() - begun;                           \
        TWELVE(JOINED)                                                            \
        given[2] = x[0];                                                          \
        return (double)turns * 12 * 2 * (sizeof(V) / sizeof(x[0])) / taken;       \
    }
#define V vf
#define FUSED fused_vf
EXPORTED double operations_f(volatile float *given, int64_t turns) OPERATIONS
#undef V
#undef FUSED
#define V half_vd
#define FUSED fused_half_vd
EXPORTED double operations_d(volatile double *given, int64_t turns) OPERATIONS

/* `count` numbers are whole groups of four vectors. */
EXPORTED double bytes(const float *numbers, int64_t count, int64_t turns, volatile float *given) {
    vf a = {0}, b = {0}, c = {0}, d = {0};
    const double begun = running_seconds();
    for (int64_t turn = 0; turn < turns; turn++) {
        for (int64_t k = 0; k < count; k += 4 * LANES) {
            const vf *const at = (const vf *)(numbers + k);
            a += at[0], b += at[1], c += at[2], d += at[3];
        }
        __asm__ volatile("" : : : "memory");
    }
    const double taken = running_seconds() - begun;
    given[0] = (a + b + c + d)[0];
    return (double)turns * (double)count * sizeof(float) / taken;
}
#endif

/* Sums, extrema and truth over the lanes, in an order that no width of vectors changes.

   Element n of what is summed belongs to partial sum n mod 16. PARTS vectors hold the 16 partial
   sums: one of 16 lanes, two of 8, four of 4. At the end they are added pairwise, 0 with 8, 1 with
   9 and so on, then 0 with 4, with 2, with 1. */
#ifndef WORKBENCH_SUMS_H
#define WORKBENCH_SUMS_H

#include "operations.h"

#define PARTS (16 / LANES)

#define COMBINED(name, operation, kind, number)          \
    OUT_OF_LINE number name##_v##kind(const v##kind *parts);

#if PARTS == 4
#define HALVED(operation, kind, parts)                                   \
    operation##_v##kind(operation##_v##kind(parts[0], parts[2]),         \
                        operation##_v##kind(parts[1], parts[3]))
#elif PARTS == 2
#define HALVED(operation, kind, parts) operation##_v##kind(parts[0], parts[1])
#else
#define HALVED(operation, kind, parts) parts[0]
#endif

#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
/* The lanes from `n` on, n lanes long, come to the front: of the other lanes nothing is asked. */
#if LANES == 16
#define BEHIND8(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)
#define BEHIND4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7)
#define BEHIND2(x) __builtin_shufflevector(x, x, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3)
#define BEHIND1(x) __builtin_shufflevector(x, x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
#elif LANES == 8
#define BEHIND4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7)
#define BEHIND2(x) __builtin_shufflevector(x, x, 2, 3, 2, 3, 2, 3, 2, 3)
#define BEHIND1(x) __builtin_shufflevector(x, x, 1, 1, 1, 1, 1, 1, 1, 1)
#else
#define BEHIND2(x) __builtin_shufflevector(x, x, 2, 3, 2, 3)
#define BEHIND1(x) __builtin_shufflevector(x, x, 1, 1, 1, 1)
#endif
#if LANES > 8
#define HALVED8(operation, kind) x = operation##_v##kind(x, BEHIND8(x));
#else
#define HALVED8(operation, kind)
#endif
#if LANES > 4
#define HALVED4(operation, kind) x = operation##_v##kind(x, BEHIND4(x));
#else
#define HALVED4(operation, kind)
#endif
#define COMBINED_BODY(name, operation, kind, number)                                      \
    OUT_OF_LINE number name##_v##kind(const v##kind *parts) {                             \
        v##kind x = HALVED(operation, kind, parts);                                       \
        HALVED8(operation, kind)                                                          \
        HALVED4(operation, kind)                                                          \
        x = operation##_v##kind(x, BEHIND2(x));                                           \
        x = operation##_v##kind(x, BEHIND1(x));                                           \
        return x[0];                                                                      \
    }
#else
#define COMBINED_BODY(name, operation, kind, number)                                      \
    OUT_OF_LINE number name##_v##kind(const v##kind *parts) {                             \
        number partial[LANES];                                                            \
        store_v##kind(partial, HALVED(operation, kind, parts));                           \
        for (int half = LANES / 2; half > 0; half /= 2)                                   \
            for (int k = 0; k < half; k++)                                                \
                partial[k] = operation##_##kind(partial[k], partial[k + half]);           \
        return partial[0];                                                                \
    }
#endif

#define ALL_COMBINED(of)               \
    of(sum16, add, f, float)         \
    of(sum16, add, i, int32_t)       \
    of(sum16, add, l, int64_t)       \
    of(minimum16, minimum, f, float) \
    of(minimum16, minimum, i, int32_t) \
    of(minimum16, minimum, l, int64_t) \
    of(maximum16, maximum, f, float) \
    of(maximum16, maximum, i, int32_t) \
    of(maximum16, maximum, l, int64_t)

#define ALL_COMBINED_DOUBLES(of)      \
    of(sum16, add, d, double)         \
    of(minimum16, minimum, d, double) \
    of(maximum16, maximum, d, double)

ALL_COMBINED(COMBINED)
ALL_COMBINED_DOUBLES(COMBINED)
#if RUNTIME_BODIES & COMMON_BODIES
ALL_COMBINED(COMBINED_BODY)
#endif
#if RUNTIME_BODIES & FLOAT64_BODIES
ALL_COMBINED_DOUBLES(COMBINED_BODY)
#endif

#endif

/* QR, run by all threads of a block together. It has barriers inside, none in front and none behind. */
#ifndef WORKBENCH_BLOCK_ORTHOGONAL_H
#define WORKBENCH_BLOCK_ORTHOGONAL_H

#include "block_functions.h"

/* One column j of a -= factor v v^T a, from row `top` on: v lies in column `top` of another matrix
   below its diagonal, and its first element is 1. */
INLINE void reflect_column(ARRAY(double) memory, int64_t a, int64_t rows, int64_t columns,
                           int64_t top, int64_t j, int64_t v, double factor) {
    double product = LD(memory, a + top * columns + j);
    for (int64_t i = top + 1; i < rows; i++)
        product += LD(memory, v + i * columns + top) * LD(memory, a + i * columns + j);
    ST(memory, a + top * columns + j, LD(memory, a + top * columns + j) - factor * product);
    for (int64_t i = top + 1; i < rows; i++) {
        const double scale = factor * LD(memory, v + i * columns + top);
        const int64_t place = a + i * columns + j;
        ST(memory, place, LD(memory, place) - scale * product);
    }
}

/* The Q of a QR decomposition by Householder's method, as c/orthogonal.h has it, in the same order of
   operations: a thread has columns of its own. `memory` has room for two matrices and a row. */
#define ORTHOGONALIZED(kind, number)                                                                \
    TOGETHER void block_orthogonalize_##kind(                                                       \
        CONSTANT_ARRAY(number) x, int64_t x_begin, ARRAY(number) out, int64_t out_begin,            \
        int64_t rows, int64_t columns, ARRAY(double) memory, int64_t begin, int thread) {           \
        const int wide = rows < columns;                                                            \
        const int64_t tall = wide ? columns : rows, n = wide ? rows : columns;                      \
        const int64_t a = begin, q = a + rows * columns, factors = q + rows * columns;              \
        for (int64_t k = thread; k < tall * n; k += BLOCK_THREADS) {                                \
            const int64_t i = k / n, j = k % n;                                                     \
            ST(memory, a + k, LD(x, x_begin + (wide ? j * columns + i : i * columns + j)));         \
            ST(memory, q + k, i == j ? 1.0 : 0.0);                                                  \
        }                                                                                           \
        BARRIER                                                                                     \
        for (int64_t k = 0; k < n; k++) {                                                           \
            const double diagonal = LD(memory, a + k * n + k);                                      \
            double below = 0.0;                                                                     \
            for (int64_t i = k + 1; i < tall; i++) {                                                \
                const double here = LD(memory, a + i * n + k);                                      \
                below += here * here;                                                               \
            }                                                                                       \
            const double length = BUILTIN(copysign)(                                            \
                BUILTIN(sqrt)(diagonal * diagonal + below), diagonal);                              \
            const double first = diagonal + length, factor = below == 0.0 ? 0.0 : first / length;   \
            BARRIER                                                                                 \
            if (thread == 0) ST(memory, factors + k, factor);                                       \
            if (below == 0.0) continue;                                                             \
            for (int64_t i = k + 1 + thread; i < tall; i += BLOCK_THREADS)                          \
                ST(memory, a + i * n + k, LD(memory, a + i * n + k) / first);                       \
            if (thread == 0) ST(memory, a + k * n + k, -length);                                    \
            BARRIER                                                                                 \
            for (int64_t j = k + 1 + thread; j < n; j += BLOCK_THREADS)                             \
                reflect_column(memory, a, tall, n, k, j, a, factor);                                \
            BARRIER                                                                                 \
        }                                                                                           \
        BARRIER                                                                                     \
        for (int64_t j = thread; j < n; j += BLOCK_THREADS) {                                       \
            for (int64_t k = j; k >= 0; k--)                                                        \
                reflect_column(memory, q, tall, n, k, j, a, LD(memory, factors + k));               \
            if (LD(memory, a + j * n + j) < 0.0)                                                    \
                for (int64_t i = 0; i < tall; i++)                                                  \
                    ST(memory, q + i * n + j, -LD(memory, q + i * n + j));                          \
        }                                                                                           \
        BARRIER                                                                                     \
        for (int64_t k = thread; k < rows * columns; k += BLOCK_THREADS) {                          \
            const int64_t i = k / columns, j = k % columns;                                         \
            ST(out, out_begin + k, (number)LD(memory, q + (wide ? j * n + i : i * n + j)));         \
        }                                                                                           \
    }
ORTHOGONALIZED(f, float)
ORTHOGONALIZED(d, double)
#undef ORTHOGONALIZED

#endif

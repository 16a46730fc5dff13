/* Sorting and QR, run by all threads of a block together. They have barriers inside, none in front and
   none behind. */
#ifndef WORKBENCH_BLOCK_ALGORITHMS_H
#define WORKBENCH_BLOCK_ALGORITHMS_H

#include "block_functions.h"

/* Digits of 4 bits: so many fit shared memory for each thread. */
#define DIGITS 16

/* The numbers before each in shared memory, `count` of them, as many for each thread as there are
   digits. `sums` has room for a number of each thread. */
TOGETHER void block_running_sums(ARRAY(int32_t) numbers, ARRAY(int32_t) sums, int thread) {
    int32_t own = 0, before;
    for (int k = 0; k < DIGITS; k++) own += LD(numbers, thread * DIGITS + k);
    ST(sums, thread, own);
    BARRIER
    for (int apart = 1; apart < BLOCK_THREADS; apart *= 2) {
        before = thread < apart ? 0 : LD(sums, thread - apart);
        BARRIER
        ST(sums, thread, LD(sums, thread) + before);
        BARRIER
    }
    before = LD(sums, thread) - own;
    for (int k = 0; k < DIGITS; k++) {
        const int32_t here = LD(numbers, thread * DIGITS + k);
        ST(numbers, thread * DIGITS + k, before);
        before += here;
    }
}

/* Draw the permutation of one instance, as c/run/permutation.h does: the stable order of random words,
   by radix sort from the lowest digit. `scratch` has room for 2 `count`, `counts` for 17 numbers of each
   thread. A thread has a piece of the places, of which it counts the digits, and deals them in order. */
TOGETHER void block_permutation(ARRAY(int32_t) out, int64_t begin, int64_t count, uint32_t seed,
                                uint32_t key, int dims, uint32_t x0, uint32_t x1, uint32_t x2,
                                uint32_t x3, uint32_t x4, ARRAY(int32_t) scratch,
                                int64_t scratch_begin, ARRAY(int32_t) counts, ARRAY(int32_t) sums,
                                int thread) {
    const int64_t piece = (count + BLOCK_THREADS - 1) / BLOCK_THREADS;
    const int64_t first = minimum_l(thread * piece, count);
    const int64_t behind = minimum_l(first + piece, count), spare = scratch_begin + count;
    for (int64_t block = thread; 4 * block < count; block += BLOCK_THREADS) {
        const words drawn = philox(counter(dims, (uint32_t)block, x0, x1, x2, x3, x4), seed, key);
        for (int k = 0; k < 4 && 4 * block + k < count; k++)
            ST(scratch, scratch_begin + 4 * block + k, (int32_t)drawn.word[k]);
    }
    BARRIER
    for (int shift = 0; shift < 32; shift += 4) {
        const int to_out = shift / 4 % 2; /* the last pass */
        int32_t next[DIGITS];
        for (int k = 0; k < DIGITS; k++) next[k] = 0;
        for (int64_t i = first; i < behind; i++) {
            const int64_t place =
                !shift ? i : to_out ? LD(scratch, spare + i) : LD(out, begin + i);
            const int digit = LD(scratch, scratch_begin + place) >> shift & (DIGITS - 1);
            for (int k = 0; k < DIGITS; k++) next[k] += k == digit;
        }
        for (int k = 0; k < DIGITS; k++) ST(counts, k * BLOCK_THREADS + thread, next[k]);
        BARRIER
        block_running_sums(counts, sums, thread);
        BARRIER
        for (int k = 0; k < DIGITS; k++) next[k] = LD(counts, k * BLOCK_THREADS + thread);
        for (int64_t i = first; i < behind; i++) {
            const int64_t place =
                !shift ? i : to_out ? LD(scratch, spare + i) : LD(out, begin + i);
            const int digit = LD(scratch, scratch_begin + place) >> shift & (DIGITS - 1);
            int32_t at = 0;
            for (int k = 0; k < DIGITS; k++) {
                at = k == digit ? next[k] : at;
                next[k] += k == digit;
            }
            if (to_out)
                ST(out, begin + at, (int32_t)place);
            else
                ST(scratch, spare + at, (int32_t)place);
        }
        BARRIER
    }
}

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

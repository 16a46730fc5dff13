/* Tiles: what the lanes of a block computed, turned so that each lane's numbers are neighbours.

   A vector of lanes is a row in a block's memory. Sums over lanes of products of features read one
   lane after the other, many features at a time. */
#ifndef WORKBENCH_TILES_H
#define WORKBENCH_TILES_H

#include "vectors.h"

/* out[c * rows + r] = in[r * columns + c]; the two do not overlap. */
OUT_OF_LINE void turned_f(const float *in, float *out, int64_t rows, int64_t columns);
OUT_OF_LINE void turned_d(const double *in, double *out, int64_t rows, int64_t columns);

#if defined(RUNTIME_BODIES)

#define TURNED_ONE_BY_ONE(from, to)                                              \
    for (int64_t r = (from); r < (to); r++)                                      \
        for (int64_t c = 0; c < columns; c++) out[c * rows + r] = in[r * columns + c];

#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
/* Exchange the halves of every 2 * n lanes between two rows: after n = 1, 2, 4, ... rows are
   columns (Eklundh, "A fast computer method for matrix transposing", 1972). */
#if LANES == 16
#define LOW1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define HIGH1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define LOW2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define HIGH4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define LOW8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HIGH8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#elif LANES == 8
#define LOW1 0, 8, 2, 10, 4, 12, 6, 14
#define HIGH1 1, 9, 3, 11, 5, 13, 7, 15
#define LOW2 0, 1, 8, 9, 4, 5, 12, 13
#define HIGH2 2, 3, 10, 11, 6, 7, 14, 15
#define LOW4 0, 1, 2, 3, 8, 9, 10, 11
#define HIGH4 4, 5, 6, 7, 12, 13, 14, 15
#else
#define LOW1 0, 4, 2, 6
#define HIGH1 1, 5, 3, 7
#define LOW2 0, 1, 4, 5
#define HIGH2 2, 3, 6, 7
#endif
#define EXCHANGE(n)                                                                  \
    for (int k = 0; k < LANES; k++)                                                  \
        if (!(k & n)) {                                                              \
            vf low = __builtin_shufflevector(row[k], row[k + n], LOW##n);            \
            row[k + n] = __builtin_shufflevector(row[k], row[k + n], HIGH##n);       \
            row[k] = low;                                                            \
        }
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
OUT_OF_LINE void turned_f(const float *in, float *out, int64_t rows, int64_t columns) {
    int64_t whole = columns % LANES ? 0 : rows / LANES * LANES;
    for (int64_t r = 0; r < whole; r += LANES)
        for (int64_t c = 0; c < columns; c += LANES) {
            vf row[LANES];
            UNROLLED for (int k = 0; k < LANES; k++) row[k] = load_vf(in + (r + k) * columns + c);
            UNROLLED EXCHANGE(1)
            UNROLLED EXCHANGE(2)
#if LANES > 4
            UNROLLED EXCHANGE(4)
#endif
#if LANES > 8
            UNROLLED EXCHANGE(8)
#endif
            UNROLLED for (int k = 0; k < LANES; k++) store_vf(out + (c + k) * rows + r, row[k]);
        }
    TURNED_ONE_BY_ONE(whole, rows)
}
#else
OUT_OF_LINE void turned_f(const float *in, float *out, int64_t rows, int64_t columns) {
    TURNED_ONE_BY_ONE(0, rows)
}
#endif

OUT_OF_LINE void turned_d(const double *in, double *out, int64_t rows, int64_t columns) {
    TURNED_ONE_BY_ONE(0, rows)
}

#endif

#endif

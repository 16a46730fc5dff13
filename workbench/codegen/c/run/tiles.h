/* Tiles: what the lanes of a block computed, turned so that each lane's numbers are neighbours.

   A vector of lanes is a row in a block's memory. Sums over lanes of products of features read one
   lane after the other, many features at a time. */
#ifndef WORKBENCH_TILES_H
#define WORKBENCH_TILES_H

#include "vectors.h"

/* out[c * out_step + r] = in[r * in_step + c]; the two do not overlap. */
#define TURNED(kind, number)                                                                     \
    OUT_OF_LINE void turned_##kind(const number *in, int64_t in_step, number *out,               \
                                   int64_t out_step, int64_t rows, int64_t columns)
TURNED(f, float);
TURNED(d, double);

#if RUNTIME_BODIES & (COMMON_BODIES | FLOAT64_BODIES)

#define TURNED_ONE_BY_ONE(first_row, end, first_column)                          \
    for (int64_t r = (first_row); r < (end); r++)                                \
        for (int64_t c = (first_column); c < columns; c++)                       \
            out[c * out_step + r] = in[r * in_step + c];

#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
/* Two rows are interleaved inside groups of 4 lanes, by one lane and by two: then each group holds a
   column of 4 rows. At last groups of the same column meet. Each of these is one
   instruction. */
#if LANES == 16
#define LOW_ONE 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define HIGH_ONE 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOW_TWO 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH_TWO 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW_GROUPS 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define HIGH_GROUPS 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#elif LANES == 8
#define LOW_ONE 0, 8, 1, 9, 4, 12, 5, 13
#define HIGH_ONE 2, 10, 3, 11, 6, 14, 7, 15
#define LOW_TWO 0, 1, 8, 9, 4, 5, 12, 13
#define HIGH_TWO 2, 3, 10, 11, 6, 7, 14, 15
#define LOW_GROUPS 0, 1, 2, 3, 8, 9, 10, 11
#define HIGH_GROUPS 4, 5, 6, 7, 12, 13, 14, 15
#else
#define LOW_ONE 0, 4, 1, 5
#define HIGH_ONE 2, 6, 3, 7
#define LOW_TWO 0, 1, 4, 5
#define HIGH_TWO 2, 3, 6, 7
#endif
#define MIXED(one, other, how)                                                       \
    {                                                                                \
        vf low = __builtin_shufflevector(one, other, LOW_##how);                     \
        other = __builtin_shufflevector(one, other, HIGH_##how);                     \
        one = low;                                                                   \
    }
#if RUNTIME_BODIES & COMMON_BODIES
TURNED(f, float) {
    const int64_t whole = rows / LANES * LANES, wide = columns / LANES * LANES;
    for (int64_t r = 0; r < whole; r += LANES)
        for (int64_t c = 0; c < wide; c += LANES) {
            vf row[LANES];
            const float *from = in + r * in_step + c;
            float *to = out + c * out_step + r;
            UNROLLED for (int k = 0; k < LANES; k++) {
                row[k] = load_vf(from);
                STEPPED(from, in_step)
            }
            UNROLLED for (int k = 0; k < LANES; k += 4) {
                MIXED(row[k], row[k + 1], ONE)
                MIXED(row[k + 2], row[k + 3], ONE)
                MIXED(row[k], row[k + 2], TWO)
                MIXED(row[k + 1], row[k + 3], TWO)
                vf second = row[k + 2];
                row[k + 2] = row[k + 1];
                row[k + 1] = second;
            }
#if LANES == 16
            UNROLLED for (int k = 0; k < 4; k++) {
                MIXED(row[k], row[k + 4], GROUPS)
                MIXED(row[k + 8], row[k + 12], GROUPS)
            }
#endif
#if LANES > 4
            UNROLLED for (int k = 0; k < LANES / 2; k++) MIXED(row[k], row[k + LANES / 2], GROUPS)
#endif
            UNROLLED for (int k = 0; k < LANES; k++) {
                store_vf(to, row[k]);
                STEPPED(to, out_step)
            }
        }
    TURNED_ONE_BY_ONE(0, whole, wide)
    TURNED_ONE_BY_ONE(whole, rows, 0)
}
#endif
#elif RUNTIME_BODIES & COMMON_BODIES
TURNED(f, float) { TURNED_ONE_BY_ONE(0, rows, 0) }
#endif
#if RUNTIME_BODIES & FLOAT64_BODIES
TURNED(d, double) { TURNED_ONE_BY_ONE(0, rows, 0) }
#endif

#endif

#endif

/* Sums over the lanes of a block of products of two rows: few rows times many, as for the gradient of
   a layer with few outputs. Many rows times many are products of matrices, for which one of the tiles
   is turned. */
#ifndef WORKBENCH_LANE_SUMS_H
#define WORKBENCH_LANE_SUMS_H

#include "sums.h"
#include "tiles.h"

/* out[r * out_step + c * next] = sum over k < times of left[r * row_step + k] * right[c * right_step + k]

   for r < rows and c < columns, in 16 partial sums of fused products which are added up as in sums.h.
   With `into` it is added to what is there. */
#define LANE_SUMS(kind, number)                                                                  \
    OUT_OF_LINE void lane_sums_##kind(const number *left, int64_t row_step, const number *right, \
                                      int64_t right_step, number *out, int64_t out_step,         \
                                      int64_t next, int64_t rows, int64_t columns,               \
                                      int64_t times, int into)
LANE_SUMS(f, float);
LANE_SUMS(d, double);

#if RUNTIME_BODIES & (COMMON_BODIES | FLOAT64_BODIES)

/* The partial sums of one element. */
#define LANE_PARTS(kind, number)                                                          \
    INLINE void lane_parts_##kind(const number *left, const number *right, int64_t times, \
                                  v##kind *parts) {                                       \
        int64_t k = 0;                                                                    \
        UNROLLED for (int p = 0; p < PARTS; p++) parts[p] = all_v##kind(0);               \
        for (; k + 16 <= times; k += 16)                                                  \
            UNROLLED for (int p = 0; p < PARTS; p++)                                      \
                parts[p] = fused_v##kind(load_v##kind(left + k + p * LANES),              \
                                         load_v##kind(right + k + p * LANES), parts[p]);  \
        if (k < times)                                                                    \
            UNROLLED for (int p = 0; p < PARTS; p++, k += LANES)                          \
                parts[p] = fused_v##kind(load_some_v##kind(left + k, 1, times - k),       \
                                         load_some_v##kind(right + k, 1, times - k),      \
                                         parts[p]);                                       \
    }
LANE_PARTS(f, float)
LANE_PARTS(d, double)

/* Of each of some vectors the sum of its lanes, added pairwise as by sum16_vf: a step halves the
   vectors, and each lane of what is left adds two. */
#if __has_builtin(__builtin_shufflevector)
#define MET(one, other, how)                             \
    (__builtin_shufflevector(one, other, LOW_##how) + \
     __builtin_shufflevector(one, other, HIGH_##how))
#define LOW_HALVES 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HIGH_HALVES 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
INLINE vf totals_vf(vf *x) {
#if LANES == 16
    UNROLLED for (int k = 0; k < 4; k++) {
        vf one = MET(x[k], x[k + 4], HALVES), other = MET(x[k + 8], x[k + 12], HALVES);
        x[k] = MET(one, other, GROUPS);
    }
#elif LANES == 8
    UNROLLED for (int k = 0; k < 4; k++) x[k] = MET(x[k], x[k + 4], GROUPS);
#endif
    vf one = MET(x[0], x[1], ONE), other = MET(x[2], x[3], ONE);
    return MET(one, other, TWO);
}
#undef MET
/* As many elements as a vector has lanes, side by side: a number on the left is loaded once for all,
   and no sum waits for another. */
#define TOTALS                                                                                \
    for (; c + LANES <= columns; c += LANES) {                                                \
        vf parts[LANES][PARTS];                                                               \
        UNROLLED for (int p = 0; p < PARTS; p++) {                                            \
            vf sums[LANES];                                                                   \
            UNROLLED for (int k = 0; k < LANES; k++) sums[k] = all_vf(0);                     \
            int64_t k = p * LANES;                                                            \
            for (; k + LANES <= times; k += 16) {                                             \
                vf x = load_vf(left + k);                                                     \
                const float *from = right + c * right_step + k;                               \
                UNROLLED for (int q = 0; q < LANES; q++) {                                    \
                    sums[q] = fused_vf(x, load_vf(from), sums[q]);                            \
                    STEPPED(from, right_step)                                                 \
                }                                                                             \
            }                                                                                 \
            if (k < times) {                                                                  \
                vf x = load_some_vf(left + k, 1, times - k);                                  \
                const float *from = right + c * right_step + k;                               \
                UNROLLED for (int q = 0; q < LANES; q++, from += right_step)                  \
                    sums[q] = fused_vf(x, load_some_vf(from, 1, times - k), sums[q]);         \
            }                                                                                 \
            UNROLLED for (int k = 0; k < LANES; k++) parts[k][p] = sums[k];                   \
        }                                                                                     \
        vf x[LANES];                                                                          \
        UNROLLED for (int k = 0; k < LANES; k++) x[k] = HALVED(add, f, parts[k]);             \
        vf sums = totals_vf(x);                                                               \
        float *to = out + c * next;                                                           \
        if (next == 1)                                                                        \
            store_vf(to, into ? load_vf(to) + sums : sums);                                   \
        else                                                                                  \
            UNROLLED for (int k = 0; k < LANES; k++) {                                        \
                *to = into ? *to + sums[k] : sums[k];                                         \
                STEPPED(to, next)                                                             \
            }                                                                                 \
    }
#else
#define TOTALS
#endif

#define LANE_SUMS_BODY(kind, number, MANY)                                         \
    LANE_SUMS(kind, number) {                                                      \
        for (int64_t r = 0; r < rows; r++, left += row_step, out += out_step) {    \
            int64_t c = 0;                                                         \
            MANY                                                                   \
            for (; c < columns; c++) {                                             \
                v##kind parts[PARTS];                                              \
                lane_parts_##kind(left, right + c * right_step, times, parts);     \
                number sum = sum16_v##kind(parts), *to = out + c * next;           \
                *to = into ? *to + sum : sum;                                      \
            }                                                                      \
        }                                                                          \
    }
#if RUNTIME_BODIES & COMMON_BODIES
LANE_SUMS_BODY(f, float, TOTALS)
#endif
#if RUNTIME_BODIES & FLOAT64_BODIES
LANE_SUMS_BODY(d, double, )
#endif
#undef LANE_PARTS
#undef TOTALS

#endif
#endif

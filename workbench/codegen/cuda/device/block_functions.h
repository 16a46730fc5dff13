/* Functions that all threads of a block run together: products of matrices, sums over lanes, tiles that
   are turned. No barrier is in them: a kernel has one in front and behind.

   Every sum adds in the order of the functions of the same names in c/run, so that the bits are the
   same. Each `thread` has elements of the result of its own. */
#ifndef WORKBENCH_BLOCK_FUNCTIONS_H
#define WORKBENCH_BLOCK_FUNCTIONS_H

#include "number_draws.h"
#include "device_run.h"

/* The first block of a chunk, of which so many share the `dealt` blocks from `first` on. There are less
   than 2^31 blocks, and less than 2^16 chunks where they do not share them evenly. */
INLINE int64_t chunk_begin(int64_t lower, int64_t upper, int64_t first, int64_t dealt,
                           int64_t chunks, int64_t chunk) {
    if (chunk == 0) return lower;
    if (chunk == chunks) return upper;
    /* chunk * dealt / chunks, rounded up: 64 bits are divided by a function of many registers */
    const uint32_t each = (uint32_t)dealt / (uint32_t)chunks;
    const uint32_t left = (uint32_t)dealt % (uint32_t)chunks;
    const uint32_t of_left = ((uint32_t)chunk * left + (uint32_t)chunks - 1) / (uint32_t)chunks;
    return minimum_l(maximum_l(first + chunk * each + of_left, lower), upper);
}

/* The 16 parts of the first threads of a warp, combined pairwise as in sums.h. The first of them has
   the result. */
#define OF_PARTS(operation, kind, number)                                     \
    INLINE number operation##_of_parts_##kind(number part) {                  \
        for (int apart = 8; apart; apart /= 2)                                \
            part = operation##_##kind(part, FROM_LANE_BESIDE(part, apart));   \
        return part;                                                          \
    }
OF_PARTS(add, f, float)
OF_PARTS(add, d, double)
OF_PARTS(add, i, int32_t)
OF_PARTS(add, l, int64_t)
OF_PARTS(minimum, f, float)
OF_PARTS(minimum, d, double)
OF_PARTS(minimum, i, int32_t)
OF_PARTS(minimum, l, int64_t)
OF_PARTS(maximum, f, float)
OF_PARTS(maximum, d, double)
OF_PARTS(maximum, i, int32_t)
OF_PARTS(maximum, l, int64_t)

/* out[r * out_step + c] = sum over k < times of left[r * row_step + k * step] * right[k * right_step + c]
   for r < rows and c < columns, each sum from 0 on, fused; with `into` it is added to what is there. A
   thread sums 4 x 4 elements at a time: so a number is loaded for four products. */
#define PRODUCT(kind, number)                                                                       \
    TOGETHER void block_product_##kind(                                                                \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step, int64_t step,            \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, ARRAY(number) out,   \
        int64_t out_begin, int64_t out_step, int64_t rows, int64_t columns, int64_t times,          \
        int into, int thread) {                                                                     \
        const int64_t wide = (columns + 3) / 4, pieces = (rows + 3) / 4 * wide;                     \
        for (int64_t piece = thread; piece < pieces; piece += BLOCK_THREADS) {                            \
            const int64_t row = piece / wide * 4, column = piece % wide * 4;                        \
            number sum[4][4] = {{0}};                                                               \
            int64_t r[4], c[4];                                                                     \
            for (int i = 0; i < 4; i++) {                                                           \
                r[i] = left_begin + minimum_l(row + i, rows - 1) * row_step;                        \
                c[i] = right_begin + minimum_l(column + i, columns - 1);                            \
            }                                                                                       \
            for (int64_t k = 0; k < times; k++) {                                                   \
                number a[4], b[4];                                                                  \
                for (int i = 0; i < 4; i++) a[i] = LD(left, r[i] + k * step);                       \
                for (int i = 0; i < 4; i++) b[i] = LD(right, c[i] + k * right_step);                \
                for (int i = 0; i < 4; i++)                                                         \
                    for (int j = 0; j < 4; j++) sum[i][j] = fused_##kind(a[i], b[j], sum[i][j]);    \
            }                                                                                       \
            for (int i = 0; i < 4 && row + i < rows; i++)                                           \
                for (int j = 0; j < 4 && column + j < columns; j++) {                               \
                    const int64_t place = out_begin + (row + i) * out_step + column + j;            \
                    if (into)                                                                       \
                        ST(out, place, LD(out, place) + sum[i][j]);                                 \
                    else                                                                            \
                        ST(out, place, sum[i][j]);                                                  \
                }                                                                                   \
        }                                                                                           \
    }

/* out[r * out_step + c * next] = sum over k < times of left[r * row_step + k] * right[c * right_step + k]
   for r < rows and c < columns, in 16 parts; with `into` it is added to what is there. */
#define LANE_SUMS(kind, number)                                                                     \
    TOGETHER void block_lane_sums_##kind(                                                              \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step,                          \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, ARRAY(number) out,   \
        int64_t out_begin, int64_t out_step, int64_t next, int64_t rows, int64_t columns,           \
        int64_t times, int into, int thread) {                                                      \
        for (int64_t element = thread; element < rows * columns; element += BLOCK_THREADS) {              \
            const int64_t row = element / columns, column = element % columns;                      \
            const int64_t one = left_begin + row * row_step;                                        \
            const int64_t other = right_begin + column * right_step;                                \
            const int64_t place = out_begin + row * out_step + column * next;                       \
            number part[16] = {0};                                                                  \
            for (int64_t k = 0; k < times; k += 16)                                                 \
                for (int p = 0; p < 16; p++)                                                        \
                    if (k + p < times)                                                              \
                        part[p] = fused_##kind(LD(left, one + k + p), LD(right, other + k + p),     \
                                               part[p]);                                            \
            for (int half = 8; half; half /= 2)                                                     \
                for (int p = 0; p < half; p++) part[p] = part[p] + part[p + half];                  \
            if (into)                                                                               \
                ST(out, place, LD(out, place) + part[0]);                                           \
            else                                                                                    \
                ST(out, place, part[0]);                                                            \
        }                                                                                           \
    }

/* out[c * out_step + r] = x[r * in_step + c] for r < rows and c < columns: of all lanes, also of those
   that are not there at the end and have no number. */
#define TURNED(kind, number)                                                                        \
    TOGETHER void block_turned_##kind(                                                              \
        CONSTANT_ARRAY(number) x, int64_t x_begin, int64_t in_step, ARRAY(number) out,              \
        int64_t out_begin, int64_t out_step, int64_t rows, int64_t columns, int thread) {           \
        for (int64_t element = thread; element < rows * columns; element += BLOCK_THREADS) {              \
            const int64_t row = element / columns, column = element % columns;                      \
            ST(out, out_begin + column * out_step + row,                                            \
               LD_UNSET(x, x_begin + row * in_step + column));                                      \
        }                                                                                           \
    }

PRODUCT(f, float)
PRODUCT(d, double)
LANE_SUMS(f, float)
LANE_SUMS(d, double)
TURNED(f, float)
TURNED(d, double)
#undef OF_PARTS
#undef PRODUCT
#undef LANE_SUMS
#undef TURNED

#endif

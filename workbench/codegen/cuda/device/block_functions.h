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

/* The sum over k < times of left[one + k] * right[other + k], in 16 parts. */
#define LANE_SUM(kind, number)                                                                      \
    INLINE number lane_sum_##kind(CONSTANT_ARRAY(number) left, int64_t one,                         \
                                  CONSTANT_ARRAY(number) right, int64_t other, int64_t times) {     \
        number part[16] = {0};                                                                      \
        for (int64_t k = 0; k < times; k += 16)                                                     \
            for (int p = 0; p < 16; p++)                                                            \
                if (k + p < times)                                                                  \
                    part[p] = fused_##kind(LD(left, one + k + p), LD(right, other + k + p), part[p]); \
        for (int half = 8; half; half /= 2)                                                         \
            for (int p = 0; p < half; p++) part[p] = part[p] + part[p + half];                      \
        return part[0];                                                                             \
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
            const number sum = lane_sum_##kind(left, one, right, other, times);                     \
            if (into)                                                                               \
                ST(out, place, LD(out, place) + sum);                                               \
            else                                                                                    \
                ST(out, place, sum);                                                                \
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

/* The same sums, of which each thread keeps its own in registers: of a matrix in pieces of high x wide,
   of which it has each n-th. A piece has neighbouring rows, and columns as far apart as there are pieces
   in a row: threads side by side have elements side by side. These are added to what is kept. */
#define KEPT_PIECES                                                                                 \
    const int across = (columns + wide - 1) / wide, pieces = (rows + high - 1) / high * across;
#define EACH_KEPT_PIECE                                                                             \
    UNROLLED for (int n = 0; n < each; n++)                                                         \
        if ((n + 1) * threads <= pieces || thread + n * threads < pieces)
#define KEPT_PRODUCT(kind, number)                                                                  \
    INLINE void block_kept_product_##kind(                                                          \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step, int64_t step,            \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, number *kept,        \
        int rows, int columns, int64_t times, int high, int wide, int each, int threads,            \
        int thread) {                                                                               \
        KEPT_PIECES                                                                                 \
        EACH_KEPT_PIECE {                                                                           \
            const int piece = thread + n * threads;                                                 \
            const int row = piece / across * high, column = piece % across;                         \
            number sum[4][4] = {{0}};                                                               \
            int64_t r[4], c[4];                                                                     \
            for (int i = 0; i < 4; i++) {                                                           \
                const int down = row + i, aside = column + i * across;                              \
                r[i] = left_begin + (down < rows ? down : rows - 1) * row_step;                     \
                c[i] = right_begin + (aside < columns ? aside : columns - 1);                       \
            }                                                                                       \
            ROLLED for (int64_t k = 0; k < times; k++) {                                            \
                number a[4], b[4];                                                                  \
                for (int i = 0; i < 4; i++) if (i < high) a[i] = LD(left, r[i] + k * step);         \
                for (int j = 0; j < 4; j++) if (j < wide) b[j] = LD(right, c[j] + k * right_step);  \
                for (int i = 0; i < 4; i++)                                                         \
                    for (int j = 0; j < 4; j++)                                                     \
                        if (i < high && j < wide) sum[i][j] = fused_##kind(a[i], b[j], sum[i][j]);  \
            }                                                                                       \
            for (int i = 0; i < 4; i++)                                                             \
                for (int j = 0; j < 4; j++)                                                         \
                    if (i < high && j < wide)                                                       \
                        kept[(n * high + i) * wide + j] += sum[i][j];                               \
        }                                                                                           \
    }

/* Sums of 16 parts, of which each thread keeps those of each n-th place. */
#define KEPT_LANE_SUMS(kind, number)                                                                \
    INLINE void block_kept_lane_sums_##kind(                                                        \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step,                          \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, number *kept,        \
        int rows, int columns, int64_t times, int next, int each, int threads, int thread) {        \
        const int pieces = rows * columns;                                                          \
        EACH_KEPT_PIECE {                                                                           \
            const int place = thread + n * threads;                                                 \
            const int row = next == 1 ? place / columns : place % rows;                             \
            const int column = next == 1 ? place % columns : place / rows;                          \
            kept[n] += lane_sum_##kind(left, left_begin + row * row_step, right,                    \
                                       right_begin + column * right_step, times);                   \
        }                                                                                           \
    }

/* out[r * columns + c] = what is kept of it, for r < rows and c < columns. */
#define KEPT_WRITTEN(kind, number)                                                                  \
    INLINE void block_kept_written_##kind(                                                          \
        const number *kept, ARRAY(number) out, int64_t out_begin, int rows, int columns, int high,  \
        int wide, int each, int threads, int thread) {                                              \
        KEPT_PIECES                                                                                 \
        EACH_KEPT_PIECE {                                                                           \
            const int piece = thread + n * threads;                                                 \
            const int row = piece / across * high, column = piece % across;                         \
            UNROLLED for (int i = 0; i < high; i++)                                                 \
                UNROLLED for (int j = 0; j < wide; j++)                                             \
                    if (row + i < rows && column + j * across < columns)                            \
                        ST(out, out_begin + (row + i) * columns + column + j * across,              \
                           kept[(n * high + i) * wide + j]);                                        \
        }                                                                                           \
    }

PRODUCT(f, float)
PRODUCT(d, double)
LANE_SUM(f, float)
LANE_SUM(d, double)
LANE_SUMS(f, float)
LANE_SUMS(d, double)
TURNED(f, float)
TURNED(d, double)
KEPT_PRODUCT(f, float)
KEPT_PRODUCT(d, double)
KEPT_LANE_SUMS(f, float)
KEPT_LANE_SUMS(d, double)
KEPT_WRITTEN(f, float)
KEPT_WRITTEN(d, double)
#undef OF_PARTS
#undef PRODUCT
#undef LANE_SUMS
#undef TURNED
#undef LANE_SUM
#undef KEPT_PIECES
#undef EACH_KEPT_PIECE
#undef KEPT_PRODUCT
#undef KEPT_LANE_SUMS
#undef KEPT_WRITTEN

#endif

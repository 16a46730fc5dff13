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

/* Whether an operand's numbers can be loaded four at a time: those at a multiple of four. */
INLINE int in_fours(int64_t begin, int64_t step, int64_t other_step) {
    return ((begin | step | other_step) & 3) == 0;
}

/* out[r * out_step + c] = sum over k < times of left[r * row_step + k * step] * right[k * right_step + c]
   for r < rows and c < columns, each sum from 0 on, fused; with `into` it is added to what is there. A
   thread sums HIGH x 4 elements at a time: a number is loaded for several products, and four neighbours
   at once where they lie so, or two; then a row has room for whole fours. Where the left ones lie so
   along rows, two threads side by side have pieces of two rows, and the same columns: what each half
   of a warp loads from the right at once are eight fours, which 32 banks have at one time, and from
   the left two. Where they lie so along the sums, those of AHEAD turns are loaded at once, of fewer
   turns where a thread has more rows: it has registers for no more. */
#define PRODUCT(kind, number, HIGH, LOAD_HIGH, AHEAD, LOAD_AHEAD, ALONG, BY_ROW)                    \
    TOGETHER void block_product_##HIGH##x4_##ALONG##_##kind(                                        \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step, int64_t step,            \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, ARRAY(number) out,   \
        int64_t out_begin, int64_t out_step, int rows, int columns, int times, int into,            \
        int thread) {                                                                               \
        const int across = (columns + 3) / 4, pieces = (rows + HIGH - 1) / HIGH * across;           \
        const int fours = columns <= right_step && in_fours(right_begin, right_step, 0);            \
        const int by_k = !BY_ROW && fours && step == 1 && in_fours(left_begin, row_step, 0);        \
        const int by_row =                                                                          \
            BY_ROW && fours && row_step == 1 && rows <= step && in_fours(left_begin, step, 0);      \
        for (int piece = thread; piece < pieces; piece += BLOCK_THREADS) {                          \
            const int in_two = piece % (2 * across);                                                \
            const int pair = piece / (2 * across) * 2;                                              \
            const int paired = by_row && (pair + 1) * HIGH < rows;                                  \
            const int row = (pair + (paired ? in_two % 2 : in_two / across)) * HIGH;                \
            const int column = (paired ? in_two / 2 : in_two % across) * 4;                         \
            const int high = rows - row < HIGH ? rows - row : HIGH;                                 \
            const int wide = columns - column < 4 ? columns - column : 4;                           \
            number sum[HIGH][4] = {{0}}, a[HIGH][4], b[4];                                          \
            int64_t r[HIGH], c = right_begin + column;                                              \
            int k = 0;                                                                              \
            for (int i = 0; i < HIGH; i++)                                                          \
                r[i] = left_begin + (row + (i < high ? i : high - 1)) * row_step;                   \
            if (by_row) {                                                                           \
                UNROLLED_BY(4)                                                                      \
                for (; k < times; k++) {                                                            \
                    LOAD_HIGH(a[0], left, r[0] + k * step, high)                                    \
                    LOAD_FOUR(b, right, c + k * right_step, wide)                                   \
                    for (int i = 0; i < HIGH; i++)                                                  \
                        for (int j = 0; j < 4; j++)                                                 \
                            sum[i][j] = fused_##kind(a[0][i], b[j], sum[i][j]);                     \
                }                                                                                   \
            } else if (by_k) {                                                                      \
                ROLLED for (; k + AHEAD <= times; k += AHEAD) {                                     \
                    for (int i = 0; i < HIGH; i++) LOAD_AHEAD(a[i], left, r[i] + k, AHEAD)          \
                    UNROLLED for (int q = 0; q < AHEAD; q++) {                                      \
                        LOAD_FOUR(b, right, c + (k + q) * right_step, wide)                         \
                        for (int i = 0; i < HIGH; i++)                                              \
                            for (int j = 0; j < 4; j++)                                             \
                                sum[i][j] = fused_##kind(a[i][q], b[j], sum[i][j]);                 \
                    }                                                                               \
                }                                                                                   \
            }                                                                                       \
            ROLLED for (; k < times; k++) {                                                         \
                for (int i = 0; i < HIGH; i++) a[i][0] = LD(left, r[i] + k * step);                 \
                for (int j = 0; j < 4; j++)                                                         \
                    b[j] = LD(right, c + (j < wide ? j : wide - 1) + k * right_step);               \
                for (int i = 0; i < HIGH; i++)                                                      \
                    for (int j = 0; j < 4; j++)                                                     \
                        sum[i][j] = fused_##kind(a[i][0], b[j], sum[i][j]);                         \
            }                                                                                       \
            for (int i = 0; i < HIGH; i++) {                                                        \
                if (i >= high) break;                                                               \
                const int64_t place = out_begin + (row + i) * out_step + column;                    \
                if (wide == 4 && in_fours(out_begin, out_step, 0)) {                                \
                    if (into) {                                                                     \
                        LOAD_FOUR(b, out, place, 4)                                                 \
                        for (int j = 0; j < 4; j++) sum[i][j] = b[j] + sum[i][j];                   \
                    }                                                                               \
                    STORE_FOUR(out, place, sum[i])                                                  \
                } else                                                                              \
                    for (int j = 0; j < 4; j++)                                                     \
                        if (j < wide)                                                               \
                            ST(out, place + j, into ? LD(out, place + j) + sum[i][j] : sum[i][j]);  \
            }                                                                                       \
        }                                                                                           \
    }

/* The same sums of few elements: a thread sums one at a time, and has each n-th place of rows that have
   room for no more than there are threads, so that it has the same of rows that are not full. */
#define SMALL_PRODUCT(kind, number)                                                                 \
    TOGETHER void block_product_1x1_##kind(                                                         \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step, int64_t step,            \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, ARRAY(number) out,   \
        int64_t out_begin, int64_t out_step, int rows, int columns, int times, int into,            \
        int thread) {                                                                               \
        const int room = columns <= out_step && out_step <= BLOCK_THREADS ? (int)out_step : columns; \
        for (int element = thread; element < rows * room; element += BLOCK_THREADS) {               \
            const int row = element / room, column = element % room;                                \
            const int64_t place = out_begin + row * out_step + column;                              \
            const int64_t r = left_begin + row * row_step, c = right_begin + column;                \
            number sum = 0;                                                                         \
            if (column >= columns) continue;                                                        \
            UNROLLED_BY(8)                                                                          \
            for (int k = 0; k < times; k++)                                                         \
                sum = fused_##kind(LD(left, r + k * step), LD(right, c + k * right_step), sum);     \
            ST(out, place, into ? LD(out, place) + sum : sum);                                      \
        }                                                                                           \
    }

/* The sum over k < times of left[one + k] * right[other + k], in 16 parts. */
#define LANE_SUM(kind, number)                                                                      \
    INLINE number lane_sum_##kind(CONSTANT_ARRAY(number) left, int64_t one,                         \
                                  CONSTANT_ARRAY(number) right, int64_t other, int times) {         \
        number part[16] = {0}, a[4], b[4];                                                          \
        int k = 0;                                                                                  \
        if (in_fours(one, other, 0))                                                                \
            ROLLED for (; k + 16 <= times; k += 16)                                                 \
                UNROLLED for (int p = 0; p < 16; p += 4) {                                          \
                    LOAD_FOUR(a, left, one + k + p, 4)                                              \
                    LOAD_FOUR(b, right, other + k + p, 4)                                           \
                    for (int q = 0; q < 4; q++)                                                     \
                        part[p + q] = fused_##kind(a[q], b[q], part[p + q]);                        \
                }                                                                                   \
        ROLLED for (; k < times; k += 16)                                                           \
            UNROLLED for (int p = 0; p < 16; p++)                                                   \
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
        int64_t out_begin, int64_t out_step, int64_t next, int rows, int columns, int times,        \
        int into, int thread) {                                                                     \
        for (int element = thread; element < rows * columns; element += BLOCK_THREADS) {            \
            const int row = element / columns, column = element % columns;                          \
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
   that are not there at the end and have no number. Threads side by side go along diagonals: neither
   what they load nor what they store lies in one bank of shared memory. */
#define TURNED(kind, number)                                                                        \
    INLINE void block_turned_##kind(                                                                \
        CONSTANT_ARRAY(number) x, int64_t x_begin, int64_t in_step, ARRAY(number) out,              \
        int64_t out_begin, int64_t out_step, int rows, int columns, int thread) {                   \
        ROLLED for (int element = thread; element < rows * columns; element += BLOCK_THREADS) {            \
            const int row = element % rows, column = (element / rows + row) % columns;              \
            ST(out, out_begin + column * out_step + row,                                            \
               LD_UNSET(x, x_begin + row * in_step + column));                                      \
        }                                                                                           \
    }

/* The same sums, of which each thread keeps its own in registers: of a matrix in pieces of high x wide
   neighbours, of which it has each n-th. These are added to what is kept. */
#define KEPT_PIECES                                                                                 \
    const int across = (columns + wide - 1) / wide, pieces = (rows + high - 1) / high * across;
#define EACH_KEPT_PIECE                                                                             \
    UNROLLED for (int n = 0; n < each; n++)                                                         \
        if ((n + 1) * threads <= pieces || thread + n * threads < pieces)
#define KEPT_PRODUCT(kind, number)                                                                  \
    INLINE void block_kept_product_##kind(                                                          \
        CONSTANT_ARRAY(number) left, int64_t left_begin, int64_t row_step, int64_t step,            \
        CONSTANT_ARRAY(number) right, int64_t right_begin, int64_t right_step, number *kept,        \
        int rows, int columns, int times, int high, int wide, int each, int threads, int thread) {  \
        KEPT_PIECES                                                                                 \
        const int fours = wide == 4 && columns % 4 == 0 && in_fours(right_begin, right_step, 0) &&  \
                          step == 1 && in_fours(left_begin, row_step, 0);                           \
        EACH_KEPT_PIECE {                                                                           \
            const int piece = thread + n * threads;                                                 \
            const int row = piece / across * high, column = piece % across * wide;                  \
            number sum[4][4] = {{0}}, a[4][4], b[4];                                                \
            int64_t r[4], c[4];                                                                     \
            int k = 0;                                                                              \
            for (int i = 0; i < 4; i++) { /* of whole pieces they are known from the first */       \
                const int down = row + i, aside = column + i;                                       \
                r[i] = left_begin +                                                                 \
                       (rows % high == 0 || down < rows ? down : rows - 1) * row_step;              \
                c[i] = right_begin + (columns % wide == 0 || aside < columns ? aside : columns - 1);\
            }                                                                                       \
            if (fours)                                                                              \
                ROLLED for (; k + 4 <= times; k += 4) {                                             \
                    for (int i = 0; i < 4; i++)                                                     \
                        if (i < high) LOAD_FOUR(a[i], left, r[i] + k, 4)                            \
                    UNROLLED for (int q = 0; q < 4; q++) {                                          \
                        LOAD_FOUR(b, right, c[0] + (k + q) * right_step, 4)                         \
                        for (int i = 0; i < 4; i++)                                                 \
                            for (int j = 0; j < 4; j++)                                             \
                                if (i < high) sum[i][j] = fused_##kind(a[i][q], b[j], sum[i][j]);   \
                    }                                                                               \
                }                                                                                   \
            ROLLED for (; k < times; k++) {                                                                \
                for (int i = 0; i < 4; i++) if (i < high) a[i][0] = LD(left, r[i] + k * step);      \
                for (int j = 0; j < 4; j++) if (j < wide) b[j] = LD(right, c[j] + k * right_step);  \
                for (int i = 0; i < 4; i++)                                                         \
                    for (int j = 0; j < 4; j++)                                                     \
                        if (i < high && j < wide) sum[i][j] = fused_##kind(a[i][0], b[j], sum[i][j]); \
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
        int rows, int columns, int times, int next, int each, int threads, int thread) {            \
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
            const int row = piece / across * high, column = piece % across * wide;                  \
            UNROLLED for (int i = 0; i < high; i++) {                                               \
                const int64_t place = out_begin + (row + i) * columns + column;                     \
                if (row + i < rows && wide == 4 && in_fours(out_begin, columns, 0))                 \
                    STORE_FOUR(out, place, kept + (n * high + i) * wide)                            \
                else                                                                                \
                    UNROLLED for (int j = 0; j < wide; j++)                                         \
                        if (row + i < rows && column + j < columns)                                 \
                            ST(out, place + j, kept[(n * high + i) * wide + j]);                    \
            }                                                                                       \
        }                                                                                           \
    }

PRODUCT(f, float, 4, LOAD_FOUR, 2, LOAD_TWO, by_row, 1)
PRODUCT(f, float, 4, LOAD_FOUR, 2, LOAD_TWO, by_k, 0)
PRODUCT(d, double, 4, LOAD_FOUR, 2, LOAD_TWO, by_row, 1)
PRODUCT(d, double, 4, LOAD_FOUR, 2, LOAD_TWO, by_k, 0)
PRODUCT(f, float, 2, LOAD_TWO, 4, LOAD_FOUR, by_row, 1)
PRODUCT(f, float, 2, LOAD_TWO, 4, LOAD_FOUR, by_k, 0)
PRODUCT(d, double, 2, LOAD_TWO, 4, LOAD_FOUR, by_row, 1)
PRODUCT(d, double, 2, LOAD_TWO, 4, LOAD_FOUR, by_k, 0)
SMALL_PRODUCT(f, float)
SMALL_PRODUCT(d, double)
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
#undef SMALL_PRODUCT
#undef LANE_SUMS
#undef TURNED
#undef LANE_SUM
#undef KEPT_PIECES
#undef EACH_KEPT_PIECE
#undef KEPT_PRODUCT
#undef KEPT_LANE_SUMS
#undef KEPT_WRITTEN

#endif

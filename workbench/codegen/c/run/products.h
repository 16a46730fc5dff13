/* Sums of products of two matrices: a network's weights times what the lanes of a block hold, and the
   sum over the lanes of products of their numbers.

   An element is the sum of its products one after the other, each fused, from 0. How many elements
   are summed side by side decides only how often a number is loaded. */
#ifndef WORKBENCH_PRODUCTS_H
#define WORKBENCH_PRODUCTS_H

#include "packed_rows.h"
#include "tiles.h"

/* out[r * out_step + c] = sum over k < times of
       left[r * row_step + k * step] * right[k * right_step + c]

   for r < rows and c < columns. With `into` it is added to what is there. In a row there is `room`
   for at least so many columns, on the right too: what is behind the columns may be written. */
#define PRODUCT(kind, number)                                                                 \
    OUT_OF_LINE void product_##kind(const number *left, int64_t row_step, int64_t step,       \
                                    const number *right, int64_t right_step, number *out,     \
                                    int64_t out_step, int64_t rows, int64_t columns,          \
                                    int64_t room, int64_t times, int into)
/* The least number of lanes in whole vectors that holds n. */
#define WHOLE_VECTORS(n) (((n) + LANES - 1) / LANES * LANES)

PRODUCT(f, float);
PRODUCT(d, double);

#if RUNTIME_BODIES & (COMMON_BODIES | FLOAT64_BODIES)

/* As many accumulators as there are registers beside the operands: of rows that are two vectors
   wide, or four where registers are many, so that a number on the left serves all of them, and of
   rows of one. The rows that are left over go in groups of half as many each: a sum waits for the
   one before, so several run at once. */
#define ROW(of) of(0)
#define ROWS_2(of) ROW(of) of(1)
#define ROWS_4(of) ROWS_2(of) of(2) of(3)
#define ROWS_6(of) ROWS_4(of) of(4) of(5)
#define ROWS_8(of) ROWS_4(of) of(4) of(5) of(6) of(7)
#if defined(__AVX512F__) || defined(__aarch64__)
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

/* A vector that stays in its register: gcc would load it again for each product. */
#if defined(__AVX512F__) && LANES == 16
#define HELD(x) __asm__("" : "+v"(x));
#elif defined(__x86_64__) && (LANES == 4 || (LANES == 8 && defined(__AVX__)))
#define HELD(x) __asm__("" : "+x"(x));
#elif defined(__aarch64__) && LANES == 4
#define HELD(x) __asm__("" : "+w"(x));
#else
#define HELD(x) /* several registers */
#endif

/* A pointer of which clang forgets how it moves: it would go from row to row by adding to it, and each
   row would wait for the one before. */
#if defined(__clang__)
#define UNTRACED(pointer) __asm__("" : "+r"(pointer));
#else
#define UNTRACED(pointer)
#endif

/* What all rows need of a k, and accumulators with a name each: an array of them would live in
   memory. */
#define ONE_VECTOR V x = LOAD(right); HELD(x) UNTRACED(left)
#define TWO_VECTORS V x = LOAD(right), y = LOAD(right + WIDTH); HELD(x) HELD(y) UNTRACED(left)
#define FOUR_VECTORS                                                 \
    V x = LOAD(right), y = LOAD(right + WIDTH);                      \
    V z = LOAD(right + 2 * WIDTH), w = LOAD(right + 3 * WIDTH);      \
    HELD(x) HELD(y) HELD(z) HELD(w) UNTRACED(left)
#define START(r) V sum##r = {0};
#define START_TWO(r) V sum##r = {0}, more##r = {0};
#define START_FOUR(r) START_TWO(r) V third##r = {0}, fourth##r = {0};
#define ADD(r) { V a = ALL(left[r * row_step]); sum##r = FUSED(a, x, sum##r); }
#define ADD_TWO(r)                                                                   \
    {                                                                                \
        V a = ALL(left[r * row_step]);                                               \
        sum##r = FUSED(a, x, sum##r), more##r = FUSED(a, y, more##r);                \
    }
#define ADD_FOUR(r)                                                                  \
    {                                                                                \
        V a = ALL(left[r * row_step]);                                               \
        sum##r = FUSED(a, x, sum##r), more##r = FUSED(a, y, more##r);                \
        third##r = FUSED(a, z, third##r), fourth##r = FUSED(a, w, fourth##r);        \
    }
#define ADD_COLUMN(c)                                                        \
    {                                                                        \
        V a = ALL(right[c]);                                                 \
        sum##c = FUSED(x, a, sum##c), more##c = FUSED(y, a, more##c);        \
    }
#define COLUMN_2(of) of##2
#define COLUMN_3(of) of##3
#define NO_COLUMN(of) (V){0}
#define KEEP(r) STORE(out + r * out_step, sum##r);
#define KEEP_TWO(r) KEEP(r) STORE(out + r * out_step + WIDTH, more##r);
#define KEEP_FOUR(r)                                   \
    KEEP_TWO(r)                                        \
    STORE(out + r * out_step + 2 * WIDTH, third##r);   \
    STORE(out + r * out_step + 3 * WIDTH, fourth##r);
#define JOIN(r) STORE(out + r * out_step, LOAD(out + r * out_step) + sum##r);
#define JOIN_TWO(r) \
    JOIN(r) STORE(out + r * out_step + WIDTH, LOAD(out + r * out_step + WIDTH) + more##r);
#define JOIN_FOUR(r)                                                                               \
    JOIN_TWO(r)                                                                                    \
    STORE(out + r * out_step + 2 * WIDTH, LOAD(out + r * out_step + 2 * WIDTH) + third##r);        \
    STORE(out + r * out_step + 3 * WIDTH, LOAD(out + r * out_step + 3 * WIDTH) + fourth##r);

/* Of one row, or of two, a piece of each is as wide as a vector. */
#define ONE_ROW V a = ALL(left[0]);
#define TWO_ROWS V a = ALL(left[0]), b = ALL(left[row_step]);
#define ADD_PIECE(c) sum##c = FUSED(a, LOAD(right + c * WIDTH), sum##c);
#define ADD_PIECES(c)                                                        \
    {                                                                        \
        V x = LOAD(right + c * WIDTH);                                       \
        sum##c = FUSED(a, x, sum##c), more##c = FUSED(b, x, more##c);        \
    }
#define KEEP_PIECE(c) STORE(out + c * WIDTH, sum##c);
#define KEEP_PIECES(c) KEEP_PIECE(c) STORE(out + out_step + c * WIDTH, more##c);
#define JOIN_PIECE(c) STORE(out + c * WIDTH, LOAD(out + c * WIDTH) + sum##c);
#define JOIN_PIECES(c) \
    JOIN_PIECE(c)      \
    STORE(out + out_step + c * WIDTH, LOAD(out + out_step + c * WIDTH) + more##c);

/* Store four columns, of which each register has a row a number. */
#define KEEP_COLUMNS_ONE_BY_ONE(kind, number, vector)                                            \
    INLINE void keep_columns_##kind(vector a, vector b, vector c, vector d, number *out,         \
                                    int64_t out_step) {                                          \
        for (int r = 0; r < (int)(sizeof(vector) / sizeof(number)); r++, out += out_step)        \
            out[0] = a[r], out[1] = b[r], out[2] = c[r], out[3] = d[r];                          \
    }
#if LANES > 4
#if __has_builtin(__builtin_shufflevector)
INLINE void keep_columns_f(vf a, vf b, vf c, vf d, float *out, int64_t out_step) {
    MIXED(a, b, ONE)
    MIXED(c, d, ONE)
    MIXED(a, c, TWO)
    MIXED(b, d, TWO) /* now each piece has a row: in a it is row 0, 4, ..., in c 1, 5, ... */
    store_rows_vf(out, 4 * out_step, 4, a);
    store_rows_vf(out + out_step, 4 * out_step, 4, c);
    store_rows_vf(out + 2 * out_step, 4 * out_step, 4, b);
    store_rows_vf(out + 3 * out_step, 4 * out_step, 4, d);
}
#else
KEEP_COLUMNS_ONE_BY_ONE(f, float, vf)
#endif
KEEP_COLUMNS_ONE_BY_ONE(d, double, half_vd)
#endif

/* A vector of doubles is two registers, of which gcc keeps none: so sums are of one register each. */
typedef half_vd unaligned_half_vd __attribute__((aligned(1), may_alias));
INLINE half_vd load_half_vd(const double *p) { return *(const unaligned_half_vd *)p; }
INLINE void store_half_vd(double *p, half_vd x) { *(unaligned_half_vd *)p = x; }
INLINE half_vd all_half_vd(double x) { return x - (half_vd){0}; }

#if RUNTIME_BODIES & COMMON_BODIES
#define V vf
#define WIDTH LANES
#define ALL all_vf
#define FUSED fused_vf
#define LOAD load_vf
#define STORE store_vf
#define N float
#define OF(name) name##_f
#include "product_sums.h"
#undef V
#undef WIDTH
#undef ALL
#undef FUSED
#undef LOAD
#undef STORE
#undef N
#undef OF
#endif

#if RUNTIME_BODIES & FLOAT64_BODIES
#define V half_vd
#define WIDTH (LANES / 2)
#define ALL all_half_vd
#define FUSED fused_half_vd
#define LOAD load_half_vd
#define STORE store_half_vd
#define N double
#define OF(name) name##_d
#include "product_sums.h"
#undef V
#undef WIDTH
#undef ALL
#undef FUSED
#undef LOAD
#undef STORE
#undef N
#undef OF
#endif

#endif
#endif

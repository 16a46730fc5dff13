/* Rows of a tile that share a vector: where a loop has few lanes, those of several rows fill one.

   Of each row `width` neighbours are taken, lanes beyond the last included: 4, 8, or all. They lie in
   the vector one row after the other. Rows are `apart` elements apart in memory. */
#ifndef WORKBENCH_PACKED_ROWS_H
#define WORKBENCH_PACKED_ROWS_H

#include "vectors.h"

/* What a row needs of a vector, and how many rows share one. */
#define WIDTH(lanes) ((lanes) <= 4 ? 4 : (lanes) <= 8 && LANES > 8 ? 8 : LANES)
#define SHARED_BY(width) (LANES / (width))

#if __has_builtin(__builtin_shufflevector)
/* A vector is pieces of 4 lanes: a row has one or two. */
#define PIECE_ROW(k) (width == 4 ? k : k / 2)
#define PIECE_LANE(k) (width == 4 ? 0 : k % 2 * 4)
#if LANES == 16
#define EACH_PIECE(of) of(0, 0, 1, 2, 3) of(1, 4, 5, 6, 7) of(2, 8, 9, 10, 11) of(3, 12, 13, 14, 15)
#define PAIR_JOINED(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define JOINED(of)                                                                         \
    __builtin_shufflevector(PAIR_JOINED(of(0), of(1)), PAIR_JOINED(of(2), of(3)), 0, 1, 2, 3, \
                            4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define FIRST_4(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#define FIRST_8(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
#elif LANES == 8
#define EACH_PIECE(of) of(0, 0, 1, 2, 3) of(1, 4, 5, 6, 7)
#define JOINED(of) __builtin_shufflevector(of(0), of(1), 0, 1, 2, 3, 4, 5, 6, 7)
#define FIRST_4(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3)
#define FIRST_8(x) x
#else
#define EACH_PIECE(of) of(0, 0, 1, 2, 3)
#define JOINED(of) of(0)
#define FIRST_4(x) x
#define FIRST_8(x) x
#endif
#define LOADED(k) *(const piece *)(p + PIECE_ROW(k) * apart + PIECE_LANE(k))
#define SPREAD(k) (p[PIECE_ROW(k) * apart] - (piece){0}) /* as all_vf */
#define STORED(k, ...)                                        \
    *(piece *)(p + PIECE_ROW(k) * apart + PIECE_LANE(k)) =    \
        __builtin_shufflevector(x, x, __VA_ARGS__);
#define ROWS_OF(vector) return JOINED(LOADED);
#define SPREAD_OF(vector) return JOINED(SPREAD);
#define REPEATED_OF(vector) return width == 4 ? FIRST_4(x) : FIRST_8(x);
#define STORE_ROWS EACH_PIECE(STORED)
#else
#define LANE_BY_LANE(vector, from) { vector r; EACH_LANE r[lane] = from; return r; }
#define ROWS_OF(vector) LANE_BY_LANE(vector, p[lane / width * apart + lane % width])
#define SPREAD_OF(vector) LANE_BY_LANE(vector, p[lane / width * apart])
#define REPEATED_OF(vector) LANE_BY_LANE(vector, x[lane % width])
#define STORE_ROWS EACH_LANE p[lane / width * apart + lane % width] = x[lane];
#endif

/* For each kind of number: rows loaded, the first number of each row in all of its lanes, the lanes of
   one row in all rows, rows stored. */
#define PACKED_ROWS(kind, number)                                                             \
    typedef number piece_of_v##kind __attribute__((vector_size(4 * sizeof(number))));         \
    typedef piece_of_v##kind unaligned_piece_of_v##kind __attribute__((aligned(1), may_alias)); \
    INLINE v##kind rows_v##kind(const number *p, int64_t apart, int64_t width) {              \
        typedef unaligned_piece_of_v##kind piece __attribute__((unused));                     \
        ROWS_OF(v##kind)                                                                      \
    }                                                                                         \
    INLINE v##kind spread_v##kind(const number *p, int64_t apart, int64_t width) {            \
        typedef piece_of_v##kind piece __attribute__((unused));                               \
        SPREAD_OF(v##kind)                                                                    \
    }                                                                                         \
    INLINE v##kind repeated_v##kind(v##kind x, int64_t width) { REPEATED_OF(v##kind) }        \
    INLINE void store_rows_v##kind(number *p, int64_t apart, int64_t width, v##kind x) {      \
        typedef unaligned_piece_of_v##kind piece __attribute__((unused));                     \
        STORE_ROWS                                                                            \
    }

PACKED_ROWS(f, float)
PACKED_ROWS(d, double)
PACKED_ROWS(i, int32_t)
PACKED_ROWS(l, int64_t)

#endif

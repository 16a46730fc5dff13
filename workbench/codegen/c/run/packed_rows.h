/* Rows of a tile that share a vector: where a loop has few lanes, those of several rows fill one.

   Of each row `width` neighbours are taken, lanes beyond the last included: 4, 8, or LANES, which is
   one row. They lie in the vector one row after the other. Rows are `apart` elements apart in
   memory. */
#ifndef WORKBENCH_PACKED_ROWS_H
#define WORKBENCH_PACKED_ROWS_H

#include "vectors.h"

/* Whether so many lanes leave no room for a second row. */
#define FILL_A_VECTOR(lanes) (LANES == 4 || (lanes) > LANES / 2)

/* How many of the rows that are left share a vector, and what each of them has of it. */
#define SHARED_BY(width) ((width) == 4 ? LANES / 4 : (width) == 8 ? (LANES + 7) / 8 : 1)
INLINE int64_t width_of_rows(int64_t lanes, int64_t rows) {
    if (lanes <= 4 && rows >= LANES / 4) return 4;
    return lanes <= 8 && LANES > 8 && rows >= LANES / 8 ? 8 : LANES;
}

#if __has_builtin(__builtin_shufflevector)
/* A vector is pieces of 4 lanes: a row has one, or two of which the second is `beside` the first. */
#define PLACES(beside)                                                     \
    const int64_t second = width == 4 ? apart : beside;                    \
    const int64_t third = width == 4 ? 2 * apart : apart;                  \
    (void)second, (void)third;
#if LANES == 16
#define JOINED(of)                                                                            \
    __builtin_shufflevector(__builtin_shufflevector(of(0), of(second), 0, 1, 2, 3, 4, 5, 6, 7), \
                            __builtin_shufflevector(of(third), of(third + second), 0, 1, 2, 3,  \
                                                    4, 5, 6, 7),                              \
                            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define PARTED(to)                                                                          \
    to(0, 0, 1, 2, 3) to(second, 4, 5, 6, 7) to(third, 8, 9, 10, 11)                        \
    to(third + second, 12, 13, 14, 15)
#define FIRST_4(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#define FIRST_8(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
#elif LANES == 8
#define JOINED(of) __builtin_shufflevector(of(0), of(second), 0, 1, 2, 3, 4, 5, 6, 7)
#define PARTED(to) to(0, 0, 1, 2, 3) to(second, 4, 5, 6, 7)
#define FIRST_4(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3)
#define FIRST_8(x) x
#else
#define JOINED(of) of(0)
#define PARTED(to) to(0, 0, 1, 2, 3)
#define FIRST_4(x) x
#define FIRST_8(x) x
#endif
#define LOADED(place) *(const piece *)(p + (place))
#define SPREAD(place) (p[place] - (piece){0}) /* as all_vf */
#define STORED(place, ...) *(piece *)(p + (place)) = __builtin_shufflevector(x, x, __VA_ARGS__);
#define ROWS_OF(vector) PLACES(4) return JOINED(LOADED);
#define SPREAD_OF(vector) PLACES(0) return JOINED(SPREAD);
#define REPEATED_OF(vector) return width == 4 ? FIRST_4(x) : FIRST_8(x);
#define STORE_ROWS PLACES(4) PARTED(STORED)
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
        if (width == LANES) return load_v##kind(p);                                           \
        ROWS_OF(v##kind)                                                                      \
    }                                                                                         \
    INLINE v##kind spread_v##kind(const number *p, int64_t apart, int64_t width) {            \
        typedef piece_of_v##kind piece __attribute__((unused));                               \
        if (width == LANES) return all_v##kind(*p);                                           \
        SPREAD_OF(v##kind)                                                                    \
    }                                                                                         \
    INLINE v##kind repeated_v##kind(v##kind x, int64_t width) {                               \
        if (width == LANES) return x;                                                         \
        REPEATED_OF(v##kind)                                                                  \
    }                                                                                         \
    INLINE void store_rows_v##kind(number *p, int64_t apart, int64_t width, v##kind x) {      \
        typedef unaligned_piece_of_v##kind piece __attribute__((unused));                     \
        if (width == LANES) {                                                                 \
            store_v##kind(p, x);                                                              \
            return;                                                                           \
        }                                                                                     \
        STORE_ROWS                                                                            \
    }

PACKED_ROWS(f, float)
PACKED_ROWS(d, double)
PACKED_ROWS(i, int32_t)
PACKED_ROWS(l, int64_t)

#endif

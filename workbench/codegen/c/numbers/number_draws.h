/* Random numbers by Philox-4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
   easy as 1, 2, 3", SC'11), word for word those of workbench/backends/philox.py, one at a time.

   The key is (seed, hash of the statement's origin). The counter is a number of 128 bits: lowest
   the block n >> 2 of the inner element n, which uses word n & 3 of four; above it the instance's
   coordinates, each with 32 bits for up to three dimensions, 26 for four, 21 for five. */
#ifndef WORKBENCH_NUMBER_DRAWS_H
#define WORKBENCH_NUMBER_DRAWS_H

#include "number_functions.h"

typedef struct { uint32_t word[4]; } words;

/* The four words of a counter. */
OUT_OF_LINE words philox(words counter, uint32_t seed, uint32_t key);

/* The counter of a block at coordinates, of which `dims` count; `dims` should be a constant. Each
   must fit its bits: misfit says. */
#define COUNTER(name, result, number)                                                             \
    INLINE result name(int dims, number block, number x0, number x1, number x2, number x3,        \
                       number x4) {                                                               \
        const number zero = block ^ block;                                                        \
        if (dims == 5) { /* 23 bits of the block, 5 coordinates of 21 */                          \
            result five = {{block | x0 << 23, x0 >> 9 | x1 << 12, x1 >> 20 | x2 << 1 | x3 << 22,  \
                            x3 >> 10 | x4 << 11}};                                                \
            return five;                                                                          \
        }                                                                                         \
        if (dims == 4) { /* 24 bits of the block, 4 coordinates of 26 */                          \
            result four = {{block | x0 << 24, x0 >> 8 | x1 << 18, x1 >> 14 | x2 << 12,            \
                            x2 >> 20 | x3 << 6}};                                                 \
            return four;                                                                          \
        }                                                                                         \
        result few = {{block, dims > 0 ? x0 : zero, dims > 1 ? x1 : zero, dims > 2 ? x2 : zero}}; \
        return few;                                                                               \
    }
COUNTER(counter, words, uint32_t)

/* What does not fit the counter: -1 nothing, 0 the last block, 1 + k the least or the most of
   coordinate k. Its bits are then limit_bits(dims, 0) or limit_bits(dims, 1). */
INLINE int limit_bits(int dims, int of_coordinate) {
    if (dims == 4) return of_coordinate ? 26 : 24;
    if (dims == 5) return of_coordinate ? 21 : 23;
    return 32;
}
INLINE int misfit(int dims, int64_t last_block, const int64_t *least, const int64_t *most) {
    if (last_block >> limit_bits(dims, 0)) return 0;
    for (int k = 0; k < dims; k++)
        if (least[k] < 0 || most[k] >> limit_bits(dims, 1)) return 1 + k;
    return -1;
}

/* Uniform numbers on [0, 1): (word >> 8) 2^-24, exact in float32. */
INLINE float uniform_f(uint32_t word) { return (float)(int32_t)(word >> 8) * 0x1p-24f; }
INLINE double uniform_d(uint32_t word) { return (double)(int32_t)(word >> 8) * 0x1p-24; }

/* Standard normal numbers by the inverse distribution function of ((word >> 8) + 1/2) 2^-24: the
   float32 number is the float64 one rounded. */
OUT_OF_LINE double normal_d(uint32_t word);
INLINE float normal_f(uint32_t word) { return (float)normal_d(word); }

/* The method for numbers and for vectors: `upper` gives the upper halves of 32-bit products. */
#define PHILOX(name, result, number, upper)                                                     \
    OUT_OF_LINE result name(result counter, uint32_t seed, uint32_t key) {                      \
        number c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2],                \
               c3 = counter.word[3];                                                            \
        for (int round = 0; round < 10; round++) {                                              \
            number high0 = upper(c0, 0xd2511f53u), low0 = c0 * 0xd2511f53u;                     \
            number high2 = upper(c2, 0xcd9e8d57u), low2 = c2 * 0xcd9e8d57u;                     \
            c0 = high2 ^ c1 ^ seed, c1 = low2, c2 = high0 ^ c3 ^ key, c3 = low0;                \
            seed += 0x9e3779b9u, key += 0xbb67ae85u;                                            \
        }                                                                                       \
        result drawn = {{c0, c1, c2, c3}};                                                      \
        return drawn;                                                                           \
    }

#if RUNTIME_BODIES & COMMON_BODIES
INLINE uint32_t upper(uint32_t a, uint32_t m) { return (uint32_t)((uint64_t)a * m >> 32); }
PHILOX(philox, words, uint32_t, upper)

#define D double
#define W uint64_t
#define OF(name) name##_d
#define ABREAST 1
#define EACH for (int at = 0; at < 1; at++)
#define WIDE_BITS(x) ((uint64_t)bits_of_d(x))
#define DOUBLE(x) d_of_bits((int64_t)(x))
#define ALL(c) (c)
#define CHOSEN(condition, a, b) where_d(condition, a, b)
#define ROOT(x) sqrt_d(x)
#include "inverse_normal.h"
#undef D
#undef W
#undef OF
#undef ABREAST
#undef EACH
#undef WIDE_BITS
#undef DOUBLE
#undef ALL
#undef CHOSEN
#undef ROOT
OUT_OF_LINE double normal_d(uint32_t word) {
    double n = (double)(int32_t)(word >> 8), number;
    inverse_normal_d(&n, &number);
    return number;
}
#endif

#endif

/* Random numbers by Philox-4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
   easy as 1, 2, 3", SC'11), word for word those of workbench/backends/philox.py.

   The key is (seed, hash of the statement's origin). The counter is a number of 128 bits: lowest
   the block n >> 2 of the inner element n, which uses word n & 3 of four; above it the instance's
   coordinates, each with 32 bits for up to three dimensions, 26 for four, 21 for five. Names with v
   draw for LANES counters at once. */
#ifndef WORKBENCH_PHILOX_H
#define WORKBENCH_PHILOX_H

#include "functions.h"

typedef struct { vu word[4]; } words_v;
typedef struct { uint32_t word[4]; } words;

/* The four words of each counter. */
OUT_OF_LINE words_v philox_v(words_v counter, uint32_t seed, uint32_t key);
OUT_OF_LINE words philox(words counter, uint32_t seed, uint32_t key);

/* The counter of a block at coordinates, of which `dims` count; `dims` should be a constant. Each
   must fit its bits: misfit says. */
#define COUNTER(name, result, number)                                                             \
    INLINE result name(int dims, number block, number x0, number x1, number x2, number x3,        \
                       number x4) {                                                               \
        switch (dims) {                                                                           \
        case 5: /* 23 bits of the block, 5 coordinates of 21 */                                   \
            return (result){{block | x0 << 23, x0 >> 9 | x1 << 12, x1 >> 20 | x2 << 1 | x3 << 22, \
                             x3 >> 10 | x4 << 11}};                                               \
        case 4: /* 24 bits of the block, 4 coordinates of 26 */                                   \
            return (result){{block | x0 << 24, x0 >> 8 | x1 << 18, x1 >> 14 | x2 << 12,           \
                             x2 >> 20 | x3 << 6}};                                                \
        default: {                                                                                \
            number zero = block ^ block;                                                          \
            return (result){{block, dims > 0 ? x0 : zero, dims > 1 ? x1 : zero,                   \
                             dims > 2 ? x2 : zero}};                                              \
        }                                                                                         \
        }                                                                                         \
    }
COUNTER(counter_v, words_v, vu)
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
INLINE vf uniform_vf(vu word) { return cast_vf_vi((vi)(word >> 8)) * 0x1p-24f; }
INLINE vd uniform_vd(vu word) { return cast_vd_vi((vi)(word >> 8)) * 0x1p-24; }

/* Standard normal numbers by the inverse distribution function of ((word >> 8) + 1/2) 2^-24: the
   float32 number is the float64 one rounded. */
OUT_OF_LINE double normal_d(uint32_t word);
OUT_OF_LINE vd normal_vd(vu word);
INLINE float normal_f(uint32_t word) { return (float)normal_d(word); }
OUT_OF_LINE vf normal_vf(vu word);

/* The first `count` inner elements of one instance, whose coordinates fit. Words may begin behind
   others, a multiple of four. */
OUT_OF_LINE void fill_words(uint32_t *out, int64_t first, int64_t count, uint32_t seed,
                            uint32_t key, int dims, const uint32_t *x);
OUT_OF_LINE void fill_uniform_f(float *out, int64_t count, uint32_t seed, uint32_t key, int dims,
                                const uint32_t *x);
OUT_OF_LINE void fill_uniform_d(double *out, int64_t count, uint32_t seed, uint32_t key, int dims,
                                const uint32_t *x);
OUT_OF_LINE void fill_normal_f(float *out, int64_t count, uint32_t seed, uint32_t key, int dims,
                               const uint32_t *x);
OUT_OF_LINE void fill_normal_d(double *out, int64_t count, uint32_t seed, uint32_t key, int dims,
                               const uint32_t *x);

#if defined(RUNTIME_BODIES)

/* The upper halves of 32-bit products. 64-bit lanes multiply the even and the odd ones apart. */
typedef uint64_t pairs_v __attribute__((vector_size(4 * LANES)));
INLINE vu upper_v(vu a, uint32_t m) {
    pairs_v even = ((pairs_v)a & 0xffffffffu) * (uint64_t)m, odd = ((pairs_v)a >> 32) * (uint64_t)m;
    return (vu)((even >> 32) | (odd & UINT64_C(0xffffffff00000000)));
}
INLINE uint32_t upper(uint32_t a, uint32_t m) { return (uint32_t)((uint64_t)a * m >> 32); }

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
        return (result){{c0, c1, c2, c3}};                                                      \
    }
PHILOX(philox_v, words_v, vu, upper_v)
PHILOX(philox, words, uint32_t, upper)

/* Wichura, "Algorithm AS 241: the percentage points of the normal distribution" (Applied Statistics
   37, 1988), PPND16, relative error 1e-16, in the order of operations of philox.py. Its third
   region is never reached: the smallest p is 2^-25. */
static const double normal_centre[2][8] = {
    {3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3}};
static const double normal_tail[2][8] = {
    {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
     3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};

/* Half of the lanes: float64 numbers fill a register then, as compilers want them. */
typedef uint64_t half_vw __attribute__((vector_size(4 * LANES)));
typedef int32_t half_vi __attribute__((vector_size(2 * LANES)));
typedef float half_vf __attribute__((vector_size(2 * LANES)));

/* log p for p >= 2^-25, to 1e-16: of our own, for libm's differ. p = 2^k m with m between sqrt(1/2)
   and sqrt(2), log m = 2 atanh(s) with s = (m - 1) / (m + 1): s + s^3 q(s^2), q of degree 6,
   error 2^-53 of s^2. */
INLINE half_vd log_of_part(half_vd p) {
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd); /* the bits of sqrt(1/2) */
    half_vw beyond = (half_vw)p - root;
    /* The number with these bits is 2^52 + 64 + k: AVX2 converts no 64-bit numbers. */
    half_vw exponent = (beyond + (UINT64_C(64) << 52)) >> 52 | UINT64_C(0x4330000000000000);
    half_vd k = (half_vd)exponent - (0x1p52 + 64.0);
    half_vd m = (half_vd)((beyond & UINT64_C(0x000fffffffffffff)) + root);
    half_vd s = (m - 1.0) / (m + 1.0), z = s * s;
    half_vd q = z * 0x1.db1bdacb883dcp-4 + 0x1.28232dd0e1ce2p-4;
    q = q * z + 0x1.75183c325269ep-4;
    q = q * z + 0x1.c718d76c2b2a0p-4;
    q = q * z + 0x1.24924da826320p-3;
    q = q * z + 0x1.9999999462dbfp-3;
    q = q * z + 0x1.5555555556565p-2;
    half_vd rest = 2.0 * s * z * q + k * 0x1.abc9e3b39803fp-56; /* ln 2 in two parts */
    return k * 0x1.62e42fefa39efp-1 + (2.0 * s + rest);
}

INLINE half_vd ratio(const double p[2][8], half_vd x) {
    half_vd above = p[0][7] - (half_vd){0}, below = p[1][7] - (half_vd){0};
    for (int k = 6; k >= 0; k--) above = above * x + p[0][k], below = below * x + p[1][k];
    return above / below;
}

/* Of words without their last byte. The centre has 85 of 100 draws, so that every second vector has
   a lane in the tails: both are computed always, as no branch could be foretold. */
INLINE half_vd half_normal(half_vi number) {
    const uint64_t sign = UINT64_C(1) << 63;
    half_vd p = (__builtin_convertvector(number, half_vd) + 0.5) * 0x1p-24, q = p - 0.5;
    half_vd centre = ratio(normal_centre, 0.180625 - q * q) * q;
    half_vw inside = (half_vw)((half_vd)((half_vw)q & ~sign) <= 0.425);
    half_vw below = (half_vw)(q < 0.0);
    half_vd part = (half_vd)(((half_vw)p & below) | ((half_vw)(1.0 - p) & ~below));
    half_vd tail = ratio(normal_tail, sqrt_half_vd(-log_of_part(part)) - 1.6);
    tail = (half_vd)(((half_vw)tail & ~sign) | ((half_vw)q & sign));
    return (half_vd)(((half_vw)centre & inside) | ((half_vw)tail & ~inside));
}

#define NORMAL(kind, halves)                                                                    \
    OUT_OF_LINE v##kind normal_v##kind(vu word) {                                               \
        union { vu both; half_vi half[2]; } w = {word >> 8};                                    \
        union { v##kind both; halves half[2]; } r;                                              \
        for (int k = 0; k < 2; k++)                                                             \
            r.half[k] = __builtin_convertvector(half_normal(w.half[k]), halves);                \
        return r.both;                                                                          \
    }
NORMAL(f, half_vf)
NORMAL(d, half_vd)
OUT_OF_LINE double normal_d(uint32_t word) { return normal_vd(all_vu(word))[0]; }

/* LANES blocks of four words, in the order of the inner elements. */
static void draw_blocks(uint32_t *out, int64_t block, uint32_t seed, uint32_t key, int dims,
                        const uint32_t *x) {
    vu at[5];
    for (int k = 0; k < 5; k++) at[k] = all_vu(k < dims ? x[k] : 0);
    vu blocks = (vu)lanes_vi() + (uint32_t)block;
    words_v drawn = philox_v(counter_v(dims, blocks, at[0], at[1], at[2], at[3], at[4]), seed, key);
    for (int lane = 0; lane < LANES; lane++)
        for (int k = 0; k < 4; k++) out[4 * lane + k] = drawn.word[k][lane];
}

#define FILL(name, number, kind, numbers_of)                                                    \
    OUT_OF_LINE void name(number *out, int64_t count, uint32_t seed, uint32_t key, int dims,    \
                          const uint32_t *x) {                                                  \
        for (int64_t done = 0; done < count; done += 4 * LANES) {                               \
            uint32_t word[4 * LANES];                                                           \
            number drawn[4 * LANES];                                                            \
            int64_t left = count - done < 4 * LANES ? count - done : 4 * LANES;                 \
            draw_blocks(word, done / 4, seed, key, dims, x);                                    \
            for (int k = 0; k < 4 * LANES; k += LANES)                                          \
                store_v##kind(drawn + k, numbers_of((vu)load_vi((const int32_t *)(word + k)))); \
            for (int64_t k = 0; k < left; k++) out[done + k] = drawn[k];                        \
        }                                                                                       \
    }
FILL(fill_uniform_f, float, f, uniform_vf)
FILL(fill_uniform_d, double, d, uniform_vd)
FILL(fill_normal_f, float, f, normal_vf)
FILL(fill_normal_d, double, d, normal_vd)

OUT_OF_LINE void fill_words(uint32_t *out, int64_t first, int64_t count, uint32_t seed,
                            uint32_t key, int dims, const uint32_t *x) {
    int64_t whole = count - count % (4 * LANES);
    uint32_t word[4 * LANES];
    for (int64_t done = 0; done < whole; done += 4 * LANES)
        draw_blocks(out + done, (first + done) / 4, seed, key, dims, x);
    if (whole == count) return;
    draw_blocks(word, (first + whole) / 4, seed, key, dims, x);
    for (int64_t k = whole; k < count; k++) out[k] = word[k - whole];
}

#endif

#endif

/* Random numbers as in number_draws.h, for LANES counters at once, and those of all inner elements of
   an instance. */
#ifndef WORKBENCH_PHILOX_H
#define WORKBENCH_PHILOX_H

#include "functions.h"
#include "number_draws.h"

typedef struct { vu word[4]; } words_v;

/* The four words of each counter. */
OUT_OF_LINE words_v philox_v(words_v counter, uint32_t seed, uint32_t key);

COUNTER(counter_v, words_v, vu)
#undef COUNTER

INLINE vf uniform_vf(vu word) { return cast_vf_vi((vi)(word >> 8)) * 0x1p-24f; }
INLINE vd uniform_vd(vu word) { return cast_vd_vi((vi)(word >> 8)) * 0x1p-24; }

/* Standard normal numbers by the inverse distribution function of ((word >> 8) + 1/2) 2^-24: the
   float32 number is the float64 one rounded. */
OUT_OF_LINE vd normal_vd(vu word);
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

#if RUNTIME_BODIES & COMMON_BODIES

/* The products of the even lanes, 64-bit: one instruction, which gcc does not find for itself. */
typedef uint64_t pairs_v __attribute__((vector_size(4 * LANES)));
typedef long long signed_pairs_v __attribute__((vector_size(4 * LANES)));
INLINE pairs_v even_products_v(vu a, uint32_t m) {
#if LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_pmuludq512_mask)
    return (pairs_v)__builtin_ia32_pmuludq512_mask((vi)a, (vi)all_vu(m), (signed_pairs_v){0}, -1);
#elif LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_ia32_pmuludq256)
    return (pairs_v)__builtin_ia32_pmuludq256((vi)a, (vi)all_vu(m));
#elif LANES == 4 && defined(__SSE2__) && __has_builtin(__builtin_ia32_pmuludq128)
    return (pairs_v)__builtin_ia32_pmuludq128((vi)a, (vi)all_vu(m));
#else
    return ((pairs_v)a & 0xffffffffu) * (uint64_t)m;
#endif
}
/* The upper halves of 32-bit products: those of even and odd lanes apart. */
INLINE vu upper_v(vu a, uint32_t m) {
    pairs_v even = even_products_v(a, m), odd = even_products_v((vu)((pairs_v)a >> 32), m);
    return (vu)((even >> 32) | (odd & UINT64_C(0xffffffff00000000)));
}
PHILOX(philox_v, words_v, vu, upper_v)
#undef PHILOX

/* Half of the lanes: float64 numbers fill a register then, as compilers want them. */
typedef uint64_t half_vw __attribute__((vector_size(4 * LANES)));
typedef int32_t half_vi __attribute__((vector_size(2 * LANES)));
typedef float half_vf __attribute__((vector_size(2 * LANES)));
INLINE half_vd where_half_vd(half_vw m, half_vd a, half_vd b) {
#if LANES == 8 && defined(__AVX__) && __has_builtin(__builtin_ia32_blendvpd256)
    return __builtin_ia32_blendvpd256(b, a, (half_vd)m);
#else
    return (half_vd)(((half_vw)a & m) | ((half_vw)b & ~m));
#endif
}
#define D half_vd
#define W half_vw
#define OF(name) name##_half_vd
#define ABREAST 2
#define EACH UNROLLED for (int at = 0; at < 2; at++)
#define WIDE_BITS(x) ((half_vw)(x))
#define DOUBLE(x) ((half_vd)(x))
#define ALL(c) ((c) - (half_vd){0})
#define CHOSEN(condition, a, b) where_half_vd((half_vw)(condition), a, b)
#define ROOT(x) sqrt_half_vd(x)
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

#define NORMAL(kind, halves)                                                                    \
    OUT_OF_LINE v##kind normal_v##kind(vu word) {                                               \
        union { vu both; half_vi half[2]; } w = {word >> 8};                                    \
        union { v##kind both; halves half[2]; } r;                                              \
        half_vd n[2], numbers[2];                                                               \
        for (int k = 0; k < 2; k++) n[k] = __builtin_convertvector(w.half[k], half_vd);         \
        inverse_normal_half_vd(n, numbers);                                                     \
        for (int k = 0; k < 2; k++) r.half[k] = __builtin_convertvector(numbers[k], halves);    \
        return r.both;                                                                          \
    }
NORMAL(f, half_vf)
NORMAL(d, half_vd)

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

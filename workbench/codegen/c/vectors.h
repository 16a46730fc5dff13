/* Vectors of LANES numbers: their types, how they are chosen between, loaded and stored.

   A kind is named by a letter, and by v and a letter where it is a vector:

       f float   d double   i int32_t   l int64_t   b a truth value

   Scalar truth values are 0 and 1 in an int, those of a vector are all zeros or all ones in each
   int32_t lane, and in memory both are bytes 0 and 1. Vectors of all kinds have LANES lanes, so
   those of 64-bit numbers take two registers. Offsets are 64-bit, in elements. */
#ifndef WORKBENCH_VECTORS_H
#define WORKBENCH_VECTORS_H

#include "numbers.h"

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * LANES)));
typedef double vd __attribute__((vector_size(8 * LANES)));
typedef int64_t vl __attribute__((vector_size(8 * LANES)));
typedef vi vb;
typedef uint8_t bytes_of_vb __attribute__((vector_size(LANES)));

/* A vector with the same number in all lanes. Subtracting zeros keeps -0. */
INLINE vf all_vf(float x) { return x - (vf){0}; }
INLINE vd all_vd(double x) { return x - (vd){0}; }
INLINE vi all_vi(int32_t x) { return x - (vi){0}; }
INLINE vl all_vl(int64_t x) { return x - (vl){0}; }
INLINE vu all_vu(uint32_t x) { return x - (vu){0}; }
INLINE vb all_vb(int x) { return all_vi(x ? -1 : 0); }

/* The number of each lane: 0, 1, 2, ... */
INLINE vi lanes_vi(void) {
    vi r;
    EACH_LANE r[lane] = lane;
    return r;
}

/* The mask of the first `count` lanes. */
INLINE vb first_vb(int64_t count) {
    return lanes_vi() < all_vi(count > LANES ? LANES : (int32_t)count);
}

#if !defined(__has_builtin)
#define __has_builtin(name) 0
#endif

/* where(condition, a, b), by bits: neither side's NaN matters where the other is chosen. Three
   instructions, which AVX-512 has as one and gcc does not see to be AVX's. */
INLINE vi where_vi(vb m, vi a, vi b) {
#if LANES == 8 && defined(__AVX__) && __has_builtin(__builtin_ia32_blendvps256)
    return (vi)__builtin_ia32_blendvps256((vf)b, (vf)a, (vf)m);
#else
    return (a & m) | (b & ~m);
#endif
}
INLINE vf where_vf(vb m, vf a, vf b) { return (vf)where_vi(m, (vi)a, (vi)b); }
INLINE vb where_vb(vb m, vb a, vb b) { return where_vi(m, a, b); }
INLINE vl where_vl(vb m, vl a, vl b) {
    vl wide = __builtin_convertvector(m, vl);
    return (a & wide) | (b & ~wide);
}
INLINE vd where_vd(vb m, vd a, vd b) { return (vd)where_vl(m, (vl)a, (vl)b); }

/* True if a lane is. */
INLINE int any_vb(vb m) {
    int32_t r = 0;
    EACH_LANE r |= m[lane];
    return r != 0;
}

/* a * b + c, rounded once: an instruction, or libm's fma where the processor has none. The loop
   over lanes becomes that instruction under gcc -O2 too, but each one takes it 2 ms of compilation;
   the compiler's own name for the instruction takes a twentieth, and serves at -O1. */
INLINE vf fused_vf(vf a, vf b, vf c) {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_vfmaddps512_mask)
    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4); /* all lanes, rounding as it is set */
#elif LANES == 8 && defined(__FMA__) && __has_builtin(__builtin_ia32_vfmaddps256)
    return __builtin_ia32_vfmaddps256(a, b, c);
#elif LANES == 4 && defined(__FMA__) && __has_builtin(__builtin_ia32_vfmaddps)
    return __builtin_ia32_vfmaddps(a, b, c);
#else
    vf r;
    EACH_LANE r[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
    return r;
#endif
}
/* A vector of doubles is two registers, and each has its own instruction. */
typedef double half_vd __attribute__((vector_size(4 * LANES)));
typedef union { vd both; half_vd half[2]; } halves_vd;
INLINE half_vd fused_half_vd(half_vd a, half_vd b, half_vd c) {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_vfmaddpd512_mask)
    return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
#elif LANES == 8 && defined(__FMA__) && __has_builtin(__builtin_ia32_vfmaddpd256)
    return __builtin_ia32_vfmaddpd256(a, b, c);
#elif LANES == 4 && defined(__FMA__) && __has_builtin(__builtin_ia32_vfmaddpd)
    return __builtin_ia32_vfmaddpd(a, b, c);
#else
    half_vd r;
    for (int lane = 0; lane < LANES / 2; lane++) r[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
    return r;
#endif
}
INLINE vd fused_vd(vd a, vd b, vd c) {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#else
    halves_vd x = {a}, y = {b}, z = {c}, r;
    r.half[0] = fused_half_vd(x.half[0], y.half[0], z.half[0]);
    r.half[1] = fused_half_vd(x.half[1], y.half[1], z.half[1]);
    return r.both;
#endif
}

/* For each kind of number: load and store LANES neighbours, `count` of them (the other lanes are 0
   and are not touched in memory), those `stride` apart, and those at given places.
   `at` holds offsets from `p`; lanes that are not to be read need a place that may be. */
#define MEMORY(kind, number)                                                                   \
    typedef v##kind unaligned_v##kind __attribute__((aligned(1), may_alias));                  \
    INLINE v##kind load_v##kind(const number *p) { return *(const unaligned_v##kind *)p; }     \
    INLINE void store_v##kind(number *p, v##kind x) { *(unaligned_v##kind *)p = x; }           \
    OUT_OF_LINE v##kind gather_v##kind(const number *p, vi at);                                \
    OUT_OF_LINE v##kind far_gather_v##kind(const number *p, vl at);                            \
    OUT_OF_LINE v##kind load_some_v##kind(const number *p, int64_t stride, int64_t count);     \
    OUT_OF_LINE void store_some_v##kind(number *p, int64_t stride, int64_t count, v##kind x);

#define MEMORY_BODIES(kind, number)                                                            \
    OUT_OF_LINE v##kind gather_v##kind(const number *p, vi at) {                               \
        v##kind r;                                                                             \
        EACH_LANE r[lane] = p[at[lane]];                                                       \
        return r;                                                                              \
    }                                                                                          \
    OUT_OF_LINE v##kind far_gather_v##kind(const number *p, vl at) {                           \
        v##kind r;                                                                             \
        EACH_LANE r[lane] = p[at[lane]];                                                       \
        return r;                                                                              \
    }                                                                                          \
    OUT_OF_LINE v##kind load_some_v##kind(const number *p, int64_t stride, int64_t count) {    \
        v##kind r = {0};                                                                       \
        for (int lane = 0; lane < LANES && lane < count; lane++) r[lane] = p[lane * stride];   \
        return r;                                                                              \
    }                                                                                          \
    OUT_OF_LINE void store_some_v##kind(number *p, int64_t stride, int64_t count, v##kind x) { \
        for (int lane = 0; lane < LANES && lane < count; lane++) p[lane * stride] = x[lane];   \
    }

MEMORY(f, float)
MEMORY(d, double)
MEMORY(i, int32_t)
MEMORY(l, int64_t)

/* One of eight numbers for each lane, by the lowest three bits of `at`. `eight` holds them twice. An
   instruction from AVX2 on. */
INLINE vf of_eight_vf(const float *eight, vi at) {
#if LANES == 8 && defined(__AVX2__) && __has_builtin(__builtin_ia32_permvarsf256)
    return __builtin_ia32_permvarsf256(load_vf(eight), at);
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_permvarsf512_mask)
    return __builtin_ia32_permvarsf512_mask(load_vf(eight), at, load_vf(eight), -1); /* all lanes */
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_permvarsf512)
    return __builtin_ia32_permvarsf512(load_vf(eight), at);
#else
    vf r;
    EACH_LANE r[lane] = eight[at[lane] & 7];
    return r;
#endif
}

/* Truth values: bytes 0 and 1 in memory. */
typedef bytes_of_vb unaligned_bytes __attribute__((aligned(1), may_alias));
INLINE vb load_vb(const uint8_t *p) {
    return -__builtin_convertvector(*(const unaligned_bytes *)p, vi);
}
INLINE void store_vb(uint8_t *p, vb x) {
    *(unaligned_bytes *)p = __builtin_convertvector(x & 1, bytes_of_vb);
}
OUT_OF_LINE vb gather_vb(const uint8_t *p, vi at);
OUT_OF_LINE vb far_gather_vb(const uint8_t *p, vl at);
OUT_OF_LINE vb load_some_vb(const uint8_t *p, int64_t stride, int64_t count);
OUT_OF_LINE void store_some_vb(uint8_t *p, int64_t stride, int64_t count, vb x);

#if RUNTIME_BODIES & FLOAT64_BODIES
MEMORY_BODIES(d, double)
#endif
#if RUNTIME_BODIES & COMMON_BODIES
MEMORY_BODIES(f, float)
MEMORY_BODIES(i, int32_t)
MEMORY_BODIES(l, int64_t)
OUT_OF_LINE vb gather_vb(const uint8_t *p, vi at) {
    vb r;
    EACH_LANE r[lane] = -(int32_t)p[at[lane]];
    return r;
}
OUT_OF_LINE vb far_gather_vb(const uint8_t *p, vl at) {
    vb r;
    EACH_LANE r[lane] = -(int32_t)p[at[lane]];
    return r;
}
OUT_OF_LINE vb load_some_vb(const uint8_t *p, int64_t stride, int64_t count) {
    vb r = {0};
    for (int lane = 0; lane < LANES && lane < count; lane++) r[lane] = -(int32_t)p[lane * stride];
    return r;
}
OUT_OF_LINE void store_some_vb(uint8_t *p, int64_t stride, int64_t count, vb x) {
    for (int lane = 0; lane < LANES && lane < count; lane++) p[lane * stride] = x[lane] & 1;
}
#endif

#endif

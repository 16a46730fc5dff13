/* Every elementwise operation of the table for vectors of every kind, as numbers.h has it for numbers,
   but for the functions of functions.h and doubles.h. */
#ifndef WORKBENCH_OPERATIONS_H
#define WORKBENCH_OPERATIONS_H

#include "vectors.h"

/* x, or b in lanes where it is NaN. */
INLINE vf unless_nan_vf(vf b, vf x) { return where_vf(b != b, b, x); }
INLINE vd unless_nan_vd(vd b, vd x) { return where_vd(__builtin_convertvector(b != b, vi), b, x); }
INLINE vi unless_nan_vi(vi b, vi x) { return (void)b, x; }
INLINE vl unless_nan_vl(vl b, vl x) { return (void)b, x; }

#define MASK(x) (x)
#define TRUTH vb
#define NUMBER vf
#define OF(name) name##_vf
#define ALL(x) all_vf(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#define NUMBER vi
#define OF(name) name##_vi
#define ALL(x) all_vi(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#undef MASK
#define MASK(x) __builtin_convertvector(x, vi) /* of 64-bit lanes */
#define NUMBER vd
#define OF(name) name##_vd
#define ALL(x) all_vd(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#define NUMBER vl
#define OF(name) name##_vl
#define ALL(x) all_vl(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#undef TRUTH
#undef MASK

/* -- Magnitude, quotient, root, floor ---------------------------------------------------------- */

INLINE vf absolute_vf(vf a) { return (vf)((vi)a & INT32_MAX); }
INLINE vd absolute_vd(vd a) { return (vd)((vl)a & INT64_MAX); }
INLINE vi absolute_vi(vi a) { return where_vi(a < 0, -a, a); }
INLINE vl absolute_vl(vl a) { return where_vl(less_vl(a, all_vl(0)), -a, a); }

INLINE vf divide_vf(vf a, vf b) { return a / b; }
INLINE vd divide_vd(vd a, vd b) { return a / b; }

INLINE vf sqrt_vf(vf a) { /* as fused_vf */
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(a);
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_sqrtps512_mask)
    return __builtin_ia32_sqrtps512_mask(a, a, -1, 4);
#elif LANES == 8 && defined(__AVX__) && __has_builtin(__builtin_ia32_sqrtps256)
    return __builtin_ia32_sqrtps256(a);
#elif LANES == 4 && defined(__SSE__) && __has_builtin(__builtin_ia32_sqrtps)
    return __builtin_ia32_sqrtps(a);
#else
    vf r;
    EACH_LANE r[lane] = __builtin_sqrtf(a[lane]);
    return r;
#endif
}
INLINE half_vd sqrt_half_vd(half_vd a) {
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(a);
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_sqrtpd512_mask)
    return __builtin_ia32_sqrtpd512_mask(a, a, -1, 4);
#elif LANES == 8 && defined(__AVX__) && __has_builtin(__builtin_ia32_sqrtpd256)
    return __builtin_ia32_sqrtpd256(a);
#elif LANES == 4 && defined(__SSE2__) && __has_builtin(__builtin_ia32_sqrtpd)
    return __builtin_ia32_sqrtpd(a);
#else
    half_vd r;
    for (int lane = 0; lane < LANES / 2; lane++) r[lane] = __builtin_sqrt(a[lane]);
    return r;
#endif
}
INLINE vd sqrt_vd(vd a) {
    halves_vd x = {a}, r;
    r.half[0] = sqrt_half_vd(x.half[0]);
    r.half[1] = sqrt_half_vd(x.half[1]);
    return r.both;
}

INLINE vf floor_vf(vf a) {
    vf r;
    EACH_LANE r[lane] = __builtin_floorf(a[lane]);
    return r;
}
INLINE vd floor_vd(vd a) {
    vd r;
    EACH_LANE r[lane] = __builtin_floor(a[lane]);
    return r;
}

/* By comparison with infinity, which NaN fails too. */
INLINE vb isfinite_vf(vf a) { return absolute_vf(a) < all_vf(__builtin_inff()); }
INLINE vb isfinite_vd(vd a) { return less_vd(absolute_vd(a), all_vd(__builtin_inf())); }

/* -- Logic ------------------------------------------------------------------------------------- */

INLINE vb logical_and_vb(vb a, vb b) { return a & b; }
INLINE vb logical_or_vb(vb a, vb b) { return a | b; }
INLINE vb logical_not_vb(vb a) { return ~a; }
INLINE vb equal_vb(vb a, vb b) { return ~(a ^ b); }
INLINE vb not_equal_vb(vb a, vb b) { return a ^ b; }

/* -- Whole division ---------------------------------------------------------------------------- */

/* As of numbers. */
#define WHOLE_DIVISION(kind)                                        \
    OUT_OF_LINE v##kind floor_divide_v##kind(v##kind a, v##kind b); \
    OUT_OF_LINE v##kind remainder_v##kind(v##kind a, v##kind b);

WHOLE_DIVISION(i)
WHOLE_DIVISION(l)

#if RUNTIME_BODIES & COMMON_BODIES
/* A processor divides whole numbers one after the other, but doubles side by side. A quotient a / b
   of 32 bits keeps its whole part in them: it is at least 1 / b from the next whole number, and
   rounded by less than 2^-21 / b. What is left shows whether that part is the one below. */
#define DOUBLES(x) __builtin_convertvector(x, vd)
INLINE vi divided_vi(vi a, vi b, vi *left) {
    vi none = b == 0, by = where_vi(none | (b == -1), all_vi(1), b);
    vi quotient = __builtin_convertvector(DOUBLES(a) / DOUBLES(by), vi);
    quotient = where_vi(b == -1, -a, quotient);
    *left = a - quotient * b;
    vi above = (*left != 0) & ((*left ^ b) < 0);
    *left = where_vi(none, all_vi(0), *left + (above & b));
    return where_vi(none, all_vi(0), quotient + above);
}
#undef DOUBLES
OUT_OF_LINE vi floor_divide_vi(vi a, vi b) {
    vi left;
    return divided_vi(a, b, &left);
}
OUT_OF_LINE vi remainder_vi(vi a, vi b) {
    vi left;
    divided_vi(a, b, &left);
    return left;
}
OUT_OF_LINE vl floor_divide_vl(vl a, vl b) {
    vl r;
    for (int lane = 0; lane < LANES; lane++) r[lane] = floor_divide_l(a[lane], b[lane]);
    return r;
}
OUT_OF_LINE vl remainder_vl(vl a, vl b) {
    vl r;
    for (int lane = 0; lane < LANES; lane++) r[lane] = remainder_l(a[lane], b[lane]);
    return r;
}
#endif

/* -- Casts: cast_<to>_<from> ------------------------------------------------------------------- */

#define CAST(to, from)                                                                       \
    INLINE v##to cast_v##to##_v##from(v##from a) { return __builtin_convertvector(a, v##to); }
CAST(f, d)
CAST(f, i)
CAST(f, l)
CAST(d, f)
CAST(d, i)
CAST(d, l)
CAST(i, l)
CAST(l, i)

#define WHOLE(to, from, result, operand, below, inside, above, least, most)                       \
    INLINE v##to cast_v##to##_v##from(v##from a) {                                                \
        vb low = ~MASK_##from(a inside below), high = MASK_##from(a >= above);                    \
        v##to cut = __builtin_convertvector(where_v##from(low | high, all_v##from(0), a), v##to); \
        return where_v##to(low, all_v##to(least), where_v##to(high, all_v##to(most), cut));       \
    }
#define MASK_f(x) (x)
#define MASK_d(x) __builtin_convertvector(x, vi)
ALL_WHOLE(WHOLE)
#undef MASK_f
#undef MASK_d

#define CAST_TRUTH(kind)                                                                       \
    INLINE v##kind cast_v##kind##_vb(vb a) { return __builtin_convertvector(a & 1, v##kind); } \
    INLINE vb cast_vb_v##kind(v##kind a) { return not_equal_v##kind(a, all_v##kind(0)); }
CAST_TRUTH(f)
CAST_TRUTH(d)
CAST_TRUTH(i)
CAST_TRUTH(l)

#endif

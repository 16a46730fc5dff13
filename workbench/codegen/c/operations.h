/* Every elementwise operation of the table for every kind, but for the functions of functions.h and
   doubles.h: arithmetic, comparisons, logic, roots, floor, whole division, casts. */
#ifndef WORKBENCH_OPERATIONS_H
#define WORKBENCH_OPERATIONS_H

#include "vectors.h"

#define MASK(x) (x)
#define TRUTH int
#define NUMBER float
#define OF(name) name##_f
#define ALL(x) all_f(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#define NUMBER double
#define OF(name) name##_d
#define ALL(x) all_d(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#define NUMBER int32_t
#define OF(name) name##_i
#define ALL(x) all_i(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#define NUMBER int64_t
#define OF(name) name##_l
#define ALL(x) all_l(x)
#include "arithmetic.h"
#undef NUMBER
#undef OF
#undef ALL
#undef TRUTH
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

INLINE float absolute_f(float a) { return __builtin_fabsf(a); }
INLINE double absolute_d(double a) { return __builtin_fabs(a); }
INLINE int32_t absolute_i(int32_t a) { return a < 0 ? -a : a; }
INLINE int64_t absolute_l(int64_t a) { return a < 0 ? -a : a; }
INLINE vf absolute_vf(vf a) { return (vf)((vi)a & INT32_MAX); }
INLINE vd absolute_vd(vd a) { return (vd)((vl)a & INT64_MAX); }
INLINE vi absolute_vi(vi a) { return where_vi(a < 0, -a, a); }
INLINE vl absolute_vl(vl a) { return where_vl(less_vl(a, all_vl(0)), -a, a); }

INLINE float divide_f(float a, float b) { return a / b; }
INLINE double divide_d(double a, double b) { return a / b; }
INLINE vf divide_vf(vf a, vf b) { return a / b; }
INLINE vd divide_vd(vd a, vd b) { return a / b; }

INLINE float sqrt_f(float a) { return __builtin_sqrtf(a); }
INLINE double sqrt_d(double a) { return __builtin_sqrt(a); }
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

INLINE float floor_f(float a) { return __builtin_floorf(a); }
INLINE double floor_d(double a) { return __builtin_floor(a); }
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
INLINE int isfinite_f(float a) { return __builtin_fabsf(a) < __builtin_inff(); }
INLINE int isfinite_d(double a) { return __builtin_fabs(a) < __builtin_inf(); }
INLINE vb isfinite_vf(vf a) { return absolute_vf(a) < all_vf(__builtin_inff()); }
INLINE vb isfinite_vd(vd a) { return less_vd(absolute_vd(a), all_vd(__builtin_inf())); }

/* -- Logic ------------------------------------------------------------------------------------- */

INLINE int logical_and_b(int a, int b) { return a & b; }
INLINE int logical_or_b(int a, int b) { return a | b; }
INLINE int logical_not_b(int a) { return !a; }
INLINE int equal_b(int a, int b) { return a == b; }
INLINE int not_equal_b(int a, int b) { return a != b; }
INLINE vb logical_and_vb(vb a, vb b) { return a & b; }
INLINE vb logical_or_vb(vb a, vb b) { return a | b; }
INLINE vb logical_not_vb(vb a) { return ~a; }
INLINE vb equal_vb(vb a, vb b) { return ~(a ^ b); }
INLINE vb not_equal_vb(vb a, vb b) { return a ^ b; }

/* -- Whole division ---------------------------------------------------------------------------- */

/* The quotient rounded down, and a remainder of the divisor's sign. By zero both are 0, and the
   least integer over -1 is itself, as in NumPy; the processor would trap. */
#define WHOLE_DIVISION(kind, number)                                     \
    INLINE number floor_divide_##kind(number a, number b) {              \
        if (b == 0) return 0;                                            \
        if (b == -1) return -a;                                          \
        number quotient = a / b;                                         \
        return quotient - (a % b != 0 && (a < 0) != (b < 0));            \
    }                                                                    \
    INLINE number remainder_##kind(number a, number b) {                 \
        if (b == 0 || b == -1) return 0;                                 \
        number left = a % b;                                             \
        return left != 0 && (left < 0) != (b < 0) ? left + b : left;     \
    }                                                                    \
    OUT_OF_LINE v##kind floor_divide_v##kind(v##kind a, v##kind b);      \
    OUT_OF_LINE v##kind remainder_v##kind(v##kind a, v##kind b);

WHOLE_DIVISION(i, int32_t)
WHOLE_DIVISION(l, int64_t)

#if defined(RUNTIME_BODIES)
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

#define CAST(to, from, result, operand)                                      \
    INLINE result cast_##to##_##from(operand a) { return (result)a; }        \
    INLINE v##to cast_v##to##_v##from(v##from a) { return __builtin_convertvector(a, v##to); }
CAST(f, d, float, double)
CAST(f, i, float, int32_t)
CAST(f, l, float, int64_t)
CAST(d, f, double, float)
CAST(d, i, double, int32_t)
CAST(d, l, double, int64_t)
CAST(i, l, int32_t, int64_t)
CAST(l, i, int64_t, int32_t)

/* From floating point: cut off, what is beyond becomes the nearest integer there is, and NaN the
   least one (as in NumPy on x86-64). C leaves all that undefined, and processors differ. `above` is
   the first number beyond; `below` is exact or the last one beyond. */
#define WHOLE(to, from, result, operand, below, inside, above, least, most)                       \
    INLINE result cast_##to##_##from(operand a) {                                                 \
        if (!(a inside below)) return least;                                                      \
        return a >= above ? most : (result)a;                                                     \
    }                                                                                             \
    INLINE v##to cast_v##to##_v##from(v##from a) {                                                \
        vb low = ~MASK_##from(a inside below), high = MASK_##from(a >= above);                    \
        v##to cut = __builtin_convertvector(where_v##from(low | high, all_v##from(0), a), v##to); \
        return where_v##to(low, all_v##to(least), where_v##to(high, all_v##to(most), cut));       \
    }
#define MASK_f(x) (x)
#define MASK_d(x) __builtin_convertvector(x, vi)
WHOLE(i, f, int32_t, float, -0x1p31f, >=, 0x1p31f, INT32_MIN, INT32_MAX)
WHOLE(l, f, int64_t, float, -0x1p63f, >=, 0x1p63f, INT64_MIN, INT64_MAX)
WHOLE(i, d, int32_t, double, -0x1.00000002p31, >, 0x1p31, INT32_MIN, INT32_MAX)
WHOLE(l, d, int64_t, double, -0x1p63, >=, 0x1p63, INT64_MIN, INT64_MAX)
#undef MASK_f
#undef MASK_d

#define CAST_TRUTH(kind, number)                                                               \
    INLINE number cast_##kind##_b(int a) { return (number)a; }                                 \
    INLINE v##kind cast_v##kind##_vb(vb a) { return __builtin_convertvector(a & 1, v##kind); } \
    INLINE int cast_b_##kind(number a) { return a != 0; }                                      \
    INLINE vb cast_vb_v##kind(v##kind a) { return not_equal_v##kind(a, all_v##kind(0)); }
CAST_TRUTH(f, float)
CAST_TRUTH(d, double)
CAST_TRUTH(i, int32_t)
CAST_TRUTH(l, int64_t)

#endif

/* Numbers: the elementwise operations of the table for one number of each kind. A kind is named by a
   letter:

       f float   d double   i int32_t   l int64_t   b a truth value, 0 or 1 in an int

   vectors.h and operations.h have the same names with a v for LANES numbers at once. */
#ifndef WORKBENCH_NUMBERS_H
#define WORKBENCH_NUMBERS_H

#include "machine.h"

INLINE float all_f(float x) { return x; }
INLINE double all_d(double x) { return x; }
INLINE int32_t all_i(int32_t x) { return x; }
INLINE int64_t all_l(int64_t x) { return x; }
INLINE int all_b(int x) { return x; }

/* where(condition, a, b). */
INLINE float where_f(int m, float a, float b) { return m ? a : b; }
INLINE double where_d(int m, double a, double b) { return m ? a : b; }
INLINE int32_t where_i(int m, int32_t a, int32_t b) { return m ? a : b; }
INLINE int64_t where_l(int m, int64_t a, int64_t b) { return m ? a : b; }
INLINE int where_b(int m, int a, int b) { return m ? a : b; }

INLINE int any_b(int m) { return m; }

/* x, or b where it is NaN: machine.h has it for floats. */
INLINE int32_t unless_nan_i(int32_t b, int32_t x) { return (void)b, x; }
INLINE int64_t unless_nan_l(int64_t b, int64_t x) { return (void)b, x; }

/* a * b + c, rounded once. */
INLINE float fused_f(float a, float b, float c) { return BUILTIN(fmaf)(a, b, c); }
INLINE double fused_d(double a, double b, double c) { return BUILTIN(fma)(a, b, c); }

/* One of eight numbers, by the lowest three bits of `at`. */
INLINE float of_eight_f(const float *eight, int32_t at) { return eight[at & 7]; }

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
#undef MASK

/* -- Magnitude, quotient, root, floor ---------------------------------------------------------- */

INLINE float absolute_f(float a) { return BUILTIN(fabsf)(a); }
INLINE double absolute_d(double a) { return BUILTIN(fabs)(a); }
INLINE int32_t absolute_i(int32_t a) { return a < 0 ? -a : a; }
INLINE int64_t absolute_l(int64_t a) { return a < 0 ? -a : a; }

INLINE float divide_f(float a, float b) { return a / b; }
INLINE double divide_d(double a, double b) { return a / b; }
INLINE float sqrt_f(float a) { return BUILTIN(sqrtf)(a); }
INLINE double sqrt_d(double a) { return BUILTIN(sqrt)(a); }
INLINE float floor_f(float a) { return BUILTIN(floorf)(a); }
INLINE double floor_d(double a) { return BUILTIN(floor)(a); }

/* By comparison with infinity, which NaN fails too. */
INLINE int isfinite_f(float a) { return BUILTIN(fabsf)(a) < INFINITE_F; }
INLINE int isfinite_d(double a) { return BUILTIN(fabs)(a) < INFINITE_D; }

/* -- Logic ------------------------------------------------------------------------------------- */

INLINE int logical_and_b(int a, int b) { return a & b; }
INLINE int logical_or_b(int a, int b) { return a | b; }
INLINE int logical_not_b(int a) { return !a; }
INLINE int equal_b(int a, int b) { return a == b; }
INLINE int not_equal_b(int a, int b) { return a != b; }

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
    }

WHOLE_DIVISION(i, int32_t)
WHOLE_DIVISION(l, int64_t)
#undef WHOLE_DIVISION

/* -- Casts: cast_<to>_<from> ------------------------------------------------------------------- */

#define CAST(to, from, result, operand) \
    INLINE result cast_##to##_##from(operand a) { return (result)a; }
CAST(f, d, float, double)
CAST(f, i, float, int32_t)
CAST(f, l, float, int64_t)
CAST(d, f, double, float)
CAST(d, i, double, int32_t)
CAST(d, l, double, int64_t)
CAST(i, l, int32_t, int64_t)
CAST(l, i, int64_t, int32_t)
#undef CAST

/* From floating point: cut off, what is beyond becomes the nearest integer there is, and NaN the
   least one (as in NumPy on x86-64). C leaves all that undefined, and processors differ. `above` is
   the first number beyond; `below` is exact or the last one beyond. */
#define WHOLE(to, from, result, operand, below, inside, above, least, most) \
    INLINE result cast_##to##_##from(operand a) {                           \
        if (!(a inside below)) return least;                                \
        return a >= above ? most : (result)a;                               \
    }
#define ALL_WHOLE(of)                                                             \
    of(i, f, int32_t, float, -0x1p31f, >=, 0x1p31f, INT32_MIN, INT32_MAX)         \
    of(l, f, int64_t, float, -0x1p63f, >=, 0x1p63f, INT64_MIN, INT64_MAX)         \
    of(i, d, int32_t, double, -0x1.00000002p31, >, 0x1p31, INT32_MIN, INT32_MAX)  \
    of(l, d, int64_t, double, -0x1p63, >=, 0x1p63, INT64_MIN, INT64_MAX)
ALL_WHOLE(WHOLE)
#undef WHOLE

#define CAST_TRUTH(kind, number)                               \
    INLINE number cast_##kind##_b(int a) { return (number)a; } \
    INLINE int cast_b_##kind(number a) { return a != 0; }
CAST_TRUTH(f, float)
CAST_TRUTH(d, double)
CAST_TRUTH(i, int32_t)
CAST_TRUTH(l, int64_t)
#undef CAST_TRUTH

#endif

/* The arithmetic that all kinds of numbers have, as NumPy does it. A template: numbers.h and
   operations.h include it once for each kind, with

       NUMBER    the type             OF(name)   the function's name for this kind
       TRUTH     its truth values     ALL(x)     the number x in all lanes
       MASK(x)   truth values of a comparison

   Integers wrap around (-fwrapv). The first operand wins where both are equal. */

INLINE NUMBER OF(add)(NUMBER a, NUMBER b) { return a + b; }
INLINE NUMBER OF(subtract)(NUMBER a, NUMBER b) { return a - b; }
INLINE NUMBER OF(multiply)(NUMBER a, NUMBER b) { return a * b; }
INLINE NUMBER OF(negative)(NUMBER a) { return -a; }

INLINE TRUTH OF(equal)(NUMBER a, NUMBER b) { return MASK(a == b); }
INLINE TRUTH OF(not_equal)(NUMBER a, NUMBER b) { return MASK(a != b); }
INLINE TRUTH OF(less)(NUMBER a, NUMBER b) { return MASK(a < b); }
INLINE TRUTH OF(less_equal)(NUMBER a, NUMBER b) { return MASK(a <= b); }
INLINE TRUTH OF(greater)(NUMBER a, NUMBER b) { return MASK(a > b); }
INLINE TRUTH OF(greater_equal)(NUMBER a, NUMBER b) { return MASK(a >= b); }

/* A NaN on either side is the result; C's fmin and fmax would drop it. The inner choice, which takes
   a NaN of a, is one instruction of many processors: a jump would often be predicted wrongly. */
INLINE NUMBER OF(minimum)(NUMBER a, NUMBER b) {
    return OF(unless_nan)(b, OF(where)(MASK(b < a), b, a));
}
INLINE NUMBER OF(maximum)(NUMBER a, NUMBER b) {
    return OF(unless_nan)(b, OF(where)(MASK(b > a), b, a));
}

/* -1, 0, 1 or NaN; the sign of -0 is 0. */
INLINE NUMBER OF(sign)(NUMBER a) {
    NUMBER otherwise = OF(where)(MASK(a == 0), ALL(0), a);
    return OF(where)(MASK(a > 0), ALL(1), OF(where)(MASK(a < 0), ALL(-1), otherwise));
}

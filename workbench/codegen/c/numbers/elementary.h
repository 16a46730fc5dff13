/* exp, log, log1p, tanh, sin, cos and power of float32. A template: it is included for
   one number and for vectors, which therefore have the same bits. It is given

       F, I       the types of floats and int32_t       OF(name), INT(name)  functions of them
       D          that of doubles                       WIDE(name)           functions of them
       M, ANY(m)  truth values, true if one is          WIDEN(x), NARROW(x)  between F and D
       BITS(x), FLOAT(i), DOUBLE(l), WIDE_BITS(d)       the same bits as another type
       TABLE(name, list), ENTRY(name, k)                constants, as operands in memory
       EIGHT(name, list), OF(of_eight)(name, i)         eight, chosen by the lowest bits of i
       EACH_OF_TWO                                      for k below `count`, written out
       NEAR_QUOTIENT(a, b)                              a / b, for b not far from 1

   All numbers have float32's full range, subnormal ones, zeros with their sign, infinities and NaN.
   Sums of float products are fused where the text says so and nowhere else, and power's doubles are
   not: the bits are the same under every compiler and on every processor.

   The coefficients were found for this file by Remez's exchange in extended precision, rounded to
   float32 one after the other, the lowest power first, and the rest fitted again each time. "Error"
   is that of the rounded polynomial, relative to the function; one ulp is 2^-24 to 2^-23. Measured
   errors of the whole functions over all floats: tests/codegen/c/recorded.jsonl. */

/* Adding this rounds to a whole number, which then is in the lowest bits: |x| < 2^22. */
#define SHIFTER 0x1.8p23f
#define WIDE_SHIFTER 0x1.8p52
/* ln 2 in two parts, for Cody and Waite's reduction. */
#define LN2 0x1.62e43p-1f
#define LN2_REST -0x1.05c61p-29f

/* a * b + c with constants. */
#define TERM(sum, x, c) OF(fused)(sum, x, OF(all)(c))
#define TIMES(a, c, b) OF(fused)(a, OF(all)(c), b)

/* e^r for |r| <= 0.3475: 1 + r + r^2 q(r), q of degree 4. Error 2^-28.2. */
INLINE F OF(exp_near_zero)(F r) {
    F q = OF(all)(0x1.6ac324p-10f);
    q = TERM(q, r, 0x1.123ec2p-7f);
    q = TERM(q, r, 0x1.55585p-5f);
    q = TERM(q, r, 0x1.55548ap-3f);
    q = TERM(q, r, 0x1.fffffcp-2f);
    q = TERM(q, r, 1.0f);
    return TERM(q, r, 1.0f);
}

/* e^x = 2^n e^r with n = x / ln 2 rounded. 2^n in two factors, for it may be beyond float32 where
   the result is not: only the last product rounds. Outside the limits the result is 0 or
   infinity. */
INLINE F OF(exp)(F x) {
    F inside = OF(where)(x > 89.0f, OF(all)(89.0f), x);
    inside = OF(where)(inside < -104.0f, OF(all)(-104.0f), inside);
    F shifted = TIMES(inside, 0x1.715476p+0f, OF(all)(SHIFTER));
    F n = shifted - SHIFTER;
    F r = TIMES(n, -LN2, inside);
    r = TIMES(n, -LN2_REST, r);
    I exponent = BITS(shifted) - BITS(OF(all)(SHIFTER));
    I half = exponent >> 1;
    F first = FLOAT((half + 127) << 23), second = FLOAT((exponent - half + 127) << 23);
    return OF(exp_near_zero)(r) * first * second;
}

/* k ln 2 + log(1 + f) for f between sqrt(1/2) - 1 and sqrt(2) - 1:
   f - f^2 / 2 + f^3 p(f), p of degree 8. Error 2^-29.2. The small terms are added first. */
INLINE F OF(log_sum)(F k, F f) {
    F p = OF(all)(0x1.b3b8b2p-5f);
    p = TERM(p, f, -0x1.bea2b2p-4f);
    p = TERM(p, f, 0x1.f01a2ep-4f);
    p = TERM(p, f, -0x1.011138p-3f);
    p = TERM(p, f, 0x1.23025cp-3f);
    p = TERM(p, f, -0x1.552e42p-3f);
    p = TERM(p, f, 0x1.99a544p-3f);
    p = TERM(p, f, -0x1.000072p-2f);
    p = TERM(p, f, 0x1.555548p-2f);
    F square = f * f;
    F rest = TIMES(square, -0.5f, square * f * p);
    rest = TIMES(k, LN2_REST, rest);
    return TIMES(k, LN2, f + rest);
}

/* x = 2^k m with m between sqrt(1/2) and sqrt(2): by integer arithmetic on the bits of a positive
   normal number. Returns m. */
INLINE F OF(split)(F x, I *k) {
    I beyond = BITS(x) - 0x3f3504f3; /* the bits of sqrt(1/2) */
    *k = beyond >> 23;
    return FLOAT((beyond & 0x007fffff) + 0x3f3504f3);
}

/* The same for a positive number that may be subnormal. */
INLINE F OF(split_any)(F x, I *k) {
    M small = x < 0x1p-126f;
    F m = OF(split)(OF(where)(small, x * 0x1p23f, x), k);
    *k = *k - INT(where)(small, INT(all)(23), INT(all)(0));
    return m;
}

INLINE F OF(log)(F x) {
    I k;
    F m = OF(split_any)(x, &k);
    F r = OF(log_sum)(TO_FLOAT(k), m - 1.0f);
    r = OF(where)(x == 0.0f, OF(all)(-INFINITE_F), r);
    r = OF(where)((x < 0.0f) | (x != x), OF(all)(NAN_F), r);
    return OF(where)(x == INFINITE_F, x, r);
}

/* log(1 + x): the sum is rounded, and what it lost (Knuth's two-sum) is added to the argument of
   the polynomial. Beyond 2^25 that is nothing, and its scale would overflow. */
INLINE F OF(log1p)(F x) {
    I k;
    F u = x + 1.0f;
    F v = u - 1.0f;
    F lost = (1.0f - (u - v)) + (x - v);
    F m = OF(split)(u, &k);
    F scaled = OF(where)(x < 0x1p25f, lost * FLOAT((127 - k) << 23), OF(all)(0.0f));
    F r = OF(log_sum)(TO_FLOAT(k), (m - 1.0f) + scaled);
    r = OF(where)(OF(absolute)(x) < 0x1p-24f, x, r); /* -0 too */
    r = OF(where)(x == -1.0f, OF(all)(-INFINITE_F), r);
    r = OF(where)((x < -1.0f) | (x != x), OF(all)(NAN_F), r);
    return OF(where)(x == INFINITE_F, x, r);
}

/* tanh(c + r) = t + (1 - t^2) w / (1 + t w) with t = tanh c and w = tanh r: c = n TANH_STEP is next
   to |x|, so |r| <= 0.6187, and w = r + r^3 p(r^2), p of degree 4, error 2^-27.8. For n = 0 that is
   w itself; from there on t is a large part of the result, and what is added to it small.
   TANH_STEP is one of few floats whose multiples all have a tanh that is a float: its seven are off
   by 0.05 ulp at most, so neighbouring pieces meet, and 1 - t^2 is as exact as t. Beyond the last
   piece, from 9.28 on, the result is 1, as it is at TANH_MOST. The order was tried over all floats. */
#define TANH_STEP 0x1.3cc0b6p+0f
#define TANH_MOST 9.25f
#define TANH_CONSTANTS(of)                                                                         \
    of(TANH_MOST) of(1.0f / TANH_STEP) of(SHIFTER) of(-TANH_STEP) of(1.0f) of(-0x1.786feep-8f)     \
    of(0x1.52b5acp-6f) of(-0x1.b851ecp-5f) of(0x1.1107ccp-3f) of(-0x1.555536p-2f)
#define TANH_STEPS(of)                                                                             \
    of(0.0f) of(0x1.b07afap-1f) of(0x1.f8cad6p-1f) of(0x1.ff63a4p-1f) of(0x1.fff2d4p-1f)           \
    of(0x1.fffee4p-1f) of(0x1.ffffe8p-1f) of(0x1.fffffep-1f)
/* Of `count` numbers, one or two. Each step of the method needs the one before it, which takes longer
   than two steps: so those of two numbers take turns, which halves what is waited for. */
INLINE void OF(tanh_of)(F *x, int count) {
    TABLE(constants, TANH_CONSTANTS)
    EIGHT(steps, TANH_STEPS)
    F most = ENTRY(constants, 0), shifter = ENTRY(constants, 2), one = ENTRY(constants, 4);
    F r[2], t[2], p[2], z[2], w[2];
    EACH_OF_TWO {
        F a = OF(absolute)(x[k]);
        r[k] = OF(where)(a > most, most, a);
    }
    EACH_OF_TWO t[k] = OF(fused)(r[k], ENTRY(constants, 1), shifter);
    EACH_OF_TWO r[k] = OF(fused)(t[k] - shifter, ENTRY(constants, 3), r[k]);
    EACH_OF_TWO t[k] = OF(of_eight)(steps, BITS(t[k]));
    EACH_OF_TWO z[k] = r[k] * r[k];
    EACH_OF_TWO p[k] = OF(fused)(ENTRY(constants, 5), z[k], ENTRY(constants, 6));
    EACH_OF_TWO p[k] = OF(fused)(p[k], z[k], ENTRY(constants, 7));
    EACH_OF_TWO p[k] = OF(fused)(p[k], z[k], ENTRY(constants, 8));
    EACH_OF_TWO p[k] = OF(fused)(p[k], z[k], ENTRY(constants, 9));
    EACH_OF_TWO w[k] = OF(fused)(r[k] * z[k], p[k], r[k]);
    EACH_OF_TWO z[k] = OF(fused)(t[k], w[k], one); /* between 0.44 and 1.56 */
    EACH_OF_TWO w[k] = NEAR_QUOTIENT(OF(fused)(-t[k], t[k], one) * w[k], z[k]);
    EACH_OF_TWO x[k] = FLOAT(BITS(t[k] + w[k]) | (BITS(x[k]) & INT32_MIN));
}
INLINE F OF(tanh)(F x) {
    OF(tanh_of)(&x, 1);
    return x;
}

/* sin(r + quadrant * pi/2) for |r| <= pi/4: the lowest bit of `quadrant` chooses between sin and
   cos of r, the next one negates. sin r = r + r^3 s(r^2), s of degree 2, error 2^-28;
   cos r = 1 - r^2 / 2 + r^4 c(r^2), c of degree 2, error 2^-33. */
INLINE F OF(sin_of_parts)(F r, I quadrant) {
    F z = r * r;
    F s = OF(all)(-0x1.9955b6p-13f);
    s = TERM(s, z, 0x1.11077cp-7f);
    s = TERM(s, z, -0x1.555546p-3f);
    s = OF(fused)(r * z, s, r);
    F c = OF(all)(0x1.99e0eep-16f);
    c = TERM(c, z, -0x1.6c0c1ap-10f);
    c = TERM(c, z, 0x1.55554ap-5f);
    c = TERM(c, z, -0.5f);
    c = TERM(c, z, 1.0f);
    F r_abs = OF(where)((quadrant & 1) != 0, c, s);
    return FLOAT(BITS(r_abs) ^ ((quadrant & 2) << 30));
}

/* |x| = r + quadrant * pi/2. Cody and Waite's reduction with pi/2 in three parts of 24 bits: up to
   2^15 the first difference is exact, and each further one rounds once. Beyond it, and only where a
   lane is, reduce_large. */
INLINE F OF(reduced)(F a, I *quadrant) {
    F shifted = TIMES(a, 0x1.45f306p-1f, OF(all)(SHIFTER));
    F n = shifted - SHIFTER;
    F r = TIMES(n, -0x1.921fb6p+0f, a);
    r = TIMES(n, 0x1.777a5cp-25f, r);
    r = TIMES(n, 0x1.ee59dap-50f, r);
    *quadrant = BITS(shifted);
    if (ANY(a > 0x1p15f)) OF(reduce_large)(a, &r, quadrant);
    return r;
}

INLINE F OF(sin)(F x) {
    I quadrant;
    F r = OF(reduced)(OF(absolute)(x), &quadrant);
    return FLOAT(BITS(OF(sin_of_parts)(r, quadrant)) ^ (BITS(x) & INT32_MIN));
}

INLINE F OF(cos)(F x) {
    I quadrant;
    F r = OF(reduced)(OF(absolute)(x), &quadrant);
    return OF(sin_of_parts)(r, quadrant + 1);
}

/* |x|^y = 2^(y log2 |x|) in doubles, rounded at the end: y log2 |x| is up to 150, which would cost
   a float seven of its bits. log2 m = 2 atanh(s) / ln 2 with s = (m - 1) / (m + 1), |s| <= 0.1716:
   s + s^3 p(s^2), p of degree 4, error 2^-45. 2^g = 1 + g q(g) for |g| <= 1/2, q of degree 7,
   error 2^-35. So the float is nearly always the nearest one. */
INLINE F OF(magnitude_of_power)(F a, F y) {
    I k;
    F split = OF(split_any)(a, &k);
    D m = WIDEN(split);
    D s = (m - 1.0) / (m + 1.0), z = s * s;
    D p = z * 0x1.9116660fac8c8p-4 + 0x1.c62b069b05e99p-4;
    p = p * z + 0x1.249412163250ep-3;
    p = p * z + 0x1.999996a8f19e7p-3;
    p = p * z + 0x1.555555561e614p-2;
    D log2 = (s + s * z * p) * 0x1.71547652b82fep+1 + WIDEN(TO_FLOAT(k));
    log2 = WIDE(where)(a == INFINITE_F, WIDE(all)(INFINITE_D), log2);
    log2 = WIDE(where)(a == 0.0f, WIDE(all)(-INFINITE_D), log2);

    D t = WIDEN(y) * log2;
    t = WIDE(minimum)(WIDE(maximum)(t, WIDE(all)(-160.0)), WIDE(all)(140.0));
    D shifted = t + WIDE_SHIFTER;
    D g = t - (shifted - WIDE_SHIFTER);
    D q = g * 0x1.0b3ea271dd062p-19 + 0x1.01f41107a524dp-16;
    q = q * g + 0x1.425e4c72821e8p-13;
    q = q * g + 0x1.5d856c1323c3ep-10;
    q = q * g + 0x1.3b2b18dda0553p-7;
    q = q * g + 0x1.c6b08f948f4e6p-5;
    q = q * g + 0x1.ebfbdfb8a5bd8p-3;
    q = q * g + 0x1.62e42feec51dbp-1;
    D scale = DOUBLE((WIDE_BITS(shifted) << 52) + INT64_C(0x3ff0000000000000));
    return NARROW((q * g + 1.0) * scale);
}

/* The signs, zeros, infinities and NaN of C's powf. */
INLINE F OF(power_inline)(F x, F y) {
    F a = OF(absolute)(x), nan = OF(all)(NAN_F);
    F r = OF(where)(a == 1.0f, OF(all)(1.0f), OF(magnitude_of_power)(a, y));
    F half = y * 0.5f; /* a subnormal y is no whole number either way */
    M whole = OF(floor)(y) == y, odd = whole & (OF(floor)(half) != half);
    r = FLOAT(BITS(r) ^ INT(where)(odd, BITS(x) & INT32_MIN, INT(all)(0)));
    M fraction = OF(floor)(y) != y;
    r = OF(where)((x < 0.0f) & (a != INFINITE_F) & fraction, nan, r);
    r = OF(where)((x != x) | (y != y), nan, r);
    return OF(where)((y == 0.0f) | (x == 1.0f), OF(all)(1.0f), r);
}

#undef SHIFTER
#undef WIDE_SHIFTER
#undef LN2
#undef LN2_REST
#undef TERM
#undef TIMES
#undef TANH_SMALL
#undef TANH_CONSTANTS

/* Standard normal numbers by the inverse distribution function of (n + 1/2) 2^-24, in doubles. Wichura,
   "Algorithm AS 241: the percentage points of the normal distribution" (Applied Statistics 37, 1988),
   PPND16, relative error 1e-16, in the order of operations of philox.py. Its third region is never
   reached: the smallest p is 2^-25. A template: it is included for one number and for vectors, which
   therefore have the same bits. It is given

       D, W                 the types of doubles and uint64_t         OF(name)  the function's name
       ABREAST              how many of them are computed side by side
       EACH                 a loop over them, `at` from 0
       WIDE_BITS(x), DOUBLE(w)                  the same bits as the other type
       ALL(c)                                   the constant c in all lanes
       CHOSEN(condition, a, b), ROOT(x)         a where the condition holds, else b; square root

   Each step is made for all that are computed together: it waits for the one before, and a processor
   looks too few instructions ahead to find the next number's. */

/* log p for p >= 2^-25, to 1e-16: of our own, for libm's differ. p = 2^k m with m between sqrt(1/2)
   and sqrt(2), log m = 2 atanh(s) with s = (m - 1) / (m + 1): s + s^3 q(s^2), q of degree 6,
   error 2^-53 of s^2. */
INLINE void OF(logs_of_parts)(const D *p, D *logs) {
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd); /* the bits of sqrt(1/2) */
    D k[ABREAST], s[ABREAST], z[ABREAST], q[ABREAST];
    EACH {
        W beyond = WIDE_BITS(p[at]) - root;
        /* The number with these bits is 2^52 + 64 + k: AVX2 converts no 64-bit numbers. */
        W exponent = (beyond + (UINT64_C(64) << 52)) >> 52 | UINT64_C(0x4330000000000000);
        D m = DOUBLE((beyond & UINT64_C(0x000fffffffffffff)) + root);
        k[at] = DOUBLE(exponent) - (0x1p52 + 64.0);
        s[at] = (m - 1.0) / (m + 1.0);
    }
    EACH z[at] = s[at] * s[at];
    EACH q[at] = z[at] * 0x1.db1bdacb883dcp-4 + 0x1.28232dd0e1ce2p-4;
    EACH q[at] = q[at] * z[at] + 0x1.75183c325269ep-4;
    EACH q[at] = q[at] * z[at] + 0x1.c718d76c2b2a0p-4;
    EACH q[at] = q[at] * z[at] + 0x1.24924da826320p-3;
    EACH q[at] = q[at] * z[at] + 0x1.9999999462dbfp-3;
    EACH q[at] = q[at] * z[at] + 0x1.5555555556565p-2;
    EACH {
        D rest = 2.0 * s[at] * z[at] * q[at] + k[at] * 0x1.abc9e3b39803fp-56; /* ln 2 in two parts */
        logs[at] = k[at] * 0x1.62e42fefa39efp-1 + (2.0 * s[at] + rest);
    }
}

/* Of the numbers n. The centre has 85 of 100 draws, so that every second vector has a lane in the
   tails: no branch could be foretold. Both are ratios of polynomials of the same degrees, so that each
   lane's coefficients are chosen, and one ratio is computed. */
INLINE void OF(inverse_normal)(const D *n, D *numbers) {
    static const double in_centre[2][8] = {
        {3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
         3.3430575583588128105e4, 2.5090809287301226727e3},
        {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
         2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
         5.2264952788528545610e3}};
    static const double in_tails[2][8] = {
        {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
         3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
         2.27238449892691845833e-2, 7.74545014278341407640e-4},
        {1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
         1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    const uint64_t sign = UINT64_C(1) << 63;
    D q[ABREAST], x[ABREAST], above[ABREAST], below[ABREAST];
    W centre[ABREAST];
    EACH {
        D p = (n[at] + 0.5) * 0x1p-24;
        q[at] = p - 0.5;
        centre[at] = (W)(DOUBLE(WIDE_BITS(q[at]) & ~sign) <= 0.425);
        x[at] = CHOSEN(q[at] < 0.0, p, 1.0 - p);
    }
    OF(logs_of_parts)(x, x);
    EACH x[at] = CHOSEN(centre[at], 0.180625 - q[at] * q[at], ROOT(-x[at]) - 1.6);
#define COEFFICIENT(of, k) CHOSEN(centre[at], ALL(in_centre[of][k]), ALL(in_tails[of][k]))
    EACH above[at] = COEFFICIENT(0, 7), below[at] = COEFFICIENT(1, 7);
    for (int k = 6; k >= 0; k--) {
        EACH above[at] = above[at] * x[at] + COEFFICIENT(0, k);
        EACH below[at] = below[at] * x[at] + COEFFICIENT(1, k);
    }
#undef COEFFICIENT
    EACH {
        D ratio = above[at] / below[at];
        D tail = DOUBLE((WIDE_BITS(ratio) & ~sign) | (WIDE_BITS(q[at]) & sign));
        numbers[at] = CHOSEN(centre[at], ratio * q[at], tail);
    }
}

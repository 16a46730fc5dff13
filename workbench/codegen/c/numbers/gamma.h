/* The logarithm of the gamma function of x > 0, and its first two derivatives: digamma and trigamma. A
   template of doubles: it is included for one number and for vectors, and float32 numbers take this way
   too, rounded at the end, so that all have the same bits. It is given what elementary.h is.

   Below 10 by the recurrence from x + 10, beyond it by the asymptotic series, to its seventh term
   (Abramowitz & Stegun 1964, 6.1.15, 6.3.5, 6.1.40, 6.3.18 and 6.4.12): at 10 what is left out is
   below 2^-53 of each. The meaning on arrays is `program/operations/gamma.py`. */

/* x = 2^k m with m between sqrt(1/2) and sqrt(2), log m = 2 atanh(s) with s = (m - 1) / (m + 1): s + s^3
   q(s^2), q of degree 6, error 2^-53 of s^2 (as in inverse_normal.h). For positive numbers. */
INLINE D WIDE(log_of_any)(D x) {
    const int64_t root = INT64_C(0x3fe6a09e667f3bcd); /* the bits of sqrt(1/2) */
    M small = WIDE(less)(x, WIDE(all)(0x1p-1022));
    D normal = WIDE(where)(small, x * 0x1p54, x);
    /* The number with these bits is 2^52 + 1024 + k: AVX2 converts no 64-bit numbers. */
    D k = DOUBLE((((WIDE_BITS(normal) - root + (INT64_C(1024) << 52)) >> 52) |
                  INT64_C(0x4330000000000000)));
    k = k - (0x1p52 + 1024.0) - WIDE(where)(small, WIDE(all)(54.0), WIDE(all)(0.0));
    D m = DOUBLE(((WIDE_BITS(normal) - root) & INT64_C(0x000fffffffffffff)) + root);
    D s = (m - 1.0) / (m + 1.0), z = s * s;
    D q = z * 0x1.db1bdacb883dcp-4 + 0x1.28232dd0e1ce2p-4;
    q = q * z + 0x1.75183c325269ep-4;
    q = q * z + 0x1.c718d76c2b2a0p-4;
    q = q * z + 0x1.24924da826320p-3;
    q = q * z + 0x1.9999999462dbfp-3;
    q = q * z + 0x1.5555555556565p-2;
    D rest = 2.0 * s * z * q + k * 0x1.abc9e3b39803fp-56; /* ln 2 in two parts */
    D value = k * 0x1.62e42fefa39efp-1 + (2.0 * s + rest);
    return WIDE(where)(WIDE(equal)(x, WIDE(all)(INFINITE_D)), x, value);
}

/* The value for x > 0, that at 0, and NaN below it and of NaN. */
INLINE D WIDE(of_positive)(D x, D value, double at_zero) {
    D other = WIDE(where)(WIDE(equal)(x, WIDE(all)(0.0)), WIDE(all)(at_zero), WIDE(all)(NAN_D));
    return WIDE(where)(WIDE(greater)(x, WIDE(all)(0.0)), value, other);
}

INLINE D WIDE(lgamma_inline)(D x) {
    M small = WIDE(less)(x, WIDE(all)(10.0));
    D z = WIDE(where)(small, x + 10.0, x), w = 1.0 / (z * z), p = x;
    for (int k = 1; k < 10; k++) p = p * (x + (double)k);
    D q = w * (1.0 / 156.0) - 691.0 / 360360.0;
    q = q * w + 1.0 / 1188.0;
    q = q * w - 1.0 / 1680.0;
    q = q * w + 1.0 / 1260.0;
    q = q * w - 1.0 / 360.0;
    q = (q * w + 1.0 / 12.0) / z;
    D value = (z - 0.5) * (WIDE(log_of_any)(z) - 1.0) + (0.41893853320467274 + q);
    value = value - WIDE(where)(small, WIDE(log_of_any)(p), WIDE(all)(0.0));
    M zero = WIDE(equal)(x, WIDE(all)(1.0)) | WIDE(equal)(x, WIDE(all)(2.0));
    value = WIDE(where)(zero, WIDE(all)(0.0), value);
    return WIDE(of_positive)(x, value, INFINITE_D);
}

INLINE D WIDE(digamma_inline)(D x) {
    M small = WIDE(less)(x, WIDE(all)(10.0));
    D z = WIDE(where)(small, x + 10.0, x), w = 1.0 / (z * z);
    D p = x, slope = WIDE(all)(1.0); /* of the product x (x + 1) …, and of its derivative */
    for (int k = 1; k < 10; k++) slope = slope * (x + (double)k) + p, p = p * (x + (double)k);
    D q = w * (1.0 / 12.0) - 691.0 / 32760.0;
    q = q * w + 1.0 / 132.0;
    q = q * w - 1.0 / 240.0;
    q = q * w + 1.0 / 252.0;
    q = q * w - 1.0 / 120.0;
    q = q * w + 1.0 / 12.0;
    D value = WIDE(log_of_any)(z) - 0.5 / z - q * w;
    value = value - WIDE(where)(small, slope / p, WIDE(all)(0.0));
    return WIDE(of_positive)(x, value, -INFINITE_D);
}

INLINE D WIDE(trigamma_inline)(D x) {
    M small = WIDE(less)(x, WIDE(all)(10.0));
    D z = WIDE(where)(small, x + 10.0, x), w = 1.0 / (z * z), sum = WIDE(all)(0.0);
    for (int k = 9; k >= 0; k--) {
        D r = 1.0 / (x + (double)k);
        sum = sum + r * r;
    }
    D q = w * (7.0 / 6.0) - 691.0 / 2730.0;
    q = q * w + 5.0 / 66.0;
    q = q * w - 1.0 / 30.0;
    q = q * w + 1.0 / 42.0;
    q = q * w - 1.0 / 30.0;
    q = q * w + 1.0 / 6.0;
    D value = (q * w + 1.0) / z + 0.5 * w;
    value = value + WIDE(where)(small, sum, WIDE(all)(0.0));
    return WIDE(of_positive)(x, value, INFINITE_D);
}

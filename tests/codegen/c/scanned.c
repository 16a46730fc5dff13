/* Every float from one pattern of bits to another through a function, against libm's in double; and
   as many pairs at random through power. */
#include <math.h>

#include "philox.h"

/* The largest error in units of the last place of the correct result, and where; how often the
   result falls where the argument rises; how often one number gives other bits than a vector. */
typedef struct {
    double most;
    uint32_t where;
    int64_t falls, differ;
} Scan;

static double error_in_ulp(float computed, double correct) {
    if (correct != correct) return computed != computed ? 0 : INFINITY;
    if (computed == (float)correct) {
        if (isinf(computed)) return 0;
    } else if (!(fabsf(computed) < INFINITY)) {
        return INFINITY;
    }
    int exponent = correct == 0 ? -200 : ilogb(correct);
    double unit = ldexp(1.0, (exponent < -126 ? -126 : exponent > 127 ? 127 : exponent) - 23);
    return fabs((double)computed - correct) / unit;
}

static int is_lower(float a, float b) { return a < b; }

/* The patterns of negative numbers go down as they count up, so the order is turned there. */
#define SCANNED(name)                                                                        \
    void scan_##name(uint64_t first, uint64_t past, Scan *scan) {                            \
        *scan = (Scan){0, (uint32_t)first, 0, 0};                                            \
        float x[LANES], y[LANES];                                                            \
        float before = name##_f(f_of_bits((int32_t)(uint32_t)(first ? first - 1 : 0)));      \
        for (uint64_t at = first; at < past; at += LANES) {                                  \
            for (int k = 0; k < LANES; k++) x[k] = f_of_bits((int32_t)(uint32_t)(at + k));   \
            store_vf(y, name##_vf(load_vf(x)));                                              \
            for (int k = 0; k < LANES; k++) {                                                \
                double error = error_in_ulp(y[k], name((double)x[k]));                       \
                if (error > scan->most) scan->most = error, scan->where = (uint32_t)(at + k); \
                scan->falls += signbit(x[k]) ? is_lower(before, y[k]) : is_lower(y[k], before); \
                scan->differ += y[k] == y[k] && bits_of_f(name##_f(x[k])) != bits_of_f(y[k]); \
                before = y[k];                                                               \
            }                                                                                \
        }                                                                                    \
    }

SCANNED(exp)
SCANNED(log)
SCANNED(log1p)
SCANNED(tanh)
SCANNED(sin)
SCANNED(cos)

/* Pair `at`: any positive float, and an exponent with which the result is about in range. */
static void pair(uint64_t at, float *x, float *y) {
    words drawn = philox((words){{(uint32_t)at, (uint32_t)(at >> 32), 0, 0}}, 0, 0);
    *x = f_of_bits((int32_t)(drawn.word[0] % 0x7f7fffffu + 1u));
    *y = (float)((uniform_d(drawn.word[1]) * 300 - 160) / log2(*x));
}

void scan_power(uint64_t first, uint64_t past, Scan *scan) {
    *scan = (Scan){0, 0, 0, 0};
    float x[LANES], y[LANES], z[LANES];
    for (uint64_t at = first; at < past; at += LANES) {
        for (int k = 0; k < LANES; k++) pair(at + k, x + k, y + k);
        store_vf(z, power_vf(load_vf(x), load_vf(y)));
        for (int k = 0; k < LANES; k++) {
            double error = error_in_ulp(z[k], pow(x[k], y[k]));
            if (error > scan->most) scan->most = error, scan->where = (uint32_t)bits_of_f(x[k]);
            scan->differ += z[k] == z[k] && bits_of_f(power_f(x[k], y[k])) != bits_of_f(z[k]);
        }
    }
}

/* Every float from one pattern of bits to another through a function, against libm's in double. */
#include <math.h>

#include "functions.h"

/* The error in units of the last place of the correct result; where the largest is; how often the
   result falls where the argument rises; and how often one number gives other bits than a vector. */
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

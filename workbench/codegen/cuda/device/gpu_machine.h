/* What the headers of numbers need of a GPU's compiler, in the place of machine.h. NVRTC has no headers
   of its own. Compile with --fmad=false --ftz=false --prec-div=true --prec-sqrt=true: products and sums
   are fused where the text says so, and every number has the bits that a processor gives it. */
#ifndef WORKBENCH_MACHINE_H
#define WORKBENCH_MACHINE_H

typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MAX INT64_C(9223372036854775807)
#define INT64_MIN (-INT64_MAX - 1)
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull

#define INLINE static __device__ __forceinline__
#define OUT_OF_LINE static __device__ __noinline__
#define COMMON_BODIES 1
#define GAMMA_BODIES 4
#define RUNTIME_BODIES (COMMON_BODIES | GAMMA_BODIES)
#define BUILTIN(name) name
#define INFINITE_F __int_as_float(0x7f800000)
#define INFINITE_D __longlong_as_double(0x7ff0000000000000)
#define NAN_F __int_as_float(0x7fffffff)
#define NAN_D __longlong_as_double(0x7fffffffffffffff)

/* x, or b where it is NaN. */
INLINE float unless_nan_f(float b, float x) { return b != b ? b : x; }
INLINE double unless_nan_d(double b, double x) { return b != b ? b : x; }

/* a / b for b between 0.44 and 1.56, with the bits of a division, whose branch for numbers near the
   ends of their range would keep two quotients from being computed at one time. The first 1 / b is off
   by 12 % at most; each step leaves the cube of that, and the last one what is rounded. What is left
   of the first quotient is exact, so that the second one rounds once (Markstein, "Computation of
   elementary functions on the IBM RISC System/6000 processor", 1990). All that tanh divides was tried:
   tests/codegen/c/test_near_quotient.py. */
INLINE float NEAR_QUOTIENT(float a, float b) {
    float r = __int_as_float(0x7ef311c7 - __float_as_int(b));
    float error = fmaf(-b, r, 1.0f);
    r = fmaf(r, fmaf(error, error, error), r);
    error = fmaf(-b, r, 1.0f);
    r = fmaf(r, fmaf(error, error, error), r);
    float quotient = a * r;
    return fmaf(fmaf(-b, quotient, a), r, quotient);
}

/* A loop over one or two numbers that becomes as many steps. */
#define EACH_OF_TWO _Pragma("unroll") for (int k = 0; k < count; k++)

#endif

/* What the run-time needs of compiler and processor: the number of lanes, which functions are
   compiled where, and the state of the floating-point unit. No header of intrinsics is used.

   Compile with the flags of runtime.py: -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math
   -fwrapv -Wno-psabi. On x86-64 with AVX-512 also -mprefer-vector-width=512: gcc tunes some
   processors to 256 bits, and then splits the loops over lanes below in two. */
#ifndef WORKBENCH_MACHINE_H
#define WORKBENCH_MACHINE_H

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for pool.h: processors */
#endif
#include <stdint.h>

/* The lanes of a vector of 32-bit numbers. Any of 4, 8, 16 gives the same bits on any processor. */
#ifndef LANES
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#endif

/* What other compilers call otherwise. */
#define BUILTIN(name) __builtin_##name
#define INFINITE_F __builtin_inff()
#define INFINITE_D __builtin_inf()
#define NAN_F __builtin_nanf("")
#define NAN_D __builtin_nan("")

#define INLINE static inline __attribute__((always_inline, unused))

/* a / b for b not far from 1: other machines may have a way of their own to the same bits. */
#define NEAR_QUOTIENT(a, b) ((a) / (b))

/* A function that is called from outside of the library. */
#define EXPORTED __attribute__((visibility("default")))

/* Large functions are compiled once and called: inlined everywhere, a minute of compilation.
   Their bodies are of three kinds, so that a program compiles those that it calls, side by side. A
   program of one unit has all of them and says nothing. In a program of several each unit defines
   RUNTIME_BODIES as those that it holds, or 0, and calls the others. */
#define COMMON_BODIES 1
#define FLOAT64_BODIES 2 /* instances of doubles, for which COMMON_BODIES hold that of floats */
#define GAMMA_BODIES 4
#if defined(RUNTIME_BODIES)
#define OUT_OF_LINE __attribute__((noinline, visibility("hidden")))
#else
#define OUT_OF_LINE static __attribute__((noinline, unused))
#define RUNTIME_BODIES (COMMON_BODIES | FLOAT64_BODIES | GAMMA_BODIES)
#endif

/* A loop over lanes becomes one instruction: gcc's vectoriser sees to it at -O2, clang unrolls it
   and then joins what is equal. */
#if defined(__clang__)
#define EACH_LANE _Pragma("clang loop unroll(full)") for (int lane = 0; lane < LANES; lane++)
#else
#define EACH_LANE for (int lane = 0; lane < LANES; lane++)
#endif

/* In front of a loop that is written out, so that each turn's numbers have registers of their own. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
/* A loop over one or two numbers that becomes as many steps. */
#if defined(__clang__)
#define EACH_OF_TWO _Pragma("clang loop unroll(full)") for (int k = 0; k < count; k++)
#else
#define EACH_OF_TWO _Pragma("GCC unroll 2") for (int k = 0; k < count; k++)
#endif
/* One pointer that moves: gcc would keep one for each row. */
#define STEPPED(pointer, by) \
    pointer += by;           \
    __asm__("" : "+r"(pointer));

/* x, or b where it is NaN. gcc chooses between two floats in registers of integers, and what waits
   for the number waits for the moves there and back: here it is a choice of a vector's lanes. */
#if defined(__SSE4_1__) && !defined(__clang__)
#define UNLESS_NAN(letter, float_type, int_type)                            \
    INLINE float_type unless_nan_##letter(float_type b, float_type x) {     \
        typedef float_type reals __attribute__((vector_size(16)));          \
        typedef int_type bits __attribute__((vector_size(16)));             \
        if (__builtin_constant_p(b)) return b != b ? b : x;                 \
        reals first, other; /* whose lanes behind the first are anything */ \
        __asm__("" : "=x"(first) : "0"(b));                                 \
        __asm__("" : "=x"(other) : "0"(x));                                 \
        const bits nan = first != first;                                    \
        return ((reals)((nan & (bits)first) | (~nan & (bits)other)))[0];    \
    }
UNLESS_NAN(f, float, int32_t)
UNLESS_NAN(d, double, int64_t)
#undef UNLESS_NAN
#else
INLINE float unless_nan_f(float b, float x) { return b != b ? b : x; }
INLINE double unless_nan_d(double b, double x) { return b != b ? b : x; }
#endif

/* Round to nearest and keep subnormal numbers, whatever the calling thread had set; return what it
   had. Other libraries switch on flush-to-zero for a process, and results would depend on them. */
#if defined(__x86_64__)
#define RELAX __builtin_ia32_pause() /* in a loop that waits for another thread */
INLINE uint64_t begin_exact_floats(void) {
    uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before & ~0xe040u); /* flush to zero, rounding, denormals are zero */
    return before;
}
INLINE void end_exact_floats(uint64_t before) { __builtin_ia32_ldmxcsr((uint32_t)before); }
#elif defined(__aarch64__)
#define RELAX __asm__ volatile("yield")
INLINE uint64_t begin_exact_floats(void) {
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    /* FZ (24), rounding (23, 22), FZ16 (19), and of newer processors FIZ and AH (0, 1) */
    __asm__ volatile("msr fpcr, %0" : : "r"(before & ~UINT64_C(0x01c80003)));
    return before;
}
INLINE void end_exact_floats(uint64_t before) {
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#else
#error "the run-time knows x86-64 and arm64"
#endif

#endif

/* The words of kernels that are no C, as a GPU has them. */
#ifndef WORKBENCH_THREADS_H
#define WORKBENCH_THREADS_H

#include "machine.h"

#define WARP 32
/* With as few registers as so many `blocks` of a multiprocessor need, side by side. */
#define KERNEL(name, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name
#define BLOCK ((int64_t)blockIdx.x)
#define BLOCKS ((int64_t)gridDim.x)
#define THREAD ((int)threadIdx.x)
#define BLOCK_THREADS ((int)blockDim.x)
#define TOGETHER static __device__ __noinline__

/* An array of numbers, and one that is only read; an element of one, also of one that
   may not have been written, and a new value of one. */
#define ARRAY(number) number *
#define CONSTANT_ARRAY(number) const number *
#define LD(array, place) (array)[place]
#define LD_UNSET(array, place) (array)[place]
#define ST(array, place, value) (array)[place] = (value)

/* Four neighbours, the first of which lies at a multiple of 16 bytes: loaded and stored at once. All four
   are inside of the array; the first `set` of them have been written. Two of them begin at a multiple
   of two numbers. */
#define LOAD_FOUR(to, array, place, set) load_four(to, &(array)[place]);
#define LOAD_TWO(to, array, place, set) load_two(to, &(array)[place]);
#define STORE_FOUR(array, place, from) store_four(&(array)[place], from);
INLINE void load_four(float *to, const float *from) {
    const float4 all = *(const float4 *)from;
    to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
}
INLINE void load_four(double *to, const double *from) {
    const double2 two = ((const double2 *)from)[0], more = ((const double2 *)from)[1];
    to[0] = two.x, to[1] = two.y, to[2] = more.x, to[3] = more.y;
}
INLINE void load_two(float *to, const float *from) {
    const float2 both = *(const float2 *)from;
    to[0] = both.x, to[1] = both.y;
}
INLINE void load_two(double *to, const double *from) {
    const double2 both = *(const double2 *)from;
    to[0] = both.x, to[1] = both.y;
}
INLINE void store_four(float *to, const float *from) {
    *(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
}
INLINE void store_four(double *to, const double *from) {
    ((double2 *)to)[0] = make_double2(from[0], from[1]);
    ((double2 *)to)[1] = make_double2(from[2], from[3]);
}

/* Arrays of a kernel: in the block's shared memory, in its part of other memory, constants. */
#define SHARED_MEMORY extern __shared__ __align__(16) unsigned char shared[];
#define SHARED(number, name, begin, count) number *const name = (number *)(shared + (begin));
#define OWN(number, name, memory, begin, count) number *const name = (number *)((memory) + (begin));
#define CONSTANTS(number, name, count, ...) static const number name[] = {__VA_ARGS__};

/* In front of a loop that stays one: written out, its turns take registers and time to compile. */
#define ROLLED _Pragma("unroll 1")

/* In front of a loop that is written out. */
#define UNROLLED _Pragma("unroll")

/* In front of a loop of which so many turns are written out: what they load comes at one time. */
#define UNROLLED_BY(turns) _Pragma(TEXT(unroll turns))
#define TEXT(words) #words

/* A number that the compiler knows nothing of from here on: it cannot keep what follows from it. */
#define AFRESH(number) asm volatile("" : "+r"(number));

/* Who waits for whom: the threads of the block, those of each warp. */
#define BARRIER __syncthreads();
#define WARP_BARRIER __syncwarp();
#define FROM_LANE_BESIDE(x, apart) __shfl_xor_sync(0xffffffffu, x, apart)

/* The old value of an element, to which is added. */
#define ADDED(array, place, value) atomicAdd(&(array)[place], value)

/* The old value at a place, where the new one is from now on if it was `expected`. */
#define EXCHANGED(place, expected, value) atomicCAS(place, expected, value)

#endif

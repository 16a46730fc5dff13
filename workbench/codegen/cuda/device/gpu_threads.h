/* The words of kernels that are no C, as a GPU has them. */
#ifndef WORKBENCH_THREADS_H
#define WORKBENCH_THREADS_H

#include "machine.h"

#define WARP 32
/* One block is enough: the assembler is not to spill registers so that more of them fit. */
#define KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads, 1) name
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

/* Arrays of a kernel: in the block's shared memory, in its part of other memory, constants. */
#define SHARED_MEMORY extern __shared__ __align__(16) unsigned char shared[];
#define SHARED(number, name, begin, count) number *const name = (number *)(shared + (begin));
#define OWN(number, name, memory, begin, count) number *const name = (number *)((memory) + (begin));
#define CONSTANTS(number, name, count, ...) static const number name[] = {__VA_ARGS__};

/* In front of a loop that stays one: written out, its turns take registers and time to compile. */
#define ROLLED _Pragma("unroll 1")

/* In front of a loop that is written out. */
#define UNROLLED _Pragma("unroll")

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

/* Stamps in a profiled run: each counts the time since the one before. Totals are kept, since a
   kernel may be launched a hundred thousand times; of the first launches also when they were.

   Time is read from a counter of the processor that all its cores share, in some nanoseconds: the
   system's clock takes as long as a short kernel. How long a tick lasts is for the reader to find. */
#ifndef WORKBENCH_STAMPS_H
#define WORKBENCH_STAMPS_H

#include "run.h"

typedef struct {
    int64_t number;
    uint64_t begun, ended;
} StampedLaunch;

/* The arguments of a profiled run. Only the thread that launches kernels is given them. */
typedef struct {
    Run run;
    uint64_t stamped;  /* when the last stamp was made */
    uint64_t *ticks;   /* by the numbers of stamps */
    int64_t *calls;
    StampedLaunch *launches;
    int64_t launched, most_launches;
} StampedRun;

/* What is written before is done before, as far as the compiler is concerned. */
INLINE uint64_t clock_ticks(void) {
    uint64_t ticks;
#if defined(__x86_64__)
    __asm__ volatile("" ::: "memory");
    ticks = __builtin_ia32_rdtsc();
    __asm__ volatile("" ::: "memory");
#else
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
#endif
    return ticks;
}

/* The time until the next stamp begins here. */
INLINE void begin_stamps(Run *run) { ((StampedRun *)run)->stamped = clock_ticks(); }

INLINE void stamp(Run *run, int64_t number) {
    StampedRun *const to = (StampedRun *)run;
    const uint64_t now = clock_ticks();
    to->ticks[number] += now - to->stamped;
    to->calls[number]++;
    to->stamped = now;
}

/* An iteration of a loop begins: it stands among the launches, under a number below zero. */
INLINE void stamp_iteration(Run *run, int64_t loop, int64_t value) {
    StampedRun *const to = (StampedRun *)run;
    if (to->launched < to->most_launches)
        to->launches[to->launched++] = (StampedLaunch){-1 - loop, to->stamped, (uint64_t)value};
}

INLINE void stamp_launch(Run *run, int64_t number) {
    StampedRun *const to = (StampedRun *)run;
    const uint64_t begun = to->stamped;
    stamp(run, number);
    if (to->launched < to->most_launches)
        to->launches[to->launched++] = (StampedLaunch){number, begun, to->stamped};
}

#endif

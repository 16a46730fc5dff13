/* What a run tells its kernels, and they it: the first check that failed, and its numbers. */
#ifndef WORKBENCH_DEVICE_RUN_H
#define WORKBENCH_DEVICE_RUN_H

#include "threads.h"

/* The most integers that a failed check tells, and the most dims of a statement. */
#define MOST_NUMBERS 8
#define MOST_DIMS 16

typedef struct {
    int64_t seed;
    int64_t iteration; /* the value of the main loop's variable */
    unsigned long long failed;
    int64_t numbers[MOST_NUMBERS];
    int64_t instance[MOST_DIMS];
} Run;

#define ITERATION run->iteration

INLINE void fail(Run *run, int64_t check, int64_t n, const int64_t *numbers, int64_t dims,
                 const int64_t *instance) {
    if (EXCHANGED(&run->failed, 0ull, (unsigned long long)check)) return;
    for (int64_t k = 0; k < n; k++) run->numbers[k] = numbers[k];
    for (int64_t k = 0; k < dims; k++) run->instance[k] = instance[k];
}

#endif

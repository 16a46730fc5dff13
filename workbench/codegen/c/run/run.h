/* What every kernel of a run is given, and how a failed check is told. */
#ifndef WORKBENCH_RUN_H
#define WORKBENCH_RUN_H

#include "functions.h"
#include "doubles.h"
#include "orthogonal.h"
#include "philox.h"
#include "sums.h"
#include "packed_rows.h"
#include "lane_sums.h"
#include "products.h"
#include "tiles.h"

/* The most integers that a failed check tells, and the most dims of a statement. */
#define MOST_NUMBERS 8
#define MOST_DIMS 16

typedef struct {
    const int64_t *sizes;
    char **buffers;         /* where each buffer is now, by its number */
    char *arena;
    char *host;             /* the arena of arrays in host memory */
    const int64_t *places;  /* of each buffer in its arena */
    char **given;           /* values from outside, by their numbers */
    const int64_t *apart;   /* how many elements their neighbours are apart, by dimension */
    const int64_t *scratch; /* the place of each kernel's scratch memory, in the arena or in `own` */
    char *own;              /* memory for the block that this thread runs, and its bytes */
    int64_t own_bytes;
    char *own_host;         /* the same of arrays in host memory */
    int64_t own_host_bytes;
    const int64_t *own_places; /* in them, of each buffer of one block */
    int64_t seed;
    int64_t main_thread;    /* 1 if Ctrl-C is for this run */
    volatile int64_t *stop; /* not 0: the run is to end before the next kernel */
    void *pool;             /* the threads beside the one that runs, or 0 (`pool.h`) */
    int64_t failed;         /* the number of the first check that failed, or 0 */
    int64_t numbers[MOST_NUMBERS];
    int64_t instance[MOST_DIMS];
    /* An external object's call: its number, the instance, where its result and operands are. */
    void (*call)(int64_t site, const int64_t *instance, void *out, void **operands);
} Run;

/* Bytes up to the next multiple of a cache line. */
#define ROUNDED(bytes) (((bytes) + 63) / 64 * 64)

/* Remember a failed check, if it is the first. */
OUT_OF_LINE void fail(Run *run, int64_t check, int64_t n, const int64_t *numbers, int64_t dims,
                      const int64_t *instance);

#if RUNTIME_BODIES & COMMON_BODIES
OUT_OF_LINE void fail(Run *run, int64_t check, int64_t n, const int64_t *numbers, int64_t dims,
                      const int64_t *instance) {
    if (run->failed) return;
    run->failed = check;
    for (int64_t k = 0; k < n; k++) run->numbers[k] = numbers[k];
    for (int64_t k = 0; k < dims; k++) run->instance[k] = instance[k];
}
#endif

#endif

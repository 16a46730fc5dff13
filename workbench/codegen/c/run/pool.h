/* The threads of a run. Blocks that run in any order are dealt to them chunk by chunk: one thread
   runs a chunk's blocks in their order, since they add up in one place. The chunks follow from sizes
   alone, so that any number of threads computes the same bits.

   A launch is open to workers while there are chunks to begin. One that comes late, since the
   machine is busy, is not waited for. Who waits spins for some microseconds and then sleeps: the
   processor may be needed by the thread that is waited for. */
#ifndef WORKBENCH_POOL_H
#define WORKBENCH_POOL_H

#include "run.h"

/* Begin what chunk `k` adds up, and run its blocks from `first` to `behind`, inside loops whose
   variables have the values `at`. */
typedef void Blocks(Run *run, const int64_t *at, int64_t k, int64_t first, int64_t behind);

/* Run all blocks from `lower` to `upper`. The `dealt` ones from `first` on are dealt to chunks.
   `lasting` is how many nanoseconds a launch lately took one thread, 0 before the first: a short
   one is not shared. */
OUT_OF_LINE void each_block(Run *run, Blocks *blocks, const int64_t *at, int64_t lower,
                            int64_t upper, int64_t first, int64_t dealt, int64_t chunks,
                            int64_t *lasting);

#if RUNTIME_BODIES & COMMON_BODIES
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds: for which a thread spins; from which on a launch is shared with threads that spin,
   and with those that sleep, which take as long to wake up. */
#define SPINNING 100000
#if !defined(WORTH_SHARING) /* tests share every launch */
#define WORTH_SHARING 5000
#define WORTH_WAKING 50000
#endif
/* Nanoseconds of one thread's work: after which it is judged whether sharing pays, some turns of the
   system's scheduler, and for which it is not tried at most. */
#if !defined(TRIED)
#define TRIED INT64_C(20000000)
#endif
#define MOST_PAUSED INT64_C(1000000000)
#define READ(place) __atomic_load_n(place, __ATOMIC_SEQ_CST)
#define RAISED(place) __atomic_add_fetch(place, 1, __ATOMIC_SEQ_CST)
#define LOWERED(place) __atomic_sub_fetch(place, 1, __ATOMIC_SEQ_CST)
#define APART(n) char apart_##n[64] /* what follows has a cache line of its own */

typedef struct {
    Blocks *blocks;
    const int64_t *at;
    int64_t lower, upper, first, dealt, chunks;
} Launch;

typedef struct Pool {
    Run run; /* as the launch finds it */
    Launch launched;
    int64_t alone, shared; /* the nanoseconds of launches alone, as estimated, and as they were */
    int64_t pause;         /* those of launches last not shared, since sharing did not pay */
    int64_t unshared;      /* and how many of them are still to come */
    int processor;         /* that the caller ran on when it opened the launch */
    int64_t failed_chunk;  /* the first in which a check failed */
    Run failure;           /* and what that check told */
    int64_t threads;       /* those that were started */
    pthread_t *handles;
    pthread_mutex_t lock;
    pthread_cond_t opened, left;
    APART(1);
    int64_t launch;  /* rises as a launch is opened, and as it is closed: odd while open */
    int64_t asleep;  /* workers that wait for `opened` */
    int64_t waiting; /* 1 while the caller waits for `left` */
    int64_t ending;
    APART(2);
    int64_t next; /* the chunk that is begun next */
    APART(3);
    int64_t inside; /* workers that may be running chunks */
} Pool;

typedef struct {
    Pool *pool;
    int64_t number;
} Worker;

static int64_t clocked(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t nanoseconds(void) { return clocked(CLOCK_MONOTONIC); }

/* Those in which this thread has run: others' programs do not count. */
static int64_t own_nanoseconds(void) { return clocked(CLOCK_THREAD_CPUTIME_ID); }

/* Wait until `condition` holds, but not for long; tell whether it does. */
#define SPUN(condition)                                                                        \
    ({                                                                                         \
        const int64_t begun = nanoseconds();                                                   \
        int met = 0;                                                                           \
        for (int k = 1; !(met = (condition)); k++) {                                           \
            RELAX;                                                                             \
            if (k % 16 == 0 && nanoseconds() - begun > SPINNING) break;                        \
        }                                                                                      \
        met;                                                                                   \
    })

/* The first block of a chunk. Here there may be fewer blocks than are dealt in all. */
static int64_t chunk_begin(const Launch *launch, int64_t k) {
    if (k == 0) return launch->lower;
    if (k == launch->chunks) return launch->upper;
    const int64_t begin = launch->first + (k * launch->dealt + launch->chunks - 1) / launch->chunks;
    return minimum_l(maximum_l(begin, launch->lower), launch->upper);
}

static void run_chunk(const Launch *launch, Run *run, int64_t k) {
    launch->blocks(run, launch->at, k, chunk_begin(launch, k), chunk_begin(launch, k + 1));
}

static void run_all_chunks(const Launch *launch, Run *run) {
    for (int64_t k = 0; k < launch->chunks && !(*run->stop | run->failed); k++)
        run_chunk(launch, run, k);
}

/* Run chunks while there are some to begin. Chunks are begun in their order, so that those before
   one that fails run to their end, and the first failure is that of the first chunk. Return how
   many this thread has run. */
static int64_t run_chunks(Pool *pool, Run *run) {
    for (int64_t done = 0;; done++) {
        const int64_t k = RAISED(&pool->next) - 1;
        if (k >= pool->launched.chunks || *run->stop) return done;
        run_chunk(&pool->launched, run, k);
        if (!run->failed) continue;
        pthread_mutex_lock(&pool->lock);
        if (k < pool->failed_chunk) {
            pool->failed_chunk = k;
            pool->failure = *run;
        }
        pthread_mutex_unlock(&pool->lock);
        __atomic_store_n(&pool->next, pool->launched.chunks, __ATOMIC_SEQ_CST);
        return 0;
    }
}

/* Leave the caller's processor, if the system has put both on one: on some virtual machines they
   would stay there, one waiting for the other, though another processor is idle. */
#if defined(__linux__)
#define PROCESSOR sched_getcpu()
static void move_from(int processor) {
    cpu_set_t allowed, others;
    if (sched_getcpu() != processor || sched_getaffinity(0, sizeof allowed, &allowed)) return;
    others = allowed;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof others, &others))
        sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
#define PROCESSOR 0
static void move_from(int processor) { (void)processor; }
#endif

static int is_open(Pool *pool, int64_t seen) {
    const int64_t launch = READ(&pool->launch);
    return (launch % 2 && launch != seen) || READ(&pool->ending);
}

static void *work(void *given) {
    const Worker worker = *(Worker *)given;
    Pool *const pool = worker.pool;
    free(given);
    begin_exact_floats();
    for (int64_t seen = 0;;) {
        if (!SPUN(is_open(pool, seen))) {
            pthread_mutex_lock(&pool->lock);
            RAISED(&pool->asleep);
            while (!is_open(pool, seen)) pthread_cond_wait(&pool->opened, &pool->lock);
            LOWERED(&pool->asleep);
            pthread_mutex_unlock(&pool->lock);
        }
        if (READ(&pool->ending)) return 0;
        seen = READ(&pool->launch);
        RAISED(&pool->inside);
        if (seen % 2 && READ(&pool->launch) == seen) { /* open, and so it stays for us */
            move_from(pool->processor);
            Run run = pool->run;
            run.own += worker.number * run.own_bytes;
            run.own_host += worker.number * run.own_host_bytes;
            run_chunks(pool, &run);
        }
        if (!LOWERED(&pool->inside) && READ(&pool->waiting)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->left);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

/* How many nanoseconds a launch lasts one thread; many where that is not known yet. */
static int64_t known(const int64_t *lasting) {
    const int64_t seen = __atomic_load_n(lasting, __ATOMIC_RELAXED);
    return seen ? seen : WORTH_WAKING + 1;
}

/* Take a launch's nanoseconds into account. */
static void learn(int64_t *lasting, int64_t taken) {
    const int64_t seen = __atomic_load_n(lasting, __ATOMIC_RELAXED);
    const int64_t next = seen ? seen + (taken - seen) / 4 : taken;
    __atomic_store_n(lasting, maximum_l(next, 1), __ATOMIC_RELAXED);
}

/* Where other programs use the processors, a worker may lose its own in the middle of a chunk, and
   the caller waits for some of the scheduler's turns: hundreds of launches go well, and the next one
   lasts a hundred times as long. So sharing is judged by many turns, or once it has cost one. See to
   it that few launches are shared then: each time that sharing has not paid, twice as many are not
   shared, until it is tried again. */
static void judge(Pool *pool, int64_t alone, int64_t shared) {
    pool->alone += alone;
    pool->shared += shared;
    if (pool->alone < TRIED && pool->shared - pool->alone < TRIED / 4) return;
    const int paid = 20 * pool->shared < 19 * pool->alone;
    pool->pause = paid ? 0 : pool->pause ? minimum_l(2 * pool->pause, MOST_PAUSED) : TRIED;
    pool->unshared = pool->pause;
    pool->alone = pool->shared = 0;
}

OUT_OF_LINE void each_block(Run *run, Blocks *blocks, const int64_t *at, int64_t lower,
                            int64_t upper, int64_t first, int64_t dealt, int64_t chunks,
                            int64_t *lasting) {
    const Launch launch = {blocks, at, lower, upper, first, dealt, chunks};
    Pool *const pool = run->pool;
    if (!pool || chunks < 2) {
        run_all_chunks(&launch, run);
        return;
    }
    const int64_t begun = nanoseconds(), expected = known(lasting);
    if (expected < WORTH_SHARING || pool->unshared > 0) {
        run_all_chunks(&launch, run);
        const int64_t taken = nanoseconds() - begun;
        if (expected >= WORTH_SHARING) pool->unshared -= taken;
        learn(lasting, taken);
        return;
    }
    pool->run = *run;
    pool->launched = launch;
    pool->failed_chunk = chunks;
    pool->processor = PROCESSOR;
    pool->next = 0;
    RAISED(&pool->launch);
    if (expected > WORTH_WAKING && READ(&pool->asleep)) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->opened);
        pthread_mutex_unlock(&pool->lock);
    }
    const int64_t before = own_nanoseconds();
    const int64_t done = run_chunks(pool, run);
    RAISED(&pool->launch);
    if (done) learn(lasting, (own_nanoseconds() - before) * chunks / done);
    if (!SPUN(!READ(&pool->inside))) {
        pthread_mutex_lock(&pool->lock);
        __atomic_store_n(&pool->waiting, 1, __ATOMIC_SEQ_CST);
        while (READ(&pool->inside)) pthread_cond_wait(&pool->left, &pool->lock);
        __atomic_store_n(&pool->waiting, 0, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&pool->lock);
    }
    if (done) judge(pool, known(lasting), nanoseconds() - begun);
    if (pool->failed_chunk == chunks) return;
    run->failed = pool->failure.failed;
    for (int k = 0; k < MOST_NUMBERS; k++) run->numbers[k] = pool->failure.numbers[k];
    for (int k = 0; k < MOST_DIMS; k++) run->instance[k] = pool->failure.instance[k];
}

/* Start the threads of a run beside the one that calls; return how many there are then. */
EXPORTED int64_t open_pool(Run *run, int64_t threads) {
    Pool *const pool = calloc(1, sizeof(Pool));
    pthread_t *const handles = calloc((size_t)threads, sizeof(pthread_t));
    if (!pool || !handles) {
        free(pool);
        free(handles);
        return 1;
    }
    pool->handles = handles;
    pthread_mutex_init(&pool->lock, 0);
    pthread_cond_init(&pool->opened, 0);
    pthread_cond_init(&pool->left, 0);
#if !defined(_WIN32)
    sigset_t all, before; /* signals are for the threads of Python */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    for (int64_t number = 1; number < threads; number++) {
        Worker *const worker = malloc(sizeof(Worker));
        if (!worker) break;
        *worker = (Worker){pool, number};
        if (pthread_create(&handles[pool->threads], 0, work, worker)) {
            free(worker);
            break;
        }
        pool->threads++;
    }
#if !defined(_WIN32)
    pthread_sigmask(SIG_SETMASK, &before, 0);
#endif
    run->pool = pool;
    return pool->threads + 1;
}

/* End the threads of a run. */
EXPORTED void close_pool(Run *run) {
    Pool *const pool = run->pool;
    if (!pool) return;
    run->pool = 0;
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->ending, 1, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (int64_t k = 0; k < pool->threads; k++) pthread_join(pool->handles[k], 0);
    pthread_cond_destroy(&pool->opened);
    pthread_cond_destroy(&pool->left);
    pthread_mutex_destroy(&pool->lock);
    free(pool->handles);
    free(pool);
}
#undef SPUN
#undef READ
#undef RAISED
#undef LOWERED
#undef APART
#endif

#endif

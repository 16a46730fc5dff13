/* The words of kernels that are no C, for a processor: the threads of a block are fibres, which take
   turns where they wait for each other. Every access of theirs is looked at.

   A fibre runs until it waits. Which one runs first, and which block, is drawn. An access fails that is
   outside of its array, that reads shared memory which the block has not written (but where it leaves
   instances out), and that meets another thread's in an element without a barrier between, where one of
   both writes: one of the block, or of the warp that has both. An element remembers in which turn of
   which block and warp it was written and read last, and by which thread: what is found does not depend
   on which fibre runs first.
   An exchange in a warp is no barrier of memory. */
#ifndef WORKBENCH_THREADS_H
#define WORKBENCH_THREADS_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define WARP 32
#define MOST_THREADS 1024
#define STACK (1 << 18)
#define SHARED_BYTES (227 * 1024)
#define MANY -1

typedef struct {
    uint64_t written_by_block, read_by_block; /* serial numbers: 0 is none */
    int64_t written_in, read_in;              /* the turn of the block */
    int64_t written_in_warp, read_in_warp;    /* that of the warp */
    int32_t written_by, read_by;              /* the thread, or MANY */
    int32_t written_by_warp, read_by_warp;    /* the warp, or MANY */
    int32_t written_at, read_at;              /* the line */
    uint64_t other_block;                     /* one that read before `read_by_block` did */
    int added;                                /* it was written by adding, as others may */
} Seen;

/* An array: where it lies, the bytes of an element, how many there are, and what is seen of them: of
   constants nothing. */
typedef struct {
    unsigned char *begin;
    int64_t bytes, count;
    Seen *seen;
    const char *name;
    int shared;
} Array;

/* With the type of its elements. */
#define ARRAY_OF(number) \
    typedef union { Array of; number *p; } array_of_##number;
ARRAY_OF(float)
ARRAY_OF(double)
ARRAY_OF(int32_t)
ARRAY_OF(int64_t)
ARRAY_OF(uint8_t)

#define KERNEL(name, threads, blocks) static void fibre_##name
#define ARRAY(number) array_of_##number
#define CONSTANT_ARRAY(number) array_of_##number
#define BLOCK this_block
#define BLOCKS blocks_of_launch
#define THREAD this_thread
#define BLOCK_THREADS threads_of_block
#define TOGETHER __attribute__((unused)) static
#define SHARED_MEMORY unsigned char *const shared = shared_memory;
#define SHARED(number, name, begin, count)                                                      \
    const array_of_##number name = {                                                            \
        {shared + (begin), sizeof(number), count, seen_shared + (begin), #name, 1}};            \
    (void)name;
#define OWN(number, name, memory, begin, elements)                                              \
    const array_of_##number name = {                                                            \
        {(memory) + (begin), sizeof(number), elements, seen_of((memory) + (begin)), #name, 0}}; \
    (void)name;
#define CONSTANTS(number, name, count, ...)                                                     \
    static number name##_values[] = {__VA_ARGS__};                                              \
    const array_of_##number name = {                                                            \
        {(unsigned char *)name##_values, sizeof(number), count, 0, #name, 0}};
/* One call for each access: thousands of them are compiled. A text's accesses are numbered. */
#define LOOKED_AT(array, place) &(array).of, place, __LINE__, __COUNTER__
#define LD(array, place) (*(const __typeof__(*(array).p) *)reads(LOOKED_AT(array, place)))
#define LD_UNSET(array, place) \
    (*(const __typeof__(*(array).p) *)reads_unset(LOOKED_AT(array, place)))
#define ST(array, place, value)                                            \
    do {                                                                   \
        const __typeof__(*(array).p) value_ = (value);                     \
        *(__typeof__((array).p))writes(LOOKED_AT(array, place)) = value_; \
    } while (0)
#define ADDED(array, place, value)                                         \
    ({                                                                     \
        __typeof__(*(array).p) *to_ = adds(LOOKED_AT(array, place));       \
        const __typeof__(*to_) before_ = *to_;                             \
        *to_ += (value);                                                   \
        before_;                                                           \
    })
#define LOAD_FOUR(to, array, place, set) LOAD_SOME(4, 16, to, array, place, set)
#define LOAD_TWO(to, array, place, set) \
    LOAD_SOME(2, (int)(2 * sizeof *(array).p), to, array, place, set)
#define LOAD_SOME(count, aligned, to, array, place, set)                               \
    {                                                                                  \
        const __typeof__(*(array).p) *from_[count];                                    \
        reads_some((const void **)from_, count, aligned, set, LOOKED_AT(array, place)); \
        for (int some_ = 0; some_ < count; some_++) (to)[some_] = *from_[some_];       \
    }
#define STORE_FOUR(array, place, from)                                            \
    {                                                                              \
        __typeof__((array).p) to_[4];                                              \
        writes_four((void **)to_, LOOKED_AT(array, place));                        \
        for (int four_ = 0; four_ < 4; four_++) *to_[four_] = (from)[four_];       \
    }
#define ROLLED
#define UNROLLED
#define UNROLLED_BY(turns)
#define EXCHANGED(place, expected, value) exchanged(place, expected, value)
#define BARRIER wait_at_barrier(AT_BLOCK, __LINE__);
#define WARP_BARRIER wait_at_barrier(AT_WARP, __LINE__);
#define FROM_LANE_BESIDE(x, apart)                                                            \
    ({                                                                                        \
        __auto_type mine_ = (x);                                                              \
        __typeof__(mine_) other_;                                                             \
        exchange(&mine_, &other_, sizeof mine_, apart, __LINE__);                             \
        other_;                                                                               \
    })

static Seen *seen_of(const void *begin);
enum { READY, AT_BLOCK, AT_WARP, AT_EXCHANGE, DONE };
typedef struct {
    int state, line, started;
    int64_t passed; /* how often it has come to the barrier that is left out */
    double value;
    ucontext_t context;
    jmp_buf here;
    char *stack;
} Fibre;

static Fibre fibres[MOST_THREADS];
static int this_thread, threads_of_block;
static int64_t this_block, blocks_of_launch, turn, turn_of_warp[MOST_THREADS / WARP];
static uint64_t serial, first_serial;
static void (*thread_body)(void);
static ucontext_t outside_context;
static jmp_buf outside;
static unsigned char shared_memory[SHARED_BYTES] __attribute__((aligned(64)));
static Seen seen_shared[SHARED_BYTES];
static uint64_t drawn = 88172645463325252ull;

EXPORTED int64_t faults, accesses, barriers, warp_barriers;
EXPORTED char fault[400];
/* The line of a barrier that is left out: always (0), or the first time, the second, ... With `weakened`
   it becomes one of each warp. */
EXPORTED int64_t left_out, left_out_once, weakened;
/* True of a launch that leaves instances out where no episode of a block is open. Others may read what
   these would have written, and choose another value. Were it chosen, outputs would tell. */
static int leaves_out_instances;
/* What shared memory is full of: as any number of floating point a NaN that nobody else makes. */
static const uint32_t unwritten = UNWRITTEN;

static uint32_t draw(void) {
    drawn ^= drawn << 13, drawn ^= drawn >> 7, drawn ^= drawn << 17;
    return (uint32_t)(drawn >> 32);
}

static void shuffle(int64_t *order, int64_t count) {
    for (int64_t k = count - 1; k > 0; k--) {
        const int64_t other = draw() % (uint32_t)(k + 1), one = order[k];
        order[k] = order[other], order[other] = one;
    }
}

#define FAULT(...) \
    do { if (!faults++) snprintf(fault, sizeof fault, __VA_ARGS__); } while (0)

#include "sectors.h"

/* Another thread of the block since the last barrier of the block, or of both's warp, or another block
   of the launch, which has shared memory of its own. */
static int meets(int shared, uint64_t block, int64_t in, int32_t warp, int64_t in_warp, int32_t by) {
    const int own = this_thread / WARP;
    if (block < first_serial) return 0;
    if (block != serial) return !shared;
    return in == turn && (warp != own || (in_warp == turn_of_warp[own] && by != this_thread));
}

static int meets_writer(int shared, const Seen *seen) {
    return meets(shared, seen->written_by_block, seen->written_in, seen->written_by_warp,
                 seen->written_in_warp, seen->written_by);
}

static int meets_reader(int shared, const Seen *seen) {
    return meets(shared, seen->read_by_block, seen->read_in, seen->read_by_warp, seen->read_in_warp,
                 seen->read_by);
}

/* What is outside of an array is read and written here. */
static uint64_t nowhere;

static int is_inside(const Array *of, int64_t at, int line) {
    accesses++;
    if (at >= 0 && at < of->count) return 1;
    FAULT("%s[%lld] of %lld, line %d", of->name, (long long)at, (long long)of->count, line);
    nowhere = 0;
    return 0;
}

/* One of an access to several has no request of its own. */
#define OF_ANOTHER -1

static const void *read_as(const Array *of, int64_t at, int line, int place, int set) {
    const int warp = this_thread / WARP;
    if (!is_inside(of, at, line)) return &nowhere;
    unsigned char *const element = of->begin + at * of->bytes;
    if (!of->seen) return element;
    if (counting && !of->shared && place != OF_ANOTHER) request(place, element, of->name, 0);
    Seen *const seen = of->seen + at * of->bytes;
    if (set && !leaves_out_instances && seen->written_by_block != serial)
        FAULT("%s[%lld] is read before it is written, line %d", of->name, (long long)at, line);
    else if (meets_writer(of->shared, seen))
        FAULT("%s[%lld] is written in line %d and read in line %d", of->name, (long long)at,
              seen->written_at, line);
    if (seen->read_by_block != serial || seen->read_in != turn) {
        if (seen->read_by_block >= first_serial && seen->read_by_block != serial)
            seen->other_block = seen->read_by_block;
        seen->read_by_block = serial, seen->read_in = turn, seen->read_by = this_thread;
        seen->read_by_warp = warp, seen->read_in_warp = turn_of_warp[warp];
    } else if (seen->read_by_warp != warp) {
        seen->read_by_warp = seen->read_by = MANY;
    } else if (seen->read_in_warp != turn_of_warp[warp]) {
        seen->read_by = this_thread, seen->read_in_warp = turn_of_warp[warp];
    } else if (seen->read_by != this_thread) {
        seen->read_by = MANY;
    }
    seen->read_at = line;
    return element;
}

static const void *reads(const Array *of, int64_t at, int line, int place) {
    return read_as(of, at, line, place, of->shared);
}

__attribute__((unused)) static const void *reads_unset(const Array *of, int64_t at, int line,
                                                       int place) {
    return read_as(of, at, line, place, 0);
}

/* Note that an element is written, `adding` or not. */
static void *written_as(const Array *of, int64_t at, int line, int place, int adding) {
    const int warp = this_thread / WARP;
    if (!is_inside(of, at, line)) return &nowhere;
    unsigned char *const element = of->begin + at * of->bytes;
    if (counting && !of->shared && place != OF_ANOTHER) request(place, element, of->name, 1);
    Seen *const seen = of->seen + at * of->bytes;
    if (!(adding && seen->added) && meets_writer(of->shared, seen))
        FAULT("%s[%lld] is written in line %d and in line %d", of->name, (long long)at,
              seen->written_at, line);
    if (meets_reader(of->shared, seen) ||
        (!of->shared && seen->other_block >= first_serial && seen->other_block != serial))
        FAULT("%s[%lld] is read in line %d and written in line %d", of->name, (long long)at,
              seen->read_at, line);
    seen->written_by_block = serial, seen->written_in = turn;
    seen->written_by_warp = adding ? MANY : warp, seen->written_in_warp = turn_of_warp[warp];
    seen->written_by = adding ? MANY : this_thread, seen->written_at = line, seen->added = adding;
    return element;
}

static void *writes(const Array *of, int64_t at, int line, int place) {
    return written_as(of, at, line, place, 0);
}

/* Some neighbours at once. Four doubles lie in one sector like four floats, or in two. */
static void expect_aligned(const Array *of, int64_t at, int aligned, int line) {
    if ((uintptr_t)(of->begin + at * of->bytes) % (uintptr_t)aligned)
        FAULT("%s[%lld] is the first of some and lies at no multiple of %d bytes, line %d", of->name,
              (long long)at, aligned, line);
}

__attribute__((unused)) static void reads_some(const void **found, int count, int aligned,
                                               int64_t set, const Array *of, int64_t at, int line,
                                               int place) {
    expect_aligned(of, at, aligned, line);
    for (int k = 0; k < count; k++)
        found[k] = read_as(of, at + k, line, k ? OF_ANOTHER : place, of->shared && k < set);
}

__attribute__((unused)) static void writes_four(void **found, const Array *of, int64_t at, int line,
                                                int place) {
    expect_aligned(of, at, 16, line);
    for (int k = 0; k < 4; k++) found[k] = written_as(of, at + k, line, k ? OF_ANOTHER : place, 0);
}

__attribute__((unused)) static void *adds(const Array *of, int64_t at, int line, int place) {
    return written_as(of, at, line, place, 1);
}

__attribute__((unused)) static uint64_t exchanged(unsigned long long *place, uint64_t expected,
                                                  uint64_t value) {
    const uint64_t before = *place;
    if (before == expected) *place = value;
    return before;
}

static void wait_at(int state, int line) {
    Fibre *const fibre = &fibres[this_thread];
    fibre->state = state, fibre->line = line;
    if (!_setjmp(fibre->here)) _longjmp(outside, 1);
}

static void wait_at_barrier(int state, int line) {
    if (line == left_out) {
        const int64_t passed = ++fibres[this_thread].passed;
        if (!left_out_once || passed == left_out_once) {
            if (!weakened) return;
            state = AT_WARP;
        }
    }
    wait_at(state, line);
}

static void exchange(const void *mine, void *other, size_t bytes, int apart, int line) {
    const int thread = this_thread;
    memcpy(&fibres[thread].value, mine, bytes);
    wait_at(AT_EXCHANGE, line);
    memcpy(other, &fibres[thread ^ apart].value, bytes);
    wait_at(AT_EXCHANGE, line);
}

static void begin_fibre(void) {
    thread_body();
    fibres[this_thread].state = DONE;
    _longjmp(outside, 1);
}

static void run_fibre(Fibre *fibre) {
    if (_setjmp(outside)) return;
    if (fibre->started) _longjmp(fibre->here, 1);
    fibre->started = 1;
    if (!fibre->stack) {
        const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE; /* little of it is touched */
        fibre->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, kind, -1, 0);
    }
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = fibre->stack;
    fibre->context.uc_stack.ss_size = STACK;
    fibre->context.uc_link = &outside_context;
    makecontext(&fibre->context, begin_fibre, 0);
    setcontext(&fibre->context);
}

/* Let go on who waits in vain no longer; tell whether somebody may. */
static int release(int threads) {
    int released = 0, at_block = 0, line = 0, together = 1;
    for (int first = 0; first < threads; first += WARP) {
        const int behind = first + WARP < threads ? first + WARP : threads;
        const int state = fibres[first].state;
        int waiting = 0;
        for (int k = first; k < behind; k++)
            waiting += fibres[k].state == state && fibres[k].line == fibres[first].line;
        if (waiting < behind - first || (state != AT_WARP && state != AT_EXCHANGE)) continue;
        for (int k = first; k < behind; k++) fibres[k].state = READY;
        if (state == AT_WARP) turn_of_warp[first / WARP]++, warp_barriers++;
        released = 1;
    }
    for (int k = 0; k < threads; k++)
        if (fibres[k].state == AT_BLOCK) {
            together &= !at_block || fibres[k].line == line;
            line = fibres[k].line;
            at_block++;
        }
    if (at_block == threads && together) {
        for (int k = 0; k < threads; k++) fibres[k].state = READY;
        turn++, barriers++;
        memset(turn_of_warp, 0, sizeof turn_of_warp);
        end_requests();
        released = 1;
    }
    return released;
}

static void run_block(int threads) {
    int64_t order[MOST_THREADS];
    for (size_t n = 0; n < sizeof shared_memory; n += sizeof unwritten)
        memcpy(shared_memory + n, &unwritten, sizeof unwritten);
    for (int k = 0; k < threads; k++) {
        fibres[k].state = READY, fibres[k].started = 0, fibres[k].passed = 0;
        order[k] = k;
    }
    turn = 0;
    memset(turn_of_warp, 0, sizeof turn_of_warp);
    end_requests();
    do {
        shuffle(order, threads);
        int left = 0;
        for (int k = 0; k < threads; k++) {
            this_thread = (int)order[k];
            if (fibres[this_thread].state == READY) run_fibre(&fibres[this_thread]);
        }
        for (int k = 0; k < threads; k++) left += fibres[k].state != DONE;
        if (!left) return;
    } while (release(threads));
    for (int k = 0; k < threads; k++)
        if (fibres[k].state != DONE) {
            FAULT("not all threads come to the barrier in line %d", fibres[k].line);
            return;
        }
}

static void launch(int64_t blocks, int threads, void (*body)(void)) {
    if (faults) return; /* the first one is told */
    begin_counting();
    int64_t *const order = malloc((size_t)blocks * sizeof(int64_t));
    for (int64_t k = 0; k < blocks; k++) order[k] = k;
    shuffle(order, blocks);
    thread_body = body;
    threads_of_block = threads, blocks_of_launch = blocks;
    first_serial = serial + 1;
    for (int64_t k = 0; k < blocks; k++) {
        this_block = order[k];
        serial++;
        run_block(threads);
    }
    free(order);
}

/* What is seen of other memory, by the bytes at which elements begin: of each piece in one, so that
   arrays are seen to have the same memory. */
static struct { const char *begin; int64_t bytes; Seen *seen; } known[64];

EXPORTED void forget(int64_t begin) {
    for (int k = 0; k < 64; k++)
        if (known[k].seen && known[k].begin == (const char *)begin) {
            free(known[k].seen);
            known[k].seen = 0;
        }
}

EXPORTED void forget_all(void) {
    for (int k = 0; k < 64; k++) {
        free(known[k].seen);
        known[k].seen = 0;
    }
}

EXPORTED void know(int64_t begin, int64_t bytes) {
    int k = 0;
    while (k < 64 && known[k].seen) k++;
    if (k == 64) abort();
    known[k].begin = (const char *)begin;
    known[k].bytes = bytes;
    known[k].seen = calloc((size_t)bytes, sizeof(Seen));
}

static Seen *seen_of(const void *at) {
    const char *const begin = at;
    for (int k = 0; k < 64; k++)
        if (known[k].seen && begin >= known[k].begin && begin < known[k].begin + known[k].bytes)
            return known[k].seen + (begin - known[k].begin);
    abort();
}

/* What a launch is given, and the elements of each array. */
static const int64_t *given_now, *counts_now;
#define GIVEN(number, name, begin, elements)                                               \
    (array_of_##number){{(unsigned char *)(begin), sizeof(number), elements,               \
                         seen_of((const void *)(begin)), name, 0}}

#endif

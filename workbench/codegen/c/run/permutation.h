/* Permutations: the stable order of random words, as NumPy's stable argsort gives it.

   Threads share one as parts: each draws a part of the words, deals their places to as many ranges
   of equal width as there are parts, and sorts one of these. The order does not depend on how many
   there are. */
#ifndef WORKBENCH_PERMUTATION_H
#define WORKBENCH_PERMUTATION_H

#include "philox.h"
#include "pool.h"

/* The elements of scratch memory for a permutation of so many. */
#define PERMUTATION_SCRATCH(count) (2 * (count))

/* Write places of words, fewer than 2^31, in rising order of the words; equal ones keep their order.
   The places are those in `place`, where the order is left too in between, or all, if there are no
   others: `spare` has room for count. */
OUT_OF_LINE void stable_order(int32_t *out, int64_t count, const uint32_t *word,
                              const int32_t *place, int32_t *spare);

/* Draw the permutation of one instance; `scratch` has room for PERMUTATION_SCRATCH(count). The
   threads of a run help; `run` is 0 where one of them draws it alone. */
OUT_OF_LINE void permutation(Run *run, int32_t *out, int64_t count, uint32_t seed, uint32_t key,
                             int dims, const uint32_t *x, uint32_t *scratch);

#if RUNTIME_BODIES & COMMON_BODIES

#include <string.h>

#define MOST_RANGES 16
#if !defined(LEAST_OF_RANGE) /* tests share short ones */
#define LEAST_OF_RANGE 1024
#endif

/* Radix sort from the lowest digit: three passes over 11, 11 and 10 bits. Each is stable, so the
   whole is. All digits are counted in one go. Only the places move: to move the words with them is
   no faster while they fit a core's cache, and takes another array. */
OUT_OF_LINE void stable_order(int32_t *out, int64_t count, const uint32_t *word,
                              const int32_t *place, int32_t *spare) {
    uint32_t next[3][2048] = {{0}};
    for (int64_t k = 0; k < count; k++) {
        const uint32_t one = word[place ? place[k] : k];
        next[0][one & 2047]++;
        next[1][one >> 11 & 2047]++;
        next[2][one >> 22]++;
    }
    for (int pass = 0; pass < 3; pass++) {
        uint32_t before = 0;
        for (int digit = 0; digit < 2048; digit++) {
            uint32_t here = next[pass][digit];
            next[pass][digit] = before;
            before += here;
        }
    }
    for (int64_t k = 0; k < count; k++) {
        int32_t one = place ? place[k] : (int32_t)k;
        out[next[0][word[one] & 2047]++] = one;
    }
    for (int64_t k = 0; k < count; k++) {
        int32_t one = out[k];
        spare[next[1][word[one] >> 11 & 2047]++] = one;
    }
    for (int64_t k = 0; k < count; k++) {
        int32_t one = spare[k];
        out[next[2][word[one] >> 22]++] = one;
    }
}

typedef struct {
    int32_t *out;
    uint32_t *word;
    int32_t *place; /* by range */
    int64_t count, parts;
    uint32_t seed, key;
    int dims;
    const uint32_t *x;
    /* How many words of a part are in a range; then where its next place is. Lines are apart. */
    uint32_t next[MOST_RANGES][MOST_RANGES] __attribute__((aligned(64)));
    uint32_t begin[MOST_RANGES + 1]; /* of each range */
} Permuted;

static int64_t part_begin(const Permuted *p, int64_t k) {
    const int64_t groups = (p->count / (4 * LANES) + p->parts) / p->parts;
    return minimum_l(k * groups * (4 * LANES), p->count);
}

static int64_t range_of(const Permuted *p, uint32_t word) {
    return (int64_t)((uint64_t)word * (uint64_t)p->parts >> 32);
}

static void draw_part(Run *run, const int64_t *at, int64_t k, int64_t first, int64_t behind) {
    Permuted *const p = (Permuted *)at;
    const int64_t begin = part_begin(p, k), end = part_begin(p, k + 1);
    uint32_t here[MOST_RANGES] = {0};
    (void)run, (void)first, (void)behind;
    fill_words(p->word + begin, begin, end - begin, p->seed, p->key, p->dims, p->x);
    for (int64_t i = begin; i < end; i++) here[range_of(p, p->word[i])]++;
    memcpy(p->next[k], here, sizeof here);
}

static void deal_part(Run *run, const int64_t *at, int64_t k, int64_t first, int64_t behind) {
    Permuted *const p = (Permuted *)at;
    uint32_t next[MOST_RANGES];
    (void)run, (void)first, (void)behind;
    memcpy(next, p->next[k], sizeof next);
    for (int64_t i = part_begin(p, k); i < part_begin(p, k + 1); i++)
        p->place[next[range_of(p, p->word[i])]++] = (int32_t)i;
}

static void order_range(Run *run, const int64_t *at, int64_t k, int64_t first, int64_t behind) {
    Permuted *const p = (Permuted *)at;
    const uint32_t begin = p->begin[k], count = p->begin[k + 1] - begin;
    (void)run, (void)first, (void)behind;
    stable_order(p->out + begin, count, p->word, p->place + begin, p->place + begin);
}

OUT_OF_LINE void permutation(Run *run, int32_t *out, int64_t count, uint32_t seed, uint32_t key,
                             int dims, const uint32_t *x, uint32_t *scratch) {
    static int64_t drawing, dealing, ordering;
    const int64_t threads = run && run->pool ? ((Pool *)run->pool)->threads + 1 : 1;
    Permuted p = {out, scratch, (int32_t *)scratch + count, count,
                  minimum_l(minimum_l(threads, MOST_RANGES), count / LEAST_OF_RANGE),
                  seed, key, dims, x, {{0}}, {0}};
    const int64_t *const at = (const int64_t *)&p;
    if (p.parts < 2) {
        fill_words(scratch, 0, count, seed, key, dims, x);
        stable_order(out, count, scratch, 0, p.place);
        return;
    }
    each_block(run, draw_part, at, 0, p.parts, 0, p.parts, p.parts, &drawing);
    uint32_t before = 0;
    for (int64_t range = 0; range < p.parts; range++) {
        p.begin[range] = before;
        for (int64_t k = 0; k < p.parts; k++) {
            const uint32_t here = p.next[k][range];
            p.next[k][range] = before;
            before += here;
        }
    }
    p.begin[p.parts] = before;
    if (*run->stop) return; /* some parts may not have been drawn */
    each_block(run, deal_part, at, 0, p.parts, 0, p.parts, p.parts, &dealing);
    if (*run->stop) return;
    each_block(run, order_range, at, 0, p.parts, 0, p.parts, p.parts, &ordering);
}

#endif

#endif

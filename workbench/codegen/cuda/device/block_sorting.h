/* Permutations: the stable order of random words, as c/run/permutation.h has it.

   Pairs of a word and its place are sorted, of which no two are equal: so their order does not depend
   on how they were dealt before, nor on how many threads sort them. Functions that all threads of a
   block run together have barriers inside, none behind, and only `block_sort` one in front. */
#ifndef WORKBENCH_BLOCK_SORTING_H
#define WORKBENCH_BLOCK_SORTING_H

#include "block_functions.h"

/* Sort `count` places by their words: a bitonic network whose comparisons all go the same way, so that
   pairs that would lie behind the last one are not missed. A warp has 32 comparisons side by side: up to
   step 5 these are of the same 64 pairs each time, and wait for no other warp. WORD is the word of the
   place number `at`, `here`; EXCHANGED_WORDS changes those of two places. */
#define SORTED_BY(place, WORD, EXCHANGED_WORDS)                                                       \
    for (int level = 0; ((int64_t)1 << level) < count; level++)                                       \
        for (int step = level; step >= 0; step--) {                                                   \
            const int64_t apart = (int64_t)1 << step;                                                 \
            if (level && BLOCK_THREADS % WARP == 0 && step + (step < level) <= 5)                     \
                WARP_BARRIER                                                                          \
            else                                                                                      \
                BARRIER                                                                               \
            for (int64_t pair = thread;; pair += BLOCK_THREADS) {                                     \
                const int64_t inside = pair & (apart - 1), first = (pair >> step) << (step + 1);      \
                const int64_t one = first + inside;                                                   \
                const int64_t other =                                                                 \
                    first + (step == level ? 2 * apart - 1 - inside : apart + inside);                \
                if (first + apart >= count) break;                                                    \
                if (other >= count) continue;                                                         \
                const int32_t its = LD(place, place_begin + one);                                     \
                const int32_t others = LD(place, place_begin + other);                                \
                const uint32_t left = WORD(one, its), right = WORD(other, others);                    \
                if (left < right || (left == right && its < others)) continue;                        \
                EXCHANGED_WORDS(one, left, other, right)                                              \
                ST(place, place_begin + one, others);                                                 \
                ST(place, place_begin + other, its);                                                  \
            }                                                                                         \
        }

/* With the words beside. */
#define WORD_BESIDE(at, here) (uint32_t)LD(word, word_begin + (at))
#define EXCHANGED_BESIDE(one, left, other, right)   \
    ST(word, word_begin + one, (int32_t)right);     \
    ST(word, word_begin + other, (int32_t)left);
TOGETHER void block_sort(ARRAY(int32_t) word, int64_t word_begin, ARRAY(int32_t) place,
                         int64_t place_begin, int64_t count, int thread) {
    SORTED_BY(place, WORD_BESIDE, EXCHANGED_BESIDE)
}

/* Draw the permutation of one instance by one block. `word` has room for `count`. */
TOGETHER void block_permutation(ARRAY(int32_t) out, int64_t begin, int64_t count, uint32_t seed,
                                uint32_t key, int dims, uint32_t x0, uint32_t x1, uint32_t x2,
                                uint32_t x3, uint32_t x4, ARRAY(int32_t) word, int64_t word_begin,
                                int thread) {
    for (int64_t group = thread; 4 * group < count; group += BLOCK_THREADS) {
        const words drawn = philox(counter(dims, (uint32_t)group, x0, x1, x2, x3, x4), seed, key);
        for (int k = 0; k < 4 && 4 * group + k < count; k++) {
            ST(word, word_begin + 4 * group + k, (int32_t)drawn.word[k]);
            ST(out, begin + 4 * group + k, (int32_t)(4 * group + k));
        }
    }
    block_sort(word, word_begin, out, begin, count, thread);
}

/* A permutation by many blocks. The places are dealt to ranges of equal width of their words, of which
   each is sorted by a block. Words are drawn again where they are needed: they take no memory. `counts`
   has how many words each range has, how many of them were dealt, and where each begins: three numbers
   for each, and one more. */

INLINE uint32_t word_of(int32_t place, uint32_t seed, uint32_t key, int dims, uint32_t x0, uint32_t x1,
                        uint32_t x2, uint32_t x3, uint32_t x4) {
    const uint32_t group = (uint32_t)place / 4, inside = (uint32_t)place % 4;
    const words drawn = philox(counter(dims, group, x0, x1, x2, x3, x4), seed, key);
    const uint32_t low = inside == 0 ? drawn.word[0] : drawn.word[1];
    const uint32_t high = inside == 2 ? drawn.word[2] : drawn.word[3];
    return inside < 2 ? low : high;
}

INLINE int64_t range_of(uint32_t word, int64_t ranges) {
    return (int64_t)((uint64_t)word * (uint64_t)ranges >> 32);
}

/* The numbers before each in shared memory: `each` of them for every thread. `sums` has room for a
   number of each thread. */
TOGETHER void block_running_sums(ARRAY(int32_t) numbers, int each, ARRAY(int32_t) sums, int thread) {
    int32_t own = 0, before;
    for (int k = 0; k < each; k++) own += LD(numbers, thread * each + k);
    ST(sums, thread, own);
    BARRIER
    for (int apart = 1; apart < BLOCK_THREADS; apart *= 2) {
        before = thread < apart ? 0 : LD(sums, thread - apart);
        BARRIER
        ST(sums, thread, LD(sums, thread) + before);
        BARRIER
    }
    before = LD(sums, thread) - own;
    for (int k = 0; k < each; k++) {
        const int32_t here = LD(numbers, thread * each + k);
        ST(numbers, thread * each + k, before);
        before += here;
    }
}

TOGETHER void permutation_begun(ARRAY(int32_t) counts, int64_t begin, int64_t ranges, int thread) {
    for (int64_t k = thread; k < 2 * ranges; k += BLOCK_THREADS) ST(counts, begin + k, 0);
}

/* Each thread counts four words. */
TOGETHER void permutation_counted(ARRAY(int32_t) counts, int64_t begin, int64_t ranges,
                                  int64_t count, uint32_t seed, uint32_t key, int dims, uint32_t x0,
                                  uint32_t x1, uint32_t x2, uint32_t x3, uint32_t x4, int thread) {
    const int64_t group = BLOCK * BLOCK_THREADS + thread;
    if (4 * group >= count) return;
    const words drawn = philox(counter(dims, (uint32_t)group, x0, x1, x2, x3, x4), seed, key);
    for (int k = 0; k < 4 && 4 * group + k < count; k++)
        (void)ADDED(counts, begin + range_of(drawn.word[k], ranges), 1);
}

/* Each thread deals four places. Every block finds where ranges begin for itself, in `begins`; the first
   one writes it down. */
TOGETHER void permutation_dealt(ARRAY(int32_t) out, int64_t out_begin, ARRAY(int32_t) counts,
                                int64_t begin, int64_t ranges, int64_t count, uint32_t seed,
                                uint32_t key, int dims, uint32_t x0, uint32_t x1, uint32_t x2,
                                uint32_t x3, uint32_t x4, ARRAY(int32_t) begins,
                                ARRAY(int32_t) sums, int thread) {
    const int each = (int)((ranges + BLOCK_THREADS - 1) / BLOCK_THREADS);
    const int64_t group = BLOCK * BLOCK_THREADS + thread;
    for (int64_t r = thread * each; r < (thread + 1) * each; r++)
        ST(begins, r, r < ranges ? LD(counts, begin + r) : 0);
    block_running_sums(begins, each, sums, thread);
    BARRIER
    if (BLOCK == 0)
        for (int64_t r = thread; r <= ranges; r += BLOCK_THREADS)
            ST(counts, begin + 2 * ranges + r, r < ranges ? LD(begins, r) : (int32_t)count);
    if (4 * group >= count) return;
    const words drawn = philox(counter(dims, (uint32_t)group, x0, x1, x2, x3, x4), seed, key);
    for (int k = 0; k < 4 && 4 * group + k < count; k++) {
        const int64_t range = range_of(drawn.word[k], ranges);
        const int32_t before = LD(begins, range) + ADDED(counts, begin + ranges + range, 1);
        ST(out, out_begin + before, (int32_t)(4 * group + k));
    }
}

/* A block sorts its range: where it is, if there are more places in it than the `most` that go into
   `own_place`. */
#define WORD_DRAWN(at, here) word_of(here, seed, key, dims, x0, x1, x2, x3, x4)
#define NO_WORDS(one, left, other, right)
TOGETHER void permutation_sorted(ARRAY(int32_t) out, int64_t out_begin, ARRAY(int32_t) counts,
                                 int64_t begin, int64_t ranges, int64_t most, uint32_t seed,
                                 uint32_t key, int dims, uint32_t x0, uint32_t x1, uint32_t x2,
                                 uint32_t x3, uint32_t x4, ARRAY(int32_t) own_word,
                                 ARRAY(int32_t) own_place, int thread) {
    const int64_t first = LD(counts, begin + 2 * ranges + BLOCK), place_begin = out_begin + first;
    const int64_t count = LD(counts, begin + 2 * ranges + BLOCK + 1) - first;
    if (count > most) {
        SORTED_BY(out, WORD_DRAWN, NO_WORDS)
        return;
    }
    for (int64_t k = thread; k < count; k += BLOCK_THREADS) {
        const int32_t here = LD(out, place_begin + k);
        ST(own_place, k, here);
        ST(own_word, k, (int32_t)WORD_DRAWN(k, here));
    }
    block_sort(own_word, 0, own_place, 0, count, thread);
    BARRIER
    for (int64_t k = thread; k < count; k += BLOCK_THREADS)
        ST(out, place_begin + k, LD(own_place, k));
}

#endif

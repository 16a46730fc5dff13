/* Permutations: the stable order of random words, as NumPy's stable argsort gives it. */
#ifndef WORKBENCH_PERMUTATION_H
#define WORKBENCH_PERMUTATION_H

#include "philox.h"

/* The elements of scratch memory for a permutation of so many. */
#define PERMUTATION_SCRATCH(count) (2 * (count))

/* Write the places of `count` words, fewer than 2^31, in rising order of the words; equal ones keep
   theirs. `scratch` has room for count. */
OUT_OF_LINE void stable_order(int32_t *out, int64_t count, const uint32_t *word, int32_t *scratch);

/* Draw the permutation of one instance; `scratch` has room for PERMUTATION_SCRATCH(count). */
OUT_OF_LINE void permutation(int32_t *out, int64_t count, uint32_t seed, uint32_t key, int dims,
                             const uint32_t *x, uint32_t *scratch);

#if defined(RUNTIME_BODIES)

/* Radix sort from the lowest digit: three passes over 11, 11 and 10 bits. Each is stable, so the
   whole is. All digits are counted in one go. Only the places move: to move the words with them is
   no faster while they fit a core's cache, and takes another array. */
OUT_OF_LINE void stable_order(int32_t *out, int64_t count, const uint32_t *word, int32_t *scratch) {
    uint32_t place[3][2048] = {{0}};
    for (int64_t k = 0; k < count; k++) {
        place[0][word[k] & 2047]++;
        place[1][word[k] >> 11 & 2047]++;
        place[2][word[k] >> 22]++;
    }
    for (int pass = 0; pass < 3; pass++) {
        uint32_t before = 0;
        for (int digit = 0; digit < 2048; digit++) {
            uint32_t here = place[pass][digit];
            place[pass][digit] = before;
            before += here;
        }
    }
    for (int64_t k = 0; k < count; k++) out[place[0][word[k] & 2047]++] = (int32_t)k;
    for (int64_t k = 0; k < count; k++) {
        int32_t one = out[k];
        scratch[place[1][word[one] >> 11 & 2047]++] = one;
    }
    for (int64_t k = 0; k < count; k++) {
        int32_t one = scratch[k];
        out[place[2][word[one] >> 22]++] = one;
    }
}

OUT_OF_LINE void permutation(int32_t *out, int64_t count, uint32_t seed, uint32_t key, int dims,
                             const uint32_t *x, uint32_t *scratch) {
    fill_words(scratch, count, seed, key, dims, x);
    stable_order(out, count, scratch, (int32_t *)scratch + count);
}

#endif

#endif

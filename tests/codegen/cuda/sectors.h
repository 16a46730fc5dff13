/* The 32-byte sectors of memory outside of a block that warps ask for. Threads of one warp that come to
   the same access in the text for the same time, since their last barrier, make one request,
   as they do on a GPU: it asks for each sector once, however many of them touch it. What caches keep
   between requests is not looked at. */
#ifndef WORKBENCH_SECTORS_H
#define WORKBENCH_SECTORS_H

#define SECTOR 32
#define MOST_PLACES 32768 /* accesses in the text */
#define MOST_ARRAYS 256

typedef struct { uint64_t since; int64_t turn_of_warp, times; } Times;
typedef struct { uint64_t since, request, sector; } Asked;

/* Whether sectors are counted, and those of each array of a launch that were loaded and stored. */
EXPORTED int64_t counting, counted_arrays, sectors_loaded[MOST_ARRAYS], sectors_stored[MOST_ARRAYS];
EXPORTED const char *counted_array[MOST_ARRAYS];

static uint64_t since; /* the number of the block's barrier */
static Times *times_of[MOST_PLACES];
static Asked *asked;
static int64_t room_asked, count_asked;

static void begin_counting(void) {
    for (int64_t k = 0; k < counted_arrays; k++) sectors_loaded[k] = sectors_stored[k] = 0;
    counted_arrays = 0;
}

static void end_requests(void) { since++, count_asked = 0; }

/* Tell whether a request asks for a sector the first time. */
static int is_new(uint64_t request, uint64_t sector) {
    uint64_t hash = (request * 0x9e3779b97f4a7c15ull) ^ (sector * 0xc2b2ae3d27d4eb4full);
    for (hash ^= hash >> 29;; hash++) {
        Asked *const here = &asked[hash & (uint64_t)(room_asked - 1)];
        if (here->since != since) {
            *here = (Asked){since, request, sector};
            count_asked++;
            return 1;
        }
        if (here->request == request && here->sector == sector) return 0;
    }
}

static void make_room(void) {
    Asked *const before = asked;
    const int64_t room = room_asked;
    room_asked = room ? 2 * room : 1 << 16;
    asked = calloc((size_t)room_asked, sizeof(Asked));
    count_asked = 0;
    for (int64_t k = 0; k < room; k++)
        if (before[k].since == since) is_new(before[k].request, before[k].sector);
    free(before);
}

/* An access to an element, stored or loaded: each place of an access in the text has its number. */
static void request(int place, const void *element, const char *array, int stores) {
    if (place >= MOST_PLACES) abort();
    if (!times_of[place]) times_of[place] = calloc(MOST_THREADS, sizeof(Times));
    Times *const times = &times_of[place][this_thread];
    const int warp = this_thread / WARP;
    const int64_t in_warp = turn_of_warp[warp];
    const int again = times->since == since && times->turn_of_warp == in_warp;
    *times = (Times){since, in_warp, again ? times->times + 1 : 0};
    if (2 * count_asked >= room_asked) make_room();
    if (in_warp >> 20 || times->times >> 20) abort();
    const uint64_t of_warp = (uint64_t)place << 48 | (uint64_t)warp << 40 | (uint64_t)in_warp << 20;
    if (!is_new(of_warp | (uint64_t)times->times, (uint64_t)element / SECTOR)) return;
    int64_t k = 0;
    while (k < counted_arrays && strcmp(counted_array[k], array)) k++;
    if (k == MOST_ARRAYS) abort();
    if (k == counted_arrays) counted_array[counted_arrays++] = array;
    (stores ? sectors_stored : sectors_loaded)[k]++;
}

#endif

// The most that one core of this machine does: operations a second of fused multiply-adds in registers, and bytes a second read
// again and again from so many. cc -O3 -march=native -ffp-contract=fast -o peaks peaks.c ; ./peaks BYTES
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
typedef float V __attribute__((vector_size(WIDTH)));
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)
static double cpu_seconds(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
// Twelve accumulators hide the latency and leave registers for both factors: 16 in all.
static double operations(volatile float *given) {
    const long turns = 20000000;
    V x = {0}, y = {0};
    x += given[0]; y += given[1];
#define DECLARE(k) V a##k = x + given[1] * k;
#define STEP(k) a##k = a##k * x + y;
#define ADD(k) sum += a##k;
    EACH(DECLARE)
    double start = cpu_seconds();
    for (long turn = 0; turn < turns; turn++) { EACH(STEP) }
    double taken = cpu_seconds() - start;
    V sum = {0};
    EACH(ADD)
    given[2] = sum[0];
    return turns * 12.0 * 2 * (WIDTH / 4) / taken;
}
static double bytes(const V *data, size_t count, volatile float *given) {
    V a = {0}, b = {0}, c = {0}, d = {0};
    size_t passes = ((size_t)256 << 20) / (count * WIDTH) + 1;
    double start = cpu_seconds();
    for (size_t pass = 0; pass < passes; pass++) {
        for (size_t k = 0; k < count; k += 4) { a += data[k]; b += data[k + 1]; c += data[k + 2]; d += data[k + 3]; }
        __asm__ volatile("" ::: "memory");
    }
    double taken = cpu_seconds() - start;
    a += b + c + d;
    given[3] = a[0];
    return (double)passes * count * WIDTH / taken;
}
int main(int argc, char **argv) {
    volatile float given[4] = {.999f, .001f};
    const size_t size = ((argc > 1 ? strtoull(argv[1], 0, 10) : (size_t)256 << 20) + 4 * WIDTH - 1) / (4 * WIDTH) * (4 * WIDTH);
    V *data = aligned_alloc(64, size);
    if (!data) return 1;
    memset(data, 0, size);
    double most_operations = 0, most_bytes = 0;
    for (int turn = 0; turn < 9; turn++) {
        double o = operations(given), b = bytes(data, size / WIDTH, given);
        if (o > most_operations) most_operations = o;
        if (b > most_bytes) most_bytes = b;
    }
    printf("{\"flops_per_second\": %.5g, \"bytes_per_second\": %.5g}\n", most_operations, most_bytes);
    return 0;
}

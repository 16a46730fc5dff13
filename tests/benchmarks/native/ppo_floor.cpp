// Hand-written PPO on CartPole-v1 (AVX-512 or AVX2, OpenMP): what a machine can do at the same algorithm and hyper-parameters.
// g++ -O3 -march=native -ffast-math -fopenmp -o ppo_floor ppo_floor.cpp ; OMP_NUM_THREADS=1 ./ppo_floor NUM_ENVS NUM_STEPS EPOCHS MINIBATCHES TOTAL LR SEED
// Actor and critic are separate 64x64 tanh MLPs. Activations lie [feature][sample]; one block of samples goes through forward,
// loss and backward while it is in cache. Everything is float32. Only the first section knows how wide a vector is.
#include <immintrin.h>
#include <omp.h>
#include <sys/resource.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>
#ifdef __AVX512F__
typedef __m512 V; typedef __m512i VI; typedef __mmask16 VM;
// W lanes; a tile of S samples; products hold ROWS x COLS accumulators in registers, outer products OROWS x OCOLS.
static const int W = 16, NV = 4, S = NV * W, COLS = 4, ACCUMULATORS = 16, OROWS = 4, OCOLS = 4;
static inline V bc(float x) { return _mm512_set1_ps(x); }
static inline V zero() { return _mm512_setzero_ps(); }
static inline V load(const float* p) { return _mm512_loadu_ps(p); }
static inline void store(float* p, V x) { _mm512_storeu_ps(p, x); }
static inline void store_first(float* p, int n, V x) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x); }
static inline VI load_int(const void* p) { return _mm512_loadu_si512(p); }
static inline void store_int(void* p, VI x) { _mm512_storeu_si512(p, x); }
static inline V fma(V x, V y, V z) { return _mm512_fmadd_ps(x, y, z); }
static inline V fms(V x, V y, V z) { return _mm512_fmsub_ps(x, y, z); }
static inline V fnma(V x, V y, V z) { return _mm512_fnmadd_ps(x, y, z); }
static inline V clamp(V x, float low, float high) { return _mm512_min_ps(_mm512_max_ps(x, bc(low)), bc(high)); }
static inline V nearest(V x) { return _mm512_roundscale_ps(x, 8); }
static inline V scale(V x, V n) { return _mm512_scalef_ps(x, n); }
static inline V about_rcp(V x) { return _mm512_rcp14_ps(x); }
static inline float total(V x) { return _mm512_reduce_add_ps(x); }
static inline V magnitude(V x) { return _mm512_abs_ps(x); }
static inline VM less(V x, V y) { return _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ); }
static inline VM at_least(VI x, int y) { return _mm512_cmpge_epi32_mask(x, _mm512_set1_epi32(y)); }
static inline V select(VM m, V yes, V no) { return _mm512_mask_blend_ps(m, no, yes); }
static inline VM either(VM x, VM y) { return x | y; }
static inline VI clear(VM m, VI x) { return _mm512_mask_set1_epi32(x, m, 0); }
static inline unsigned bits(VM m) { return m; }
static inline VI next(VI x) { return _mm512_add_epi32(x, _mm512_set1_epi32(1)); }
static inline V to_float(VI x) { return _mm512_cvtepi32_ps(x); }
static inline VI high_bits(VI x) { return _mm512_srli_epi32(x, 8); }
static inline VI xorshift(VI r) {
    r = _mm512_xor_si512(r, _mm512_slli_epi32(r, 13)); r = _mm512_xor_si512(r, _mm512_srli_epi32(r, 17));
    return _mm512_xor_si512(r, _mm512_slli_epi32(r, 5));
}
static inline void transpose(const float* in, int si, float* out, int so) {   // W x W
    V r[16], t[16];
    for (int i = 0; i < 16; i++) r[i] = load(in + i * si);
    for (int i = 0; i < 8; i++) { t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]); t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]); }
    for (int i = 0; i < 4; i++) {
        __m512d a = _mm512_castps_pd(t[4 * i]), b = _mm512_castps_pd(t[4 * i + 2]), c = _mm512_castps_pd(t[4 * i + 1]), d = _mm512_castps_pd(t[4 * i + 3]);
        r[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)); r[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        r[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(c, d)); r[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(c, d));
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88); t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88); t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 8; i++) {
        store(out + i * so, _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88));
        store(out + (i + 8) * so, _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd));
    }
}
#else
typedef __m256 V; typedef __m256i VI; typedef __m256 VM;
// 16 registers: 12 accumulators, and the rest for what they are made of.
static const int W = 8, NV = 4, S = NV * W, COLS = 2, ACCUMULATORS = 12, OROWS = 6, OCOLS = 2;
static inline V bc(float x) { return _mm256_set1_ps(x); }
static inline V zero() { return _mm256_setzero_ps(); }
static inline V load(const float* p) { return _mm256_loadu_ps(p); }
static inline void store(float* p, V x) { _mm256_storeu_ps(p, x); }
static inline VI load_int(const void* p) { return _mm256_loadu_si256((const VI*)p); }
static inline void store_int(void* p, VI x) { _mm256_storeu_si256((VI*)p, x); }
static inline void store_first(float* p, int n, V x) {
    _mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), x);
}
static inline V fma(V x, V y, V z) { return _mm256_fmadd_ps(x, y, z); }
static inline V fms(V x, V y, V z) { return _mm256_fmsub_ps(x, y, z); }
static inline V fnma(V x, V y, V z) { return _mm256_fnmadd_ps(x, y, z); }
static inline V clamp(V x, float low, float high) { return _mm256_min_ps(_mm256_max_ps(x, bc(low)), bc(high)); }
static inline V nearest(V x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline V scale(V x, V n) {   // x in [0.5, 2): n is added to its exponent
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
}
static inline V about_rcp(V x) { return _mm256_rcp_ps(x); }
static inline float total(V x) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
static inline V magnitude(V x) { return _mm256_andnot_ps(bc(-0.f), x); }
static inline VM less(V x, V y) { return _mm256_cmp_ps(x, y, _CMP_LT_OQ); }
static inline VM at_least(VI x, int y) { return _mm256_castsi256_ps(_mm256_cmpgt_epi32(x, _mm256_set1_epi32(y - 1))); }
static inline V select(VM m, V yes, V no) { return _mm256_blendv_ps(no, yes, m); }
static inline VM either(VM x, VM y) { return _mm256_or_ps(x, y); }
static inline VI clear(VM m, VI x) { return _mm256_andnot_si256(_mm256_castps_si256(m), x); }
static inline unsigned bits(VM m) { return _mm256_movemask_ps(m); }
static inline VI next(VI x) { return _mm256_add_epi32(x, _mm256_set1_epi32(1)); }
static inline V to_float(VI x) { return _mm256_cvtepi32_ps(x); }
static inline VI high_bits(VI x) { return _mm256_srli_epi32(x, 8); }
static inline VI xorshift(VI r) {
    r = _mm256_xor_si256(r, _mm256_slli_epi32(r, 13)); r = _mm256_xor_si256(r, _mm256_srli_epi32(r, 17));
    return _mm256_xor_si256(r, _mm256_slli_epi32(r, 5));
}
static inline void transpose(const float* in, int si, float* out, int so) {   // W x W
    V r[8], t[8];
    for (int i = 0; i < 4; i++) {   // rows i and i + 4 side by side: what is left is two 4 x 4
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in + i * si)), _mm_loadu_ps(in + (i + 4) * si), 1);
        r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in + i * si + 4)), _mm_loadu_ps(in + (i + 4) * si + 4), 1);
    }
    for (int h = 0; h < 8; h += 4) {
        t[h] = _mm256_unpacklo_ps(r[h], r[h + 1]); t[h + 1] = _mm256_unpackhi_ps(r[h], r[h + 1]);
        t[h + 2] = _mm256_unpacklo_ps(r[h + 2], r[h + 3]); t[h + 3] = _mm256_unpackhi_ps(r[h + 2], r[h + 3]);
        store(out + h * so, _mm256_shuffle_ps(t[h], t[h + 2], 0x44)); store(out + (h + 1) * so, _mm256_shuffle_ps(t[h], t[h + 2], 0xee));
        store(out + (h + 2) * so, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0x44)); store(out + (h + 3) * so, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0xee));
    }
}
#endif
static inline V vexp(V x) {
    x = clamp(x, -87.f, 87.f);
    V n = nearest(x * bc(1.44269504f));
    V r = fnma(n, bc(0.693359375f), x);
    r = fnma(n, bc(-2.12194440e-4f), r);
    V p = bc(1.9875691500e-4f);
    p = fma(p, r, bc(1.3981999507e-3f)); p = fma(p, r, bc(8.3334519073e-3f));
    p = fma(p, r, bc(4.1665795894e-2f)); p = fma(p, r, bc(1.6666665459e-1f)); p = fma(p, r, bc(5.0000001201e-1f));
    p = fma(r * r, p, r + bc(1.f));
    return scale(p, n);
}
static inline V vrcp(V x) { V y = about_rcp(x); return y * fnma(x, y, bc(2.f)); }
static inline V vtanh(V x) {   // 1 - 2/(e^2x + 1), series near 0
    V t = fnma(bc(2.f), vrcp(vexp(x * bc(2.f)) + bc(1.f)), bc(1.f));
    V q = x * x;
    V s = x * fma(q, fma(q, fma(q, bc(-17.f / 315), bc(2.f / 15)), bc(-1.f / 3)), bc(1.f));
    return select(less(q, bc(.01f)), s, t);
}
static const int H = 64;
struct Net {   // flat parameters: W1[4][64] b1[64] W2[64][64] b2[64] W3[64][O] b3[O]
    int O, n, w1, b1, w2, b2, w3, b3;
    explicit Net(int o) : O(o) { w1 = 0; b1 = 4 * H; w2 = b1 + H; b2 = w2 + H * H; w3 = b2 + H; b3 = w3 + H * o; n = b3 + o; }
};
// Y[j] = b[j] + sum_i W[i*si + j*sj] X[i] for JT values of j and VT vectors of samples, in registers
template <int NV, int VT, int JT> static inline void block(const float* P, int si, int sj, const float* b, const V* X, V* Y, int I, bool act) {
    V a[JT][VT];
    for (int q = 0; q < JT; q++) for (int v = 0; v < VT; v++) a[q][v] = b ? bc(b[q]) : zero();
    for (int i = 0; i < I; i++)
        for (int q = 0; q < JT; q++) { V w = bc(P[i * si + q * sj]); for (int v = 0; v < VT; v++) a[q][v] = fma(w, X[i * NV + v], a[q][v]); }
    for (int q = 0; q < JT; q++) for (int v = 0; v < VT; v++) Y[q * NV + v] = act ? vtanh(a[q][v]) : a[q][v];
}
template <int NV, int J> static inline void mm(const float* P, int si, int sj, const float* b, const V* X, V* Y, int I, bool act) {
    const int VT = NV < COLS ? NV : COLS, JT = J < ACCUMULATORS / VT ? J : ACCUMULATORS / VT, REST = J % JT;
    for (int v = 0; v < NV; v += VT) {
        for (int j = 0; j + JT <= J; j += JT) block<NV, VT, JT>(P + j * sj, si, sj, b ? b + j : b, X + v, Y + j * NV + v, I, act);
        if (REST) block<NV, VT, REST ? REST : 1>(P + (J - REST) * sj, si, sj, b ? b + J - REST : b, X + v, Y + (J - REST) * NV + v, I, act);
    }
}
template <int NV> static void fwd(const Net& m, const float* P, const V* X, V* H1, V* H2, V* Y) {
    mm<NV, H>(P + m.w1, H, 1, P + m.b1, X, H1, 4, true);
    mm<NV, H>(P + m.w2, H, 1, P + m.b2, H1, H2, H, true);
    if (m.O == 2) mm<NV, 2>(P + m.w3, 2, 1, P + m.b3, H2, Y, H, false);
    else mm<NV, 1>(P + m.w3, 1, 1, P + m.b3, H2, Y, H, false);
}
// G[i][j] += sum_s X[i][s] T[s][j] for R values of i and Q vectors of j, in registers
template <int S, int R, int Q> static inline void outer_block(const float* x, const float* T, float* G) {
    V a[R][Q];
    for (int p = 0; p < R; p++) for (int q = 0; q < Q; q++) a[p][q] = load(G + p * H + W * q);
    for (int s = 0; s < S; s++)
        for (int p = 0; p < R; p++) { V w = bc(x[p * S + s]); for (int q = 0; q < Q; q++) a[p][q] = fma(w, load(T + s * H + W * q), a[p][q]); }
    for (int p = 0; p < R; p++) for (int q = 0; q < Q; q++) store(G + p * H + W * q, a[p][q]);
}
// G[i][j] += sum_s X[i][s] D[j][s], j < 64; GB[j] += sum_s D[j][s]
template <int NV, int I> static void outer(const V* X, const V* D, float* T, float* G, float* GB) {
    const int S = NV * W, R = I < OROWS ? I : OROWS, REST = I % R;
    for (int j = 0; j < H; j += W) for (int s = 0; s < S; s += W) transpose((const float*)D + j * S + s, S, T + s * H + j, H);
    V g[H / W];
    for (int q = 0; q < H / W; q++) g[q] = load(GB + W * q);
    for (int s = 0; s < S; s++) for (int q = 0; q < H / W; q++) g[q] = g[q] + load(T + s * H + W * q);
    for (int q = 0; q < H / W; q++) store(GB + W * q, g[q]);
    const float* x = (const float*)X;
    for (int j = 0; j < H; j += OCOLS * W) {
        for (int i = 0; i + R <= I; i += R) outer_block<S, R, OCOLS>(x + i * S, T + j, G + i * H + j);
        if (REST) outer_block<S, REST ? REST : 1, OCOLS>(x + (I - REST) * S, T + j, G + (I - REST) * H + j);
    }
}
template <int NV> static void bwd(const Net& m, const float* P, const V* X, const V* H1, const V* H2, const V* DY, V* D2, V* D1, float* T, float* G) {
    for (int o = 0; o < m.O; o++) {
        V sb = zero();
        for (int v = 0; v < NV; v++) sb = sb + DY[o * NV + v];
        G[m.b3 + o] += total(sb);
        for (int i = 0; i < H; i++) {
            V s = zero();
            for (int v = 0; v < NV; v++) s = fma(H2[i * NV + v], DY[o * NV + v], s);
            G[m.w3 + i * m.O + o] += total(s);
        }
    }
    mm<NV, H>(P + m.w3, 1, m.O, nullptr, DY, D2, m.O, false);
    for (int k = 0; k < H * NV; k++) D2[k] = D2[k] * fnma(H2[k], H2[k], bc(1.f));
    outer<NV, H>(H1, D2, T, G + m.w2, G + m.b2);
    mm<NV, H>(P + m.w2, 1, H, nullptr, D2, D1, H, false);
    for (int k = 0; k < H * NV; k++) D1[k] = D1[k] * fnma(H1[k], H1[k], bc(1.f));
    outer<NV, 4>(X, D1, T, G + m.w1, G + m.b1);
}
struct alignas(64) Scratch { V X[4 * NV], A1[H * NV], A2[H * NV], C1[H * NV], C2[H * NV], Y[2 * NV], Z[NV], D2[H * NV], D1[H * NV], DY[2 * NV], DZ[NV]; float T[S * H], in[9][S]; };
static double cpu_now() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
int main(int c, char** v) {
    double t_start = now();
    int N = atoi(v[1]), T = atoi(v[2]), EP = atoi(v[3]), MB = atoi(v[4]); long total = atol(v[5]); float lr = c > 6 ? atof(v[6]) : 2.5e-4f; unsigned seed = c > 7 ? atoi(v[7]) : 1;
    const int NT = omp_get_max_threads(), B = N * T, M = B / MB, NP = (N + W - 1) / W * W;
    Net A(2), C(1);
    const int K = (A.n + C.n + 15) / 16 * 16;
    std::vector<float> P(K), m1(K), m2(K);
    std::vector<std::vector<float>> G(NT, std::vector<float>(K + 16));
    std::mt19937 rng(seed); std::normal_distribution<float> nd;
    auto init = [&](const Net& m, float* p, float s3) {   // scaled gaussian columns, near-orthogonal at these sizes
        for (int k = 0; k < 4 * H; k++) p[m.w1 + k] = nd(rng) * 1.41421f / 8.f;   // rows of a 4x64 orthogonal matrix have unit norm
        for (int k = 0; k < H * H; k++) p[m.w2 + k] = nd(rng) * 1.41421f / 8.f;
        for (int k = 0; k < H * m.O; k++) p[m.w3 + k] = nd(rng) * s3 / 8.f;
    };
    init(A, P.data(), .01f); init(C, P.data() + A.n, 1.f);
    std::vector<float> st(4 * NP), obs((size_t)T * N * 4), lp(B), val(B + N), adv(B), ret(B), done(B); std::vector<int> cnt(NP); std::vector<uint8_t> act(B); std::vector<uint32_t> rs(NP), perm(B);
    for (auto& x : rs) x = rng() | 1;
    for (auto& x : st) x = (rng() / 4294967296.f - .5f) * .1f;
    for (int i = 0; i < B; i++) perm[i] = i;
    std::vector<Scratch*> sc(NT);
    for (auto& s : sc) s = (Scratch*)aligned_alloc(64, (sizeof(Scratch) + 63) / 64 * 64);
    long iters = total / B, adam_t = 0; long hit = -1; double t_hit = -1; std::vector<float> ring(100); long neps = 0; double rsum = 0, r500 = -1;
    std::vector<float> eplen(B);
    double t_roll = 0, t_upd = 0, t_first = 0, t0 = now(), tsteady = 0, csteady = 0;
    const int NBK = NP / W; const long warm = iters / 5 > 0 ? iters / 5 : 0;
    double s1 = 0, s2 = 0;
    for (long it = 0; it < iters; it++) {
        if (it == warm) { tsteady = now(); csteady = cpu_now(); t_roll = t_upd = 0; }
        double a0 = now();
#pragma omp parallel num_threads(NBK < NT ? NBK : NT)
        {
            Scratch& q = *sc[omp_get_thread_num()];
#pragma omp for schedule(static)
            for (int b = 0; b < NBK; b++) {
                int e0 = b * W, ne = N - e0 < W ? N - e0 : W;
                V X[4]; VI r = load_int(&rs[e0]), k = load_int(&cnt[e0]);
                for (int f = 0; f < 4; f++) X[f] = load(&st[f * NP + e0]);
                for (int t = 0; t <= T; t++) {
                    fwd<1>(C, P.data() + A.n, X, q.C1, q.C2, q.Z);
                    store_first(&val[(size_t)t * N + e0], ne, q.Z[0]);
                    if (t == T) break;
                    fwd<1>(A, P.data(), X, q.A1, q.A2, q.Y);
                    for (int e = 0; e < ne; e++) for (int f = 0; f < 4; f++) obs[((size_t)t * N + e0 + e) * 4 + f] = ((float*)&X[f])[e];
                    V p1 = vrcp(bc(1.f) + vexp(q.Y[0] - q.Y[1]));
                    r = xorshift(r);
                    V u = to_float(high_bits(r)) * bc(1.f / 16777216.f);
                    VM a = less(u, p1);
                    V pa = select(a, p1, bc(1.f) - p1);
                    alignas(64) float pf[W]; store(pf, pa); unsigned ab = bits(a);
                    size_t o = (size_t)t * N + e0;
                    for (int e = 0; e < ne; e++) { lp[o + e] = logf(pf[e]); act[o + e] = ab >> e & 1; }
                    V F = select(a, bc(10.f), bc(-10.f)), th = X[2], t2 = th * th;
                    V sn = th * fnma(t2, fnma(t2, bc(1.f / 120), bc(1.f / 6)), bc(1.f));
                    V cs = fnma(t2, fnma(t2, fnma(t2, bc(1.f / 720), bc(1.f / 24)), bc(.5f)), bc(1.f));
                    V tmp = fma(X[3] * X[3] * sn, bc(.05f), F) * bc(1 / 1.1f);
                    V ta = fms(bc(9.8f), sn, cs * tmp) / (bc(.5f) * fnma(cs * cs, bc(.1f / 1.1f), bc(4 / 3.f)));
                    V xa = fnma(ta * cs, bc(.05f / 1.1f), tmp);
                    X[0] = fma(X[1], bc(.02f), X[0]); X[1] = fma(xa, bc(.02f), X[1]); X[2] = fma(X[3], bc(.02f), X[2]); X[3] = fma(ta, bc(.02f), X[3]);
                    k = next(k);
                    VM far = less(bc(2.4f), magnitude(X[0])), fallen = less(bc(.20943951f), magnitude(X[2])), late = at_least(k, 500);
                    VM d = either(either(far, fallen), late); unsigned db = bits(d);
                    alignas(64) int kk[W]; store_int(kk, k);
                    for (int e = 0; e < ne; e++) { done[o + e] = db >> e & 1; eplen[o + e] = kk[e]; }
                    if (db) {
                        for (int f = 0; f < 4; f++) {
                            r = xorshift(r);
                            X[f] = select(d, to_float(r) * bc(.05f / 2147483648.f), X[f]);
                        }
                        k = clear(d, k);
                    }
                }
                for (int f = 0; f < 4; f++) store(&st[f * NP + e0], X[f]);
                store_int(&rs[e0], r); store_int(&cnt[e0], k);
                float g[W] = {0};
                for (int t = T - 1; t >= 0; t--) for (int e = 0; e < ne; e++) {
                    size_t o = (size_t)t * N + e0 + e; float nt = 1 - done[o];
                    g[e] = 1.f + .99f * val[o + N] * nt - val[o] + .99f * .95f * nt * g[e]; adv[o] = g[e]; ret[o] = g[e] + val[o];
                }
            }
        }
        for (int i = 0; i < B; i++) if (done[i]) {
            rsum += eplen[i] - (neps >= 100 ? ring[neps % 100] : 0); ring[neps++ % 100] = eplen[i];
            if (hit < 0 && neps >= 100 && rsum / 100 >= 475) { hit = it * (long)B + (long)(i / N + 1) * N; t_hit = now() - t_start; }
            if (it * (long)B + i <= 500000) r500 = rsum / (neps < 100 ? neps : 100);
        }
        double a1 = now(); t_roll += a1 - a0;
        for (int ep = 0; ep < EP; ep++) {
            uint32_t z = rng();
            for (int i = B - 1; i > 0; i--) { z ^= z << 13; z ^= z >> 17; z ^= z << 5; uint32_t j = (uint64_t)z * (i + 1) >> 32; std::swap(perm[i], perm[j]); }
            for (int mb = 0; mb < MB; mb++) {
                const uint32_t* ix = &perm[(size_t)mb * M];
                s1 = s2 = 0;
#pragma omp parallel
                {
                    int me = omp_get_thread_num(); Scratch& q = *sc[me]; float* g = G[me].data(); memset(g, 0, K * 4);
                    if (M > 4096) {
#pragma omp for schedule(static) reduction(+ : s1, s2)
                        for (int i = 0; i < M; i++) { double x = adv[ix[i]]; s1 += x; s2 += x * x; }
                    } else {
#pragma omp single
                        for (int i = 0; i < M; i++) { double x = adv[ix[i]]; s1 += x; s2 += x * x; }
                    }
                    float mu = s1 / M, is = 1.f / (sqrtf((float)fmax(0., (s2 - s1 * s1 / M) / M)) + 1e-8f), iM = 1.f / M;
#pragma omp for schedule(static)
                    for (int b = 0; b < (M + S - 1) / S; b++) {
                        int n = M - b * S < S ? M - b * S : S;
                        for (int s = 0; s < S; s++) {
                            uint32_t o = ix[b * S + (s < n ? s : 0)];
                            for (int f = 0; f < 4; f++) ((float*)q.X)[f * S + s] = obs[(size_t)o * 4 + f];
                            q.in[0][s] = act[o]; q.in[1][s] = lp[o]; q.in[2][s] = val[o]; q.in[3][s] = (adv[o] - mu) * is; q.in[4][s] = ret[o]; q.in[5][s] = s < n ? iM : 0;
                        }
                        fwd<NV>(A, P.data(), q.X, q.A1, q.A2, q.Y); fwd<NV>(C, P.data() + A.n, q.X, q.C1, q.C2, q.Z);
                        float *y0 = (float*)q.Y, *y1 = y0 + S, *z0 = (float*)q.Z, *d0 = (float*)q.DY, *d1 = d0 + S, *dz = (float*)q.DZ;
                        for (int s = 0; s < S; s++) {
                            float dl = y1[s] - y0[s], p1 = 1.f / (1.f + expf(-dl)), a = q.in[0][s], w = q.in[5][s];
                            float l1 = -logf(1.f + expf(-dl)), l0 = l1 - dl, nl = a > 0 ? l1 : l0, rt = expf(nl - q.in[1][s]), ad = q.in[3][s];
                            float rc = fminf(fmaxf(rt, .8f), 1.2f), dlp = rt * ad <= rc * ad ? -ad * rt : 0.f;       // d(-min)/d logp
                            float de = p1 * (1 - p1) * dl;                                                        // -dH/d logit1
                            float gl = dlp * (a - p1) + .01f * de;
                            d1[s] = gl * w; d0[s] = -gl * w;
                            float vv = z0[s], ov = q.in[2][s], R = q.in[4][s], vc = ov + fminf(fmaxf(vv - ov, -.2f), .2f), e1 = (vv - R) * (vv - R), e2 = (vc - R) * (vc - R);
                            dz[s] = .5f * w * (e1 >= e2 ? vv - R : (fabsf(vv - ov) < .2f ? vc - R : 0.f));
                        }
                        bwd<NV>(A, P.data(), q.X, q.A1, q.A2, q.DY, q.D2, q.D1, q.T, g);
                        bwd<NV>(C, P.data() + A.n, q.X, q.C1, q.C2, q.DZ, q.D2, q.D1, q.T, g + A.n);
                    }
                }
                float nrm = 0; float* g = G[0].data();
                for (int t = 1; t < NT; t++) for (int k = 0; k < K; k++) g[k] += G[t][k];
                for (int k = 0; k < K; k++) nrm += g[k] * g[k];
                nrm = sqrtf(nrm); float cl = nrm > .5f ? .5f / nrm : 1.f; adam_t++;
                float c1 = 1 - powf(.9f, adam_t), c2 = 1 - powf(.999f, adam_t);
                for (int k = 0; k < K; k++) { float x = g[k] * cl; m1[k] = .9f * m1[k] + .1f * x; m2[k] = .999f * m2[k] + .001f * x * x; P[k] -= lr * (m1[k] / c1) / (sqrtf(m2[k] / c2) + 1e-5f); }
            }
        }
        t_upd += now() - a1;
        if (it == 0) t_first = now() - t_start;
    }
    double dt = now() - tsteady, dc = cpu_now() - csteady; struct rusage ru; getrusage(RUSAGE_SELF, &ru);
    double cpu = ru.ru_utime.tv_sec + ru.ru_utime.tv_usec * 1e-6 + ru.ru_stime.tv_sec;
    printf("{\"bench\": \"ppo_cartpole\", \"peer\": \"hand_c\", \"num_envs\": %d, \"num_steps\": %d, \"hidden\": 64, \"threads\": %d, \"steps\": %ld, \"sps_median\": %.5g, \"sps_cpu\": %.5g, \"rollout_frac\": %.3f, \"startup_s\": %.4f, \"peak_rss_mb\": %.1f, \"ret_500k\": %.1f, \"ret_last\": %.1f, \"step_475\": %ld, \"s_475\": %.3f, \"cores\": %.2f}\n",
           N, T, NT, iters * (long)B, (iters - warm) * (double)B / dt, (iters - warm) * (double)B / dc, t_roll / (t_roll + t_upd), t_first, ru.ru_maxrss / 1024., r500, rsum / (neps < 100 ? neps : 100), hit, t_hit, cpu / (now() - t0));
}

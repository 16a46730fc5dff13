/* The bodies of product_f and product_d. A template: products.h includes it for either kind. */

/* WIDE_ROWS rows of two vectors. */
static __attribute__((noinline)) void OF(wide_sums)(const N *left, int64_t row_step, int64_t step,
                                                    const N *right, int64_t right_step, N *out,
                                                    int64_t out_step, int64_t times, int into) {
    EACH_WIDE_ROW(START_TWO)
    for (int64_t k = 0; k < times; k++, left += step, right += right_step) {
        V x = LOAD(right), y = LOAD(right + LANES);
        HELD(x) HELD(y)
        EACH_WIDE_ROW(ADD_TWO)
    }
    if (into) { EACH_WIDE_ROW(JOIN_TWO) } else { EACH_WIDE_ROW(KEEP_TWO) }
}

/* ROWS rows of one vector. */
static __attribute__((noinline)) void OF(sums)(const N *left, int64_t row_step, int64_t step,
                                               const N *right, int64_t right_step, N *out,
                                               int64_t out_step, int64_t times, int into) {
    EACH_ROW(START)
    for (int64_t k = 0; k < times; k++, left += step, right += right_step) {
        V x = LOAD(right);
        HELD(x)
        EACH_ROW(ADD)
    }
    if (into) { EACH_ROW(JOIN) } else { EACH_ROW(KEEP) }
}

/* One row of one vector. */
static __attribute__((noinline)) void OF(row_sums)(const N *left, int64_t step, const N *right,
                                                   int64_t right_step, N *out, int64_t times,
                                                   int into) {
    const int64_t row_step = 0, out_step = 0;
    START(0)
    for (int64_t k = 0; k < times; k++, left += step, right += right_step) {
        V x = LOAD(right);
        ADD(0)
    }
    if (into) { JOIN(0) } else { KEEP(0) }
}

OUT_OF_LINE void OF(product)(const N *left, int64_t row_step, int64_t step, const N *right,
                             int64_t right_step, N *out, int64_t out_step, int64_t rows,
                             int64_t columns, int64_t times, int into) {
    int64_t c = 0;
    for (; c + 2 * LANES <= columns; c += 2 * LANES) {
        int64_t r = 0;
        for (; r + WIDE_ROWS <= rows; r += WIDE_ROWS)
            OF(wide_sums)(left + r * row_step, row_step, step, right + c, right_step,
                          out + r * out_step + c, out_step, times, into);
        for (; r < rows; r++)
            for (int half = 0; half < 2; half++)
                OF(row_sums)(left + r * row_step, step, right + c + half * LANES, right_step,
                             out + r * out_step + c + half * LANES, times, into);
    }
    for (; c + LANES <= columns; c += LANES) {
        int64_t r = 0;
        for (; r + ROWS <= rows; r += ROWS)
            OF(sums)(left + r * row_step, row_step, step, right + c, right_step,
                     out + r * out_step + c, out_step, times, into);
        for (; r < rows; r++)
            OF(row_sums)(left + r * row_step, step, right + c, right_step,
                         out + r * out_step + c, times, into);
    }
    for (; c < columns; c++)
        for (int64_t r = 0; r < rows; r++) {
            N sum = 0;
            for (int64_t k = 0; k < times; k++)
                sum = OF(fused)(left[r * row_step + k * step], right[k * right_step + c], sum);
            N *place = out + r * out_step + c;
            *place = into ? *place + sum : sum;
        }
}

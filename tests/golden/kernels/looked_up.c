void kernel_table(Run *run, int64_t n) {
    float *const table = (float *)run->buffers[0];
    /* statement: table */
    const words drawn_word = philox(counter(1, (uint32_t)(int32_t)0, (uint32_t)(int32_t)n, 0, 0, 0, 0), (uint32_t)run->seed, 0xd4fc4a7u);
    const uint32_t word_2 = drawn_word.word[0];
    (void)word_2;
    const uint32_t word_2_2 = drawn_word.word[1];
    (void)word_2_2;
    const uint32_t word_3 = drawn_word.word[2];
    (void)word_3;
    const uint32_t word_4 = drawn_word.word[3];
    (void)word_4;
    table[n] = uniform_f(word_2);
}

void kernel_row_uniform(Run *run) {
    const int64_t B = run->sizes[0];
    float *const row_uniform = (float *)run->buffers[1];
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        /* statement: row_uniform */
        const words_v drawn_word = philox_v(counter_v(1, (vu)all_vi((int32_t)0), (vu)(all_vi((int32_t)b) + lanes_vi()), (vu){0}, (vu){0}, (vu){0}, (vu){0}), (uint32_t)run->seed, 0x777782c6u);
        const vu word_2 = drawn_word.word[0];
        (void)word_2;
        const vu word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const vu word_3 = drawn_word.word[2];
        (void)word_3;
        const vu word_4 = drawn_word.word[3];
        (void)word_4;
        const vf row_uniform_2 = uniform_vf(word_2);
        if (lanes == LANES) store_vf(row_uniform + b, row_uniform_2);
        else store_some_vf(row_uniform + b, 1, lanes, row_uniform_2);
    }
}

void kernel_row(Run *run) {
    const int64_t B = run->sizes[0];
    float *const row_uniform = (float *)run->buffers[1];
    int32_t *const row_2 = (int32_t *)run->buffers[2];
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        /* statement: row */
        const vf row_uniform_2 = load_vf(row_uniform + b);
        const vi row_2_2 = cast_vi_vf(multiply_vf(all_vf((float)0x1.c000000000000p+2), row_uniform_2));
        if (lanes == LANES) store_vi(row_2 + b, row_2_2);
        else store_some_vi(row_2 + b, 1, lanes, row_2_2);
    }
}

void kernel_y(Run *run) {
    const int64_t B = run->sizes[0];
    const int64_t N = run->sizes[1];
    int32_t *const row_2 = (int32_t *)run->buffers[2];
    float *const table = (float *)run->buffers[0];
    float *const y = (float *)run->buffers[3];
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        const vb active = first_vb(lanes);
        (void)active;
        /* statement: y */
        const vi row_2_2 = load_vi(row_2 + b);
        if (any_vb((active & ~logical_and_vb(greater_equal_vi(row_2_2, all_vi((int32_t)0)), less_equal_vi(row_2_2, all_vi((int32_t)(N - 1)))))))
            for (int at = 0; at < LANES; at++) if ((active & ~logical_and_vb(greater_equal_vi(row_2_2, all_vi((int32_t)0)), less_equal_vi(row_2_2, all_vi((int32_t)(N - 1)))))[at]) fail(run, 1, 3, (const int64_t[]){(int64_t)row_2_2[at], (int64_t)(int32_t)0, (int64_t)(int32_t)N}, 1, (const int64_t[]){(int64_t)({ vl r; EACH_LANE r[lane] = (int64_t)(b + minimum_l(lane, lanes - 1)); r; })[at]});
        const vi inside_2 = minimum_vi(maximum_vi(row_2_2, all_vi((int32_t)0)), all_vi((int32_t)(N - 1)));
        const vf table_2 = ({ vf r; EACH_LANE r[lane] = table[inside_2[lane]]; r; });
        if (lanes == LANES) store_vf(y + b, table_2);
        else store_some_vf(y + b, 1, lanes, table_2);
    }
}

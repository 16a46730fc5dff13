void kernel_x(Run *run) {
    const int64_t B = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        /* statement: x */
        const words_v drawn_word = philox_v(counter_v(1, (vu)all_vi((int32_t)0), (vu)(all_vi((int32_t)b) + lanes_vi()), (vu){0}, (vu){0}, (vu){0}, (vu){0}), (uint32_t)run->seed, 0x2d711642u);
        const vu word_2 = drawn_word.word[0];
        (void)word_2;
        const vu word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const vu word_3 = drawn_word.word[2];
        (void)word_3;
        const vu word_4 = drawn_word.word[3];
        (void)word_4;
        const vf x_2 = uniform_vf(word_2);
        store_some_vf(x + 3 * b, 3, lanes, x_2);
        const vf x_3 = uniform_vf(word_2_2);
        store_some_vf(x + (3 * b + 1), 3, lanes, x_3);
        const vf x_4 = uniform_vf(word_3);
        store_some_vf(x + (3 * b + 2), 3, lanes, x_4);
    }
}

void kernel_sum(Run *run) {
    const int64_t B = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    float *const sum_2 = (float *)run->buffers[1];
    /* statement: sum */
    vf sum_2_2[PARTS];
    for (int k = 0; k < PARTS; k++) sum_2_2[k] = all_vf((float)0x0.0p+0);
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        const vb active = first_vb(lanes);
        (void)active;
        const int part_of_group = (b - first_b) / LANES % PARTS;
        const vf x_2 = ({ const float *at = x + 3 * b; const int64_t step = 3; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_3 = ({ const float *at = x + (3 * b + 1); const int64_t step = 3; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_4 = ({ const float *at = x + (3 * b + 2); const int64_t step = 3; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf sum_3 = add_vf(add_vf(multiply_vf(x_2, x_2), multiply_vf(x_3, x_3)), multiply_vf(x_4, x_4));
        sum_2_2[part_of_group] = add_vf(sum_2_2[part_of_group], where_vf(active, sum_3, all_vf((float)0x0.0p+0)));
    }
    const float together = sum16_vf(sum_2_2);
    sum_2[0] = together;
}

void kernel_where(Run *run) {
    const int64_t B = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    int32_t *const where_2 = (int32_t *)run->buffers[2];
    /* statement: where */
    float best = (-INFINITE_F);
    int32_t where_2_2 = 0;
    int some = 0;
    for (int64_t b = 0; b < B; b++) {
        const float sum_2_2 = add_f(add_f(x[3 * b], x[(3 * b + 1)]), x[(3 * b + 2)]);
        const int better = logical_or_b(logical_or_b(greater_f(sum_2_2, best), logical_and_b(not_equal_f(sum_2_2, sum_2_2), equal_f(best, best))), logical_not_b(some));
        where_2_2 = where_i(better, (int32_t)b, where_2_2);
        best = where_f(better, sum_2_2, best);
        some = 1;
    }
    if (!some) fail(run, 1, 0, 0, 0, 0);
    where_2[0] = where_2_2;
}

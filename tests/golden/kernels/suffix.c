void kernel_x(Run *run) {
    const int64_t T = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    const int64_t first_t = 0, behind_t = T;
    for (int64_t t = first_t; t < behind_t; t += LANES) {
        const int64_t lanes = minimum_l(behind_t - t, LANES);
        (void)lanes;
        /* statement: x */
        const words_v drawn_word = philox_v(counter_v(1, (vu)all_vi((int32_t)0), (vu)(all_vi((int32_t)t) + lanes_vi()), (vu){0}, (vu){0}, (vu){0}, (vu){0}), (uint32_t)run->seed, 0x2d711642u);
        const vu word_2 = drawn_word.word[0];
        (void)word_2;
        const vu word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const vu word_3 = drawn_word.word[2];
        (void)word_3;
        const vu word_4 = drawn_word.word[3];
        (void)word_4;
        const vf x_2 = normal_vf(word_2);
        if (lanes == LANES) store_vf(x + t, x_2);
        else store_some_vf(x + t, 1, lanes, x_2);
    }
}

void kernel_all(Run *run) {
    const int64_t T = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    float *const all_2 = (float *)run->buffers[1];
    /* statement: all */
    vf all_2_2[PARTS];
    for (int k = 0; k < PARTS; k++) all_2_2[k] = all_vf((float)0x0.0p+0);
    const int64_t first_t_2 = 0, behind_t_2 = T;
    for (int64_t t_2 = first_t_2; t_2 < behind_t_2; t_2 += LANES) {
        const int64_t lanes = minimum_l(behind_t_2 - t_2, LANES);
        (void)lanes;
        const vb active = first_vb(lanes);
        (void)active;
        const int part_of_group = (t_2 - first_t_2) / LANES % PARTS;
        const vf x_2 = load_vf(x + t_2);
        all_2_2[part_of_group] = add_vf(all_2_2[part_of_group], where_vf(active, x_2, all_vf((float)0x0.0p+0)));
    }
    const float together = sum16_vf(all_2_2);
    all_2[0] = together;
}

void kernel_later(Run *run) {
    const int64_t T = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    float *const later = (float *)run->buffers[2];
    /* statement: later */
    for (int64_t t = 0; t < T; t++) {
        float later_2 = (float)0x0.0p+0;
        for (int64_t t_1 = (t + 1); t_1 < T; t_1++) {
            later_2 = add_f(later_2, x[t_1]);
        }
        later[t] = later_2;
    }
}

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
        const vf x_2 = normal_vf(word_2);
        store_some_vf(x + 8 * b, 8, lanes, x_2);
        const vf x_3 = normal_vf(word_2_2);
        store_some_vf(x + (8 * b + 1), 8, lanes, x_3);
        const vf x_4 = normal_vf(word_3);
        store_some_vf(x + (8 * b + 2), 8, lanes, x_4);
        const vf x_5 = normal_vf(word_4);
        store_some_vf(x + (8 * b + 3), 8, lanes, x_5);
        const words_v drawn_word_5 = philox_v(counter_v(1, (vu)all_vi((int32_t)1), (vu)(all_vi((int32_t)b) + lanes_vi()), (vu){0}, (vu){0}, (vu){0}, (vu){0}), (uint32_t)run->seed, 0x2d711642u);
        const vu word_5 = drawn_word_5.word[0];
        (void)word_5;
        const vu word_6 = drawn_word_5.word[1];
        (void)word_6;
        const vu word_7 = drawn_word_5.word[2];
        (void)word_7;
        const vu word_8 = drawn_word_5.word[3];
        (void)word_8;
        const vf x_6 = normal_vf(word_5);
        store_some_vf(x + (8 * b + 4), 8, lanes, x_6);
        const vf x_7 = normal_vf(word_6);
        store_some_vf(x + (8 * b + 5), 8, lanes, x_7);
        const vf x_8 = normal_vf(word_7);
        store_some_vf(x + (8 * b + 6), 8, lanes, x_8);
        const vf x_9 = normal_vf(word_8);
        store_some_vf(x + (8 * b + 7), 8, lanes, x_9);
    }
}

void kernel_d(Run *run) {
    const int64_t B = run->sizes[0];
    float *const d = (float *)run->buffers[1];
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        /* statement: d */
        for (int64_t block_2 = 0; block_2 < 6; block_2++) {
            const words_v drawn_word = philox_v(counter_v(1, (vu)all_vi((int32_t)block_2), (vu)(all_vi((int32_t)b) + lanes_vi()), (vu){0}, (vu){0}, (vu){0}, (vu){0}), (uint32_t)run->seed, 0x18ac3e73u);
            const vu word_2 = drawn_word.word[0];
            (void)word_2;
            const vu word_2_2 = drawn_word.word[1];
            (void)word_2_2;
            const vu word_3 = drawn_word.word[2];
            (void)word_3;
            const vu word_4 = drawn_word.word[3];
            (void)word_4;
            const vf d_2 = normal_vf(word_2);
            store_some_vf(d + (24 * b + 4 * block_2), 24, lanes, d_2);
            const vf d_3 = normal_vf(word_2_2);
            store_some_vf(d + (24 * b + 4 * block_2 + 1), 24, lanes, d_3);
            const vf d_4 = normal_vf(word_3);
            store_some_vf(d + (24 * b + 4 * block_2 + 2), 24, lanes, d_4);
            const vf d_5 = normal_vf(word_4);
            store_some_vf(d + (24 * b + 4 * block_2 + 3), 24, lanes, d_5);
        }
    }
}

void kernel_g(Run *run) {
    const int64_t B = run->sizes[0];
    float *const x = (float *)run->buffers[0];
    float *const d = (float *)run->buffers[1];
    float *const g = (float *)run->buffers[2];
    /* statement: g */
    const int64_t first_i0 = 0, behind_i0 = 24;
    for (int64_t i0 = first_i0; i0 < behind_i0; i0 += LANES) {
        const int64_t lanes = minimum_l(behind_i0 - i0, LANES);
        (void)lanes;
        for (int64_t block_2 = 0; block_2 < 1; block_2++) {
            vf g_2 = all_vf((float)0x0.0p+0);
            vf g_3 = all_vf((float)0x0.0p+0);
            vf g_4 = all_vf((float)0x0.0p+0);
            vf g_5 = all_vf((float)0x0.0p+0);
            vf g_6 = all_vf((float)0x0.0p+0);
            vf g_7 = all_vf((float)0x0.0p+0);
            vf g_8 = all_vf((float)0x0.0p+0);
            vf g_9 = all_vf((float)0x0.0p+0);
            for (int64_t b = 0; b < B; b++) {
                const float x_2 = x[(8 * b + 8 * block_2)];
                const vf d_2 = load_vf(d + (24 * b + i0));
                const float x_3 = x[(8 * b + 8 * block_2 + 1)];
                const float x_4 = x[(8 * b + 8 * block_2 + 2)];
                const float x_5 = x[(8 * b + 8 * block_2 + 3)];
                const float x_6 = x[(8 * b + 8 * block_2 + 4)];
                const float x_7 = x[(8 * b + 8 * block_2 + 5)];
                const float x_8 = x[(8 * b + 8 * block_2 + 6)];
                const float x_9 = x[(8 * b + 8 * block_2 + 7)];
                g_2 = fused_vf(all_vf(x_2), d_2, g_2);
                g_3 = fused_vf(all_vf(x_3), d_2, g_3);
                g_4 = fused_vf(all_vf(x_4), d_2, g_4);
                g_5 = fused_vf(all_vf(x_5), d_2, g_5);
                g_6 = fused_vf(all_vf(x_6), d_2, g_6);
                g_7 = fused_vf(all_vf(x_7), d_2, g_7);
                g_8 = fused_vf(all_vf(x_8), d_2, g_8);
                g_9 = fused_vf(all_vf(x_9), d_2, g_9);
            }
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0), g_2);
            else store_some_vf(g + (192 * block_2 + i0), 1, lanes, g_2);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 24), g_3);
            else store_some_vf(g + (192 * block_2 + i0 + 24), 1, lanes, g_3);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 48), g_4);
            else store_some_vf(g + (192 * block_2 + i0 + 48), 1, lanes, g_4);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 72), g_5);
            else store_some_vf(g + (192 * block_2 + i0 + 72), 1, lanes, g_5);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 96), g_6);
            else store_some_vf(g + (192 * block_2 + i0 + 96), 1, lanes, g_6);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 120), g_7);
            else store_some_vf(g + (192 * block_2 + i0 + 120), 1, lanes, g_7);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 144), g_8);
            else store_some_vf(g + (192 * block_2 + i0 + 144), 1, lanes, g_8);
            if (lanes == LANES) store_vf(g + (192 * block_2 + i0 + 168), g_9);
            else store_some_vf(g + (192 * block_2 + i0 + 168), 1, lanes, g_9);
        }
    }
}

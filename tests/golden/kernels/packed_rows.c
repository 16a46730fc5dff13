void kernel_weight(Run *run) {
    float *const weight = (float *)run->buffers[0];
    /* statement: weight */
    for (int64_t block_2 = 0; block_2 < 15; block_2++) {
        const words drawn_word = philox(counter(0, (uint32_t)(int32_t)block_2, 0, 0, 0, 0, 0), (uint32_t)run->seed, 0x844df8fu);
        const uint32_t word_2 = drawn_word.word[0];
        (void)word_2;
        const uint32_t word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const uint32_t word_3 = drawn_word.word[2];
        (void)word_3;
        const uint32_t word_4 = drawn_word.word[3];
        (void)word_4;
        weight[4 * block_2] = normal_f(word_2);
        weight[(4 * block_2 + 1)] = normal_f(word_2_2);
        weight[(4 * block_2 + 2)] = normal_f(word_3);
        weight[(4 * block_2 + 3)] = normal_f(word_4);
    }
}

void kernel_bias(Run *run) {
    float *const bias = (float *)run->buffers[1];
    /* statement: bias */
    for (int64_t block_2 = 0; block_2 < 5; block_2++) {
        const words drawn_word = philox(counter(0, (uint32_t)(int32_t)block_2, 0, 0, 0, 0, 0), (uint32_t)run->seed, 0xfa4824e8u);
        const uint32_t word_2 = drawn_word.word[0];
        (void)word_2;
        const uint32_t word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const uint32_t word_3 = drawn_word.word[2];
        (void)word_3;
        const uint32_t word_4 = drawn_word.word[3];
        (void)word_4;
        bias[4 * block_2] = normal_f(word_2);
        bias[(4 * block_2 + 1)] = normal_f(word_2_2);
        bias[(4 * block_2 + 2)] = normal_f(word_3);
        bias[(4 * block_2 + 3)] = normal_f(word_4);
    }
}

void kernel_last(Run *run) {
    float *const last = (float *)run->buffers[2];
    /* statement: last */
    for (int64_t block_2 = 0; block_2 < 10; block_2++) {
        const words drawn_word = philox(counter(0, (uint32_t)(int32_t)block_2, 0, 0, 0, 0, 0), (uint32_t)run->seed, 0x3547cb11u);
        const uint32_t word_2 = drawn_word.word[0];
        (void)word_2;
        const uint32_t word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const uint32_t word_3 = drawn_word.word[2];
        (void)word_3;
        const uint32_t word_4 = drawn_word.word[3];
        (void)word_4;
        last[4 * block_2] = normal_f(word_2);
        last[(4 * block_2 + 1)] = normal_f(word_2_2);
        last[(4 * block_2 + 2)] = normal_f(word_3);
        last[(4 * block_2 + 3)] = normal_f(word_4);
    }
}

static void blocks_of_kernel_x_and_4_more(Run *run, const int64_t *outer, int64_t chunk, int64_t first_block, int64_t behind_blocks) {
    const int64_t B = run->sizes[0];
    char *const scratch = run->own + run->scratch[3];
    float *const x = (float *)(run->own + run->own_places[4]);
    float *const scale_2 = (float *)(run->own + run->own_places[5]);
    float *const weight = (float *)run->buffers[0];
    float *const bias = (float *)run->buffers[1];
    float *const hidden_2 = (float *)(run->own + run->own_places[6]);
    float *const last = (float *)run->buffers[2];
    float *const chosen = (float *)(run->own + run->own_places[7]);
    float *const y = (float *)run->buffers[3];
    for (int64_t b_block16 = first_block; b_block16 < behind_blocks; b_block16++) {
        if (*run->stop | run->failed) break;
        const int64_t first_b = 16 * b_block16, behind_b = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
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
            store_vf(x + (b - 16 * b_block16), x_2);
            const vf x_3 = normal_vf(word_2_2);
            store_vf(x + (b - 16 * b_block16 + 16), x_3);
            const vf x_4 = normal_vf(word_3);
            store_vf(x + (b - 16 * b_block16 + 32), x_4);
            /* statement: scale */
            const vf sum_2 = add_vf(add_vf(x_2, x_3), x_4);
            store_vf(scale_2 + (b - 16 * b_block16), sum_2);
        }
        /* statement: hidden */
        product_f(weight + 0, 1, 20, x + 0, 16, hidden_2 + 0, 16, 20, (minimum_l((B - 1), (16 * b_block16 + 15)) - 16 * b_block16 + 1), WHOLE_VECTORS((minimum_l((B - 1), (16 * b_block16 + 15)) - 16 * b_block16 + 1)), 3, 0);
        const int64_t first_b_2 = 16 * b_block16, behind_b_2 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b_2 = first_b_2; b_2 < behind_b_2; b_2 += LANES) {
            const int64_t lanes = minimum_l(behind_b_2 - b_2, LANES);
            (void)lanes;
            /* statement: hidden */
            if (FILL_A_VECTOR(lanes))
            for (int64_t i0 = 0; i0 < 20; i0 += 2) {
                const int64_t second_i0 = i0 + 1;
                const float bias_2 = bias[i0];
                const float second_bias_2 = bias[second_i0];
                const vf scale_2_2 = load_vf(scale_2 + (b_2 - 16 * b_block16));
                const vf second_scale_2 = load_vf(scale_2 + (b_2 - 16 * b_block16));
                vf tanh_of_two_hidden_2[2] = {add_vf(add_vf(load_vf(hidden_2 + (b_2 - 16 * b_block16 + 16 * i0)), all_vf(bias_2)), scale_2_2), add_vf(add_vf(load_vf(hidden_2 + (b_2 - 16 * b_block16 + 16 * second_i0)), all_vf(second_bias_2)), second_scale_2)};
                tanh_of_vf(tanh_of_two_hidden_2, 2);
                const vf hidden_2_2 = tanh_of_two_hidden_2[0];
                const vf second_hidden_2 = tanh_of_two_hidden_2[1];
                store_vf(hidden_2 + (b_2 - 16 * b_block16 + 16 * i0), hidden_2_2);
                store_vf(hidden_2 + (b_2 - 16 * b_block16 + 16 * second_i0), second_hidden_2);
            }
            else
            for (int64_t i0 = 0, width; i0 < 20; i0 += SHARED_BY(width)) {
                width = width_of_rows(lanes, 20 - i0);
                const vf bias_2 = spread_vf(bias + i0, 1, width);
                const vf scale_2_2 = rows_vf(scale_2 + (b_2 - 16 * b_block16), 0, width);
                const vf hidden_2_2 = tanh_vf(add_vf(add_vf(rows_vf(hidden_2 + (b_2 - 16 * b_block16 + 16 * i0), 16, width), bias_2), scale_2_2));
                store_rows_vf(hidden_2 + (b_2 - 16 * b_block16 + 16 * i0), 16, width, hidden_2_2);
            }
        }
        /* statement: chosen */
        float *const product_2 = (float *)(scratch);
        product_f(last + 0, 1, 2, hidden_2 + 0, 16, product_2 + 0, 16, 2, (minimum_l((B - 1), (16 * b_block16 + 15)) - 16 * b_block16 + 1), WHOLE_VECTORS((minimum_l((B - 1), (16 * b_block16 + 15)) - 16 * b_block16 + 1)), 20, 0);
        const int64_t first_b_3 = 16 * b_block16, behind_b_3 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b_3 = first_b_3; b_3 < behind_b_3; b_3 += LANES) {
            const int64_t lanes = minimum_l(behind_b_3 - b_3, LANES);
            (void)lanes;
            /* statement: chosen */
            const vf scale_3 = load_vf(scale_2 + (b_3 - 16 * b_block16));
            const vb greater_2 = greater_vf(scale_3, all_vf((float)0x0.0p+0));
            if (FILL_A_VECTOR(lanes))
            for (int64_t i0_2 = 0; i0_2 < 20; i0_2 += 2) {
                const int64_t second_i0_2 = i0_2 + 1;
                const float last_2 = last[2 * i0_2];
                const float second_last_2 = last[2 * second_i0_2];
                const float last_3 = last[(2 * i0_2 + 1)];
                const float second_last_3 = last[(2 * second_i0_2 + 1)];
                const vf hidden_3 = load_vf(hidden_2 + (b_3 - 16 * b_block16 + 16 * i0_2));
                const vf second_hidden_3 = load_vf(hidden_2 + (b_3 - 16 * b_block16 + 16 * second_i0_2));
                vf tanh_of_two_chosen_2[2] = {fused_vf(load_vf(product_2 + (b_3 - 16 * b_block16 + 16)), all_vf(last_3), fused_vf(load_vf(product_2 + (b_3 - 16 * b_block16)), all_vf(last_2), all_vf((float)0x0.0p+0))), fused_vf(load_vf(product_2 + (b_3 - 16 * b_block16 + 16)), all_vf(second_last_3), fused_vf(load_vf(product_2 + (b_3 - 16 * b_block16)), all_vf(second_last_2), all_vf((float)0x0.0p+0)))};
                tanh_of_vf(tanh_of_two_chosen_2, 2);
                const vf chosen_2 = where_vf(greater_2, tanh_of_two_chosen_2[0], hidden_3);
                const vf second_chosen_2 = where_vf(greater_2, tanh_of_two_chosen_2[1], second_hidden_3);
                store_vf(chosen + (b_3 - 16 * b_block16 + 16 * i0_2), chosen_2);
                store_vf(chosen + (b_3 - 16 * b_block16 + 16 * second_i0_2), second_chosen_2);
            }
            else
            for (int64_t i0_2 = 0, width; i0_2 < 20; i0_2 += SHARED_BY(width)) {
                width = width_of_rows(lanes, 20 - i0_2);
                const vf last_2 = spread_vf(last + 2 * i0_2, 2, width);
                const vf last_3 = spread_vf(last + (2 * i0_2 + 1), 2, width);
                const vf hidden_3 = rows_vf(hidden_2 + (b_3 - 16 * b_block16 + 16 * i0_2), 16, width);
                const vf chosen_2 = where_vf(repeated_vi(greater_2, width), tanh_vf(fused_vf(rows_vf(product_2 + (b_3 - 16 * b_block16 + 16), 0, width), last_3, fused_vf(rows_vf(product_2 + (b_3 - 16 * b_block16), 0, width), last_2, all_vf((float)0x0.0p+0)))), hidden_3);
                store_rows_vf(chosen + (b_3 - 16 * b_block16 + 16 * i0_2), 16, width, chosen_2);
            }
        }
        /* statement: y */
        product_f(last + 0, 1, 2, chosen + 0, 16, product_2 + 0, 16, 2, (minimum_l((B - 1), (16 * b_block16 + 15)) - 16 * b_block16 + 1), WHOLE_VECTORS((minimum_l((B - 1), (16 * b_block16 + 15)) - 16 * b_block16 + 1)), 20, 0);
        const int64_t first_b_4 = 16 * b_block16, behind_b_4 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b_4 = first_b_4; b_4 < behind_b_4; b_4 += LANES) {
            const int64_t lanes = minimum_l(behind_b_4 - b_4, LANES);
            (void)lanes;
            /* statement: y */
            const vf y_2 = load_vf(product_2 + (b_4 - 16 * b_block16));
            store_some_vf(y + 2 * b_4, 2, lanes, y_2);
            const vf y_3 = load_vf(product_2 + (b_4 - 16 * b_block16 + 16));
            store_some_vf(y + (2 * b_4 + 1), 2, lanes, y_3);
        }
    }
}

void kernel_x_and_4_more(Run *run) {
    const int64_t B = run->sizes[0];
    static int64_t lasting;
    each_block(run, blocks_of_kernel_x_and_4_more, (const int64_t[]){0}, 0, floor_divide_l((B + 15), 16), 0, floor_divide_l((B + 15), 16), floor_divide_l((B + 15), 16), &lasting);
}

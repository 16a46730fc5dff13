void kernel_weight(Run *run) {
    float *const weight = (float *)run->buffers[0];
    /* statement: weight */
    for (int64_t block_2 = 0; block_2 < 36; block_2++) {
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

void kernel_x(Run *run) {
    const int64_t B = run->sizes[0];
    float *const x = (float *)run->buffers[1];
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
        store_some_vf(x + 6 * b, 6, lanes, x_2);
        const vf x_3 = normal_vf(word_2_2);
        store_some_vf(x + (6 * b + 1), 6, lanes, x_3);
        const vf x_4 = normal_vf(word_3);
        store_some_vf(x + (6 * b + 2), 6, lanes, x_4);
        const vf x_5 = normal_vf(word_4);
        store_some_vf(x + (6 * b + 3), 6, lanes, x_5);
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
        store_some_vf(x + (6 * b + 4), 6, lanes, x_6);
        const vf x_7 = normal_vf(word_6);
        store_some_vf(x + (6 * b + 5), 6, lanes, x_7);
    }
}

void kernel_y(Run *run) {
    const int64_t B = run->sizes[0];
    char *const scratch = run->arena + run->scratch[2];
    float *const x = (float *)run->buffers[1];
    float *const weight = (float *)run->buffers[0];
    float *const y = (float *)run->buffers[2];
    const int64_t first_b = 0, behind_b = B;
    for (int64_t b = first_b; b < behind_b; b += LANES) {
        const int64_t lanes = minimum_l(behind_b - b, LANES);
        (void)lanes;
        /* statement: y */
        const vf x_2 = ({ const float *at = x + 6 * b; const int64_t step = 6; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_3 = ({ const float *at = x + (6 * b + 1); const int64_t step = 6; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_4 = ({ const float *at = x + (6 * b + 2); const int64_t step = 6; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_5 = ({ const float *at = x + (6 * b + 3); const int64_t step = 6; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_6 = ({ const float *at = x + (6 * b + 4); const int64_t step = 6; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        const vf x_7 = ({ const float *at = x + (6 * b + 5); const int64_t step = 6; vf r; EACH_LANE r[lane] = at[minimum_l(lane, lanes - 1) * step]; r; });
        vf *const product_2 = (vf *)(scratch);
        for (int64_t block_2 = 0; block_2 < 3; block_2++) {
            vf total = all_vf((float)0x0.0p+0);
            vf total_2 = all_vf((float)0x0.0p+0);
            vf total_3 = all_vf((float)0x0.0p+0);
            vf total_4 = all_vf((float)0x0.0p+0);
            vf total_5 = all_vf((float)0x0.0p+0);
            vf total_6 = all_vf((float)0x0.0p+0);
            vf total_7 = all_vf((float)0x0.0p+0);
            vf total_8 = all_vf((float)0x0.0p+0);
            const float weight_2 = weight[8 * block_2];
            const float weight_3 = weight[(8 * block_2 + 1)];
            const float weight_4 = weight[(8 * block_2 + 2)];
            const float weight_5 = weight[(8 * block_2 + 3)];
            const float weight_6 = weight[(8 * block_2 + 4)];
            const float weight_7 = weight[(8 * block_2 + 5)];
            const float weight_8 = weight[(8 * block_2 + 6)];
            const float weight_9 = weight[(8 * block_2 + 7)];
            total = fused_vf(x_2, all_vf(weight_2), total);
            total_2 = fused_vf(x_2, all_vf(weight_3), total_2);
            total_3 = fused_vf(x_2, all_vf(weight_4), total_3);
            total_4 = fused_vf(x_2, all_vf(weight_5), total_4);
            total_5 = fused_vf(x_2, all_vf(weight_6), total_5);
            total_6 = fused_vf(x_2, all_vf(weight_7), total_6);
            total_7 = fused_vf(x_2, all_vf(weight_8), total_7);
            total_8 = fused_vf(x_2, all_vf(weight_9), total_8);
            const float weight_10 = weight[(8 * block_2 + 24)];
            const float weight_11 = weight[(8 * block_2 + 25)];
            const float weight_12 = weight[(8 * block_2 + 26)];
            const float weight_13 = weight[(8 * block_2 + 27)];
            const float weight_14 = weight[(8 * block_2 + 28)];
            const float weight_15 = weight[(8 * block_2 + 29)];
            const float weight_16 = weight[(8 * block_2 + 30)];
            const float weight_17 = weight[(8 * block_2 + 31)];
            total = fused_vf(x_3, all_vf(weight_10), total);
            total_2 = fused_vf(x_3, all_vf(weight_11), total_2);
            total_3 = fused_vf(x_3, all_vf(weight_12), total_3);
            total_4 = fused_vf(x_3, all_vf(weight_13), total_4);
            total_5 = fused_vf(x_3, all_vf(weight_14), total_5);
            total_6 = fused_vf(x_3, all_vf(weight_15), total_6);
            total_7 = fused_vf(x_3, all_vf(weight_16), total_7);
            total_8 = fused_vf(x_3, all_vf(weight_17), total_8);
            const float weight_18 = weight[(8 * block_2 + 48)];
            const float weight_19 = weight[(8 * block_2 + 49)];
            const float weight_20 = weight[(8 * block_2 + 50)];
            const float weight_21 = weight[(8 * block_2 + 51)];
            const float weight_22 = weight[(8 * block_2 + 52)];
            const float weight_23 = weight[(8 * block_2 + 53)];
            const float weight_24 = weight[(8 * block_2 + 54)];
            const float weight_25 = weight[(8 * block_2 + 55)];
            total = fused_vf(x_4, all_vf(weight_18), total);
            total_2 = fused_vf(x_4, all_vf(weight_19), total_2);
            total_3 = fused_vf(x_4, all_vf(weight_20), total_3);
            total_4 = fused_vf(x_4, all_vf(weight_21), total_4);
            total_5 = fused_vf(x_4, all_vf(weight_22), total_5);
            total_6 = fused_vf(x_4, all_vf(weight_23), total_6);
            total_7 = fused_vf(x_4, all_vf(weight_24), total_7);
            total_8 = fused_vf(x_4, all_vf(weight_25), total_8);
            const float weight_26 = weight[(8 * block_2 + 72)];
            const float weight_27 = weight[(8 * block_2 + 73)];
            const float weight_28 = weight[(8 * block_2 + 74)];
            const float weight_29 = weight[(8 * block_2 + 75)];
            const float weight_30 = weight[(8 * block_2 + 76)];
            const float weight_31 = weight[(8 * block_2 + 77)];
            const float weight_32 = weight[(8 * block_2 + 78)];
            const float weight_33 = weight[(8 * block_2 + 79)];
            total = fused_vf(x_5, all_vf(weight_26), total);
            total_2 = fused_vf(x_5, all_vf(weight_27), total_2);
            total_3 = fused_vf(x_5, all_vf(weight_28), total_3);
            total_4 = fused_vf(x_5, all_vf(weight_29), total_4);
            total_5 = fused_vf(x_5, all_vf(weight_30), total_5);
            total_6 = fused_vf(x_5, all_vf(weight_31), total_6);
            total_7 = fused_vf(x_5, all_vf(weight_32), total_7);
            total_8 = fused_vf(x_5, all_vf(weight_33), total_8);
            const float weight_34 = weight[(8 * block_2 + 96)];
            const float weight_35 = weight[(8 * block_2 + 97)];
            const float weight_36 = weight[(8 * block_2 + 98)];
            const float weight_37 = weight[(8 * block_2 + 99)];
            const float weight_38 = weight[(8 * block_2 + 100)];
            const float weight_39 = weight[(8 * block_2 + 101)];
            const float weight_40 = weight[(8 * block_2 + 102)];
            const float weight_41 = weight[(8 * block_2 + 103)];
            total = fused_vf(x_6, all_vf(weight_34), total);
            total_2 = fused_vf(x_6, all_vf(weight_35), total_2);
            total_3 = fused_vf(x_6, all_vf(weight_36), total_3);
            total_4 = fused_vf(x_6, all_vf(weight_37), total_4);
            total_5 = fused_vf(x_6, all_vf(weight_38), total_5);
            total_6 = fused_vf(x_6, all_vf(weight_39), total_6);
            total_7 = fused_vf(x_6, all_vf(weight_40), total_7);
            total_8 = fused_vf(x_6, all_vf(weight_41), total_8);
            const float weight_42 = weight[(8 * block_2 + 120)];
            const float weight_43 = weight[(8 * block_2 + 121)];
            const float weight_44 = weight[(8 * block_2 + 122)];
            const float weight_45 = weight[(8 * block_2 + 123)];
            const float weight_46 = weight[(8 * block_2 + 124)];
            const float weight_47 = weight[(8 * block_2 + 125)];
            const float weight_48 = weight[(8 * block_2 + 126)];
            const float weight_49 = weight[(8 * block_2 + 127)];
            total = fused_vf(x_7, all_vf(weight_42), total);
            total_2 = fused_vf(x_7, all_vf(weight_43), total_2);
            total_3 = fused_vf(x_7, all_vf(weight_44), total_3);
            total_4 = fused_vf(x_7, all_vf(weight_45), total_4);
            total_5 = fused_vf(x_7, all_vf(weight_46), total_5);
            total_6 = fused_vf(x_7, all_vf(weight_47), total_6);
            total_7 = fused_vf(x_7, all_vf(weight_48), total_7);
            total_8 = fused_vf(x_7, all_vf(weight_49), total_8);
            product_2[8 * block_2] = total;
            product_2[(8 * block_2 + 1)] = total_2;
            product_2[(8 * block_2 + 2)] = total_3;
            product_2[(8 * block_2 + 3)] = total_4;
            product_2[(8 * block_2 + 4)] = total_5;
            product_2[(8 * block_2 + 5)] = total_6;
            product_2[(8 * block_2 + 6)] = total_7;
            product_2[(8 * block_2 + 7)] = total_8;
        }
        for (int64_t i0 = 0; i0 < 24; i0++) {
            const vf y_2 = tanh_vf(product_2[i0]);
            store_some_vf(y + (24 * b + i0), 24, lanes, y_2);
        }
    }
}

static void blocks_of_kernel_x_0__and_10_more(Run *run, const int64_t *outer, int64_t chunk, int64_t first_block, int64_t behind_blocks) {
    const int64_t B = run->sizes[0];
    const int64_t T = run->sizes[2];
    const int64_t i = outer[0];
    float *const x = (float *)(run->own + run->own_places[7]);
    uint8_t *const open = (uint8_t *)(run->own + run->own_places[8]);
    float *const w = (float *)run->buffers[0];
    float *const loss_tanh = (float *)(run->own + run->own_places[9]);
    int32_t *const open_t = (int32_t *)run->buffers[6];
    float *const to_go = (float *)(run->own + run->own_places[10]);
    float *const gradient_w_points = (float *)run->buffers[4];
    float *const loss_sum = (float *)(run->own + run->own_places[11]);
    float *const loss_sum_2_points = (float *)run->buffers[2];
    /* statement: loss_sum_2.points */
    loss_sum_2_points[(i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk)] = (float)0x0.0p+0;
    /* statement: gradient.w.points */
    gradient_w_points[(i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk)] = (float)0x0.0p+0;
    for (int64_t b_block16 = first_block; b_block16 < behind_blocks; b_block16++) {
        if (*run->stop | run->failed) break;
        const int64_t first_b = 16 * b_block16, behind_b = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b = first_b; b < behind_b; b += LANES) {
            const int64_t lanes = minimum_l(behind_b - b, LANES);
            (void)lanes;
            /* statement: x[0] */
            const words_v drawn_word = philox_v(counter_v(2, (vu)all_vi((int32_t)0), (vu)(all_vi((int32_t)b) + lanes_vi()), (vu)all_vi((int32_t)i), (vu){0}, (vu){0}, (vu){0}), (uint32_t)run->seed, 0xf1c89e68u);
            const vu word_2 = drawn_word.word[0];
            (void)word_2;
            const vu word_2_2 = drawn_word.word[1];
            (void)word_2_2;
            const vu word_3 = drawn_word.word[2];
            (void)word_3;
            const vu word_4 = drawn_word.word[3];
            (void)word_4;
            const vf x_2 = uniform_vf(word_2);
            store_vf(x + (b - 16 * b_block16), x_2);
            /* statement: open[0] */
            store_vb(open + (b - 16 * b_block16), all_vb(1));
        }
        int64_t left_t = (int64_t)T;
        for (int64_t t = 0; t < T; t++) {
            if (*run->stop) break;
            int32_t some_open_2 = 0;
            for (int64_t b_2 = 16 * b_block16; b_2 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1); b_2++) {
                some_open_2 = maximum_i(some_open_2, cast_i_b(open[(b_2 - 16 * b_block16 + 16 * t)]));
            }
            if (some_open_2 < 1) {
                left_t = (int64_t)t;
                break;
            }
            const int64_t first_b_3 = 16 * b_block16, behind_b_3 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            for (int64_t b_3 = first_b_3; b_3 < behind_b_3; b_3 += LANES) {
                const int64_t lanes = minimum_l(behind_b_3 - b_3, LANES);
                (void)lanes;
                /* statement: x[t+1] */
                const vf x_3 = load_vf(x + (b_3 - 16 * b_block16 + 16 * t));
                const vf x_4 = multiply_vf(x_3, all_vf((float)0x1.3333333333333p+0));
                store_vf(x + (b_3 - 16 * b_block16 + 16 * t + 16), x_4);
                /* statement: open[t+1] */
                const vb open_2 = load_vb(open + (b_3 - 16 * b_block16 + 16 * t));
                const vb open_3 = logical_and_vb(open_2, logical_not_vb(greater_vf(x_3, all_vf((float)0x1.8000000000000p+0))));
                store_vb(open + (b_3 - 16 * b_block16 + 16 * t + 16), open_3);
                /* statement: loss_tanh */
                const float w_2 = w[i];
                const vf loss_tanh_2 = tanh_vf(multiply_vf(x_3, all_vf(w_2)));
                store_vf(loss_tanh + (b_3 - 16 * b_block16 + 16 * t), loss_tanh_2);
            }
        }
        for (int64_t t = left_t; t < T; t++) {
            if (*run->stop) break;
            /* statement: open[t+1] */
            const int64_t first_b_4 = 16 * b_block16, behind_b_4 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            for (int64_t b_4 = first_b_4; b_4 < behind_b_4; b_4 += LANES) {
                const int64_t lanes = minimum_l(behind_b_4 - b_4, LANES);
                (void)lanes;
                store_vb(open + (b_4 - 16 * b_block16 + 16 * t + 16), all_vb(0));
            }
        }
        const int64_t first_b_5 = 16 * b_block16, behind_b_5 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b_5 = first_b_5; b_5 < behind_b_5; b_5 += LANES) {
            const int64_t lanes = minimum_l(behind_b_5 - b_5, LANES);
            (void)lanes;
            /* statement: open_t */
            vi open_t_2 = all_vi(0);
            for (int64_t t_1 = 1; t_1 < (T + 1); t_1++) {
                const vb open_4 = load_vb(open + (b_5 - 16 * b_block16 + 16 * t_1));
                open_t_2 = add_vi(open_t_2, cast_vi_vb(open_4));
            }
            if (lanes == LANES) store_vi(open_t + (B * i + b_5), open_t_2);
            else store_some_vi(open_t + (B * i + b_5), 1, lanes, open_t_2);
            /* statement: to_go[T-1] */
            const vb open_5 = load_vb(open + (b_5 - 16 * b_block16 + 16 * maximum_l((T - 2), 0)));
            const vf x_5 = load_vf(x + (b_5 - 16 * b_block16 + 16 * T - 16));
            const vf to_go_2 = where_vf(open_5, x_5, all_vf((float)0x0.0p+0));
            store_vf(to_go + (b_5 - 16 * b_block16 + 16 * T - 16), to_go_2);
        }
        int64_t left_t_2 = (int64_t)(-1);
        for (int64_t t = T - 1; t >= 0; t--) {
            if (*run->stop) break;
            int32_t some_open_2_2 = 0;
            for (int64_t b_6 = 16 * b_block16; b_6 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1); b_6++) {
                some_open_2_2 = maximum_i(some_open_2_2, cast_i_b(open[(b_6 - 16 * b_block16 + 16 * t)]));
            }
            if (1 <= some_open_2_2) {
                left_t_2 = (int64_t)t;
                break;
            }
            if (2 <= (T - t)) {
                const int64_t first_b_7 = 16 * b_block16, behind_b_7 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
                for (int64_t b_7 = first_b_7; b_7 < behind_b_7; b_7 += LANES) {
                    const int64_t lanes = minimum_l(behind_b_7 - b_7, LANES);
                    (void)lanes;
                    /* statement: to_go */
                    const vb open_6 = load_vb(open + (b_7 - 16 * b_block16 + 16 * maximum_l((t - 1), 0)));
                    const vf x_6 = load_vf(x + (b_7 - 16 * b_block16 + 16 * t));
                    const vf to_go_3 = load_vf(to_go + (b_7 - 16 * b_block16 + 16 * t + 16));
                    const vf to_go_4 = add_vf(where_vf(open_6, x_6, all_vf((float)0x0.0p+0)), multiply_vf(all_vf((float)0x1.ccccccccccccdp-1), to_go_3));
                    store_vf(to_go + (b_7 - 16 * b_block16 + 16 * t), to_go_4);
                }
            }
        }
        for (int64_t t = (left_t_2 + 1) - 1; t >= 0; t--) {
            if (*run->stop) break;
            if (2 <= (T - t)) {
                const int64_t first_b_8 = 16 * b_block16, behind_b_8 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
                for (int64_t b_8 = first_b_8; b_8 < behind_b_8; b_8 += LANES) {
                    const int64_t lanes = minimum_l(behind_b_8 - b_8, LANES);
                    (void)lanes;
                    /* statement: to_go */
                    const vb open_7 = load_vb(open + (b_8 - 16 * b_block16 + 16 * maximum_l((t - 1), 0)));
                    const vf x_7 = load_vf(x + (b_8 - 16 * b_block16 + 16 * t));
                    const vf to_go_5 = load_vf(to_go + (b_8 - 16 * b_block16 + 16 * t + 16));
                    const vf to_go_6 = add_vf(where_vf(open_7, x_7, all_vf((float)0x0.0p+0)), multiply_vf(all_vf((float)0x1.ccccccccccccdp-1), to_go_5));
                    store_vf(to_go + (b_8 - 16 * b_block16 + 16 * t), to_go_6);
                }
            }
            /* statement: gradient.w.points */
            vf gradient_w_points_2[PARTS];
            for (int k = 0; k < PARTS; k++) gradient_w_points_2[k] = all_vf((float)0x0.0p+0);
            const int64_t first_b_9 = 16 * b_block16, behind_b_9 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            for (int64_t b_9 = first_b_9; b_9 < behind_b_9; b_9 += LANES) {
                const int64_t lanes = minimum_l(behind_b_9 - b_9, LANES);
                (void)lanes;
                const vb active = first_vb(lanes);
                (void)active;
                const int part_of_group = (b_9 - first_b_9) / LANES % PARTS;
                const vb open_8 = load_vb(open + (b_9 - 16 * b_block16 + 16 * t));
                const vf to_go_7 = load_vf(to_go + (b_9 - 16 * b_block16 + 16 * t));
                const vf loss_tanh_3 = load_vf(loss_tanh + (b_9 - 16 * b_block16 + 16 * t));
                const vf x_8 = load_vf(x + (b_9 - 16 * b_block16 + 16 * t));
                gradient_w_points_2[part_of_group] = add_vf(gradient_w_points_2[part_of_group], where_vf(active, where_vf(open_8, multiply_vf(multiply_vf(multiply_vf(where_vf(open_8, all_vf(divide_f((float)0x1.0000000000000p+0, cast_f_i((int32_t)B))), all_vf((float)0x0.0p+0)), to_go_7), subtract_vf(all_vf((float)0x1.0000000000000p+0), multiply_vf(loss_tanh_3, loss_tanh_3))), x_8), all_vf((float)0x0.0p+0)), all_vf((float)0x0.0p+0)));
            }
            const float together = sum16_vf(gradient_w_points_2);
            gradient_w_points[(i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk)] = add_f(gradient_w_points[(i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk)], together);
        }
        const int64_t first_b_10 = 16 * b_block16, behind_b_10 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b_10 = first_b_10; b_10 < behind_b_10; b_10 += LANES) {
            const int64_t lanes = minimum_l(behind_b_10 - b_10, LANES);
            (void)lanes;
            /* statement: loss_sum */
            vf loss_sum_3 = all_vf((float)0x0.0p+0);
            for (int64_t t_2 = 0; t_2 < T; t_2++) {
                const vb open_9 = load_vb(open + (b_10 - 16 * b_block16 + 16 * t_2));
                const vf loss_tanh_4 = load_vf(loss_tanh + (b_10 - 16 * b_block16 + 16 * t_2));
                const vf to_go_8 = load_vf(to_go + (b_10 - 16 * b_block16 + 16 * t_2));
                loss_sum_3 = add_vf(loss_sum_3, where_vf(open_9, multiply_vf(loss_tanh_4, to_go_8), all_vf((float)0x0.0p+0)));
            }
            store_vf(loss_sum + (b_10 - 16 * b_block16), loss_sum_3);
        }
        /* statement: loss_sum_2.points */
        vf loss_sum_2_points_2[PARTS];
        for (int k = 0; k < PARTS; k++) loss_sum_2_points_2[k] = all_vf((float)0x0.0p+0);
        const int64_t first_b_11 = 16 * b_block16, behind_b_11 = (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
        for (int64_t b_11 = first_b_11; b_11 < behind_b_11; b_11 += LANES) {
            const int64_t lanes = minimum_l(behind_b_11 - b_11, LANES);
            (void)lanes;
            const vb active = first_vb(lanes);
            (void)active;
            const int part_of_group = (b_11 - first_b_11) / LANES % PARTS;
            const vf loss_sum_4 = load_vf(loss_sum + (b_11 - 16 * b_block16));
            loss_sum_2_points_2[part_of_group] = add_vf(loss_sum_2_points_2[part_of_group], where_vf(active, loss_sum_4, all_vf((float)0x0.0p+0)));
        }
        const float together_2 = sum16_vf(loss_sum_2_points_2);
        loss_sum_2_points[(i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk)] = add_f(loss_sum_2_points[(i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk)], together_2);
    }
}

void kernel_x_0__and_10_more(Run *run, int64_t i) {
    const int64_t B = run->sizes[0];
    static int64_t lasting;
    each_block(run, blocks_of_kernel_x_0__and_10_more, (const int64_t[]){i}, 0, floor_divide_l((B + 15), 16), 0, floor_divide_l((B + 15), 16), minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16), &lasting);
}


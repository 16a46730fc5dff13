#undef THREADS
#define THREADS 256
#undef FORGET
#ifdef FEW_REGISTERS_kernel_x_0__and_10_more
#define FORGET AFRESH(lane) AFRESH(row)
#else
#define FORGET
#endif
#ifndef BLOCKS_OF_kernel_x_0__and_10_more
#define BLOCKS_OF_kernel_x_0__and_10_more 2
#endif
KERNEL(kernel_x_0__and_10_more, THREADS, BLOCKS_OF_kernel_x_0__and_10_more)(Run *run, unsigned char *own_memory, int64_t own_bytes, ARRAY(float) w, ARRAY(int32_t) open_t, ARRAY(float) gradient_w_points, ARRAY(float) loss_sum_2_points, int64_t B, int64_t T) {
    SHARED_MEMORY
    enum { TILE = 16, ROWS = THREADS / TILE };
    const int thread = THREAD;
    int lane = thread % TILE, row = thread / TILE;
    (void)run, (void)own_memory, (void)own_bytes, (void)shared;
    (void)lane, (void)row;
    const int64_t i = ITERATION;
    SHARED(float, loss_sum, 0, 16)
    SHARED(float, x_of_the_last_turn, 64, 16)
    OWN(float, x, own_memory + BLOCK * own_bytes, 0, (16 * T + 16))
    OWN(uint8_t, open, own_memory + BLOCK * own_bytes, (64 * T + 64), (16 * T + 16))
    OWN(float, loss_tanh, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((16 * T + 79), 64) + 64 * T + 64), 16 * T)
    OWN(float, to_go, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((16 * T + 79), 64) + 128 * T + 64), 16 * T)
    const int64_t chunk_2 = BLOCK;
    const int64_t first_block = chunk_begin(0, floor_divide_l((B + 15), 16), 0, floor_divide_l((B + 15), 16), minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16), chunk_2);
    const int64_t behind_blocks = chunk_begin(0, floor_divide_l((B + 15), 16), 0, floor_divide_l((B + 15), 16), minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16), chunk_2 + 1);
    if (thread == 0) {
        /* statement: loss_sum_2.points */
        ST(loss_sum_2_points, (i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk_2), (float)0x0.0p+0);
        /* statement: gradient.w.points */
        ST(gradient_w_points, (i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk_2), (float)0x0.0p+0);
    }
    ROLLED for (int64_t b_block16 = first_block; b_block16 < behind_blocks; b_block16++) {
        BARRIER
        if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
            FORGET
            const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            const int64_t b = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
            if (active && row == 0) {
                /* statement: x[0] */
                const words drawn_word = philox(counter(2, (uint32_t)(int32_t)0, (uint32_t)(int32_t)b, (uint32_t)(int32_t)i, 0, 0, 0), (uint32_t)run->seed, 0xf1c89e68u);
                const uint32_t word_2 = drawn_word.word[0];
                (void)word_2;
                const uint32_t word_2_2 = drawn_word.word[1];
                (void)word_2_2;
                const uint32_t word_3 = drawn_word.word[2];
                (void)word_3;
                const uint32_t word_4 = drawn_word.word[3];
                (void)word_4;
                const float x_2 = uniform_f(word_2);
                ST(x, (b - 16 * b_block16), x_2);
                /* statement: open[0] */
                ST(open, (b - 16 * b_block16), 1);
            }
        }
        int64_t left_t = (int64_t)T;
        /* statement: x[t+1] */
        if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
            FORGET
            const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            const int64_t element_of_x = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
            if (active && row == 0) {
                const float slice_of_x = LD(x, (element_of_x - 16 * b_block16));
                ST(x_of_the_last_turn, (element_of_x - 16 * b_block16), slice_of_x);
            }
        }
        ROLLED for (int64_t t = 0; t < T; t++) {
            int32_t some_open = 0;
            BARRIER
            ROLLED for (int64_t b_2 = 16 * b_block16; b_2 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1); b_2++) {
                some_open = maximum_i(some_open, cast_i_b(LD(open, (b_2 - 16 * b_block16 + 16 * t))));
            }
            if (some_open < 1) {
                left_t = (int64_t)t;
                break;
            }
            BARRIER
            if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
                FORGET
                const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
                const int64_t b_3 = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
                if (active && row == 0) {
                    /* statement: x[t+1] */
                    const float x_3 = LD(x_of_the_last_turn, (b_3 - 16 * b_block16));
                    const float x_4 = multiply_f(x_3, (float)0x1.3333333333333p+0);
                    const float new_x = x_4;
                    ST(x, (b_3 - 16 * b_block16 + 16 * t + 16), new_x);
                    ST(x_of_the_last_turn, (b_3 - 16 * b_block16), new_x);
                    /* statement: open[t+1] */
                    const int open_2 = LD(open, (b_3 - 16 * b_block16 + 16 * t));
                    const int open_3 = logical_and_b(open_2, logical_not_b(greater_f(x_3, (float)0x1.8000000000000p+0)));
                    ST(open, (b_3 - 16 * b_block16 + 16 * t + 16), open_3);
                    /* statement: loss_tanh */
                    const float w_2 = LD(w, i);
                    const float loss_tanh_2 = tanh_f(multiply_f(x_3, w_2));
                    ST(loss_tanh, (b_3 - 16 * b_block16 + 16 * t), loss_tanh_2);
                }
            }
        }
        BARRIER
        ROLLED for (int64_t t = left_t; t < T; t++) {
            /* statement: open[t+1] */
            if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
                FORGET
                const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
                const int64_t b_4 = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
                if (active && row == 0) {
                    ST(open, (b_4 - 16 * b_block16 + 16 * t + 16), 0);
                }
            }
        }
        if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
            FORGET
            const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            const int64_t b_5 = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
            if (active && row == 0) {
                /* statement: open_t */
                int32_t open_t_2 = 0;
                UNROLLED_BY(8) for (int64_t t_1 = 1; t_1 < (T + 1); t_1++) {
                    const int open_4 = LD(open, (b_5 - 16 * b_block16 + 16 * t_1));
                    open_t_2 = add_i(open_t_2, cast_i_b(open_4));
                }
                ST(open_t, (B * i + b_5), open_t_2);
                /* statement: to_go[T-1] */
                const int open_5 = LD(open, (b_5 - 16 * b_block16 + 16 * maximum_l((T - 2), 0)));
                const float x_5 = LD(x, (b_5 - 16 * b_block16 + 16 * T - 16));
                const float to_go_2 = where_f(open_5, x_5, (float)0x0.0p+0);
                ST(to_go, (b_5 - 16 * b_block16 + 16 * T - 16), to_go_2);
            }
        }
        int64_t left_t_2 = (int64_t)(-1);
        BARRIER
        ROLLED for (int64_t t = T - 1; t >= 0; t--) {
            int32_t some_open_2 = 0;
            ROLLED for (int64_t b_6 = 16 * b_block16; b_6 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1); b_6++) {
                some_open_2 = maximum_i(some_open_2, cast_i_b(LD(open, (b_6 - 16 * b_block16 + 16 * t))));
            }
            if (1 <= some_open_2) {
                left_t_2 = (int64_t)t;
                break;
            }
            if (2 <= (T - t)) {
                if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
                    FORGET
                    const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
                    const int64_t b_7 = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
                    if (active && row == 0) {
                        /* statement: to_go */
                        const int open_6 = LD(open, (b_7 - 16 * b_block16 + 16 * maximum_l((t - 1), 0)));
                        const float x_6 = LD(x, (b_7 - 16 * b_block16 + 16 * t));
                        const float to_go_3 = LD(to_go, (b_7 - 16 * b_block16 + 16 * t + 16));
                        const float to_go_4 = add_f(where_f(open_6, x_6, (float)0x0.0p+0), multiply_f((float)0x1.ccccccccccccdp-1, to_go_3));
                        ST(to_go, (b_7 - 16 * b_block16 + 16 * t), to_go_4);
                    }
                }
            }
        }
        ROLLED for (int64_t t = (left_t_2 + 1) - 1; t >= 0; t--) {
            if (2 <= (T - t)) {
                if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
                    FORGET
                    const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
                    const int64_t b_8 = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
                    if (active && row == 0) {
                        /* statement: to_go */
                        const int open_7 = LD(open, (b_8 - 16 * b_block16 + 16 * maximum_l((t - 1), 0)));
                        const float x_7 = LD(x, (b_8 - 16 * b_block16 + 16 * t));
                        const float to_go_5 = LD(to_go, (b_8 - 16 * b_block16 + 16 * t + 16));
                        const float to_go_6 = add_f(where_f(open_7, x_7, (float)0x0.0p+0), multiply_f((float)0x1.ccccccccccccdp-1, to_go_5));
                        ST(to_go, (b_8 - 16 * b_block16 + 16 * t), to_go_6);
                    }
                }
            }
            float gradient_w_points_2 = (float)0x0.0p+0;
            /* statement: gradient.w.points */
            if (thread < 16) ROLLED for (int64_t b_9 = 16 * b_block16 + thread; b_9 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1); b_9 += 16) {
                const int open_8 = LD(open, (b_9 - 16 * b_block16 + 16 * t));
                const float to_go_7 = LD(to_go, (b_9 - 16 * b_block16 + 16 * t));
                const float loss_tanh_3 = LD(loss_tanh, (b_9 - 16 * b_block16 + 16 * t));
                const float x_8 = LD(x, (b_9 - 16 * b_block16 + 16 * t));
                gradient_w_points_2 = add_f(gradient_w_points_2, where_f(open_8, multiply_f(multiply_f(multiply_f(where_f(open_8, divide_f((float)0x1.0000000000000p+0, cast_f_i((int32_t)B)), (float)0x0.0p+0), to_go_7), subtract_f((float)0x1.0000000000000p+0, multiply_f(loss_tanh_3, loss_tanh_3))), x_8), (float)0x0.0p+0));
            }
            float together_2 = gradient_w_points_2;
            if (thread < WARP) together_2 = add_of_parts_f(gradient_w_points_2);
            if (thread == 0) {
                ST(gradient_w_points, (i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk_2), add_f(LD(gradient_w_points, (i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk_2)), together_2));
            }
        }
        if (16 * b_block16 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1)) {
            FORGET
            const int active = 16 * b_block16 + lane < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1);
            const int64_t b_10 = minimum_l(16 * b_block16 + lane, (minimum_l((B - 1), (16 * b_block16 + 15)) + 1) - 1);
            if (active && row == 0) {
                /* statement: loss_sum */
                float loss_sum_3 = (float)0x0.0p+0;
                UNROLLED_BY(8) for (int64_t t_2 = 0; t_2 < T; t_2++) {
                    const int open_9 = LD(open, (b_10 - 16 * b_block16 + 16 * t_2));
                    const float loss_tanh_4 = LD(loss_tanh, (b_10 - 16 * b_block16 + 16 * t_2));
                    const float to_go_8 = LD(to_go, (b_10 - 16 * b_block16 + 16 * t_2));
                    loss_sum_3 = add_f(loss_sum_3, where_f(open_9, multiply_f(loss_tanh_4, to_go_8), (float)0x0.0p+0));
                }
                ST(loss_sum, (b_10 - 16 * b_block16), loss_sum_3);
            }
        }
        float loss_sum_2_points_2 = (float)0x0.0p+0;
        /* statement: loss_sum_2.points */
        if (thread < 16) ROLLED for (int64_t b_11 = 16 * b_block16 + thread; b_11 < (minimum_l((B - 1), (16 * b_block16 + 15)) + 1); b_11 += 16) {
            const float loss_sum_4 = LD(loss_sum, (b_11 - 16 * b_block16));
            loss_sum_2_points_2 = add_f(loss_sum_2_points_2, loss_sum_4);
        }
        float together_2_2 = loss_sum_2_points_2;
        if (thread < WARP) together_2_2 = add_of_parts_f(loss_sum_2_points_2);
        if (thread == 0) {
            ST(loss_sum_2_points, (i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk_2), add_f(LD(loss_sum_2_points, (i * minimum_l(maximum_l(floor_divide_l((B + 15), 16), 1), 16) + chunk_2)), together_2_2));
        }
    }
}

#undef THREADS
#define THREADS 512
KERNEL(kernel_parameters_policy_weight_1_normal_and_13_more, THREADS, 1)(Run *run, unsigned char *own_memory, int64_t own_bytes, ARRAY(float) parameters_policy_weight_1_normal, ARRAY(float) parameters_policy_weight_1, ARRAY(float) parameters_policy_bias_1, ARRAY(float) parameters_policy_weight_2_normal, ARRAY(float) parameters_policy_weight_2, ARRAY(float) parameters_policy_bias_2, ARRAY(float) optimizer_m_policy_weight_1, ARRAY(float) optimizer_m_policy_bias_1, ARRAY(float) optimizer_m_policy_weight_2, ARRAY(float) optimizer_m_policy_bias_2, ARRAY(float) optimizer_v_policy_weight_1, ARRAY(float) optimizer_v_policy_bias_1, ARRAY(float) optimizer_v_policy_weight_2, ARRAY(float) optimizer_v_policy_bias_2) {
    SHARED_MEMORY
    enum { TILE = 16, ROWS = THREADS / TILE };
    const int thread = THREAD;
    int lane = thread % TILE, row = thread / TILE;
    (void)run, (void)own_memory, (void)own_bytes, (void)shared;
    (void)lane, (void)row;
    {
    /* statement: parameters.policy.weight_1_normal */
    ROLLED for (int64_t block_2 = 0 + thread; block_2 < 20; block_2 += THREADS) {
        const words drawn_word = philox(counter(0, (uint32_t)(int32_t)block_2, 0, 0, 0, 0, 0), (uint32_t)run->seed, 0x4a4a718u);
        const uint32_t word_2 = drawn_word.word[0];
        (void)word_2;
        const uint32_t word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const uint32_t word_3 = drawn_word.word[2];
        (void)word_3;
        const uint32_t word_4 = drawn_word.word[3];
        (void)word_4;
        ST(parameters_policy_weight_1_normal, 4 * block_2, normal_f(word_2));
        ST(parameters_policy_weight_1_normal, (4 * block_2 + 1), normal_f(word_2_2));
        ST(parameters_policy_weight_1_normal, (4 * block_2 + 2), normal_f(word_3));
        ST(parameters_policy_weight_1_normal, (4 * block_2 + 3), normal_f(word_4));
    }
    }
    {
    SHARED(float, orthogonalize, 0, 80)
    SHARED(float, operand_2, 320, 80)
    SHARED(double, spare, 640, 184)
    /* statement: parameters.policy.weight_1[0] */
    WARP_BARRIER
    ROLLED for (int64_t i0 = 0 + thread; i0 < 4; i0 += THREADS) {
        ROLLED for (int64_t i1 = 0; i1 < 20; i1++) {
            ST(operand_2, (20 * i0 + i1), LD(parameters_policy_weight_1_normal, (20 * i0 + i1)));
        }
    }
    BARRIER
    block_orthogonalize_f(operand_2, 0, orthogonalize, 0, 4, 20, spare, 0, thread);
    BARRIER
    ROLLED for (int64_t i0_2 = 0 + thread; i0_2 < 4; i0_2 += THREADS) {
        ROLLED for (int64_t i1_2 = 0; i1_2 < 20; i1_2++) {
            ST(parameters_policy_weight_1, (20 * i0_2 + i1_2), multiply_f(LD(orthogonalize, (20 * i0_2 + i1_2)), (float)0x1.6a09e667f3bcdp+0));
        }
    }
    }
    {
    const int thread = (THREAD + THREADS - 32) % THREADS;
    /* statement: parameters.policy.bias_1[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        ST(parameters_policy_bias_1, i0, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 64) % THREADS;
    /* statement: parameters.policy.weight_2_normal */
    ROLLED for (int64_t block_2 = 0 + thread; block_2 < 10; block_2 += THREADS) {
        const words drawn_word = philox(counter(0, (uint32_t)(int32_t)block_2, 0, 0, 0, 0, 0), (uint32_t)run->seed, 0x7a9ed7abu);
        const uint32_t word_2 = drawn_word.word[0];
        (void)word_2;
        const uint32_t word_2_2 = drawn_word.word[1];
        (void)word_2_2;
        const uint32_t word_3 = drawn_word.word[2];
        (void)word_3;
        const uint32_t word_4 = drawn_word.word[3];
        (void)word_4;
        ST(parameters_policy_weight_2_normal, 4 * block_2, normal_f(word_2));
        ST(parameters_policy_weight_2_normal, (4 * block_2 + 1), normal_f(word_2_2));
        ST(parameters_policy_weight_2_normal, (4 * block_2 + 2), normal_f(word_3));
        ST(parameters_policy_weight_2_normal, (4 * block_2 + 3), normal_f(word_4));
    }
    }
    {
    SHARED(float, orthogonalize, 2112, 40)
    SHARED(float, operand_2, 2272, 40)
    SHARED(double, spare, 2432, 102)
    /* statement: parameters.policy.weight_2[0] */
    BARRIER
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        ST(operand_2, 2 * i0, LD(parameters_policy_weight_2_normal, 2 * i0));
        ST(operand_2, (2 * i0 + 1), LD(parameters_policy_weight_2_normal, (2 * i0 + 1)));
    }
    BARRIER
    block_orthogonalize_f(operand_2, 0, orthogonalize, 0, 20, 2, spare, 0, thread);
    BARRIER
    ROLLED for (int64_t i0_2 = 0 + thread; i0_2 < 20; i0_2 += THREADS) {
        ST(parameters_policy_weight_2, 2 * i0_2, multiply_f(LD(orthogonalize, 2 * i0_2), (float)0x1.47ae147ae147bp-7));
        ST(parameters_policy_weight_2, (2 * i0_2 + 1), multiply_f(LD(orthogonalize, (2 * i0_2 + 1)), (float)0x1.47ae147ae147bp-7));
    }
    }
    {
    const int thread = (THREAD + THREADS - 96) % THREADS;
    if (thread == 0) {
        /* statement: parameters.policy.bias_2[0] */
        ST(parameters_policy_bias_2, 0, (float)0x0.0p+0);
        ST(parameters_policy_bias_2, 1, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 128) % THREADS;
    /* statement: optimizer.m.policy.weight_1[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 80; i0 += THREADS) {
        ST(optimizer_m_policy_weight_1, i0, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 224) % THREADS;
    /* statement: optimizer.m.policy.bias_1[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        ST(optimizer_m_policy_bias_1, i0, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 256) % THREADS;
    /* statement: optimizer.m.policy.weight_2[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 40; i0 += THREADS) {
        ST(optimizer_m_policy_weight_2, i0, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 320) % THREADS;
    if (thread == 0) {
        /* statement: optimizer.m.policy.bias_2[0] */
        ST(optimizer_m_policy_bias_2, 0, (float)0x0.0p+0);
        ST(optimizer_m_policy_bias_2, 1, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 352) % THREADS;
    /* statement: optimizer.v.policy.weight_1[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 80; i0 += THREADS) {
        ST(optimizer_v_policy_weight_1, i0, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 448) % THREADS;
    /* statement: optimizer.v.policy.bias_1[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        ST(optimizer_v_policy_bias_1, i0, (float)0x0.0p+0);
    }
    }
    {
    /* statement: optimizer.v.policy.weight_2[0] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 40; i0 += THREADS) {
        ST(optimizer_v_policy_weight_2, i0, (float)0x0.0p+0);
    }
    }
    {
    const int thread = (THREAD + THREADS - 64) % THREADS;
    if (thread == 0) {
        /* statement: optimizer.v.policy.bias_2[0] */
        ST(optimizer_v_policy_bias_2, 0, (float)0x0.0p+0);
        ST(optimizer_v_policy_bias_2, 1, (float)0x0.0p+0);
    }
    }
}

#undef THREADS
#define THREADS 512
KERNEL(kernel_episodes_and_20_more, THREADS, 1)(Run *run, unsigned char *own_memory, int64_t own_bytes, ARRAY(int32_t) episodes_points, ARRAY(int32_t) episodes, ARRAY(float) loss_sum_2_points, ARRAY(float) loss_sum_2, ARRAY(float) loss, ARRAY(float) gradient_policy_bias_2_points, ARRAY(float) gradient_policy_bias_2, ARRAY(float) gradient_policy_weight_2_points, ARRAY(float) gradient_policy_weight_2, ARRAY(float) optimizer_m_policy_weight_2, ARRAY(float) optimizer_v_policy_weight_2, ARRAY(float) parameters_policy_weight_2, ARRAY(float) optimizer_m_policy_bias_2, ARRAY(float) optimizer_v_policy_bias_2, ARRAY(float) parameters_policy_bias_2, ARRAY(float) gradient_policy_bias_1_points, ARRAY(float) gradient_policy_bias_1, ARRAY(float) gradient_policy_weight_1_points, ARRAY(float) gradient_policy_weight_1, ARRAY(float) optimizer_m_policy_weight_1, ARRAY(float) optimizer_v_policy_weight_1, ARRAY(float) parameters_policy_weight_1, ARRAY(float) optimizer_m_policy_bias_1, ARRAY(float) optimizer_v_policy_bias_1, ARRAY(float) parameters_policy_bias_1, ARRAY(float) episode_return_sum_2_points, ARRAY(float) episode_return_sum_2, ARRAY(float) episode_return, int64_t B) {
    SHARED_MEMORY
    enum { TILE = 16, ROWS = THREADS / TILE };
    const int thread = THREAD;
    int lane = thread % TILE, row = thread / TILE;
    (void)run, (void)own_memory, (void)own_bytes, (void)shared;
    (void)lane, (void)row;
    const int64_t i = ITERATION;
    {
    if (thread == 0) {
        /* statement: episodes */
        int32_t running = LD(episodes_points, 0);
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            running = add_i(running, LD(episodes_points, k));
        }
        ST(episodes, i, running);
    }
    }
    {
    const int thread = (THREAD + THREADS - 32) % THREADS;
    if (thread == 0) {
        /* statement: loss_sum_2 */
        float running = LD(loss_sum_2_points, 0);
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            running = add_f(running, LD(loss_sum_2_points, k));
        }
        ST(loss_sum_2, 0, running);
    }
    }
    {
    const int thread = (THREAD + THREADS - 32) % THREADS;
    if (thread == 0) {
        /* statement: loss */
        ST(loss, i, negative_f(divide_f(LD(loss_sum_2, 0), cast_f_i((int32_t)B))));
    }
    }
    {
    const int thread = (THREAD + THREADS - 64) % THREADS;
    if (thread == 0) {
        /* statement: gradient.policy.bias_2 */
        float running = LD(gradient_policy_bias_2_points, 0);
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            running = add_f(running, LD(gradient_policy_bias_2_points, 2 * k));
        }
        ST(gradient_policy_bias_2, 0, running);
        float running_2 = LD(gradient_policy_bias_2_points, 1);
        UNROLLED_BY(8) for (int64_t k_2 = 1; k_2 < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k_2++) {
            running_2 = add_f(running_2, LD(gradient_policy_bias_2_points, (2 * k_2 + 1)));
        }
        ST(gradient_policy_bias_2, 1, running_2);
    }
    }
    {
    const int thread = (THREAD + THREADS - 96) % THREADS;
    /* statement: gradient.policy.weight_2 */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        float running = LD(gradient_policy_weight_2_points, 2 * i0);
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            running = add_f(running, LD(gradient_policy_weight_2_points, (2 * i0 + 40 * k)));
        }
        ST(gradient_policy_weight_2, 2 * i0, running);
        float running_2 = LD(gradient_policy_weight_2_points, (2 * i0 + 1));
        UNROLLED_BY(8) for (int64_t k_2 = 1; k_2 < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k_2++) {
            running_2 = add_f(running_2, LD(gradient_policy_weight_2_points, (2 * i0 + 40 * k_2 + 1)));
        }
        ST(gradient_policy_weight_2, (2 * i0 + 1), running_2);
    }
    }
    BARRIER
    {
    const int thread = (THREAD + THREADS - 128) % THREADS;
    if (thread < 64) {
    const float difference_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ccccccccccccdp-1, cast_f_i((int32_t)(i + 1))));
    const float difference_2_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ff7ced916872bp-1, cast_f_i((int32_t)(i + 1))));
    /* statement: optimizer.m.policy.weight_2[i+1] */
    /* statement: optimizer.v.policy.weight_2[i+1] */
    /* statement: parameters.policy.weight_2[i+1] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 40; i0 += THREADS) {
        /* statement: optimizer.m.policy.weight_2[i+1] */
        const float optimizer_m_policy_weight_2_2 = LD(optimizer_m_policy_weight_2, i0);
        const float gradient_policy_weight_2_2 = LD(gradient_policy_weight_2, i0);
        const float optimizer_m_policy_weight_2_3 = add_f(multiply_f((float)0x1.ccccccccccccdp-1, optimizer_m_policy_weight_2_2), multiply_f((float)0x1.9999999999998p-4, gradient_policy_weight_2_2));
        ST(optimizer_m_policy_weight_2, i0, optimizer_m_policy_weight_2_3);
        /* statement: optimizer.v.policy.weight_2[i+1] */
        const float optimizer_v_policy_weight_2_2 = LD(optimizer_v_policy_weight_2, i0);
        const float optimizer_v_policy_weight_2_3 = add_f(multiply_f((float)0x1.ff7ced916872bp-1, optimizer_v_policy_weight_2_2), multiply_f((float)0x1.0624dd2f1aa00p-10, multiply_f(gradient_policy_weight_2_2, gradient_policy_weight_2_2)));
        ST(optimizer_v_policy_weight_2, i0, optimizer_v_policy_weight_2_3);
        /* statement: parameters.policy.weight_2[i+1] */
        const float parameters_policy_weight_2_2 = LD(parameters_policy_weight_2, i0);
        const float parameters_policy_weight_2_3 = subtract_f(parameters_policy_weight_2_2, multiply_f((float)0x1.89374bc6a7efap-9, divide_f(divide_f(optimizer_m_policy_weight_2_3, difference_2), add_f(sqrt_f(divide_f(optimizer_v_policy_weight_2_3, difference_2_2)), (float)0x1.5798ee2308c3ap-27))));
        ST(parameters_policy_weight_2, i0, parameters_policy_weight_2_3);
    }
    }
    }
    {
    const int thread = (THREAD + THREADS - 192) % THREADS;
    if (thread == 0) {
        /* statement: optimizer.m.policy.bias_2[i+1] */
        /* statement: optimizer.v.policy.bias_2[i+1] */
        /* statement: parameters.policy.bias_2[i+1] */
        const float difference_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ccccccccccccdp-1, cast_f_i((int32_t)(i + 1))));
        const float difference_2_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ff7ced916872bp-1, cast_f_i((int32_t)(i + 1))));
        /* statement: optimizer.m.policy.bias_2[i+1] */
        ST(optimizer_m_policy_bias_2, 0, add_f(multiply_f((float)0x1.ccccccccccccdp-1, LD(optimizer_m_policy_bias_2, 0)), multiply_f((float)0x1.9999999999998p-4, LD(gradient_policy_bias_2, 0))));
        /* statement: optimizer.v.policy.bias_2[i+1] */
        ST(optimizer_v_policy_bias_2, 0, add_f(multiply_f((float)0x1.ff7ced916872bp-1, LD(optimizer_v_policy_bias_2, 0)), multiply_f((float)0x1.0624dd2f1aa00p-10, multiply_f(LD(gradient_policy_bias_2, 0), LD(gradient_policy_bias_2, 0)))));
        /* statement: parameters.policy.bias_2[i+1] */
        ST(parameters_policy_bias_2, 0, subtract_f(LD(parameters_policy_bias_2, 0), multiply_f((float)0x1.89374bc6a7efap-9, divide_f(divide_f(LD(optimizer_m_policy_bias_2, 0), difference_2), add_f(sqrt_f(divide_f(LD(optimizer_v_policy_bias_2, 0), difference_2_2)), (float)0x1.5798ee2308c3ap-27)))));
        /* statement: optimizer.m.policy.bias_2[i+1] */
        ST(optimizer_m_policy_bias_2, 1, add_f(multiply_f((float)0x1.ccccccccccccdp-1, LD(optimizer_m_policy_bias_2, 1)), multiply_f((float)0x1.9999999999998p-4, LD(gradient_policy_bias_2, 1))));
        /* statement: optimizer.v.policy.bias_2[i+1] */
        ST(optimizer_v_policy_bias_2, 1, add_f(multiply_f((float)0x1.ff7ced916872bp-1, LD(optimizer_v_policy_bias_2, 1)), multiply_f((float)0x1.0624dd2f1aa00p-10, multiply_f(LD(gradient_policy_bias_2, 1), LD(gradient_policy_bias_2, 1)))));
        /* statement: parameters.policy.bias_2[i+1] */
        ST(parameters_policy_bias_2, 1, subtract_f(LD(parameters_policy_bias_2, 1), multiply_f((float)0x1.89374bc6a7efap-9, divide_f(divide_f(LD(optimizer_m_policy_bias_2, 1), difference_2), add_f(sqrt_f(divide_f(LD(optimizer_v_policy_bias_2, 1), difference_2_2)), (float)0x1.5798ee2308c3ap-27)))));
    }
    }
    {
    const int thread = (THREAD + THREADS - 224) % THREADS;
    /* statement: gradient.policy.bias_1 */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        const float gradient_policy_bias_1_points_2 = LD(gradient_policy_bias_1_points, i0);
        float running = gradient_policy_bias_1_points_2;
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            const float gradient_policy_bias_1_points_3 = LD(gradient_policy_bias_1_points, (i0 + 20 * k));
            running = add_f(running, gradient_policy_bias_1_points_3);
        }
        ST(gradient_policy_bias_1, i0, running);
    }
    }
    {
    const int thread = (THREAD + THREADS - 256) % THREADS;
    /* statement: gradient.policy.weight_1 */
    const int64_t columns_of_i0 = 20 - 0;
    ROLLED for (int64_t turn_of_i0 = thread; turn_of_i0 < (4 - 0) * columns_of_i0; turn_of_i0 += THREADS) {
        const int64_t i0 = 0 + turn_of_i0 / columns_of_i0;
        const int64_t i1 = 0 + turn_of_i0 % columns_of_i0;
        const float gradient_policy_weight_1_points_2 = LD(gradient_policy_weight_1_points, (20 * i0 + i1));
        float running = gradient_policy_weight_1_points_2;
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            const float gradient_policy_weight_1_points_3 = LD(gradient_policy_weight_1_points, (20 * i0 + i1 + 80 * k));
            running = add_f(running, gradient_policy_weight_1_points_3);
        }
        ST(gradient_policy_weight_1, (20 * i0 + i1), running);
    }
    }
    {
    const int thread = (THREAD + THREADS - 256) % THREADS;
    if (thread < 96) {
    const float difference_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ccccccccccccdp-1, cast_f_i((int32_t)(i + 1))));
    const float difference_2_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ff7ced916872bp-1, cast_f_i((int32_t)(i + 1))));
    /* statement: optimizer.m.policy.weight_1[i+1] */
    /* statement: optimizer.v.policy.weight_1[i+1] */
    /* statement: parameters.policy.weight_1[i+1] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 80; i0 += THREADS) {
        /* statement: optimizer.m.policy.weight_1[i+1] */
        const float optimizer_m_policy_weight_1_2 = LD(optimizer_m_policy_weight_1, i0);
        const float gradient_policy_weight_1_2 = LD(gradient_policy_weight_1, i0);
        const float optimizer_m_policy_weight_1_3 = add_f(multiply_f((float)0x1.ccccccccccccdp-1, optimizer_m_policy_weight_1_2), multiply_f((float)0x1.9999999999998p-4, gradient_policy_weight_1_2));
        ST(optimizer_m_policy_weight_1, i0, optimizer_m_policy_weight_1_3);
        /* statement: optimizer.v.policy.weight_1[i+1] */
        const float optimizer_v_policy_weight_1_2 = LD(optimizer_v_policy_weight_1, i0);
        const float optimizer_v_policy_weight_1_3 = add_f(multiply_f((float)0x1.ff7ced916872bp-1, optimizer_v_policy_weight_1_2), multiply_f((float)0x1.0624dd2f1aa00p-10, multiply_f(gradient_policy_weight_1_2, gradient_policy_weight_1_2)));
        ST(optimizer_v_policy_weight_1, i0, optimizer_v_policy_weight_1_3);
        /* statement: parameters.policy.weight_1[i+1] */
        const float parameters_policy_weight_1_2 = LD(parameters_policy_weight_1, i0);
        const float parameters_policy_weight_1_3 = subtract_f(parameters_policy_weight_1_2, multiply_f((float)0x1.89374bc6a7efap-9, divide_f(divide_f(optimizer_m_policy_weight_1_3, difference_2), add_f(sqrt_f(divide_f(optimizer_v_policy_weight_1_3, difference_2_2)), (float)0x1.5798ee2308c3ap-27))));
        ST(parameters_policy_weight_1, i0, parameters_policy_weight_1_3);
    }
    }
    }
    {
    const int thread = (THREAD + THREADS - 224) % THREADS;
    if (thread < 32) {
    const float difference_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ccccccccccccdp-1, cast_f_i((int32_t)(i + 1))));
    const float difference_2_2 = subtract_f((float)0x1.0000000000000p+0, power_f((float)0x1.ff7ced916872bp-1, cast_f_i((int32_t)(i + 1))));
    /* statement: optimizer.m.policy.bias_1[i+1] */
    /* statement: optimizer.v.policy.bias_1[i+1] */
    /* statement: parameters.policy.bias_1[i+1] */
    ROLLED for (int64_t i0 = 0 + thread; i0 < 20; i0 += THREADS) {
        /* statement: optimizer.m.policy.bias_1[i+1] */
        const float optimizer_m_policy_bias_1_2 = LD(optimizer_m_policy_bias_1, i0);
        const float gradient_policy_bias_1_2 = LD(gradient_policy_bias_1, i0);
        const float optimizer_m_policy_bias_1_3 = add_f(multiply_f((float)0x1.ccccccccccccdp-1, optimizer_m_policy_bias_1_2), multiply_f((float)0x1.9999999999998p-4, gradient_policy_bias_1_2));
        ST(optimizer_m_policy_bias_1, i0, optimizer_m_policy_bias_1_3);
        /* statement: optimizer.v.policy.bias_1[i+1] */
        const float optimizer_v_policy_bias_1_2 = LD(optimizer_v_policy_bias_1, i0);
        const float optimizer_v_policy_bias_1_3 = add_f(multiply_f((float)0x1.ff7ced916872bp-1, optimizer_v_policy_bias_1_2), multiply_f((float)0x1.0624dd2f1aa00p-10, multiply_f(gradient_policy_bias_1_2, gradient_policy_bias_1_2)));
        ST(optimizer_v_policy_bias_1, i0, optimizer_v_policy_bias_1_3);
        /* statement: parameters.policy.bias_1[i+1] */
        const float parameters_policy_bias_1_2 = LD(parameters_policy_bias_1, i0);
        const float parameters_policy_bias_1_3 = subtract_f(parameters_policy_bias_1_2, multiply_f((float)0x1.89374bc6a7efap-9, divide_f(divide_f(optimizer_m_policy_bias_1_3, difference_2), add_f(sqrt_f(divide_f(optimizer_v_policy_bias_1_3, difference_2_2)), (float)0x1.5798ee2308c3ap-27))));
        ST(parameters_policy_bias_1, i0, parameters_policy_bias_1_3);
    }
    }
    }
    {
    const int thread = (THREAD + THREADS - 352) % THREADS;
    if (thread == 0) {
        /* statement: episode_return_sum_2 */
        float running = LD(episode_return_sum_2_points, 0);
        UNROLLED_BY(8) for (int64_t k = 1; k < minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16); k++) {
            running = add_f(running, LD(episode_return_sum_2_points, k));
        }
        ST(episode_return_sum_2, 0, running);
    }
    }
    {
    const int thread = (THREAD + THREADS - 352) % THREADS;
    if (thread == 0) {
        /* statement: episode_return */
        ST(episode_return, i, divide_f(LD(episode_return_sum_2, 0), cast_f_i((int32_t)B)));
    }
    }
}

#undef THREADS
#define THREADS 256
#undef FORGET
#ifdef FEW_REGISTERS_kernel_environment_start_uniform_and_43_more
#define FORGET AFRESH(lane) AFRESH(row)
#else
#define FORGET
#endif
#ifndef BLOCKS_OF_kernel_environment_start_uniform_and_43_more
#define BLOCKS_OF_kernel_environment_start_uniform_and_43_more 2
#endif
KERNEL(kernel_environment_start_uniform_and_43_more, THREADS, BLOCKS_OF_kernel_environment_start_uniform_and_43_more)(Run *run, unsigned char *own_memory, int64_t own_bytes, ARRAY(int32_t) episodes_points, ARRAY(float) parameters_policy_weight_1, ARRAY(float) parameters_policy_bias_1, ARRAY(float) parameters_policy_weight_2, ARRAY(float) parameters_policy_bias_2, ARRAY(float) episode_return_sum_2_points, ARRAY(float) gradient_policy_bias_2_points, ARRAY(float) gradient_policy_weight_2_points, ARRAY(float) gradient_policy_bias_1_points, ARRAY(float) gradient_policy_weight_1_points, ARRAY(float) loss_sum_2_points, int64_t B, int64_t T) {
    SHARED_MEMORY
    enum { TILE = 32, ROWS = THREADS / TILE };
    const int thread = THREAD;
    int lane = thread % TILE, row = thread / TILE;
    (void)run, (void)own_memory, (void)own_bytes, (void)shared;
    (void)lane, (void)row;
    const int64_t i = ITERATION;
    CONSTANTS(float, one_2, 1, (float)0x1.0000000000000p+0)
    SHARED(float, environment_start_uniform, 0, 128)
    SHARED(float, environment_start, 0, 128)
    SHARED(float, policy_output, 512, 64)
    SHARED(float, policy_uniform, 768, 32)
    SHARED(float, policy_log_probabilities_difference, 512, 64)
    SHARED(float, policy_log_probabilities, 512, 64)
    SHARED(float, policy_probabilities, 896, 64)
    SHARED(float, policy_cumulative, 1152, 64)
    SHARED(uint8_t, policy_passed, 1408, 32)
    SHARED(float, environment_force, 768, 32)
    SHARED(float, environment_cosine, 1472, 32)
    SHARED(float, environment_sine, 1600, 32)
    SHARED(float, environment_pushed, 768, 32)
    SHARED(float, environment_angular_acceleration, 1600, 32)
    SHARED(float, environment_acceleration, 1472, 32)
    SHARED(uint8_t, environment_terminated, 1408, 32)
    SHARED(uint8_t, environment_truncated, 1728, 32)
    SHARED(uint8_t, done, 1728, 32)
    SHARED(float, policy_chosen, 1600, 32)
    SHARED(float, episode_return_sum, 0, 32)
    SHARED(float, worth, 128, 32)
    SHARED(float, gradient_log_probabilities, 256, 64)
    SHARED(float, gradient_output, 256, 64)
    SHARED(float, gradient_policy_bias_1_product, 1792, 640)
    SHARED(float, loss_sum, 0, 32)
    SHARED(float, parameters_policy_bias_2_of_block, 4352, 2)
    SHARED(float, parameters_policy_bias_1_of_block, 4368, 20)
    SHARED(float, parameters_policy_weight_2_of_block, 4448, 40)
    SHARED(float, parameters_policy_weight_1_of_block, 4608, 80)
    SHARED(float, loss_sum_2_points_of_chunk, 4928, 1)
    SHARED(int32_t, episodes_points_of_chunk, 4944, 1)
    SHARED(float, episode_return_sum_2_points_of_chunk, 4960, 1)
    SHARED(float, gradient_policy_bias_2_points_of_chunk, 4976, 2)
    SHARED(float, gradient_policy_bias_1_points_of_chunk, 4992, 20)
    SHARED(float, gradient_policy_weight_2_points_of_chunk, 5072, 40)
    SHARED(float, gradient_policy_weight_1_points_of_chunk, 5232, 80)
    SHARED(uint8_t, alive_of_the_last_turn, 5552, 32)
    SHARED(float, product_2, 5584, 64)
    SHARED(float, turned_2, 5584, 640)
    OWN(float, state, own_memory + BLOCK * own_bytes, 0, (160 * T + 160))
    OWN(uint8_t, alive, own_memory + BLOCK * own_bytes, (640 * T + 640), (32 * T + 32))
    OWN(float, policy_hidden_1, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 640 * T + 640), 640 * T)
    OWN(float, policy_log_probabilities_exp, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 3200 * T + 640), 64 * T)
    OWN(float, policy_log_probabilities_sum, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 3456 * T + 640), 32 * T)
    OWN(int32_t, policy_action, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 3584 * T + 640), 32 * T)
    OWN(float, gain, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 3712 * T + 640), 32 * T)
    OWN(uint8_t, policy_chosen_equal, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 3840 * T + 640), 32 * T)
    OWN(float, policy_chosen_2, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 63), 64) + 64 * floor_divide_l((32 * T + 95), 64) + 3840 * T + 640), 32 * T)
    OWN(float, surrogate, own_memory + BLOCK * own_bytes, (64 * floor_divide_l((32 * T + 95), 64) + 3712 * T + 640), 32 * T)
    const int64_t chunk_2 = BLOCK;
    const int64_t first_block = chunk_begin(0, floor_divide_l((B + 31), 32), 0, floor_divide_l((B + 31), 32), minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16), chunk_2);
    const int64_t behind_blocks = chunk_begin(0, floor_divide_l((B + 31), 32), 0, floor_divide_l((B + 31), 32), minimum_l(maximum_l(floor_divide_l((B + 31), 32), 1), 16), chunk_2 + 1);
    /* statement: policy.output */
    ROLLED for (int64_t element_of_parameters_policy_bias_2_of_block = 0 + thread; element_of_parameters_policy_bias_2_of_block < 2; element_of_parameters_policy_bias_2_of_block += THREADS) {
        ST(parameters_policy_bias_2_of_block, element_of_parameters_policy_bias_2_of_block, LD(parameters_policy_bias_2, element_of_parameters_policy_bias_2_of_block));
    }
    /* statement: policy.hidden_1 */
    ROLLED for (int64_t element_of_parameters_policy_bias_1_of_block = 0 + thread; element_of_parameters_policy_bias_1_of_block < 20; element_of_parameters_policy_bias_1_of_block += THREADS) {
        ST(parameters_policy_bias_1_of_block, element_of_parameters_policy_bias_1_of_block, LD(parameters_policy_bias_1, element_of_parameters_policy_bias_1_of_block));
    }
    /* statement: policy.output */
    ROLLED for (int64_t element_of_parameters_policy_weight_2_of_block = 0 + thread; element_of_parameters_policy_weight_2_of_block < 40; element_of_parameters_policy_weight_2_of_block += THREADS) {
        ST(parameters_policy_weight_2_of_block, element_of_parameters_policy_weight_2_of_block, LD(parameters_policy_weight_2, element_of_parameters_policy_weight_2_of_block));
    }
    /* statement: policy.hidden_1 */
    ROLLED for (int64_t element_of_parameters_policy_weight_1_of_block = 0 + thread; element_of_parameters_policy_weight_1_of_block < 80; element_of_parameters_policy_weight_1_of_block += THREADS) {
        ST(parameters_policy_weight_1_of_block, element_of_parameters_policy_weight_1_of_block, LD(parameters_policy_weight_1, element_of_parameters_policy_weight_1_of_block));
    }
    if (thread == 0) {
        /* statement: loss_sum_2.points */
        ST(loss_sum_2_points_of_chunk, 0, (float)0x0.0p+0);
        /* statement: gradient.policy.bias_2.points */
        ST(gradient_policy_bias_2_points_of_chunk, 0, (float)0x0.0p+0);
        ST(gradient_policy_bias_2_points_of_chunk, 1, (float)0x0.0p+0);
        /* statement: gradient.policy.weight_2.points */
    }
    ROLLED for (int64_t i0 = 0 + thread; i0 < 40; i0 += THREADS) {
        ST(gradient_policy_weight_2_points_of_chunk, i0, (float)0x0.0p+0);
    }
    /* statement: gradient.policy.bias_1.points */
    ROLLED for (int64_t i0_2 = 0 + thread; i0_2 < 20; i0_2 += THREADS) {
        ST(gradient_policy_bias_1_points_of_chunk, i0_2, (float)0x0.0p+0);
    }
    /* statement: gradient.policy.weight_1.points */
    ROLLED for (int64_t i0_3 = 0 + thread; i0_3 < 80; i0_3 += THREADS) {
        ST(gradient_policy_weight_1_points_of_chunk, i0_3, (float)0x0.0p+0);
    }
    if (thread == 0) {
        /* statement: episodes.points */
        ST(episodes_points_of_chunk, 0, 0);
        /* statement: episode_return_sum_2.points */
        ST(episode_return_sum_2_points_of_chunk, 0, (float)0x0.0p+0);
    }
    ROLLED for (int64_t b_block32 = first_block; b_block32 < behind_blocks; b_block32++) {
        BARRIER
        if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
            FORGET
            const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
            const int64_t b = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
            if (active && row == 0) {
                /* statement: environment.start_uniform */
                const words drawn_word = philox(counter(2, (uint32_t)(int32_t)0, (uint32_t)(int32_t)b, (uint32_t)(int32_t)i, 0, 0, 0), (uint32_t)run->seed, 0x6232999fu);
                const uint32_t word_2 = drawn_word.word[0];
                (void)word_2;
                const uint32_t word_2_2 = drawn_word.word[1];
                (void)word_2_2;
                const uint32_t word_3 = drawn_word.word[2];
                (void)word_3;
                const uint32_t word_4 = drawn_word.word[3];
                (void)word_4;
                const float environment_start_uniform_2 = uniform_f(word_2);
                const float environment_start_uniform_3 = uniform_f(word_2_2);
                const float environment_start_uniform_4 = uniform_f(word_3);
                const float environment_start_uniform_5 = uniform_f(word_4);
                /* statement: environment.start */
                const float environment_start_2 = add_f(((float)-0x1.999999999999ap-5), multiply_f((float)0x1.999999999999ap-4, environment_start_uniform_2));
                const float environment_start_3 = add_f(((float)-0x1.999999999999ap-5), multiply_f((float)0x1.999999999999ap-4, environment_start_uniform_3));
                const float environment_start_4 = add_f(((float)-0x1.999999999999ap-5), multiply_f((float)0x1.999999999999ap-4, environment_start_uniform_4));
                const float environment_start_5 = add_f(((float)-0x1.999999999999ap-5), multiply_f((float)0x1.999999999999ap-4, environment_start_uniform_5));
                /* statement: state[0] */
                ST(state, (b - 32 * b_block32), environment_start_2);
                ST(state, (b - 32 * b_block32 + 32), environment_start_3);
                ST(state, (b - 32 * b_block32 + 64), environment_start_4);
                ST(state, (b - 32 * b_block32 + 96), environment_start_5);
                ST(state, (b - 32 * b_block32 + 128), (float)0x0.0p+0);
                /* statement: alive[0] */
                ST(alive, (b - 32 * b_block32), 1);
            }
        }
        int32_t episodes_points_2 = 0;
        /* statement: episodes.points */
        WARP_BARRIER
        if (thread < 16) ROLLED for (int64_t b_2 = 32 * b_block32 + thread; b_2 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1); b_2 += 16) {
            const int alive_2 = LD(alive, (b_2 - 32 * b_block32));
            episodes_points_2 = add_i(episodes_points_2, cast_i_b(alive_2));
        }
        int32_t together_2 = episodes_points_2;
        if (thread < WARP) together_2 = add_of_parts_i(episodes_points_2);
        if (thread == 0) {
            ST(episodes_points_of_chunk, 0, add_i(LD(episodes_points_of_chunk, 0), together_2));
        }
        /* statement: alive[t+1] */
        if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
            FORGET
            const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
            const int64_t element_of_alive = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
            if (active && row == 0) {
                const int slice_of_alive = LD(alive, (element_of_alive - 32 * b_block32));
                ST(alive_of_the_last_turn, (element_of_alive - 32 * b_block32), slice_of_alive);
            }
        }
        ROLLED for (int64_t t = 0; t < T; t++) {
            /* statement: policy.hidden_1 */
            BARRIER
            block_product_2x4_by_row_f(parameters_policy_weight_1_of_block, 0, 1, 20, state, 160 * t, 32, policy_hidden_1, 640 * t, 32, 20, (minimum_l((B - 1), (32 * b_block32 + 31)) - 32 * b_block32 + 1), 4, 0, thread);
            BARRIER
            if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
                FORGET
                const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
                const int64_t b_3 = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
                /* statement: policy.hidden_1 */
                if (active) UNROLLED_BY(4) for (int64_t i0_4 = 0 + row; i0_4 < 20; i0_4 += ROWS) {
                    const float parameters_policy_bias_1_2 = LD(parameters_policy_bias_1_of_block, i0_4);
                    const float policy_hidden_1_2 = tanh_f(add_f(LD(policy_hidden_1, (b_3 - 32 * b_block32 + 32 * i0_4 + 640 * t)), parameters_policy_bias_1_2));
                    ST(policy_hidden_1, (b_3 - 32 * b_block32 + 32 * i0_4 + 640 * t), policy_hidden_1_2);
                }
            }
            /* statement: policy.output */
            BARRIER
            block_product_1x1_f(parameters_policy_weight_2_of_block, 0, 1, 2, policy_hidden_1, 640 * t, 32, product_2, 0, 32, 2, (minimum_l((B - 1), (32 * b_block32 + 31)) - 32 * b_block32 + 1), 20, 0, thread);
            BARRIER
            if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
                FORGET
                const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
                const int64_t b_4 = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
                if (active && row == 0) {
                    /* statement: policy.output */
                    const float parameters_policy_bias_2_2 = LD(parameters_policy_bias_2_of_block, 0);
                    const float policy_output_2 = add_f(LD(product_2, (b_4 - 32 * b_block32)), parameters_policy_bias_2_2);
                    const float parameters_policy_bias_2_3 = LD(parameters_policy_bias_2_of_block, 1);
                    const float policy_output_3 = add_f(LD(product_2, (b_4 - 32 * b_block32 + 32)), parameters_policy_bias_2_3);
                    /* statement: policy.uniform */
                    const words drawn_word_5 = philox(counter(3, (uint32_t)(int32_t)0, (uint32_t)(int32_t)b_4, (uint32_t)(int32_t)i, (uint32_t)(int32_t)t, 0, 0), (uint32_t)run->seed, 0xef379363u);
                    const uint32_t word_5 = drawn_word_5.word[0];
                    (void)word_5;
                    const uint32_t word_6 = drawn_word_5.word[1];
                    (void)word_6;
                    const uint32_t word_7 = drawn_word_5.word[2];
                    (void)word_7;
                    const uint32_t word_8 = drawn_word_5.word[3];
                    (void)word_8;
                    const float policy_uniform_2 = uniform_f(word_5);
                    /* statement: policy.log_probabilities_difference */
                    const float max = maximum_f(policy_output_2, policy_output_3);
                    if (!not_equal_f(max, (-INFINITE_F))) {
                        const int64_t numbers[] = {0};
                        const int64_t instance[] = {(int64_t)b_4, (int64_t)i, (int64_t)t};
                        fail(run, 1, 0, numbers, 3, instance);
                    }
                    const float policy_log_probabilities_difference_2 = subtract_f(policy_output_2, max);
                    const float policy_log_probabilities_difference_3 = subtract_f(policy_output_3, max);
                    /* statement: policy.log_probabilities_exp */
                    const float policy_log_probabilities_exp_2 = exp_f(policy_log_probabilities_difference_2);
                    ST(policy_log_probabilities_exp, (b_4 - 32 * b_block32 + 64 * t), policy_log_probabilities_exp_2);
                    const float policy_log_probabilities_exp_3 = exp_f(policy_log_probabilities_difference_3);
                    ST(policy_log_probabilities_exp, (b_4 - 32 * b_block32 + 64 * t + 32), policy_log_probabilities_exp_3);
                    /* statement: policy.log_probabilities_sum */
                    const float sum_2 = add_f(policy_log_probabilities_exp_2, policy_log_probabilities_exp_3);
                    ST(policy_log_probabilities_sum, (b_4 - 32 * b_block32 + 32 * t), sum_2);
                    /* statement: policy.log_probabilities */
                    const float reshape = log_f(sum_2);
                    const float policy_log_probabilities_2 = subtract_f(policy_log_probabilities_difference_2, reshape);
                    ST(policy_log_probabilities, (b_4 - 32 * b_block32), policy_log_probabilities_2);
                    const float policy_log_probabilities_3 = subtract_f(policy_log_probabilities_difference_3, reshape);
                    ST(policy_log_probabilities, (b_4 - 32 * b_block32 + 32), policy_log_probabilities_3);
                    /* statement: policy.probabilities */
                    const float policy_probabilities_2 = exp_f(policy_log_probabilities_2);
                    const float policy_probabilities_3 = exp_f(policy_log_probabilities_3);
                    /* statement: policy.cumulative */
                    float running = (float)0x0.0p+0;
                    running = add_f(running, policy_probabilities_2);
                    const float sum_2_2 = running;
                    running = add_f(running, policy_probabilities_3);
                    const float sum_3 = running;
                    /* statement: policy.passed */
                    const int policy_passed_2 = logical_and_b(less_equal_f(sum_2_2, policy_uniform_2), less_f(sum_2_2, sum_3));
                    /* statement: policy.action */
                    const int32_t sum_4 = cast_i_b(policy_passed_2);
                    ST(policy_action, (b_4 - 32 * b_block32 + 32 * t), sum_4);
                    /* statement: environment.force */
                    const float environment_force_2 = where_f(equal_i(sum_4, 1), (float)0x1.4000000000000p+3, ((float)-0x1.4000000000000p+3));
                    /* statement: environment.cosine */
                    const float state_2 = LD(state, (b_4 - 32 * b_block32 + 160 * t + 64));
                    const float environment_cosine_2 = cos_f(state_2);
                    /* statement: environment.sine */
                    const float environment_sine_2 = sin_f(state_2);
                    /* statement: environment.pushed */
                    const float state_3 = LD(state, (b_4 - 32 * b_block32 + 160 * t + 96));
                    const float environment_pushed_2 = divide_f(add_f(environment_force_2, multiply_f(multiply_f((float)0x1.999999999999ap-5, multiply_f(state_3, state_3)), environment_sine_2)), (float)0x1.199999999999ap+0);
                    /* statement: environment.angular_acceleration */
                    const float environment_angular_acceleration_2 = divide_f(subtract_f(multiply_f((float)0x1.399999999999ap+3, environment_sine_2), multiply_f(environment_cosine_2, environment_pushed_2)), multiply_f((float)0x1.0000000000000p-1, subtract_f((float)0x1.5555555555555p+0, divide_f(multiply_f((float)0x1.999999999999ap-4, multiply_f(environment_cosine_2, environment_cosine_2)), (float)0x1.199999999999ap+0))));
                    /* statement: environment.acceleration */
                    const float environment_acceleration_2 = subtract_f(environment_pushed_2, divide_f(multiply_f(multiply_f((float)0x1.999999999999ap-5, environment_angular_acceleration_2), environment_cosine_2), (float)0x1.199999999999ap+0));
                    /* statement: state[t+1] */
                    const float state_4 = LD(state, (b_4 - 32 * b_block32 + 160 * t));
                    const float state_5 = LD(state, (b_4 - 32 * b_block32 + 160 * t + 32));
                    const float state_6 = add_f(state_4, multiply_f((float)0x1.47ae147ae147bp-6, state_5));
                    ST(state, (b_4 - 32 * b_block32 + 160 * t + 160), state_6);
                    const float state_7 = add_f(state_5, multiply_f((float)0x1.47ae147ae147bp-6, environment_acceleration_2));
                    ST(state, (b_4 - 32 * b_block32 + 160 * t + 192), state_7);
                    const float state_8 = add_f(state_2, multiply_f((float)0x1.47ae147ae147bp-6, state_3));
                    ST(state, (b_4 - 32 * b_block32 + 160 * t + 224), state_8);
                    const float state_9 = add_f(state_3, multiply_f((float)0x1.47ae147ae147bp-6, environment_angular_acceleration_2));
                    ST(state, (b_4 - 32 * b_block32 + 160 * t + 256), state_9);
                    const float state_10 = LD(state, (b_4 - 32 * b_block32 + 160 * t + 128));
                    const float state_11 = add_f(state_10, (float)0x1.0000000000000p+0);
                    ST(state, (b_4 - 32 * b_block32 + 160 * t + 288), state_11);
                    /* statement: environment.terminated */
                    const int environment_terminated_2 = logical_or_b(greater_f(absolute_f(state_6), (float)0x1.3333333333333p+1), greater_f(absolute_f(state_8), (float)0x1.acee9f37bebd5p-3));
                    /* statement: environment.truncated */
                    const int environment_truncated_2 = greater_equal_f(state_11, (float)0x1.f400000000000p+8);
                    /* statement: done */
                    const int done_2 = logical_or_b(environment_terminated_2, environment_truncated_2);
                    /* statement: alive[t+1] */
                    const int alive_3 = LD(alive_of_the_last_turn, (b_4 - 32 * b_block32));
                    const int alive_4 = logical_and_b(alive_3, logical_not_b(done_2));
                    const int new_alive = alive_4;
                    ST(alive, (b_4 - 32 * b_block32 + 32 * t + 32), new_alive);
                    ST(alive_of_the_last_turn, (b_4 - 32 * b_block32), new_alive);
                    /* statement: gain */
                    const float gain_2 = where_f(alive_3, (float)0x1.0000000000000p+0, (float)0x0.0p+0);
                    ST(gain, (b_4 - 32 * b_block32 + 32 * t), gain_2);
                    /* statement: policy.chosen */
                    if (!logical_and_b(greater_equal_i(sum_4, (int32_t)0), less_equal_i(sum_4, (int32_t)1))) {
                        const int64_t numbers[] = {(int64_t)sum_4, (int64_t)(int32_t)0, (int64_t)(int32_t)2};
                        const int64_t instance[] = {(int64_t)b_4, (int64_t)i, (int64_t)t};
                        fail(run, 2, 3, numbers, 3, instance);
                    }
                    const int32_t inside_2 = minimum_i(maximum_i(sum_4, (int32_t)0), (int32_t)1);
                    const float policy_log_probabilities_4 = LD(policy_log_probabilities, (b_4 - 32 * b_block32 + 32 * inside_2));
                    /* statement: policy.chosen_equal */
                    const int policy_chosen_equal_2 = equal_f(policy_log_probabilities_4, (-INFINITE_F));
                    ST(policy_chosen_equal, (b_4 - 32 * b_block32 + 32 * t), policy_chosen_equal_2);
                    /* statement: policy.chosen_2 */
                    const float policy_chosen_2_2 = where_f(policy_chosen_equal_2, (-INFINITE_F), policy_log_probabilities_4);
                    ST(policy_chosen_2, (b_4 - 32 * b_block32 + 32 * t), policy_chosen_2_2);
                }
            }
        }
        if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
            FORGET
            const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
            const int64_t b_5 = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
            if (active && row == 0) {
                /* statement: episode_return_sum */
                float episode_return_sum_3 = (float)0x0.0p+0;
                UNROLLED_BY(8) for (int64_t t_2 = 0; t_2 < T; t_2++) {
                    const float gain_3 = LD(gain, (b_5 - 32 * b_block32 + 32 * t_2));
                    episode_return_sum_3 = add_f(episode_return_sum_3, gain_3);
                }
                ST(episode_return_sum, (b_5 - 32 * b_block32), episode_return_sum_3);
            }
        }
        float episode_return_sum_2_points_2 = (float)0x0.0p+0;
        /* statement: episode_return_sum_2.points */
        WARP_BARRIER
        if (thread < 16) ROLLED for (int64_t b_6 = 32 * b_block32 + thread; b_6 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1); b_6 += 16) {
            const float episode_return_sum_4 = LD(episode_return_sum, (b_6 - 32 * b_block32));
            episode_return_sum_2_points_2 = add_f(episode_return_sum_2_points_2, episode_return_sum_4);
        }
        float together_2_2 = episode_return_sum_2_points_2;
        if (thread < WARP) together_2_2 = add_of_parts_f(episode_return_sum_2_points_2);
        if (thread == 0) {
            ST(episode_return_sum_2_points_of_chunk, 0, add_f(LD(episode_return_sum_2_points_of_chunk, 0), together_2_2));
        }
        ROLLED for (int64_t t = 0; t < T; t++) {
            if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
                FORGET
                const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
                const int64_t b_7 = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
                if (active && row == 0) {
                    /* statement: worth */
                    float worth_2 = (float)0x0.0p+0;
                    UNROLLED_BY(8) for (int64_t t_1 = t; t_1 < T; t_1++) {
                        const float gain_4 = LD(gain, (b_7 - 32 * b_block32 + 32 * t_1));
                        worth_2 = add_f(worth_2, multiply_f(power_f((float)0x1.fae147ae147aep-1, cast_f_i((int32_t)(t_1 - t))), gain_4));
                    }
                    /* statement: surrogate */
                    const int alive_5 = LD(alive, (b_7 - 32 * b_block32 + 32 * t));
                    const float policy_chosen_2_3 = LD(policy_chosen_2, (b_7 - 32 * b_block32 + 32 * t));
                    const float surrogate_2 = where_f(alive_5, multiply_f(policy_chosen_2_3, worth_2), (float)0x0.0p+0);
                    ST(surrogate, (b_7 - 32 * b_block32 + 32 * t), surrogate_2);
                    /* statement: gradient.log_probabilities */
                    const int32_t policy_action_2 = LD(policy_action, (b_7 - 32 * b_block32 + 32 * t));
                    const float one_hot = cast_f_b(equal_i(policy_action_2, (int32_t)0));
                    const float one_hot_2 = cast_f_b(equal_i(policy_action_2, (int32_t)1));
                    const int policy_chosen_equal_3 = LD(policy_chosen_equal, (b_7 - 32 * b_block32 + 32 * t));
                    const float where_2 = where_f(policy_chosen_equal_3, (float)0x0.0p+0, multiply_f(where_f(alive_5, divide_f(((float)-0x1.0000000000000p+0), cast_f_i((int32_t)B)), (float)0x0.0p+0), worth_2));
                    const float gradient_log_probabilities_2 = multiply_f(one_hot, where_2);
                    const float gradient_log_probabilities_3 = multiply_f(one_hot_2, where_2);
                    /* statement: gradient.output */
                    const float sum_5 = add_f(negative_f(gradient_log_probabilities_2), negative_f(gradient_log_probabilities_3));
                    const float policy_log_probabilities_sum_2 = LD(policy_log_probabilities_sum, (b_7 - 32 * b_block32 + 32 * t));
                    const float reshape_2 = divide_f(sum_5, policy_log_probabilities_sum_2);
                    const float policy_log_probabilities_exp_4 = LD(policy_log_probabilities_exp, (b_7 - 32 * b_block32 + 64 * t));
                    const float gradient_output_2 = add_f(multiply_f(reshape_2, policy_log_probabilities_exp_4), gradient_log_probabilities_2);
                    ST(gradient_output, (b_7 - 32 * b_block32), gradient_output_2);
                    const float policy_log_probabilities_exp_5 = LD(policy_log_probabilities_exp, (b_7 - 32 * b_block32 + 64 * t + 32));
                    const float gradient_output_3 = add_f(multiply_f(reshape_2, policy_log_probabilities_exp_5), gradient_log_probabilities_3);
                    ST(gradient_output, (b_7 - 32 * b_block32 + 32), gradient_output_3);
                    /* statement: gradient.policy.bias_1_product */
                    ROLLED for (int64_t i0_5 = 0; i0_5 < 20; i0_5++) {
                        const float parameters_policy_weight_2_2 = LD(parameters_policy_weight_2_of_block, 2 * i0_5);
                        const float parameters_policy_weight_2_3 = LD(parameters_policy_weight_2_of_block, (2 * i0_5 + 1));
                        const float policy_hidden_1_3 = LD(policy_hidden_1, (b_7 - 32 * b_block32 + 32 * i0_5 + 640 * t));
                        const float gradient_policy_bias_1_product_2 = multiply_f(fused_f(gradient_output_3, parameters_policy_weight_2_3, fused_f(gradient_output_2, parameters_policy_weight_2_2, (float)0x0.0p+0)), subtract_f((float)0x1.0000000000000p+0, multiply_f(policy_hidden_1_3, policy_hidden_1_3)));
                        ST(gradient_policy_bias_1_product, (b_7 - 32 * b_block32 + 32 * i0_5), gradient_policy_bias_1_product_2);
                    }
                }
            }
            float gradient_policy_bias_2_points_2 = (float)0x0.0p+0;
            float gradient_policy_bias_2_points_3 = (float)0x0.0p+0;
            /* statement: gradient.policy.bias_2.points */
            WARP_BARRIER
            if (thread < 16) ROLLED for (int64_t b_8 = 32 * b_block32 + thread; b_8 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1); b_8 += 16) {
                const float gradient_output_4 = LD(gradient_output, (b_8 - 32 * b_block32));
                gradient_policy_bias_2_points_2 = add_f(gradient_policy_bias_2_points_2, gradient_output_4);
                const float gradient_output_5 = LD(gradient_output, (b_8 - 32 * b_block32 + 32));
                gradient_policy_bias_2_points_3 = add_f(gradient_policy_bias_2_points_3, gradient_output_5);
            }
            float together_3 = gradient_policy_bias_2_points_2;
            if (thread < WARP) together_3 = add_of_parts_f(gradient_policy_bias_2_points_2);
            if (thread == 0) {
                ST(gradient_policy_bias_2_points_of_chunk, 0, add_f(LD(gradient_policy_bias_2_points_of_chunk, 0), together_3));
            }
            float together_4 = gradient_policy_bias_2_points_3;
            if (thread < WARP) together_4 = add_of_parts_f(gradient_policy_bias_2_points_3);
            if (thread == 0) {
                ST(gradient_policy_bias_2_points_of_chunk, 1, add_f(LD(gradient_policy_bias_2_points_of_chunk, 1), together_4));
                /* statement: gradient.policy.weight_2.points */
            }
            BARRIER
            block_lane_sums_f(gradient_output, 0, 32, policy_hidden_1, 640 * t, 32, gradient_policy_weight_2_points_of_chunk, 0, 1, 2, 2, 20, (minimum_l((B - 1), (32 * b_block32 + 31)) - 32 * b_block32 + 1), 1, thread);
            /* statement: gradient.policy.bias_1.points */
            block_turned_f(gradient_policy_bias_1_product, 0, 32, turned_2, 0, 20, 20, 32, thread);
            BARRIER
            block_product_1x1_f(one_2, 0, 0, 0, turned_2, 0, 20, gradient_policy_bias_1_points_of_chunk, 0, 0, 1, 20, (minimum_l((B - 1), (32 * b_block32 + 31)) - 32 * b_block32 + 1), 1, thread);
            /* statement: gradient.policy.weight_1.points */
            block_product_1x1_f(state, 160 * t, 32, 1, turned_2, 0, 20, gradient_policy_weight_1_points_of_chunk, 0, 20, 4, 20, (minimum_l((B - 1), (32 * b_block32 + 31)) - 32 * b_block32 + 1), 1, thread);
        }
        if (32 * b_block32 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1)) {
            FORGET
            const int active = 32 * b_block32 + lane < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1);
            const int64_t b_9 = minimum_l(32 * b_block32 + lane, (minimum_l((B - 1), (32 * b_block32 + 31)) + 1) - 1);
            if (active && row == 0) {
                /* statement: loss_sum */
                float loss_sum_3 = (float)0x0.0p+0;
                UNROLLED_BY(8) for (int64_t t_3 = 0; t_3 < T; t_3++) {
                    const float surrogate_3 = LD(surrogate, (b_9 - 32 * b_block32 + 32 * t_3));
                    loss_sum_3 = add_f(loss_sum_3, surrogate_3);
                }
                ST(loss_sum, (b_9 - 32 * b_block32), loss_sum_3);
            }
        }
        float loss_sum_2_points_2 = (float)0x0.0p+0;
        /* statement: loss_sum_2.points */
        WARP_BARRIER
        if (thread < 16) ROLLED for (int64_t b_10 = 32 * b_block32 + thread; b_10 < (minimum_l((B - 1), (32 * b_block32 + 31)) + 1); b_10 += 16) {
            const float loss_sum_4 = LD(loss_sum, (b_10 - 32 * b_block32));
            loss_sum_2_points_2 = add_f(loss_sum_2_points_2, loss_sum_4);
        }
        float together_5 = loss_sum_2_points_2;
        if (thread < WARP) together_5 = add_of_parts_f(loss_sum_2_points_2);
        if (thread == 0) {
            ST(loss_sum_2_points_of_chunk, 0, add_f(LD(loss_sum_2_points_of_chunk, 0), together_5));
        }
    }
    if (thread == 0) {
        /* statement: loss_sum_2.points */
        ST(loss_sum_2_points, chunk_2, LD(loss_sum_2_points_of_chunk, 0));
        /* statement: episodes.points */
        ST(episodes_points, chunk_2, LD(episodes_points_of_chunk, 0));
        /* statement: episode_return_sum_2.points */
        ST(episode_return_sum_2_points, chunk_2, LD(episode_return_sum_2_points_of_chunk, 0));
        /* statement: gradient.policy.bias_2.points */
    }
    ROLLED for (int64_t element_of_gradient_policy_bias_2_points_of_chunk = 0 + thread; element_of_gradient_policy_bias_2_points_of_chunk < 2; element_of_gradient_policy_bias_2_points_of_chunk += THREADS) {
        ST(gradient_policy_bias_2_points, (2 * chunk_2 + element_of_gradient_policy_bias_2_points_of_chunk), LD(gradient_policy_bias_2_points_of_chunk, element_of_gradient_policy_bias_2_points_of_chunk));
    }
    /* statement: gradient.policy.bias_1.points */
    ROLLED for (int64_t element_of_gradient_policy_bias_1_points_of_chunk = 0 + thread; element_of_gradient_policy_bias_1_points_of_chunk < 20; element_of_gradient_policy_bias_1_points_of_chunk += THREADS) {
        ST(gradient_policy_bias_1_points, (20 * chunk_2 + element_of_gradient_policy_bias_1_points_of_chunk), LD(gradient_policy_bias_1_points_of_chunk, element_of_gradient_policy_bias_1_points_of_chunk));
    }
    /* statement: gradient.policy.weight_2.points */
    ROLLED for (int64_t element_of_gradient_policy_weight_2_points_of_chunk = 0 + thread; element_of_gradient_policy_weight_2_points_of_chunk < 40; element_of_gradient_policy_weight_2_points_of_chunk += THREADS) {
        ST(gradient_policy_weight_2_points, (40 * chunk_2 + element_of_gradient_policy_weight_2_points_of_chunk), LD(gradient_policy_weight_2_points_of_chunk, element_of_gradient_policy_weight_2_points_of_chunk));
    }
    /* statement: gradient.policy.weight_1.points */
    ROLLED for (int64_t element_of_gradient_policy_weight_1_points_of_chunk = 0 + thread; element_of_gradient_policy_weight_1_points_of_chunk < 80; element_of_gradient_policy_weight_1_points_of_chunk += THREADS) {
        ST(gradient_policy_weight_1_points, (80 * chunk_2 + element_of_gradient_policy_weight_1_points_of_chunk), LD(gradient_policy_weight_1_points_of_chunk, element_of_gradient_policy_weight_1_points_of_chunk));
    }
}

void kernel_gradient_product_and_3_more(Run *run, int64_t i) {
    float *const p = (float *)run->buffers[0];
    float *const gradient_product = (float *)run->buffers[3];
    float *const m = (float *)run->buffers[1];
    float *const gradient = (float *)run->buffers[4];
    /* statement: gradient_product */
    /* statement: gradient */
    /* statement: m[i+1] */
    /* statement: p[i+1] */
    const int64_t first_i0 = 0, behind_i0 = 21;
    for (int64_t i0 = first_i0; i0 < behind_i0; i0 += LANES) {
        const int64_t lanes = minimum_l(behind_i0 - i0, LANES);
        (void)lanes;
        /* statement: gradient_product */
        const vf p_2 = load_vf(p + i0);
        const vf gradient_product_2 = multiply_vf(p_2, p_2);
        if (lanes == LANES) store_vf(gradient_product + i0, gradient_product_2);
        else store_some_vf(gradient_product + i0, 1, lanes, gradient_product_2);
        /* statement: gradient */
        const vf gradient_2 = subtract_vf(gradient_product_2, all_vf((float)0x1.0000000000000p-1));
        if (lanes == LANES) store_vf(gradient + i0, gradient_2);
        else store_some_vf(gradient + i0, 1, lanes, gradient_2);
        /* statement: m[i+1] */
        const vf m_2 = load_vf(m + i0);
        const vf m_3 = add_vf(multiply_vf(all_vf((float)0x1.ccccccccccccdp-1), m_2), gradient_2);
        if (lanes == LANES) store_vf(m + i0, m_3);
        else store_some_vf(m + i0, 1, lanes, m_3);
        /* statement: p[i+1] */
        const vf p_3 = subtract_vf(p_2, divide_vf(multiply_vf(all_vf((float)0x1.999999999999ap-4), m_3), add_vf(absolute_vf(m_3), all_vf(cast_f_i((int32_t)i)))));
        if (lanes == LANES) store_vf(p + i0, p_3);
        else store_some_vf(p + i0, 1, lanes, p_3);
    }
}

/* The bodies of product_f and product_d. A template: products.h includes it for either kind, of which a
   register V holds WIDTH numbers N. */

/* Sums of EACH row, or of EACH vector of a long one: FIRST loads what all of them need of a k. */
#define SUMS(name, EACH, FIRST, MAKE, SUM, JOINED, KEPT)                                       \
    static __attribute__((noinline)) void OF(name)(                                            \
        const N *left, int64_t row_step, int64_t step, const N *right, int64_t right_step,     \
        N *out, int64_t out_step, int64_t times, int into) {                                   \
        (void)row_step, (void)out_step;                                                        \
        EACH(MAKE)                                                                             \
        for (int64_t k = 0; k < times; k++, left += step, right += right_step) {               \
            FIRST                                                                              \
            EACH(SUM)                                                                          \
        }                                                                                      \
        if (into) { EACH(JOINED) } else { EACH(KEPT) }                                         \
    }
/* One, two, ... rows of one vector, of two and of four. */
#define NARROW(name, EACH) SUMS(name, EACH, ONE_VECTOR, START, ADD, JOIN, KEEP)
#define WIDE(name, EACH) SUMS(name, EACH, TWO_VECTORS, START_TWO, ADD_TWO, JOIN_TWO, KEEP_TWO)
#define BROAD(name, EACH) SUMS(name, EACH, FOUR_VECTORS, START_FOUR, ADD_FOUR, JOIN_FOUR, KEEP_FOUR)
NARROW(row, ROW)
NARROW(rows_2, ROWS_2)
NARROW(rows_4, ROWS_4)
NARROW(rows_8, ROWS_8)
WIDE(wide_row, ROW)
WIDE(wide_rows_2, ROWS_2)
WIDE(wide_rows_4, ROWS_4)
#if REGISTERS == 32
WIDE(wide_rows_8, ROWS_8)
BROAD(broad_rows_4, ROWS_4)
#else
WIDE(wide_rows_6, ROWS_6)
#endif
/* One row and two of many vectors: few rows alone are too few sums at once. */
SUMS(row_of_8, ROWS_8, ONE_ROW, START, ADD_PIECE, JOIN_PIECE, KEEP_PIECE)
SUMS(row_of_4, ROWS_4, ONE_ROW, START, ADD_PIECE, JOIN_PIECE, KEEP_PIECE)
SUMS(two_rows_of_4, ROWS_4, TWO_ROWS, START_TWO, ADD_PIECES, JOIN_PIECES, KEEP_PIECES)
#undef SUMS
#undef NARROW
#undef WIDE
#undef BROAD

#if WIDTH > 4
/* FEW rows that are neighbours on the left, of two columns or of four, which are fewer than half a
   vector: lanes are rows. */
#define FEW (2 * WIDTH)
#define FEW_COLUMNS(name, EACH, third, fourth)                                                 \
    static __attribute__((noinline)) void OF(name)(const N *left, int64_t step,                \
                                                   const N *right, int64_t right_step, N *out, \
                                                   int64_t out_step, int64_t times) {          \
        EACH(START_TWO)                                                                        \
        for (int64_t k = 0; k < times; k++, left += step, right += right_step) {               \
            V x = LOAD(left), y = LOAD(left + WIDTH);                                          \
            HELD(x) HELD(y)                                                                    \
            EACH(ADD_COLUMN)                                                                   \
        }                                                                                      \
        OF(keep_columns)(sum0, sum1, third(sum), fourth(sum), out, out_step);                  \
        OF(keep_columns)(more0, more1, third(more), fourth(more), out + WIDTH * out_step,      \
                         out_step);                                                            \
    }
FEW_COLUMNS(two_columns, ROWS_2, NO_COLUMN, NO_COLUMN)
FEW_COLUMNS(four_columns, ROWS_4, COLUMN_2, COLUMN_3)
#undef FEW_COLUMNS
#endif

/* Sum rows r, r + 1, ... by a function for `n` of them, while so many are left before `end`. */
#define SUM_ROWS(n, name, end)                                                                 \
    for (; r + n <= end; r += n)                                                               \
        OF(name)(left + r * row_step, row_step, step, right + c, right_step,                   \
                 out + r * out_step + c, out_step, times, into);

/* Sum columns c, c + 1, ... of rows from r by a function for `n` vectors, while so many are left. */
#define SUM_COLUMNS(n, name)                                                                   \
    for (; c < columns && c + n * WIDTH <= room; c += n * WIDTH)                               \
        OF(name)(left + r * row_step, row_step, step, right + c, right_step,                   \
                 out + r * out_step + c, out_step, times, into);

OUT_OF_LINE void OF(product)(const N *left, int64_t row_step, int64_t step, const N *right,
                             int64_t right_step, N *out, int64_t out_step, int64_t rows,
                             int64_t columns, int64_t room, int64_t times, int into) {
    int64_t c = 0;
#if WIDTH > 4
    if (row_step == 1 && !into && 2 * columns <= WIDTH && WIDTH <= room && FEW <= rows) {
        for (; c < columns; c += 4)
            for (int64_t r = 0; r < rows; r += FEW) {
                /* the last of them may have been summed before */
                const int64_t first = r < rows - FEW ? r : rows - FEW;
                (columns - c > 2 ? OF(four_columns) : OF(two_columns))(
                    left + first, step, right + c, right_step, out + first * out_step + c, out_step,
                    times);
            }
        return;
    }
#undef FEW
#endif
    const int64_t many = rows - rows % 4;
#if REGISTERS == 32
    for (; c < columns && c + 4 * WIDTH <= room; c += 4 * WIDTH) {
        int64_t r = 0;
        SUM_ROWS(4, broad_rows_4, many)
    }
#endif
    for (; c < columns && c + 2 * WIDTH <= room; c += 2 * WIDTH) {
        int64_t r = 0;
#if REGISTERS == 32
        SUM_ROWS(8, wide_rows_8, many)
#else
        SUM_ROWS(6, wide_rows_6, many - many % 12) /* and fours are left over */
#endif
        SUM_ROWS(4, wide_rows_4, many)
    }
    for (; c < columns && c + WIDTH <= room; c += WIDTH) {
        int64_t r = 0;
        SUM_ROWS(8, rows_8, many)
        SUM_ROWS(4, rows_4, many)
    }
    const int64_t in_vectors = c;
    int64_t r = many;
    if (rows - r >= 2) {
        c = 0;
        SUM_COLUMNS(4, two_rows_of_4)
        SUM_COLUMNS(2, wide_rows_2)
        SUM_COLUMNS(1, rows_2)
        r += 2;
    }
    if (r < rows) {
        c = 0;
        SUM_COLUMNS(8, row_of_8)
        SUM_COLUMNS(4, row_of_4)
        SUM_COLUMNS(2, wide_row)
        SUM_COLUMNS(1, row)
    }
    c = in_vectors;
    for (; c < columns; c++)
        for (r = 0; r < rows; r++) {
            N sum = 0;
            for (int64_t k = 0; k < times; k++)
                sum = OF(fused)(left[r * row_step + k * step], right[k * right_step + c], sum);
            N *place = out + r * out_step + c;
            *place = into ? *place + sum : sum;
        }
}
#undef SUM_ROWS
#undef SUM_COLUMNS

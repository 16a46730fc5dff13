/* Orthonormal rows or columns (the fewer) of a matrix, for initial weights. */
#ifndef WORKBENCH_ORTHOGONAL_H
#define WORKBENCH_ORTHOGONAL_H

#include "machine.h"

/* The doubles of scratch memory for a matrix. */
#define ORTHOGONAL_SCRATCH(rows, columns) (2 * (rows) * (columns) + (rows) + (columns))

/* The Q of a QR decomposition, its signs such that R's diagonal has none below 0. Both matrices lie
   row by row and may be the same. It is computed in doubles, as NumPy does for either dtype. */
OUT_OF_LINE void orthogonalize_f(const float *x, float *out, int64_t rows, int64_t columns,
                                 double *scratch);
OUT_OF_LINE void orthogonalize_d(const double *x, double *out, int64_t rows, int64_t columns,
                                 double *scratch);

#if RUNTIME_BODIES & COMMON_BODIES

/* a -= factor v v^T a, for the columns from `first` on and the rows from `top` on, v's first being
   1. `product` has room for a row. */
static void reflect(double *a, int64_t rows, int64_t columns, int64_t top, int64_t first,
                    const double *v, int64_t stride, double factor, double *product) {
    for (int64_t j = first; j < columns; j++) product[j] = a[top * columns + j];
    for (int64_t i = top + 1; i < rows; i++)
        for (int64_t j = first; j < columns; j++)
            product[j] += v[(i - top) * stride] * a[i * columns + j];
    for (int64_t j = first; j < columns; j++) a[top * columns + j] -= factor * product[j];
    for (int64_t i = top + 1; i < rows; i++) {
        double scale = factor * v[(i - top) * stride];
        for (int64_t j = first; j < columns; j++) a[i * columns + j] -= scale * product[j];
    }
}

/* Householder's method (Golub and Van Loan, "Matrix Computations", 5.2.1): `a`, with no fewer rows
   than columns, is overwritten, and `q` is the result. Each reflection is kept below the diagonal,
   scaled to a first element of 1, and its factor in `factors`. Where a column is 0 below the
   diagonal nothing is reflected, as in LAPACK. The squares of the elements must fit a double. */
static void householder(double *a, double *q, int64_t rows, int64_t columns, double *factors,
                        double *product) {
    for (int64_t k = 0; k < columns; k++) {
        double below = 0, *diagonal = a + k * columns + k;
        for (int64_t i = k + 1; i < rows; i++) below += a[i * columns + k] * a[i * columns + k];
        factors[k] = 0;
        if (below == 0) continue;
        double length = __builtin_sqrt(*diagonal * *diagonal + below);
        length = __builtin_copysign(length, *diagonal);
        double first = *diagonal + length;
        for (int64_t i = k + 1; i < rows; i++) a[i * columns + k] /= first;
        factors[k] = first / length;
        reflect(a, rows, columns, k, k + 1, diagonal, columns, factors[k], product);
        *diagonal = -length;
    }
    for (int64_t i = 0; i < rows * columns; i++) q[i] = 0;
    for (int64_t k = 0; k < columns; k++) q[k * columns + k] = 1;
    for (int64_t k = columns - 1; k >= 0; k--)
        reflect(q, rows, columns, k, k, a + k * columns + k, columns, factors[k], product);
    for (int64_t k = 0; k < columns; k++)
        if (a[k * columns + k] < 0)
            for (int64_t i = 0; i < rows; i++) q[i * columns + k] = -q[i * columns + k];
}

#define ORTHOGONALIZE(kind, number)                                                              \
    OUT_OF_LINE void orthogonalize_##kind(const number *x, number *out, int64_t rows,            \
                                          int64_t columns, double *scratch) {                    \
        int wide = rows < columns;                                                               \
        int64_t tall = wide ? columns : rows, narrow = wide ? rows : columns;                    \
        double *a = scratch, *q = a + rows * columns, *factors = q + rows * columns;             \
        for (int64_t i = 0; i < tall; i++)                                                       \
            for (int64_t j = 0; j < narrow; j++)                                                 \
                a[i * narrow + j] = wide ? x[j * columns + i] : x[i * columns + j];              \
        householder(a, q, tall, narrow, factors, factors + narrow);                              \
        for (int64_t i = 0; i < rows; i++)                                                       \
            for (int64_t j = 0; j < columns; j++)                                                \
                out[i * columns + j] = (number)(wide ? q[j * narrow + i] : q[i * narrow + j]);   \
    }
ORTHOGONALIZE(f, float)
ORTHOGONALIZE(d, double)

#endif

#endif

/* Sums over the pairs of groups that sets cut, taken apart by least squares. */
#include "elicit/search/fair_split.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pivots below this share of the largest are rounding errors. */
static const double smallest_pivot = 1e-12;

bool mel_back_substitute(size_t n, const double *r, size_t n_columns, double *x)
{
    double largest = 0.0;
    bool regular = true;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(r[i * n + i]));
    for (size_t i = n; i-- > 0;) {
        double *row = x + i * n_columns;
        for (size_t j = i + 1; j < n; j++)
            mel_axpy(n_columns, -r[i * n + j], x + j * n_columns, row);
        const double pivot = r[i * n + i];
        if (fabs(pivot) > smallest_pivot * largest) {
            mel_scale(n_columns, 1.0 / pivot, row);
            continue;
        }
        memset(row, 0, n_columns * sizeof *row);
        regular = false;
    }
    return regular;
}

mel_status mel_fair_split(double *block, size_t n_sets, size_t n_blocks, const double *cut, size_t n,
                          const double *sum, mel_error *err)
{
    double *a = mel_alloc(n_sets * n_blocks + n_blocks * n_blocks, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "the differences of groups");
    double *r = a + n_sets * n_blocks;
    memcpy(a, cut, n_sets * n_blocks * sizeof *a);
    mel_status status = mel_qr(n_sets, n_blocks, a, n_blocks, r, n_blocks, err);
    if (status == MEL_OK) {
        mel_gemm(true, false, n_blocks, n, n_sets, 1.0, a, n_blocks, sum, n, 0.0, block, n);
        if (!mel_back_substitute(n_blocks, r, n, block))
            status = mel_fail(err, MEL_ENUMERIC, "these sets of groups do not tell all pairs apart");
    }
    free(a);
    return status;
}

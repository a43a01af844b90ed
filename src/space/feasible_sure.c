/* What is surely achievable, without any search.
 *
 * A decision "predict j with probability 1/k + sum_i A_ij P(i|x)" (rows of A sum to 0) is a mixture of
 * plug-in rules as long as sum_j max_i (A_ij - A_il) <= 1 for every l: for every pair of classes draw a
 * threshold for the difference of their two linear functions. It moves the statistics from the centre by D =
 * M A, where M_ij = E[1(Y=i) P(j|X)] (rates: given Y=i). So a displacement D is achievable when A = M^-1 D
 * meets the condition. */
#include "space/feasible.h"
#include "space/sample.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_sure_clear(mel_sure *sure)
{
    free(sure->inverse);
    *sure = (mel_sure){ 0 };
}

/* sum[i][j]: over the rows of a slice, of (true class i) x P(class j). */
static void add_slice(double *sum, const mel_slice *slice, size_t thread, void *user)
{
    (void)thread;
    const mel_space *space = user;
    const mel_class_rows *rows = space->self;
    const size_t k = space->n_classes;
    memset(sum, 0, k * k * sizeof *sum);
    for (size_t at = slice->first; at < slice->first + slice->n; at++) {
        const size_t r = rows->order != NULL ? rows->order[at] : at;
        const double *p = rows->rows.probability + r * k;
        if (space->evidence == MEL_BY_LABELS)
            mel_axpy(k, 1.0, p, sum + rows->rows.label[r] * k);
        for (size_t i = 0; space->evidence == MEL_BY_MODEL && i < k; i++)
            mel_axpy(k, p[i], p, sum + i * k);
    }
}

static mel_status add_rows(double *moment, const mel_space *space, size_t group, mel_error *err)
{
    const mel_class_rows *rows = space->self;
    const size_t cells = space->n_classes * space->n_classes, first = rows->group_slice[group];
    const mel_slice_sums sums = { .slice = rows->slice + first,
                                  .n = rows->group_slice[group + 1] - first,
                                  .size = cells,
                                  .threads = space->threads,
                                  .fill = add_slice,
                                  .user = (void *)(uintptr_t)space };
    double *room = mel_alloc(mel_slices_at_a_time(sums.n, cells), cells * sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "sums over rows");
    mel_slices_sum(moment, group, rows, &sums, room);
    mel_scale(cells, 1.0 / (double)space->n_rows, moment);
    free(room);
    return MEL_OK;
}

/* Rows of M are scaled where statistics are rates. */
static mel_status fill_moment(double *moment, const mel_space *space, size_t group, mel_error *err)
{
    const size_t k = space->n_classes;
    const mel_status status = add_rows(moment, space, group, err);
    for (size_t i = 0; space->layout.kind == MEL_RATES && i < k; i++)
        mel_scale(k, 1.0 / space->cell_share[group * k + i], moment + i * k);
    return status;
}

/* Cauchy-Schwarz bounds the sum of the condition for a displacement of length r by r k sqrt(k - 1) times the
 * longest row of M^-1, off the diagonal; on the diagonal by r k times that. */
static double sure_radius(const mel_space *space, const double *inverse)
{
    const size_t k = space->n_classes;
    double longest = 0.0;
    for (size_t i = 0; i < k; i++)
        longest = fmax(longest, mel_norm2(k, inverse + i * k));
    const double spread = space->layout.coordinates == MEL_OFFDIAGONAL ? sqrt((double)(k - 1)) : 1.0;
    return 1.0 / ((double)k * spread * longest);
}

mel_status mel_sure_init(mel_sure *out, const mel_space *space, size_t group, mel_error *err)
{
    const size_t k = space->n_classes;
    *out = (mel_sure){ .space = space };
    double *moment = mel_alloc_zero(k * k, sizeof *moment);
    out->inverse = mel_alloc_zero(k * k, sizeof *out->inverse);
    mel_status status = MEL_OK;
    if (moment != NULL && out->inverse != NULL) {
        status = fill_moment(moment, space, group, err);
        memset(out->inverse, 0, k * k * sizeof *out->inverse);
        for (size_t i = 0; i < k; i++)
            out->inverse[i * (k + 1)] = 1.0;
        if (status == MEL_OK)
            status = mel_solve(k, moment, k, k, out->inverse, k, NULL, err);
    } else {
        status = mel_fail_memory(err, "a ball");
    }
    free(moment);
    if (status == MEL_OK)
        out->radius = sure_radius(space, out->inverse);
    else
        mel_sure_clear(out);
    return status == MEL_ENUMERIC ? MEL_OK : status; /* M is singular: nothing is known */
}

/* The displacement of the full k x k statistics; what the diagonal leaves open is spread evenly. */
static void displacement(double *d, const mel_space *space, const double *direction)
{
    const size_t k = space->n_classes;
    for (size_t i = 0; i < k; i++) {
        double *row = d + i * k;
        if (space->layout.coordinates == MEL_OFFDIAGONAL) {
            row[i] = 0.0;
            for (size_t j = 0; j < k; j++)
                if (j != i) {
                    row[j] = direction[i * (k - 1) + j - (j > i)];
                    row[i] -= row[j];
                }
            continue;
        }
        const double own = direction[space->layout.coordinates == MEL_BINARY ? 1 - i : i];
        for (size_t j = 0; j < k; j++)
            row[j] = j == i ? own : -own / (double)(k - 1);
    }
}

double mel_sure_stretch(const mel_sure *sure, const double *direction, double *spare)
{
    if (sure->inverse == NULL)
        return 0.0;
    const size_t k = sure->space->n_classes;
    double *d = spare, *a = spare + k * k, largest = 0.0;
    displacement(d, sure->space, direction);
    mel_gemm(false, false, k, k, k, 1.0, sure->inverse, k, d, k, 0.0, a, k);
    for (size_t l = 0; l < k; l++) {
        double sum = 0.0;
        for (size_t j = 0; j < k; j++) {
            double most = -INFINITY;
            for (size_t i = 0; i < k; i++)
                most = fmax(most, a[i * k + j] - a[i * k + l]);
            sum += most; /* 0 for j = l */
        }
        largest = fmax(largest, sum);
    }
    return 1.0 / largest;
}

/* Sums over all training rows for a rule, slice by slice. */
#include "optimise/packed.h"

#include "base/reduce.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_BLOCKS = 512 }; /* a pass over fewer is over before a second thread is awake */

size_t mel_packed_moments(const mel_weight_size *size)
{
    return mel_weight_cells(size) * size->n_directions * size->n_basis;
}

typedef struct {
    const mel_packed *packed;
    const double *weight;
    size_t n, n_all; /* sums of a slice, and with scratch behind them */
} pass;

static void sum_slice(double *sums, size_t slice, size_t thread, void *user)
{
    (void)thread;
    const pass *own = user;
    const mel_packed_slice *s = &own->packed->slice[slice];
    memset(sums, 0, own->n_all * sizeof *sums);
    for (size_t b = 0; b < s->n_blocks; b++)
        mel_packed_add_block(sums, s, b, own->weight, sums + own->n);
}

static mel_status sum_all(double *moment, size_t n, const mel_packed *p, const double *weight, mel_error *err)
{
    const mel_weight_size *size = &p->size;
    const size_t n_all = n + 2 * size->k + size->n_basis + size->n_directions;
    double *part = mel_alloc(p->n_slices, n_all * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "sums over training rows");
    const mel_slices slices = { .n_slices = p->n_slices,
                                .rows = p->n_blocks * MEL_PACKED_BLOCK,
                                .size = n,
                                .stride = n_all,
                                .sum = part,
                                .threads = p->n_blocks > FEW_BLOCKS ? mel_thread_count(size->threads) : 1,
                                .fill = sum_slice,
                                .user = &(pass){ p, weight, n, n_all } };
    mel_slices_fill(&slices);
    mel_slices_join(&slices);
    memcpy(moment, part, n * sizeof *moment);
    free(part);
    return MEL_OK;
}

mel_status mel_packed_sums(double *moment, const mel_packed *p, const double *weight, mel_error *err)
{
    return sum_all(moment, mel_packed_moments(&p->size), p, weight, err);
}

mel_status mel_packed_totals(double *total, const mel_packed *p, mel_error *err)
{
    return sum_all(total, p->size.k * p->size.n_directions * p->size.n_basis, p, NULL, err);
}

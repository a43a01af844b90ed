/* Sums over all training rows for a rule, slice by slice. */
#include "optimise/packed.h"

#include "base/reduce.h"
#include "base/team.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_BLOCKS = 512 }; /* a pass over fewer is over before a second thread is awake */
static const size_t sum_budget = (size_t)64 << 20; /* bytes of sums, all slices together */

size_t mel_packed_moments(const mel_weight_size *size)
{
    return mel_weight_cells(size) * size->n_directions * size->n_basis;
}

typedef struct {
    const mel_packed *packed;
    const double *weight;
    size_t n, n_all; /* sums of a slice, and with scratch behind them */
} pass;

static void sum_slice(double *sums, size_t place, size_t thread, void *user)
{
    (void)thread;
    const pass *own = user;
    const mel_packed *p = own->packed;
    const mel_packed_slice *s = &p->slice[p->at[place]];
    memset(sums, 0, own->n_all * sizeof *sums);
    for (size_t b = 0; b < s->n_blocks; b++)
        mel_packed_add_block(sums, s, b, own->weight, sums + own->n);
}

/* The slices of a file are added up, then its sums are added to those of the files before. */
static void join(double *moment, size_t n, size_t n_all, const mel_packed *p, double *part, size_t from,
                 size_t to)
{
    for (size_t s = from; s < to; s++) {
        double *file = part + p->place[p->slices[s]] * n_all;
        for (size_t i = p->slices[s] + 1; i < p->slices[s + 1]; i++)
            for (size_t c = 0; c < n; c++)
                file[c] += part[p->place[i] * n_all + c];
        for (size_t c = 0; c < n; c++)
            moment[c] += file[c];
    }
}

static mel_status sum_all(double *moment, size_t n, const mel_packed *p, const double *weight, mel_error *err)
{
    const mel_weight_size *size = &p->size;
    const size_t n_all = n + 2 * size->k + size->n_basis + size->n_directions,
                 most = sum_budget / sizeof *moment / n_all,
                 room = most > MEL_PACKED_MOST_SLICES ? most : MEL_PACKED_MOST_SLICES,
                 all = p->slices[p->n_shards];
    double *part = mel_alloc(room < all ? room : all, n_all * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "sums over training rows");
    const int threads = mel_thread_count(size->threads);
    memset(moment, 0, n * sizeof *moment);
    for (size_t from = 0, to; from < p->n_shards; from = to) {
        for (to = from + 1; to < p->n_shards && p->slices[to + 1] - p->slices[from] <= room;)
            to++;
        const size_t n_slices = mel_slices_deal(p->first, p->at, p->place, p->slices, p->divided, from, to);
        mel_slices_fill(&(mel_slices){ .n_slices = n_slices,
                                       .rows = p->n_blocks * MEL_PACKED_BLOCK,
                                       .size = n,
                                       .stride = n_all,
                                       .sum = part,
                                       .threads = p->n_blocks > FEW_BLOCKS ? threads : 1,
                                       .fill = sum_slice,
                                       .user = &(pass){ p, weight, n, n_all },
                                       .first = p->divided ? p->first : NULL });
        join(moment, n, n_all, p, part, from, to);
    }
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

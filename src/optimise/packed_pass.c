/* Sums over all training rows for a rule, slice by slice; where rows are on disk, some blocks at a time. */
#include "optimise/packed.h"

#include "base/reduce.h"
#include "base/team.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_BLOCKS = 512 }; /* a pass over fewer is over before a second thread is awake */
static const size_t sum_budget = (size_t)64 << 20; /* bytes of sums, all slices together */
static const size_t piece_bytes = (size_t)1 << 20; /* read from disk at a time */

size_t mel_packed_moments(const mel_weight_size *size)
{
    return mel_weight_cells(size) * size->n_directions * size->n_basis;
}

typedef struct {
    const mel_packed *packed;
    const double *weight;
    size_t n, n_all; /* sums of a slice, and with scratch behind them */
} pass;

static void sum_blocks(double *sums, const pass *own, const mel_packed_slice *s)
{
    for (size_t b = 0; b < s->n_blocks; b++)
        mel_packed_add_block(sums, s, b, own->weight, sums + own->n);
}

/* A slice on disk, some of its blocks at a time. */
static mel_status sum_pieces(double *sums, const pass *own, const mel_packed_slice *s,
                             mel_disk_buffer *buffer, mel_error *err)
{
    const size_t bytes = mel_packed_block(s) * sizeof *s->value,
                 most = piece_bytes > bytes ? piece_bytes / bytes : 1;
    mel_status status = MEL_OK;
    for (size_t from = 0; from < s->n_blocks && status == MEL_OK; from += most) {
        mel_packed_slice piece = *s;
        const void *value = NULL;
        piece.n_blocks = s->n_blocks - from < most ? s->n_blocks - from : most;
        status = mel_disk_read(&value, own->packed->disk, s->at + from * bytes, piece.n_blocks * bytes,
                               buffer, err);
        piece.phi = s->phi + from * s->size->n_basis;
        piece.class_of = s->class_of + from;
        piece.n_rows = s->n_rows + from;
        piece.value = (double *)(uintptr_t)value; /* only read */
        if (status == MEL_OK)
            sum_blocks(sums, own, &piece);
    }
    return status;
}

static void sum_slice(double *sums, size_t place, size_t thread, void *user)
{
    const pass *own = user;
    const mel_packed *p = own->packed;
    const mel_packed_slice *s = &p->slice[p->at[place]];
    memset(sums, 0, own->n_all * sizeof *sums);
    if (p->disk == NULL) {
        sum_blocks(sums, own, s);
        return;
    }
    mel_packed_reader *r = &p->reader[thread];
    if (r->status == MEL_OK)
        r->status = sum_pieces(sums, own, s, &r->buffer, &r->err);
}

/* How reading went in all threads. */
static mel_status reading(const mel_packed *p, mel_error *err)
{
    for (size_t t = 0; p->reader != NULL && t < p->n_readers; t++)
        if (p->reader[t].status != MEL_OK)
            return mel_fail(err, p->reader[t].status, "%s", p->reader[t].err.text);
    return MEL_OK;
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
    const int threads = p->reader != NULL ? (int)p->n_readers : mel_thread_count(size->threads);
    memset(moment, 0, n * sizeof *moment);
    mel_status status = MEL_OK;
    for (size_t from = 0, to; from < p->n_shards && status == MEL_OK; from = to) {
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
        status = reading(p, err);
    }
    free(part);
    return status;
}

mel_status mel_packed_sums(double *moment, const mel_packed *p, const double *weight, mel_error *err)
{
    return sum_all(moment, mel_packed_moments(&p->size), p, weight, err);
}

mel_status mel_packed_totals(double *total, const mel_packed *p, mel_error *err)
{
    return sum_all(total, p->size.k * p->size.n_directions * p->size.n_basis, p, NULL, err);
}

/* Sums over slices of rows: by threads, joined in order. */
#include "base/reduce.h"

#include <omp.h>

void mel_slices_fill(const mel_slices *s)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads) if (s->threads > 1 && s->n_slices > 1)
    for (size_t i = 0; i < s->n_slices; i++)
        s->fill(s->sum + i * s->stride, i, (size_t)omp_get_thread_num(), s->user);
}

void mel_slices_join(const mel_slices *s)
{
    for (size_t i = 1; i < s->n_slices; i++)
        for (size_t c = 0; c < s->size; c++)
            s->sum[c] += s->sum[i * s->stride + c];
}

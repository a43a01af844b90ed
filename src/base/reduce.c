/* Sums over slices of rows: by ranks and threads, joined in order. */
#include "base/reduce.h"

#include "base/team.h"

#include <omp.h>

static void fill(const mel_slices *s, size_t from, size_t to)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads) if (s->threads > 1 && to - from > 1)
    for (size_t i = from; i < to; i++)
        s->fill(s->sum + i * s->stride, i, (size_t)omp_get_thread_num(), s->user);
}

void mel_slices_fill(const mel_slices *s)
{
    const mel_team *team = mel_team_get();
    /* What is part of a larger loop belongs to the rank that it runs on. */
    if (team->size == 1 || s->n_slices < 2 || s->rows < team->few_rows || omp_get_level() > 0) {
        fill(s, 0, s->n_slices);
        return;
    }
    fill(s, mel_team_first(s->n_slices, team->rank), mel_team_first(s->n_slices, team->rank + 1));
    mel_team_gather(s->sum, s->n_slices, s->stride * sizeof *s->sum);
}

void mel_slices_join(const mel_slices *s)
{
    for (size_t i = 1; i < s->n_slices; i++)
        for (size_t c = 0; c < s->size; c++)
            s->sum[c] += s->sum[i * s->stride + c];
}

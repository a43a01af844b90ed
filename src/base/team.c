/* Who works on a problem together: this process alone, unless the program says otherwise; its threads; sums
 * over slices of rows by ranks and threads, joined in order. */
#include "base/team.h"
#include "base/internal.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- threads -------------------------------------------------------------------------------------------- */

int mel_thread_count(int threads)
{
    /* Debian's OpenBLAS has working memory for 64 callers at once. */
    enum { MOST = 64 };
    const int wanted = threads > 0 ? threads : omp_get_num_procs();
    return wanted < MOST ? wanted : MOST;
}

/* OpenBLAS has one process-wide thread count. The only mutable state of the library is this count
 * of holders and the value to restore; it changes speed, never results. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders;
static int caller_threads;

void mel_blas_hold(void)
{
    pthread_mutex_lock(&lock);
    if (holders++ == 0) {
        caller_threads = openblas_get_num_threads();
        if (caller_threads != 1)
            openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void mel_blas_release(void)
{
    pthread_mutex_lock(&lock);
    if (--holders == 0 && caller_threads != 1)
        openblas_set_num_threads(caller_threads);
    pthread_mutex_unlock(&lock);
}

/* --- ranks ---------------------------------------------------------------------------------------------- */

static const mel_team alone = { .size = 1 };
static const mel_team *team = &alone; /* set once, while the process has one thread */

void mel_team_set(const mel_team *with)
{
    team = with != NULL ? with : &alone;
}

const mel_team *mel_team_get(void)
{
    return team;
}

bool mel_team_leads(void)
{
    return team->rank == 0;
}

size_t mel_team_first(size_t n, size_t rank)
{
    return n / team->size * rank + n % team->size * rank / team->size;
}

void mel_team_gather(void *all, size_t n, size_t size)
{
    if (team->size == 1)
        return;
    for (size_t r = 0; r <= team->size; r++)
        team->start[r] = mel_team_first(n, r) * size;
    team->gather(team->user, all, team->start);
}

void mel_team_gather_runs(void *all, const size_t *first, size_t size)
{
    if (team->size == 1)
        return;
    for (size_t r = 0; r <= team->size; r++)
        team->start[r] = first[r] * size;
    team->gather(team->user, all, team->start);
}

void mel_team_share(void *bytes, size_t n)
{
    if (team->size == 1)
        return;
    team->start[0] = 0;
    for (size_t r = 1; r <= team->size; r++)
        team->start[r] = n;
    team->gather(team->user, bytes, team->start);
}

void *mel_team_collect(size_t *sizes, const void *own, size_t n)
{
    sizes[team->rank] = n;
    mel_team_gather(sizes, team->size, sizeof *sizes);
    size_t total = 0, before = 0;
    for (size_t r = 0; r < team->size; r++) {
        before += r < team->rank ? sizes[r] : 0;
        total += sizes[r];
    }
    char *all = mel_alloc(total, 1);
    if (all == NULL)
        return NULL;
    if (n > 0)
        memcpy(all + before, own, n);
    if (team->size == 1)
        return all;
    team->start[0] = 0;
    for (size_t r = 0; r < team->size; r++)
        team->start[r + 1] = team->start[r] + sizes[r];
    team->gather(team->user, all, team->start);
    return all;
}

/* n things of `size` bytes of every rank, rank by rank; NULL: no memory. */
static void *gather_all(const void *own, size_t n, size_t size)
{
    char *all = mel_alloc(team->size * n, size);
    if (all == NULL)
        return NULL;
    memcpy(all + team->rank * n * size, own, n * size);
    mel_team_gather(all, team->size, n * size);
    return all;
}

bool mel_team_count(size_t *count, size_t n)
{
    if (team->size == 1)
        return true;
    MEL_AUTO_MEMORY size_t *all = gather_all(count, n, sizeof *count);
    if (all == NULL)
        return false;
    memset(count, 0, n * sizeof *count);
    for (size_t i = 0; i < team->size * n; i++)
        count[i % n] += all[i];
    return true;
}

/* --- sums over slices of rows --------------------------------------------------------------------- */

static void fill_slices(const mel_slices *s, size_t from, size_t to)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads) if (s->threads > 1 && to - from > 1)
    for (size_t i = from; i < to; i++)
        s->fill(s->sum + i * s->stride, i, (size_t)omp_get_thread_num(), s->user);
}

void mel_slices_fill(const mel_slices *s)
{
    /* What is part of a larger loop belongs to the rank that it runs on. */
    if (team->size == 1 || s->n_slices < 2 || s->rows < team->few_rows || omp_get_level() > 0) {
        fill_slices(s, 0, s->n_slices);
        return;
    }
    fill_slices(s, mel_team_first(s->n_slices, team->rank), mel_team_first(s->n_slices, team->rank + 1));
    mel_team_gather(s->sum, s->n_slices, s->stride * sizeof *s->sum);
}

void mel_slices_join(const mel_slices *s)
{
    for (size_t i = 1; i < s->n_slices; i++)
        for (size_t c = 0; c < s->size; c++)
            s->sum[c] += s->sum[i * s->stride + c];
}

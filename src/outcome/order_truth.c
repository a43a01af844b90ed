/* Which of the given classifiers is the best in truth: answers are about the numbers that were shown, but
 * these were measured on finitely many rows.
 *
 * The rows of one true class, of one group, are a sample of their own. What a classifier does with them is
 * multinomial, and by Jeffreys' prior the posterior of its rates is Dirichlet's. Each classifier is drawn by
 * itself, as if it had been measured on rows of its own: on the same rows differences are surer than that. */
#include "outcome/outcome.h"

#include "base/rng.h"
#include "metric/shared.h"
#include "rank/shared.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_DRAWS = 200, MOST_NUMBERS = 4000000, STREAM = 7 };

/* n rates of one class, of k; the others are one number that is left. rows: of the class; share: what the
 * statistics are shares of. */
static void draw_class(double *out, const double *value, size_t n, size_t k, double rows, double share,
                       mel_rng *rng)
{
    double seen = 0.0, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double rate = fmin(value[i] / share, 1.0);
        seen += rate;
        sum += out[i] = mel_rng_gamma(rng, rows * rate + 0.5);
    }
    if (n < k)
        sum += mel_rng_gamma(rng, rows * fmax(0.0, 1.0 - seen) + 0.5 * (double)(k - n));
    for (size_t i = 0; i < n; i++)
        out[i] *= share / sum;
}

/* What the classifier may do in truth, in the pool's layout. */
static void draw_truth(double *out, const mel_pool *pool, size_t at, mel_rng *rng)
{
    const mel_layout *layout = &pool->layout;
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t per_group = pool->size / m, each = per_group / k;
    const double *rows = pool->class_rows + at * m * k, *value = pool->value + at * pool->size;
    double all = 0.0;
    for (size_t i = 0; i < m * k; i++)
        all += rows[i];
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < k; i++) {
            const size_t place = layout->coordinates == MEL_BINARY ? 1 - i : i;
            const size_t first = g * per_group + place * each;
            const double here = rows[g * k + i], share = layout->kind == MEL_RATES ? 1.0 : here / all;
            for (size_t j = first; j < first + each; j++)
                out[j] = value[j];
            if (here > 0.0)
                draw_class(out + first, value + first, each, k, here, share, rng);
        }
}

static bool all_counted(const mel_pool *pool)
{
    const size_t parts = pool->layout.n_classes * (pool->layout.n_groups > 1 ? pool->layout.n_groups : 1);
    for (size_t i = 0; i < pool->n && pool->class_rows != NULL; i++) {
        double rows = 0.0;
        for (size_t j = 0; j < parts; j++)
            rows += pool->class_rows[i * parts + j];
        if (!(rows > 0.0))
            return false;
    }
    return pool->class_rows != NULL;
}

typedef struct {
    size_t n_draws, width, stride, used; /* every stride-th draw of the metric is used */
    double *draw, *value, *truth;
    size_t *order;
    mel_placed_surely *sure;
    mel_metric *metric;
} work;

static mel_status draw_values(work *d, const mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    mel_rng rng;
    mel_rng_seed_stream(&rng, w->out.options->seed, STREAM);
    mel_status status = MEL_OK;
    for (size_t s = 0; s < d->n_draws && status == MEL_OK; s += d->stride, d->used++) {
        for (size_t i = 0; i < pool->n; i++)
            draw_truth(d->truth + i * pool->size, pool, i, &rng);
        status = mel_metric_set_coefficients(d->metric, d->draw + s * d->width, w->err);
        if (status == MEL_OK)
            status = mel_rank_values(d->value + d->used * pool->n, d->metric, pool->n, d->truth, w->err);
    }
    return status;
}

static mel_status weigh(work *d, mel_outcome_work *w)
{
    const size_t n = w->out.n_order;
    double whole = 0.0;
    mel_status status = mel_metric_copy(&d->metric, w->metric, w->err);
    if (status == MEL_OK)
        status = draw_values(d, w);
    for (size_t i = 0; i < n; i++)
        d->order[i] = w->order[i].place;
    const mel_rank_samples samples = { d->used, n, d->value, NULL, mel_metric_orientation(w->metric) };
    if (status == MEL_OK)
        status = mel_rank_weigh(d->sure, &whole, &samples, d->order, w->err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        w->order[i].truly_first = d->sure[i].first;
    return status;
}

static mel_status find(work *d, mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    TRY(mel_outcome_draws(w));
    d->n_draws = w->n_draws;
    d->width = w->draw_width;
    d->draw = w->draw;
    const size_t most = MOST_NUMBERS / (pool->n * pool->size) + LEAST_DRAWS;
    d->stride = (d->n_draws + most - 1) / most;
    d->value = mel_alloc(d->n_draws, pool->n * sizeof *d->value);
    d->truth = mel_alloc(pool->n, pool->size * sizeof *d->truth);
    d->order = mel_alloc(pool->n, sizeof *d->order);
    d->sure = mel_alloc(pool->n, sizeof *d->sure);
    if (d->value == NULL || d->truth == NULL || d->order == NULL || d->sure == NULL)
        return mel_fail_memory(w->err, "the order of the classifiers");
    return weigh(d, w);
}

void mel_outcome_find_truly_best(mel_outcome_work *w)
{
    if (w->status != MEL_OK || w->out.n_order == 0 || !all_counted(w->out.domain->pool))
        return;
    work d = { 0 };
    (void)mel_outcome_good(w, find(&d, w));
    mel_metric_free(d.metric);
    free(d.value);
    free(d.truth);
    free(d.order);
    free(d.sure);
}

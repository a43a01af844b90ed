/* The order of given classifiers, and how sure it is: by the numbers shown, and in truth. */
#include "base/rng.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"
#include "rank/shared.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_MET = 64, LEAST_DRAWS = 200, MOST_NUMBERS = 4000000, STREAM = 7 };

/* The order by the metric, and what its draws say about it. */
static mel_status put_in_order(mel_outcome_work *w, size_t *order, double *value, mel_placed_surely *sure)
{
    const mel_pool *pool = w->out.domain->pool;
    TRY(mel_rank_values(value, w->metric, pool->n, pool->value, w->said.err));
    TRY(mel_rank_order(order, NULL, pool->n, value, mel_metric_orientation(w->metric), w->said.err));
    for (size_t i = 0; i < pool->n; i++)
        w->order[i] = (mel_placed){
            .name = pool->name[order[i]], .place = order[i], .value = value[order[i]], .truly_first = NAN
        };
    TRY(mel_outcome_draws(w));
    MEL_AUTO_MEMORY double *drawn = mel_alloc(w->n_draws, pool->n * sizeof *drawn);
    if (drawn == NULL)
        return mel_fail_memory(w->said.err, "the order of the classifiers");
    TRY(mel_rank_sampled_values(drawn, w->metric, w->n_draws, w->draw, pool->n, pool->value, w->said.err));
    const mel_rank_samples samples = { w->n_draws, pool->n, drawn, NULL, mel_metric_orientation(w->metric) };
    TRY(mel_rank_weigh(sure, &w->out.order_probability, &samples, order, w->said.err));
    for (size_t i = 0; i < pool->n; i++) {
        w->order[i].first = sure[i].first;
        w->order[i].beats_next = sure[i].beats_next;
        w->order[i].stands_next = sure[i].stands_next;
    }
    return MEL_OK;
}

/* Which one was chosen over every other one, each of them at least once more often than not. */
static void find_chosen(mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    const size_t n = pool->n;
    int *ahead = n <= MOST_MET ? mel_outcome_room(w, n * n, sizeof *ahead) : NULL;
    for (uint32_t q = 0; ahead != NULL && q < mel_session_answers(w->session); q++) {
        const mel_record r = mel_session_record(w->session, q);
        const size_t a = mel_pool_place(pool, r.a), b = mel_pool_place(pool, r.b);
        const int more = (r.answer == MEL_ANSWER_A) - (r.answer == MEL_ANSWER_B);
        if (a < n && b < n) {
            ahead[a * n + b] += more;
            ahead[b * n + a] -= more;
        }
    }
    for (size_t i = 0; ahead != NULL && i < n; i++) {
        size_t over = 0;
        for (size_t j = 0; j < n; j++)
            over += ahead[i * n + j] > 0;
        if (over + 1 == n)
            w->out.chosen = pool->name[i];
    }
}

/* --- the best in truth ------------------------------------------------------------------------------
 *
 * Answers are about the numbers that were shown, but these were measured on finitely many rows. The rows of
 * one true class, of one group, are a sample of their own. What a classifier does with them is multinomial,
 * and by Jeffreys' prior the posterior of its rates is Dirichlet's. Each classifier is drawn by itself, as if
 * it had been measured on rows of its own: on the same rows differences are surer than that. */

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

/* How often each one is the best, by draws of the metric and of what each classifier may do. */
static mel_status find_truly_best(mel_outcome_work *w, size_t *order, mel_placed_surely *sure)
{
    const mel_pool *pool = w->out.domain->pool;
    const size_t most = MOST_NUMBERS / (pool->n * pool->size) + LEAST_DRAWS;
    const size_t stride = (w->n_draws + most - 1) / most; /* every stride-th draw of the metric is used */
    MEL_AUTO_MEMORY double *value = mel_alloc(w->n_draws, pool->n * sizeof *value);
    MEL_AUTO_MEMORY double *truth = mel_alloc(pool->n, pool->size * sizeof *truth);
    if (value == NULL || truth == NULL)
        return mel_fail_memory(w->said.err, "the order of the classifiers");
    MEL_AUTO(mel_metric) *metric = NULL;
    size_t used = 0;
    double whole = 0.0;
    mel_rng rng;
    mel_rng_seed_stream(&rng, w->out.options->seed, STREAM);
    TRY(mel_metric_copy(&metric, w->metric, w->said.err));
    for (size_t s = 0; s < w->n_draws; s += stride, used++) {
        for (size_t i = 0; i < pool->n; i++)
            draw_truth(truth + i * pool->size, pool, i, &rng);
        TRY(mel_metric_set_coefficients(metric, w->draw + s * w->draw_width, w->said.err));
        TRY(mel_rank_values(value + used * pool->n, metric, pool->n, truth, w->said.err));
    }
    const mel_rank_samples samples = { used, pool->n, value, NULL, mel_metric_orientation(w->metric) };
    TRY(mel_rank_weigh(sure, &whole, &samples, order, w->said.err));
    for (size_t i = 0; i < pool->n; i++)
        w->order[i].truly_first = sure[i].first;
    return MEL_OK;
}

void mel_outcome_find_order(mel_outcome_work *w)
{
    const mel_pool *pool = w->out.domain->pool;
    if (!mel_outcome_ok(w) || pool == NULL)
        return;
    w->order = mel_outcome_room(w, pool->n, sizeof *w->order);
    double *value = mel_outcome_room(w, pool->n, sizeof *value);
    size_t *order = mel_outcome_room(w, pool->n, sizeof *order);
    mel_placed_surely *sure = mel_outcome_room(w, pool->n, sizeof *sure);
    if (!mel_outcome_ok(w) || !mel_outcome_good(w, put_in_order(w, order, value, sure)))
        return;
    w->out.order = w->order;
    w->out.n_order = pool->n;
    find_chosen(w);
    if (mel_outcome_ok(w) && all_counted(pool))
        (void)mel_outcome_good(w, find_truly_best(w, order, sure));
}

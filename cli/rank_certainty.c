/* How sure an order of classifiers is: rows that could have been others, a metric that is known within
 * intervals. */
#include "base/rng.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "metric_file.h"
#include "output.h"
#include "rank/shared.h"
#include "rank_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COMPARED = 2000,  /* classifiers: each has a value under every draw */
    MOST_TOGETHER = 100,   /* of which rows are followed through all predictions at once */
    DEFAULT_SAMPLES = 1000 /* of a metric that is known, for what rows leave open */
};

void cli_ranking_look(double *matrix, const cli_ranking *r, size_t i)
{
    const cli_contenders *c = &r->who;
    const size_t cells = c->m * c->k * c->k;
    if (r->judge->sees_groups)
        memcpy(matrix, c->counts + i * cells, cells * sizeof *matrix);
    else
        cli_contender_together(matrix, c, i);
}

size_t cli_ranking_cells(const cli_ranking *r)
{
    return mel_measure_cells(r->judge->measure);
}

/* --- how sure: metrics -------------------------------------------------------------------------- */

/* By a session's own draws, which know how coefficients move together, else within the intervals. */
static mel_status draw_metrics(cli_ranking *r, uint64_t samples, const cli_run *run, mel_error *err)
{
    mel_session *session = r->opened.session;
    const mel_metric *metric = r->who.metric;
    size_t width = 0;
    if (session != NULL)
        return mel_session_get_options(session)->strategy == MEL_STRATEGY_SEARCH
                   ? MEL_OK
                   : mel_session_draws(&r->n_samples, &width, &r->sample, session, err);
    r->sample = metric != NULL ? cli_metric_draws(samples, metric, run->seed) : NULL;
    r->n_samples = r->sample != NULL ? samples : 0;
    return MEL_OK;
}

/* Draws whose slopes are taken: fewer where a measure looks at many entries. */
static mel_certainty_options certainty_options(const cli_ranking *r, const cli_run *run)
{
    const double work = (double)cli_ranking_cells(r) * (double)cli_ranking_cells(r), most = 2e8 / work;
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.seed = run->seed;
    opt.metrics = r->sample;
    opt.n_metrics = r->sample == NULL              ? 0
                    : (double)r->n_samples <= most ? r->n_samples
                                                   : (size_t)fmax(most, 50.0);
    if (opt.n_metrics > r->n_samples)
        opt.n_metrics = r->n_samples;
    return opt;
}

/* --- how sure: rows ----------------------------------------------------------------------------- */

/* A matrix of counts for every classifier; false: not all are known. */
static bool count_all(double *counts, const cli_ranking *r)
{
    const cli_contenders *c = &r->who;
    const size_t cells = cli_ranking_cells(r);
    double *matrix = cli_alloc_zero(c->m * c->k * c->k, sizeof *matrix);
    bool known = cli_known(c->n, c->rows);
    for (size_t i = 0; i < c->n && known; i++) {
        cli_ranking_look(matrix, r, i);
        if (c->metric != NULL && c->layout.kind == MEL_CONFUSION)
            cli_fill_rest(matrix, cells, c->rows[i]);
        else if (c->metric == NULL)
            (void)cli_fill_for(matrix, cells, c->rows[i], r->judge->measure);
        known = cli_known(cells, matrix);
        memcpy(counts + i * cells, matrix, cells * sizeof *matrix);
    }
    free(matrix);
    return known;
}

/* As score has them, unless a session knows more. */
static mel_status find_intervals(cli_ranking *r, const double *counts, const mel_certainty_options *opt,
                                 cli_run *run, mel_error *err)
{
    const size_t cells = cli_ranking_cells(r);
    const bool own = r->opened.session == NULL && r->sample != NULL;
    double *drawn = own ? cli_metric_draws(CLI_METRIC_DRAWS, r->who.metric, run->seed) : NULL;
    cli_draws draws = { own ? CLI_METRIC_DRAWS : opt->n_metrics, own ? drawn : opt->metrics };
    mel_status status = MEL_OK;
    r->found = cli_alloc_zero(r->who.n, sizeof *r->found);
    for (size_t i = 0; i < r->who.n && status == MEL_OK; i++)
        status = cli_judge_counts(&r->found[i], r->judge, counts + i * cells, &draws, run, err);
    free(drawn);
    return status;
}

static mel_status compare_neighbours(cli_ranking *r, const double *counts, const mel_certainty_options *opt,
                                     mel_error *err)
{
    const cli_contenders *c = &r->who;
    const size_t cells = cli_ranking_cells(r), all = c->m * c->k * c->k * c->k;
    double *pair = c->paired ? cli_alloc_zero(all, sizeof *pair) : NULL;
    mel_status status = MEL_OK;
    for (size_t i = 0; i + 1 < c->n && status == MEL_OK; i++) {
        const size_t a = r->order[i], b = r->order[i + 1];
        mel_contest got = { 0 };
        if (c->paired) {
            cli_predictions_count_pair(pair, &c->predictions, a, b);
            for (size_t x = cells * c->k; x < all; x++) /* all groups together */
                pair[x % (cells * c->k)] += pair[x];
            status = mel_certainty_compare(&got, r->judge->measure, pair, opt, err);
        } else {
            status = mel_certainty_compare_apart(&got, r->judge->measure, counts + a * cells,
                                                 counts + b * cells, opt, err);
        }
        r->next[i] = got.better;
    }
    free(pair);
    return status;
}

/* Adds what other rows would change to draws of values: of predictions for the same rows together, else of
 * each classifier by itself. */
static mel_status shake(double *values, size_t n_samples, const cli_ranking *r, const double *counts,
                        uint64_t seed, mel_error *err)
{
    const cli_contenders *c = &r->who;
    double *factor = NULL;
    mel_status status = MEL_OK;
    if (c->paired && c->n <= MOST_TOGETHER) {
        factor = cli_alloc_zero(c->n * c->n, sizeof *factor);
        status = cli_joint_deviations(factor, r->judge->measure, c, counts, err);
    }
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 1);
    double *z = cli_alloc_zero(c->n, sizeof *z);
    for (size_t s = 0; s < n_samples && status == MEL_OK; s++) {
        for (size_t i = 0; i < c->n; i++)
            z[i] = mel_rng_normal(&rng);
        for (size_t i = 0; i < c->n; i++) {
            double by = factor == NULL ? z[i] * r->found[i].rows_deviation : 0.0;
            for (size_t j = 0; j <= i && factor != NULL; j++)
                by += factor[i * c->n + j] * z[j];
            values[s * c->n + i] += by;
        }
    }
    free(z);
    free(factor);
    return status;
}

/* --- how sure: together ------------------------------------------------------------------------- */

/* Values of all classifiers under equally likely metrics, or the same for all draws. */
static mel_status sampled_values(double *values, size_t n_samples, const cli_ranking *r, mel_error *err)
{
    const cli_contenders *c = &r->who;
    if (r->sample != NULL)
        return mel_rank_sampled_values(values, c->metric, n_samples, r->sample, c->n, c->statistics, err);
    for (size_t s = 0; s < n_samples; s++)
        memcpy(values + s * c->n, r->value, c->n * sizeof *values);
    return MEL_OK;
}

/* Comparisons by rows know more than draws of values: of few rows, of votes. */
static mel_status sum_up(cli_ranking *r, size_t n_samples, const double *values, mel_error *err)
{
    const size_t n = r->who.n;
    r->first = cli_alloc_zero(n, sizeof *r->first);
    if (r->by_rows) {
        const mel_status status = mel_rank_reconcile(r->first, &r->whole_order, n_samples, n, values,
                                                     r->orientation, r->order, r->next, err);
        r->sure = status == MEL_OK;
        return status;
    }
    mel_placed_surely *sure = cli_alloc_zero(n, sizeof *sure);
    const mel_status status =
        mel_rank_weigh(sure, &r->whole_order, n_samples, n, values, r->orientation, r->order, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        r->first[r->order[i]] = sure[i].first;
        r->next[i] = i + 1 < n ? sure[i].beats_next : 0.0;
    }
    free(sure);
    r->sure = status == MEL_OK;
    return status;
}

static mel_status weigh(cli_ranking *r, const double *counts, cli_run *run, mel_error *err)
{
    const cli_contenders *c = &r->who;
    const mel_certainty_options opt = certainty_options(r, run);
    const size_t n_samples = r->sample != NULL ? r->n_samples : DEFAULT_SAMPLES;
    r->next = cli_alloc_zero(c->n, sizeof *r->next);
    mel_status status = MEL_OK;
    if (r->by_rows)
        status = find_intervals(r, counts, &opt, run, err);
    if (status != MEL_OK || c->n < 2 || c->n > MOST_COMPARED)
        return status;
    if (r->by_rows)
        status = compare_neighbours(r, counts, &opt, err);
    if (r->by_rows && (c->n == 2 || !mel_measure_is_smooth(r->judge->measure))) {
        r->sure = status == MEL_OK;
        if (c->n == 2) { /* the comparison says it all */
            r->first = cli_alloc_zero(2, sizeof *r->first);
            r->first[r->order[0]] = r->whole_order = r->next[0];
            r->first[r->order[1]] = 1.0 - r->next[0];
        }
        return status; /* kinks: how values vary together is not known */
    }
    double *values = cli_alloc_zero(n_samples * c->n, sizeof *values);
    if (status == MEL_OK)
        status = sampled_values(values, n_samples, r, err);
    if (status == MEL_OK && r->by_rows)
        status = shake(values, n_samples, r, counts, run->seed, err);
    if (status == MEL_OK)
        status = sum_up(r, n_samples, values, err);
    free(values);
    return status;
}

/* A draw may be no metric (a denominator that vanishes), or a measure not be defined for other rows: then
 * nothing is said about how sure the order is. */
mel_status cli_ranking_certainty(cli_ranking *r, uint64_t samples, cli_run *run, mel_error *err)
{
    double *counts = cli_alloc_zero(r->who.n * cli_ranking_cells(r), sizeof *counts);
    r->by_rows = count_all(counts, r);
    mel_status status = draw_metrics(r, samples, run, err);
    if (status == MEL_OK && (r->by_rows || r->sample != NULL))
        status = weigh(r, counts, run, err);
    if (status == MEL_ENUMERIC || status == MEL_EINVAL || status == MEL_EDATA) {
        cli_warn(run, "it is not known how sure the order is: %s", err->text);
        free(r->found);
        r->found = NULL;
        r->sure = false;
        status = MEL_OK;
    }
    if (!r->by_rows && r->sure)
        cli_note(run, "how many rows were tested is not known: the probabilities are about the metric alone "
                      "(counts or a column n say it)");
    free(counts);
    return status;
}

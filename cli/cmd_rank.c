/* melicit rank: orders a pool of classifiers by a metric, says how sure that is, and compares two orders. */
#include "base/rng.h"
#include "command.h"
#include "dataset.h"
#include "elicit/shared.h"
#include "melicit/rank.h"
#include "metric_file.h"
#include "output.h"
#include "pool.h"
#include "session_file.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST_COMPARED = 2000 }; /* classifiers: comparing each with each takes their square of memory */

typedef struct {
    const char *metric, *session, *pool, *against;
    double prevalence; /* NaN: not given */
    uint64_t samples;
    mel_reading reading;
} rank_args;

typedef struct {
    mel_metric *metric, *against;
    cli_opened opened; /* with --session */
    cli_pool pool;
    double *value, *other;             /* by metric and by against (or NULL) */
    size_t *order, *place, *otherwise; /* best first; places by metric and by against */
    mel_agreement agreement;
    bool sure;          /* the following are known */
    double *next;       /* in the order: the probability of being better than the next one */
    double *first;      /* by position: the probability of being the best */
    double whole_order; /* the probability that the order is right from top to bottom */
} ranking;

static void ranking_clear(ranking *r)
{
    mel_metric_free(r->metric);
    mel_metric_free(r->against);
    cli_opened_clear(&r->opened);
    cli_pool_clear(&r->pool);
    free(r->value);
    free(r->other);
    free(r->order);
    free(r->place);
    free(r->otherwise);
    free(r->next);
    free(r->first);
}

/* --- order -------------------------------------------------------------------------------------- */

static mel_status order_by(double **value, size_t *order, size_t *place, const mel_metric *metric,
                           const cli_pool *pool, mel_error *err)
{
    *value = cli_alloc_zero(pool->n, sizeof **value);
    mel_status status = mel_rank_values(*value, metric, pool->n, pool->value, err);
    if (status == MEL_OK)
        status = mel_rank_order(order, place, pool->n, *value, mel_metric_orientation(metric), err);
    return status;
}

/* The other metric in the order of this one's classes and groups. */
static mel_status match(ranking *r, const rank_args *args, mel_error *err)
{
    const cli_about about = { .name = mel_metric_class_names(r->metric),
                              .group = mel_metric_group_names(r->metric) };
    return cli_match_metric(&r->against, args->against, mel_metric_layout(r->metric), &about, err);
}

static mel_status compare(ranking *r, const rank_args *args, mel_error *err)
{
    mel_status status = cli_load_metric(&r->against, args->against, err);
    if (status == MEL_OK)
        status = match(r, args, err);
    if (status != MEL_OK)
        return status;
    size_t *order = cli_alloc_zero(r->pool.n, sizeof *order);
    r->otherwise = cli_alloc_zero(r->pool.n, sizeof *r->otherwise);
    status = order_by(&r->other, order, r->otherwise, r->against, &r->pool, err);
    free(order);
    if (status == MEL_OK)
        status = mel_rank_agreement(&r->agreement, r->pool.n, r->other, mel_metric_orientation(r->against),
                                    r->value, mel_metric_orientation(r->metric), err);
    return status;
}

/* --- how sure ----------------------------------------------------------------------------------- */

/* Coefficients drawn within their intervals, each by itself: normal, 95% of them inside. False when the
 * metric does not say how sure it is. */
static bool draw(double *sample, size_t n_samples, const mel_metric *metric, uint64_t seed)
{
    const size_t n = mel_metric_coefficients(metric);
    const double half_widths = 2.0 * 1.959963984540054; /* of a 95% interval, in deviations */
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t s = 0; s < n_samples; s++)
        for (size_t i = 0; i < n; i++) {
            double low = 0.0, high = 0.0;
            if (!mel_metric_interval(metric, i, &low, &high))
                return false;
            sample[s * n + i] = 0.5 * (low + high) + (high - low) / half_widths * mel_rng_normal(&rng);
        }
    return true;
}

static mel_status sum_up(ranking *r, size_t n_samples, const double *values, mel_error *err)
{
    const size_t n = r->pool.n;
    const mel_orientation orientation = mel_metric_orientation(r->metric);
    double *table = cli_alloc_zero(n * n, sizeof *table);
    r->next = cli_alloc_zero(n, sizeof *r->next);
    r->first = cli_alloc_zero(n, sizeof *r->first);
    mel_status status = mel_rank_beats(table, n_samples, n, values, orientation, err);
    for (size_t i = 0; status == MEL_OK && i + 1 < n; i++)
        r->next[i] = table[r->order[i] * n + r->order[i + 1]];
    if (status == MEL_OK)
        status = mel_rank_places(table, n_samples, n, values, orientation, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        r->first[i] = table[i * n];
    if (status == MEL_OK)
        status =
            mel_rank_order_probability(&r->whole_order, n_samples, n, values, orientation, n, r->order, err);
    free(table);
    r->sure = status == MEL_OK;
    return status;
}

/* What draws of the coefficients say. A draw may be no metric (a denominator that vanishes): then nothing is
 * said about how sure the order is. */
static mel_status weigh(ranking *r, size_t n_samples, const double *sample, cli_run *run, mel_error *err)
{
    const size_t n = r->pool.n;
    double *values = cli_alloc_zero(n_samples * n, sizeof *values);
    mel_status status = mel_rank_sampled_values(values, r->metric, n_samples, sample, n, r->pool.value, err);
    if (status == MEL_OK) {
        status = sum_up(r, n_samples, values, err);
    } else if (status == MEL_ENUMERIC || status == MEL_EINVAL || status == MEL_EDATA) {
        cli_warn(run, "it is not known how sure the order is: %s", err->text);
        status = MEL_OK;
    }
    free(values);
    return status;
}

/* By a session's own draws, which know how coefficients move together, else within the intervals. */
static mel_status be_sure(ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    mel_session *session = r->opened.session;
    size_t samples = args->samples, c = mel_metric_coefficients(r->metric);
    double *sample = NULL;
    if (r->pool.n < 2 || r->pool.n > MOST_COMPARED ||
        (session != NULL ? mel_session_get_options(session)->strategy == MEL_STRATEGY_SEARCH : samples == 0))
        return MEL_OK;
    mel_status status = MEL_OK;
    bool drawn = true;
    if (session != NULL) {
        status = mel_session_draws(&samples, &c, &sample, session, err);
    } else {
        sample = cli_alloc_zero(samples * c, sizeof *sample);
        drawn = draw(sample, samples, r->metric, run->seed);
    }
    if (status == MEL_OK && drawn)
        status = weigh(r, samples, sample, run, err);
    free(sample);
    return status;
}

/* --- saying it ---------------------------------------------------------------------------------- */

static void fill_json(json_t *result, const ranking *r)
{
    json_t *order = json_array();
    for (size_t i = 0; i < r->pool.n; i++) {
        const size_t at = r->order[i];
        json_t *one = json_object();
        cli_put(one, "place", cli_json_count(r->place[at]));
        cli_put(one, "row", cli_json_count(at + 1));
        cli_put(one, "name", cli_json_text(r->pool.name[at]));
        cli_put(one, "value", cli_json_number(r->value[at]));
        if (r->against != NULL) {
            cli_put(one, "against_place", cli_json_count(r->otherwise[at]));
            cli_put(one, "against_value", cli_json_number(r->other[at]));
        }
        if (r->sure) {
            cli_put(one, "best_probability", cli_json_number(r->first[at]));
            if (i + 1 < r->pool.n)
                cli_put(one, "beats_next", cli_json_number(r->next[i]));
        }
        cli_push(order, one);
    }
    cli_put(result, "order", order);
    if (r->against != NULL) {
        cli_put(result, "tau", cli_json_number(r->agreement.tau));
        cli_put(result, "ndcg", cli_json_number(r->agreement.ndcg));
        cli_put(result, "same_best", json_boolean(r->agreement.same_best));
    }
    if (r->sure)
        cli_put(result, "order_probability", cli_json_number(r->whole_order));
}

static void print_text(const ranking *r)
{
    const char *headers[6] = { "", "", "value" };
    char align[7] = "rlr";
    size_t n = 3;
    if (r->sure) {
        align[n] = 'r';
        headers[n++] = "is best";
        align[n] = 'r';
        headers[n++] = "beats the next";
    }
    if (r->against != NULL) {
        align[n] = 'r';
        headers[n++] = "place by\nthe other";
    }
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < r->pool.n; i++) {
        const size_t at = r->order[i];
        cli_table_cell(table, "%zu", r->place[at]);
        cli_table_cell(table, "%s", r->pool.name[at]);
        cli_table_cell(table, "%.6g", r->value[at]);
        if (r->sure) {
            cli_table_cell(table, "%.1f%%", 100.0 * r->first[at]);
            if (i + 1 < r->pool.n)
                cli_table_cell(table, "%.1f%%", 100.0 * r->next[i]);
            else
                cli_table_cell(table, "%s", "");
        }
        if (r->against != NULL)
            cli_table_cell(table, "%zu", r->otherwise[at]);
    }
    cli_table_print(table);
    if (r->against == NULL)
        return;
    cli_print("\n  agreement with the other metric: NDCG %.4f", r->agreement.ndcg);
    if (isfinite(r->agreement.tau))
        cli_print(", Kendall's tau %.4f", r->agreement.tau);
    cli_print("; %s\n", r->agreement.same_best ? "the same best one" : "another best one");
}

/* The metric, or what the session has found so far. */
static mel_status load(ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    if ((args->metric == NULL) == (args->session == NULL))
        return cli_fail(err, MEL_EINVAL, "expected either --metric METRIC.json or --session FILE.jsonl");
    if (args->metric != NULL)
        return cli_load_metric(&r->metric, args->metric, err);
    const mel_status status = cli_opened_make(&r->opened, args->session, NULL, run, err);
    return status == MEL_OK ? mel_session_result(&r->metric, NULL, r->opened.session, err) : status;
}

static mel_status run_rank(cli_run *run, const void *arguments, mel_error *err)
{
    const rank_args *args = arguments;
    ranking r = { 0 };
    mel_reader reader = { 0 };
    mel_status status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = load(&r, args, run, err);
    if (status == MEL_OK)
        status = cli_metric_pool(&r.pool, args->pool, r.metric, args->prevalence, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    r.order = cli_alloc_zero(r.pool.n, sizeof *r.order);
    r.place = cli_alloc_zero(r.pool.n, sizeof *r.place);
    if (status == MEL_OK)
        status = order_by(&r.value, r.order, r.place, r.metric, &r.pool, err);
    if (status == MEL_OK && args->against != NULL)
        status = compare(&r, args, err);
    if (status == MEL_OK)
        status = be_sure(&r, args, run, err);
    if (status == MEL_OK && run->json)
        fill_json(run->result, &r);
    else if (status == MEL_OK)
        print_text(&r);
    ranking_clear(&r);
    mel_reader_clear(&reader);
    return status;
}

static const cli_option own_options[] = {
    { .name = "metric",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(rank_args, metric),
      .help = "the metric to order by" },
    { .name = "session",
      .argument = "FILE.jsonl",
      .kind = CLI_INPUT,
      .at = offsetof(rank_args, session),
      .help = "instead of --metric: what a session has found; how sure the order is then comes from the "
              "session's own posterior, which knows how the coefficients move together" },
    { .name = "pool",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(rank_args, pool),
      .required = true,
      .help = "the classifiers: CSV with a name column and columns called tp, tn, fp, fn (shares or counts), "
              "recall, specificity, precision, ... (two classes), after classes (right decisions) or "
              "true>predicted; or NPY with one row each" },
    CLI_PREVALENCE_OPTION(rank_args, prevalence),
    { .name = "against",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(rank_args, against),
      .help = "another metric, taken as the truth that the order is compared with: NDCG and Kendall's tau" },
    { .name = "samples",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(rank_args, samples),
      .high = 1000000,
      .help =
          "metrics with intervals: how often coefficients are drawn within them to see how sure the order "
          "is; 0 never" },
    { 0 }
};
static const cli_group groups[] = {
    { "Rank", own_options, 0 },
    { "Reading files", cli_reading_options, offsetof(rank_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "three classifiers in the order of an elicited metric, compared with the one behind the answers",
      "printf 'name,tp,tn\\ncautious,0.33,0.55\\nbold,0.30,0.62\\nlazy,0.1,0.64\\n' > pool.csv && melicit "
      "rank "
      "--metric metric.json --pool pool.csv --against doctor.json" },
    { 0 },
};
static const rank_args defaults = { .samples = 1000, .prevalence = NAN };

const cli_command cli_rank = {
    .name = "rank",
    .summary = "order a pool of classifiers by a metric; agreement with another ranking",
    .description =
        "Evaluates a metric for every classifier of a pool and prints them best first. An elicited metric "
        "says how sure it is of its coefficients: the order then comes with the probability that each "
        "classifier is the best one and that it beats the next. Coefficients are taken as independent of "
        "each "
        "other, normal within their 95% intervals.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(rank_args),
    .defaults = &defaults,
    .run = run_rank,
};

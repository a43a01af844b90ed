/* melicit rank: orders classifiers by a metric or a measure, says how sure that is, and compares two orders.
 */
#include "base/rng.h"
#include "command.h"
#include "contenders.h"
#include "dataset.h"
#include "elicit/shared.h"
#include "files.h"
#include "melicit/rank.h"
#include "metric_file.h"
#include "numbers.h"
#include "output.h"
#include "panels.h"
#include "report/shared.h"
#include "session_file.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COMPARED = 2000,  /* classifiers: comparing each with each takes their square of memory */
    MOST_TOGETHER = 100,   /* of which rows are followed through all predictions at once */
    DEFAULT_SAMPLES = 1000 /* of a metric that is known, for what rows leave open */
};

typedef struct {
    const char *session, *against, *plot;
    uint64_t samples;
    cli_contender_args contenders;
    mel_reading reading;
} rank_args;

typedef struct {
    mel_metric *against;
    cli_opened opened; /* with --session */
    cli_contenders who;
    cli_judge *judge; /* one */
    size_t n_judges;
    mel_orientation orientation;
    double *value, *other;             /* by metric and by against (or NULL) */
    size_t *order, *place, *otherwise; /* best first; places by metric and by against */
    mel_agreement agreement;
    size_t n_samples;
    double *sample;       /* n_samples coefficients of the metric; NULL: it is known */
    mel_certainty *found; /* intervals; NULL: none are known */
    bool sure, by_rows;   /* the following are known; rows are part of it */
    double *next;         /* in the order: the probability of being better than the next one */
    double *first;        /* by position: the probability of being the best; NULL: unknown */
    double whole_order;   /* the probability that the order is right from top to bottom */
} ranking;

static void ranking_clear(ranking *r)
{
    mel_metric_free(r->against);
    cli_opened_clear(&r->opened);
    cli_judges_free(r->judge, r->n_judges);
    cli_contenders_clear(&r->who);
    free(r->value);
    free(r->other);
    free(r->order);
    free(r->place);
    free(r->otherwise);
    free(r->sample);
    free(r->found);
    free(r->next);
    free(r->first);
}

/* --- order -------------------------------------------------------------------------------------- */

/* The matrix that the judge looks at. */
static void look(double *matrix, const ranking *r, size_t i)
{
    const cli_contenders *c = &r->who;
    const size_t cells = c->m * c->k * c->k;
    if (r->judge->sees_groups)
        memcpy(matrix, c->counts + i * cells, cells * sizeof *matrix);
    else
        cli_contender_together(matrix, c, i);
}

static size_t seen_cells(const ranking *r)
{
    return mel_measure_cells(r->judge->measure);
}

static mel_status named_values(const ranking *r, mel_error *err)
{
    const cli_contenders *c = &r->who;
    double *matrix = cli_alloc_zero(c->m * c->k * c->k, sizeof *matrix);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < c->n && status == MEL_OK; i++) {
        look(matrix, r, i);
        if (!cli_known(seen_cells(r), matrix))
            status = cli_fail(err, MEL_EDATA, "%s: not all entries of its matrix are known, which %s needs",
                              c->name[i], r->judge->name);
        if (status == MEL_OK)
            status = mel_measure_value(&r->value[i], r->judge->measure, matrix, err);
        if (status == MEL_EDATA || status == MEL_ENUMERIC)
            status = cli_fail_in(err, MEL_EDATA, c->name[i]);
    }
    free(matrix);
    return status;
}

static mel_status put_in_order(ranking *r, mel_error *err)
{
    const cli_contenders *c = &r->who;
    r->value = cli_alloc_zero(c->n, sizeof *r->value);
    r->order = cli_alloc_zero(c->n, sizeof *r->order);
    r->place = cli_alloc_zero(c->n, sizeof *r->place);
    r->orientation = mel_measure_orientation(r->judge->measure);
    const mel_status status = c->metric != NULL
                                  ? mel_rank_values(r->value, c->metric, c->n, c->statistics, err)
                                  : named_values(r, err);
    return status == MEL_OK ? mel_rank_order(r->order, r->place, c->n, r->value, r->orientation, err)
                            : status;
}

/* The other metric in the order of this one's classes and groups. */
static mel_status match(ranking *r, const rank_args *args, mel_error *err)
{
    const mel_metric *metric = r->who.metric;
    const cli_about about = { .name = mel_metric_class_names(metric),
                              .group = mel_metric_group_names(metric) };
    return cli_match_metric(&r->against, args->against, mel_metric_layout(metric), &about, err);
}

static mel_status compare(ranking *r, const rank_args *args, mel_error *err)
{
    const size_t n = r->who.n;
    mel_status status = r->who.metric != NULL
                            ? cli_load_metric(&r->against, args->against, err)
                            : cli_fail(err, MEL_EINVAL, "--against compares with --metric or --session");
    if (status == MEL_OK)
        status = match(r, args, err);
    if (status != MEL_OK)
        return status;
    size_t *order = cli_alloc_zero(n, sizeof *order);
    r->otherwise = cli_alloc_zero(n, sizeof *r->otherwise);
    r->other = cli_alloc_zero(n, sizeof *r->other);
    status = mel_rank_values(r->other, r->against, n, r->who.statistics, err);
    if (status == MEL_OK)
        status = mel_rank_order(order, r->otherwise, n, r->other, mel_metric_orientation(r->against), err);
    free(order);
    if (status == MEL_OK)
        status = mel_rank_agreement(&r->agreement, n, r->other, mel_metric_orientation(r->against), r->value,
                                    r->orientation, err);
    return status;
}

/* --- how sure: metrics -------------------------------------------------------------------------- */

/* By a session's own draws, which know how coefficients move together, else within the intervals. */
static mel_status draw_metrics(ranking *r, const rank_args *args, const cli_run *run, mel_error *err)
{
    mel_session *session = r->opened.session;
    const mel_metric *metric = r->who.metric;
    double low = 0.0, high = 0.0;
    size_t width = 0;
    if (session != NULL)
        return mel_session_get_options(session)->strategy == MEL_STRATEGY_SEARCH
                   ? MEL_OK
                   : mel_session_draws(&r->n_samples, &width, &r->sample, session, err);
    if (metric == NULL || args->samples == 0 || !mel_metric_interval(metric, 0, &low, &high))
        return MEL_OK;
    width = mel_metric_coefficients(metric);
    r->n_samples = args->samples;
    r->sample = cli_alloc_zero(r->n_samples * width, sizeof *r->sample);
    mel_rng rng;
    mel_rng_seed(&rng, run->seed);
    for (size_t s = 0; s < r->n_samples; s++)
        mel_metric_draw(r->sample + s * width, metric, &rng);
    return MEL_OK;
}

/* Draws whose slopes are taken: fewer where a measure looks at many entries. */
static mel_certainty_options certainty_options(const ranking *r, const cli_run *run)
{
    const double work = (double)seen_cells(r) * (double)seen_cells(r), most = 2e8 / work;
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
static bool count_all(double *counts, const ranking *r)
{
    const cli_contenders *c = &r->who;
    const size_t cells = seen_cells(r);
    double *matrix = cli_alloc_zero(c->m * c->k * c->k, sizeof *matrix);
    bool known = cli_known(c->n, c->rows);
    for (size_t i = 0; i < c->n && known; i++) {
        look(matrix, r, i);
        if (c->metric != NULL && c->layout.kind == MEL_CONFUSION)
            cli_fill_rest(matrix, cells, c->rows[i]);
        known = cli_known(cells, matrix);
        memcpy(counts + i * cells, matrix, cells * sizeof *matrix);
    }
    free(matrix);
    return known;
}

static mel_status find_intervals(ranking *r, const double *counts, const mel_certainty_options *opt,
                                 mel_error *err)
{
    const size_t cells = seen_cells(r);
    mel_status status = MEL_OK;
    r->found = cli_alloc_zero(r->who.n, sizeof *r->found);
    for (size_t i = 0; i < r->who.n && status == MEL_OK; i++)
        status = mel_certainty_of(&r->found[i], r->judge->measure, counts + i * cells, opt, err);
    return status;
}

static mel_status compare_neighbours(ranking *r, const double *counts, const mel_certainty_options *opt,
                                     mel_error *err)
{
    const cli_contenders *c = &r->who;
    const size_t cells = seen_cells(r), all = c->m * c->k * c->k * c->k;
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
static mel_status shake(double *values, size_t n_samples, const ranking *r, const double *counts,
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
static mel_status sampled_values(double *values, size_t n_samples, const ranking *r, mel_error *err)
{
    const cli_contenders *c = &r->who;
    if (r->sample != NULL)
        return mel_rank_sampled_values(values, c->metric, n_samples, r->sample, c->n, c->statistics, err);
    for (size_t s = 0; s < n_samples; s++)
        memcpy(values + s * c->n, r->value, c->n * sizeof *values);
    return MEL_OK;
}

static mel_status sum_up(ranking *r, size_t n_samples, const double *values, mel_error *err)
{
    const size_t n = r->who.n;
    double *table = cli_alloc_zero(n * n, sizeof *table);
    r->first = cli_alloc_zero(n, sizeof *r->first);
    mel_status status = MEL_OK;
    if (!r->by_rows)
        status = mel_rank_beats(table, n_samples, n, values, r->orientation, err);
    for (size_t i = 0; status == MEL_OK && !r->by_rows && i + 1 < n; i++)
        r->next[i] = table[r->order[i] * n + r->order[i + 1]];
    if (status == MEL_OK)
        status = mel_rank_places(table, n_samples, n, values, r->orientation, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        r->first[i] = table[i * n];
    if (status == MEL_OK)
        status = mel_rank_order_probability(&r->whole_order, n_samples, n, values, r->orientation, n,
                                            r->order, err);
    free(table);
    r->sure = status == MEL_OK;
    return status;
}

static mel_status weigh(ranking *r, const double *counts, const cli_run *run, mel_error *err)
{
    const cli_contenders *c = &r->who;
    const mel_certainty_options opt = certainty_options(r, run);
    const size_t n_samples = r->sample != NULL ? r->n_samples : DEFAULT_SAMPLES;
    r->next = cli_alloc_zero(c->n, sizeof *r->next);
    mel_status status = MEL_OK;
    if (r->by_rows)
        status = find_intervals(r, counts, &opt, err);
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
static mel_status be_sure(ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    double *counts = cli_alloc_zero(r->who.n * seen_cells(r), sizeof *counts);
    r->by_rows = count_all(counts, r);
    mel_status status = draw_metrics(r, args, run, err);
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

/* --- saying it ---------------------------------------------------------------------------------- */

static json_t *range_json(const mel_interval *range)
{
    const double ends[] = { range->low, range->high };
    return cli_vector_json(2, ends);
}

static void put_certainty(json_t *one, const ranking *r, size_t i)
{
    const size_t at = r->order[i];
    if (r->found != NULL) {
        cli_put(one, "interval", range_json(&r->found[at].both));
        if (r->sample != NULL) {
            cli_put(one, "rows_interval", range_json(&r->found[at].rows));
            cli_put(one, "metric_interval", range_json(&r->found[at].metric));
        }
    }
    if (!r->sure)
        return;
    if (r->first != NULL)
        cli_put(one, "best_probability", cli_json_number(r->first[at]));
    if (i + 1 < r->who.n) {
        cli_put(one, "beats_next", cli_json_number(r->next[i]));
        cli_put(one, "tells_next", json_boolean(mel_can_tell(r->next[i])));
    }
}

static void fill_json(json_t *result, const ranking *r)
{
    json_t *order = json_array();
    for (size_t i = 0; i < r->who.n; i++) {
        const size_t at = r->order[i];
        json_t *one = json_object();
        cli_put(one, "place", cli_json_count(r->place[at]));
        cli_put(one, "row", cli_json_count(at + 1));
        cli_put(one, "name", cli_json_text(r->who.name[at]));
        cli_put(one, "value", cli_json_number(r->value[at]));
        if (r->against != NULL) {
            cli_put(one, "against_place", cli_json_count(r->otherwise[at]));
            cli_put(one, "against_value", cli_json_number(r->other[at]));
        }
        put_certainty(one, r, i);
        cli_push(order, one);
    }
    cli_put(result, "order", order);
    cli_put(result, "paired", json_boolean(r->who.paired));
    if (r->against != NULL) {
        cli_put(result, "tau", cli_json_number(r->agreement.tau));
        cli_put(result, "ndcg", cli_json_number(r->agreement.ndcg));
        cli_put(result, "same_best", json_boolean(r->agreement.same_best));
    }
    if (r->first != NULL)
        cli_put(result, "order_probability", cli_json_number(r->whole_order));
}

static void add_certainty(cli_table *table, const ranking *r, size_t i)
{
    const size_t at = r->order[i];
    if (r->found != NULL)
        cli_table_cell(table, "%.4g to %.4g", r->found[at].both.low, r->found[at].both.high);
    if (!r->sure)
        return;
    if (r->first != NULL)
        cli_table_cell(table, "%.1f%%", 100.0 * r->first[at]);
    if (i + 1 == r->who.n)
        cli_table_cell(table, "%s", "");
    else
        cli_table_cell(table, "%s%.1f%%",
                       mel_can_tell(r->next[i]) ? "" : "cannot tell: ", 100.0 * r->next[i]);
}

static void print_text(const ranking *r)
{
    const char *headers[7] = { "", "", "value" };
    char align[8] = "rlr";
    size_t n = 3;
    if (r->found != NULL) {
        align[n] = 'r';
        headers[n++] = "95% interval";
    }
    if (r->first != NULL) {
        align[n] = 'r';
        headers[n++] = "is best";
    }
    if (r->sure) {
        align[n] = 'r';
        headers[n++] = "beats the next";
    }
    if (r->against != NULL) {
        align[n] = 'r';
        headers[n++] = "place by\nthe other";
    }
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < r->who.n; i++) {
        const size_t at = r->order[i];
        cli_table_cell(table, "%zu", r->place[at]);
        cli_table_cell(table, "%s", r->who.name[at]);
        cli_table_cell(table, "%.6g", r->value[at]);
        add_certainty(table, r, i);
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

/* The first forty. */
static mel_status draw(const ranking *r, const char *path, mel_error *err)
{
    enum { MOST = 40 };
    const size_t n = r->who.n < MOST ? r->who.n : MOST;
    const char **names = cli_alloc_zero(n, sizeof *names);
    double *numbers = cli_alloc_zero(3 * n, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        const size_t at = r->order[i];
        names[i] = r->who.name[at];
        numbers[i] = r->value[at];
        numbers[n + i] = r->found != NULL ? r->found[at].both.low : 0.0;
        numbers[2 * n + i] = r->found != NULL ? r->found[at].both.high : 0.0;
    }
    const mel_ranking_plot plot = { .n = n,
                                    .names = names,
                                    .value = numbers,
                                    .low = r->found != NULL ? numbers + n : NULL,
                                    .high = r->found != NULL ? numbers + 2 * n : NULL,
                                    .better = r->sure ? r->next : NULL,
                                    .can_tell = MEL_CAN_TELL,
                                    .x_title =
                                        r->who.metric != NULL ? "value of the metric" : r->judge->name };
    char *svg = NULL;
    mel_status status = mel_plot_ranking(&svg, &plot, NULL, err);
    if (status == MEL_OK)
        status = cli_write_svg(path, svg, err);
    free(svg);
    free(names);
    free(numbers);
    return status;
}

/* The metric, or what the session has found so far; NULL for a named measure. */
static mel_status load(mel_metric **out, ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    const char *metric = args->contenders.metric;
    if ((metric != NULL) + (args->session != NULL) + (args->contenders.named.n > 0) != 1 ||
        args->contenders.named.n > 1)
        return cli_fail(err, MEL_EINVAL,
                        "expected one of --metric METRIC.json, --session FILE.jsonl and --named NAME");
    if (metric != NULL)
        return cli_load_metric(out, metric, err);
    if (args->session == NULL)
        return MEL_OK;
    const mel_status status = cli_opened_make(&r->opened, args->session, NULL, run, err);
    return status == MEL_OK ? mel_session_result(out, NULL, r->opened.session, err) : status;
}

static mel_status read_all(ranking *r, const rank_args *args, cli_run *run, mel_error *err)
{
    mel_reader reader = { 0 };
    mel_metric *metric = NULL;
    cli_contender_args given = args->contenders;
    given.metric = args->session != NULL ? args->session : given.metric;
    mel_status status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK && given.pool == NULL)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = load(&metric, r, args, run, err);
    if (status == MEL_OK)
        status = cli_contenders_read(&r->who, metric, &given, &reader.options, run, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = cli_judges_make(&r->judge, &r->n_judges, &r->who, &given.named, err);
    mel_reader_clear(&reader);
    return status;
}

static mel_status run_rank(cli_run *run, const void *arguments, mel_error *err)
{
    const rank_args *args = arguments;
    ranking r = { 0 };
    mel_status status = args->plot != NULL ? cli_out_check(args->plot, err) : MEL_OK;
    if (status == MEL_OK)
        status = read_all(&r, args, run, err);
    if (status == MEL_OK)
        status = put_in_order(&r, err);
    if (status == MEL_OK && args->against != NULL)
        status = compare(&r, args, err);
    if (status == MEL_OK)
        status = be_sure(&r, args, run, err);
    if (status == MEL_OK && args->plot != NULL)
        status = draw(&r, args->plot, err);
    if (status == MEL_OK && run->json)
        fill_json(run->result, &r);
    else if (status == MEL_OK)
        print_text(&r);
    ranking_clear(&r);
    return status;
}

static const cli_option contender_options[] = {
    { .name = "metric",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(cli_contender_args, metric),
      .help = "the metric to order by" },
    CLI_NAMED_OPTION("instead of --metric: a measure by its name"),
    { .name = "pool",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_contender_args, pool),
      .help =
          "the classifiers: CSV with a name column and columns called tp, tn, fp, fn (shares or counts), "
          "recall, specificity, precision, ... (two classes), after classes (right decisions) or "
          "true>predicted, group: before them; or NPY with one row each. Counts, or a column n, say how many "
          "rows were tested" },
    CLI_PREVALENCE_OPTION(cli_contender_args, prevalence),
    { 0 }
};
static const cli_option own_options[] = {
    { .name = "session",
      .argument = "FILE.jsonl",
      .kind = CLI_INPUT,
      .at = offsetof(rank_args, session),
      .help = "instead of --metric: what a session has found; how sure the order is then comes from the "
              "session's own posterior, which knows how the coefficients move together" },
    { .name = "against",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(rank_args, against),
      .help = "another metric, taken as the truth that the order is compared with: NDCG and Kendall's tau" },
    { .name = "plot",
      .argument = "FILE.svg",
      .kind = CLI_OUTPUT,
      .at = offsetof(rank_args, plot),
      .help = "draw the order with its intervals (the first 40)" },
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
    { "Rank", contender_options, offsetof(rank_args, contenders) },
    { "How sure", own_options, 0 },
    { "Predictions", cli_prediction_options, offsetof(rank_args, contenders.rows) },
    { "Reading files", cli_reading_options, offsetof(rank_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "three classifiers in the order of an elicited metric, compared with the one behind the answers",
      "printf 'name,tp,fn,fp,tn\\ncautious,132,8,40,220\\nbold,120,20,12,248\\nlazy,40,100,4,256\\n' > "
      "pool.csv && melicit "
      "rank "
      "--metric metric.json --pool pool.csv --against doctor.json" },
    { "two classifiers by their predictions for the same rows",
      "printf 'y\\n1\\n0\\n1\\n0\\n1\\n' > y.csv && printf 'p\\n1\\n0\\n0\\n0\\n1\\n' > careful.csv && "
      "printf "
      "'p\\n1\\n1\\n1\\n0\\n1\\n' > eager.csv && melicit rank --named f1 --labels y.csv --predictions "
      "careful.csv "
      "eager.csv" },
    { 0 },
};
static const rank_args defaults = { .samples = 1000,
                                    .contenders = { .prevalence = NAN, .pool_option = "pool" } };

const cli_command cli_rank = {
    .name = "rank",
    .summary = "order classifiers by a metric and say which can be told apart",
    .operands = "[PREDICTIONS ...]",
    .max_operands = 1000,
    .description = "Evaluates a metric, or a measure by its name, for every classifier and prints them best "
                   "first: how sure each "
                   "value is, the probability that a classifier is the best one and that it beats the next. "
                   "Below 97.5% nobody "
                   "can tell which of two is better. Two things are uncertain: the rows that were tested "
                   "could have been others, "
                   "and an elicited metric is known only within its intervals. Predictions for the same rows "
                   "are compared row by "
                   "row; of confusion matrices nothing is known but their counts; of shares without a number "
                   "of rows only the "
                   "metric's part is told.\n\n"
                   "Coefficients of a metric file are taken as independent of each other, normal within "
                   "their 95% intervals.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(rank_args),
    .defaults = &defaults,
    .run = run_rank,
};

/* melicit score: values of metrics and measures, with their intervals, for classifiers given by their
 * statistics or by their predictions. */
#include "contenders.h"
#include "dataset.h"
#include "metric_file.h"
#include "output.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_contender_args contenders;
    mel_reading reading;
} score_args;

/* A row of the answer is a classifier, or a group of its rows. */
typedef struct {
    size_t classifier, group; /* group SIZE_MAX: everybody */
    char *name;
} row;

typedef struct {
    cli_contenders who;
    cli_judge *judge;
    size_t n_judges, n_rows;
    row *rows;
    mel_certainty *found; /* n_rows x n_judges; value NaN: not defined, ranges NaN: not known */
} scoring;

static void scoring_clear(scoring *s)
{
    for (size_t i = 0; i < s->n_rows && s->rows != NULL; i++)
        free(s->rows[i].name);
    free(s->rows);
    free(s->found);
    cli_judges_free(s->judge, s->n_judges);
    cli_contenders_clear(&s->who);
}

/* --- rows ----------------------------------------------------------------------------------------- */

/* Everybody, then group by group; groups of statistics that the metric itself is about are not taken apart.
 */
static void list_rows(scoring *s)
{
    const cli_contenders *c = &s->who;
    const size_t groups = c->m > 1 && c->layout.n_groups < 2 ? c->m : 0;
    s->rows = cli_alloc_zero(c->n * (1 + groups), sizeof *s->rows);
    for (size_t i = 0; i < c->n; i++)
        for (size_t g = 0; g <= groups; g++) {
            const char *of = c->paired && c->n == 1 ? "all" : c->name[i];
            char *name = g == 0      ? cli_format("%s", of)
                         : c->n == 1 ? cli_format("%s", c->group_name[g - 1])
                                     : cli_format("%s: %s", c->name[i], c->group_name[g - 1]);
            s->rows[s->n_rows++] = (row){ i, g == 0 ? SIZE_MAX : g - 1, name };
        }
}

/* What a judge looks at in a row; false: nothing. */
static bool look(double *matrix, const scoring *s, const row *r, const cli_judge *judge)
{
    const cli_contenders *c = &s->who;
    const size_t cells = c->k * c->k;
    if (judge->sees_groups) {
        memcpy(matrix, c->counts + r->classifier * c->m * cells, c->m * cells * sizeof *matrix);
        return r->group == SIZE_MAX;
    }
    if (r->group == SIZE_MAX)
        cli_contender_together(matrix, c, r->classifier);
    else
        memcpy(matrix, c->counts + (r->classifier * c->m + r->group) * cells, cells * sizeof *matrix);
    return true;
}

/* --- values --------------------------------------------------------------------------------------- */

static const mel_certainty not_known = { NAN, { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, NAN, NAN, NAN };

static mel_status judge_matrix(mel_certainty *out, scoring *s, const row *r, const cli_judge *judge,
                               const double *matrix, cli_run *run, mel_error *err)
{
    if (isnan(s->who.rows[r->classifier]))
        return mel_measure_value(&out->value, judge->measure, matrix, err);
    return cli_judge_counts(out, judge, matrix, run, err);
}

/* The value by the statistics, which may be known where the whole matrix is not. */
static mel_status judge_row(mel_certainty *out, scoring *s, const row *r, const cli_judge *judge,
                            cli_run *run, mel_error *err)
{
    const cli_contenders *c = &s->who;
    const size_t n = c->m * c->k * c->k, seen = judge->sees_groups ? n : c->k * c->k;
    double *matrix = cli_alloc_zero(n, sizeof *matrix);
    const bool metric = c->metric != NULL && judge == s->judge;
    *out = not_known;
    mel_status status = MEL_OK;
    const bool there = look(matrix, s, r, judge);
    if (there && metric && c->layout.kind == MEL_CONFUSION)
        cli_fill_rest(matrix, seen, c->rows[r->classifier]);
    else if (there && !metric && r->group == SIZE_MAX && c->layout.kind == MEL_CONFUSION)
        (void)cli_fill_for(matrix, seen, c->rows[r->classifier], judge->measure);
    const bool known = cli_known(seen, matrix);
    if (there && known)
        status = judge_matrix(out, s, r, judge, matrix, run, err);
    if (status == MEL_OK && metric && r->group == SIZE_MAX)
        status = mel_metric_value(&out->value, c->metric,
                                  c->statistics + r->classifier * mel_layout_size(&c->layout), err);
    else if (status == MEL_OK && there && !known)
        status = cli_fail(err, MEL_EINVAL,
                          "--named %s depends on entries of the matrix that are not known: give columns fp "
                          "and fn, --shares P, or --labels and --predictions",
                          judge->name);
    free(matrix);
    if (status == MEL_EDATA || status == MEL_ENUMERIC) {
        if (r->group == SIZE_MAX)
            return cli_fail_in(err, MEL_EDATA, r->name);
        cli_warn(run, "%s: %s", r->name, err->text);
        *out = not_known;
        return MEL_OK;
    }
    return status;
}

static bool is_known(const mel_interval *range)
{
    return isfinite(range->low) && isfinite(range->high);
}

static mel_status find_values(scoring *s, cli_run *run, mel_error *err)
{
    s->found = cli_alloc_zero(s->n_rows * s->n_judges, sizeof *s->found);
    for (size_t i = 0; i < s->n_rows; i++)
        for (size_t j = 0; j < s->n_judges; j++)
            TRY(judge_row(&s->found[i * s->n_judges + j], s, &s->rows[i], &s->judge[j], run, err));
    bool unsure = false;
    for (size_t i = 0; i < s->n_rows && s->who.metric != NULL; i++)
        unsure = unsure ||
                 (is_known(&s->found[i * s->n_judges].both) && !is_known(&s->found[i * s->n_judges].metric));
    if (unsure)
        cli_warn(run, "it is not known how sure the metric is: within its intervals are numbers that make no "
                      "metric of its family; the intervals are about the rows alone");
    return MEL_OK;
}

/* --- saying it ------------------------------------------------------------------------------------ */

static void put_value(json_t *object, const cli_judge *judge, const mel_certainty *found, bool metric)
{
    cli_put(object, judge->name, cli_json_number(found->value));
    if (!is_known(&found->both))
        return;
    char *key = metric ? cli_format("interval") : cli_format("%s_interval", judge->name);
    cli_put(object, key, cli_json_range(found->both.low, found->both.high));
    free(key);
    if (metric && found->metric_deviation > 0.0) {
        cli_put(object, "rows_interval", cli_json_range(found->rows.low, found->rows.high));
        cli_put(object, "metric_interval", cli_json_range(found->metric.low, found->metric.high));
    }
}

static json_t *row_json(const scoring *s, size_t i)
{
    const cli_contenders *c = &s->who;
    const size_t size = mel_layout_size(&c->layout);
    json_t *object = json_object();
    double *own = cli_alloc_zero(size, sizeof *own);
    const double *statistics = c->statistics + s->rows[i].classifier * size;
    bool known = true;
    if (s->rows[i].group != SIZE_MAX) {
        const double *counts = c->counts + (s->rows[i].classifier * c->m + s->rows[i].group) * c->k * c->k;
        known = cli_statistics_of(own, &c->layout, counts, c->class_name, c->group_name, NULL) == MEL_OK;
        statistics = own;
    }
    cli_put(object, "name", cli_json_text(s->rows[i].name));
    if (known && c->layout.coordinates == MEL_BINARY && size == 2) {
        cli_put(object, "tp", cli_json_number(statistics[0]));
        cli_put(object, "tn", cli_json_number(statistics[1]));
    } else if (known) {
        cli_put(object, "statistics", cli_vector_json(size, statistics));
    }
    for (size_t j = 0; j < s->n_judges; j++)
        put_value(object, &s->judge[j], &s->found[i * s->n_judges + j], c->metric != NULL && j == 0);
    free(own);
    return object;
}

/* Differences and ratios between the groups of a classifier, as fairlearn's MetricFrame has them. */
static const char *const between[] = { "difference", "ratio" };

static json_t *groups_json(const scoring *s, size_t classifier, cli_run *run)
{
    const cli_contenders *c = &s->who;
    const double *counts = c->counts + classifier * c->m * c->k * c->k;
    json_t *all = json_object();
    for (size_t w = 0; w < 2; w++)
        for (size_t j = 0; j < s->n_judges; j++) {
            MEL_AUTO_MEMORY char *name = cli_format("%s:%s", s->judge[j].name, between[w]);
            MEL_AUTO(mel_measure) *measure = NULL;
            mel_certainty found = not_known, sure = not_known;
            mel_error why;
            if (cli_or_exit(mel_measure_named(&measure, name, c->k, c->m, NULL)) != MEL_OK ||
                cli_or_exit(mel_measure_value(&found.value, measure, counts, NULL)) != MEL_OK)
                continue;
            const cli_judge judge = { .name = name, .measure = measure };
            if (isfinite(c->rows[classifier]) &&
                cli_or_exit(cli_judge_counts(&sure, &judge, counts, run, &why)) == MEL_OK)
                found = sure;
            put_value(all, &judge, &found, false);
        }
    return all;
}

static void fill_json(json_t *result, const scoring *s, cli_run *run)
{
    const cli_contenders *c = &s->who;
    json_t *array = json_array();
    for (size_t i = 0; i < s->n_rows; i++)
        cli_push(array, row_json(s, i));
    cli_put(result, "value", cli_json_number(s->found[0].value));
    if (is_known(&s->found[0].both))
        cli_put(result, "interval", cli_json_range(s->found[0].both.low, s->found[0].both.high));
    if (isfinite(c->rows[0]))
        cli_put(result, "rows", cli_json_count((uint64_t)c->rows[0]));
    cli_put(result, "scores", array);
    cli_put_positive(result, c->k, c->class_name);
    if (s->n_rows <= c->n)
        return;
    json_t *groups = json_object();
    for (size_t i = 0; i < c->n; i++)
        cli_put(groups, c->n == 1 ? "all" : c->name[i], groups_json(s, i, run));
    cli_put(result, "groups", groups);
}

/* The value under a measure's name, and its interval. */
static void add_estimate(cli_table *table, const json_t *from, const char *name, bool metric)
{
    const json_t *value = json_object_get(from, name);
    MEL_AUTO_MEMORY char *key = metric ? cli_format("interval") : cli_format("%s_interval", name);
    MEL_AUTO_MEMORY char *range = cli_fill(json_object_get(from, key), "{0:%.4g} to {1:%.4g}");
    if (json_is_number(value))
        cli_table_cell(table, "%.6g", json_number_value(value));
    else
        cli_table_cell(table, "%s", "");
    cli_table_cell(table, "%s", range != NULL ? range : "");
}

static void print_text(const json_t *result, const scoring *s)
{
    const cli_contenders *c = &s->who;
    MEL_AUTO_MEMORY const char **headers = cli_alloc_zero(2 * s->n_judges + 1, sizeof *headers);
    MEL_AUTO_MEMORY char *align = cli_alloc_zero(2 * s->n_judges + 2, 1);
    bool matters = false;
    headers[0] = "";
    align[0] = 'l';
    for (size_t j = 0; j < s->n_judges; j++) {
        headers[2 * j + 1] = s->judge[j].name;
        headers[2 * j + 2] = "95% interval";
        align[2 * j + 1] = align[2 * j + 2] = 'r';
        matters = matters || mel_measure_has_positive(s->judge[j].measure);
    }
    cli_table *table = cli_table_new(align, headers);
    for (size_t i = 0; i < s->n_rows; i++) {
        cli_table_cell(table, "%s", s->rows[i].name);
        for (size_t j = 0; j < s->n_judges; j++)
            add_estimate(table, json_array_get(json_object_get(result, "scores"), i), s->judge[j].name,
                         c->metric != NULL && j == 0);
    }
    const char *who = NULL;
    json_t *groups = json_object_get(result, "groups"), *of = NULL;
    if (c->metric == NULL || s->n_judges > 1)
        json_object_foreach(groups, who, of) for (size_t w = 0; w < 2; w++)
        {
            cli_table_cell(table, "%s%s%s", c->n == 1 ? "" : who, c->n == 1 ? "" : ": ", between[w]);
            for (size_t j = 0; j < s->n_judges; j++) {
                MEL_AUTO_MEMORY char *name = cli_format("%s:%s", s->judge[j].name, between[w]);
                add_estimate(table, of, name, false);
            }
        }
    cli_table_print(table);
    if (matters)
        cli_print_positive(c->k, c->class_name);
    if (isnan(c->rows[0]))
        cli_print("\n  no intervals: how many rows were tested is not known (counts or a column n say it)\n");
}

static mel_status run_score(cli_run *run, const void *arguments, mel_error *err)
{
    const score_args *args = arguments;
    MEL_AUTO_CLEAR(scoring) s = { 0 };
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    mel_metric *metric = NULL;
    TRY(cli_reader_init(&reader, &args->reading, run, err));
    if (args->contenders.metric == NULL && args->contenders.named.n == 0)
        return cli_fail(err, MEL_EINVAL,
                        "give --metric METRIC.json or --named NAME (accuracy, f1, mcc, ...)");
    if (args->contenders.pool == NULL)
        TRY(mel_reader_share(&reader, err));
    if (args->contenders.metric != NULL)
        TRY(cli_load_metric(&metric, args->contenders.metric, err));
    TRY(cli_contenders_read(&s.who, metric, &args->contenders, &reader.options, run, err));
    TRY(cli_reader_check(&reader, &args->reading, run, err));
    TRY(cli_judges_make(&s.judge, &s.n_judges, &s.who, &args->contenders.named, err));

    list_rows(&s);
    TRY(find_values(&s, run, err));
    fill_json(run->result, &s, run);
    if (!run->json)
        print_text(run->result, &s);
    return MEL_OK;
}

static const cli_option own_options[] = {
    CLI_COMMON(cli_contender_args, "metric", INPUT, metric, .argument = "METRIC.json",
               .help = "the metric to evaluate"),
    CLI_NAMED_OPTION("also a measure by its name"),
    CLI_COMMON(cli_contender_args, "statistics", INPUT, pool, .argument = "FILE",
               .help =
                   "classifiers by their statistics: CSV with a name column and columns called tp, tn, fp, "
                   "fn (shares or counts), recall, specificity, precision, ... (two classes), after classes "
                   "(right decisions) or true>predicted, group: before them; or NPY with one row each"),
    CLI_SHARES_OPTION(cli_contender_args, prevalence),
    { 0 }
};
static const cli_group groups_of_options[] = {
    { "Score", own_options, offsetof(score_args, contenders) },
    { "Predictions", cli_prediction_options, offsetof(score_args, contenders.rows) },
    { "Reading files", cli_reading_options, offsetof(score_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "two classifiers by their shares of true positives and true negatives",
      "printf 'name,tp,tn\\ncautious,0.33,0.55\\nbold,0.30,0.62\\n' > pool.csv && melicit score --metric "
      "doctor.json --statistics pool.csv" },
    { "predictions against labels",
      "printf 'y\\n1\\n0\\n1\\n0\\n' > y.csv && printf 'p\\n1\\n0\\n0\\n0\\n' > p.csv && melicit score "
      "--named f1 --named mcc --labels y.csv --predictions p.csv" },
    { "three classes and two groups, with differences and ratios between the groups",
      "printf 'y\\na\\nb\\nc\\na\\nb\\nc\\n' > y3.csv && printf 'p\\na\\nb\\nc\\na\\nc\\nc\\n' > p3.csv && "
      "printf 'g\\nu\\nu\\nu\\nv\\nv\\nv\\n' > g3.csv && melicit score --named macro-f1 --named kappa "
      "--labels y3.csv --predictions p3.csv --groups g3.csv" },
    { 0 },
};
static const score_args defaults = { .contenders = { .prevalence = NAN, .pool_option = "statistics" } };

const cli_command cli_score = {
    .name = "score",
    .summary = "evaluate a metric on predictions or statistics, with intervals",
    .operands = "[PREDICTIONS ...]",
    .max_operands = 1000,
    .description =
        "Evaluates an elicited metric, or well-known measures, for classifiers given by their statistics or "
        "by their predictions, with 95% intervals: what other test rows like these would say, and where the "
        "metric has intervals of its own, both together. With groups there is a value for everybody and for "
        "each group, and differences and ratios between groups. Measures have scikit-learn's definitions.",
    .groups = groups_of_options,
    .examples = examples,
    .args_size = sizeof(score_args),
    .defaults = &defaults,
    .run = run_score,
    .ranks = true,
};

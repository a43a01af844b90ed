/* melicit score: the value of a metric for classifiers given by their statistics or by their predictions. */
#include "command.h"
#include "dataset.h"
#include "files.h"
#include "melicit/metric.h"
#include "outcome.h"
#include "output.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const char *metric, *statistics, *labels, *predictions, *groups, *positive;
    cli_list named;
    cli_reading reading;
} score_args;

/* A row of the answer: a classifier, or a group of rows, with its counts. */
typedef struct {
    char *name;
    double statistics[2]; /* TP, TN as shares */
    double positives;     /* share of positives; NaN: unknown */
} scored;

typedef struct {
    mel_metric *metric;
    scored *rows;
    size_t n_rows;
} scoring;

static void scoring_clear(scoring *s)
{
    for (size_t i = 0; i < s->n_rows; i++)
        free(s->rows[i].name);
    free(s->rows);
    mel_metric_free(s->metric);
}

static mel_status check_args(const score_args *args, mel_error *err)
{
    if (args->metric == NULL && args->named.n == 0)
        return cli_fail(err, MEL_EINVAL,
                        "give --metric METRIC.json or --named NAME (accuracy, f1, mcc, ...)");
    const bool pair = args->labels != NULL && args->predictions != NULL;
    if ((args->statistics != NULL) == pair || (!pair && (args->labels != NULL || args->predictions != NULL)))
        return cli_fail(err, MEL_EINVAL,
                        "give either --statistics FILE or both of --labels FILE and --predictions FILE");
    if (args->statistics != NULL && args->groups != NULL)
        return cli_fail(err, MEL_EINVAL, "--groups goes with --labels and --predictions");
    return MEL_OK;
}

/* --- statistics --------------------------------------------------------------------------------- */

static size_t find_any_case(const mel_table *table, const char *name)
{
    for (size_t i = 0; i < mel_table_columns(table); i++)
        if (strcasecmp(mel_table_column_name(table, i), name) == 0)
            return i;
    return SIZE_MAX;
}

/* The two columns of numbers called tp and tn, in any case, or the only two. */
static mel_status find_coordinates(size_t column[2], const mel_table *table, const char *path, mel_error *err)
{
    size_t numbers = 0;
    column[0] = column[1] = SIZE_MAX;
    for (size_t i = 0; i < mel_table_columns(table); i++) {
        const char *name = mel_table_column_name(table, i);
        if (mel_table_column_type(table, i) != MEL_COLUMN_NUMBER || strcmp(name, "name") == 0)
            continue;
        if (numbers < 2)
            column[numbers] = i;
        numbers++;
    }
    const size_t tp = find_any_case(table, "tp"), tn = find_any_case(table, "tn");
    if (tp != SIZE_MAX && tn != SIZE_MAX && mel_table_numbers(table, tp) != NULL &&
        mel_table_numbers(table, tn) != NULL) {
        column[0] = tp;
        column[1] = tn;
        return MEL_OK;
    }
    return numbers == 2
               ? MEL_OK
               : cli_fail(err, MEL_EDATA,
                          "%s: %zu columns of numbers; two are wanted, the shares of true positives and true "
                          "negatives, or columns called tp and tn",
                          path, numbers);
}

static mel_status check_share(const char *path, size_t row, const char *column, double value, mel_error *err)
{
    if (value >= 0.0 && value <= 1.0)
        return MEL_OK;
    return cli_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: %g is not a share between 0 and 1", path,
                    row + 1, column, value);
}

static mel_status read_statistics(scoring *s, const char *path, const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    size_t column[2];
    mel_status status = mel_table_read(&table, path, read, err);
    if (status == MEL_OK)
        status = find_coordinates(column, table, path, err);
    const size_t n = status == MEL_OK ? mel_table_rows(table) : 0;
    const size_t names = status == MEL_OK ? mel_table_find(table, "name") : SIZE_MAX;
    s->rows = cli_alloc_zero(n, sizeof *s->rows);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        scored *row = &s->rows[s->n_rows++];
        const uint32_t *code = names != SIZE_MAX ? mel_table_codes(table, names) : NULL;
        row->name = code != NULL && code[i] != MEL_MISSING
                        ? cli_format("%s", mel_table_category(table, names, code[i]))
                        : cli_format("%zu", i + 1);
        row->positives = NAN;
        for (size_t c = 0; c < 2 && status == MEL_OK; c++) {
            row->statistics[c] = mel_table_numbers(table, column[c])[i];
            status = check_share(path, i, mel_table_column_name(table, column[c]), row->statistics[c], err);
        }
        if (status == MEL_OK && row->statistics[0] + row->statistics[1] > 1.0 + 1e-9)
            status = cli_fail(err, MEL_EDATA, "%s: classifier %zu: shares %g and %g add up to more than 1",
                              path, i + 1, row->statistics[0], row->statistics[1]);
    }
    mel_table_free(table);
    return status;
}

/* --- predictions -------------------------------------------------------------------------------- */

static mel_status one_column(mel_table **out, const char *path, const mel_read_options *read, mel_error *err)
{
    mel_status status = mel_table_read(out, path, read, err);
    if (status == MEL_OK && mel_table_columns(*out) != 1)
        status = cli_fail(err, MEL_EDATA, "%s: one column is wanted, there are %zu", path,
                          mel_table_columns(*out));
    return status;
}

/* Which class of the labels is the positive one: as told, as the metric calls it, or the second. */
static mel_status positive_class(uint32_t *out, const mel_labels *labels, const score_args *args,
                                 const mel_metric *metric, mel_error *err)
{
    const char *wanted = args->positive != NULL ? args->positive
                         : metric != NULL       ? mel_metric_class_name(metric, 1)
                                                : NULL;
    *out = 1;
    for (uint32_t i = 0; wanted != NULL && i < labels->n_classes; i++)
        if (strcmp(labels->name[i], wanted) == 0)
            *out = i;
    if (args->positive != NULL && strcmp(labels->name[*out], args->positive) != 0)
        return cli_fail(err, MEL_EDATA, "%s: no class \"%s\" (--positive); there are \"%s\" and \"%s\"",
                        args->labels, args->positive, labels->name[0], labels->name[1]);
    return MEL_OK;
}

/* Shares over the rows of one group (or all rows, group NULL). */
static void count(scored *out, const mel_labels *truth, const mel_labels *predicted, uint32_t positive,
                  const mel_labels *groups, size_t group)
{
    double total = 0.0, tp = 0.0, tn = 0.0, positives = 0.0;
    for (size_t i = 0; i < truth->n_rows; i++) {
        if (groups != NULL && groups->code[i] != group)
            continue;
        const bool is = truth->code[i] == positive, said = predicted->code[i] == positive;
        total += 1.0;
        positives += is;
        tp += is && said;
        tn += !is && !said;
    }
    out->statistics[0] = tp / total;
    out->statistics[1] = tn / total;
    out->positives = positives / total;
}

static mel_status score_predictions(scoring *s, const score_args *args, const mel_labels *truth,
                                    const mel_labels *predicted, const mel_labels *groups, mel_error *err)
{
    uint32_t positive = 1;
    if (predicted->n_rows != truth->n_rows || (groups != NULL && groups->n_rows != truth->n_rows))
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: one row per prediction is wanted",
                        args->labels, truth->n_rows,
                        predicted->n_rows != truth->n_rows ? args->predictions : args->groups,
                        predicted->n_rows != truth->n_rows ? predicted->n_rows : groups->n_rows);
    const mel_status status = positive_class(&positive, truth, args, s->metric, err);
    if (status != MEL_OK)
        return status;
    const size_t n_groups = groups != NULL ? groups->n_classes : 0;
    s->rows = cli_alloc_zero(1 + n_groups, sizeof *s->rows);
    s->n_rows = 1 + n_groups;
    s->rows[0].name = cli_format("all");
    count(&s->rows[0], truth, predicted, positive, NULL, 0);
    for (size_t g = 0; g < n_groups; g++) {
        s->rows[1 + g].name = cli_format("%s", groups->name[g]);
        count(&s->rows[1 + g], truth, predicted, positive, groups, g);
    }
    return MEL_OK;
}

static mel_status read_predictions(scoring *s, const score_args *args, const mel_read_options *read,
                                   mel_error *err)
{
    mel_table *labels_table = NULL, *predictions_table = NULL, *groups_table = NULL;
    mel_labels truth = { 0 }, predicted = { 0 }, groups = { 0 };
    mel_status status = one_column(&labels_table, args->labels, read, err);
    if (status == MEL_OK)
        status = one_column(&predictions_table, args->predictions, read, err);
    if (status == MEL_OK)
        status = mel_table_labels(&truth, labels_table, mel_table_column_name(labels_table, 0), err);
    if (status == MEL_OK && truth.n_classes != 2)
        status = cli_fail(err, MEL_EDATA, "%s: there are %zu classes; the metric is for two", args->labels,
                          truth.n_classes);
    if (status == MEL_OK)
        status =
            mel_table_labels_as(&predicted, predictions_table, mel_table_column_name(predictions_table, 0), 2,
                                (const char *const *)truth.name, err);
    if (status == MEL_OK && args->groups != NULL)
        status = one_column(&groups_table, args->groups, read, err);
    if (status == MEL_OK && groups_table != NULL)
        status = mel_table_groups(&groups, groups_table, mel_table_column_name(groups_table, 0), err);
    if (status == MEL_OK)
        status = score_predictions(s, args, &truth, &predicted, groups_table != NULL ? &groups : NULL, err);
    mel_table_free(labels_table);
    mel_table_free(predictions_table);
    mel_table_free(groups_table);
    mel_labels_clear(&truth);
    mel_labels_clear(&predicted);
    mel_labels_clear(&groups);
    return status;
}

/* --- values ------------------------------------------------------------------------------------- */

/* NaN where a metric has no value; named metrics need the share of positives. */
static mel_status named_value(double *out, const char *name, const scored *row, mel_error *err)
{
    mel_named named;
    double parameter = 0.0;
    const mel_status status = mel_named_parse(&named, &parameter, name, err);
    if (status != MEL_OK)
        return status;
    if (!isfinite(row->positives))
        return cli_fail(err, MEL_EINVAL,
                        "--named %s needs false positives and negatives: give --labels and --predictions",
                        name);
    const mel_counts counts = {
        .tp = row->statistics[0],
        .tn = row->statistics[1],
        .fn = row->positives - row->statistics[0],
        .fp = 1.0 - row->positives - row->statistics[1],
    };
    return mel_named_value(out, named, parameter, &counts, err);
}

static mel_status row_values(double *values, const scoring *s, const score_args *args, const scored *row,
                             mel_error *err)
{
    size_t at = 0;
    if (s->metric != NULL && mel_metric_value(&values[at++], s->metric, row->statistics, err) != MEL_OK)
        return cli_fail_in(err, MEL_EDATA, row->name);
    for (size_t i = 0; i < args->named.n; i++) {
        const mel_status status = named_value(&values[at++], args->named.item[i], row, err);
        if (status != MEL_OK)
            return status;
    }
    return MEL_OK;
}

static size_t column_names(const char **names, const scoring *s, const score_args *args)
{
    size_t n = 0;
    if (s->metric != NULL)
        names[n++] = "value";
    for (size_t i = 0; i < args->named.n; i++)
        names[n++] = args->named.item[i];
    return n;
}

static void add_json(json_t *array, const scored *row, size_t n, const char *const *names,
                     const double *values)
{
    json_t *object = json_object();
    cli_put(object, "name", cli_json_text(row->name));
    cli_put(object, "tp", cli_json_number(row->statistics[0]));
    cli_put(object, "tn", cli_json_number(row->statistics[1]));
    for (size_t i = 0; i < n; i++)
        cli_put(object, names[i], cli_json_number(values[i]));
    cli_push(array, object);
}

static mel_status print_values(cli_run *run, const scoring *s, const score_args *args, mel_error *err)
{
    const size_t most = args->named.n + 1;
    const char **headers = cli_alloc_zero(most + 3, sizeof *headers);
    double *values = cli_alloc_zero(most, sizeof *values);
    char *align = cli_alloc_zero(most + 4, 1);
    headers[0] = "";
    headers[1] = "TP";
    headers[2] = "TN";
    const size_t n = column_names(headers + 3, s, args);
    memset(align, 'r', n + 3);
    align[0] = 'l';
    cli_table *table = run->json ? NULL : cli_table_new(align, headers);
    json_t *array = json_array();
    mel_status status = MEL_OK;
    for (size_t i = 0; i < s->n_rows && status == MEL_OK; i++) {
        const scored *row = &s->rows[i];
        status = row_values(values, s, args, row, err);
        if (status != MEL_OK)
            break;
        add_json(array, row, n, headers + 3, values);
        if (table == NULL)
            continue;
        cli_table_cell(table, "%s", row->name);
        cli_table_cell(table, "%.4f", row->statistics[0]);
        cli_table_cell(table, "%.4f", row->statistics[1]);
        for (size_t j = 0; j < n; j++)
            cli_table_cell(table, "%.6g", values[j]);
    }
    if (status == MEL_OK && s->n_rows > 0 && s->metric != NULL)
        cli_put(run->result, "value", json_incref(json_object_get(json_array_get(array, 0), "value")));
    cli_put(run->result, "scores", array);
    if (table != NULL && status == MEL_OK)
        cli_table_print(table);
    free(align);
    free(values);
    free(headers);
    return status;
}

static mel_status run_score(cli_run *run, const void *arguments, mel_error *err)
{
    const score_args *args = arguments;
    scoring s = { 0 };
    cli_reader reader = { 0 };
    mel_status status = check_args(args, err);
    if (status == MEL_OK)
        status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK && args->metric != NULL)
        status = cli_load_binary_metric(&s.metric, args->metric, err);
    if (status == MEL_OK)
        status = args->statistics != NULL ? read_statistics(&s, args->statistics, &reader.options, err)
                                          : read_predictions(&s, args, &reader.options, err);
    if (status == MEL_OK)
        status = print_values(run, &s, args, err);
    scoring_clear(&s);
    cli_reader_clear(&reader);
    return status;
}

static const cli_option own_options[] = {
    { .name = "metric",
      .argument = "METRIC.json",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, metric),
      .help = "the metric to evaluate" },
    { .name = "named",
      .argument = "NAME",
      .kind = CLI_LIST,
      .at = offsetof(score_args, named),
      .help =
          "also a well-known one: accuracy, balanced-accuracy, weighted-accuracy:7, f1, f0.5, f2, jaccard, "
          "precision, recall, specificity, g-mean, mcc" },
    { .name = "statistics",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, statistics),
      .help =
          "classifiers by their statistics: CSV with a name column and the shares of true positives and true "
          "negatives, or NPY with one row each" },
    { .name = "labels",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, labels),
      .help = "true classes, one column" },
    { .name = "predictions",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, predictions),
      .help = "predicted classes, one column" },
    { .name = "groups",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, groups),
      .help = "the group of each row, one column: values for all and for each group" },
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(score_args, positive),
      .help =
          "the positive class among the labels; as the metric calls it, else the second in sorted order" },
    { 0 }
};
static const cli_group groups_of_options[] = {
    { "Score", own_options, 0 },
    { "Reading files", cli_reading_options, offsetof(score_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "two classifiers by their shares of true positives and true negatives",
      "printf 'name,tp,tn\\ncautious,0.33,0.55\\nbold,0.30,0.62\\n' > pool.csv && melicit score --metric "
      "doctor.json "
      "--statistics pool.csv" },
    { "predictions against labels", "printf 'y\\n1\\n0\\n1\\n0\\n' > y.csv && printf 'p\\n1\\n0\\n0\\n0\\n' "
                                    "> p.csv && melicit score --named f1 --named "
                                    "mcc --labels y.csv --predictions p.csv" },
    { 0 },
};
static const score_args defaults = { 0 };

const cli_command cli_score = {
    .name = "score",
    .summary = "evaluate a metric on predictions or statistics",
    .description =
        "Evaluates an elicited metric, or a well-known one, for classifiers given by their statistics or by "
        "their predictions. Well-known metrics have scikit-learn's definitions.",
    .groups = groups_of_options,
    .examples = examples,
    .args_size = sizeof(score_args),
    .defaults = &defaults,
    .run = run_score,
};

/* melicit score: the value of a metric for classifiers given by their statistics or by their predictions. */
#include "base/layout.h"
#include "command.h"
#include "data/shared.h"
#include "dataset.h"
#include "metric_file.h"
#include "numbers.h"
#include "output.h"
#include "pool.h"
#include "statistics.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *metric, *statistics, *labels, *predictions, *groups;
    mel_naming naming;
    double prevalence; /* NaN: not given */
    mel_text_list named;
    mel_reading reading;
} score_args;

/* A row of the answer is a classifier, or a group of rows. */
typedef struct {
    mel_metric *metric;
    mel_layout layout;
    cli_pool pool;
} scoring;

static void scoring_clear(scoring *s)
{
    cli_pool_clear(&s->pool);
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
    const mel_naming *naming = &args->naming;
    const char *stray = args->statistics == NULL   ? NULL
                        : args->groups != NULL     ? "groups"
                        : naming->positive != NULL ? "positive"
                        : naming->classes != NULL  ? "classes"
                        : naming->rename != NULL   ? "rename"
                                                   : NULL;
    if (stray != NULL)
        return cli_fail(err, MEL_EINVAL, "--%s goes with --labels and --predictions", stray);
    if (args->statistics == NULL && isfinite(args->prevalence))
        return cli_fail(err, MEL_EINVAL, "--prevalence goes with --statistics; labels say it themselves");
    return MEL_OK;
}

/* --- predictions -------------------------------------------------------------------------------- */

static mel_status one_column(mel_table **out, const char *path, const mel_read_options *read, mel_error *err)
{
    mel_status status = mel_table_read(out, path, read, err);
    if (status == MEL_OK && mel_table_columns(*out) != 1)
        status = cli_fail(err, MEL_EDATA, "%s: %zu columns; expected one", path, mel_table_columns(*out));
    return status;
}

/* All three files, with codes in the order of the metric. */
typedef struct {
    mel_table *table[3];
    mel_labels truth, predicted, groups_found, groups;
    mel_classes classes;
} files;

static void files_clear(files *f)
{
    for (size_t i = 0; i < 3; i++)
        mel_table_free(f->table[i]);
    mel_labels_clear(&f->truth);
    mel_labels_clear(&f->predicted);
    mel_labels_clear(&f->groups_found);
    mel_labels_clear(&f->groups);
    mel_classes_clear(&f->classes);
}

static const char *column_of(const mel_table *table)
{
    return mel_table_column_name(table, 0);
}

/* Labels that lack some of the metric's classes, all others being among them: its classes are theirs. */
static mel_status complete_classes(files *f, const char *const *all, size_t k, mel_error *err)
{
    for (size_t i = 0; i < f->classes.n; i++)
        if (mel_name_place(f->classes.label[i], k, all) == k)
            return cli_fail(err, MEL_EDATA, "%s: there are %zu classes; the metric is for %zu",
                            mel_table_name(f->table[0]), f->classes.n, k);
    mel_classes_clear(&f->classes);
    mel_labels_clear(&f->truth);
    const mel_status status = mel_classes_of_names(&f->classes, k, all, all, err);
    return status == MEL_OK ? mel_table_labels_as(&f->truth, f->table[0], column_of(f->table[0]), k, all, err)
                            : status;
}

/* The metric in the order of the labels. With --positive it is said which class its second one is. */
static mel_status match_metric(scoring *s, files *f, const score_args *args, mel_error *err)
{
    if (s->metric == NULL)
        return f->classes.n == s->layout.n_classes
                   ? MEL_OK
                   : cli_fail(err, MEL_EDATA, "%s: there are %zu classes; expected two", args->labels,
                              f->classes.n);
    const size_t k = s->layout.n_classes;
    const char *const *own = mel_metric_class_names(s->metric);
    mel_status status = MEL_OK;
    if (f->classes.n < k)
        status = complete_classes(f, own, k, err);
    else if (f->classes.n > k)
        status = cli_fail(err, MEL_EDATA, "%s: there are %zu classes; the metric is for %zu", args->labels,
                          f->classes.n, k);
    bool shared = false;
    for (size_t i = 0; i < f->classes.n; i++)
        shared = shared || mel_name_place(f->classes.name[i], k, own) < k ||
                 mel_name_place(f->classes.label[i], k, own) < k;
    const bool said = args->naming.positive != NULL && !shared;
    const cli_about about = { .name = said ? NULL : (const char *const *)f->classes.name,
                              .label = said ? NULL : (const char *const *)f->classes.label,
                              .group = mel_metric_group_names(s->metric) };
    return status == MEL_OK ? cli_match_metric(&s->metric, args->metric, &s->layout, &about, err) : status;
}

/* In the order of the metric, if there is one. */
static mel_status settle_classes(files *f, const scoring *s, const score_args *args, mel_error *err)
{
    mel_naming naming = args->naming;
    naming.n_preferred = s->metric != NULL ? s->layout.n_classes : 0;
    naming.preferred = s->metric != NULL ? mel_metric_class_names(s->metric) : NULL;
    return mel_classes_settle(&f->classes, &f->truth, &naming, args->labels, err);
}

static mel_status read_classes(files *f, scoring *s, const score_args *args, const mel_read_options *read,
                               mel_error *err)
{
    mel_status status = one_column(&f->table[0], args->labels, read, err);
    if (status == MEL_OK)
        status = one_column(&f->table[1], args->predictions, read, err);
    if (status == MEL_OK)
        status = mel_table_labels(&f->truth, f->table[0], column_of(f->table[0]), err);
    if (status == MEL_OK)
        status = settle_classes(f, s, args, err);
    if (status == MEL_OK)
        status = match_metric(s, f, args, err);
    if (status == MEL_OK)
        status = mel_classes_decisions(&f->predicted, f->table[1], column_of(f->table[1]), &f->classes, err);
    return status;
}

/* Groups of a metric that is about groups have its order; otherwise they are just counted one by one. */
static mel_status read_groups(files *f, const scoring *s, const score_args *args,
                              const mel_read_options *read, mel_error *err)
{
    const size_t m = s->layout.n_groups > 1 ? s->layout.n_groups : 0;
    if (args->groups == NULL)
        return m == 0
                   ? MEL_OK
                   : cli_fail(err, MEL_EINVAL, "%s is about %zu groups: give --groups FILE", args->metric, m);
    mel_status status = one_column(&f->table[2], args->groups, read, err);
    if (status == MEL_OK)
        status = mel_table_groups(&f->groups_found, f->table[2], column_of(f->table[2]), err);
    if (status != MEL_OK || m == 0)
        return status;
    return mel_take_groups(&f->groups, f->table[2], column_of(f->table[2]), m,
                           mel_metric_group_names(s->metric), err);
}

static mel_status check_lengths(const files *f, const score_args *args, mel_error *err)
{
    const size_t n = f->truth.n_rows;
    const bool predictions = f->predicted.n_rows != n;
    if (!predictions && (args->groups == NULL || f->groups_found.n_rows == n))
        return MEL_OK;
    return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one row per prediction",
                    args->labels, n, predictions ? args->predictions : args->groups,
                    predictions ? f->predicted.n_rows : f->groups_found.n_rows);
}

static double share_of_positives(const cli_decided *rows, const uint32_t *of, size_t only)
{
    double total = 0.0, positives = 0.0;
    for (size_t i = 0; i < rows->n; i++)
        if (only == SIZE_MAX || of[i] == only) {
            total += 1.0;
            positives += rows->truth[i] == 1;
        }
    return positives / total;
}

/* A row for everybody; with groups that the metric knows nothing of, one for each of them too. */
static mel_status count_rows(scoring *s, const files *f, mel_error *err)
{
    const bool grouped = s->layout.n_groups > 1;
    const size_t further = grouped ? 0 : f->groups_found.n_classes;
    const cli_decided rows = { .n = f->truth.n_rows,
                               .truth = f->truth.code,
                               .predicted = f->predicted.code,
                               .group = grouped ? f->groups.code : NULL,
                               .class_name = (const char *const *)f->classes.name,
                               .group_name = (const char *const *)f->groups.name };
    s->pool.size = mel_layout_size(&s->layout);
    s->pool.name = cli_alloc_zero(1 + further, sizeof *s->pool.name);
    s->pool.value = cli_alloc_zero((1 + further) * s->pool.size, sizeof *s->pool.value);
    s->pool.positives = cli_alloc_zero(1 + further, sizeof *s->pool.positives);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < 1 + further && status == MEL_OK; i++) {
        const size_t only = i == 0 ? SIZE_MAX : i - 1;
        s->pool.name[s->pool.n++] = cli_format("%s", i == 0 ? "all" : f->groups_found.name[i - 1]);
        s->pool.positives[i] = share_of_positives(&rows, f->groups_found.code, only);
        status = cli_count_statistics(s->pool.value + i * s->pool.size, &s->layout, &rows,
                                      f->groups_found.code, only, err);
        if (status != MEL_OK && i > 0)
            status = cli_fail_in(err, status, s->pool.name[i]);
    }
    return status;
}

static mel_status read_predictions(scoring *s, const score_args *args, const mel_read_options *read,
                                   mel_error *err)
{
    files f = { 0 };
    mel_status status = read_classes(&f, s, args, read, err);
    if (status == MEL_OK)
        status = read_groups(&f, s, args, read, err);
    if (status == MEL_OK)
        status = check_lengths(&f, args, err);
    if (status == MEL_OK)
        status = count_rows(s, &f, err);
    files_clear(&f);
    return status;
}

/* Well-known metrics call the classes negative and positive. */
static mel_status read_statistics(scoring *s, const score_args *args, const mel_read_options *read,
                                  mel_error *err)
{
    static const char *const roles[] = { "negative", "positive" };
    if (s->metric != NULL)
        return cli_metric_pool(&s->pool, args->statistics, s->metric, args->prevalence, read, err);
    const cli_pool_about about = { .layout = s->layout, .class_name = roles, .prevalence = args->prevalence };
    return cli_pool_read(&s->pool, args->statistics, &about, read, err);
}

/* --- values ------------------------------------------------------------------------------------- */

/* Named metrics are about two classes and need the share of positives. */
static mel_status named_value(double *out, const char *name, const scoring *s, size_t row, mel_error *err)
{
    mel_named named;
    double parameter = 0.0;
    const mel_status status = mel_named_parse(&named, &parameter, name, err);
    if (status != MEL_OK)
        return status;
    if (!isfinite(s->pool.positives[row]))
        return cli_fail(
            err, MEL_EINVAL,
            "--named %s needs false positives and negatives: give columns fp and fn, a --prevalence, or "
            "--labels and --predictions",
            name);
    const double *value = s->pool.value + row * s->pool.size;
    const mel_counts counts = {
        .tp = value[0],
        .tn = value[1],
        .fn = s->pool.positives[row] - value[0],
        .fp = 1.0 - s->pool.positives[row] - value[1],
    };
    return mel_named_value(out, named, parameter, &counts, err);
}

static mel_status row_values(double *values, const scoring *s, const score_args *args, size_t row,
                             mel_error *err)
{
    size_t at = 0;
    if (s->metric != NULL &&
        mel_metric_value(&values[at++], s->metric, s->pool.value + row * s->pool.size, err) != MEL_OK)
        return cli_fail_in(err, MEL_EDATA, s->pool.name[row]);
    for (size_t i = 0; i < args->named.n; i++) {
        const mel_status status = named_value(&values[at++], args->named.item[i], s, row, err);
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

static void add_json(json_t *array, const scoring *s, size_t row, size_t n, const char *const *names,
                     const double *values)
{
    const double *statistics = s->pool.value + row * s->pool.size;
    json_t *object = json_object();
    cli_put(object, "name", cli_json_text(s->pool.name[row]));
    if (s->layout.coordinates == MEL_BINARY && s->pool.size == 2) {
        cli_put(object, "tp", cli_json_number(statistics[0]));
        cli_put(object, "tn", cli_json_number(statistics[1]));
    } else {
        cli_put(object, "statistics", cli_vector_json(s->pool.size, statistics));
    }
    for (size_t i = 0; i < n; i++)
        cli_put(object, names[i], cli_json_number(values[i]));
    cli_push(array, object);
}

/* Statistics of more than a few numbers are left out of the table. */
static void add_cells(cli_table *table, const scoring *s, size_t row, bool binary, size_t n,
                      const double *values)
{
    cli_table_cell(table, "%s", s->pool.name[row]);
    for (size_t c = 0; binary && c < 2; c++)
        cli_table_cell(table, "%.4f", s->pool.value[2 * row + c]);
    for (size_t j = 0; j < n; j++)
        cli_table_cell(table, "%.6g", values[j]);
}

static mel_status print_values(cli_run *run, const scoring *s, const score_args *args, mel_error *err)
{
    const size_t most = args->named.n + 1;
    const bool binary = s->layout.coordinates == MEL_BINARY && s->pool.size == 2;
    const size_t before = binary ? 3 : 1;
    const char **headers = cli_alloc_zero(most + 3, sizeof *headers);
    double *values = cli_alloc_zero(most, sizeof *values);
    char *align = cli_alloc_zero(most + 4, 1);
    headers[0] = "";
    headers[1] = "TP";
    headers[2] = "TN";
    const size_t n = column_names(headers + before, s, args);
    memset(align, 'r', n + before);
    align[0] = 'l';
    cli_table *table = run->json ? NULL : cli_table_new(align, headers);
    json_t *array = json_array();
    mel_status status = MEL_OK;
    for (size_t i = 0; i < s->pool.n && status == MEL_OK; i++) {
        status = row_values(values, s, args, i, err);
        if (status != MEL_OK)
            break;
        add_json(array, s, i, n, headers + before, values);
        if (table != NULL)
            add_cells(table, s, i, binary, n, values);
    }
    if (status == MEL_OK && s->pool.n > 0 && s->metric != NULL)
        cli_put(run->result, "value", json_incref(json_object_get(json_array_get(array, 0), "value")));
    cli_put(run->result, "scores", array);
    if (table != NULL && status == MEL_OK)
        cli_table_print(table);
    free(align);
    free(values);
    free(headers);
    return status;
}

/* What the statistics are: as the metric says; well-known metrics are about (TP, TN). */
static mel_status settle_layout(scoring *s, const score_args *args, mel_error *err)
{
    static const mel_layout binary = { .kind = MEL_CONFUSION, .coordinates = MEL_BINARY, .n_classes = 2 };
    s->layout = binary;
    if (args->metric == NULL)
        return MEL_OK;
    const mel_status status = cli_load_metric(&s->metric, args->metric, err);
    if (status != MEL_OK)
        return status;
    s->layout = *mel_metric_layout(s->metric);
    if (args->named.n > 0 && !mel_layout_equal(&s->layout, &binary))
        return cli_fail(err, MEL_EINVAL, "--named %s is about binary confusion entries; %s is not",
                        args->named.item[0], args->metric);
    return MEL_OK;
}

static mel_status run_score(cli_run *run, const void *arguments, mel_error *err)
{
    const score_args *args = arguments;
    scoring s = { 0 };
    mel_reader reader = { 0 };
    mel_status status = check_args(args, err);
    if (status == MEL_OK)
        status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK && args->statistics == NULL)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK)
        status = settle_layout(&s, args, err);
    if (status == MEL_OK)
        status = args->statistics != NULL ? read_statistics(&s, args, &reader.options, err)
                                          : read_predictions(&s, args, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = print_values(run, &s, args, err);
    scoring_clear(&s);
    mel_reader_clear(&reader);
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
      .help = "classifiers by their statistics: CSV with a name column and columns called tp, tn, fp, fn "
              "(shares or counts), recall, specificity, precision, ... (two classes), after classes (right "
              "decisions) or true>predicted; or NPY with one row each" },
    { .name = "labels",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, labels),
      .help = "true classes, one column" },
    { .name = "predictions",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, predictions),
      .help =
          "predicted classes, one column: CSV by name; NPY as scikit-learn's predict gives them, or numbers "
          "0, 1, ... of text labels in sorted order" },
    { .name = "groups",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(score_args, groups),
      .help =
          "the group of each row, one column: needed by metrics of groups; for others, values for all and "
          "for each group" },
    CLI_PREVALENCE_OPTION(score_args, prevalence),
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(score_args, naming.positive),
      .help = "the positive class among the labels: what the metric's second class is called there; without "
              "--metric the second in sorted order unless given" },
    { .name = "classes",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(score_args, naming.classes),
      .help = "names that are labels: their order, and of two the second is positive; others: what to call "
              "the labels, in sorted order" },
    { .name = "rename",
      .argument = "OLD=NEW,..",
      .kind = CLI_TEXT,
      .at = offsetof(score_args, naming.rename),
      .help = "what to call the classes of the labels, one by one" },
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
static const score_args defaults = { .prevalence = NAN };

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

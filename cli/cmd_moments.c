/* melicit moments: sums over some of the rows, where no process sees them all. */
#include "command.h"
#include "data/shared.h"
#include "dataset.h"
#include "files.h"
#include "melicit/model.h"
#include "model/shared.h"
#include "moments.h"
#include "output.h"
#include "problem/shared.h"
#include "progress.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *shard, *model, *label, *weights, *out;
    const char *probs, *labels, *groups, *columns, *classifier, *iterate;
    mel_naming naming;
    mel_reading reading;
} moments_args;

/* Lent by the table; NULL: none. */
static mel_status find_weights(const double **weight, const mel_table *table, const char *column,
                               mel_error *err)
{
    *weight = NULL;
    if (column == NULL)
        return MEL_OK;
    const mel_status status = mel_need_column(table, column, "--weights", err);
    if (status != MEL_OK)
        return status;
    *weight = mel_table_numbers(table, mel_table_find(table, column));
    return *weight != NULL
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "%s: column \"%s\" (--weights) is not a column of numbers",
                          mel_table_name(table), column);
}

static mel_status take_labels(mel_labels *out, const mel_table *table, const mel_model *model,
                              const char *column, mel_error *err)
{
    const size_t k = mel_model_classes(model);
    mel_status status = mel_need_column(table, column, "--label", err);
    const char **name = cli_alloc_zero(k, sizeof *name);
    for (size_t c = 0; c < k; c++)
        name[c] = mel_model_class_name(model, c);
    if (status == MEL_OK)
        status = mel_table_labels_as(out, table, column, k, name, err);
    free(name);
    return status;
}

static mel_status take_file(mel_moments **out, const mel_model *model, const char *path, mel_reader *reader,
                            const moments_args *args, const cli_run *run, mel_error *err)
{
    mel_table *table = NULL;
    mel_labels labels = { 0 };
    mel_encoded x = { 0 };
    const double *weight = NULL;
    mel_status status = mel_table_read(&table, path, &reader->options, err);
    if (status == MEL_OK)
        status = take_labels(&labels, table, model, args->label, err);
    if (status == MEL_OK)
        status = find_weights(&weight, table, args->weights, err);
    if (status == MEL_OK)
        status = mel_encode(&x, mel_model_encoder(model), table, err);
    if (status == MEL_OK) {
        status = mel_moments_take(out, model, path, &x.view, labels.code, weight, run->threads, err);
        status = status == MEL_OK ? status : cli_fail_in(err, status, path);
    }
    mel_encoded_clear(&x);
    mel_labels_clear(&labels);
    mel_table_free(table);
    return status != MEL_OK ? status : cli_check_stop(err);
}

/* File by file: one of them is in memory at a time. */
static mel_status take_all(mel_moments **out, const mel_model *model, mel_reader *reader,
                           const moments_args *args, const cli_run *run, mel_error *err)
{
    if (!mel_is_pattern(args->shard))
        return take_file(out, model, args->shard, reader, args, run, err);
    mel_matches files;
    mel_status status = mel_pattern_find(&files, args->shard, err);
    for (size_t i = 0; i < files.n && status == MEL_OK; i++) {
        mel_moments *one = NULL;
        status = take_file(&one, model, files.file[i].name, reader, args, run, err);
        if (status == MEL_OK)
            status = cli_moments_add(out, one, err);
    }
    mel_matches_clear(&files);
    return status;
}

/* How many rows have which score. */
static mel_status count_scores(cli_run *run, const moments_args *args, mel_error *err)
{
    mel_problem_options rows = MEL_PROBLEM_DEFAULTS;
    mel_score_counts *counts = NULL;
    rows.probs = args->probs;
    rows.labels = args->labels;
    rows.groups = args->groups;
    rows.columns = args->columns;
    rows.dataset.label = args->label;
    rows.dataset.naming = args->naming;
    rows.dataset.reading = args->reading;
    rows.resources = cli_resources(run);
    mel_status status = mel_score_counts_of_files(&counts, &rows, err);
    if (status == MEL_OK)
        status = cli_store(args->out, cli_scores_save, counts, err);
    if (status == MEL_OK)
        cli_moments_report(run, mel_score_counts_files(counts), mel_score_counts_rows(counts), args->out);
    mel_score_counts_free(counts);
    return status;
}

/* Sums over a table at a model. */
static mel_status sum_table(mel_moments **out, const moments_args *args, const cli_run *run, mel_error *err)
{
    mel_model *model = NULL;
    mel_reader reader = { 0 };
    mel_status status = mel_model_load(&model, args->model, err);
    if (status == MEL_OK && mel_model_encoder(model) == NULL)
        status =
            cli_fail(err, MEL_EDATA, "%s: the model does not say how a table becomes features", args->model);
    if (status == MEL_OK)
        status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = cli_reader_expect(&reader, mel_model_encoder(model), args->shard, err);
    if (status == MEL_OK)
        status = take_all(out, model, &reader, args, run, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    mel_reader_clear(&reader);
    mel_model_free(model);
    return status;
}

/* Sums over rows of probabilities at a classifier or an iterate. */
static mel_status sum_decisions(mel_moments **out, const moments_args *args, const cli_run *run,
                                mel_error *err)
{
    const cli_moments_job job = { .probs = args->probs,
                                  .labels = args->labels,
                                  .groups = args->groups,
                                  .columns = args->columns,
                                  .label = args->label,
                                  .classifier = args->classifier,
                                  .iterate = args->iterate,
                                  .reading = &args->reading };
    return cli_moments_take(out, &job, run, err);
}

/* What goes with --probs and --labels. */
static mel_status check_probs(const moments_args *args, mel_error *err)
{
    if (args->probs == NULL || args->labels == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "scores and decisions are counted of --probs FILE with --labels FILE");
    if (args->classifier != NULL && args->iterate != NULL)
        return cli_fail(err, MEL_EINVAL, "--classifier and --iterate exclude each other");
    if (args->iterate != NULL && args->groups != NULL)
        return cli_fail(err, MEL_EINVAL, "--groups: an iterate does not look at groups of training rows");
    if ((args->classifier != NULL || args->iterate != NULL) &&
        (args->naming.positive != NULL || args->naming.classes != NULL))
        return cli_fail(err, MEL_EINVAL, "--%s: %s says what the classes are",
                        args->naming.positive != NULL ? "positive" : "classes",
                        args->classifier != NULL ? args->classifier : args->iterate);
    return MEL_OK;
}

/* Sums over a table at a model, or over rows of probabilities. */
static mel_status check_kind(const cli_run *run, const moments_args *args, mel_error *err)
{
    const bool sums = args->shard != NULL || args->model != NULL || args->weights != NULL,
               probs = args->probs != NULL || args->labels != NULL || args->groups != NULL ||
                       args->columns != NULL || args->naming.positive != NULL ||
                       args->naming.classes != NULL || args->classifier != NULL || args->iterate != NULL;
    if (sums && probs)
        return cli_fail(
            err, MEL_EINVAL,
            "--shard and --model sum up for training, --probs and --labels count scores or decisions: give "
            "one of both");
    if (!probs && (args->shard == NULL || args->model == NULL))
        return cli_fail(err, MEL_EINVAL,
                        "give --shard FILE with --model MODEL.json, or --probs with --labels");
    const mel_status status = probs ? check_probs(args, err) : MEL_OK;
    return status == MEL_OK ? cli_moments_check_out(run, args->out, err) : status;
}

static mel_status run_moments(cli_run *run, const void *arguments, mel_error *err)
{
    const moments_args *args = arguments;
    mel_moments *moments = NULL;
    mel_status status = check_kind(run, args, err);
    if (status == MEL_OK && args->probs != NULL && args->classifier == NULL && args->iterate == NULL)
        return count_scores(run, args, err);
    if (status == MEL_OK)
        status = args->probs != NULL ? sum_decisions(&moments, args, run, err)
                                     : sum_table(&moments, args, run, err);
    if (status == MEL_OK)
        status = cli_store(args->out, cli_moments_save, moments, err);
    if (status == MEL_OK)
        status = cli_moments_tell(run, moments, args->out, err);
    mel_moments_free(moments);
    return status;
}

static const cli_option moments_options[] = {
    CLI_ROW(
        moments_args, "shard", INPUT, shard, .argument = "FILE",
        .help =
            "the rows: a table like the one that the model was trained on; 'part-*.csv' is all files that "
            "match, one after the other"),
    CLI_ROW(moments_args, "model", INPUT, model, .argument = "MODEL.json",
            .help =
                "the model to go on from, as melicit train or melicit merge stored it, without calibration"),
    CLI_ROW(moments_args, "label", TEXT, label, .argument = "COL",
            .help = "--shard: the column with the classes; --labels: which column of that file"),
    CLI_ROW(moments_args, "weights", TEXT, weights, .argument = "COL",
            .help = "--shard: a column of numbers: how much each row counts"),
    CLI_ROW(
        moments_args, "probs", INPUT, probs, .argument = "FILE",
        .help =
            "instead of sums for training, how many rows of two classes have which score: class "
            "probabilities, as melicit apply reads them, with --labels; 'p-*.npy' is all files that match"),
    CLI_ROW(moments_args, "labels", INPUT, labels, .argument = "FILE",
            .help = "--probs: the true classes of the rows; to count scores, each file has rows of both"),
    CLI_ROW(moments_args, "classifier", INPUT, classifier, .argument = "CLASSIFIER.json",
            .help =
                "--probs: of any number of classes, what this classifier decides about the rows, as `melicit "
                "apply` or `melicit optimise` stored it: by true class, decision and group"),
    CLI_ROW(moments_args, "iterate", INPUT, iterate, .argument = "FILE",
            .help = "--probs: what `melicit optimise --iterate` wants to know of the training rows next"),
    CLI_ROW(moments_args, "groups", INPUT, groups, .argument = "FILE",
            .help = "--probs: the group of each row"),
    CLI_ROW(moments_args, "columns", TEXT, columns, .argument = "NAMES",
            .help = "--probs without names (NPY), or one column: the class of each column, e.g. yes,no"),
    CLI_ROW(moments_args, "positive", TEXT, naming.positive, .argument = "VALUE",
            .help =
                "--probs: of the two classes the one to be found; the second in sorted order unless given"),
    CLI_ROW(moments_args, "classes", TEXT, naming.classes, .argument = "NAMES",
            .help = "--probs: the order of the classes, or new names for them in sorted order"),
    CLI_ROW(moments_args, "out", OUTPUT, out, .argument = "FILE", .required = true,
            .help = "where the sums go, for melicit merge"),
    { 0 }
};
static const cli_group moments_groups[] = {
    { "Rows", moments_options, 0 },
    { "Reading files", cli_reading_options, offsetof(moments_args, reading) },
    { 0 },
};
static const cli_example moments_examples[] = {
    { "a first model, and the sums over the rows of two files at it",
      "printf 'x,label\\n1,no\\n2,yes\\n3,no\\n4,yes\\n' > part-1.csv && printf "
      "'x,label\\n2,no\\n3,yes\\n5,yes\\n' > "
      "part-2.csv && melicit train --data part-1.csv --test-share 0 --out first.json && melicit moments "
      "--shard "
      "part-1.csv --model first.json --out 1.moments && melicit moments --shard part-2.csv --model "
      "first.json --out "
      "2.moments" },
    { "how many rows of a file have which score, and the best threshold for them",
      "printf 'p\\n0.1\\n0.4\\n0.6\\n0.8\\n' > p.csv && printf 'label\\nno\\nyes\\nno\\nyes\\n' > y.csv && "
      "melicit "
      "moments --probs p.csv --labels y.csv --out scores.moments && melicit apply --scores scores.moments "
      "--named "
      "g-mean --evidence labels" },
    { "what a rule decides about the rows of a file, and the value of a metric on them",
      "printf '{\"format\": \"melicit-classifier\", \"version\": 1, \"classes\": [\"no\", \"yes\"], "
      "\"groups\": [], \"rules\": [{\"gain\": [[1, 0], [0, 2]], \"share\": 1}]}' > rule.json && melicit "
      "moments --probs p.csv --labels y.csv --classifier rule.json --out decided.moments && melicit score "
      "--moments decided.moments --named f1" },
    { 0 },
};
static const moments_args moments_defaults = { .label = "label" };

const cli_command cli_moments = {
    .name = "moments",
    .summary = "sum up some of the rows, where no process sees them all",
    .description =
        "Sums up log-loss, gradient and Hessian of a model on the rows of one file: the map step of "
        "training on more rows than "
        "one machine holds. Each file may be summed by another process on another machine (a "
        "Slurm array, Dask, "
        "Spark, xargs); `melicit merge` adds the sums up and makes the next model. From a model that was "
        "trained on one of the files it takes a few rounds, as many as training on all rows takes steps.\n\n"
        "With --probs and --labels it counts instead how many rows of two classes have which score, by "
        "group and class: `melicit apply --scores` finds thresholds on the merged counts. With --classifier "
        "it "
        "sums up what a classifier decides, for `melicit score --moments`; with --iterate what the next "
        "iteration of `melicit optimise` needs.",
    .groups = moments_groups,
    .examples = moments_examples,
    .args_size = sizeof(moments_args),
    .defaults = &moments_defaults,
    .run = run_moments,
};

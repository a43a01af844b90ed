/* melicit moments and melicit merge: training where no process sees all rows. */
#include "command.h"
#include "data/shared.h"
#include "dataset.h"
#include "files.h"
#include "melicit/model.h"
#include "model/shared.h"
#include "output.h"
#include "problem/shared.h"
#include "progress.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static mel_status save_moments(const void *user, const char *file, mel_error *err)
{
    return mel_moments_save(user, file, err);
}

static mel_status save_scores(const void *user, const char *file, mel_error *err)
{
    return mel_score_counts_save(user, file, err);
}

/* Moves `more` into *all, which may be NULL before. */
static mel_status add_moments(mel_moments **all, mel_moments *more, mel_error *err)
{
    if (*all == NULL) {
        *all = more;
        return MEL_OK;
    }
    mel_moments *both = NULL;
    const mel_status status = mel_moments_merge(&both, *all, more, err);
    mel_moments_free(more);
    if (status == MEL_OK) {
        mel_moments_free(*all);
        *all = both;
    }
    return status;
}

static void report(cli_run *run, size_t n_files, size_t n_rows, const char *out)
{
    char files[CLI_COUNT_SIZE], rows[CLI_COUNT_SIZE];
    if (run->json) {
        cli_put(run->result, "files", cli_json_count(n_files));
        cli_put(run->result, "rows", cli_json_count(n_rows));
        cli_put(run->result, "out", cli_json_text(out));
    } else if (strcmp(out, "-") != 0) {
        cli_print("%s rows of %s file%s: moments in %s\n", cli_count(rows, n_rows), cli_count(files, n_files),
                  n_files == 1 ? "" : "s", out);
    }
}

static void report_moments(cli_run *run, const mel_moments *moments, const char *out)
{
    report(run, mel_moments_files(moments), mel_moments_rows(moments), out);
}

static mel_status check_out(const cli_run *run, const char *out, mel_error *err)
{
    if (strcmp(out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    return cli_out_check(out, err);
}

/* --- moments ------------------------------------------------------------------------------------ */

typedef struct {
    const char *shard, *model, *label, *weights, *out;
    const char *probs, *labels, *groups, *columns;
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
        if (status != MEL_OK) {
            const mel_error why = *err;
            status = cli_fail(err, status, "%s: %s", path, why.text);
        }
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
            status = add_moments(out, one, err);
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
        status = cli_store(args->out, save_scores, counts, err);
    if (status == MEL_OK)
        report(run, mel_score_counts_files(counts), mel_score_counts_rows(counts), args->out);
    mel_score_counts_free(counts);
    return status;
}

/* Sums over a table at a model, or scores with their labels. */
static mel_status check_kind(const cli_run *run, const moments_args *args, mel_error *err)
{
    const bool sums = args->shard != NULL || args->model != NULL || args->weights != NULL,
               scores = args->probs != NULL || args->labels != NULL || args->groups != NULL ||
                        args->columns != NULL || args->naming.positive != NULL ||
                        args->naming.classes != NULL;
    if (sums && scores)
        return cli_fail(
            err, MEL_EINVAL,
            "--shard and --model sum up for training, --probs and --labels count scores: give one "
            "of both");
    if (scores && (args->probs == NULL || args->labels == NULL))
        return cli_fail(err, MEL_EINVAL, "scores are counted of --probs FILE with --labels FILE");
    if (!scores && (args->shard == NULL || args->model == NULL))
        return cli_fail(err, MEL_EINVAL,
                        "give --shard FILE with --model MODEL.json, or --probs with --labels");
    return check_out(run, args->out, err);
}

static mel_status run_moments(cli_run *run, const void *arguments, mel_error *err)
{
    const moments_args *args = arguments;
    mel_model *model = NULL;
    mel_moments *moments = NULL;
    mel_reader reader = { 0 };
    mel_status status = check_kind(run, args, err);
    if (status == MEL_OK && args->probs != NULL)
        return count_scores(run, args, err);
    if (status == MEL_OK)
        status = mel_model_load(&model, args->model, err);
    if (status == MEL_OK && mel_model_encoder(model) == NULL)
        status =
            cli_fail(err, MEL_EDATA, "%s: the model does not say how a table becomes features", args->model);
    if (status == MEL_OK)
        status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = cli_reader_expect(&reader, mel_model_encoder(model), args->shard, err);
    if (status == MEL_OK)
        status = take_all(&moments, model, &reader, args, run, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = cli_store(args->out, save_moments, moments, err);
    if (status == MEL_OK)
        report_moments(run, moments, args->out);
    mel_reader_clear(&reader);
    mel_moments_free(moments);
    mel_model_free(model);
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
            .help = "--probs: the true classes of the rows; each file has rows of both"),
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
        "group and class: `melicit apply --scores` finds thresholds on the merged counts.",
    .groups = moments_groups,
    .examples = moments_examples,
    .args_size = sizeof(moments_args),
    .defaults = &moments_defaults,
    .run = run_moments,
};

/* --- merge -------------------------------------------------------------------------------------- */

typedef struct {
    const char *model, *out;
    double l2, tolerance;
} merge_args;

static mel_status save_model(const void *user, const char *file, mel_error *err)
{
    return mel_model_save(user, file, err);
}

static void report_step(cli_run *run, const mel_moments *moments, const mel_fit_report *fit, const char *out)
{
    const bool converged = fit->reason == MEL_FIT_CONVERGED;
    if (run->json) {
        report_moments(run, moments, out);
        cli_put(run->result, "converged", json_boolean(converged));
        cli_put(run->result, "objective", cli_json_number(fit->objective));
        cli_put(run->result, "log_loss", cli_json_number(fit->log_loss));
        cli_put(run->result, "gradient_norm", cli_json_number(fit->gradient_norm));
    } else if (strcmp(out, "-") != 0) {
        char files[CLI_COUNT_SIZE], rows[CLI_COUNT_SIZE];
        cli_print("%s rows of %s files: log-loss %.6g, largest gradient entry %.2g\n",
                  cli_count(rows, mel_moments_rows(moments)), cli_count(files, mel_moments_files(moments)),
                  fit->log_loss, fit->gradient_norm);
        cli_print(converged ? "The model has converged; it is in %s.\n"
                            : "The next model is in %s: take moments at it, and merge them.\n",
                  out);
    }
}

static mel_status step(cli_run *run, const mel_moments *moments, const merge_args *args, mel_error *err)
{
    mel_model *model = NULL;
    mel_fit_report report;
    mel_fit_options options;
    mel_fit_options_init(&options);
    options.l2 = args->l2;
    options.tolerance = args->tolerance;
    mel_status status = mel_model_load(&model, args->model, err);
    if (status == MEL_OK) {
        status = mel_model_step(model, &report, moments, &options, err);
        if (status != MEL_OK) {
            const mel_error why = *err;
            status = cli_fail(err, status, "%s: %s", args->model, why.text);
        }
    }
    if (status == MEL_OK)
        status = cli_store(args->out, save_model, model, err);
    if (status == MEL_OK)
        report_step(run, moments, &report, args->out);
    mel_model_free(model);
    return status;
}

static mel_status fail_at(mel_error *err, mel_status status, const char *file)
{
    const mel_error why = *err;
    return cli_fail(err, status, "%s: %s", file, why.text);
}

static mel_status merge_scores(cli_run *run, const merge_args *args, mel_error *err)
{
    mel_score_counts *all = NULL;
    mel_status status = MEL_OK;
    if (args->model != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--model: %s has counts of scores, which `melicit apply --scores` reads",
                        run->operand[0]);
    for (size_t i = 0; i < run->n_operands && status == MEL_OK; i++) {
        mel_score_counts *one = NULL, *both = NULL;
        status = mel_score_counts_load(&one, run->operand[i], err);
        if (status == MEL_OK && all == NULL) {
            all = one;
        } else if (status == MEL_OK) {
            status = mel_score_counts_merge(&both, all, one, err);
            status = status == MEL_OK ? status : fail_at(err, status, run->operand[i]);
            mel_score_counts_free(one);
            mel_score_counts_free(all);
            all = both;
        }
    }
    if (status == MEL_OK)
        status = cli_store(args->out, save_scores, all, err);
    if (status == MEL_OK)
        report(run, mel_score_counts_files(all), mel_score_counts_rows(all), args->out);
    mel_score_counts_free(all);
    return status;
}

static mel_status run_merge(cli_run *run, const void *arguments, mel_error *err)
{
    const merge_args *args = arguments;
    mel_moments *all = NULL;
    mel_status status = check_out(run, args->out, err);
    if (status == MEL_OK && run->n_operands == 0)
        status = cli_fail(err, MEL_EINVAL, "give the files that melicit moments made");
    if (status == MEL_OK && mel_score_counts_is(run->operand[0]))
        return merge_scores(run, args, err);
    for (size_t i = 0; i < run->n_operands && status == MEL_OK; i++) {
        mel_moments *one = NULL;
        status = mel_moments_load(&one, run->operand[i], err);
        if (status == MEL_OK) {
            status = add_moments(&all, one, err);
            status = status == MEL_OK ? status : fail_at(err, status, run->operand[i]);
        }
    }
    if (status == MEL_OK && args->model != NULL)
        status = step(run, all, args, err);
    else if (status == MEL_OK)
        status = cli_store(args->out, save_moments, all, err);
    if (status == MEL_OK && args->model == NULL)
        report_moments(run, all, args->out);
    mel_moments_free(all);
    return status;
}

static const cli_option merge_options[] = {
    CLI_ROW(merge_args, "out", OUTPUT, out, .argument = "FILE", .required = true,
            .help = "where the sums of all files go or, with --model, the next model"),
    CLI_ROW(merge_args, "model", INPUT, model, .argument = "MODEL.json",
            .help =
                "the model at which the moments were taken: a Newton step on all rows makes the next one"),
    CLI_ROW(merge_args, "l2", NUMBER, l2, .argument = "X", .high = DBL_MAX,
            .help = "--model: penalty, as of melicit train"),
    CLI_ROW(merge_args, "tolerance", NUMBER, tolerance, .argument = "X", .high = 1, .above_low = true,
            .help = "--model: converged when no gradient entry, divided by the sum of weights, is larger"),
    { 0 }
};
static const cli_group merge_groups[] = { { "Result", merge_options, 0 }, { 0 } };
static const cli_example merge_examples[] = {
    { "the sums of two files, and the model after one step on the rows of both",
      "melicit merge 1.moments 2.moments --out all.moments && melicit merge all.moments --model first.json "
      "--out "
      "second.json" },
    { 0 },
};
static const merge_args merge_defaults = { .l2 = 1, .tolerance = 1e-9 };

const cli_command cli_merge = {
    .name = "merge",
    .summary = "add up what melicit moments made of files of rows",
    .operands = "FILE.moments ...",
    .max_operands = 100000,
    .description = "Merges moments that were taken at one model, or counts of scores of the same classes. In "
                   "any order, and merged in any way, they "
                   "give the same bits: "
                   "sums are kept file by file and added up in the order of the files' names. Rows that "
                   "occur twice, and moments taken at another model, are refused.",
    .groups = merge_groups,
    .examples = merge_examples,
    .args_size = sizeof(merge_args),
    .defaults = &merge_defaults,
    .run = run_merge,
};

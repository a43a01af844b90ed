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

static void report_moments(cli_run *run, const mel_moments *moments, const char *out)
{
    char files[CLI_COUNT_SIZE], rows[CLI_COUNT_SIZE];
    const size_t n = mel_moments_files(moments);
    if (run->json) {
        cli_put(run->result, "files", cli_json_count(n));
        cli_put(run->result, "rows", cli_json_count(mel_moments_rows(moments)));
        cli_put(run->result, "out", cli_json_text(out));
    } else if (strcmp(out, "-") != 0) {
        cli_print("%s rows of %s file%s: moments in %s\n", cli_count(rows, mel_moments_rows(moments)),
                  cli_count(files, n), n == 1 ? "" : "s", out);
    }
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

static mel_status run_moments(cli_run *run, const void *arguments, mel_error *err)
{
    const moments_args *args = arguments;
    mel_model *model = NULL;
    mel_moments *moments = NULL;
    mel_reader reader = { 0 };
    mel_status status = check_out(run, args->out, err);
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
        moments_args, "shard", INPUT, shard, .argument = "FILE", .required = true,
        .help =
            "the rows: a table like the one that the model was trained on; 'part-*.csv' is all files that "
            "match, one after the other"),
    CLI_ROW(moments_args, "model", INPUT, model, .argument = "MODEL.json", .required = true,
            .help =
                "the model to go on from, as melicit train or melicit merge stored it, without calibration"),
    CLI_ROW(moments_args, "label", TEXT, label, .argument = "COL", .help = "the column with the classes"),
    CLI_ROW(moments_args, "weights", TEXT, weights, .argument = "COL",
            .help = "a column of numbers: how much each row counts"),
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
    { 0 },
};
static const moments_args moments_defaults = { .label = "label" };

const cli_command cli_moments = {
    .name = "moments",
    .summary = "sum up some of the rows for training, where no process sees them all",
    .description =
        "Sums up log-loss, gradient and Hessian of a model on the rows of one file: the map step of "
        "training on more rows than "
        "one machine holds. Each file may be summed by another process on another machine (a "
        "Slurm array, Dask, "
        "Spark, xargs); `melicit merge` adds the sums up and makes the next model. From a model that was "
        "trained on one of the files it takes a few rounds, as many as training on all rows takes steps.",
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

static mel_status run_merge(cli_run *run, const void *arguments, mel_error *err)
{
    const merge_args *args = arguments;
    mel_moments *all = NULL;
    mel_status status = check_out(run, args->out, err);
    if (status == MEL_OK && run->n_operands == 0)
        status = cli_fail(err, MEL_EINVAL, "give the files that melicit moments made");
    for (size_t i = 0; i < run->n_operands && status == MEL_OK; i++) {
        mel_moments *one = NULL;
        status = mel_moments_load(&one, run->operand[i], err);
        if (status == MEL_OK) {
            status = add_moments(&all, one, err);
            if (status != MEL_OK) {
                const mel_error why = *err;
                status = cli_fail(err, status, "%s: %s", run->operand[i], why.text);
            }
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
    .summary = "add up the sums of melicit moments and make the next model",
    .operands = "FILE.moments ...",
    .max_operands = 100000,
    .description = "Merges moments that were taken at one model. In any order, and merged in any way, they "
                   "give the same bits: "
                   "sums are kept file by file and added up in the order of the files' names. Rows that "
                   "occur twice, and moments taken at another model, are refused.",
    .groups = merge_groups,
    .examples = merge_examples,
    .args_size = sizeof(merge_args),
    .defaults = &merge_defaults,
    .run = run_merge,
};

/* melicit merge: sums over files of rows, added up; for training with the Newton step on them. */
#include "command.h"
#include "files.h"
#include "melicit/model.h"
#include "model/shared.h"
#include "moments.h"
#include "output.h"
#include "problem/shared.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

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
        cli_moments_report(run, mel_moments_files(moments), mel_moments_rows(moments), out);
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
        status = status == MEL_OK ? status : cli_fail_in(err, status, args->model);
    }
    if (status == MEL_OK)
        status = cli_store(args->out, save_model, model, err);
    if (status == MEL_OK)
        report_step(run, moments, &report, args->out);
    mel_model_free(model);
    return status;
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
            status = status == MEL_OK ? status : cli_fail_in(err, status, run->operand[i]);
            mel_score_counts_free(one);
            mel_score_counts_free(all);
            all = both;
        }
    }
    if (status == MEL_OK)
        status = cli_store(args->out, cli_scores_save, all, err);
    if (status == MEL_OK)
        cli_moments_report(run, mel_score_counts_files(all), mel_score_counts_rows(all), args->out);
    mel_score_counts_free(all);
    return status;
}

static mel_status run_merge(cli_run *run, const void *arguments, mel_error *err)
{
    const merge_args *args = arguments;
    mel_moments *all = NULL;
    mel_status status = cli_moments_check_out(run, args->out, err);
    if (status == MEL_OK && run->n_operands == 0)
        status = cli_fail(err, MEL_EINVAL, "give the files that melicit moments made");
    if (status == MEL_OK && mel_score_counts_is(run->operand[0]))
        return merge_scores(run, args, err);
    for (size_t i = 0; i < run->n_operands && status == MEL_OK; i++) {
        mel_moments *one = NULL;
        status = mel_moments_load(&one, run->operand[i], err);
        if (status == MEL_OK) {
            status = cli_moments_add(&all, one, err);
            status = status == MEL_OK ? status : cli_fail_in(err, status, run->operand[i]);
        }
    }
    if (status == MEL_OK && args->model != NULL && mel_moments_are(all) != MEL_MOMENTS_TRAINING)
        status = cli_fail(err, MEL_EDATA, "--model: %s has no sums for training; merge it without",
                          run->operand[0]);
    if (status == MEL_OK && args->model != NULL)
        status = step(run, all, args, err);
    else if (status == MEL_OK)
        status = cli_store(args->out, cli_moments_save, all, err);
    if (status == MEL_OK && args->model == NULL)
        status = cli_moments_tell(run, all, args->out, err);
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
    { "what a classifier decides about the rows of any number of files",
      "melicit merge decided.moments --out decided.moments --json" },
    { 0 },
};
static const merge_args merge_defaults = { .l2 = 1, .tolerance = 1e-9 };

const cli_command cli_merge = {
    .name = "merge",
    .summary = "add up what melicit moments made of files of rows",
    .operands = "FILE.moments ...",
    .max_operands = 100000,
    .description =
        "Merges moments that were taken at one model, classifier or iterate, or counts of scores of the "
        "same classes. In "
        "any order, and merged in any way, they "
        "give the same bits: "
        "sums are kept file by file and added up in the order of the files' names. Rows that "
        "occur twice, and moments taken at something else, are refused. Of decisions it prints how many "
        "rows of each class and group are decided as what, and how many the probabilities expect.",
    .groups = merge_groups,
    .examples = merge_examples,
    .args_size = sizeof(merge_args),
    .defaults = &merge_defaults,
    .run = run_merge,
};

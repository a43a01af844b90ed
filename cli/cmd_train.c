/* melicit train: logistic regression on a table, measured on rows that it did not see. */
#include "files.h"
#include "output.h"
#include "progress.h"
#include "train_report.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    mel_dataset_options dataset;
    double l2, tolerance;
    uint64_t max_iterations;
    int solver;
    const char *warm, *out;
} train_args;

/* Everything that one training run holds; cleared in one place. */
typedef struct {
    mel_dataset dataset;
    mel_dataset_part parts[MEL_DATASET_PARTS];
    mel_encoder *encoder; /* until the model takes it over */
    mel_model *warm, *model;
    mel_fit_report fit;
    double *probs; /* of the test part */
} training;

static void training_clear(training *t)
{
    mel_dataset_clear(&t->dataset);
    for (size_t p = 0; p < MEL_DATASET_PARTS; p++)
        mel_dataset_part_clear(&t->parts[p]);
    mel_encoder_free(t->encoder);
    mel_model_free(t->warm);
    mel_model_free(t->model);
    free(t->probs);
    *t = (training){ 0 };
}

static mel_status check_args(const cli_run *run, const train_args *args, mel_error *err)
{
    if (args->warm != NULL && strcmp(args->warm, "-") == 0 && strcmp(args->dataset.data, "-") == 0)
        return cli_fail(err, MEL_EINVAL, "--fit warm=- and --data - both need standard input");
    if (args->out == NULL)
        return MEL_OK;
    if (strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    return cli_out_check(args->out, err);
}

/* The warm model must mean the same by its coefficients. */
static mel_status check_warm(const mel_model *warm, const mel_encoder *encoder, const mel_labels *labels,
                             const char *path, mel_error *err)
{
    if (mel_model_classes(warm) != labels->n_classes)
        return cli_fail(err, MEL_EDATA, "%s: the model has %zu classes, the label has %zu (--fit warm)", path,
                        mel_model_classes(warm), labels->n_classes);
    for (size_t c = 0; c < labels->n_classes; c++)
        if (strcmp(mel_model_class_name(warm, c), labels->name[c]) != 0)
            return cli_fail(err, MEL_EDATA, "%s: class %zu is \"%s\", here it is \"%s\" (--fit warm)", path,
                            c + 1, mel_model_class_name(warm, c), labels->name[c]);
    const mel_encoder *old = mel_model_encoder(warm);
    for (size_t j = 0; old != NULL && j < mel_encoder_features(old) && j < mel_encoder_features(encoder); j++)
        if (strcmp(mel_encoder_feature_name(old, j), mel_encoder_feature_name(encoder, j)) != 0)
            return cli_fail(err, MEL_EDATA, "%s: feature %zu is \"%s\", here it is \"%s\" (--fit warm)", path,
                            j + 1, mel_encoder_feature_name(old, j), mel_encoder_feature_name(encoder, j));
    if (mel_model_features(warm) != mel_encoder_features(encoder))
        return cli_fail(err, MEL_EDATA, "%s: the model has %zu features, the data has %zu (--fit warm)", path,
                        mel_model_features(warm), mel_encoder_features(encoder));
    return MEL_OK;
}

/* Without weight there is nothing to fit to, and no mean log-loss. */
static mel_status check_weights(const mel_dataset_part parts[MEL_DATASET_PARTS],
                                const mel_dataset_options *args, mel_error *err)
{
    static const char *const deeds[MEL_DATASET_PARTS] = { "train", "measure" };
    for (size_t p = 0; p < MEL_DATASET_PARTS; p++) {
        const mel_dataset_part *part = &parts[p];
        size_t i = 0;
        while (part->weight != NULL && i < part->n && part->weight[i] == 0)
            i++;
        if (part->n > 0 && i == part->n)
            return cli_fail(err, MEL_EDATA,
                            "%s: column \"%s\" (--weights): the weights of all %zu rows that %s are 0",
                            args->data, args->weights, part->n, deeds[p]);
    }
    return MEL_OK;
}

static mel_status prepare(training *t, const cli_run *run, const train_args *args, mel_error *err)
{
    if (args->warm != NULL)
        TRY(mel_model_load(&t->warm, args->warm, err));
    const mel_resources resources = cli_resources(run);
    TRY(mel_dataset_read(&t->dataset, &args->dataset, &resources, err));
    TRY(mel_dataset_split(t->parts, &t->dataset, args->dataset.test_share, run->seed, err));
    TRY(check_weights(t->parts, &args->dataset, err));
    TRY(mel_dataset_part_learn(&t->encoder, &t->parts[MEL_PART_TRAIN], &args->dataset, err));
    if (t->warm != NULL)
        TRY(check_warm(t->warm, t->encoder, &t->dataset.labels, args->warm, err));
    for (size_t p = 0; p < MEL_DATASET_PARTS; p++)
        TRY(mel_dataset_part_encode(&t->parts[p], t->encoder, err));
    return cli_check_stop(err);
}

static mel_status fit(training *t, const cli_run *run, const train_args *args, mel_error *err)
{
    const mel_dataset_part *train = &t->parts[MEL_PART_TRAIN];
    const mel_labels *labels = &t->dataset.labels;
    mel_fit_options options;
    mel_fit_options_init(&options);
    options.l2 = args->l2;
    options.tolerance = args->tolerance;
    options.max_iterations = (uint32_t)args->max_iterations;
    options.solver = (mel_solver)args->solver;
    options.warm = t->warm;
    options.threads = run->threads;
    options.progress = run->progress;
    TRY(mel_model_fit(&t->model, &t->fit, &train->x.view, train->y, labels->n_classes, train->weight,
                      &options, err));
    TRY(mel_model_set_classes(t->model, (const char *const *)labels->name, err));
    mel_model_set_number_texts(t->model, labels->number_texts);
    mel_model_set_encoder(t->model, t->encoder);
    t->encoder = NULL;
    return cli_check_stop(err);
}

static mel_status measure(training *t, const cli_run *run, mel_error *err)
{
    const mel_dataset_part *test = &t->parts[MEL_PART_TEST];
    if (test->n == 0)
        return MEL_OK;
    const size_t k = t->dataset.labels.n_classes;
    t->probs = cli_alloc_zero(test->n, k * sizeof *t->probs);
    return mel_model_predict(t->probs, t->model, &test->x.view, run->threads, err);
}

static void report(cli_run *run, const training *t, const train_args *args)
{
    const train_report facts = { .dataset = &t->dataset,
                                 .args = &args->dataset,
                                 .parts = t->parts,
                                 .model = t->model,
                                 .fit = &t->fit,
                                 .probs = t->probs,
                                 .out = args->out };
    const mel_encoder *encoder = mel_model_encoder(t->model);
    for (size_t i = 0; i < mel_encoder_dropped(encoder); i++)
        cli_warn(run, "column \"%s\" has no value in the training rows and is left out",
                 mel_encoder_dropped_name(encoder, i));
    if (t->fit.reason == MEL_FIT_BUDGET)
        cli_warn(run,
                 "the fit used up its iterations before it converged; --fit max-iterations=N allows more");
    train_report_fill(run->result, &facts);
    if (!run->json && (args->out == NULL || strcmp(args->out, "-") != 0))
        train_report_say(run->result, &facts);
}

static mel_status run_train(cli_run *run, const void *arguments, mel_error *err)
{
    const train_args *args = arguments;
    MEL_AUTO_CLEAR(training) t = { 0 };
    TRY(check_args(run, args, err));
    TRY(prepare(&t, run, args, err));
    TRY(fit(&t, run, args, err));
    TRY(measure(&t, run, err));
    if (args->out != NULL)
        TRY(cli_store_model(args->out, t.model, err));
    report(run, &t, args);
    return MEL_OK;
}

static const char *const solvers[] = { "auto", "newton", "lbfgs", NULL }; /* as mel_solver */

static const cli_option fit_options[] = {
    CLI_COMMON(train_args, "l2", NUMBER, l2, .argument = "X", .high = DBL_MAX,
               .help = "penalty: X/2 times the sum of squared weights is added to the total log-loss; "
                       "scikit-learn's C is 1/X"),
    CLI_ROW(train_args, "solver", CHOICE, solver, .under = "fit", .choices = solvers,
            .help = "how to minimise; auto takes Newton steps up to 2,000 coefficients and L-BFGS beyond"),
    CLI_ROW(train_args, "tolerance", NUMBER, tolerance, .under = "fit", .argument = "X", .high = 1,
            .above_low = true,
            .help = "stop when no gradient entry, divided by the sum of weights, is larger"),
    CLI_ROW(train_args, "max-iterations", WHOLE, max_iterations, .under = "fit", .argument = "N", .low = 1,
            .high = UINT32_MAX,
            .help = "stop after N Newton steps or gradient evaluations (200 and 20,000 unless given)"),
    CLI_ROW(train_args, "warm", INPUT, warm, .under = "fit", .argument = "MODEL.json",
            .help =
                "start from the coefficients of this model, which must have the same features and classes"),
    { 0 }
};
static const cli_option out_options[] = {
    CLI_COMMON(train_args, "out", OUTPUT, out, .argument = "MODEL.json",
               .help = "store the model, with its encoding, for melicit predict; \"-\" prints it"),
    { 0 }
};
static const cli_group groups[] = {
    { "Data", cli_dataset_options, offsetof(train_args, dataset) },
    { "Model", fit_options, 0 },
    { "Result", out_options, 0 },
    { "Reading files", cli_reading_options, offsetof(train_args, dataset.reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "what is achievable on the bundled mammograms",
      "melicit train --data mammographic_mass --label label --positive malignant" },
    { "store the model", "melicit train --data mammographic_mass --out cancer.json" },
    { "train on every row, for use elsewhere",
      "melicit train --data breast_cancer_diagnostic --test-share 0 --out diagnostic.json" },
    { "results for a program", "melicit train --data breast_cancer_diagnostic --l2 0.1 --json" },
    { 0 },
};
static const train_args defaults = { .dataset = { .label = "label", .test_share = 0.5 },
                                     .l2 = 1,
                                     .tolerance = 1e-9 };

const cli_command cli_train = {
    .name = "train",
    .bare = "data",
    .summary = "fit class probabilities on a table, save the model",
    .description = "Fits a logistic regression (multinomial for more than two classes) to half of a table "
                   "and measures it on the other half. Number columns are standardised, text columns become "
                   "one feature per category, missing cells (empty, ?, NA) are filled in with the median or "
                   "the most frequent text, all as learned on the training rows.\n\n"
                   "For two classes the result shows what is achievable: how many positives are missed and "
                   "how many false alarms are raised when a miss is 1, 2, 5, ... times as bad as a false "
                   "alarm. For more classes it is the confusion matrix of the most probable class.",
    .groups = groups,
    .examples = examples,
    .notes = "The rows that train and those that measure have the same share of every class (and of every "
             "class in every group). melicit apply calibrates probabilities on labelled rows.",
    .args_size = sizeof(train_args),
    .defaults = &defaults,
    .run = run_train,
    .ranks = true,
};

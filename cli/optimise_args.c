/* The options of melicit optimise, and whether they go together. */
#include "optimise_args.h"
#include "files.h"
#include "output.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const methods[] = { "fw-eg", "pi-ew", "plug-in", NULL };
static const char *const steps[] = { "safe", "thesis", "line", NULL };
static const char *const weights[] = { "diagonal", "whole", NULL };
static const char *const probes[] = { "fixed", "constrained", NULL };
static const char *const scales[] = { "basis", "rows", NULL };
static const char *const rules[] = { "mixture", "majority", NULL };
static const char *const takes[] = { "last", "best", NULL };

const char *cli_optimise_program(const char *metric)
{
    return metric != NULL && strncmp(metric, "cmd:", 4) == 0 ? metric + 4 : NULL;
}

/* Options that a method does not read. */
static mel_status check_method(const cli_optimise_args *args, mel_error *err)
{
    const bool plug_in = args->method == CLI_METHOD_PLUG_IN;
    if (plug_in && (args->basis.n > 0 || args->epsilon.n > 0 || args->known || args->weights != 0 ||
                    args->probes != 0 || args->scale != 0 || args->draws > 0))
        return cli_fail(
            err, MEL_EINVAL,
            "--method plug-in has no probes: no --basis, --known, and no --thesis draws, epsilon, matrix, "
            "probes or scale");
    if (plug_in && (args->iterations > 0 || args->step != 0 || args->take != 0))
        return cli_fail(
            err, MEL_EINVAL,
            "--method plug-in goes on until nothing is better, at most --thesis rounds=N times, and "
            "takes the best: no --iterations, --thesis step or take");
    if (args->method == CLI_METHOD_PI && (args->iterations > 0 || args->step != 0))
        return cli_fail(err, MEL_EINVAL,
                        "--method pi-ew takes one full step: no --iterations, no --thesis step");
    return plug_in || args->rounds == UINT64_MAX
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "--thesis rounds goes with --method plug-in");
}

static mel_status check_metric(const cli_run *run, const cli_optimise_args *args, mel_error *err)
{
    const bool program = cli_optimise_program(args->metric) != NULL;
    if ((args->metric == NULL) == (args->compare.oracle == NULL))
        return cli_fail(err, MEL_EINVAL, "give one of --metric and --oracle");
    if (args->out != NULL && strcmp(args->out, "-") == 0 && run->json)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    if (args->labels_only && !program)
        return cli_fail(err, MEL_EINVAL, "--thesis labels-only is for --metric cmd:PROGRAM");
    if (program && args->known)
        return cli_fail(err, MEL_EINVAL, "--known: the gradient of a program is not known");
    if (program && args->files.validation_groups != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--validation-groups: a program that gives the values knows the groups itself");
    if (!program && isfinite(args->time_limit))
        return cli_fail(err, MEL_EINVAL, "--timeout is for --metric cmd:PROGRAM");
    if (!args->labels_only && args->draws > 0)
        return cli_fail(err, MEL_EINVAL, "--thesis draws goes with labels-only");
    const mel_status status = check_method(args, err);
    if (status != MEL_OK)
        return status;
    if (args->entries != NULL && args->weights != MEL_WEIGHT_WHOLE)
        return cli_fail(err, MEL_EINVAL, "--thesis entries goes with matrix=whole");
    return args->out != NULL ? cli_out_check(args->out, err) : MEL_OK;
}

/* Either tables, or files of probabilities and labels; train: those of training rows as well. */
static mel_status check_files(const cli_optimise_files *f, bool train, mel_error *err)
{
    const struct {
        const char *name, *given;
        bool required;
    } rows[] = { { "probs", f->probs, train },
                 { "labels", f->labels, train },
                 { "validation-probs", f->validation_probs, true },
                 { "validation-labels", f->validation_labels, false },
                 { "validation-groups", f->validation_groups, false },
                 { "features", f->features, false },
                 { "validation-features", f->validation_features, false },
                 { "columns", f->columns, false } };
    if ((f->data != NULL) != (f->validation != NULL))
        return cli_fail(err, MEL_EINVAL, "--data and --validation go together");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (f->data != NULL && rows[i].given != NULL)
            return cli_fail(err, MEL_EINVAL, "--%s cannot be combined with --data", rows[i].name);
        if (f->data == NULL && rows[i].required && rows[i].given == NULL)
            return cli_fail(err, MEL_EINVAL, "--%s FILE is required, or --data with --validation",
                            rows[i].name);
    }
    const char *stray = f->model_out != NULL ? "model-out"
                        : f->skip.n > 0      ? "skip"
                        : isfinite(f->l2)    ? "l2"
                                             : NULL;
    if (f->data == NULL && stray != NULL)
        return cli_fail(err, MEL_EINVAL, "--%s goes with --data", stray);
    return f->model_out != NULL ? cli_out_check(f->model_out, err) : MEL_OK;
}

/* Comparisons only: nothing of what values need is read. */
static mel_status check_comparing(const cli_optimise_args *args, mel_error *err)
{
    const struct {
        const char *name;
        bool given;
    } rows[] = { { "basis", args->basis.n > 0 },
                 { "epsilon", args->epsilon.n > 0 },
                 { "known", args->known },
                 { "iterations", args->iterations > 0 },
                 { "method", args->method != 0 },
                 { "step", args->step != 0 },
                 { "weights", args->weights != 0 },
                 { "probes", args->probes != 0 },
                 { "scale", args->scale != 0 },
                 { "take", args->take != 0 },
                 { "rule", args->rule != 0 },
                 { "rounds", args->rounds != UINT64_MAX },
                 { "entries", args->entries != NULL },
                 { "probs", args->files.probs != NULL },
                 { "labels", args->files.labels != NULL },
                 { "features", args->files.features != NULL },
                 { "validation-features", args->files.validation_features != NULL } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (args->compare.oracle != NULL && rows[i].given)
            return cli_fail(err, MEL_EINVAL, "--%s cannot be combined with --oracle", rows[i].name);
    const cli_compare_args *c = &args->compare;
    const char *stray = c->session != NULL     ? "session"
                        : c->noise != NULL     ? "noise"
                        : c->max_questions > 0 ? "max-questions"
                        : c->kinks             ? "kinks"
                        : c->strategy != 0     ? "strategy"
                                               : NULL;
    return c->oracle == NULL && stray != NULL ? cli_fail(err, MEL_EINVAL, "--%s goes with --oracle", stray)
                                              : MEL_OK;
}

mel_status cli_optimise_check(const cli_run *run, const cli_optimise_args *args, mel_error *err)
{
    mel_status status = check_metric(run, args, err);
    if (status == MEL_OK)
        status = check_comparing(args, err);
    const bool train = args->compare.oracle == NULL;
    return status == MEL_OK ? check_files(&args->files, train, err) : status;
}

#define FILE_AT(field) offsetof(cli_optimise_files, field)
static const cli_option file_options[] = {
    { .name = "probs",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(probs),
      .help =
          "class probabilities of the training rows, by any model (CSV by names; NPY in the sorted order of "
          "the labels)" },
    { .name = "labels",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(labels),
      .help = "labels of the training rows, which may be wrong or of another population" },
    { .name = "validation-probs",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_probs),
      .help = "probabilities of the validation rows, by the same model" },
    { .name = "validation-labels",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_labels),
      .help = "labels of the validation rows; not needed when a program gives the values" },
    { .name = "validation-groups",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_groups),
      .help = "groups of the validation rows, for the metric only: the classifier never looks at them" },
    { .name = "features",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(features),
      .help = "features of the training rows, for basis functions" },
    { .name = "validation-features",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation_features),
      .help = "features of the validation rows" },
    { .name = "data",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(data),
      .help = "instead of probabilities: a table, on which a logistic regression is trained; its columns are "
              "features "
              "for basis functions" },
    { .name = "validation",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = FILE_AT(validation),
      .help = "--data: the table of validation rows" },
    { .name = "skip",
      .argument = "COL",
      .kind = CLI_LIST,
      .at = FILE_AT(skip),
      .help = "--data: a column that the model must not read; basis functions may" },
    { .name = "l2",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = FILE_AT(l2),
      .high = 1e12,
      .help = "--data: penalty of the logistic regression; 1 unless given" },
    { .name = "out",
      .under = "fit",
      .argument = "MODEL.json",
      .kind = CLI_OUTPUT,
      .at = FILE_AT(model_out),
      .help = "--data: store the model, which melicit predict applies before the classifier" },
    { .name = "columns",
      .under = "read",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = FILE_AT(columns),
      .help = "probabilities without names (NPY), or one column: the class of each column, e.g. yes,no" },
    { .name = "label",
      .level = MEL_LEVEL_COMMON,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = FILE_AT(label),
      .help =
          "the column of labels; with --data \"label\" unless given, else needed where files have several" },
    { .name = "group",
      .level = MEL_LEVEL_COMMON,
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = FILE_AT(group),
      .help = "the column of groups; with --data the model does not read it, and the metric is about its "
              "groups" },
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = FILE_AT(naming.positive),
      .help = "two classes: the one to be found; by default the second in sorted order" },
    { .name = "classes",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = FILE_AT(naming.classes),
      .help = "order of the classes, or new names for them in sorted order" },
    { .name = "rename",
      .argument = "OLD=NEW,..",
      .kind = CLI_TEXT,
      .at = FILE_AT(naming.rename),
      .help = "what to call classes, one by one" },
    { 0 }
};

static const cli_option own_options[] = {
    { .name = "metric",
      .level = MEL_LEVEL_COMMON,
      .argument = "METRIC",
      .kind = CLI_TEXT,
      .at = offsetof(cli_optimise_args, metric),
      .help = "accuracy, balanced-accuracy, g-mean, macro-f1, min-recall, group-f1, a measure of two classes "
              "(f1, "
              "f2, mcc, ...), a metric file, or cmd:PROGRAM, which reads a line of JSON with the predictions "
              "on the "
              "validation rows and answers a line with the value" },
    { .name = "method",
      .level = MEL_LEVEL_COMMON,
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, method),
      .choices = methods,
      .help = "fw-eg for any metric; pi-ew for linear ones: one elicitation, one rule; plug-in, a baseline: "
              "the gain of each "
              "class by line searches of 9,999 values on the validation rows" },
    { .name = "basis",
      .level = MEL_LEVEL_COMMON,
      .argument = "BASIS",
      .kind = CLI_LIST,
      .at = offsetof(cli_optimise_args, basis),
      .help =
          "basis functions of the weights: default, columns:A,B (0 to 1, or COLUMN=TEXT), columns:* for all, "
          "kmeans:K, rbf:WIDTH (means over the validation rows of each class; rbf:WIDTH,unsquared as the "
          "thesis "
          "prints it; rbf:WIDTH,group), file:F (a matrix of your own instead of --features); several joined "
          "by "
          "+. Given more than once, the set is chosen by cross-fitting. Unless given: default" },
    { .name = "epsilon",
      .under = "thesis",
      .argument = "X",
      .kind = CLI_LIST,
      .at = offsetof(cli_optimise_args, epsilon),
      .help = "how far probes leave the current classifier; 0.001, with labels-only 0.3, unless given; "
              "more than "
              "one: chosen by cross-fitting" },
    { .name = "known",
      .kind = CLI_FLAG,
      .at = offsetof(cli_optimise_args, known),
      .help = "use the gradient of the metric" },
    { .name = "iterations",
      .level = MEL_LEVEL_COMMON,
      .argument = "T",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_optimise_args, iterations),
      .low = 1,
      .high = 1000000,
      .help = "how many, for fw-eg; 50 unless given" },
    { .name = "step",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, step),
      .choices = steps,
      .help = "2/(t+3); 2/(t+2), which can collapse; or the best of the segment on the validation rows" },
    { .name = "rounds",
      .under = "thesis",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_optimise_args, rounds),
      .high = 1000,
      .help = "plug-in, more than two classes: how often at most the gains are searched one after the other "
              "while "
              "all classes decide; 10 unless given; 0: only for pairs of classes, as in the thesis" },
    { .name = "matrix",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, weights),
      .choices = weights,
      .help = "weights for the diagonal of the confusion matrix, or for all of it" },
    { .name = "entries",
      .under = "thesis",
      .argument = "TRUE>PREDICTED,..",
      .kind = CLI_TEXT,
      .at = offsetof(cli_optimise_args, entries),
      .help = "matrix=whole: only these entries have weights" },
    { .name = "probes",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, probes),
      .choices = probes,
      .help = "the fixed probes, or those of the constraint problem (thesis, appendix E.7)" },
    { .name = "scale",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, scale),
      .choices = scales,
      .help = "what sums over training rows are divided by: the sum of their basis function, or the number "
              "of rows "
              "as in the thesis; the same unless functions overlap" },
    { .name = "take",
      .under = "thesis",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, take),
      .choices = takes,
      .help = "the last iterate, or the one that is best on the validation rows" },
    { .name = "rule",
      .kind = CLI_CHOICE,
      .at = offsetof(cli_optimise_args, rule),
      .choices = rules,
      .help = "a mixture, which decides by chance, or the deterministic rule that predicts what most of the "
              "mixture does" },
    { .name = "labels-only",
      .under = "thesis",
      .kind = CLI_FLAG,
      .at = offsetof(cli_optimise_args, labels_only),
      .help = "the program takes hard decisions: {\"labels\": [..]} instead of chances" },
    { .name = "draws",
      .under = "thesis",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_optimise_args, draws),
      .low = 1,
      .high = 1000,
      .help = "labels-only: how often decisions are drawn to average their values; 5 unless given" },
    { .name = "timeout",
      .argument = "S",
      .kind = CLI_NUMBER,
      .at = offsetof(cli_optimise_args, time_limit),
      .high = 1e6,
      .above_low = true,
      .help = "seconds that a program has for one value; 60 unless given" },
    { .name = "out",
      .level = MEL_LEVEL_COMMON,
      .argument = "CLASSIFIER.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(cli_optimise_args, out),
      .help = "store the classifier, also when the metric fails or Ctrl-C stops the run; \"-\" prints it" },
    { 0 }
};
#define COMPARE_AT(field) offsetof(cli_compare_args, field)
static const cli_option compare_options[] = {
    { .name = "oracle",
      .level = MEL_LEVEL_COMMON,
      .argument = "WHO",
      .kind = CLI_TEXT,
      .at = COMPARE_AT(oracle),
      .help = "instead of a metric: who says which of two classifiers is better, ask (a person at the "
              "terminal), browser or browser:PORT (a person, on a page of this machine), cmd:PROGRAM (as for "
              "melicit elicit; it may take days: "
              "the session file keeps "
              "the answers) or sim:METRIC (a measure or a metric file). Only validation rows are needed; "
              "with groups the "
              "classifier has gains of each group" },
    { .name = "strategy",
      .kind = CLI_CHOICE,
      .at = COMPARE_AT(strategy),
      .choices = cli_compare_strategies,
      .help = "one question per step of the gains, or the thesis' local slopes with Frank-Wolfe steps" },
    { .name = "kinks",
      .under = "thesis",
      .kind = CLI_FLAG,
      .at = COMPARE_AT(kinks),
      .help = "signs: also move the gains of groups together and against each other, and ask whether the new "
              "classifier is better; for metrics with kinks" },
    { .name = "noise",
      .argument = "NOISE",
      .kind = CLI_TEXT,
      .at = COMPARE_AT(noise),
      .help = "sim: how it errs, as --noise of melicit elicit" },
    { .name = "max-questions",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = COMPARE_AT(max_questions),
      .low = 1,
      .high = 100000,
      .help = "stop after so many; 40 unless given" },
    { .name = "session",
      .level = MEL_LEVEL_COMMON,
      .argument = "FILE.jsonl",
      .kind = CLI_TEXT,
      .at = COMPARE_AT(session),
      .help = "keep the answers here, each stored before the next question; an existing session continues" },
    { 0 }
};
const cli_group cli_optimise_groups[] = {
    { "Metric and method", own_options, 0 },
    { "Comparisons only", compare_options, offsetof(cli_optimise_args, compare) },
    { "Rows", file_options, offsetof(cli_optimise_args, files) },
    { "Reading files", cli_reading_options, offsetof(cli_optimise_args, files.reading) },
    { 0 },
};
const cli_optimise_args cli_optimise_defaults = { .files = { .l2 = NAN },
                                                  .time_limit = NAN,
                                                  .rounds = UINT64_MAX };

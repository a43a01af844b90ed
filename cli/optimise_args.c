/* The options of melicit optimise, and whether they go together. */
#include "files.h"
#include "optimise.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const methods[] = {
    "fw-eg", "pi-ew", "plug-in", "correct", "importance", "matching", NULL
};
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
    const bool plug_in = args->method == CLI_METHOD_PLUG_IN, corrects = args->method >= CLI_METHOD_CORRECT;
    const bool probed = args->basis.n > 0 || args->epsilon.n > 0 || args->known || args->weights != 0 ||
                        args->probes != 0 || args->scale != 0 || args->draws > 0;
    if (corrects && (probed || args->iterations > 0 || args->step != 0 || args->take != 0))
        return cli_fail(err, MEL_EINVAL,
                        "--method %s corrects the training rows and takes the best rule on them: no --basis, "
                        "--known or --iterations, and no --thesis options",
                        methods[args->method]);
    if (corrects && (cli_optimise_program(args->metric) != NULL || args->files.validation_groups != NULL))
        return cli_fail(err, MEL_EINVAL,
                        "--method %s needs a measure by name or a metric file, without groups: the training "
                        "rows have none, and no program values them",
                        methods[args->method]);
    if ((args->method == CLI_METHOD_CORRECT) != (args->transition != NULL))
        return cli_fail(err, MEL_EINVAL, "--method correct and --transition go together");
    if (plug_in && probed)
        return cli_fail(err, MEL_EINVAL,
                        "--method plug-in has no probes: no --basis, --known, and no --thesis draws, "
                        "epsilon, matrix, probes or scale");
    if (plug_in && (args->iterations > 0 || args->step != 0 || args->take != 0))
        return cli_fail(err, MEL_EINVAL,
                        "--method plug-in goes on until nothing is better, at most --thesis rounds=N times, "
                        "and takes the best: no --iterations, --thesis step or take");
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
    TRY(check_method(args, err));
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
                 { "transition", args->transition != NULL },
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
    TRY(check_metric(run, args, err));
    TRY(check_comparing(args, err));
    const bool train = args->compare.oracle == NULL;
    return check_files(&args->files, train, err);
}

static const cli_option file_options[] = {
    CLI_COMMON(cli_optimise_files, "probs", INPUT, probs, .argument = "FILE",
               .help = "class probabilities of the training rows, by any model (CSV by names; NPY in the "
                       "sorted order of the labels)"),
    CLI_COMMON(cli_optimise_files, "labels", INPUT, labels, .argument = "FILE",
               .help = "labels of the training rows, which may be wrong or of another population"),
    CLI_COMMON(cli_optimise_files, "validation-probs", INPUT, validation_probs, .argument = "FILE",
               .help = "probabilities of the validation rows, by the same model"),
    CLI_COMMON(cli_optimise_files, "validation-labels", INPUT, validation_labels, .argument = "FILE",
               .help = "labels of the validation rows; not needed when a program gives the values"),
    CLI_ROW(cli_optimise_files, "validation-groups", INPUT, validation_groups, .argument = "FILE",
            .help = "groups of the validation rows, for the metric only: the classifier never looks at them"),
    CLI_ROW(cli_optimise_files, "features", INPUT, features, .argument = "FILE",
            .help = "features of the training rows, for basis functions"),
    CLI_ROW(cli_optimise_files, "validation-features", INPUT, validation_features, .argument = "FILE",
            .help = "features of the validation rows"),
    CLI_COMMON(cli_optimise_files, "data", INPUT, data, .argument = "FILE",
               .help = "instead of probabilities: a table, on which a logistic regression is trained; its "
                       "columns are features for basis functions"),
    CLI_COMMON(cli_optimise_files, "validation", INPUT, validation, .argument = "FILE",
               .help = "--data: the table of validation rows"),
    CLI_ROW(cli_optimise_files, "skip", LIST, skip, .argument = "COL",
            .help = "--data: a column that the model must not read; basis functions may"),
    CLI_ROW(cli_optimise_files, "l2", NUMBER, l2, .argument = "X", .high = 1e12,
            .help = "--data: penalty of the logistic regression; 1 unless given"),
    CLI_ROW(cli_optimise_files, "out", OUTPUT, model_out, .under = "fit", .argument = "MODEL.json",
            .help = "--data: store the model, which melicit predict applies before the classifier"),
    CLI_ROW(cli_optimise_files, "columns", TEXT, columns, .under = "read", .argument = "NAMES",
            .help =
                "probabilities without names (NPY), or one column: the class of each column, e.g. yes,no"),
    CLI_COMMON(
        cli_optimise_files, "label", TEXT, label, .argument = "COL",
        .help =
            "the column of labels; with --data \"label\" unless given, else needed where files have several"),
    CLI_COMMON(cli_optimise_files, "group", TEXT, group, .argument = "COL",
               .help = "the column of groups; with --data the model does not read it, and the metric is "
                       "about its groups"),
    CLI_ROW(cli_optimise_files, "positive", TEXT, naming.positive, .argument = "VALUE",
            .help = "two classes: the one to be found; by default the second in sorted order"),
    CLI_ROW(cli_optimise_files, "classes", TEXT, naming.classes, .argument = "NAMES",
            .help = "order of the classes, or new names for them in sorted order"),
    CLI_ROW(cli_optimise_files, "rename", TEXT, naming.rename, .argument = "OLD=NEW,..",
            .help = "what to call classes, one by one"),
    { 0 }
};

static const cli_option own_options[] = {
    CLI_COMMON(cli_optimise_args, "metric", TEXT, metric, .argument = "METRIC",
               .help = "accuracy, balanced-accuracy, g-mean, macro-f1, min-recall, group-f1, a measure of "
                       "two classes (f1, f2, mcc, ...), a metric file, or cmd:PROGRAM, which reads a line of "
                       "JSON with the predictions on the validation rows and answers a line with the value"),
    CLI_COMMON(
        cli_optimise_args, "method", CHOICE, method, .choices = methods,
        .help = "fw-eg for any metric; pi-ew for linear ones: one elicitation, one rule; plug-in, a "
                "baseline: the gain of each class by line searches of 9,999 values on the validation rows. "
                "Without asking the metric: correct, for labels that flip as --transition says; importance, "
                "for training rows of another population; matching (kernel mean matching), the same, "
                "whatever the labels of the validation rows"),
    CLI_ROW(cli_optimise_args, "transition", TEXT, transition, .argument = "FILE|clean|sure",
            .help = "correct: how labels flip: a file with a row for each true class and a column for each "
                    "label, whose header names them; by the validation rows, whose labels are right; or by "
                    "the training rows that the model is surest of"),
    CLI_COMMON(cli_optimise_args, "basis", LIST, basis, .argument = "BASIS",
               .help = "basis functions of the weights: default, columns:A,B (0 to 1, or COLUMN=TEXT), "
                       "columns:* for all, kmeans:K, rbf:WIDTH (means over the validation rows of each "
                       "class; rbf:WIDTH,unsquared as the thesis prints it; rbf:WIDTH,group), file:F (a "
                       "matrix of your own instead of --features); several joined by +. Given more than "
                       "once, the set is chosen by cross-fitting. Unless given: default"),
    CLI_ROW(cli_optimise_args, "epsilon", LIST, epsilon, .under = "thesis", .argument = "X",
            .help = "how far probes leave the current classifier; 0.001, with labels-only 0.3, unless given; "
                    "more than one: chosen by cross-fitting"),
    CLI_ROW(cli_optimise_args, "known", FLAG, known, .help = "use the gradient of the metric"),
    CLI_COMMON(cli_optimise_args, "iterations", WHOLE, iterations, .argument = "T", .low = 1, .high = 1000000,
               .help = "how many, for fw-eg; 50 unless given"),
    CLI_ROW(cli_optimise_args, "step", CHOICE, step, .under = "thesis", .choices = steps,
            .help =
                "2/(t+3); 2/(t+2), which can collapse; or the best of the segment on the validation rows"),
    CLI_ROW(
        cli_optimise_args, "rounds", WHOLE, rounds, .under = "thesis", .argument = "N", .high = 1000,
        .help =
            "plug-in, more than two classes: how often at most the gains are searched one after the other "
            "while all classes decide; 10 unless given; 0: only for pairs of classes, as in the thesis"),
    CLI_ROW(cli_optimise_args, "matrix", CHOICE, weights, .under = "thesis", .choices = weights,
            .help = "weights for the diagonal of the confusion matrix, or for all of it"),
    CLI_ROW(cli_optimise_args, "entries", TEXT, entries, .under = "thesis", .argument = "TRUE>PREDICTED,..",
            .help = "matrix=whole: only these entries have weights"),
    CLI_ROW(cli_optimise_args, "probes", CHOICE, probes, .under = "thesis", .choices = probes,
            .help = "the fixed probes, or those of the constraint problem (thesis, appendix E.7)"),
    CLI_ROW(cli_optimise_args, "scale", CHOICE, scale, .under = "thesis", .choices = scales,
            .help = "what sums over training rows are divided by: the sum of their basis function, or the "
                    "number of rows as in the thesis; the same unless functions overlap"),
    CLI_ROW(cli_optimise_args, "take", CHOICE, take, .under = "thesis", .choices = takes,
            .help = "the last iterate, or the one that is best on the validation rows"),
    CLI_ROW(cli_optimise_args, "rule", CHOICE, rule, .choices = rules,
            .help = "a mixture, which decides by chance, or the deterministic rule that predicts what most "
                    "of the mixture does"),
    CLI_ROW(cli_optimise_args, "labels-only", FLAG, labels_only, .under = "thesis",
            .help = "the program takes hard decisions: {\"labels\": [..]} instead of chances"),
    CLI_ROW(cli_optimise_args, "draws", WHOLE, draws, .under = "thesis", .argument = "N", .low = 1,
            .high = 1000,
            .help = "labels-only: how often decisions are drawn to average their values; 5 unless given"),
    CLI_ROW(cli_optimise_args, "timeout", NUMBER, time_limit, .argument = "S", .high = 1e6, .above_low = true,
            .help = "seconds that a program has for one value; 60 unless given"),
    CLI_COMMON(
        cli_optimise_args, "out", OUTPUT, out, .argument = "CLASSIFIER.json",
        .help = "store the classifier, also when the metric fails or Ctrl-C stops the run; \"-\" prints it"),
    { 0 }
};
static const cli_option compare_options[] = {
    CLI_COMMON(cli_compare_args, "oracle", TEXT, oracle, .argument = "WHO",
               .help = "instead of a metric: who says which of two classifiers is better, ask (a person at "
                       "the terminal), browser or browser:PORT (a person, on a page of this machine), "
                       "cmd:PROGRAM (as for melicit elicit; it may take days: the session file keeps the "
                       "answers) or sim:METRIC (a measure or a metric file). Only validation rows are "
                       "needed; with groups the classifier has gains of each group"),
    CLI_ROW(cli_compare_args, "strategy", CHOICE, strategy, .choices = cli_compare_strategies,
            .help = "one question per step of the gains, or the thesis' local slopes with Frank-Wolfe steps"),
    CLI_ROW(cli_compare_args, "kinks", FLAG, kinks, .under = "thesis",
            .help = "signs: also move the gains of groups together and against each other, and ask whether "
                    "the new classifier is better; for metrics with kinks"),
    CLI_ROW(cli_compare_args, "noise", TEXT, noise, .argument = "NOISE",
            .help = "sim: how it errs, as --noise of melicit elicit"),
    CLI_ROW(cli_compare_args, "max-questions", WHOLE, max_questions, .argument = "N", .low = 1,
            .high = 100000, .help = "stop after so many; 40 unless given"),
    CLI_COMMON(
        cli_compare_args, "session", TEXT, session, .argument = "FILE.jsonl",
        .help = "keep the answers here, each stored before the next question; an existing session continues"),
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

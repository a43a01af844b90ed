/* melicit predict: a stored model or classifier applied to new rows. */
#include "predict.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    const char *model, *data, *classifier, *probs, *columns, *groups, *features, *ids, *out;
    const char *group;
    int as;
    bool decisions, chances;
    double threshold; /* NaN: the most probable class */
    mel_reading reading;
} predict_args;

static const char *const forms[] = { "auto", "npy", "csv", NULL };
enum { AS_AUTO, AS_NPY, AS_CSV };

static mel_status choose_form(bool *csv, const predict_args *args, mel_error *err)
{
    const bool by_name = cli_ends_with(args->out, ".csv") || strcmp(args->out, "-") == 0;
    if (args->as == AS_AUTO && !by_name && !cli_ends_with(args->out, ".npy"))
        return cli_fail(err, MEL_EINVAL,
                        "--out %s: the name does not end in .npy or .csv; --as says what to write",
                        args->out);
    *csv = args->as == AS_AUTO ? by_name : args->as == AS_CSV;
    return MEL_OK;
}

/* A model with its table, a classifier with probabilities, or a classifier with a model and its table. */
static mel_status check_pair(const predict_args *args, mel_error *err)
{
    const bool model = args->model != NULL || args->data != NULL;
    const bool classifier = args->classifier != NULL || args->probs != NULL || args->groups != NULL ||
                            args->features != NULL || args->ids != NULL;
    if (!model && !classifier)
        return cli_fail(err, MEL_EINVAL,
                        "give --model with --data, --classifier with --probs, or --classifier with both "
                        "--model and --data");
    if (model && args->probs != NULL)
        return cli_fail(err, MEL_EINVAL, "give either --probs, or --model with --data");
    if (model && args->model == NULL)
        return cli_fail(err, MEL_EINVAL, "--model MODEL.json is required with --data");
    if (model && args->data == NULL)
        return cli_fail(err, MEL_EINVAL, "--data FILE is required with --model");
    if (classifier && args->classifier == NULL)
        return cli_fail(err, MEL_EINVAL, "--classifier CLASSIFIER.json is required with --%s",
                        args->probs != NULL      ? "probs"
                        : args->groups != NULL   ? "groups"
                        : args->features != NULL ? "features"
                                                 : "ids");
    if (classifier && args->probs == NULL && !model)
        return cli_fail(
            err, MEL_EINVAL,
            "--probs FILE, or --model MODEL.json with --data FILE, is required with --classifier");
    if (args->group != NULL && !(classifier && model))
        return cli_fail(err, MEL_EINVAL, "--group goes with --classifier, --model and --data");
    if (args->group != NULL && args->groups != NULL)
        return cli_fail(err, MEL_EINVAL, "--group and --groups exclude each other");
    if (args->columns != NULL && args->probs == NULL)
        return cli_fail(err, MEL_EINVAL, "--read columns goes with --probs");
    if (args->chances && !classifier)
        return cli_fail(err, MEL_EINVAL, "--chances goes with --classifier");
    if (classifier && (args->decisions || isfinite(args->threshold)))
        return cli_fail(err, MEL_EINVAL, "--decisions and --threshold go with --model");
    return MEL_OK;
}

static mel_status check_args(bool *csv, const cli_run *run, const predict_args *args, mel_error *err)
{
    const char *const in[] = { args->model,  args->data,     args->classifier, args->probs,
                               args->groups, args->features, args->ids };
    static const char *const name[] = { "model", "data", "classifier", "probs", "groups", "features", "ids" };
    const mel_status paired = check_pair(args, err);
    if (paired != MEL_OK)
        return paired;
    if (isfinite(args->threshold) && !args->decisions)
        return cli_fail(err, MEL_EINVAL, "--threshold goes with --decisions");
    for (size_t i = 0, from = SIZE_MAX; i < sizeof in / sizeof *in; i++) {
        if (in[i] == NULL || strcmp(in[i], "-") != 0)
            continue;
        if (from != SIZE_MAX)
            return cli_fail(err, MEL_EINVAL, "--%s - and --%s - both need standard input", name[from],
                            name[i]);
        from = i;
    }
    if (run->json && strcmp(args->out, "-") == 0)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    TRY(choose_form(csv, args, err));
    return cli_out_check(args->out, err);
}

static mel_status run_predict(cli_run *run, const void *arguments, mel_error *err)
{
    const predict_args *args = arguments;
    bool csv = false;
    TRY(check_args(&csv, run, args, err));
    if (args->classifier == NULL)
        return cli_predict_model(run,
                                 &(cli_model_job){ .model = args->model,
                                                   .data = args->data,
                                                   .out = args->out,
                                                   .csv = csv,
                                                   .decisions = args->decisions,
                                                   .threshold = args->threshold,
                                                   .reading = &args->reading },
                                 err);
    const cli_classifier_job job = { .classifier = args->classifier,
                                     .probs = args->probs,
                                     .model = args->model,
                                     .data = args->data,
                                     .group = args->group,
                                     .columns = args->columns,
                                     .groups = args->groups,
                                     .features = args->features,
                                     .ids = args->ids,
                                     .out = args->out,
                                     .csv = csv,
                                     .chances = args->chances,
                                     .reading = &args->reading };
    return cli_predict_classifier(run, &job, err);
}

static const cli_option options[] = {
    CLI_COMMON(predict_args, "model", INPUT, model, .argument = "MODEL.json",
               .help = "the model that melicit train stored; \"-\" reads it from standard input"),
    CLI_COMMON(predict_args, "data", INPUT, data, .argument = "FILE",
               .help = "the rows: a CSV, CSV.gz, NPY or LIBSVM file or all files of 'part-*.csv', \"-\" for "
                       "CSV on standard input, or the name of a bundled data set; columns in any order, "
                       "further columns are ignored"),
    CLI_COMMON(predict_args, "classifier", INPUT, classifier, .argument = "CLASSIFIER.json",
               .help =
                   "a classifier that melicit apply or melicit optimise stored, for decisions about --probs, "
                   "or about --data through --model; where it tosses a coin, --seed says how it falls"),
    CLI_COMMON(
        predict_args, "probs", INPUT, probs, .argument = "FILE",
        .help = "--classifier: class probabilities of the rows, in a file or in all files of 'p-*.npy' (CSV "
                "by names; NPY in the sorted order of the labels; a single column is that of the class it is "
                "named after, or of the positive one if it has no name, or one such as p or score)"),
    CLI_ROW(predict_args, "columns", TEXT, columns, .under = "read", .argument = "NAMES",
            .help = "--probs without names (NPY), or one column: the class of each column, e.g. yes,no"),
    CLI_COMMON(predict_args, "groups", INPUT, groups, .argument = "FILE",
               .help = "--classifier of groups: the group of each row (CSV or NPY with one column)"),
    CLI_ROW(predict_args, "group", TEXT, group, .argument = "COLUMN",
            .help = "the same as a column of --data"),
    CLI_ROW(predict_args, "features", INPUT, features, .argument = "FILE",
            .help = "further columns of the rows: those that basis functions read (melicit optimise), those "
                    "that say how much a row counts (melicit apply --row-cost) unless --data has them"),
    CLI_COMMON(predict_args, "ids", INPUT, ids, .argument = "FILE",
               .help = "--classifier that mixes rules: an id for each row (one column, or the column id); "
                       "the id and --seed decide which rule the row gets, whatever rows it comes with"),
    CLI_COMMON(predict_args, "chances", FLAG, chances,
               .help = "--classifier: instead of tossing coins, write the probability of each decision (a "
                       "column per class)"),
    CLI_COMMON(predict_args, "out", OUTPUT, out, .argument = "FILE", .required = true,
               .help = "where the result goes: P.npy, P.csv, or \"-\" for CSV on standard output"),
    CLI_COMMON(predict_args, "as", CHOICE, as, .choices = forms,
               .help = "what to write; auto goes by the name"),
    CLI_COMMON(predict_args, "decisions", FLAG, decisions,
               .help = "write the most probable class (the first of equals) instead of probabilities: its "
                       "name in CSV; in NPY the class itself where all classes are numbers, else its place "
                       "0, 1, ... in sorted order"),
    CLI_COMMON(predict_args, "threshold", NUMBER, threshold, .argument = "X", .high = 1,
               .help = "with --decisions and two classes: predict the second class from this probability on"),
    { 0 }
};
static const cli_group groups[] = {
    { "Input and output", options, 0 },
    { "Reading files", cli_reading_options, offsetof(predict_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "probabilities for NumPy, one column per class",
      "melicit predict --model cancer.json --data mammographic_mass --out probabilities.npy" },
    { "a decision per row, on the screen",
      "melicit predict --model cancer.json --data mammographic_mass --decisions --out - | head -n 5" },
    { "fewer misses: the second class from a probability of 0.1 on",
      "melicit predict --model cancer.json --data mammographic_mass --decisions --threshold 0.1 --out "
      "d.csv" },
    { "decisions of the classifier that is best for a metric, on probabilities of any model",
      "melicit predict --classifier classifier.json --probs probabilities.npy --out decisions.npy" },
    { 0 },
};
static const predict_args defaults = { .threshold = NAN };

const cli_command cli_predict = {
    .name = "predict",
    .bare = "data",
    .summary = "give probabilities or decisions for new rows",
    .description =
        "Applies a stored model to the rows of a table, or a stored classifier (of melicit apply or melicit "
        "optimise) to probabilities of any model. Tables in CSV files are read in blocks, and the files of a "
        "pattern one after the other, so they may be larger than the memory.",
    .groups = groups,
    .examples = examples,
    .notes = "Probabilities are a matrix of rows x classes (NPY: float64, columns in the sorted order of the "
             "class values, as scikit-learn's classes_, whichever class is positive; CSV: a header of class "
             "names, 17 digits). Decisions are one value per row (CSV: a column \"decision\" of class names; "
             "NPY: the class values where all are numbers, as scikit-learn's predict gives them, else int64 "
             "places in the sorted order of the classes).\n\nCategories that training did not see count as "
             "none of the known ones; a warning says how many such cells there were.",
    .args_size = sizeof(predict_args),
    .defaults = &defaults,
    .run = run_predict,
    .ranks = true,
};

/* melicit predict: a stored model applied to new rows, block by block for CSV files of any size. */
#include "command.h"
#include "data/shared.h"
#include "dataset.h"
#include "files.h"
#include "measure.h"
#include "melicit/model.h"
#include "output.h"
#include "predict_classifier.h"
#include "prediction_file.h"
#include "progress.h"
#include "ranks.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *model, *data, *classifier, *probs, *columns, *groups, *features, *ids, *out;
    const char *group, *costs;
    int as;
    bool decisions, chances;
    double threshold; /* NaN: the most probable class */
    mel_reading reading;
} predict_args;

static const char *const forms[] = { "auto", "npy", "csv", NULL };
enum { AS_AUTO, AS_NPY, AS_CSV };

/* One run; cleared in one place. */
typedef struct {
    mel_model *model;
    size_t k;
    bool csv; /* what is written; else NPY */
    char *path;
    mel_reader reader;
    prediction_file file;
    size_t rows, unseen, imputed;
    size_t *decided; /* rows per class, with --decisions */
} prediction;

static void prediction_clear(prediction *p)
{
    mel_model_free(p->model);
    free(p->path);
    mel_reader_clear(&p->reader);
    prediction_file_abandon(&p->file);
    free(p->decided);
    *p = (prediction){ 0 };
}

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
                            args->features != NULL || args->ids != NULL || args->costs != NULL;
    if (!model && !classifier)
        return cli_fail(
            err, MEL_EINVAL,
            "give --model with --data, --classifier with --probs, or --classifier with both --model and "
            "--data");
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
                        : args->ids != NULL      ? "ids"
                                                 : "costs");
    if (classifier && args->probs == NULL && !model)
        return cli_fail(
            err, MEL_EINVAL,
            "--probs FILE, or --model MODEL.json with --data FILE, is required with --classifier");
    if (args->group != NULL && !(classifier && model))
        return cli_fail(err, MEL_EINVAL, "--group goes with --classifier, --model and --data");
    if (args->group != NULL && args->groups != NULL)
        return cli_fail(err, MEL_EINVAL, "--group and --groups exclude each other");
    if (args->columns != NULL && args->probs == NULL)
        return cli_fail(err, MEL_EINVAL, "--columns goes with --probs");
    if (args->chances && !classifier)
        return cli_fail(err, MEL_EINVAL, "--chances goes with --classifier");
    if (classifier && (args->decisions || isfinite(args->threshold)))
        return cli_fail(err, MEL_EINVAL, "--decisions and --threshold go with --model");
    return MEL_OK;
}

static mel_status check_args(bool *csv, const cli_run *run, const predict_args *args, mel_error *err)
{
    const char *const in[] = { args->model,  args->data,     args->classifier, args->probs,
                               args->groups, args->features, args->ids,        args->costs };
    static const char *const name[] = { "model",  "data",     "classifier", "probs",
                                        "groups", "features", "ids",        "costs" };
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
    const mel_status status = choose_form(csv, args, err);
    return status != MEL_OK ? status : cli_out_check(args->out, err);
}

static mel_status load(prediction *p, const predict_args *args, mel_error *err)
{
    const mel_status status = mel_model_load(&p->model, args->model, err);
    if (status != MEL_OK)
        return status;
    p->k = mel_model_classes(p->model);
    if (mel_model_encoder(p->model) == NULL)
        return cli_fail(err, MEL_EDATA, "%s: the model does not say how a table becomes features",
                        args->model);
    if (isfinite(args->threshold) && p->k != 2)
        return cli_fail(err, MEL_EINVAL, "--threshold is for two classes; %s has %zu", args->model, p->k);
    p->decided = cli_alloc_zero(p->k, sizeof *p->decided);
    return MEL_OK;
}

static uint32_t decide(const predict_args *args, size_t k, const double *probs)
{
    return isfinite(args->threshold) ? probs[1] >= args->threshold : cli_most_probable(k, probs);
}

static mel_status write_rows(prediction *p, const predict_args *args, size_t n, const double *probs,
                             mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t i = 0; status == MEL_OK && i < n; i++) {
        if (args->decisions) {
            const uint32_t code = decide(args, p->k, probs + i * p->k);
            p->decided[code]++;
            status = prediction_file_decision(&p->file, code, err);
        } else {
            status = prediction_file_probabilities(&p->file, probs + i * p->k, err);
        }
    }
    return status;
}

static mel_status predict_block(prediction *p, const cli_run *run, const predict_args *args,
                                const mel_table *block, mel_error *err)
{
    mel_encoded x = { 0 };
    mel_status status = mel_encode(&x, mel_model_encoder(p->model), block, err);
    if (status != MEL_OK)
        return status;
    const size_t n = x.view.n_rows;
    double *probs = cli_alloc_zero(n, p->k * sizeof *probs);
    status = mel_model_predict(probs, p->model, &x.view, run->threads, err);
    if (status == MEL_OK)
        status = write_rows(p, args, n, probs, err);
    p->rows += n;
    p->unseen += x.unseen;
    p->imputed += x.imputed;
    free(probs);
    mel_encoded_clear(&x);
    return status != MEL_OK ? status : cli_check_stop(err);
}

static mel_status open_out(prediction *p, const predict_args *args, size_t rows, mel_error *err)
{
    const char **names = cli_alloc_zero(p->k, sizeof *names);
    for (size_t c = 0; c < p->k; c++)
        names[c] = mel_model_class_name(p->model, c);
    const prediction_shape shape = { .csv = p->csv,
                                     .decisions = args->decisions,
                                     .rows = rows,
                                     .classes = p->k,
                                     .names = names,
                                     .labels = names,
                                     .number_texts = mel_model_number_texts(p->model) };
    const mel_status status = prediction_file_open(&p->file, args->out, &shape, err);
    free(names);
    return status;
}

static mel_status predict_whole(prediction *p, const cli_run *run, const predict_args *args, mel_error *err)
{
    mel_table *table = NULL;
    mel_status status = mel_table_read(&table, p->path, &p->reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&p->reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = open_out(p, args, mel_table_rows(table), err);
    if (status == MEL_OK)
        status = predict_block(p, run, args, table, err);
    mel_table_free(table);
    return status;
}

static mel_status predict_blocks(prediction *p, const cli_run *run, const predict_args *args,
                                 mel_stream *stream, mel_error *err)
{
    enum { BLOCK_ROWS = 65536 };
    mel_status status = MEL_OK;
    mel_table *block = NULL;
    do {
        mel_table_free(block);
        block = NULL;
        if (status == MEL_OK)
            status = mel_stream_next(&block, stream, BLOCK_ROWS, err);
        if (status == MEL_OK && block != NULL)
            status = predict_block(p, run, args, block, err);
    } while (status == MEL_OK && block != NULL);
    mel_table_free(block);
    return status;
}

/* The rows of one CSV file, behind those of the files before it. */
static mel_status predict_file(prediction *p, const cli_run *run, const predict_args *args, const char *path,
                               size_t all_rows, mel_error *err)
{
    mel_stream *stream = NULL;
    mel_status status = mel_stream_open(&stream, path, &p->reader.options, err);
    if (status == MEL_OK && p->file.out.stream == NULL)
        status = cli_reader_check(&p->reader, &args->reading, run, err);
    if (status == MEL_OK && p->file.out.stream == NULL)
        status = open_out(p, args, all_rows > 0 ? all_rows : mel_stream_rows(stream), err);
    if (status == MEL_OK)
        status = predict_blocks(p, run, args, stream, err);
    mel_stream_free(stream);
    return status;
}

/* An NPY file begins with the number of its rows. */
static mel_status count_rows(size_t *rows, const prediction *p, const mel_matches *files, mel_error *err)
{
    mel_status status = MEL_OK;
    mel_read_options read = p->reader.options;
    read.notice.call = NULL;
    for (size_t i = 0; i < files->n && status == MEL_OK; i++) {
        mel_stream *stream = NULL;
        status = mel_stream_open(&stream, files->file[i].name, &read, err);
        *rows += status == MEL_OK ? mel_stream_rows(stream) : 0;
        mel_stream_free(stream);
    }
    return status;
}

static mel_status predict_stream(prediction *p, const cli_run *run, const predict_args *args, mel_error *err)
{
    if (!mel_is_pattern(p->path))
        return predict_file(p, run, args, p->path, 0, err);
    mel_matches files;
    size_t rows = 0;
    mel_status status = mel_pattern_find(&files, p->path, err);
    if (status == MEL_OK && !p->csv)
        status = count_rows(&rows, p, &files, err);
    for (size_t i = 0; i < files.n && status == MEL_OK; i++)
        status = predict_file(p, run, args, files.file[i].name, rows, err);
    mel_matches_clear(&files);
    return status;
}

static void report_json(cli_run *run, const prediction *p, const predict_args *args)
{
    json_t *classes = json_array(), *decided = args->decisions ? json_array() : json_null();
    for (size_t c = 0; c < p->k; c++) {
        cli_push(classes, cli_json_text(mel_model_class_name(p->model, c)));
        if (args->decisions)
            cli_push(decided, cli_json_count(p->decided[c]));
    }
    cli_put(run->result, "model", cli_json_text(args->model));
    cli_put(run->result, "data", cli_json_text(args->data));
    cli_put(run->result, "rows", cli_json_count(p->rows));
    cli_put(run->result, "classes", classes);
    cli_put(run->result, "decisions", decided);
    cli_put(run->result, "threshold", cli_json_number(args->threshold));
    cli_put(run->result, "unseen", cli_json_count(p->unseen));
    cli_put(run->result, "imputed", cli_json_count(p->imputed));
    cli_put(run->result, "out", cli_json_text(args->out));
}

static void report_text(const prediction *p, const predict_args *args)
{
    char number[CLI_COUNT_SIZE];
    cli_print("%s row%s of %s: %s in %s\n", cli_count(number, p->rows), p->rows == 1 ? "" : "s", args->data,
              args->decisions ? "decisions" : "probabilities", args->out);
    if (p->imputed != 0)
        cli_print("  %s missing cell%s filled in as learned in training\n", cli_count(number, p->imputed),
                  p->imputed == 1 ? " was" : "s were");
    for (size_t c = 0; args->decisions && c < p->k; c++) {
        char *name = cli_short(mel_model_class_name(p->model, c), 40);
        cli_print("  %s row%s called \"%s\"\n", cli_count(number, p->decided[c]),
                  p->decided[c] == 1 ? " is" : "s are", name);
        free(name);
    }
}

static mel_status run_predict(cli_run *run, const void *arguments, mel_error *err)
{
    const predict_args *args = arguments;
    prediction p = { 0 };
    mel_status status = check_args(&p.csv, run, args, err);
    if (status == MEL_OK && args->classifier != NULL) {
        const cli_classifier_job job = { .classifier = args->classifier,
                                         .probs = args->probs,
                                         .model = args->model,
                                         .data = args->data,
                                         .group = args->group,
                                         .costs = args->costs,
                                         .columns = args->columns,
                                         .groups = args->groups,
                                         .features = args->features,
                                         .ids = args->ids,
                                         .out = args->out,
                                         .csv = p.csv,
                                         .chances = args->chances,
                                         .reading = &args->reading };
        return cli_predict_classifier(run, &job, err);
    }
    if (status == MEL_OK)
        status = load(&p, args, err);
    if (status == MEL_OK)
        status = cli_reader_init(&p.reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = cli_find_data(&p.path, args->data, err);
    if (status == MEL_OK)
        status = cli_reader_expect(&p.reader, mel_model_encoder(p.model), p.path, err);
    if (status == MEL_OK)
        status = cli_is_csv_file(p.path, args->reading.format) && !cli_ranks_many()
                     ? predict_stream(&p, run, args, err)
                     : predict_whole(&p, run, args, err);
    if (status == MEL_OK)
        status = prediction_file_commit(&p.file, err);
    if (status == MEL_OK) {
        char number[CLI_COUNT_SIZE];
        if (p.unseen != 0)
            cli_warn(run, "%s cell%s of %s hold%s a %s", cli_count(number, p.unseen),
                     p.unseen == 1 ? "" : "s", args->data, p.unseen == 1 ? "s" : "",
                     mel_encoder_columns(mel_model_encoder(p.model)) == 0
                         ? "feature that the training rows did not have: left out"
                         : "category that the training rows did not have: taken as none of the known ones");
        if (run->json)
            report_json(run, &p, args);
        else if (strcmp(args->out, "-") != 0)
            report_text(&p, args);
    }
    prediction_clear(&p);
    return status;
}

static const cli_option options[] = {
    { .name = "model",
      .argument = "MODEL.json",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, model),
      .help = "the model that melicit train stored; \"-\" reads it from standard input" },
    { .name = "data",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, data),
      .help = "the rows: a CSV, CSV.gz, NPY or LIBSVM file or all files of 'part-*.csv', \"-\" for CSV on "
              "standard "
              "input, or the name of a bundled data set; columns in any order, further columns are ignored" },
    { .name = "classifier",
      .argument = "CLASSIFIER.json",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, classifier),
      .help =
          "a classifier that melicit apply or melicit optimise stored, for decisions about --probs, or about "
          "--data through --model; where it tosses a coin, --seed says how it falls" },
    { .name = "probs",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, probs),
      .help = "--classifier: class probabilities of the rows (CSV by names; NPY in the sorted order of the "
              "labels; a single column is that of the class it is named after, or of the positive one if it "
              "has no name, or one such as p or score)" },
    { .name = "columns",
      .argument = "NAMES",
      .kind = CLI_TEXT,
      .at = offsetof(predict_args, columns),
      .help = "--probs without names (NPY), or one column: the class of each column, e.g. yes,no" },
    { .name = "groups",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, groups),
      .help = "--classifier of groups: the group of each row (CSV or NPY with one column)" },
    { .name = "group",
      .argument = "COLUMN",
      .kind = CLI_TEXT,
      .at = offsetof(predict_args, group),
      .help = "the same as a column of --data" },
    { .name = "costs",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, costs),
      .help =
          "--classifier of apply --row-cost: the columns that say how much a row counts, unless --data has "
          "them" },
    { .name = "features",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, features),
      .help = "--classifier with basis functions (melicit optimise): the columns that these read" },
    { .name = "ids",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(predict_args, ids),
      .help = "--classifier that mixes rules: an id for each row (one column, or the column id); the id and "
              "--seed decide "
              "which rule the row gets, whatever rows it comes with" },
    { .name = "chances",
      .kind = CLI_FLAG,
      .at = offsetof(predict_args, chances),
      .help = "--classifier: instead of tossing coins, write the probability of each decision (a column per "
              "class)" },
    { .name = "out",
      .argument = "FILE",
      .kind = CLI_OUTPUT,
      .at = offsetof(predict_args, out),
      .required = true,
      .help = "where the result goes: P.npy, P.csv, or \"-\" for CSV on standard output" },
    { .name = "as",
      .kind = CLI_CHOICE,
      .at = offsetof(predict_args, as),
      .choices = forms,
      .help = "what to write; auto goes by the name" },
    { .name = "decisions",
      .kind = CLI_FLAG,
      .at = offsetof(predict_args, decisions),
      .help =
          "write the most probable class (the first of equals) instead of probabilities: its name in "
          "CSV; in NPY the class itself where all classes are numbers, else its place 0, 1, ... in sorted "
          "order" },
    { .name = "threshold",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(predict_args, threshold),
      .high = 1,
      .help = "with --decisions and two classes: predict the second class from this probability on" },
    { 0 }
};
static const cli_group groups[] = {
    { "Input and output", options, 0 },
    { "Reading files", cli_reading_options, offsetof(predict_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "probabilities for NumPy, one column per class",
      "melicit predict --model cancer.json --data breast_cancer_original --out probabilities.npy" },
    { "a decision per row, on the screen",
      "melicit predict --model cancer.json --data breast_cancer_original --decisions --out - | head -n 5" },
    { "fewer misses: the second class from a probability of 0.1 on",
      "melicit predict --model cancer.json --data breast_cancer_original --decisions --threshold 0.1 --out "
      "d.csv" },
    { "decisions of the classifier that is best for a metric, on probabilities of any model",
      "melicit predict --classifier classifier.json --probs probabilities.npy --out decisions.npy" },
    { 0 },
};
static const predict_args defaults = { .threshold = NAN };

const cli_command cli_predict = {
    .name = "predict",
    .summary = "give probabilities or decisions for new rows",
    .description =
        "Applies a stored model to the rows of a table, or a stored classifier (of melicit apply or melicit "
        "optimise) to probabilities of any model. Tables in CSV files are read in blocks, so they may be "
        "larger "
        "than the memory.",
    .groups = groups,
    .examples = examples,
    .notes =
        "Probabilities are a matrix of rows x classes (NPY: float64, columns in the sorted order of the "
        "class "
        "values, as scikit-learn's classes_, whichever class is positive; CSV: a header of class names, 17 "
        "digits). Decisions are one value per row (CSV: a column \"decision\" of class names; NPY: the class "
        "values where all are numbers, as scikit-learn's predict gives them, else int64 places in the sorted "
        "order of the classes).\n\nCategories that training did not see count as none of the known "
        "ones; a warning says how many such cells there were.",
    .args_size = sizeof(predict_args),
    .defaults = &defaults,
    .run = run_predict,
    .ranks = true,
};

/* melicit corrupt: labels with the noise of the thesis' section 7.2, or rows of another domain, for
 * experiments. */
#include "command.h"
#include "data/shared.h"
#include "dataset.h"
#include "features.h"
#include "files.h"
#include "optimise/shared.h"
#include "output.h"
#include "prediction_file.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *labels, *label, *clusters, *strength, *weights, *out;
    mel_text_list flip;
    uint64_t rows;
    mel_reading reading;
} corrupt_args;

/* One run; cleared in one place. */
typedef struct {
    mel_labels labels, clusters; /* clusters: n_classes 0: none */
    mel_classes classes;
    double *transition;  /* a k x k matrix per cluster */
    cli_features column; /* strength, or weights */
    uint32_t *noisy;
    size_t *row;
    char *column_name; /* of the labels */
} work;

static void work_clear(work *w)
{
    mel_labels_clear(&w->labels);
    mel_labels_clear(&w->clusters);
    mel_classes_clear(&w->classes);
    cli_features_clear(&w->column);
    free(w->transition);
    free(w->noisy);
    free(w->row);
    free(w->column_name);
}

/* --- reading ------------------------------------------------------------------------------------ */

static mel_status read_labels(work *w, const corrupt_args *args, const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    const char *column = NULL;
    mel_status status = cli_read_column(&table, &column, args->labels, args->label, "--label", read, err);
    if (status == MEL_OK)
        status = mel_table_labels(&w->labels, table, column, err);
    if (status == MEL_OK)
        w->column_name = cli_format("%s", column);
    mel_table_free(table);
    return status == MEL_OK
               ? mel_classes_settle(&w->classes, &w->labels, &(mel_naming){ 0 }, args->labels, err)
               : status;
}

static mel_status read_clusters(work *w, const corrupt_args *args, const mel_read_options *read,
                                mel_error *err)
{
    mel_table *table = NULL;
    const char *column = NULL;
    mel_status status =
        cli_read_column(&table, &column, args->clusters, "cluster", "the name \"cluster\"", read, err);
    if (status == MEL_OK)
        status = mel_table_groups(&w->clusters, table, column, err);
    mel_table_free(table);
    if (status == MEL_OK && w->clusters.n_rows != w->labels.n_rows)
        status = cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one cluster per label",
                          args->clusters, w->clusters.n_rows, args->labels, w->labels.n_rows);
    return status;
}

static mel_status read_all(work *w, const cli_run *run, const corrupt_args *args, mel_error *err)
{
    mel_reader reader = { 0 };
    const char *column = args->strength != NULL ? args->strength : args->weights;
    mel_status status = cli_reader_init(&reader, &args->reading, run, err);
    if (status == MEL_OK)
        status = mel_reader_share(&reader, err);
    if (status == MEL_OK && args->labels != NULL)
        status = read_labels(w, args, &reader.options, err);
    if (status == MEL_OK && args->clusters != NULL)
        status = read_clusters(w, args, &reader.options, err);
    if (status == MEL_OK && column != NULL)
        status = cli_features_read(&w->column, column, 0, NULL, w->labels.n_rows, args->labels,
                                   &reader.options, err);
    if (status == MEL_OK && column != NULL && w->column.view.n_columns != 1)
        status = cli_fail(err, MEL_EDATA, "%s: %zu columns of numbers, expected one", column,
                          w->column.view.n_columns);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    mel_reader_clear(&reader);
    return status;
}

/* --- transitions -------------------------------------------------------------------------------- */

static mel_status refuse_flip(const char *text, const work *w, mel_error *err)
{
    return cli_fail(err, MEL_EINVAL,
                    "--flip %s: expected [CLUSTER:]FROM>TO=P with two classes among %s and P from 0 to 1%s",
                    text, mel_name_list(w->classes.n, (const char *const *)w->classes.name).text,
                    w->clusters.n_classes > 0 ? "" : "; a cluster needs --clusters");
}

/* What follows a name and a mark, NULL: the text begins otherwise. */
static const char *after(const char *text, const char *name, char mark)
{
    const size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && text[n] == mark ? text + n + 1 : NULL;
}

/* A way to read "[CLUSTER:]FROM>TO=P". */
typedef struct {
    size_t cluster, from, to; /* cluster: their number where none is named */
    double p;
} flip;

/* Adds the ways to read "FROM>TO=P", of which names may have any marks; how many there are now. */
static size_t read_pair(flip *out, size_t n, const work *w, size_t cluster, const char *text)
{
    for (size_t from = 0; from < w->classes.n; from++) {
        const char *rest = after(text, w->classes.name[from], '>');
        for (size_t to = 0; rest != NULL && to < w->classes.n; to++) {
            const char *number = after(rest, w->classes.name[to], '=');
            char *end = NULL;
            const double p = number != NULL ? strtod(number, &end) : NAN;
            if (number == NULL || end == number || *end != '\0' || !(p >= 0.0 && p <= 1.0) || from == to)
                continue;
            *out = (flip){ cluster, from, to, p };
            n++;
        }
    }
    return n;
}

static mel_status read_flip(flip *out, const work *w, const char *text, mel_error *err)
{
    const size_t clusters = w->clusters.n_classes;
    size_t n = read_pair(out, 0, w, clusters, text);
    for (size_t c = 0; c < clusters; c++) {
        const char *rest = after(text, w->clusters.name[c], ':');
        n = rest != NULL ? read_pair(out, n, w, c, rest) : n;
    }
    if (n > 1)
        return cli_fail(err, MEL_EINVAL,
                        "--flip %s can be read in %zu ways with these names of classes and clusters", text,
                        n);
    return n == 1 ? MEL_OK : refuse_flip(text, w, err);
}

static mel_status add_flip(work *w, const flip *f, mel_error *err)
{
    const size_t k = w->classes.n, clusters = w->clusters.n_classes > 0 ? w->clusters.n_classes : 1;
    const bool one = f->cluster < w->clusters.n_classes;
    for (size_t c = one ? f->cluster : 0; c < (one ? f->cluster + 1 : clusters); c++) {
        double *row = w->transition + (c * k + f->from) * k;
        row[f->from] -= f->p - row[f->to];
        row[f->to] = f->p;
        if (row[f->from] < -1e-12)
            return cli_fail(err, MEL_EINVAL, "--flip: more than all labels \"%s\" would change",
                            w->classes.name[f->from]);
        row[f->from] = row[f->from] < 0.0 ? 0.0 : row[f->from];
    }
    return MEL_OK;
}

static mel_status make_transitions(work *w, const corrupt_args *args, mel_error *err)
{
    const size_t k = w->classes.n, n = w->clusters.n_classes > 0 ? w->clusters.n_classes : 1;
    w->transition = cli_alloc_zero(n * k, k * sizeof *w->transition);
    for (size_t c = 0; c < n * k; c++)
        w->transition[c * k + c % k] = 1.0;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < args->flip.n && status == MEL_OK; i++) {
        flip f = { 0 };
        status = read_flip(&f, w, args->flip.item[i], err);
        if (status == MEL_OK)
            status = add_flip(w, &f, err);
    }
    return status;
}

/* A class that no label has any more is none for whoever reads the file. */
static void warn_vanished(const work *w, const cli_run *run)
{
    size_t *left = cli_alloc_zero(w->classes.n, sizeof *left);
    for (size_t i = 0; i < w->labels.n_rows; i++)
        left[w->noisy[i]]++;
    for (size_t c = 0; c < w->classes.n; c++)
        if (left[c] == 0)
            cli_warn(run, "no label \"%s\" is left: a file without it has a class less", w->classes.name[c]);
    free(left);
}

/* --- writing ------------------------------------------------------------------------------------ */

static mel_status write_labels(const work *w, const corrupt_args *args, mel_error *err)
{
    const prediction_shape shape = { .csv = true,
                                     .decisions = true,
                                     .column = w->column_name,
                                     .classes = w->classes.n,
                                     .names = (const char *const *)w->classes.label,
                                     .labels = (const char *const *)w->classes.label };
    prediction_file file = { 0 };
    mel_status status = prediction_file_open(&file, args->out, &shape, err);
    for (size_t i = 0; i < w->labels.n_rows && status == MEL_OK; i++)
        status = prediction_file_decision(&file, w->noisy[i], err);
    if (status == MEL_OK)
        status = prediction_file_commit(&file, err);
    prediction_file_abandon(&file);
    return status;
}

static mel_status write_rows(const work *w, size_t n, const corrupt_args *args, mel_error *err)
{
    cli_out out = { 0 };
    mel_status status = cli_out_open(&out, args->out, err);
    if (status == MEL_OK)
        (void)fputs("row\n", out.stream);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        if (fprintf(out.stream, "%zu\n", w->row[i] + 1) < 0)
            status = cli_out_failed(&out, err);
    if (status == MEL_OK)
        status = cli_out_commit(&out, err);
    cli_out_abandon(&out);
    return status;
}

/* --- both --------------------------------------------------------------------------------------- */

static mel_status shift_domain(cli_run *run, work *w, const corrupt_args *args, mel_error *err)
{
    const size_t n = w->column.view.n_rows, drawn = args->rows > 0 ? (size_t)args->rows : n;
    w->row = cli_alloc_zero(drawn, sizeof *w->row);
    mel_status status = mel_corrupt_domain(w->row, drawn, n, w->column.value, run->seed, err);
    if (status == MEL_OK)
        status = write_rows(w, drawn, args, err);
    if (status != MEL_OK)
        return status;
    cli_put(run->result, "rows", cli_json_count(drawn));
    if (!run->json && strcmp(args->out, "-") != 0)
        cli_print("%zu rows of %zu drawn: their numbers in %s\n", drawn, n, args->out);
    return MEL_OK;
}

static mel_status change_labels(cli_run *run, work *w, const corrupt_args *args, mel_error *err)
{
    const size_t n = w->labels.n_rows;
    const bool clusters = w->clusters.n_classes > 0;
    size_t changed = 0;
    mel_status status = make_transitions(w, args, err);
    w->noisy = cli_alloc_zero(n, sizeof *w->noisy);
    if (status == MEL_OK)
        status = mel_corrupt_labels(w->noisy, n, w->classes.n, w->labels.code,
                                    clusters ? w->clusters.n_classes : 1, w->clusters.code, w->transition,
                                    w->column.value, run->seed, err);
    if (status == MEL_OK)
        status = write_labels(w, args, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        changed += w->noisy[i] != w->labels.code[i];
    if (status != MEL_OK)
        return status;
    warn_vanished(w, run);
    cli_put(run->result, "rows", cli_json_count(n));
    cli_put(run->result, "changed", cli_json_count(changed));
    if (!run->json && strcmp(args->out, "-") != 0)
        cli_print("%zu of %zu labels changed: %s\n", changed, n, args->out);
    return MEL_OK;
}

static mel_status check_args(const cli_run *run, const corrupt_args *args, mel_error *err)
{
    if ((args->labels != NULL) == (args->weights != NULL))
        return cli_fail(err, MEL_EINVAL, "give either --labels with --flip, or --weights");
    if (args->labels != NULL && args->flip.n == 0)
        return cli_fail(err, MEL_EINVAL, "--flip FROM>TO=P is required with --labels");
    if (args->labels != NULL && args->rows > 0)
        return cli_fail(err, MEL_EINVAL, "--rows goes with --weights");
    if (args->weights != NULL && (args->flip.n > 0 || args->clusters != NULL || args->strength != NULL))
        return cli_fail(err, MEL_EINVAL, "--flip, --clusters and --strength go with --labels");
    if (run->json && strcmp(args->out, "-") == 0)
        return cli_fail(err, MEL_EINVAL, "--out - and --json both need standard output");
    return cli_out_check(args->out, err);
}

static mel_status run_corrupt(cli_run *run, const void *arguments, mel_error *err)
{
    const corrupt_args *args = arguments;
    work w = { 0 };
    mel_status status = check_args(run, args, err);
    if (status == MEL_OK)
        status = read_all(&w, run, args, err);
    if (status == MEL_OK)
        status = args->weights != NULL ? shift_domain(run, &w, args, err) : change_labels(run, &w, args, err);
    work_clear(&w);
    return status;
}

static const cli_option options[] = {
    { .name = "labels",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(corrupt_args, labels),
      .help = "the labels to change: a table with a column of classes" },
    { .name = "label",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(corrupt_args, label),
      .help = "the column of labels where the file has several" },
    { .name = "flip",
      .argument = "FROM>TO=P",
      .kind = CLI_LIST,
      .at = offsetof(corrupt_args, flip),
      .help = "a label FROM becomes TO with probability P; CLUSTER:FROM>TO=P in one cluster only" },
    { .name = "clusters",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(corrupt_args, clusters),
      .help = "cluster-dependent noise: the cluster of each row (one column, or \"cluster\")" },
    { .name = "strength",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(corrupt_args, strength),
      .help = "instance-dependent noise: a number from 0 to 1 per row, by which all probabilities of its "
              "flips are "
              "multiplied" },
    { .name = "weights",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(corrupt_args, weights),
      .help =
          "domain shift instead: how likely each row is to be drawn; the result is a column of row numbers" },
    { .name = "rows",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(corrupt_args, rows),
      .low = 1,
      .high = 1e9,
      .help = "--weights: how many rows to draw; as many as there are unless given" },
    { .name = "out",
      .argument = "FILE.csv",
      .kind = CLI_OUTPUT,
      .at = offsetof(corrupt_args, out),
      .required = true,
      .help = "where the labels, in a column of the same name, or row numbers go; \"-\" is standard output" },
    { 0 }
};
static const cli_group groups[] = {
    { "Noise", options, 0 },
    { "Reading files", cli_reading_options, offsetof(corrupt_args, reading) },
    { 0 },
};
static const cli_example examples[] = {
    { "labels of which 60% of the cats become dogs and 30% of the dogs cats",
      "printf 'animal\\ncat\\ndog\\ncat\\ndog\\ncat\\ndog\\n' > animals.csv && melicit corrupt --labels "
      "animals.csv --flip "
      "'cat>dog=0.6' --flip 'dog>cat=0.3' --out noisy.csv" },
    { "rows of a domain in which the second half is three times as common",
      "printf 'w\\n1\\n1\\n3\\n3\\n' | melicit corrupt --weights - --rows 10 --out -" },
    { 0 },
};
static const corrupt_args defaults = { 0 };

const cli_command cli_corrupt = {
    .name = "corrupt",
    .summary = "make noisy labels, or rows of another domain, for experiments",
    .description =
        "Makes training labels as the noise models of the thesis' section 7.2 do: independent of the row, by "
        "cluster, by instance; or draws rows as another domain would. `melicit optimise` undoes such noise.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(corrupt_args),
    .defaults = &defaults,
    .run = run_corrupt,
};

/* What melicit optimise reads: probabilities and labels of training and validation rows, groups, features,
 * and sets of basis functions; or two tables, of which the first trains a model. */
#include "files.h"
#include "metric_file.h"
#include "optimise.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_optimise_rows_clear(cli_optimise_rows *r)
{
    mel_classes_clear(&r->classes);
    mel_proba_clear(&r->train);
    mel_proba_clear(&r->validation);
    mel_labels_clear(&r->train_labels);
    mel_labels_clear(&r->validation_labels);
    mel_labels_clear(&r->groups);
    mel_shards_clear(&r->train_shards);
    mel_shards_clear(&r->validation_shards);
}

/* Without training rows the labels of the validation rows say what the classes are. */
static const char *first_labels(const cli_optimise_files *files)
{
    return files->labels != NULL ? files->labels : files->validation_labels;
}

/* --- rows --------------------------------------------------------------------------------------- */

static mel_status read_first_labels(cli_optimise_rows *r, const cli_optimise_files *files,
                                    const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    const char *column = NULL;
    mel_labels *labels = files->labels != NULL ? &r->train_labels : &r->validation_labels;
    TRY(cli_read_column(&table, &column, first_labels(files), files->label, "--label", read, err));
    TRY(mel_table_labels(labels, table, column, err));
    return mel_classes_settle(&r->classes, labels, &files->naming, first_labels(files), err);
}

static mel_status read_validation_labels(cli_optimise_rows *r, const cli_optimise_files *files,
                                         const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    const char *column = NULL;
    TRY(cli_read_column(&table, &column, files->validation_labels, files->label, "--label", read, err));
    return mel_classes_decisions(&r->validation_labels, table, column, &r->classes, err);
}

static mel_status read_groups(cli_optimise_rows *r, const cli_optimise_files *files,
                              const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    const char *column = NULL;
    TRY(cli_read_column(&table, &column, files->validation_groups, files->group, "--group", read, err));
    return mel_table_groups(&r->groups, table, column, err);
}

static mel_status read_probabilities(mel_proba *out, const char *path, const cli_optimise_rows *r,
                                     const cli_optimise_files *files, const mel_read_options *read,
                                     mel_error *err)
{
    TRY(mel_proba_read_classes(out, path, &r->classes, read, err));
    if (out->n_classes != r->classes.n)
        return cli_fail(err, MEL_EDATA, "%s has probabilities of %zu classes, %s has %zu", path,
                        out->n_classes, first_labels(files), r->classes.n);
    return mel_proba_order(out, path, files->columns, &r->classes, err);
}

static mel_status check_count(const char *path, size_t n, const char *of, size_t due, mel_error *err)
{
    return n == due
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected as many", path, n, of, due);
}

static mel_status check_counts(const cli_optimise_rows *r, const cli_optimise_files *files, mel_error *err)
{
    if (files->probs != NULL)
        TRY(check_count(files->labels, r->train_labels.n_rows, files->probs, r->train.n_rows, err));
    if (files->validation_labels != NULL)
        TRY(check_count(files->validation_labels, r->validation_labels.n_rows, files->validation_probs,
                        r->validation.n_rows, err));
    if (files->validation_groups != NULL)
        TRY(check_count(files->validation_groups, r->groups.n_rows, files->validation_probs,
                        r->validation.n_rows, err));
    return MEL_OK;
}

mel_status cli_optimise_read(cli_optimise_rows *r, const cli_optimise_files *files, bool judged, cli_run *run,
                             mel_error *err)
{
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    if (files->validation_labels == NULL && !judged)
        return cli_fail(err, MEL_EINVAL,
                        "--validation-labels FILE is required unless a program gives the values");
    TRY(cli_reader_init(&reader, &files->reading, run, err));
    TRY(mel_reader_share(&reader, err));
    reader.options.shards = files->labels != NULL ? &r->train_shards : &r->validation_shards;
    TRY(read_first_labels(r, files, &reader.options, err));
    if (files->probs != NULL)
        TRY(read_probabilities(&r->train, files->probs, r, files, &reader.options, err));
    reader.options.shards = &r->validation_shards;
    TRY(read_probabilities(&r->validation, files->validation_probs, r, files, &reader.options, err));
    if (files->labels != NULL && files->validation_labels != NULL)
        TRY(read_validation_labels(r, files, &reader.options, err));
    if (files->validation_groups != NULL)
        TRY(read_groups(r, files, &reader.options, err));
    TRY(cli_reader_check(&reader, &files->reading, run, err));
    return check_counts(r, files, err);
}

/* --- basis functions ---------------------------------------------------------------------------- */

void cli_optimise_basis_clear(cli_optimise_basis *b)
{
    mel_weight_basis_free(b->basis);
    free(b->train);
    free(b->validation);
}

/* What parts of a text need. */
typedef struct {
    const cli_optimise_files *files;
    const cli_optimise_rows *rows;
    const mel_read_options *read, *read_validation;
    const char *train_file; /* features of the training rows: --features, or F of file:F */
    uint64_t seed;
} basis_source;

static mel_status add_columns(mel_weight_basis *basis, const char *names, const basis_source *source,
                              mel_error *err)
{
    if (strcmp(names, "*") == 0) {
        MEL_AUTO_CLEAR(cli_features) all = { 0 };
        TRY(cli_features_read(&all, source->train_file, 0, NULL, 0, NULL, source->read, err));
        return mel_weight_basis_add_columns(basis, all.view.n_columns, all.view.name, err);
    }
    MEL_AUTO_MEMORY char **name = NULL;
    size_t n = 0;
    TRY(mel_names_split(&name, &n, names, "basis", err));
    return mel_weight_basis_add_columns(basis, n, (const char *const *)name, err);
}

static mel_status add_kmeans(mel_weight_basis *basis, const char *text, const basis_source *source,
                             mel_error *err)
{
    char *end = NULL;
    const long k = strtol(text, &end, 10);
    if (end == text || *end != '\0' || k < 2)
        return cli_fail(err, MEL_EINVAL, "--basis kmeans:%s: expected a number of clusters, 2 or more", text);
    MEL_AUTO_CLEAR(cli_features) train = { 0 };
    TRY(cli_features_read(&train, source->train_file, 0, NULL, source->rows->train.n_rows,
                          source->files->probs, source->read, err));
    return mel_weight_basis_add_kmeans(basis, &train.view, (size_t)k, source->seed, err);
}

/* WIDTH, then "unsquared" and "group" where they are meant. */
static mel_status add_rbf(mel_weight_basis *basis, const char *text, const basis_source *source,
                          mel_error *err)
{
    const cli_optimise_rows *rows = source->rows;
    char **word = NULL, *end = NULL;
    size_t n = 0;
    bool squared = true, by_group = false, known = true;
    mel_status status = mel_names_split(&word, &n, text, "basis", err);
    if (status != MEL_OK)
        return status;
    const double width = mel_to_double(word[0], &end);
    known = *end == '\0' && end != word[0];
    for (size_t i = 1; i < n; i++) {
        squared = squared && strcmp(word[i], "unsquared") != 0;
        by_group = by_group || strcmp(word[i], "group") == 0;
        known = known && (strcmp(word[i], "unsquared") == 0 || strcmp(word[i], "group") == 0);
    }
    free(word);
    if (!known)
        return cli_fail(err, MEL_EINVAL, "--basis rbf:%s: expected a width, then unsquared or group", text);
    const mel_labels *of = by_group ? &rows->groups : &rows->validation_labels;
    if (of->n_rows == 0)
        return cli_fail(err, MEL_EINVAL, "--basis rbf:%s: centres need %s", text,
                        by_group ? "--validation-groups" : "--validation-labels");
    cli_features centres = { 0 };
    status = cli_features_read(&centres, source->files->validation_features, 0, NULL, rows->validation.n_rows,
                               source->files->validation_probs, source->read_validation, err);
    if (status == MEL_OK)
        status = mel_weight_basis_add_rbf(basis, &centres.view, of->code,
                                          by_group ? of->n_classes : rows->classes.n, width, squared, err);
    cli_features_clear(&centres);
    return status;
}

static bool starts_with(const char *text, const char *word, const char **rest)
{
    const size_t n = strlen(word);
    *rest = text + n;
    return strncmp(text, word, n) == 0;
}

static mel_status add_part(mel_weight_basis *basis, const char *text, const basis_source *source,
                           mel_error *err)
{
    const char *rest = NULL;
    if (strcmp(text, "default") == 0)
        return mel_weight_basis_add_default(basis, err);
    if (source->train_file == NULL || source->files->validation_features == NULL)
        return cli_fail(err, MEL_EINVAL, "--basis %s: needs --features and --validation-features", text);
    if (starts_with(text, "columns:", &rest))
        return add_columns(basis, rest, source, err);
    if (starts_with(text, "kmeans:", &rest))
        return add_kmeans(basis, rest, source, err);
    if (starts_with(text, "rbf:", &rest))
        return add_rbf(basis, rest, source, err);
    if (starts_with(text, "file:", &rest))
        return add_columns(basis, "*", source, err);
    return cli_fail(err, MEL_EINVAL,
                    "--basis %s: expected default, columns:A,B, kmeans:K, rbf:WIDTH or file:F, joined by +",
                    text);
}

/* The file of file:F, which stands for --features; NULL: none. Freed by the caller. */
static char *file_of(const char *text)
{
    const char *at = strstr(text, "file:");
    if (at == NULL)
        return NULL;
    const size_t n = strcspn(at + 5, "+");
    return cli_format("%.*s", (int)n, at + 5);
}

static mel_status add_parts(mel_weight_basis *basis, const char *text, const basis_source *source,
                            mel_error *err)
{
    for (const char *at = text; *at != '\0';) {
        const size_t n = strcspn(at, "+");
        MEL_AUTO_MEMORY char *part = cli_format("%.*s", (int)n, at);
        TRY(add_part(basis, part, source, err));
        at += n + (at[n] == '+' ? 1 : 0);
    }
    if (mel_weight_basis_size(basis) == 0)
        return cli_fail(err, MEL_EINVAL, "--basis: expected at least one basis function");
    return MEL_OK;
}

typedef mel_status (*values_of)(double *value, const mel_weight_basis *basis, const mel_feature_rows *rows,
                                size_t n_rows, mel_error *err);

/* Values on rows with features in a file. */
static mel_status take_values(double **value, values_of compute, const mel_weight_basis *basis,
                              const char *path, size_t n_rows, const char *like, const mel_read_options *read,
                              mel_error *err)
{
    cli_features features = { 0 };
    mel_status status = MEL_OK;
    *value = cli_alloc_zero(n_rows, mel_weight_basis_size(basis) * sizeof **value);
    if (mel_weight_basis_reads_features(basis))
        status = cli_features_of_basis(&features, path, basis, n_rows, like, read, err);
    if (status == MEL_OK)
        status = compute(*value, basis, &features.view, n_rows, err);
    if (status == MEL_EDATA && path != NULL && strstr(err->text, path) == NULL) {
        const mel_error why = *err;
        status = cli_fail(err, status, "%s: %s", path, why.text);
    }
    cli_features_clear(&features);
    return status;
}

/* Features of rows that were read already: a pattern has their files. */
static mel_read_options reading_like(const mel_reader *reader, const mel_shards *shards)
{
    mel_read_options read = reader->options;
    read.shards = shards->first != NULL ? (mel_shards *)(uintptr_t)shards : NULL; /* only compared with */
    return read;
}

mel_status cli_optimise_basis_make(cli_optimise_basis *out, const char *text, const cli_optimise_files *files,
                                   const cli_optimise_rows *rows, const cli_run *run, mel_error *err)
{
    char *own = file_of(text);
    mel_reader reader = { 0 };
    out->text = text;
    if (own != NULL && files->features != NULL) {
        free(own);
        return cli_fail(err, MEL_EINVAL, "--basis %s: --features is another file; give one of them", text);
    }
    mel_status status = cli_reader_init(&reader, &files->reading, run, err);
    if (status == MEL_OK)
        status = mel_reader_share(&reader, err);
    const mel_read_options train = reading_like(&reader, &rows->train_shards),
                           validation = reading_like(&reader, &rows->validation_shards);
    const basis_source source = { files,    rows, &train, &validation, own != NULL ? own : files->features,
                                  run->seed };
    if (status == MEL_OK)
        status = mel_weight_basis_new(&out->basis, err);
    if (status == MEL_OK)
        status = add_parts(out->basis, text, &source, err);
    if (status == MEL_OK)
        status = take_values(&out->train, mel_weight_basis_values, out->basis, source.train_file,
                             rows->train.n_rows, files->probs, source.read, err);
    if (status == MEL_OK)
        status = take_values(&out->validation, mel_weight_basis_values_of_centres, out->basis,
                             files->validation_features, rows->validation.n_rows, files->validation_probs,
                             source.read_validation, err);
    mel_reader_clear(&reader);
    free(own);
    return status;
}

/* --- a model trained on one table gives the probabilities of both --- */

static mel_status fit_model(mel_model **model, mel_dataset_part *part, const mel_dataset *dataset,
                            const mel_dataset_options *args, double l2, const cli_run *run, mel_error *err)
{
    MEL_AUTO(mel_encoder) *encoder = NULL;
    mel_fit_options opt;
    mel_fit_options_init(&opt);
    if (isfinite(l2))
        opt.l2 = l2;
    opt.threads = run->threads;
    opt.progress = run->progress;
    TRY(mel_dataset_part_learn(&encoder, part, args, err));
    TRY(mel_dataset_part_encode(part, encoder, err));
    TRY(mel_model_fit(model, NULL, &part->x.view, part->y, dataset->labels.n_classes, NULL, &opt, err));
    TRY(mel_model_set_classes(*model, (const char *const *)dataset->labels.name, err));

    mel_model_set_number_texts(*model, dataset->labels.number_texts);
    mel_model_set_encoder(*model, encoder);
    encoder = NULL;
    return MEL_OK;
}

static mel_status take_probabilities(mel_proba *out, const mel_model *model, const mel_features *x, size_t k,
                                     const cli_run *run, mel_error *err)
{
    *out = (mel_proba){ .n_rows = x->n_rows, .n_classes = k, .n_columns = k };
    out->value = cli_alloc_zero(x->n_rows, k * sizeof *out->value);
    return mel_model_predict(out->value, model, x, run->threads, err);
}

/* Labels and groups of the validation table. */
static mel_status take_codes(cli_optimise_rows *rows, const mel_table *table, const cli_optimise_files *files,
                             const char *label, bool judged, mel_error *err)
{
    if (!judged || mel_table_find(table, label) != SIZE_MAX)
        TRY(mel_classes_decisions(&rows->validation_labels, table, label, &rows->classes, err));
    if (files->group != NULL)
        TRY(mel_table_groups(&rows->groups, table, files->group, err));
    return MEL_OK;
}

static mel_status read_validation_table(cli_optimise_rows *rows, const mel_model *model, const char *path,
                                        const cli_optimise_files *files, const char *label, bool judged,
                                        const cli_run *run, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    MEL_AUTO(mel_table) *table = NULL;
    MEL_AUTO_CLEAR(mel_encoded) x = { 0 };
    TRY(cli_reader_init(&reader, &files->reading, run, err));
    TRY(cli_reader_expect(&reader, mel_model_encoder(model), path, err));
    TRY(mel_table_read(&table, path, &reader.options, err));
    TRY(take_codes(rows, table, files, label, judged, err));
    TRY(mel_encode(&x, mel_model_encoder(model), table, err));
    return take_probabilities(&rows->validation, model, &x.view, rows->classes.n, run, err);
}

mel_status cli_optimise_read_table(cli_optimise_rows *rows, cli_optimise_files *files, char *path[2],
                                   bool judged, cli_run *run, mel_error *err)
{
    const mel_dataset_options args = { .data = files->data,
                                       .label = files->label != NULL ? files->label : "label",
                                       .group = files->group,
                                       .naming = files->naming,
                                       .skip = files->skip,
                                       .reading = files->reading };
    mel_dataset dataset = { 0 };
    mel_dataset_part parts[MEL_DATASET_PARTS] = { 0 };
    mel_model *model = NULL;
    const mel_resources resources = cli_resources(run);
    mel_status status = mel_dataset_read(&dataset, &args, &resources, err);
    if (status == MEL_OK)
        status = cli_find_data(&path[0], files->data, err);
    if (status == MEL_OK)
        status = cli_find_data(&path[1], files->validation, err);
    if (status == MEL_OK)
        status = mel_dataset_split(parts, &dataset, 0.0, run->seed, err);
    if (status == MEL_OK)
        status = fit_model(&model, &parts[MEL_PART_TRAIN], &dataset, &args, files->l2, run, err);
    if (status == MEL_OK && files->model_out != NULL)
        status = cli_store_model(files->model_out, model, err);
    if (status == MEL_OK)
        status = take_probabilities(&rows->train, model, &parts[MEL_PART_TRAIN].x.view,
                                    dataset.labels.n_classes, run, err);
    rows->train_labels = (mel_labels){ .n_rows = parts[MEL_PART_TRAIN].n,
                                       .n_classes = dataset.labels.n_classes,
                                       .code = parts[MEL_PART_TRAIN].y };
    parts[MEL_PART_TRAIN].y = NULL;
    rows->classes = dataset.classes;
    dataset.classes = (mel_classes){ 0 };
    if (status == MEL_OK)
        status = read_validation_table(rows, model, path[1], files, args.label, judged, run, err);
    files->features = path[0];
    files->validation_features = path[1];
    files->probs = files->data;
    files->validation_probs = files->validation;
    mel_model_free(model);
    for (size_t p = 0; p < MEL_DATASET_PARTS; p++)
        mel_dataset_part_clear(&parts[p]);
    mel_dataset_clear(&dataset);
    return status;
}

/* --- the metric, by its name or as a file --- */

static size_t n_groups(const cli_optimise_rows *rows)
{
    return rows->groups.n_classes > 1 ? rows->groups.n_classes : 0;
}

static mel_status load_measure(mel_measure **measure, mel_metric **metric, const char *file,
                               const cli_optimise_rows *rows, cli_run *run, mel_error *err)
{
    const cli_about about = { .with = { .name = (const char *const *)rows->classes.name,
                                        .label = (const char *const *)rows->classes.label,
                                        .group = (const char *const *)rows->groups.name },
                              .classes = &rows->classes,
                              .run = run };
    TRY(cli_load_metric(metric, file, err));
    mel_layout layout = *mel_metric_layout(*metric);
    layout.n_classes = rows->classes.n;
    layout.n_groups = n_groups(rows);
    TRY(cli_match_metric(metric, file, &layout, &about, err));
    return mel_measure_metric(measure, *metric, layout.n_classes, layout.n_groups, err);
}

mel_status cli_optimise_measure(mel_measure **measure, mel_metric **metric, const char *text,
                                const cli_optimise_rows *rows, cli_run *run, mel_error *err)
{
    const bool file = cli_ends_with(text, ".json") || cli_exists(text);
    if (file)
        return load_measure(measure, metric, text, rows, run, err);
    TRY(mel_measure_named(measure, text, rows->classes.n, n_groups(rows), err));
    return cli_check_positive(*measure, text, &rows->classes, err);
}

mel_black_box cli_optimise_box(mel_measure *measure, const cli_optimise_rows *rows)
{
    return mel_measure_box(measure, n_groups(rows) > 0 ? rows->groups.code : NULL);
}

/* Rows that a stored classifier decides about: their probabilities, of a file or of a model, with their
 * groups, features, ids and costs. */
#include "predict.h"

#include "output.h"

#include <stdlib.h>
#include <string.h>

/* --- the classifier ------------------------------------------------------------------------------ */

void cli_decider_clear(cli_decider *d)
{
    mel_classifier_free(d->classifier);
    mel_classes_clear(&d->classes);
    mel_model_free(d->model);
    *d = (cli_decider){ 0 };
}

mel_status cli_decider_load(cli_decider *d, const cli_classifier_job *job, mel_error *err)
{
    TRY(mel_classifier_load(&d->classifier, job->classifier, err));
    d->of = mel_classifier_get(d->classifier);
    TRY(mel_classes_of_names(&d->classes, d->of.n_classes, d->of.class_name,
                             d->of.label != NULL ? d->of.label : d->of.class_name, d->of.number_texts, err));
    if (job->model != NULL)
        TRY(mel_model_load(&d->model, job->model, err));
    if (d->model != NULL && mel_model_encoder(d->model) == NULL)
        return cli_fail(err, MEL_EDATA, "%s: the model does not say how a table becomes features",
                        job->model);
    return MEL_OK;
}

/* --- what belongs to rows ------------------------------------------------------------------------ */

void cli_classified_clear(cli_classified_rows *rows)
{
    mel_proba_clear(&rows->proba);
    mel_table_free(rows->table);
    free(rows->row_cost);
    mel_labels_clear(&rows->groups);
    cli_features_clear(&rows->features);
    mel_labels_clear(&rows->ids);
    free(rows->row_name);
    *rows = (cli_classified_rows){ 0 };
}

static mel_status read_groups(cli_classified_rows *rows, const cli_decider *d, const cli_classifier_job *job,
                              const mel_read_options *read, mel_error *err)
{
    const mel_classifier_parts *c = &d->of;
    const bool given = job->groups != NULL || job->group != NULL, needed = c->n_groups > 1;
    if (given != needed)
        return needed ? cli_fail(err, MEL_EINVAL, "%s decides by groups: give --groups FILE%s",
                                 job->classifier, job->data != NULL ? ", or --group COLUMN of the data" : "")
                      : cli_fail(err, MEL_EINVAL, "--group%s: %s does not know groups",
                                 job->groups != NULL ? "s" : "", job->classifier);
    if (job->group != NULL) {
        const mel_status found = mel_need_column(rows->table, job->group, "--group", err);
        return found == MEL_OK
                   ? mel_take_groups(&rows->groups, rows->table, job->group, c->n_groups, c->group_name, err)
                   : found;
    }
    if (job->groups == NULL)
        return MEL_OK;
    MEL_AUTO(mel_table) *table = NULL;
    const char *column = NULL;
    TRY(mel_table_read(&table, job->groups, read, err));
    TRY(mel_only_column(&column, table, "group", "the name \"group\"", err));
    TRY(mel_take_groups(&rows->groups, table, column, c->n_groups, c->group_name, err));
    if (rows->groups.n_rows != rows->proba.n_rows)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one group per row",
                        job->probs != NULL ? job->probs : job->data, rows->proba.n_rows, job->groups,
                        rows->groups.n_rows);
    return MEL_OK;
}

/* The ids of the rows, texts or numbers. */
static mel_status read_ids(cli_classified_rows *rows, const cli_classifier_job *job,
                           const mel_read_options *read, mel_error *err)
{
    if (job->ids == NULL)
        return MEL_OK;
    MEL_AUTO(mel_table) *table = NULL;
    const char *column = NULL;
    TRY(mel_table_read(&table, job->ids, read, err));
    TRY(mel_only_column(&column, table, "id", "the name \"id\"", err));
    TRY(mel_table_groups(&rows->ids, table, column, err));
    if (rows->ids.n_rows != rows->proba.n_rows)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one id per row",
                        job->probs != NULL ? job->probs : job->data, rows->proba.n_rows, job->ids,
                        rows->ids.n_rows);
    rows->row_name = cli_alloc_zero(rows->ids.n_rows, sizeof *rows->row_name);
    for (size_t i = 0; i < rows->ids.n_rows; i++)
        rows->row_name[i] = rows->ids.name[rows->ids.code[i]];
    return MEL_OK;
}

static mel_status read_features(cli_classified_rows *rows, const cli_decider *d,
                                const cli_classifier_job *job, const mel_read_options *read, mel_error *err)
{
    const mel_weight_basis *basis = d->of.basis;
    const bool reads = basis != NULL && mel_weight_basis_reads_features(basis);
    if (reads && job->features == NULL)
        return cli_fail(err, MEL_EINVAL, "%s decides by features: give --features FILE", job->classifier);
    if (!reads && job->features != NULL && d->of.cost_column == NULL)
        return cli_fail(err, MEL_EINVAL, "--features: %s reads neither features nor costs of rows",
                        job->classifier);
    return reads ? cli_features_of_basis(&rows->features, job->features, basis, rows->proba.n_rows,
                                         job->probs, read, err)
                 : MEL_OK;
}

/* Columns of the table, or of a file of their own. */
static mel_status read_costs(cli_classified_rows *rows, const cli_decider *d, const cli_classifier_job *job,
                             const mel_read_options *read, mel_error *err)
{
    const char *const *column = d->of.cost_column;
    const size_t k = d->of.n_classes, n = rows->proba.n_rows;
    if (column == NULL)
        return MEL_OK;
    const char *file = job->features != NULL ? job->features : job->data;
    MEL_AUTO_MEMORY const char **name = cli_alloc_zero(k, sizeof *name);
    mel_text_list names = { .item = name };
    for (size_t c = 0; c < k; c++)
        if (column[c][0] != '\0' && mel_name_place(column[c], names.n, names.item) == names.n)
            names.item[names.n++] = column[c];
    MEL_AUTO(mel_table) *table = NULL;
    MEL_AUTO_MEMORY double *numbers = NULL;
    MEL_AUTO_MEMORY char *path = NULL;
    TRY(file != NULL
            ? cli_find_data(&path, file, err)
            : cli_fail(err, MEL_EINVAL, "%s weighs rows by their costs: give --features FILE with %s %s",
                       job->classifier, names.n == 1 ? "the column" : "the columns",
                       mel_name_list(names.n, names.item).text));
    TRY(mel_table_read(&table, path, read, err));
    if (mel_table_rows(table) != n)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected the costs of each row", path,
                        mel_table_rows(table), job->probs != NULL ? job->probs : job->data, n);
    TRY(mel_row_costs_read(&numbers, table, &names, job->features != NULL ? "--features" : "--data", err));
    cli_row_costs(&rows->row_cost, n, k, column, &names, numbers);
    return MEL_OK;
}

/* --- probabilities ------------------------------------------------------------------------------- */

static mel_status predict_table(cli_classified_rows *rows, const mel_model *model, const cli_run *run,
                                mel_error *err)
{
    const size_t k = mel_model_classes(model);
    MEL_AUTO_CLEAR(mel_encoded) x = { 0 };
    TRY(mel_encode(&x, mel_model_encoder(model), rows->table, err));
    rows->proba = (mel_proba){ .n_rows = x.view.n_rows, .n_classes = k, .n_columns = k };
    rows->proba.value = cli_alloc_zero(x.view.n_rows, k * sizeof *rows->proba.value);
    rows->proba.name = cli_alloc_zero(k, sizeof *rows->proba.name);
    for (size_t c = 0; c < k; c++)
        rows->proba.name[c] = cli_format("%s", mel_model_class_name(model, c));
    rows->unseen = x.unseen;
    return mel_model_predict(rows->proba.value, model, &x.view, run->threads, err);
}

/* A file without "labels" may have renamed its classes: what their sorted order was is then not known. */
static bool is_order_known(const mel_classes *classes, const mel_classifier_parts *of)
{
    bool sorted = true;
    for (size_t i = 0; i < classes->n; i++)
        sorted = sorted && classes->place[i] == i;
    return sorted || of->label != NULL;
}

static mel_status check_columns(const mel_proba *proba, const mel_classes *classes,
                                const mel_classifier_parts *of, const char *classifier, const char *probs,
                                const char *columns, mel_error *err)
{
    if (is_order_known(classes, of) || proba->name != NULL || proba->n_columns == 1 || columns != NULL)
        return MEL_OK;
    return cli_fail(err, MEL_EINVAL,
                    "%s does not say what the labels of its classes were (no \"labels\"), nor %s which "
                    "column is whose: --read columns=NAMES says it",
                    classifier, probs);
}

/* Checks the order of the rows that are read, and of those that are written. */
static mel_status check_order(const cli_classified_rows *rows, const cli_decider *d,
                              const cli_classifier_job *job, mel_error *err)
{
    const mel_status status =
        check_columns(&rows->proba, &d->classes, &d->of, job->classifier, job->probs, job->columns, err);
    if (status != MEL_OK || is_order_known(&d->classes, &d->of) || job->csv)
        return status;
    return cli_fail(err, MEL_EINVAL,
                    "%s does not say what the labels of its classes were (no \"labels\"), by which NPY files "
                    "are sorted: write CSV, or apply the metric again",
                    job->classifier);
}

static mel_status read_probabilities(cli_classified_rows *rows, const cli_decider *d, const cli_run *run,
                                     const cli_classifier_job *job, const mel_read_options *read,
                                     mel_error *err)
{
    if (d->model == NULL)
        return mel_proba_read_classes(&rows->proba, job->probs, &d->classes, read, err);
    TRY(mel_table_read(&rows->table, job->data, read, err));
    return predict_table(rows, d->model, run, err);
}

mel_status cli_classified_read(cli_classified_rows *rows, const cli_decider *d, const cli_run *run,
                               const cli_classifier_job *job, const mel_read_options *read, mel_error *err)
{
    const mel_classes *columns = &d->classes;
    const char *from = job->probs != NULL ? job->probs : job->model;
    TRY(read_probabilities(rows, d, run, job, read, err));
    if (rows->proba.n_classes != columns->n)
        return cli_fail(err, MEL_EDATA, "%s has probabilities of %zu classes, %s decides between %zu", from,
                        rows->proba.n_classes, job->classifier, columns->n);
    TRY(check_order(rows, d, job, err));
    TRY(mel_proba_order(&rows->proba, from, job->columns, columns, err));
    TRY(read_groups(rows, d, job, read, err));
    TRY(read_features(rows, d, job, read, err));
    TRY(read_ids(rows, job, read, err));
    return read_costs(rows, d, job, read, err);
}

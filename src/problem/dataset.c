/* A labelled table: the columns that play a part in it are found and read. */
#include "data/shared.h"
#include "problem/columns.h"
#include "problem/files.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_status check_columns(const mel_table *table, const mel_dataset_options *opt, mel_error *err)
{
    const struct {
        const char *option, *column;
    } roles[] = { { "--label", opt->label }, { "--group", opt->group }, { "--weights", opt->weights } };
    for (size_t i = 1; i < sizeof roles / sizeof *roles; i++)
        for (size_t j = 0; j < i; j++)
            if (roles[i].column != NULL && roles[j].column != NULL &&
                strcmp(roles[i].column, roles[j].column) == 0)
                return mel_fail(err, MEL_EINVAL, "%s and %s are the same column \"%s\"", roles[j].option,
                                roles[i].option, roles[i].column);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < sizeof roles / sizeof *roles && status == MEL_OK; i++)
        if (roles[i].column != NULL)
            status = mel_need_column(table, roles[i].column, roles[i].option, err);
    for (size_t i = 0; status == MEL_OK && i < opt->skip.n; i++)
        status = mel_need_column(table, opt->skip.item[i], "--skip", err);
    return status;
}

static mel_status read_weights(mel_dataset *dataset, const mel_table *table, const char *name, mel_error *err)
{
    const char *file = mel_table_name(table);
    const double *values = mel_table_numbers(table, mel_table_find(table, name));
    if (values == NULL)
        return mel_fail(err, MEL_EDATA, "%s: column \"%s\" (--weights) is not a column of numbers", file,
                        name);
    double total = 0;
    dataset->weight = mel_alloc(dataset->n_rows, sizeof *dataset->weight);
    if (dataset->weight == NULL)
        return mel_fail_memory(err, "the weights");
    for (size_t i = 0; i < dataset->n_rows; i++) {
        if (!(values[i] >= 0 && values[i] <= DBL_MAX))
            return isnan(values[i])
                       ? mel_fail(err, MEL_EDATA, "%s: row %zu, column \"%s\": the weight is missing", file,
                                  mel_table_row_number(table, i), name)
                       : mel_fail(err, MEL_EDATA, "%s: row %zu, column \"%s\": weight %g is negative", file,
                                  mel_table_row_number(table, i), name, values[i]);
        dataset->weight[i] = values[i];
        total += values[i];
    }
    return total > 0 ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: column \"%s\": all weights are 0", file, name);
}

static mel_status take_roles(mel_dataset *out, const mel_table *table, const mel_dataset_options *opt,
                             mel_error *err)
{
    mel_status status;
    if (opt->label_quantiles != 0)
        status = mel_table_quantile_labels(&out->labels, table, opt->label, opt->label_quantiles, err);
    else
        status = mel_table_labels(&out->labels, table, opt->label, err);
    if (status == MEL_OK)
        status = mel_classes_settle(&out->classes, &out->labels, &opt->naming, mel_table_name(table), err);
    if (status == MEL_OK && opt->group != NULL)
        status = mel_table_groups(&out->groups, table, opt->group, err);
    if (status == MEL_OK && opt->weights != NULL)
        status = read_weights(out, table, opt->weights, err);
    return status;
}

static bool has_part(const mel_dataset_options *opt, const char *name)
{
    const char *const roles[] = { opt->label, opt->group, opt->weights };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i] != NULL && strcmp(roles[i], name) == 0)
            return true;
    for (size_t i = 0; i < opt->skip.n; i++)
        if (strcmp(opt->skip.item[i], name) == 0)
            return true;
    return mel_column_is_meta(name);
}

static mel_status leave_out(mel_dataset *out, size_t column, const char *why, const mel_dataset_options *opt,
                            const mel_notice *notice, mel_error *err)
{
    if (opt->reading.strict)
        return mel_fail(err, MEL_EDATA, "%s: %s (refused: reading is strict)", mel_table_name(out->table),
                        why);
    mel_table_leave_out(out->table, column);
    if (notice->call != NULL)
        notice->call(notice->user, out->path, MEL_FORMAT_AUTO, why, true);
    return MEL_OK;
}

/* Columns that cannot be features, with a warning each. Where no other is left they remain. */
static mel_status leave_unfit_out(mel_dataset *out, const mel_dataset_options *opt, const mel_notice *notice,
                                  mel_error *err)
{
    const size_t n = mel_table_columns(out->table);
    mel_unfit *why = mel_alloc_zero(n, sizeof *why);
    mel_status status = why != NULL ? MEL_OK : mel_fail_memory(err, "the columns of a table");
    size_t fit = 0;
    for (size_t j = 0; j < n && status == MEL_OK; j++)
        if (!has_part(opt, mel_table_column_name(out->table, j))) {
            status = mel_column_unfit(&why[j], out->table, j, &out->labels, err);
            fit += why[j].text[0] == '\0';
        }
    for (size_t j = 0; j < n && status == MEL_OK && fit != 0; j++)
        if (why[j].text[0] != '\0')
            status = leave_out(out, j, why[j].text, opt, notice, err);
    free(why);
    return status;
}

/* The table of the file that was found. */
static mel_status read_table(mel_dataset *out, const mel_input *input, const mel_read_options *read,
                             mel_error *err)
{
    out->path = mel_strdup(input->path);
    const mel_status status =
        out->path != NULL ? mel_input_read(&out->table, input, read, err) : mel_fail_memory(err, "a path");
    out->n_rows = status == MEL_OK ? mel_table_rows(out->table) : 0;
    return status;
}

mel_status mel_dataset_read_with(mel_dataset *out, mel_input *input, const mel_dataset_options *opt,
                                 const mel_resources *resources, mel_error *err)
{
    *out = (mel_dataset){ .path = NULL };
    *input = (mel_input){ .path = NULL };
    mel_reader reader;
    mel_status status = mel_reader_init(&reader, &opt->reading, resources, err);
    if (status == MEL_OK)
        status = mel_input_find(input, "data", opt->data, resources, err);
    if (status == MEL_OK)
        status = read_table(out, input, &reader.options, err);
    if (status == MEL_OK)
        status = mel_reader_check(&reader, &opt->reading, resources, err);
    if (status == MEL_OK)
        status = check_columns(out->table, opt, err);
    if (status == MEL_OK)
        status = take_roles(out, out->table, opt, err);
    if (status == MEL_OK)
        status = leave_unfit_out(out, opt, &resources->notice, err);
    mel_reader_clear(&reader);
    if (status != MEL_OK)
        mel_dataset_clear(out);
    return status;
}

mel_status mel_dataset_read(mel_dataset *out, const mel_dataset_options *opt, const mel_resources *resources,
                            mel_error *err)
{
    mel_input input;
    const mel_status status = mel_dataset_read_with(out, &input, opt, resources, err);
    mel_input_clear(&input);
    return status;
}

void mel_dataset_clear(mel_dataset *dataset)
{
    free(dataset->path);
    mel_table_free(dataset->table);
    mel_labels_clear(&dataset->labels);
    mel_classes_clear(&dataset->classes);
    mel_labels_clear(&dataset->groups);
    free(dataset->weight);
    *dataset = (mel_dataset){ .path = NULL };
}

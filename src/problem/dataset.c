/* A labelled table: the columns that play a part in it, and its stratified split into rows that train and
 * rows that measure. */
#include "problem/problem.h"

#include "data/table.h"

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
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i].column != NULL)
            TRY(mel_need_column(table, roles[i].column, roles[i].option, err));
    for (size_t i = 0; i < opt->skip.n; i++)
        TRY(mel_need_column(table, opt->skip.item[i], "--skip", err));
    return MEL_OK;
}

static mel_status read_weights(mel_dataset *dataset, const mel_table *table, const char *name, mel_error *err)
{
    const size_t column = mel_table_find(table, name);
    const double *values = mel_table_numbers(table, column);
    if (values == NULL)
        return mel_fail_column(err, table, column, " (--weights) is not a column of numbers");
    double total = 0;
    TRY(MEL_NEED(dataset->weight = mel_alloc(dataset->n_rows, sizeof *dataset->weight), "the weights", err));
    for (size_t i = 0; i < dataset->n_rows; i++) {
        if (isnan(values[i]))
            return mel_fail_cell(err, table, i, column, "the weight is missing");
        if (!(values[i] >= 0 && values[i] <= DBL_MAX))
            return mel_fail_cell(err, table, i, column, "weight %g is negative", values[i]);
        dataset->weight[i] = values[i];
        total += values[i];
    }
    return total > 0 ? MEL_OK : mel_fail_column(err, table, column, ": all weights are 0");
}

static mel_status take_roles(mel_dataset *out, const mel_table *table, const mel_dataset_options *opt,
                             mel_error *err)
{
    TRY(opt->label_quantiles != 0
            ? mel_table_quantile_labels(&out->labels, table, opt->label, opt->label_quantiles, err)
            : mel_table_labels(&out->labels, table, opt->label, err));
    TRY(mel_classes_settle(&out->classes, &out->labels, &opt->naming, mel_table_name(table), err));
    if (opt->group != NULL)
        TRY(mel_table_groups(&out->groups, table, opt->group, err));
    return opt->weights != NULL ? read_weights(out, table, opt->weights, err) : MEL_OK;
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
        notice->call(notice->user, mel_table_name(out->table), MEL_FORMAT_AUTO, why, true);
    return MEL_OK;
}

/* Features that are amounts of money become numbers, with a line each. */
static mel_status read_money(mel_dataset *out, const mel_dataset_options *opt, const mel_notice *notice,
                             mel_error *err)
{
    char said[MEL_MONEY_WORDS];
    for (size_t j = 0; j < mel_table_columns(out->table); j++) {
        if (has_part(opt, mel_table_column_name(out->table, j)) || mel_table_is_declared(out->table, j))
            continue;
        TRY(mel_table_read_money(said, out->table, j, err));
        if (said[0] != '\0' && notice->call != NULL)
            notice->call(notice->user, mel_table_name(out->table), MEL_FORMAT_AUTO, said, true);
    }
    return MEL_OK;
}

/* Columns that cannot be features, with a warning each. Where no other is left they remain. */
static mel_status leave_unfit_out(mel_dataset *out, const mel_dataset_options *opt, const mel_notice *notice,
                                  mel_error *err)
{
    const size_t n = mel_table_columns(out->table);
    MEL_ARRAY(mel_unfit, why, n, "the columns of a table", err);
    size_t fit = 0;
    for (size_t j = 0; j < n; j++)
        if (!has_part(opt, mel_table_column_name(out->table, j))) {
            TRY(mel_column_unfit(&why[j], out->table, j, &out->labels, err));
            fit += why[j].text[0] == '\0';
        }
    for (size_t j = 0; j < n && fit != 0; j++)
        if (why[j].text[0] != '\0')
            TRY(leave_out(out, j, why[j].text, opt, notice, err));
    return MEL_OK;
}

mel_status mel_dataset_read(mel_dataset *out, const mel_dataset_options *opt, const mel_resources *resources,
                            mel_error *err)
{
    MEL_AUTO_CLEAR(mel_dataset) d = { .n_rows = 0 };
    MEL_AUTO_CLEAR(mel_reader) reader = { .found = NULL };
    *out = d;
    TRY(mel_reader_init(&reader, &opt->reading, resources, err));
    TRY(mel_input_table(&d.table, "data", opt->data, resources, &reader.options, err));
    d.n_rows = mel_table_rows(d.table);
    TRY(mel_reader_check(&reader, &opt->reading, resources, err));
    TRY(check_columns(d.table, opt, err));
    TRY(take_roles(&d, d.table, opt, err));
    TRY(read_money(&d, opt, &resources->notice, err));
    TRY(leave_unfit_out(&d, opt, &resources->notice, err));
    return MEL_GIVE_STRUCT(out, d);
}

void mel_dataset_clear(mel_dataset *dataset)
{
    mel_table_free(dataset->table);
    mel_labels_clear(&dataset->labels);
    mel_classes_clear(&dataset->classes);
    mel_labels_clear(&dataset->groups);
    free(dataset->weight);
    *dataset = (mel_dataset){ .n_rows = 0 };
}

/* A share of the rows is held out. The order of the classes makes no difference. */
static mel_status hold_out(uint8_t *part_of, const mel_dataset *d, double share, uint64_t seed,
                           mel_error *err)
{
    MEL_ARRAY(uint32_t, label, d->n_rows, "a split of the rows", err);
    MEL_ARRAY(bool, stays, d->n_rows, "a split of the rows", err);
    for (size_t i = 0; i < d->n_rows; i++)
        label[i] = (uint32_t)d->classes.place[d->labels.code[i]];
    TRY(mel_split(stays, d->n_rows, label, d->groups.n_classes != 0 ? d->groups.code : NULL, 1 - share, seed,
                  err));
    for (size_t i = 0; i < d->n_rows; i++)
        part_of[i] = stays[i] ? MEL_PART_TRAIN : MEL_PART_TEST;
    return MEL_OK;
}

static mel_status check_training(const uint8_t *part_of, const mel_dataset *d, mel_error *err)
{
    const size_t k = d->labels.n_classes;
    MEL_ARRAY(size_t, all, 2 * k, "the sizes of the classes", err);
    size_t *training = all + k;
    for (size_t i = 0; i < d->n_rows; i++) {
        all[d->labels.code[i]]++;
        training[d->labels.code[i]] += part_of[i] == MEL_PART_TRAIN;
    }
    for (size_t c = 0; c < k; c++)
        if (training[c] == 0)
            return mel_fail(err, MEL_EDATA,
                            "%s: class \"%s\" has %zu row%s and none of them trains; hold out less "
                            "(--test-share) or leave the class out",
                            mel_table_name(d->table), d->labels.name[c], all[c], all[c] == 1 ? "" : "s");
    return MEL_OK;
}

/* The rows that are in part `which`: their table, labels, groups and weights. */
static mel_status take_part(mel_dataset_part *part, mel_dataset *d, const uint8_t *part_of, int which,
                            mel_error *err)
{
    const bool grouped = d->groups.n_classes != 0, weighted = d->weight != NULL;
    MEL_ARRAY(size_t, rows, d->n_rows, "a part of the rows", err);
    for (size_t i = 0; i < d->n_rows; i++)
        if (part_of[i] == which)
            rows[part->n++] = i;
    part->y = mel_alloc(part->n, sizeof *part->y);
    part->group = grouped ? mel_alloc(part->n, sizeof *part->group) : NULL;
    part->weight = weighted ? mel_alloc(part->n, sizeof *part->weight) : NULL;
    if (part->y == NULL || (grouped && part->group == NULL) || (weighted && part->weight == NULL))
        return mel_fail_memory(err, "a part of the rows");
    for (size_t i = 0; i < part->n; i++) {
        part->y[i] = d->labels.code[rows[i]];
        if (grouped)
            part->group[i] = d->groups.code[rows[i]];
        if (weighted)
            part->weight[i] = d->weight[rows[i]];
    }
    if (part->n < d->n_rows)
        return part->n > 0 ? mel_table_take(&part->table, d->table, rows, part->n, err) : MEL_OK;
    part->table = d->table; /* all of them: no copy */
    d->table = NULL;
    return MEL_OK;
}

static mel_status split_rows(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                             double test_share, uint64_t seed, mel_error *err)
{
    MEL_ARRAY(uint8_t, part_of, dataset->n_rows, "a split of the rows", err);
    if (test_share > 0)
        TRY(hold_out(part_of, dataset, test_share, seed, err));
    TRY(check_training(part_of, dataset, err));
    for (int p = 0; p < MEL_DATASET_PARTS; p++)
        TRY(take_part(&parts[p], dataset, part_of, p, err));
    return MEL_OK;
}

mel_status mel_dataset_split(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                             double test_share, uint64_t seed, mel_error *err)
{
    for (int p = 0; p < MEL_DATASET_PARTS; p++)
        parts[p] = (mel_dataset_part){ 0 };
    const mel_status status = split_rows(parts, dataset, test_share, seed, err);
    mel_table_free(dataset->table);
    dataset->table = NULL;
    return status;
}

mel_status mel_dataset_part_learn(mel_encoder **out, const mel_dataset_part *part,
                                  const mel_dataset_options *opt, mel_error *err)
{
    MEL_ARRAY(const char *, skip, opt->skip.n + 3, "the names of columns", err);
    size_t n = 0;
    skip[n++] = opt->label;
    if (opt->group != NULL)
        skip[n++] = opt->group;
    if (opt->weights != NULL)
        skip[n++] = opt->weights;
    for (size_t i = 0; i < opt->skip.n; i++)
        skip[n++] = opt->skip.item[i];
    mel_encoder_options options;
    mel_encoder_options_init(&options);
    options.skip = skip;
    options.n_skip = n;
    options.missing_category = opt->missing_category;
    return mel_encoder_fit(out, part->table, &options, err);
}

mel_status mel_dataset_part_encode(mel_dataset_part *part, const mel_encoder *encoder, mel_error *err)
{
    if (part->n == 0)
        return MEL_OK;
    MEL_AUTO(mel_table) *table = part->table;
    part->table = NULL;
    return mel_encode(&part->x, encoder, table, err);
}

void mel_dataset_part_clear(mel_dataset_part *part)
{
    mel_table_free(part->table);
    mel_encoded_clear(&part->x);
    free(part->y);
    free(part->group);
    free(part->weight);
    *part = (mel_dataset_part){ 0 };
}

#include "dataset.h"
#include "files.h"
#include "output.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_dataset_options[] = {
    { .name = "data",
      .argument = "FILE",
      .kind = CLI_INPUT,
      .at = offsetof(cli_dataset_args, data),
      .required = true,
      .help =
          "the table: a CSV, CSV.gz, NPY or LIBSVM file, \"-\" for CSV on standard input, or the name of a "
          "bundled data set" },
    { .name = "label",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_dataset_args, label),
      .help = "the column with the classes" },
    { .name = "positive",
      .argument = "VALUE",
      .kind = CLI_TEXT,
      .at = offsetof(cli_dataset_args, naming.positive),
      .help = "of two classes the one to be found; the second in sorted order unless given" },
    { .name = "label-quantiles",
      .argument = "K",
      .kind = CLI_WHOLE,
      .at = offsetof(cli_dataset_args, label_quantiles),
      .low = 2,
      .high = 1000,
      .help = "the label is a number: make K classes of equal size out of it" },
    { .name = "group",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_dataset_args, group),
      .help = "a column of groups (not used as a feature): the split keeps their shares, results are also "
              "given per group" },
    { .name = "weights",
      .argument = "COL",
      .kind = CLI_TEXT,
      .at = offsetof(cli_dataset_args, weights),
      .help = "a column that says how much each row counts in the fit and in log-losses; tables count rows" },
    { .name = "skip",
      .argument = "COL",
      .kind = CLI_LIST,
      .at = offsetof(cli_dataset_args, skip),
      .help = "a column that is no feature; columns named meta_... never are" },
    { .name = "missing-category",
      .kind = CLI_FLAG,
      .at = offsetof(cli_dataset_args, missing_category),
      .help = "missing texts are a category of their own, not the most frequent one" },
    { .name = "test-share",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(cli_dataset_args, test_share),
      .high = 1,
      .below_high = true,
      .help = "share of the rows, of each class alike, held out to measure; 0 trains on all rows and "
              "measures nothing" },
    { 0 }
};

/* ---- reading ---- */

static mel_status check_columns(const mel_table *table, const cli_dataset_args *args, mel_error *err)
{
    const struct {
        const char *option, *column;
    } roles[] = { { "--label", args->label }, { "--group", args->group }, { "--weights", args->weights } };
    for (size_t i = 1; i < sizeof roles / sizeof *roles; i++)
        for (size_t j = 0; j < i; j++)
            if (roles[i].column != NULL && roles[j].column != NULL &&
                strcmp(roles[i].column, roles[j].column) == 0)
                return cli_fail(err, MEL_EINVAL, "%s and %s are the same column \"%s\"", roles[j].option,
                                roles[i].option, roles[i].column);
    size_t column;
    mel_status status = cli_find_column(&column, table, args->label, "--label", err);
    if (status == MEL_OK && args->group != NULL)
        status = cli_find_column(&column, table, args->group, "--group", err);
    if (status == MEL_OK && args->weights != NULL)
        status = cli_find_column(&column, table, args->weights, "--weights", err);
    for (size_t i = 0; status == MEL_OK && i < args->skip.n; i++)
        status = cli_find_column(&column, table, args->skip.item[i], "--skip", err);
    return status;
}

static mel_status read_weights(cli_dataset *dataset, const char *name, mel_error *err)
{
    const char *file = mel_table_name(dataset->table);
    const double *values = mel_table_numbers(dataset->table, mel_table_find(dataset->table, name));
    if (values == NULL)
        return cli_fail(err, MEL_EDATA, "%s: column \"%s\" (--weights) is not a column of numbers", file,
                        name);
    double total = 0;
    dataset->weight = cli_alloc_zero(dataset->n_rows, sizeof *dataset->weight);
    for (size_t i = 0; i < dataset->n_rows; i++) {
        if (!(values[i] >= 0 && values[i] <= DBL_MAX))
            return isnan(values[i])
                       ? cli_fail(err, MEL_EDATA, "%s: row %zu, column \"%s\": the weight is missing", file,
                                  mel_table_row_number(dataset->table, i), name)
                       : cli_fail(err, MEL_EDATA, "%s: row %zu, column \"%s\": weight %g is negative", file,
                                  mel_table_row_number(dataset->table, i), name, values[i]);
        dataset->weight[i] = values[i];
        total += values[i];
    }
    return total > 0 ? MEL_OK : cli_fail(err, MEL_EDATA, "%s: column \"%s\": all weights are 0", file, name);
}

static mel_status read_roles(cli_dataset *out, const cli_dataset_args *args, mel_error *err)
{
    mel_status status;
    if (args->label_quantiles != 0)
        status = mel_table_quantile_labels(&out->labels, out->table, args->label, args->label_quantiles, err);
    else
        status = mel_table_labels(&out->labels, out->table, args->label, err);
    if (status == MEL_OK)
        status =
            cli_classes_settle(&out->classes, &out->labels, &args->naming, mel_table_name(out->table), err);
    if (status == MEL_OK && args->group != NULL)
        status = mel_table_groups(&out->groups, out->table, args->group, err);
    if (status == MEL_OK && args->weights != NULL)
        status = read_weights(out, args->weights, err);
    return status;
}

mel_status cli_dataset_read(cli_dataset *out, const cli_dataset_args *args, const cli_run *run,
                            mel_error *err)
{
    *out = (cli_dataset){ 0 };
    cli_reader reader;
    mel_status status = cli_reader_init(&reader, &args->reading, run, err);
    if (status != MEL_OK)
        return status;
    status = cli_find_data(&out->path, args->data, err);
    if (status == MEL_OK)
        status = mel_table_read(&out->table, out->path, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->reading, run, err);
    if (status == MEL_OK) {
        out->n_rows = mel_table_rows(out->table);
        status = check_columns(out->table, args, err);
    }
    if (status == MEL_OK)
        status = read_roles(out, args, err);
    cli_reader_clear(&reader);
    if (status != MEL_OK)
        cli_dataset_clear(out);
    return status;
}

void cli_dataset_clear(cli_dataset *dataset)
{
    free(dataset->path);
    mel_table_free(dataset->table);
    mel_labels_clear(&dataset->labels);
    cli_classes_clear(&dataset->classes);
    mel_labels_clear(&dataset->groups);
    free(dataset->weight);
    *dataset = (cli_dataset){ 0 };
}

/* ---- splitting ---- */

/* Splits the rows that are in part `from`: a share of them moves to part `to`. The order of the
 * classes makes no difference. */
static mel_status move_share(uint8_t *part_of, const cli_dataset *d, uint8_t from, uint8_t to, double share,
                             uint64_t seed, mel_error *err)
{
    size_t n = 0;
    uint32_t *label = cli_alloc_zero(d->n_rows, sizeof *label);
    uint32_t *group = d->groups.n_classes != 0 ? cli_alloc_zero(d->n_rows, sizeof *group) : NULL;
    for (size_t i = 0; i < d->n_rows; i++)
        if (part_of[i] == from) {
            label[n] = (uint32_t)d->classes.place[d->labels.code[i]];
            if (group != NULL)
                group[n] = d->groups.code[i];
            n++;
        }
    bool *stays = cli_alloc_zero(n, sizeof *stays);
    const mel_status status = mel_split(stays, n, label, group, 1 - share, seed, err);
    for (size_t i = 0, at = 0; status == MEL_OK && i < d->n_rows; i++)
        if (part_of[i] == from && !stays[at++])
            part_of[i] = to;
    free(stays);
    free(group);
    free(label);
    return status;
}

static mel_status check_classes(const uint8_t *part_of, const cli_dataset *d, mel_error *err)
{
    const size_t k = d->labels.n_classes;
    size_t *all = cli_alloc_zero(k, sizeof *all), *training = cli_alloc_zero(k, sizeof *training);
    for (size_t i = 0; i < d->n_rows; i++) {
        all[d->labels.code[i]]++;
        training[d->labels.code[i]] += part_of[i] == CLI_TRAIN;
    }
    mel_status status = MEL_OK;
    for (size_t c = 0; c < k && status == MEL_OK; c++)
        if (training[c] == 0)
            status = cli_fail(err, MEL_EDATA,
                              "%s: class \"%s\" has %zu row%s and none of them trains; hold out less "
                              "(--test-share) or leave the class out",
                              mel_table_name(d->table), d->labels.name[c], all[c], all[c] == 1 ? "" : "s");
    free(all);
    free(training);
    return status;
}

static mel_status take_part(cli_part *part, cli_dataset *d, const uint8_t *part_of, int which, mel_error *err)
{
    *part = (cli_part){ 0 };
    size_t *rows = cli_alloc_zero(d->n_rows, sizeof *rows);
    for (size_t i = 0; i < d->n_rows; i++)
        if (part_of[i] == which)
            rows[part->n++] = i;
    part->y = cli_alloc_zero(part->n, sizeof *part->y);
    part->group = d->groups.n_classes != 0 ? cli_alloc_zero(part->n, sizeof *part->group) : NULL;
    part->weight = d->weight != NULL ? cli_alloc_zero(part->n, sizeof *part->weight) : NULL;
    for (size_t i = 0; i < part->n; i++) {
        part->y[i] = d->labels.code[rows[i]];
        if (part->group != NULL)
            part->group[i] = d->groups.code[rows[i]];
        if (part->weight != NULL)
            part->weight[i] = d->weight[rows[i]];
    }
    mel_status status = MEL_OK;
    if (part->n == d->n_rows) { /* all of them: no copy */
        part->table = d->table;
        d->table = NULL;
    } else if (part->n > 0) {
        status = mel_table_take(&part->table, d->table, rows, part->n, err);
    }
    free(rows);
    return status;
}

mel_status cli_dataset_split(cli_part parts[CLI_PARTS], cli_dataset *dataset, double test_share,
                             bool calibrate, uint64_t seed, mel_error *err)
{
    for (int p = 0; p < CLI_PARTS; p++)
        parts[p] = (cli_part){ 0 };
    uint8_t *part_of = cli_alloc_zero(dataset->n_rows, sizeof *part_of);
    mel_status status = MEL_OK;
    if (test_share > 0)
        status = move_share(part_of, dataset, CLI_TRAIN, CLI_TEST, test_share, seed, err);
    if (status == MEL_OK && calibrate)
        status = move_share(part_of, dataset, CLI_TEST, CLI_CALIBRATE, 0.5, seed, err);
    if (status == MEL_OK)
        status = check_classes(part_of, dataset, err);
    for (int p = 0; status == MEL_OK && p < CLI_PARTS; p++)
        status = take_part(&parts[p], dataset, part_of, p, err);
    free(part_of);
    mel_table_free(dataset->table);
    dataset->table = NULL;
    return status;
}

mel_status cli_part_learn(mel_encoder **out, const cli_part *part, const cli_dataset_args *args,
                          mel_error *err)
{
    const char **skip = cli_alloc_zero(args->skip.n + 3, sizeof *skip);
    size_t n = 0;
    skip[n++] = args->label;
    if (args->group != NULL)
        skip[n++] = args->group;
    if (args->weights != NULL)
        skip[n++] = args->weights;
    for (size_t i = 0; i < args->skip.n; i++)
        skip[n++] = args->skip.item[i];
    mel_encoder_options options;
    mel_encoder_options_init(&options);
    options.skip = skip;
    options.n_skip = n;
    options.missing_category = args->missing_category;
    const mel_status status = mel_encoder_fit(out, part->table, &options, err);
    free(skip);
    return status;
}

mel_status cli_part_encode(cli_part *part, const mel_encoder *encoder, mel_error *err)
{
    if (part->n == 0)
        return MEL_OK;
    const mel_status status = mel_encode(&part->x, encoder, part->table, err);
    mel_table_free(part->table);
    part->table = NULL;
    return status;
}

void cli_part_clear(cli_part *part)
{
    mel_table_free(part->table);
    mel_encoded_clear(&part->x);
    free(part->y);
    free(part->group);
    free(part->weight);
    *part = (cli_part){ 0 };
}

/* The rows that a space is measured on: held-out rows of a table, or probabilities of any model. */
#include "columns.h"
#include "files.h"
#include "melicit/model.h"
#include "output.h"
#include "space_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- a table ------------------------------------------------------------------------------------ */

/* Trains on one part and takes the probabilities of the other. */
static mel_status measure_parts(cli_space *space, cli_part parts[CLI_PARTS], const mel_encoder *encoder,
                                const cli_space_args *args, const cli_run *run, mel_error *err)
{
    cli_part *train = &parts[CLI_TRAIN], *test = &parts[CLI_TEST];
    const size_t k = space->n_classes;
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.l2 = args->l2;
    fit.threads = run->threads;
    fit.progress = run->progress;
    mel_status status = cli_part_encode(train, encoder, err);
    if (status == MEL_OK)
        status = cli_part_encode(test, encoder, err);
    mel_model *model = NULL;
    if (status == MEL_OK)
        status = mel_model_fit(&model, NULL, &train->x.view, train->y, k, train->weight, &fit, err);
    space->n_rows = test->n;
    space->probability = cli_alloc_zero(test->n, k * sizeof *space->probability);
    if (status == MEL_OK)
        status = mel_model_predict(space->probability, model, &test->x.view, run->threads, err);
    mel_model_free(model);
    space->label = test->y;
    space->group = test->group;
    space->weight = test->weight;
    test->y = test->group = NULL;
    test->weight = NULL;
    return status;
}

mel_status cli_rows_from_table(cli_space *space, const cli_space_args *args, const cli_run *run,
                               mel_error *err)
{
    cli_dataset dataset = { 0 };
    cli_part parts[CLI_PARTS] = { 0 };
    mel_encoder *encoder = NULL;
    mel_status status = cli_dataset_read(&dataset, &args->dataset, run, err);
    if (status == MEL_OK)
        cli_name_groups(space, dataset.groups.n_classes, dataset.groups.name);
    if (status == MEL_OK && strcmp(dataset.path, "-") != 0)
        status = mel_digest_file(space->digest, dataset.path, err);
    if (status == MEL_OK)
        status = cli_dataset_split(parts, &dataset, args->dataset.test_share, false, run->seed, err);
    if (status == MEL_OK)
        cli_take_classes(space, &dataset.classes);
    if (status == MEL_OK)
        status = cli_part_learn(&encoder, &parts[CLI_TRAIN], &args->dataset, err);
    if (status == MEL_OK)
        status = measure_parts(space, parts, encoder, args, run, err);
    mel_encoder_free(encoder);
    for (size_t p = 0; p < CLI_PARTS; p++)
        cli_part_clear(&parts[p]);
    cli_dataset_clear(&dataset);
    return status;
}

/* --- probabilities of any model ----------------------------------------------------------------- */

/* The labels of --probs, or their groups. */
static mel_status read_codes(mel_labels *codes, bool groups, const cli_space_args *args,
                             const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    const char *column = NULL;
    mel_status status = cli_read_column(&table, &column, groups ? args->groups : args->labels,
                                        groups ? args->dataset.group : args->dataset.label,
                                        groups ? "--group" : "--label", read, err);
    if (status == MEL_OK)
        status = groups ? mel_table_groups(codes, table, column, err)
                        : mel_table_labels(codes, table, column, err);
    mel_table_free(table);
    return status;
}

static mel_status read_labels(mel_labels *labels, cli_classes *classes, const cli_space_args *args,
                              const mel_read_options *read, mel_error *err)
{
    const mel_status status = read_codes(labels, false, args, read, err);
    return status != MEL_OK ? status
                            : cli_classes_settle(classes, labels, &args->dataset.naming, args->labels, err);
}

static mel_status check_shapes(const cli_space_args *args, const mel_proba *proba, const mel_labels *labels,
                               const mel_labels *groups, mel_error *err)
{
    if (labels->n_rows != proba->n_rows)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one label per row",
                        args->probs, proba->n_rows, args->labels, labels->n_rows);
    if (args->groups != NULL && groups->n_rows != proba->n_rows)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one group per row",
                        args->probs, proba->n_rows, args->groups, groups->n_rows);
    if (labels->n_classes < proba->n_classes)
        return cli_fail(err, MEL_EDATA,
                        "%s has %zu classes, but only %zu of them have rows in %s: without rows of a class "
                        "nothing is known about it",
                        args->probs, proba->n_classes, labels->n_classes, args->labels);
    if (labels->n_classes > proba->n_classes)
        return cli_fail(err, MEL_EDATA, "%s has %zu classes, %s has probabilities of %zu", args->labels,
                        labels->n_classes, args->probs, proba->n_classes);
    return MEL_OK;
}

/* One digest of all files. */
static mel_status digest_files(char digest[MEL_DIGEST_HEX], const cli_space_args *args, mel_error *err)
{
    enum { FILES = 3 };
    const char *const path[FILES] = { args->probs, args->labels, args->groups };
    char all[FILES * MEL_DIGEST_HEX];
    size_t n = 0;
    for (size_t i = 0; i < FILES; i++) {
        if (path[i] == NULL)
            continue;
        if (strcmp(path[i], "-") == 0)
            return MEL_OK;
        const mel_status status = mel_digest_file(all + n * MEL_DIGEST_HEX, path[i], err);
        if (status != MEL_OK)
            return status;
        n++;
    }
    mel_digest(all, n * MEL_DIGEST_HEX, digest);
    return MEL_OK;
}

/* The arrays of the files become the space's. */
static mel_status take_rows(cli_space *space, const cli_space_args *args, mel_proba *proba,
                            mel_labels *labels, cli_classes *classes, mel_labels *groups, mel_error *err)
{
    mel_status status = check_shapes(args, proba, labels, groups, err);
    if (status == MEL_OK)
        status = cli_order_columns(proba, args->probs, args->columns, classes, err);
    if (status == MEL_OK)
        status = digest_files(space->digest, args, err);
    if (status != MEL_OK)
        return status;
    cli_take_classes(space, classes);
    cli_name_groups(space, groups->n_classes, groups->name);
    space->n_rows = proba->n_rows;
    space->probability = proba->value;
    space->label = labels->code;
    space->group = groups->code;
    proba->value = NULL;
    labels->code = groups->code = NULL;
    return MEL_OK;
}

mel_status cli_rows_from_probabilities(cli_space *space, const cli_space_args *args, const cli_run *run,
                                       mel_error *err)
{
    mel_proba proba = { 0 };
    mel_labels labels = { 0 }, groups = { 0 };
    cli_classes classes = { 0 };
    cli_reader reader = { 0 };
    mel_status status = cli_reader_init(&reader, &args->dataset.reading, run, err);
    cli_reader_share(&reader);
    if (status == MEL_OK)
        status = read_labels(&labels, &classes, args, &reader.options, err);
    if (status == MEL_OK)
        status = cli_read_probabilities(&proba, args->probs, &classes, &reader.options, err);
    if (status == MEL_OK && args->groups != NULL)
        status = read_codes(&groups, true, args, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->dataset.reading, run, err);
    if (status == MEL_OK)
        status = take_rows(space, args, &proba, &labels, &classes, &groups, err);
    mel_proba_clear(&proba);
    mel_labels_clear(&labels);
    cli_classes_clear(&classes);
    mel_labels_clear(&groups);
    cli_reader_clear(&reader);
    return status;
}

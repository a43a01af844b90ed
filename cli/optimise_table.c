/* melicit optimise --data: a model trained on one table gives the probabilities of both. */
#include "data/shared.h"
#include "files.h"
#include "optimise_rows.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_status fit(mel_model **model, mel_dataset_part *part, const mel_dataset *dataset,
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

static mel_status read_validation(cli_optimise_rows *rows, const mel_model *model, const char *path,
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
        status = fit(&model, &parts[MEL_PART_TRAIN], &dataset, &args, files->l2, run, err);
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
        status = read_validation(rows, model, path[1], files, args.label, judged, run, err);
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

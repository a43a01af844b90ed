/* The stratified split of a table into rows that train and rows that measure. */
#include "base/internal.h"
#include "data/shared.h"
#include "problem/shared.h"

#include <stdlib.h>

/* A share of the rows is held out. The order of the classes makes no difference. */
static mel_status hold_out(uint8_t *part_of, const mel_dataset *d, double share, uint64_t seed,
                           mel_error *err)
{
    MEL_AUTO_MEMORY uint32_t *label = mel_alloc(d->n_rows, sizeof *label);
    MEL_AUTO_MEMORY bool *stays = mel_alloc_zero(d->n_rows, sizeof *stays);
    if (label == NULL || stays == NULL)
        return mel_fail_memory(err, "a split of the rows");
    for (size_t i = 0; i < d->n_rows; i++)
        label[i] = (uint32_t)d->classes.place[d->labels.code[i]];
    TRY(mel_split(stays, d->n_rows, label, d->groups.n_classes != 0 ? d->groups.code : NULL, 1 - share, seed,
                  err));
    for (size_t i = 0; i < d->n_rows; i++)
        part_of[i] = stays[i] ? MEL_PART_TRAIN : MEL_PART_TEST;
    return MEL_OK;
}

static mel_status check_classes(const uint8_t *part_of, const mel_dataset *d, mel_error *err)
{
    const size_t k = d->labels.n_classes;
    size_t *all = mel_alloc_zero(2 * k, sizeof *all);
    if (all == NULL)
        return mel_fail_memory(err, "the sizes of the classes");
    size_t *training = all + k;
    for (size_t i = 0; i < d->n_rows; i++) {
        all[d->labels.code[i]]++;
        training[d->labels.code[i]] += part_of[i] == MEL_PART_TRAIN;
    }
    mel_status status = MEL_OK;
    for (size_t c = 0; c < k && status == MEL_OK; c++)
        if (training[c] == 0)
            status = mel_fail(err, MEL_EDATA,
                              "%s: class \"%s\" has %zu row%s and none of them trains; hold out less "
                              "(--test-share) or leave the class out",
                              mel_table_name(d->table), d->labels.name[c], all[c], all[c] == 1 ? "" : "s");
    free(all);
    return status;
}

/* Labels, groups and weights of rows[0..part->n). */
static mel_status take_values(mel_dataset_part *part, const mel_dataset *d, const size_t *rows,
                              mel_error *err)
{
    const bool grouped = d->groups.n_classes != 0, weighted = d->weight != NULL;
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
    return MEL_OK;
}

static mel_status take_table(mel_dataset_part *part, mel_dataset *d, const size_t *rows, mel_error *err)
{
    mel_status status = MEL_OK;
    if (part->n == d->n_rows) { /* all of them: no copy */
        part->table = d->table;
        d->table = NULL;
    } else if (part->n > 0) {
        status = mel_table_take(&part->table, d->table, rows, part->n, err);
    }
    return status;
}

static mel_status take_part(mel_dataset_part *part, mel_dataset *d, const uint8_t *part_of, int which,
                            mel_error *err)
{
    size_t *rows = mel_alloc(d->n_rows, sizeof *rows);
    if (rows == NULL)
        return mel_fail_memory(err, "a part of the rows");
    for (size_t i = 0; i < d->n_rows; i++)
        if (part_of[i] == which)
            rows[part->n++] = i;
    mel_status status = take_values(part, d, rows, err);
    if (status == MEL_OK)
        status = take_table(part, d, rows, err);
    free(rows);
    return status;
}

mel_status mel_dataset_split(mel_dataset_part parts[MEL_DATASET_PARTS], mel_dataset *dataset,
                             double test_share, uint64_t seed, mel_error *err)
{
    for (int p = 0; p < MEL_DATASET_PARTS; p++)
        parts[p] = (mel_dataset_part){ 0 };
    uint8_t *part_of = mel_alloc_zero(dataset->n_rows, sizeof *part_of);
    if (part_of == NULL)
        return mel_fail_memory(err, "a split of the rows");
    mel_status status = MEL_OK;
    if (test_share > 0)
        status = hold_out(part_of, dataset, test_share, seed, err);
    if (status == MEL_OK)
        status = check_classes(part_of, dataset, err);
    for (int p = 0; status == MEL_OK && p < MEL_DATASET_PARTS; p++)
        status = take_part(&parts[p], dataset, part_of, p, err);
    free(part_of);
    mel_table_free(dataset->table);
    dataset->table = NULL;
    return status;
}

mel_status mel_dataset_part_learn(mel_encoder **out, const mel_dataset_part *part,
                                  const mel_dataset_options *opt, mel_error *err)
{
    const char **skip = mel_alloc(opt->skip.n + 3, sizeof *skip);
    if (skip == NULL)
        return mel_fail_memory(err, "the names of columns");
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
    const mel_status status = mel_encoder_fit(out, part->table, &options, err);
    free(skip);
    return status;
}

mel_status mel_dataset_part_encode(mel_dataset_part *part, const mel_encoder *encoder, mel_error *err)
{
    if (part->n == 0)
        return MEL_OK;
    const mel_status status = mel_encode(&part->x, encoder, part->table, err);
    mel_table_free(part->table);
    part->table = NULL;
    return status;
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
